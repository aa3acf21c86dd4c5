// SPDX-License-Identifier: GPL-3.0-or-later
// What a log says of wildcard receives, by their number: in memory that follows the bytes of the log, however far
// apart the numbers are.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <vector>

#include "replay_engine/log_format/log_format.h"
#include "replay_engine/log_format/pins.h"

namespace pf {

/// The source (rank of the communicator) of each wildcard receive; kPinUnknown of those that no record tells.
class WildSources {
 public:
  using Page = std::array<std::int32_t, kPinsAPage>;

  WildSources() = default;
  WildSources(std::initializer_list<std::int32_t> sources) {
    for (const std::int32_t source : sources) {
      add(source);
    }
  }
  /// One more than the greatest number.
  [[nodiscard]] std::size_t size() const { return m_size; }
  void add(std::int32_t source) { set(static_cast<std::uint32_t>(m_size), source); }
  void set(std::uint32_t number, std::int32_t source) {
    const std::uint32_t page = number / kPinsAPage;
    if (m_last.page == nullptr || m_last.number != page) {
      auto found = m_pages.lower_bound(page);
      if (found == m_pages.end() || found->first != page) {
        found = m_pages.emplace_hint(found, page, unknown());
      }
      m_last.page = &found->second;
      m_last.number = page;
    }
    (*m_last.page)[number % kPinsAPage] = source;
    m_size = std::max<std::size_t>(m_size, std::size_t{number} + 1);
  }
  [[nodiscard]] std::int32_t operator[](std::uint32_t number) const {
    const auto found = m_pages.find(number / kPinsAPage);
    return found != m_pages.end() ? found->second[number % kPinsAPage] : kPinUnknown;
  }
  /// Those of which something is known, by number: number / kPinsAPage.
  [[nodiscard]] const std::map<std::uint32_t, Page>& pages() const { return m_pages; }

 private:
  static Page unknown() {
    Page page{};
    page.fill(kPinUnknown);
    return page;
  }

  /// The page that was set last: mostly the next one's, too. A copy has pages of its own, what was moved away from has none.
  struct LastPage {
    LastPage() = default;
    LastPage(const LastPage&) noexcept {}
    LastPage(LastPage&& other) noexcept { other.page = nullptr; }
    LastPage& operator=(const LastPage&) noexcept {
      page = nullptr;
      return *this;
    }
    LastPage& operator=(LastPage&& other) noexcept {
      page = other.page = nullptr;
      return *this;
    }

    Page* page = nullptr;
    std::uint32_t number = 0;
  };

  std::map<std::uint32_t, Page> m_pages;
  std::size_t m_size = 0;
  LastPage m_last;
};

/// Some of the numbers from 0 on, told as runs that are in turn left out and in it.
class NumberRuns {
 public:
  void add(std::uint32_t length) {
    m_ends.push_back(length + (m_ends.empty() ? 0 : m_ends.back()));
  }
  /// Numbers told so far.
  [[nodiscard]] std::uint64_t size() const { return m_ends.empty() ? 0 : m_ends.back(); }
  [[nodiscard]] bool operator[](std::uint64_t number) const {
    const auto run = std::upper_bound(m_ends.begin(), m_ends.end(), number);
    return run != m_ends.end() && (run - m_ends.begin()) % 2 != 0;
  }
  /// Numbers in it.
  [[nodiscard]] std::uint64_t count() const {
    std::uint64_t count = 0;
    for (std::size_t i = 1; i < m_ends.size(); i += 2) {
      count += m_ends[i] - m_ends[i - 1];
    }
    return count;
  }

 private:
  std::vector<std::uint64_t> m_ends;
};

}  // namespace pf
