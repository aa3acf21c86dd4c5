// SPDX-License-Identifier: GPL-3.0-or-later
// Memory that comes page by page, later. Whoever reads notes what he misses; once that is there he reads again, from the
// beginning. So a reader is a plain function, wherever the bytes come from.
#pragma once

#include <map>
#include <set>
#include <string_view>
#include <vector>

#include "mi_bridge/python/memory.h"

namespace pf::mi::python {

class PagedMemory final : public Memory {
 public:
  static constexpr std::size_t kPage =
      4096;  ///< bytes; a mapping begins and ends at such a boundary

  /// No more than `mostPages` are asked for in all.
  explicit PagedMemory(std::size_t mostPages) : m_mostPages(mostPages) {}

  [[nodiscard]] bool read(std::uint64_t address, void* to, std::size_t size) override;

  [[nodiscard]] bool hasMissing() const { return !m_missing.empty() || m_exhausted; }
  /// Addresses of pages that were missed since the last call, ascending.
  [[nodiscard]] std::vector<std::uint64_t> takeMissing();
  /// All bytes of the page at `address`, or nothing at all if they cannot be read.
  void add(std::uint64_t address, std::string_view bytes);
  /// More pages were needed than may be asked for.
  [[nodiscard]] bool exhausted() const { return m_exhausted; }

 private:
  std::size_t m_mostPages;
  std::map<std::uint64_t, std::vector<char>> m_pages;  ///< empty: unreadable
  std::set<std::uint64_t> m_missing;
  bool m_exhausted = false;
};

}  // namespace pf::mi::python
