// SPDX-License-Identifier: GPL-3.0-or-later
// photofinish doctor: what works on this machine.
#pragma once

#include <string>

#include "app/doctor/check.h"

namespace pf::app {

/// Looks at everything: takes some seconds, starts GDB and the launchers, loads MPI libraries in
/// processes of their own. `programs`: the directory of our programs.
[[nodiscard]] Checks examine(const std::string& programs);

/// Whether all that is needed works.
[[nodiscard]] bool isFit(const Checks& checks);

/// For people: a line for each, with its remedy below; JSON: {"photofinish", "works", "checks": [{"name",
/// "state": "works" | "limited" | "missing", "needed", "found", "remedy", "path", "version"}]}.
[[nodiscard]] std::string doctorReport(const Checks& checks, bool json);

}  // namespace pf::app
