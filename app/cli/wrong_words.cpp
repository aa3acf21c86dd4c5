// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/wrong_words.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cctype>
#include <numeric>
#include <utility>

#include "replay_engine/base/shown_text.h"

namespace pf::cli {
namespace {

/// Options that differ in so many letters are no slips of the other.
constexpr std::size_t kMostSlips = 2;

/// Letters to add, drop or change (Levenshtein) to make `b` of `a`.
std::size_t slips(const std::string& a, const std::string& b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t before = std::exchange(row[0], i + 1);
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t changed = before + (a[i] == b[j] ? 0 : 1);
      before = row[j + 1];
      row[j + 1] = std::min({changed, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

std::string nameOnly(const std::string& word) {
  return word.substr(0, word.find('='));
}

bool isOption(const std::string& word) {
  return word.size() > 1 && word.front() == '-';
}

/// Empty: none looks like it.
std::string nearestOption(const CLI::App& command, const std::string& word) {
  std::string nearest;
  std::size_t fewest = kMostSlips + 1;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) {
      const std::size_t found = slips("--" + name, word);
      if (found < fewest) {
        fewest = found;
        nearest = "--" + name;
      }
    }
  }
  return nearest;
}

std::string helpOf(const CLI::App& command) {
  return "'photofinish " + command.get_name() + " --help' lists the options.";
}

bool isTrace(const std::string& word) {
  return word.size() > 4 && word.ends_with(".pft");
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) {
    text += " " + word;
  }
  return text;
}

/// The command that was given; the parser itself where none was.
const CLI::App& commandOf(const CLI::App& parser) {
  const std::vector<CLI::App*> given =
      const_cast<CLI::App&>(parser).get_subcommands();  // NOLINT: the other form takes a filter
  return given.empty() ? parser : *given.front();
}

/// The first of `given` that looks like an option and is none of `command`; empty: all are.
std::string firstUnknown(const CLI::App& command, const std::vector<std::string>& given) {
  const auto unknown = std::ranges::find_if(given, [&command](const std::string& word) {
    return isOption(word) && word != "--" &&
           std::isdigit(static_cast<unsigned char>(word[1])) == 0 &&
           command.get_option_no_throw(nameOnly(word)) == nullptr;
  });
  return unknown == given.end() ? std::string() : nameOnly(*unknown);
}

}  // namespace

Error unknownOption(const CLI::App& command, const std::string& word) {
  const std::string name = nameOnly(word);
  const std::string meant = nearestOption(command, name);
  const std::string of =
      command.get_parent() == nullptr ? "photofinish" : "'photofinish " + command.get_name() + "'";
  return {ErrorCode::Usage, of + " has no option " + shown(name),
          meant.empty() ? helpOf(command) : "Did you mean " + meant + "? " + helpOf(command)};
}

Status isProgram(const CLI::App& command, const std::vector<std::string>& words) {
  return words.empty() || !isOption(words.front()) ? Status()
                                                   : unknownOption(command, words.front());
}

Status areOfLauncher(const CLI::App& command, const std::vector<std::string>& words) {
  for (const std::string& word : words) {
    const std::string name = nameOnly(word);
    if (name.size() <= 2 || !name.starts_with("--")) {
      continue;
    }
    if (command.get_option_no_throw(name) != nullptr) {
      return Error{ErrorCode::Usage,
                   shown(name) + " stands behind options of the launcher, which would get it",
                   "Options of 'photofinish " + command.get_name() + "' stand before those."};
    }
    if (!nearestOption(command, name).empty()) {
      return unknownOption(command, word);
    }
  }
  return {};
}

Status commandOrTrace(const CLI::App& command, const std::vector<std::string>& words) {
  if (Status program = isProgram(command, words); !program) {
    return program;
  }
  if (words.size() < 2 || !isTrace(words.front())) {
    return {};
  }
  const std::vector<std::string> behind(words.begin() + 1, words.end());
  if (!isOption(behind.front())) {
    return Error{ErrorCode::Usage,
                 "'" + shown(behind.front()) + "' stands behind the trace " + words.front(),
                 "Give one trace."};
  }
  return Error{ErrorCode::Usage,
               "'" + shown(behind.front()) + "' stands behind the trace " + words.front(),
               "Options stand before it: photofinish " + command.get_name() + " …" +
                   shown(joined(behind)) + " " + words.front()};
}

Error wrongWords(const CLI::App& parser, const CLI::ParseError& error,
                 const std::vector<std::string>& given) {
  const CLI::App& command = commandOf(parser);
  const std::string unknown = firstUnknown(command, given);
  const bool extra = dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr;
  const bool missing = dynamic_cast<const CLI::RequiredError*>(&error) != nullptr;
  if (!unknown.empty() && (extra || missing)) {
    return unknownOption(command, unknown);
  }
  if (dynamic_cast<const CLI::ConversionError*>(&error) != nullptr) {
    const std::string text = error.what();  // "Could not convert: --group = abc"
    const std::size_t name = text.find("--");
    const std::size_t sign = text.find(" = ", name);
    if (name != std::string::npos && sign != std::string::npos) {
      return {ErrorCode::Usage,
              "'" + shown(text.substr(sign + 3)) + "' is no value for " +
                  text.substr(name, sign - name),
              command.get_parent() == nullptr ? "See 'photofinish --help'." : helpOf(command)};
    }
  }
  return {ErrorCode::Usage, shown(error.what()),
          command.get_parent() == nullptr ? "See 'photofinish --help'." : helpOf(command)};
}

}  // namespace pf::cli
