// SPDX-License-Identifier: GPL-3.0-or-later
// Commands about answers: echo, expect, expect-not, help. They need no session.
#pragma once

#include "app/script/language/command_table.h"
#include "app/script/language/script_answer.h"

namespace pf::headless {

void addAnswerCommands(CommandTable& table, ScriptAnswer& answer);

}  // namespace pf::headless
