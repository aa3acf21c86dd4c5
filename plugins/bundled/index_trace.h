// SPDX-License-Identifier: MIT
// A trace of the views as plugins read it.
#pragma once

#include <string>
#include <vector>

#include "plugins/api/plugin.h"
#include "views/trace/trace_index.h"

namespace pf::plugins {

class IndexTrace final : public photofinish::Trace {
 public:
  IndexTrace(std::string path, views::TraceIndexPtr index);
  ~IndexTrace() = default;
  IndexTrace(const IndexTrace&) = delete;
  IndexTrace& operator=(const IndexTrace&) = delete;

  /// For the bundled panes.
  [[nodiscard]] const views::TraceIndexPtr& index() const { return m_index; }

  [[nodiscard]] photofinish::Text path() const override { return m_path; }
  [[nodiscard]] std::int32_t ranks() const override;
  [[nodiscard]] photofinish::Rank rank(std::int32_t rank) const override;
  [[nodiscard]] std::uint64_t events(std::int32_t rank) const override;
  [[nodiscard]] photofinish::Event event(photofinish::EventRef at) const override;
  [[nodiscard]] std::uint64_t messages() const override;
  [[nodiscard]] photofinish::Message message(std::uint64_t number) const override;
  [[nodiscard]] std::uint64_t races() const override;
  [[nodiscard]] photofinish::Race race(std::uint64_t number) const override;
  [[nodiscard]] std::uint64_t alternative(std::uint64_t race, std::uint64_t which) const override;
  [[nodiscard]] std::uint64_t sites() const override;
  [[nodiscard]] photofinish::Site site(std::uint64_t number) const override;
  [[nodiscard]] std::uint64_t communicators() const override;
  [[nodiscard]] photofinish::Communicator communicator(std::uint64_t number) const override;
  [[nodiscard]] photofinish::EventRef failure() const override;
  std::uint64_t sentAt(photofinish::EventRef at, std::uint64_t* numbers,
                       std::uint64_t room) const override;
  std::uint64_t receivedAt(photofinish::EventRef at, photofinish::Receive* receives,
                           std::uint64_t room) const override;
  using Trace::receivedAt;
  using Trace::sentAt;

 private:
  [[nodiscard]] bool racesAt(const EventRef& event) const;

  std::string m_path;
  views::TraceIndexPtr m_index;
  std::vector<std::string> m_hosts;  ///< by rank
  std::vector<std::string> m_ends;
  mutable std::uint64_t m_asked = photofinish::kNone;  ///< the race asked for last
  mutable std::vector<std::uint32_t> m_alternatives;   ///< of it
};

}  // namespace pf::plugins
