// SPDX-License-Identifier: GPL-3.0-or-later
// The options of Slurm's srun, as far as the program behind them has to be found.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "replay_engine/base/result.h"

namespace pf::app {

/// Number of words that the option at `i` takes, itself included (srun of Slurm 22.05;
/// getopt_long's rules).
std::size_t srunOptionWords(const std::vector<std::string>& words, std::size_t i);

/// Usage, where an option leaves no place for our agent: --multi-prog, --bcast.
Status srunOptionTaken(const std::string& option);

}  // namespace pf::app
