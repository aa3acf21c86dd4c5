// SPDX-License-Identifier: GPL-3.0-or-later
// Which rank failed, and where: of the ranks of a run that ended badly, all but one are ended by the
// launcher because of it.
#pragma once

#include <optional>
#include <vector>

#include "db/schema/trace_types.h"
#include "replay_engine/execution/execution.h"

namespace pf::app {

/// Whether a program that this signal ended has failed by itself.
bool endedByItself(int signal);

/// Whether the event takes a message.
bool receives(const RankHistory& rank, Serial serial);

/// The last event of the rank that failed in which it took a message (its last event, if there is
/// none): the failing receive. Nothing if no rank looks as if it had failed.
std::optional<EventRef> failingReceive(const std::vector<db::RankInfo>& ranks,
                                       const Execution& execution);

}  // namespace pf::app
