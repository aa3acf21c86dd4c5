// SPDX-License-Identifier: GPL-3.0-or-later
// The agent of one rank: what the launcher starts in place of the program.
//
// It starts the program with the interposer preloaded, is the rank's other end of the page, and, if
// there is a daemon, its messenger. One thread does everything (a second one only waits on the
// page's futex). In a recording the daemon may die or never be there: nothing changes for the
// program. In a replay the rank needs someone to release it: without a daemon it runs on, unless it
// waits for one.
#pragma once

#include <poll.h>
#include <sys/types.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "replay_engine/agent/gdb_process.h"
#include "replay_engine/agent/launch.h"
#include "replay_engine/agent/matched_receives.h"
#include "replay_engine/agent/output_capture.h"
#include "replay_engine/agent/rank_page_file.h"
#include "replay_engine/agent/snapshot_keeper.h"
#include "replay_engine/base/result.h"
#include "replay_engine/protocol/framed_socket.h"
#include "replay_engine/protocol/session_directory.h"

namespace pf::agent {

class Agent {
 public:
  Agent(protocol::SessionDirectory session, std::vector<std::string> command,
        const AgentSignals& signals, SignalCanary& canary);
  ~Agent();
  Agent(const Agent&) = delete;
  Agent& operator=(const Agent&) = delete;

  /// Starts the program and stays until it has ended. Returns its status as waitpid() gives it; an
  /// error if it was not started.
  [[nodiscard]] Result<int> run();
  /// Set if the program was not allowed to run: the agent's exit status instead of the program's.
  [[nodiscard]] std::optional<int> ownStatus() const { return m_ownStatus; }

 private:
  using Clock = std::chrono::steady_clock;

  // agent.cpp: start and loop
  [[nodiscard]] Status connect();
  [[nodiscard]] Status startProgram();
  [[nodiscard]] Result<std::string> interposerPath() const;
  [[nodiscard]] bool isFirstOfHost(const char* name) const;
  void sayTools(const std::vector<std::string>& tools) const;
  [[nodiscard]] Result<std::string> preloadable(const std::string& path,
                                                const std::string& name) const;
  [[nodiscard]] Result<std::string> preloads() const;
  [[nodiscard]] bool sameAddresses() const;
  [[nodiscard]] std::vector<std::string> programEnvironment(const std::string& interposer);
  [[nodiscard]] std::vector<std::string> givenEnvironment(std::vector<std::string> now);
  void loop();
  void poll(std::chrono::milliseconds timeout);
  [[nodiscard]] std::chrono::milliseconds pollTimeout() const;
  void onSignals();
  void reapProgram();
  void relayOutput(std::size_t stream);
  [[nodiscard]] bool relayGdb(bool all);  ///< true if GDB said something
  void onTimer();

  // agent_rank.cpp: the page and the daemon
  void onPage();
  void introduce();
  void endWithoutGroup(const Error& why, const protocol::RankHello& hello);
  void keepContext(const protocol::LaunchContext& context) const;
  [[nodiscard]] bool claimRank(std::int32_t rank);
  void configure(std::uint32_t mode, std::uint64_t jitterSeed, const std::string& schedule,
                 std::uint64_t stopAt);
  void report(bool now);
  [[nodiscard]] protocol::CodePlace waitPlace(const protocol::RankState& state);
  void lookAtProcess(protocol::RankState& state);
  [[nodiscard]] std::string logPath() const;
  [[nodiscard]] std::string contentsPath() const;
  void lookForMatched();
  void armTrap(const protocol::RankState& state);
  void onDaemon();
  void obey(const protocol::Message& message);
  void openGate();
  void setStop(std::uint64_t serial);
  void attachGdb();
  void endGdb();
  void gdbEnded();
  void sendSignal(const protocol::GdbSignal& order);
  void tellStack(const protocol::AskStack& question);
  void onRefused(const std::string& text);
  void loseDaemon();
  void endWithoutDaemon(Clock::time_point now);
  void tell(const protocol::Message& message);
  void tellGdb(protocol::GdbCondition state, const std::string& text);
  [[nodiscard]] bool waitsForUs() const;
  [[nodiscard]] pid_t mpiProcess() const;
  void signalProgram(int number);
  void kill();

  // agent_snapshots.cpp
  void goBack(const protocol::GoBack& order);
  void wakeSnapshot();
  void lookWhetherBack();
  void isBack(pid_t process);
  void lostOnTheWay(const std::string& why);

  // agent_end.cpp
  void finish();
  void drainOutput();
  void drainGdb();
  [[nodiscard]] protocol::RankExited exitReport() const;

  [[nodiscard]] bool replaying() const { return (m_session.config().mode & kReplay) != 0; }

  protocol::SessionDirectory m_session;
  std::vector<std::string> m_command;
  const AgentSignals& m_signals;
  SignalCanary& m_canary;
  std::unique_ptr<RankPageFile> m_page;  ///< none: the program runs unrecorded
  std::unique_ptr<PageWatcher> m_watcher;
  std::optional<OutputCapture> m_output;
  protocol::FramedSocket m_daemon;  ///< not valid: there is none
  GdbProcess m_gdb;

  pid_t m_program = -1;
  /// The MPI process, where it has another number for itself than for us.
  struct Nested {
    pid_t toItself = 0;
    pid_t pid = 0;  ///< 0: there is none
    std::chrono::steady_clock::time_point looked;
  };
  mutable Nested m_nested;
  int m_status = 0;
  bool m_ended = false;
  std::optional<int> m_ownStatus;
  std::int32_t m_rank = -1;               ///< the launcher's word until MPI_Init
  protocol::LaunchContext m_environment;  ///< recording: the program's; replay: in what it differs
  bool m_introduced = false;
  bool m_divergedTold = false;
  bool m_contentsTold = false;
  bool m_killed = false;  ///< by order
  /// A snapshot takes the rank's place, once that is gone.
  struct WayBack {
    SnapshotKeeper::Snapshot to;
    Clock::time_point since;
    bool woken = false;
  };
  std::optional<SnapshotKeeper> m_snapshots;
  std::optional<WayBack> m_wayBack;
  protocol::RankState m_told;  ///< as last reported
  Clock::time_point m_toldAt;
  /// Since when the rank has been in the same call, and where that is in the program once it seems
  /// to be for long.
  struct Waiting {
    std::uint64_t serial = 0;
    std::uint32_t inCall = 0;
    Clock::time_point since;
    std::optional<protocol::CodePlace> place;
  };
  Waiting m_waiting;
  Clock::time_point m_lookedAt;  ///< at the process of a recorded rank, which costs system calls
  MatchedLook m_matched;
  Clock::time_point m_lookedForMatched;      ///< when
  std::optional<std::uint64_t> m_trappedAt;  ///< serial at which the rank used up its trap
  bool m_echo = true;
  std::string m_mi;  ///< from GDB, not a whole line yet
  Clock::time_point m_miAt;
  std::uint64_t m_cut = 0;  ///< output bytes not sent
  std::optional<Clock::time_point> m_daemonLost;
  struct LastCall {
    std::uint64_t serial = 0;
    Clock::time_point since;
  };
  std::optional<LastCall> m_lastCall;  ///< in which the rank is since then, without the daemon
  std::optional<Clock::time_point> m_killAt;
  std::optional<Clock::time_point> m_deadSince;  ///< the rank is dead and its GDB has not let go
  std::optional<Clock::time_point> m_wakeStoppedUntil;  ///< after a GDB died
  std::vector<::pollfd> m_polled;
};

/// One line on stderr for people.
void say(const std::string& text);

}  // namespace pf::agent
