// SPDX-License-Identifier: MIT
// Clock records to and from ranks of other hosts, as small messages on a communicator of our own.
#pragma once

#include "replay_engine/rank/engine/mpi_header.h"
#include "replay_engine/rank/online_races/clock_board.h"
#include "replay_engine/rank/online_races/flat_table.h"

namespace pf {

class RemoteLink final : public online::RemoteClocks {
 public:
  /// Collective over MPI_COMM_WORLD. Says whether some ranks are on other hosts; isRemote() has
  /// which. PHOTOFINISH_CLOCKS=messages in the environment: all others are taken to be.
  bool start(int rank, int size);
  [[nodiscard]] const bool* isRemote() const { return m_isRemote; }
  /// Before MPI_Finalize.
  void stop();

  bool publish(int to, const online::ClockRecord& record) override;
  [[nodiscard]] const online::ClockRecord* next(int from) override;
  void drop(int from) override;

 private:
  struct Out {
    online::ClockRecord record;
    MPI_Request request;
  };
  struct In {
    online::FlatArray<online::ClockRecord>* records;
    std::uint32_t first;  ///< that was not dropped
  };
  static constexpr std::uint32_t kUnderWay = 512;

  MPI_Comm m_comm = MPI_COMM_NULL;
  bool* m_isRemote = nullptr;
  Out* m_out = nullptr;  ///< sends under way, a ring
  std::uint64_t m_sent = 0;
  In* m_in = nullptr;  ///< by rank
};

}  // namespace pf
