// SPDX-License-Identifier: GPL-3.0-or-later
// A run that ends well, of a program of which one failed. Private to app/branching.
#pragma once

#include <string>

#include "app/branching/blame.h"
#include "app/branching/branch_runner.h"
#include "app/branching/parent_run.h"

namespace pf::app {

/// One that is few flips from the one that failed; else one of which nothing is forced, as a program that fails often in many
/// places ends well by itself sooner than by a flip; else by more flips, of the runs that came farthest. Kept as goodName(); its
/// name. `directory`: for what is made on the way. NotFound: none was found, or none is there.
Result<std::string> findGoodRun(const BlameOptions& options, const std::string& directory,
                                const BranchRunner& runner, const ParentRun& failing);

}  // namespace pf::app
