// SPDX-License-Identifier: GPL-3.0-or-later
// The last step of a recording of mode races: what each rank found is told, and sources that a
// replay does not need leave the trace, only after a clean end.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "db/schema/trace_types.h"
#include "replay_engine/base/result.h"
#include "replay_engine/log/rank_log.h"

namespace pf::app {

/// Names of the algorithms of `record --algorithm`, by the number that ranks know them by.
inline const std::vector<std::string> kAlgorithms = {"meehan", "netzer-miller", "algorithm-a",
                                                     "algorithm-b", "naive"};
/// The name by a number of that kind: "window-N" for kWindowAlgorithm + N.
std::string algorithmName(std::uint32_t number);

/// What a rank of a recording of mode races found.
struct RankRaces {
  Rank rank = kUnknownRank;
  std::uint64_t wildcards = 0;         ///< receives from any source
  std::optional<std::uint64_t> found;  ///< deliveries that race; nothing: it did not look
  std::uint64_t kept = 0;              ///< deliveries in the trace
  bool routed = false;                 ///< these are forced by shadow routes
};

struct RaceReduction {
  bool races = false;  ///< the ranks looked for races
  std::string algorithm;
  std::uint64_t wildcards = 0;  ///< receives from any source
  std::uint64_t found = 0;      ///< deliveries that race, as far as the ranks knew
  std::uint64_t kept = 0;       ///< deliveries in the trace
  std::string why;              ///< why nothing, or not everything, could leave
  bool threads = false;         ///< some ranks have several that call MPI
  std::vector<RankRaces> perRank;
};

/// Takes out of the logs' bytes (`files`) what their algorithm did not trace: by those that trace
/// messages all sources, and what they traced is collated by sender (replay_engine/log/shadow_routes.h). Nothing of a run
/// that is cut; nothing of a rank to which a message was sent that it did not receive; by those that
/// trace messages, nothing of a rank whose messages cannot all be named.
Result<RaceReduction> reduceToRaces(const std::vector<RankLog>& logs,
                                    std::map<Rank, std::vector<unsigned char>>& files);

}  // namespace pf::app
