// SPDX-License-Identifier: GPL-3.0-or-later
// Which rank failed, and where: of the ranks of a run that ended badly, all but one are ended by the
// launcher because of it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "db/schema/trace_types.h"
#include "replay_engine/execution/execution.h"

namespace pf::app {

struct StuckIn;

/// Whether a program that this signal ended has failed by itself.
bool endedByItself(int signal);

/// Whether the event takes a message.
bool receives(const RankHistory& rank, Serial serial);

/// Whether the rank finished, and with exit status 0, as far as that is known.
bool endedWell(const db::RankInfo& rank);

/// Whether the launcher may have ended the rank behind its record, because another one of `ranks` had failed: how it would have
/// ended by itself is not known then, and differs from run to run.
bool mayBeEndedByLauncher(const db::RankInfo& rank, const std::vector<db::RankInfo>& ranks);

/// Who failed, and how, in one sentence without its end: "rank 0 ended with exit status 1 after event 5". All that tells of a
/// run says it so.
struct WhatFailed {
  Rank rank = kUnknownRank;  ///< unknown: no rank by itself
  std::string sentence;
  bool hangs =
      false;  ///< no rank failed by itself, and all that did not finish were ended in an MPI call
};
/// Nothing: the run ended well, as far as its ranks and its launcher (`exitStatus`) tell, or it goes on.
std::optional<WhatFailed> whatFailed(const std::vector<db::RankInfo>& ranks,
                                     std::optional<std::int32_t> exitStatus);

/// What a rank was doing that could not get on: "stuck inside MPI_Recv (event 2) at a.c:6 (main) for rank 1, tag 0";
/// "waiting inside …" where nothing proves that it would never have got on. whatFailed() reads it again.
std::string stuckText(const std::string& call, Serial serial, const StuckIn& stuck);

/// Who waited in which call for whom when nobody could get on: "0 MPI_Recv 1; 1 MPI_Barrier". Neither events nor places: equal
/// where the same ranks wait alike.
std::string waitsText(const std::vector<db::RankInfo>& ranks);

/// Of the ranks whose records are not complete, why: a line for those that are alike. `withStates`: and what they were doing.
std::vector<std::string> cutLines(const std::vector<db::RankInfo>& ranks, bool withStates);

/// The last event of the rank that failed in which it took a message (its last event, if there is
/// none): the failing receive. Nothing if no rank looks as if it had failed.
std::optional<EventRef> failingReceive(const std::vector<db::RankInfo>& ranks,
                                       const Execution& execution);

}  // namespace pf::app
