// SPDX-License-Identifier: GPL-3.0-or-later
// A trace as plugins read it, on the command line.
#pragma once

#include <vector>

#include "app/plugins/indexed_trace.h"
#include "plugins/api/plugin.h"

namespace pf::app {

class TraceFacts final : public photofinish::Trace {
 public:
  /// `trace` stays longer than this.
  explicit TraceFacts(const IndexedTrace& trace);
  ~TraceFacts() = default;
  TraceFacts(const TraceFacts&) = delete;
  TraceFacts& operator=(const TraceFacts&) = delete;

  /// For our own exporters, which need more than plugins see.
  [[nodiscard]] const IndexedTrace& indexed() const { return m_trace; }

  [[nodiscard]] photofinish::Text path() const override { return m_trace.path; }
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
  [[nodiscard]] bool has(const photofinish::EventRef& at) const;

  const IndexedTrace& m_trace;
  std::vector<db::RankInfo> m_ranks;
  EventRef m_failure;
};

}  // namespace pf::app
