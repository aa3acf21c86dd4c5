// SPDX-License-Identifier: GPL-3.0-or-later
// What becomes of a line that the user types into the console of a rank: some lines would end GDB,
// kill the rank or swallow all later commands, and are carried out in another way.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "replay_engine/base/result.h"

namespace pf::mi {

/// Something that the debugger does, not GDB.
/// What GDB's reverse execution would do if it could: Back: to the last hit before; Before: to the event before, in the place
/// of an instruction; LineStep, LineNext, LineFinish: reverse-step, -next, -finish.
enum class ToolAction {
  Quit,
  Kill,
  Run,
  Attach,
  Detach,
  Back,
  Before,
  LineStep,
  LineNext,
  LineFinish
};

struct ConsolePlan {
  enum class Kind {
    Send,      ///< `command` is the MI command
    Action,    ///< the owner is asked for `action`
    NeedsBody  ///< lines follow, up to the matching `end`
  };
  Kind kind = Kind::Send;
  std::string command;
  ToolAction action = ToolAction::Quit;
};

/// What to do with one line. Error: the line is refused, and the advice says what to do instead.
[[nodiscard]] Result<ConsolePlan> planConsoleLine(std::string_view line);

/// The lines of a block (`commands 2`, `python`, `define x`, `if`, `while`, `document`) as they are
/// typed. Feed the first line and then each further one.
class ConsoleBlock {
 public:
  [[nodiscard]] bool empty() const { return m_lines.empty(); }
  /// True: the block is complete.
  [[nodiscard]] bool add(std::string line);
  /// The MI command that does what the block says; the block is empty afterwards.
  [[nodiscard]] Result<std::string> take();

 private:
  std::vector<std::string> m_lines;
  int m_depth = 0;
  bool m_python = false;  ///< inside a block of Python, where only `end` counts
};

}  // namespace pf::mi
