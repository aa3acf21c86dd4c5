// SPDX-License-Identifier: GPL-3.0-or-later
#include "replay_engine/agent/snapshot_keeper.h"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <string>
#include <utility>

#include "replay_engine/agent/rank_page_file.h"
#include "replay_engine/base/process_state.h"

namespace pf::agent {
namespace {

constexpr std::chrono::milliseconds kLookEvery(300);

bool isOurChild(pid_t pid) {
  const std::string text = processStat(pid);
  return pid > 1 && text.size() > 2 &&
         std::strtol(text.c_str() + 2, nullptr, 10) == static_cast<long>(::getpid());
}

/// Memory that no other process has, in KiB.
std::uint64_t privateKilobytes(pid_t pid) {
  const std::string text = readProcess(pid, "smaps_rollup");
  std::uint64_t sum = 0;
  for (const char* name : {"\nPrivate_Clean:", "\nPrivate_Dirty:"}) {
    if (const std::size_t at = text.find(name); at != std::string::npos) {
      sum += std::strtoull(text.c_str() + at + std::string_view(name).size(), nullptr, 10);
    }
  }
  return sum;
}

}  // namespace

std::string obstacleText(std::uint32_t obstacle) {
  switch (obstacle) {
    case kNoObstacle:
      return {};
    case kThreadsOfProgram:
      return "the program has threads of its own, which a copy of its process would not have";
    case kRankOfAnotherProcess:
      return "what was started is not the MPI program itself but has started it";
    case kNoMemoryForSnapshots:
      return "the system has no memory, or no process, left for a copy";
    default:
      return "its page has been written over";
  }
}

SnapshotKeeper::SnapshotKeeper(RankPage& page) : m_page(page) {
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  page.agentPid = ::getpid();
}

std::vector<SnapshotKeeper::Snapshot> SnapshotKeeper::all() const {
  std::vector<Snapshot> found;
  for (PageSnapshot& place : m_page.snapshots) {
    const Snapshot snapshot{place.serial.load(), place.pid.load(), &place};
    if (place.state.load(std::memory_order_acquire) == kSnapshotAsleep && snapshot.serial != 0 &&
        isOurChild(snapshot.pid)) {
      found.push_back(snapshot);
    }
  }
  std::ranges::sort(found, {}, &Snapshot::serial);
  return found;
}

std::optional<SnapshotKeeper::Snapshot> SnapshotKeeper::latest(std::uint64_t serial) const {
  std::optional<Snapshot> last;
  for (const Snapshot& snapshot : all()) {
    if (snapshot.serial <= serial) {
      last = snapshot;
    }
  }
  return last;
}

void SnapshotKeeper::wake(const Snapshot& snapshot) {
  snapshot.place->state.store(kSnapshotWoken, std::memory_order_release);
  wakeSleepers(snapshot.place->state);
}

std::optional<protocol::Snapshots> SnapshotKeeper::news(std::int32_t rank) {
  const auto now = Clock::now();
  protocol::Snapshots found;
  found.rank = rank;
  found.obstacle = obstacleText(m_page.noSnapshots.load());
  if (m_lookedAt && now - *m_lookedAt < kLookEvery && found.obstacle == m_told.obstacle) {
    return {};
  }
  m_lookedAt = now;
  for (const Snapshot& snapshot : all()) {
    found.serials.push_back(snapshot.serial);
    found.kilobytes.push_back(privateKilobytes(snapshot.pid));
  }
  // What they own changes all the time: only with something else.
  if (found.serials == m_told.serials && found.obstacle == m_told.obstacle) {
    return {};
  }
  m_told = found;
  return found;
}

/// The rank gives up some, faster than anybody looks at its page: there may be any number.
void SnapshotKeeper::reap(const std::set<pid_t>& others) {
  siginfo_t ended{};
  while (::waitid(P_ALL, 0, &ended, WEXITED | WNOHANG | WNOWAIT) == 0 && ended.si_pid > 0 &&
         others.count(ended.si_pid) == 0) {
    ::waitpid(ended.si_pid, nullptr, WNOHANG);
    ended = {};
  }
}

void SnapshotKeeper::killAll() {
  for (const PageSnapshot& place : m_page.snapshots) {
    if (const pid_t pid = place.pid.load(); isOurChild(pid) && ::kill(pid, SIGKILL) == 0) {
      ::waitpid(pid, nullptr, 0);
    }
  }
}

}  // namespace pf::agent
