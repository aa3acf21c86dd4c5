// SPDX-License-Identifier: MIT
// Which commits of a rank's log are on disk: in the header of the log (replay_engine/log_format/log_format.h), written
// there by the rank's agent, who syncs it. After a power cut the header may be newer than the
// records that it speaks of, and its newest commit tells nothing of an open block of which only
// the beginning is there; an older one that was synced with its records does.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace pf {

struct SyncedCommits {
  static constexpr std::size_t kCommitAt = 1344;  ///< in the file: LogHeader::commit, as it is now
  static constexpr std::size_t kAt = 1392;        ///< in the file: this
  /// What `commit` was when a sync began. They take turns, one for each sync that succeeds: while
  /// one is on its way to the disk, what the other names is there. 0: no sync yet.
  std::atomic<std::uint64_t> words[2];
};

}  // namespace pf
