// SPDX-License-Identifier: GPL-3.0-or-later
// What launchers say of a process in its environment: which rank of how many it is. A part of a job that is replayed alone is
// started as a smaller job, whose launcher says other things; its programs, and the scripts around them, are told what they
// were told in the recorded job. The MPI library needs the launcher's own while it starts: they are in kLaunchersVariable (rank_page.h), and
// the interposer puts them back for as long as MPI_Init takes.
#pragma once

#include <string>
#include <vector>

#include "replay_engine/protocol/program_context.h"

namespace pf::protocol {

/// Facts of the kind "place" (name, value). `environment`: NAME=VALUE each.
[[nodiscard]] LaunchContext placeFacts(const std::vector<std::string>& environment);

/// `now`, with the recorded place and kLaunchersVariable; as it is where the recording has none. Values of a trace that are no
/// numbers are left out.
[[nodiscard]] std::vector<std::string> giveBackPlace(const LaunchContext& recorded,
                                                     std::vector<std::string> now);

}  // namespace pf::protocol
