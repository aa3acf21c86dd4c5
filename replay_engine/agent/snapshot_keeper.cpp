// SPDX-License-Identifier: GPL-3.0-or-later
#include "replay_engine/agent/snapshot_keeper.h"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>

#include "replay_engine/agent/rank_page_file.h"
#include "replay_engine/base/process_state.h"

namespace pf::agent {
namespace {

constexpr std::chrono::milliseconds kLookAgainAfter(300);
constexpr std::chrono::milliseconds kWeighEvery(100);
constexpr int kWeighingShare = 20;         ///< of the time, at most
constexpr std::uint64_t kBudgetShare = 4;  ///< of the memory that is there
constexpr std::uint64_t kFirstDistance = 16;
constexpr std::uint64_t kMostDistance = std::uint64_t{1} << 40;

/// What stands behind `name` in `text`, in KiB; 0: nothing.
std::uint64_t numberAfter(const std::string& text, std::string_view name) {
  const std::size_t at = text.find(name);
  return at == std::string::npos ? 0 : std::strtoull(text.c_str() + at + name.size(), nullptr, 10);
}

bool isOurChild(pid_t pid) {
  const std::string text = processStat(pid);
  return pid > 1 && text.size() > 2 &&
         std::strtol(text.c_str() + 2, nullptr, 10) == static_cast<long>(::getpid());
}

/// Memory that no other process has, in KiB.
std::uint64_t privateKilobytes(pid_t pid) {
  const std::string text = readProcess(pid, "smaps_rollup");
  return numberAfter(text, "\nPrivate_Clean:") + numberAfter(text, "\nPrivate_Dirty:");
}

/// Memory that belongs to no file, in KiB: what it has, and its share of that among all who have it (since Linux 5.4).
struct Anonymous {
  std::uint64_t all = 0;
  std::uint64_t share = 0;
};
Anonymous anonymousOf(pid_t pid) {
  const std::string text = readProcess(pid, "smaps_rollup");
  const std::uint64_t all = numberAfter(text, "\nAnonymous:");
  return {all,
          text.find("\nPss_Anon:") == std::string::npos ? all : numberAfter(text, "\nPss_Anon:")};
}

/// No less than its anonymous memory in KiB, and cheap to ask for.
std::uint64_t residentKilobytes(pid_t pid) {
  const std::string text = readProcess(pid, "statm");
  const std::size_t second = text.find(' ');
  return second == std::string::npos
             ? 0
             : std::strtoull(text.c_str() + second, nullptr, 10) *
                   static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE)) / 1024;
}

std::uint64_t availableKilobytes() {
  std::ifstream file("/proc/meminfo");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  return numberAfter(text, "\nMemAvailable:");
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
    case kDescriptorsOfProgram:
      return "the program has a pipe, a socket, a directory or the like open, which a copy would "
             "share with it";
    case kManyFilesOfProgram:
      return "the program has more than 64 files open";
    case kFilesReadAndWritten:
      return "the program has a file open to read and write, or to append to, and what is written "
             "there does not go back";
    case kLockedFiles:
      return "the program has locked a file, and a copy would not have the lock, or share it";
    case kSharedMemoryOfProgram:
      return "the program has memory mapped that it shares, which does not go back";
    case kChildrenOfProgram:
      return "the program has child processes, which a copy would not have";
    case kTimersOfProgram:
      return "the program has a timer, which a copy would not have";
    case kProcessNotSeen:
      return "the system does not tell in /proc what the program has that a copy would share with "
             "it";
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

std::optional<protocol::Snapshots> SnapshotKeeper::news(std::int32_t rank, bool atOnce) {
  const auto now = Clock::now();
  protocol::Snapshots found;
  found.rank = rank;
  found.obstacle = obstacleText(m_page.noSnapshots.load());
  // The first ones are told at once: who knows of none starts a cycle to go back.
  if (!atOnce && m_lookedAt && !m_told.serials.empty() && now - *m_lookedAt < kLookAgainAfter &&
      found.obstacle == m_told.obstacle) {
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

std::uint64_t SnapshotKeeper::kilobytesBeside(pid_t rank) const {
  const Anonymous own = anonymousOf(rank);
  std::uint64_t sum = own.share;
  for (const Snapshot& snapshot : all()) {
    sum += anonymousOf(snapshot.pid).share;
  }
  return sum > own.all ? sum - own.all : 0;
}

bool SnapshotKeeper::keepWithin(pid_t rank, std::uint64_t kilobytes) {
  const std::vector<Snapshot> kept = all();
  std::uint64_t most = 0;
  for (const Snapshot& snapshot : kept) {
    most += residentKilobytes(snapshot.pid);
  }
  if (kept.size() < 2 || most <= kilobytes || kilobytesBeside(rank) <= kilobytes) {
    return false;
  }
  for (std::size_t i = 1; i < kept.size(); i += 2) {
    giveUp(kept[i]);
  }
  const std::uint64_t distance = std::max(m_page.snapshotDistance.load(), kFirstDistance);
  if (distance < kMostDistance) {
    m_page.snapshotDistance.store(2 * distance);
  }
  m_lookedAt.reset();
  return true;
}

void SnapshotKeeper::keepWithinBudget(pid_t rank) {
  const auto begin = Clock::now();
  if (begin < m_weighAt) {
    return;
  }
  const std::uint64_t available = availableKilobytes();
  if (available > 0) {
    keepWithin(rank, available / kBudgetShare);
  }
  const auto end = Clock::now();
  m_weighAt = end + std::max<Clock::duration>(kWeighEvery, kWeighingShare * (end - begin));
}

void SnapshotKeeper::giveUp(const Snapshot& snapshot) {
  std::uint32_t expected = kSnapshotAsleep;
  if (snapshot.place->state.compare_exchange_strong(expected, kNoSnapshot)) {
    ::kill(snapshot.pid, SIGKILL);
    snapshot.place->serial.store(0);
  }
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
