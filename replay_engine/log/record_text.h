// SPDX-License-Identifier: GPL-3.0-or-later
// The records of a log as text, by their lists of fields (replay_engine/log_format/record_kinds.h).
#pragma once

#include <functional>
#include <span>
#include <string>

#include "replay_engine/base/result.h"

namespace pf {

/// A line a record: number of the event that it is or belongs to, kind, fields. Damaged where the log is none, or at
/// the first record that is none, behind the lines of those before it.
Status printRecords(std::span<const unsigned char> log,
                    const std::function<void(const std::string&)>& line);

/// docs/log-format.md: all kinds with their fields.
[[nodiscard]] std::string recordPage();

}  // namespace pf
