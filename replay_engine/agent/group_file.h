// SPDX-License-Identifier: GPL-3.0-or-later
// Which ranks are in the group of a rank whose contents from outside are recorded: a file beside its log.
#pragma once

#include "replay_engine/base/result.h"
#include "replay_engine/protocol/session_directory.h"

namespace pf::agent {

/// Makes rank-N.group, if the session keeps contents: int32 numbers, how many ranks the job and the group have, then those of the group. Usage:
/// the session's groups cannot be of so many ranks.
Status keepGroup(const protocol::SessionConfig& config, std::int32_t rank, std::int32_t size);

}  // namespace pf::agent
