// SPDX-License-Identifier: GPL-3.0-or-later
// What carries out each command of a script, by its name. A handler sees to it that the answer ends,
// now or later (script_answer.h).
#pragma once

#include <functional>
#include <map>
#include <string_view>

#include <QList>

#include "app/script/language/script_commands.h"

namespace pf::headless {

/// `ranks`: that the command is for.
using CommandHandler = std::function<void(const ScriptCommand& command, const QList<int>& ranks)>;
using CommandTable = std::map<std::string_view, CommandHandler>;

/// A function of an object as a handler.
template <typename Commands>
CommandHandler handlerOf(Commands* commands,
                         void (Commands::*handle)(const ScriptCommand&, const QList<int>&)) {
  return [commands, handle](const ScriptCommand& command, const QList<int>& ranks) {
    (commands->*handle)(command, ranks);
  };
}

}  // namespace pf::headless
