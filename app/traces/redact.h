// SPDX-License-Identifier: GPL-3.0-or-later
// photofinish redact: a trace that can be given away.
#pragma once

#include <string>

#include "replay_engine/base/result.h"

namespace pf::app {

/// What such a trace lacks, in one line for people.
inline const std::string kRedactedText =
    "arguments, directories, host, user, process ids, input, values, contents of messages, and "
    "what "
    "the user added are left out; "
    "it cannot be replayed";

/// Makes the trace `to` (which must not be there) of the events, messages and races of `from`,
/// which is surveyed first where it has none. docs/command-line.md says what stays.
Status redactTrace(const std::string& from, const std::string& to);

/// Why it is not replayed.
[[nodiscard]] Error redactedTrace(const std::string& path);

}  // namespace pf::app
