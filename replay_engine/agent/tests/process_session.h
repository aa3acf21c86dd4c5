// SPDX-License-Identifier: GPL-3.0-or-later
// A session of real processes: daemon, agents, fake ranks. The teardown checks that nothing is
// left.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "replay_engine/protocol/client_connection.h"
#include "replay_engine/protocol/session_directory.h"

namespace pf::agent {

class ProcessSession : public testing::Test {
 protected:
  using Steps = std::vector<std::string>;

  void SetUp() override;
  void TearDown() override;

  /// Makes the session; `mode` as RankMode. Call before anything else.
  void makeSession(std::uint32_t mode, int ranks);
  void startDaemon();
  void connectClient();
  /// Starts the agent of `rank` in a process group of its own, as launchers do.
  void startAgent(std::int32_t rank, const Steps& steps, const std::string& program = {});
  /// All of it: session, daemon, client, one agent for each list of steps.
  void startReplay(const std::vector<Steps>& ranks);

  /// Waits for the agent to end; its status as waitpid() gives it, -1 if it does not end.
  int agentStatus(std::int32_t rank, std::chrono::milliseconds most = std::chrono::seconds(30));
  [[nodiscard]] pid_t agentPid(std::int32_t rank) const { return m_agents.at(rank); }
  [[nodiscard]] std::string outputOf(std::int32_t rank) const;
  [[nodiscard]] std::string errorsOf(std::int32_t rank) const;
  [[nodiscard]] std::string file(const std::string& name) const { return m_directory + "/" + name; }

  void send(const protocol::Message& message);
  /// The next M to the client that `fits`, whatever other kinds come before it: each kind is read
  /// in its own order.
  template <typename M>
  std::optional<M> expect(
      const std::function<bool(const M&)>& fits = [](const M&) { return true; },
      std::chrono::milliseconds most = std::chrono::seconds(30)) {
    const auto deadline = std::chrono::steady_clock::now() + most;
    std::size_t& at = m_read[M::kType];
    do {
      for (; at < m_seen.size(); ++at) {
        const auto* message = std::get_if<M>(&m_seen[at]);
        if (message != nullptr && fits(*message)) {
          return std::get<M>(m_seen[at++]);
        }
      }
      receive(std::chrono::milliseconds(100));
    } while (std::chrono::steady_clock::now() < deadline);
    ADD_FAILURE() << "no " << static_cast<int>(M::kType) << " came; got" << kinds();
    return std::nullopt;
  }
  bool waitFor(const std::function<bool()>& condition,
               std::chrono::milliseconds most = std::chrono::seconds(30));
  /// Pids whose environment or command line names the session.
  [[nodiscard]] std::vector<pid_t> processes() const;
  [[nodiscard]] std::string kinds() const;

  std::string m_directory;  ///< for the test's files
  std::string m_path;       ///< of the session
  std::optional<protocol::SessionDirectory> m_session;
  std::optional<protocol::ClientConnection> m_client;
  std::vector<protocol::Message> m_seen;
  pid_t m_daemon = -1;
  protocol::SessionConfig m_config;

 private:
  void receive(std::chrono::milliseconds most);

  int m_ranks = 0;
  std::map<protocol::MessageType, std::size_t> m_read;  ///< how far into m_seen, by kind
  std::map<std::int32_t, pid_t> m_agents;
};

}  // namespace pf::agent
