// SPDX-License-Identifier: GPL-3.0-or-later
// What the daemon needs to know of a recording. The front end implements it over the trace store.
#pragma once

#include <cstdint>
#include <string>

#include "replay_engine/base/result.h"
#include "replay_engine/protocol/messages.h"

namespace pf::daemon {

class ScheduleSource {
 public:
  ScheduleSource() = default;
  ScheduleSource(const ScheduleSource&) = delete;
  ScheduleSource& operator=(const ScheduleSource&) = delete;
  virtual ~ScheduleSource() = default;

  /// Ranks of the recording; 0 = no recording (the session records).
  [[nodiscard]] virtual int ranks() const = 0;
  /// How many of them run; all, unless a part of the job is replayed.
  [[nodiscard]] virtual int running() const { return ranks(); }
  /// Absolute path of the file that the interposer of `rank` replays.
  [[nodiscard]] virtual Result<std::string> schedulePath(std::int32_t rank) = 0;
  /// What its user has to know of a schedule that was handed out; empty: nothing.
  [[nodiscard]] virtual std::string noteOn(std::int32_t /*rank*/) const { return {}; }
  /// The last event that `rank` had begun in the recording; 0 = not known.
  [[nodiscard]] virtual std::uint64_t lastEvent(std::int32_t /*rank*/) const { return 0; }
  /// An error if this program may not replay the recording (other build, other MPI library …).
  [[nodiscard]] virtual Status checkRank(const protocol::RankHello& hello) = 0;
};

/// For a session that records.
class NoSchedule final : public ScheduleSource {
 public:
  [[nodiscard]] int ranks() const override { return 0; }
  [[nodiscard]] Result<std::string> schedulePath(std::int32_t /*rank*/) override {
    return Error{ErrorCode::Internal, "a session that records has no schedule", {}};
  }
  [[nodiscard]] Status checkRank(const protocol::RankHello& /*hello*/) override { return {}; }
};

}  // namespace pf::daemon
