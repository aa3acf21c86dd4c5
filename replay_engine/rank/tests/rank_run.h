// SPDX-License-Identifier: GPL-3.0-or-later
// Runs a program as a rank: in a child process, with the interposer's wrappers around it, over the
// fake MPI library; the test is its agent. So each run begins with an engine that has done nothing,
// and one that diverges or crashes is seen from outside, as an agent sees it.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "replay_engine/log/rank_log.h"
#include "replay_engine/protocol/rank_page.h"
#include "replay_engine/rank/tests/fake_mpi.h"

namespace pf::test {

/// A line of what the program has seen; kept whatever becomes of it.
__attribute__((format(printf, 1, 2))) void say(const char* format, ...);
/// The same of a status, and of the first int that came.
void sayTaken(const MPI_Status& status, int value);

/// Between MPI_Init and MPI_Finalize.
using Program = std::function<void()>;

struct RunOptions {
  std::uint32_t mode = 0;                    ///< RankMode; 0: no agent, nothing is recorded
  bool fast = true;                          ///< false: the common calls go to their handlers, too
  bool threads = false;                      ///< as if the program had made a thread
  std::vector<unsigned char> schedule = {};  ///< for kReplay
  std::uint64_t stopAt = 0;                  ///< before this event, until it was seen to stop there
  Program early = {};                    ///< before MPI_Init, of a rank that knows its mode then
  std::uint32_t algorithm = 0;           ///< RankPage::algorithm
  std::vector<std::int32_t> group = {};  ///< for kKeepContents: GroupMembers' numbers
};

enum class Ending {
  Finished,
  Diverged,
  WaitsForEver,
  FatalError,
  NotFaked,
  Crashed,
};

struct RankRun {
  Ending ending = Ending::Crashed;
  std::string said;                // the lines of say()
  std::vector<unsigned char> log;  // its file
  std::vector<unsigned char> payload;
  std::uint64_t events = 0;  // begun
  // where it diverged
  std::uint64_t divergedAt = 0;
  std::string call;
  std::string expected;
  std::string got;
  // what else its page says
  bool pastEnd = false;
  std::uint64_t stoppedBefore = 0;  // event, 0: it did not stop
  std::string saidBeforeStop;
  std::uint64_t otherContentsAt = 0;
  PageRequests requests = {};
  std::vector<PageEvent> past;  // of a replay: its last events, the oldest first
  std::uint32_t inCall = 0;     // 1 + the call that it was in at last
  std::int32_t waitPeer = 0;
  std::int32_t waitTag = 0;
};

/// Ends a run that takes longer than some seconds.
RankRun run(const fake::Script& script, const Program& program, const RunOptions& options);

/// MPI_Isendrecv and MPI_Isendrecv_replace of `count` ints, on MPI_COMM_WORLD: the mpi.h of the fake lacks them.
int exchange(const int* sent, int count, int dest, int sendTag, int* received, int source, int tag,
             MPI_Request* request);
int exchangeInPlace(int* values, int count, int dest, int sendTag, int source, int tag,
                    MPI_Request* request);

/// What its log says; a failure of the test if it cannot be read.
RankLog logOf(const RankRun& run);
/// RunOptions::mode of a recording.
inline constexpr std::uint32_t kBothModes[] = {kRecordChoices, kRecordEvents};

/// The steps that most tests are made of.
RankRun record(std::uint32_t mode, const fake::Script& script, const Program& program);
RankRun replay(const RankRun& recorded, const fake::Script& script, const Program& program);

/// For RunOptions::schedule.
std::vector<unsigned char> scheduleOf(const RankRun& recorded);

}  // namespace pf::test
