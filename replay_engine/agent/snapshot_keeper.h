// SPDX-License-Identifier: GPL-3.0-or-later
// The snapshots of the rank, which are children of the agent (replay_engine/rank/snapshots): which there are, and waking one.
// What the page says of them is believed only of processes that are the agent's own children.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include "replay_engine/base/result.h"
#include "replay_engine/protocol/messages.h"
#include "replay_engine/protocol/rank_page.h"

namespace pf::agent {

class SnapshotKeeper {
 public:
  /// Orphans become children of the calling process from now on.
  explicit SnapshotKeeper(RankPage& page);
  SnapshotKeeper(const SnapshotKeeper&) = delete;
  SnapshotKeeper& operator=(const SnapshotKeeper&) = delete;
  /// None outlives the agent.
  ~SnapshotKeeper() { killAll(); }

  struct Snapshot {
    std::uint64_t serial = 0;
    pid_t pid = 0;
    PageSnapshot* place = nullptr;
  };
  /// Asleep, by serial.
  [[nodiscard]] std::vector<Snapshot> all() const;
  /// The last one that stands not after event `serial`.
  [[nodiscard]] std::optional<Snapshot> latest(std::uint64_t serial) const;
  /// It becomes the rank: RankPage::awake says when.
  static void wake(const Snapshot& snapshot);
  /// What has changed since it was last asked for: another obstacle at once, the rest not too soon after that,
  /// unless it is asked for `atOnce`.
  [[nodiscard]] std::optional<protocol::Snapshots> news(std::int32_t rank, bool atOnce = false);
  /// Memory in KiB that there would not be without them; `rank`: whose copies they are.
  [[nodiscard]] std::uint64_t kilobytesBeside(pid_t rank) const;
  /// Where that is more than `kilobytes`, every second one is given up, but never the first, and those to come are twice as far
  /// apart. Whether it was so.
  bool keepWithin(pid_t rank, std::uint64_t kilobytes);
  /// The same, now and then, with a quarter of the memory that the system has available.
  void keepWithinBudget(pid_t rank);
  /// Takes note of those that have ended: of all children but `others`.
  static void reap(const std::set<pid_t>& others);
  void killAll();

 private:
  static void giveUp(const Snapshot& snapshot);

  using Clock = std::chrono::steady_clock;

  RankPage& m_page;
  protocol::Snapshots m_told;
  std::optional<Clock::time_point> m_lookedAt;
  Clock::time_point m_weighAt{};
};

/// Why none is made, in words; empty: they are.
[[nodiscard]] std::string obstacleText(std::uint32_t obstacle);

}  // namespace pf::agent
