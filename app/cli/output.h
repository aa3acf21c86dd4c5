// SPDX-License-Identifier: GPL-3.0-or-later
// What a command prints, and the exit status that goes with it.
#pragma once

#include <string>
#include <string_view>

#include "app/reports/report.h"
#include "replay_engine/base/result.h"

namespace pf::cli {

/// The exit status of 'races --new-only' and 'ci' where something appears that the file of known races does not know.
inline constexpr int kNewFound = 5;

/// Tells it; its exit status.
int fail(const Error& error);
int ended(const Status& status);
/// Everything that is read by a person: nothing in it steers the terminal.
void show(std::string_view text);
/// As show(), in colours where standard output is a terminal that has them (takesColours()).
void showStyled(std::string_view text, app::TextStyle style);
/// `terminal`: it is one. `term`, `noColour`: TERM and NO_COLOR (no-color.org: any text but none forbids); may be null.
[[nodiscard]] bool takesColours(bool terminal, const char* term, const char* noColour);
/// Everything that is read by a program: JSON has escapes of its own.
void put(std::string_view text);
int print(const Result<std::string>& text, bool json);

}  // namespace pf::cli
