// SPDX-License-Identifier: GPL-3.0-or-later
// Which messages a receive can take at all: a superset that is cheap to find (the match sets of Forejt
// et al., 5.1, made smaller by what happens before what in every order). Private to the prediction.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "replay_engine/prediction/program_model.h"

namespace pf::prediction {

struct MatchSets {
  std::vector<std::vector<std::uint32_t>> ofReceive;  ///< messages, in sending order of each source
  std::vector<std::vector<std::uint32_t>> ofMessage;  ///< receives, in posting order
  std::size_t pairs = 0;
  bool tooMany = false;  ///< more than `most`: then the sets are not whole
};

/// At most `most` pairs of message and receive.
[[nodiscard]] MatchSets matchSets(const ProgramModel& model, std::size_t most);

}  // namespace pf::prediction
