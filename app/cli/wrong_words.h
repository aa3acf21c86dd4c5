// SPDX-License-Identifier: GPL-3.0-or-later
// What is said of words that the command line does not know.
#pragma once

#include <string>
#include <vector>

#include "replay_engine/base/result.h"

namespace CLI {
class App;
class ParseError;
}  // namespace CLI

namespace pf::cli {

/// Usage: `command` has no option `word`; names the one that was meant, where one looks like it.
[[nodiscard]] Error unknownOption(const CLI::App& command, const std::string& word);

/// Usage where `words`, what is left behind the options of `command`, begin with an option: it is no program.
[[nodiscard]] Status isProgram(const CLI::App& command, const std::vector<std::string>& words);

/// Usage where one of `words`, which go to a launcher, is an option of `command`, or looks like one: it was meant for us.
[[nodiscard]] Status areOfLauncher(const CLI::App& command, const std::vector<std::string>& words);

/// As isProgram(); and behind a trace there is nothing.
[[nodiscard]] Status commandOrTrace(const CLI::App& command, const std::vector<std::string>& words);

/// What is wrong with the words that `parser` refused by `error`. `given`: all of them, behind the name of the program.
[[nodiscard]] Error wrongWords(const CLI::App& parser, const CLI::ParseError& error,
                               const std::vector<std::string>& given);

}  // namespace pf::cli
