// SPDX-License-Identifier: GPL-3.0-or-later
// Logpoints: breakpoints that write a line and do not stop. They are breakpoints of GDB's Python whose stop() says no, so
// that a step over one goes on as a step, and no stop is seen by anyone.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "replay_engine/base/result.h"

namespace pf::mi {

/// A piece of a logpoint's text: words, or an expression whose value is put there.
struct LogPart {
  bool expression = false;
  std::string text;
  friend bool operator==(const LogPart&, const LogPart&) = default;
};

/// "sum is {sum} of {a[{i}]}" in parts; "{{" is a brace. Usage for a brace without its other one, or nothing in it.
[[nodiscard]] Result<std::vector<LogPart>> parseLog(std::string_view text);

/// Usage: none can be at a line of this file.
[[nodiscard]] Status canLogIn(std::string_view source);

struct LogpointRequest {
  int id = 0;          ///< comes back with each line
  std::string source;  ///< with `line`; otherwise `function`; otherwise `address` (an expression)
  int line = 0;
  std::string function;
  std::string address;
  std::string condition;
  int ignoreCount = 0;
  std::vector<LogPart> parts;
};

/// GDB console commands: what has to be said once to a GDB, and what inserts a logpoint then.
[[nodiscard]] std::string logpointSetup();
[[nodiscard]] std::string logpointCommand(const LogpointRequest& request);

struct LogLine {
  int id = 0;
  std::uint64_t serial = 0;  ///< events that the rank had begun; 0 = not known
  std::string text;
  friend bool operator==(const LogLine&, const LogLine&) = default;
};

/// A line of GDB's console, if a logpoint wrote it.
[[nodiscard]] std::optional<LogLine> logLineOf(std::string_view console);

}  // namespace pf::mi
