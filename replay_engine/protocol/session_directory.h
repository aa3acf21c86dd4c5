// SPDX-License-Identifier: GPL-3.0-or-later
// The directory of one session: where daemon, agents, ranks and front ends meet on one host.
//
//   control.sock     the daemon's socket                 key      256 random bits, 0600
//   session.json     SessionConfig, 0600                 lock     flock, shared by all who use the
//   session page-PID         the page of the rank that agent PID started (replay_engine/protocol/rank_page.h)
//   rank-N.claim     made by the agent whose program said that it is rank N
//
// Mode 0700, under $XDG_RUNTIME_DIR, else $TMPDIR, else /tmp. Its path is all that the environment
// carries (kSessionVariable); the key never leaves the file and the socket. Whoever is the last to
// let go of the lock removes the directory, so that no death of any process leaves one for long;
// those left by a death of all are removed when the next session is made.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "replay_engine/base/result.h"
#include "replay_engine/base/unique_fd.h"

namespace pf::protocol {

inline constexpr const char* kSessionVariable = "PHOTOFINISH_SESSION";

/// What daemon and agents need to know from the start. As JSON: the same names, mode as a list of
/// "record-choices", "record-events", "replay", "gate", "jitter".
struct SessionConfig {
  std::uint32_t mode = 0;    ///< RankMode bits
  std::string logDirectory;  ///< absolute; rank N writes logDirectory/rank-N.log
  std::uint64_t salt = 0;    ///< seeds every checksum of the logs
  std::uint64_t jitterSeed = 0;
  std::uint32_t algorithm = 0;  ///< RankPage::algorithm
  std::int32_t ranks = 0;       ///< of the recording, in a replay; 0 = not known
  /// Replay of a part of the job: the ranks that run, in the order of the launcher's; empty: all.
  std::vector<std::int32_t> running;
  std::string
      groups;  ///< recording: SPEC of the groups (replay_engine/groups) whose contents from outside are kept
  bool pty = false;  ///< the program's stdout is a pty of its agent, stderr a pipe
  bool echo = true;  ///< with pty: the agent also copies both to its own
  std::uint32_t watchIntervalMs = 50;
  std::string interposer;  ///< library to preload; empty = libphotofinish_mpi.so beside the agent
  std::string gdb =
      "gdb";  ///< of each rank: its path on the rank's host, or a name to search there
  std::vector<std::string> environment;  ///< of the program: NAME=VALUE to set, NAME to take away
  std::vector<std::string>
      variables;  ///< of the environment, that the launcher was told to pass on
  /// Replay: environmentFacts() as lines (factText), of the first rank, and of those that differ from it.
  std::map<std::int32_t, std::vector<std::string>> recordedEnvironment;
  bool giveBack = true;  ///< the program gets that environment, not the one of now

  friend bool operator==(const SessionConfig&, const SessionConfig&) = default;
};

[[nodiscard]] std::string toJson(const SessionConfig& config);
[[nodiscard]] Result<SessionConfig> configFromJson(const std::string& text);

/// One process's hold on a session. A fork does not hold it: a child calls open().
class SessionDirectory {
 public:
  /// Makes a directory with key, configuration and lock. `base` empty: the places named above.
  [[nodiscard]] static Result<SessionDirectory> create(const SessionConfig& config,
                                                       const std::string& base = {});
  /// Refuses a directory or file that is not ours alone.
  [[nodiscard]] static Result<SessionDirectory> open(const std::string& path);

  SessionDirectory(SessionDirectory&& other) noexcept;
  SessionDirectory& operator=(SessionDirectory&& other) noexcept;
  SessionDirectory(const SessionDirectory&) = delete;
  SessionDirectory& operator=(const SessionDirectory&) = delete;
  ~SessionDirectory();

  [[nodiscard]] const std::string& path() const { return m_path; }
  [[nodiscard]] const std::string& key() const { return m_key; }
  [[nodiscard]] const SessionConfig& config() const { return m_config; }
  [[nodiscard]] std::string socketPath() const { return m_path + "/control.sock"; }
  [[nodiscard]] std::string pagePath(pid_t agent) const;
  [[nodiscard]] std::string claimPath(std::int32_t rank) const;
  [[nodiscard]] std::string boardPath() const;  ///< what the ranks of this host share
  /// Where the daemon puts the schedule of a rank.
  [[nodiscard]] static std::string schedulePath(const std::string& directory, std::int32_t rank) {
    return directory + "/rank-" + std::to_string(rank) + ".schedule";
  }

  /// Overwrites the key in memory, for who needs it no more.
  void forgetKey();
  /// Lets go; removes the directory if nobody else holds it.
  void release();

 private:
  SessionDirectory() = default;

  std::string m_path;
  std::string m_key;
  SessionConfig m_config;
  UniqueFd m_lock;
  pid_t m_owner = 0;
};

}  // namespace pf::protocol
