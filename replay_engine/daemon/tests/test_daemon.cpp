// SPDX-License-Identifier: GPL-3.0-or-later
// pf_test_daemon SESSION RANKS: a daemon over a made-up recording of RANKS ranks (0: it records).
// Rank N's schedule is "/schedule-N"; a program whose thread level is 99 is refused.
#include <cstdlib>

#include "replay_engine/daemon/daemon.h"

namespace {

class MadeUpSchedule final : public pf::daemon::ScheduleSource {
 public:
  explicit MadeUpSchedule(int ranks) : m_ranks(ranks) {}
  [[nodiscard]] int ranks() const override { return m_ranks; }
  [[nodiscard]] pf::Result<std::string> schedulePath(std::int32_t rank) override {
    return "/schedule-" + std::to_string(rank);
  }
  [[nodiscard]] pf::Status checkRank(const pf::protocol::RankHello& hello) override {
    if (hello.threadLevel == 99) {
      return pf::Error{pf::ErrorCode::Damaged, "the program has changed since it was recorded", {}};
    }
    return {};
  }

 private:
  int m_ranks;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    return 2;
  }
  MadeUpSchedule source(std::atoi(argv[2]));
  pf::daemon::DaemonOptions options;
  options.sessionDirectory = argv[1];
  options.logic.stallAfter = std::chrono::milliseconds(1500);
  options.logic.orphanAfter = std::chrono::milliseconds(1500);
  options.logic.callNames = {"MPI_Recv", "MPI_Send"};
  return pf::daemon::runDaemon(options, source);
}
