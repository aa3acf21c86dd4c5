// SPDX-License-Identifier: GPL-3.0-or-later
// photofinish export: a trace in the formats of other tools.
#pragma once

#include <string>

#include "replay_engine/base/result.h"

namespace pf::app {

/// `format`: csv, chrome, shiviz or otf2. `output`: a file, or a directory for otf2, that must not
/// be there yet; a device or pipe may be; empty or "-" is standard output, for the text
/// formats.
Status exportTrace(const std::string& trace, const std::string& format, const std::string& output);

}  // namespace pf::app
