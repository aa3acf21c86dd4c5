// SPDX-License-Identifier: GPL-3.0-or-later
// One MI command on its way to GDB, and the one function that quotes text into commands.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "mi_bridge/records.h"
#include "replay_engine/base/result.h"

namespace pf::mi {

/// The caller's steady clock: nothing in this library reads a clock.
using TimePoint = std::chrono::steady_clock::time_point;
using Duration = std::chrono::steady_clock::duration;

enum class CommandFlag : unsigned {
  None = 0,
  Immediate = 1U << 0U,           ///< sent at once, before all that wait
  Interrupts = 1U << 1U,          ///< stops a running program: never held back
  MaybeStartsRunning = 1U << 2U,  ///< a step or continue: drops stale refreshes, holds what follows
  Discardable = 1U << 3U,         ///< a refresh that has no value once the program has moved on
};

[[nodiscard]] constexpr CommandFlag operator|(CommandFlag left, CommandFlag right) {
  return static_cast<CommandFlag>(static_cast<unsigned>(left) | static_cast<unsigned>(right));
}
[[nodiscard]] constexpr bool has(CommandFlag flags, CommandFlag flag) {
  return (static_cast<unsigned>(flags) & static_cast<unsigned>(flag)) != 0;
}

/// Called exactly once per command: with GDB's record (an `^error` comes as Error of code Peer),
/// or with an Error when the command was dropped, was not answered in time, or GDB died.
using Completion = std::function<void(Result<ResultRecord>)>;

struct Command {
  std::string text;  ///< without token and newline, e.g. "-exec-next"
  CommandFlag flags = CommandFlag::None;
  Completion completion;
  /// Unanswered for this long: GDB is reported as slow. Three times as long: the command fails.
  Duration patience = std::chrono::seconds(20);
};

/// When a command was accepted, sent and answered.
struct CommandTimes {
  TimePoint queued;
  TimePoint submitted;
  TimePoint completed;
};

/// `text` as one quoted argument of an MI command. Control characters are refused: a newline would
/// be a second command.
[[nodiscard]] Result<std::string> quote(std::string_view text);

}  // namespace pf::mi
