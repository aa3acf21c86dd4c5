// SPDX-License-Identifier: GPL-3.0-or-later
// Who waits for whom in a job that was not recorded: by the arguments of the calls that its ranks stand in, and no more than
// these tell. Which messages are on their way nobody knows; so nothing is sure. QtCore only.
#pragma once

#include <vector>

#include <QStringList>

#include "views/trace/analyses/job_state.h"

namespace pf::views {

/// `calls` by rank; `ranks`: of the job. Ranks that are not among them may do anything.
[[nodiscard]] std::vector<RankWait> waitsOfCalls(const std::vector<CallNow>& calls,
                                                 std::size_t ranks);

/// Ranks each of which waits for the next, the last for the first: a deadlock, if no message is on its way. Empty: none.
[[nodiscard]] std::vector<Rank> circleOfCalls(const std::vector<CallNow>& calls, std::size_t ranks);

/// What there is to say beside the waits: circles, ranks in different collectives, and of which ranks nothing is known.
[[nodiscard]] QStringList remarksOnCalls(const std::vector<CallNow>& calls, std::size_t ranks);

}  // namespace pf::views
