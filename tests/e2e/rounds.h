// SPDX-License-Identifier: GPL-3.0-or-later
// One recorded execution, cut into many: at collectives that let nothing cross.
//
// Everything before a blocking all-to-all collective of all ranks happens before everything after
// it. So if, there, every message that was sent has been taken, every receive posted has completed
// (or was cancelled) and every other request that matters has come back, no message, no choice and
// no knowledge of one part bears on the other: each part is an execution of its own, whose races
// are those that the whole one has there. That something is open is looked at for each collective;
// where it is, the parts on both sides stay together.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "replay_engine/execution/execution.h"
#include "replay_engine/races/races.h"

namespace pf::check {

struct Round {
  Execution execution;  ///< messages matched
  /// By rank, of the whole execution's: how many come before this round's.
  std::vector<std::uint32_t> receivesBefore;
  std::vector<std::uint32_t> probesBefore;
  std::vector<std::uint32_t> sendsBefore;
};

/// The parts that have messages. `whole`: messages matched, ranks with one thread each.
std::vector<Round> cutIntoRounds(const Execution& whole);

/// Of the whole execution's races those of this round, as it names them; nothing, and why, if one
/// has an alternative of another round.
std::optional<std::vector<Race>> racesOf(const Round& round, const Execution& whole,
                                         const std::vector<Race>& races, std::string& why);

}  // namespace pf::check
