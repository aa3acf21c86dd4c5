// SPDX-License-Identifier: GPL-3.0-or-later
// Executions made by hand for the tests of the views: calls are appended in an order that really
// happens, so matching, logical times and races are simple here (of
// the analysis only the pyramid is used).
#pragma once

#include <string>
#include <vector>

#include "views/trace/trace_index.h"

namespace pf::views::test {

class TraceBuilder {
 public:
  explicit TraceBuilder(int ranks);

  std::uint32_t site(const std::string& file, int line, const std::string& function);
  /// A send; returns its message.
  std::uint32_t send(Rank from, Rank to, Tag tag, std::uint64_t bytes = 8,
                     std::uint32_t site = kNone);
  /// A blocking receive that takes `message`.
  Serial receive(Rank rank, Rank wanted, Tag tag, std::uint32_t message,
                 std::uint32_t site = kNone);
  /// A non-blocking receive; returns its post index.
  std::uint32_t post(Rank rank, Rank wanted, Tag tag, std::uint32_t site = kNone);
  Serial wait(Rank rank, const std::vector<std::pair<std::uint32_t, std::uint32_t>>& postAndMessage,
              std::uint32_t site = kNone);
  void probe(Rank rank, Rank wanted, Tag tag, std::uint32_t message, std::uint32_t site = kNone);
  void collective(const std::string& call, std::uint32_t site = kNone);
  Serial local(Rank rank, const std::string& call, std::uint32_t site = kNone);
  void fail(Rank rank, Serial serial, const QString& reason);
  void end(Rank rank, RankEndKind kind, const QString& text);
  /// Finds the races and gives the data away.
  TraceDataPtr build(const QString& title);

 private:
  EventRef add(Rank rank, EventKind kind, const std::string& call, std::uint32_t site,
               const std::vector<EventRef>& causes);
  void findRaces();
  [[nodiscard]] bool before(EventRef a, EventRef b) const;
  std::uint16_t call(const std::string& name);

  TraceData m_data;
  std::vector<std::vector<std::vector<Serial>>> m_clocks;  ///< [rank][serial-1][rank]
};

/// The bundled story: rank 0 collects from three workers with MPI_ANY_SOURCE and aborts.
[[nodiscard]] TraceDataPtr masterWorker();
/// A halo exchange on a row of ranks, with a reduction every few steps and racing status messages.
[[nodiscard]] TraceDataPtr stencil(int ranks, int steps);

}  // namespace pf::views::test
