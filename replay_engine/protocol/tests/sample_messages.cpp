// SPDX-License-Identifier: GPL-3.0-or-later
#include "replay_engine/protocol/tests/sample_messages.h"

namespace pf::protocol {

std::vector<Message> sampleMessages() {
  const std::string odd("a\0b\n\xff \xe2\x82\xac", 9);
  const RankState state{3,
                        RankPhase::Stopped,
                        0xFFFFFFFFFFFFFFFEU,
                        7,
                        "MPI_Recv",
                        -1,
                        99,
                        true,
                        28,
                        true,
                        7,
                        {"/bin/app", 4711, "main (app.c:3)"},
                        1U << 30U,
                        true,
                        true};
  return {
      Hello{PeerRole::Client, std::string(kKeySize, '\xA5')},
      Welcome{12},
      Refused{odd},
      RankLaunched{2, 4, 4711, 4710, "node", "./app", {{"given", "SEED", odd}}},
      RankHello{
          2,
          4,
          4712,
          3,
          "node",
          "/bin/app",
          "00ff",
          "Open MPI v4.1.4",
          {{"library", "libm.so.6", "build-id 00", "/lib/libm.so.6"}, {"argument", "0", odd}}},
      Configure{2, 15, 77, "/tmp/schedule", 1000},
      state,
      RankDiverged{1,
                   12,
                   "MPI_Recv",
                   "source 2",
                   "source 3",
                   0x401234,
                   {"/bin/app", 1},
                   {{11, 3, "MPI_Send", 2, 5, {"/bin/app", 2}}, {}},
                   true,
                   -5},
      RankExited{1, -1, 11, RankPhase::Running, 1U << 31U, "killed by SIGSEGV"},
      Output{0, 2, odd, 1U << 20U},
      GdbState{1, GdbCondition::Died, 5, "gone"},
      MiFromGdb{1, "^done\n"},
      MiToGdb{1, "1-gdb-version\n"},
      GdbSignal{1, SignalTarget::Program, 2},
      OpenGate{{0, 1, 2}},
      SetStop{1, 17},
      AttachGdb{{1}},
      DetachGdb{{1, 3}},
      Kill{false},
      Plan{{5, 0, 7}, 2, true},
      Shutdown{},
      SessionState{4, 4, 3, true, true, {state, RankState{}}, 9000},
      Verdict{VerdictKind::Deadlock, 0, 5, "line\nline", true, true, true},
      Nudged{1, 18},
      AskStack{{0, 2}, 7},
      RankStack{2, 7, 3, "MPI_Recv", {{"/bin/app", 4711}, {"/bin/app", 17}}, odd},
      Ping{77},
      Pong{77},
      Notice{2, odd},
  };
}

}  // namespace pf::protocol
