// SPDX-License-Identifier: GPL-3.0-or-later
// What a rank's log says, as text that a test can hold against what it expects: words and numbers,
// one thing behind the other.
#pragma once

#include <string>

#include "replay_engine/log/rank_log.h"

namespace pf::test {

/// "Receive Post Completion": without the events of MPI_Init and MPI_Finalize.
std::string eventsIn(const RankLog& log);
/// "MPI_Recv MPI_Irecv MPI_Wait": the calls of these events.
std::string callsIn(const RankLog& log);
/// "0:2/7 1:cancelled 2:pending": of each receive its source and tag.
std::string receivesIn(const RankLog& log);
/// "1/3 2/3!": of each message its destination and tag; ! if it is synchronous.
std::string sendsIn(const RankLog& log);
/// "Test 3- Waitany 0-2": of each choice the failures before it, and what was chosen.
std::string choicesIn(const RankLog& log);
/// "0:2 1:1": the sources of wildcard receives, by number; -1: none is known.
std::string wildcardsIn(const RankLog& log);

}  // namespace pf::test
