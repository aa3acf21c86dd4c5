// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ci/exploration.h"

namespace pf::app {

Result<Exploration> explore(const ExplorationWish& /*wish*/) {
  return Error{
      ErrorCode::Usage,
      "this version of Photofinish has no exploration, so --explore cannot be obeyed",
      "Give --runs N instead, which records the program N times, every second time with delays."};
}

}  // namespace pf::app
