// SPDX-License-Identifier: GPL-3.0-or-later
// Who waits for whom, in words: the same in the window, scripts, editors and for assistants. What is judged: job_state.h.
// QtCore only.
#pragma once

#include <QString>

#include "views/trace/analyses/job_state.h"

namespace pf::views {

/// "rank 0 waits for rank 1: MPI_Recv from rank 1, tag 7 at ring.c:12 (event 4)". No full stop.
[[nodiscard]] QString waitText(const TraceIndex& trace, const RankWait& wait);

/// "rank 1", "ranks 0, 2".
[[nodiscard]] QString ranksText(const std::vector<Rank>& ranks);
/// Each waits for the next: "rank 0 waits for rank 1, which waits for rank 0".
[[nodiscard]] QString circleText(const std::vector<Rank>& circle);

/// "rank 1", "one of ranks 0, 2", "what is not known".
[[nodiscard]] QString waitedForText(const RankWait& wait);

/// Lines, each with its line's end: the queues as counts, a cycle, who cannot go on, and each wait.
/// `moment`: "where the replay is".
[[nodiscard]] QString waitsText(const TraceIndex& trace, const JobState& state,
                                const QString& moment);

}  // namespace pf::views
