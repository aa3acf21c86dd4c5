// SPDX-License-Identifier: GPL-3.0-or-later
// One launched run: session directory, control daemon, launcher. Used by the command line and by
// the window.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/job/launcher.h"
#include "replay_engine/base/result.h"
#include "replay_engine/protocol/client_connection.h"
#include "replay_engine/protocol/session_directory.h"

namespace pf::app {

/// Where our own programs are: the directory of the running executable.
std::string programDirectory();
/// Where data of this name are: installed, or in the tree of a build. NotFound: nowhere.
Result<std::string> dataDirectory(const std::string& name);

struct JobOptions {
  LaunchCommand command;
  std::vector<std::string> launcherOptions;  ///< behind the launcher
  std::string workingDirectory;              ///< empty = here
  protocol::SessionConfig session;
  std::string trace;       ///< replay: the trace file that the daemon takes schedules from
  bool force = false;      ///< replay although build or MPI library differ
  std::string deliveries;  ///< replay: "pinned" or "tagged"; empty = by what the trace holds
  /// With kBranch: the schedule of each rank, which the daemon does not make then.
  std::vector<std::vector<unsigned char>> schedules;
  std::optional<std::string> givenInput;  ///< content of the launcher's standard input, for `input`
  /// Every rank waits: until it is told, and how long it may at all (replay_engine/daemon/session_logic.h); 0 =
  /// by itself, never.
  std::chrono::milliseconds stallAfter{0};
  std::chrono::milliseconds stallLimit{0};
  /// endLauncher() gives the ranks no time to get on, which they do not anyhow; and the launcher is killed soon where it
  /// stays behind.
  bool endsAtOnce = false;
  int input = 0;  ///< the launcher's standard input, output, error
  int output = 1;
  int error = 2;
};

class Job {
 public:
  /// Makes the session and starts the daemon and the launcher.
  static Result<std::unique_ptr<Job>> start(JobOptions options);
  /// Ends what still runs: the ranks of a replay too, not those of a recording.
  ~Job();
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  /// The connection to the daemon; null once it was lost.
  [[nodiscard]] protocol::ClientConnection* connection() {
    return m_connection ? &*m_connection : nullptr;
  }
  enum class Heard { Nothing, Something, DaemonGone };
  /// Whatever the daemon has said by now, told one after another; false: no more now, the job may be gone.
  Heard listen(const std::function<bool(const protocol::Message&)>& tell);
  Status send(const protocol::Message& message);

  [[nodiscard]] pid_t launcher() const { return m_launcher; }
  /// Readable once the launcher has ended.
  [[nodiscard]] int launcherFd() const { return m_launcherFd.get(); }
  /// There were agents, and all have gone.
  [[nodiscard]] bool ranksGone() const { return m_agentsGone.has_value(); }
  /// Exit status of the launcher as a shell gives it (128 + signal); nothing while it runs. Open
  /// MPI 4.1.4's mpirun may lock up or crash after a rank has aborted: once all ranks have been
  /// gone for some seconds it is killed, and the status is that of the rank that failed first.
  std::optional<int> launcherStatus();
  /// No rank is left, or JobOptions::endsAtOnce, and endLauncher() was called: launcherStatus() is to be asked every 50 ms.
  [[nodiscard]] bool endsSoon() const { return m_sleepsSince.has_value(); }
  /// Asks the launcher to end the job; a second call kills it.
  void endLauncher();
  /// Kills whatever descends from the launcher, and the launcher.
  void killAll();
  /// To be called every half second or so: what there is to say of daemon and launcher, once each:
  /// one that is stopped or does not answer, and that it goes on.
  std::vector<std::string> notices();
  /// Nothing of what notices() has said of the daemon holds any more.
  [[nodiscard]] bool daemonAnswers() const;

  [[nodiscard]] const std::string& sessionPath() const { return m_session->path(); }

 private:
  using Time = std::chrono::steady_clock::time_point;

  Job() = default;
  /// Knows from what the daemon says when all ranks have ended, and how.
  void note(const protocol::Message& message);
  void lookAtDaemon(Time now, std::vector<std::string>& out);
  void lookAtLauncher(Time now, std::vector<std::string>& out);
  [[nodiscard]] Status writeSchedules(const JobOptions& options) const;
  Status startDaemon(const JobOptions& options);
  Status startLauncher(const JobOptions& options);
  void endItsSleep();

  std::optional<protocol::SessionDirectory> m_session;
  std::optional<protocol::ClientConnection> m_connection;
  pid_t m_daemon = -1;
  pid_t m_launcher = -1;
  UniqueFd m_launcherFd;
  std::optional<int> m_status;
  bool m_asked = false;
  bool m_agentsSeen = false;
  bool m_launcherKilled = false;
  bool m_mayLockUp = true;  ///< srun does not: it may have an epilog to wait for
  bool m_endsAtOnce = false;
  std::optional<Time> m_sleepsSince;  ///< the launcher, whose sleep is to end
  std::optional<std::chrono::steady_clock::time_point> m_agentsGone;
  std::optional<int> m_firstBadEnd;
  bool m_replay = false;
  std::uint64_t m_pings = 0;  ///< number of the last one, sent at m_pinged
  std::uint64_t m_answered = 0;
  Time m_pinged;
  Time m_looked;                ///< at the daemon
  bool m_daemonSilent = false;  ///< and that has been said
  Time m_lookedAt;
  std::optional<Time> m_launcherStopped;
  bool m_launcherStopTold = false;
};

}  // namespace pf::app
