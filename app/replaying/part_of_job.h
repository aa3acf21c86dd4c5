// SPDX-License-Identifier: GPL-3.0-or-later
// Replays of a part of the job (MPIWiz, 3.3): which ranks may run without the others, and how they are started.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "app/job/job.h"
#include "db/store/trace_store.h"
#include "replay_engine/base/result.h"

namespace pf::app {

/// Which ranks are asked for: those of a group, or these; neither: all.
struct PartOfJob {
  std::optional<std::uint32_t> group;
  std::vector<Rank> ranks;
  [[nodiscard]] bool isWhole() const { return !group && ranks.empty(); }
};

/// "3", "0-7,12", "0-3+12": as a SPEC writes ranks. Usage: it is something else.
Result<std::vector<Rank>> ranksOfText(std::string_view text);

/// Ranks of a replay, ascending: those of the group, or the ranks, which must be a union of groups. Usage: they are not, with
/// the groups to add; or the trace has no contents from outside of groups.
Result<std::vector<Rank>> ranksOfPart(const db::TraceStore& store, const PartOfJob& part);

/// Makes `job`, of all ranks, one of these alone: each is told by its environment which rank of the recorded job it is.
/// Usage: the job is of several programs, and which of them a rank ran is not known.
Status startFew(JobOptions& job, db::TraceStore& store, const std::vector<Rank>& ranks);

}  // namespace pf::app
