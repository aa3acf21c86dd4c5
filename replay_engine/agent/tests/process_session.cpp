// SPDX-License-Identifier: GPL-3.0-or-later
#include "replay_engine/agent/tests/process_session.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

namespace pf::agent {

namespace fs = std::filesystem;
using std::chrono::milliseconds;

namespace {

std::string slurp(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::stringstream out;
  out << in.rdbuf();
  return out.str();
}

}  // namespace

void ProcessSession::SetUp() {
  std::string path = "/tmp/pftestXXXXXX";
  ASSERT_NE(::mkdtemp(path.data()), nullptr);
  m_directory = path;
  m_config.logDirectory = m_directory;
  m_config.interposer = TEST_PRELOAD;
  m_config.salt = 4711;
  m_config.watchIntervalMs = 20;
}

void ProcessSession::TearDown() {
  if (m_client) {
    send(protocol::Kill{});
    send(protocol::Shutdown{});
    m_client.reset();
  }
  for (const auto& [rank, pid] : m_agents) {
    agentStatus(rank);
  }
  if (m_daemon > 0) {
    EXPECT_TRUE(waitFor([this] { return ::waitpid(m_daemon, nullptr, WNOHANG) != 0; }))
        << "daemon stays";
  }
  m_session.reset();
  EXPECT_TRUE(waitFor([this] { return processes().empty(); })) << "processes are left";
  for (const pid_t pid : processes()) {
    ADD_FAILURE() << "left: " << pid << " " << slurp("/proc/" + std::to_string(pid) + "/cmdline");
    ::kill(pid, SIGKILL);
  }
  EXPECT_FALSE(fs::exists(m_path)) << "the session directory is left";
  fs::remove_all(m_directory);
}

void ProcessSession::makeSession(std::uint32_t mode, int ranks) {
  m_ranks = ranks;
  m_config.mode = mode;
  m_config.ranks = (mode & kReplay) != 0 ? ranks : 0;
  Result<protocol::SessionDirectory> session =
      protocol::SessionDirectory::create(m_config, m_directory);
  ASSERT_TRUE(session.ok()) << session.error().text();
  m_path = session->path();
  m_session.emplace(std::move(*session));
}

void ProcessSession::startDaemon() {
  m_daemon = ::fork();
  if (m_daemon == 0) {
    const std::string ranks = std::to_string(m_config.ranks);
    ::execl(TEST_DAEMON, TEST_DAEMON, m_path.c_str(), ranks.c_str(), nullptr);
    ::_exit(99);
  }
}

void ProcessSession::connectClient() {
  Result<protocol::ClientConnection> client = protocol::ClientConnection::connect(*m_session);
  ASSERT_TRUE(client.ok()) << client.error().text();
  m_client.emplace(std::move(*client));
}

void ProcessSession::startAgent(std::int32_t rank, const Steps& steps, const std::string& program) {
  std::vector<std::string> arguments{TEST_AGENT, "--", program.empty() ? TEST_RANK : program};
  arguments.insert(arguments.end(), steps.begin(), steps.end());
  std::vector<char*> pointers;
  for (std::string& argument : arguments) {
    pointers.push_back(argument.data());
  }
  pointers.push_back(nullptr);
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::setpgid(0, 0);
    ::close_range(3, ~0U, 0);
    ::setenv("PHOTOFINISH_SESSION", m_path.c_str(), 1);
    ::setenv("OMPI_COMM_WORLD_RANK", std::to_string(rank).c_str(), 1);
    ::setenv("OMPI_COMM_WORLD_SIZE", std::to_string(m_ranks).c_str(), 1);
    const std::string base = file("agent-" + std::to_string(rank));
    ::dup2(::open((base + ".out").c_str(), O_CREAT | O_WRONLY | O_APPEND | O_CLOEXEC, 0600), 1);
    ::dup2(::open((base + ".err").c_str(), O_CREAT | O_WRONLY | O_APPEND | O_CLOEXEC, 0600), 2);
    ::execv(TEST_AGENT, pointers.data());
    ::_exit(99);
  }
  m_agents[rank] = pid;
}

void ProcessSession::startReplay(const std::vector<Steps>& ranks) {
  makeSession(kReplay | kGate, static_cast<int>(ranks.size()));
  startDaemon();
  connectClient();
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    startAgent(static_cast<std::int32_t>(rank), ranks[rank]);
  }
}

int ProcessSession::agentStatus(std::int32_t rank, milliseconds most) {
  int status = -1;
  const pid_t pid = m_agents.at(rank);
  if (pid <= 0) {
    return -1;
  }
  const bool ended = waitFor([&] { return ::waitpid(pid, &status, WNOHANG) == pid; }, most);
  EXPECT_TRUE(ended) << "the agent of rank " << rank << " does not end";
  if (!ended) {
    ::kill(pid, SIGKILL);
    ::waitpid(pid, nullptr, 0);
    status = -1;
  }
  m_agents[rank] = -1;
  return status;
}

std::string ProcessSession::outputOf(std::int32_t rank) const {
  return slurp(file("agent-" + std::to_string(rank) + ".out"));
}

std::string ProcessSession::errorsOf(std::int32_t rank) const {
  return slurp(file("agent-" + std::to_string(rank) + ".err"));
}

void ProcessSession::send(const protocol::Message& message) {
  static_cast<void>(m_client->send(message));
}

/// Waits for a message, then takes all that are there.
void ProcessSession::receive(milliseconds most) {
  Result<std::optional<protocol::Message>> message = m_client->receiveFor(most);
  if (!message) {
    std::this_thread::sleep_for(most);
  }
  while (message && message->has_value()) {
    m_seen.push_back(std::move(**message));
    message = m_client->receive();
  }
}

bool ProcessSession::waitFor(const std::function<bool()>& condition, milliseconds most) {
  const auto deadline = std::chrono::steady_clock::now() + most;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline) {
      return false;
    }
    std::this_thread::sleep_for(milliseconds(5));
  }
  return true;
}

std::vector<pid_t> ProcessSession::processes() const {
  std::vector<pid_t> out;
  for (const auto& entry : fs::directory_iterator("/proc")) {
    const std::string name = entry.path().filename();
    const bool isProcess =
        std::all_of(name.begin(), name.end(), [](char c) { return c >= '0' && c <= '9'; });
    if (!isProcess || std::stoi(name) == ::getpid() || m_path.empty()) {
      continue;
    }
    const std::string text =
        slurp("/proc/" + name + "/environ") + slurp("/proc/" + name + "/cmdline");
    if (text.find(m_path) != std::string::npos) {
      out.push_back(std::stoi(name));
    }
  }
  return out;
}

std::string ProcessSession::kinds() const {
  std::string out;
  for (const protocol::Message& message : m_seen) {
    std::visit([&](const auto& m) { out += " " + std::to_string(static_cast<int>(m.kType)); },
               message);
    if (const auto* verdict = std::get_if<protocol::Verdict>(&message)) {
      out += "(" + verdict->text + ")";
    }
  }
  return out;
}

}  // namespace pf::agent
