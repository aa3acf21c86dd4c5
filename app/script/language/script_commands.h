// SPDX-License-Identifier: GPL-3.0-or-later
// The commands of a script for 'photofinish debug --script': one a line, each with what may follow
// it. Without Qt and without a session, so that a script is read before anything is run for it.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "replay_engine/base/result.h"
#include "replay_engine/execution/execution.h"

namespace pf::headless {

/// What has to follow the name of a command.
enum class ScriptWords {
  None,
  Text,
  OptionalText,
  Event,          ///< RANK:SERIAL
  Place,          ///< FILE:LINE
  Number,         ///< 0 or more
  NumberAndText,  ///< a number, and words
  Breakpoint,     ///< text [if CONDITION]
  Seconds,
  Anywhere,  ///< nothing, or the word
};

/// Whom a command is for where it names no group; None: a group makes no sense with it.
enum class ScriptGroup { None, Current, All };

struct ScriptVerb {
  std::string_view name;
  ScriptWords words = ScriptWords::None;
  ScriptGroup group = ScriptGroup::None;
  bool replay = false;      ///< a replay has to run
  bool gdbText = false;     ///< an @ in its words is GDB's: its group can only come first
  std::string_view form;    ///< of what follows the name, for help
  std::string_view help{};  ///< one line
};

/// A line of a script.
struct ScriptCommand {
  const ScriptVerb* verb = nullptr;
  std::string text;       ///< what follows the name; of a breakpoint without its condition
  std::string condition;  ///< of a breakpoint
  std::string group;      ///< "0,2-4", "workers+0"; empty: none is named
  EventRef event;
  std::string file;  ///< of a place
  int line = 0;      ///< of a place
  int number = 0;    ///< a rank, a frame, a breakpoint; milliseconds
  friend bool operator==(const ScriptCommand&, const ScriptCommand&) = default;
};

/// All commands, in the order of help.
[[nodiscard]] std::span<const ScriptVerb> scriptVerbs();

/// A line without its line end. Nothing: blank, or a comment (# comes first). The group is written
/// before the command, behind its name, or last. Usage where the line is wrong: the advice names
/// the nearest command, or what has to follow.
[[nodiscard]] Result<std::optional<ScriptCommand>> parseScriptLine(std::string_view line);

/// The known command that `word` was meant to be: one that begins with it, else the one with the
/// fewest letters different; nothing where more than half of them are.
[[nodiscard]] std::string_view nearestScriptVerb(std::string_view word);

/// Each command with what follows it and what it does, a line each.
[[nodiscard]] std::string scriptHelp();

}  // namespace pf::headless
