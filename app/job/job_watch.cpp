// SPDX-License-Identifier: GPL-3.0-or-later
// What a Job sees of its processes beyond what they say: who is stopped, and what is left of them.
#include <dirent.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <iterator>
#include <map>
#include <thread>

#include "app/job/job.h"
#include "replay_engine/base/process_state.h"

namespace pf::app {
namespace {

constexpr auto kPingEvery = std::chrono::seconds(1);
/// One who is stopped by a signal and does not answer is spoken of; one who runs, later.
constexpr auto kAnswersWithin = std::chrono::seconds(2);
constexpr auto kBusyFor = std::chrono::seconds(15);
constexpr auto kStoppedFor = std::chrono::milliseconds(1500);
constexpr auto kDiesWithin = std::chrono::seconds(5);

/// Everything that descends from `root`, parents first.
std::vector<pid_t> treeOf(pid_t root) {
  std::multimap<pid_t, pid_t> children;
  if (DIR* const all = opendir("/proc"); all != nullptr) {
    for (const dirent* entry = readdir(all); entry != nullptr; entry = readdir(all)) {
      const auto pid = static_cast<pid_t>(std::strtol(entry->d_name, nullptr, 10));
      const std::string stat = pid > 0 ? processStat(pid) : std::string();
      if (stat.size() > 2) {
        children.emplace(static_cast<pid_t>(std::strtol(stat.c_str() + 2, nullptr, 10)), pid);
      }
    }
    closedir(all);
  }
  std::vector<pid_t> tree = {root};
  for (std::size_t i = 0; i < tree.size(); ++i) {
    const auto [first, last] = children.equal_range(tree[i]);
    std::transform(first, last, std::back_inserter(tree),
                   [](const auto& each) { return each.second; });
  }
  return tree;
}

}  // namespace

std::vector<std::string> Job::notices() {
  std::vector<std::string> out;
  const auto now = std::chrono::steady_clock::now();
  lookAtDaemon(now, out);
  lookAtLauncher(now, out);
  return out;
}

bool Job::daemonAnswers() const {
  return !m_daemonSilent;
}

void Job::lookAtDaemon(Time now, std::vector<std::string>& out) {
  if (!m_connection) {
    return;
  }
  if (now - std::exchange(m_looked, now) > kAnswersWithin) {
    m_pinged = now;  // we have slept: what it has answered may not be read yet
  }
  if (m_answered == m_pings) {
    if (std::exchange(m_daemonSilent, false)) {
      out.emplace_back("the control daemon answers again");
    }
    if (now - m_pinged >= kPingEvery) {
      m_pinged = now;
      (void)m_connection->send(protocol::Ping{++m_pings});
    }
    return;
  }
  const auto silent = now - m_pinged;
  if (m_daemonSilent || silent < kAnswersWithin) {
    return;
  }
  const char state = processState(m_daemon);
  if (state == 'T' || silent >= kBusyFor) {
    m_daemonSilent = true;
    out.push_back("the control daemon (process " + std::to_string(m_daemon) +
                  ") does not answer: " + whyNoAnswer(m_daemon, state));
  }
}

void Job::lookAtLauncher(Time now, std::vector<std::string>& out) {
  if (m_launcher <= 0 || m_status || now - m_lookedAt < std::chrono::milliseconds(500)) {
    return;
  }
  m_lookedAt = now;
  const char state = processState(m_launcher);
  if (state != 'T') {
    m_launcherStopped.reset();
    if (std::exchange(m_launcherStopTold, false) && processRuns(m_launcher)) {
      out.emplace_back("the launcher goes on");
    }
    return;
  }
  m_launcherStopped = m_launcherStopped.value_or(now);
  if (!m_launcherStopTold && now - *m_launcherStopped >= kStoppedFor) {
    m_launcherStopTold = true;
    out.push_back("the launcher (process " + std::to_string(m_launcher) +
                  ") does not go on: " + whyNoAnswer(m_launcher, 'T'));
  }
}

void Job::killAll() {
  if (m_connection) {
    (void)m_connection->send(protocol::Kill{});  // ranks that are not below the launcher
  }
  if (m_launcher <= 0 || launcherStatus()) {
    return;
  }
  m_asked = true;
  m_launcherKilled = true;
  std::vector<pid_t> tree = treeOf(m_launcher);
  std::ranges::reverse(tree);  // the launcher last
  for (const pid_t pid : tree) {
    kill(pid, SIGKILL);
  }
  // Until they are gone they hold the session's lock: whoever ends before them leaves its directory.
  const auto end = std::chrono::steady_clock::now() + kDiesWithin;
  while (std::ranges::any_of(tree, processRuns) && std::chrono::steady_clock::now() < end) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
}

}  // namespace pf::app
