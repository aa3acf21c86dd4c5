// SPDX-License-Identifier: GPL-3.0-or-later
#include "mi_bridge/looking_words.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string>

#include "mi_bridge/verbs.h"

namespace pf::mi {
namespace {

constexpr std::string_view kBlanks = " \t";

std::string_view withoutBlanks(std::string_view text) {
  const std::size_t first = text.find_first_not_of(kBlanks);
  return first == std::string_view::npos
             ? std::string_view()
             : text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

bool isWordCharacter(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-';
}

std::string_view takeLettersOf(std::string_view& text) {
  std::size_t length = 0;
  while (length < text.size() && isWordCharacter(text[length])) {
    ++length;
  }
  const std::string_view word = text.substr(0, length);
  text = withoutBlanks(text.substr(length));
  return word;
}

std::string_view takeUpToBlank(std::string_view& text) {
  const std::size_t end = std::min(text.find_first_of(kBlanks), text.size());
  const std::string_view word = text.substr(0, end);
  text = withoutBlanks(text.substr(end));
  return word;
}

/// ==, !=, <= and >=, at the '=' there. What GDB may take as anything else is none.
bool comparesAt(std::string_view text, std::size_t at) {
  const auto character = [text](std::size_t i) { return i < text.size() ? text[i] : '\0'; };
  const char before = at == 0 ? '\0' : character(at - 1);
  const char beforeThat = at < 2 ? '\0' : character(at - 2);
  if (before == '=') {
    return beforeThat != '=' && beforeThat != '!' && beforeThat != '<' && beforeThat != '>';
  }
  if (before == '<' || before == '>') {
    return beforeThat != before;
  }
  if (before == '!') {
    return true;
  }
  return character(at + 1) == '=' &&
         std::string_view("+-*/%&|^:~").find(before) == std::string::npos;
}

/// "$name(": a function of GDB's own.
bool callsGdb(std::string_view text) {
  for (std::size_t at = text.find('$'); at != std::string_view::npos; at = text.find('$', at + 1)) {
    std::size_t end = at + 1;
    while (end < text.size() && isWordCharacter(text[end]) && text[end] != '-') {
      ++end;
    }
    const std::size_t next = text.find_first_not_of(kBlanks, end);
    if (end > at + 1 && next != std::string_view::npos && text[next] == '(') {
      return true;
    }
  }
  return false;
}

Error refused(std::string_view text, const std::string& why) {
  return {ErrorCode::Usage, "not given to GDB: " + std::string(text) + ": " + why,
          "Ask for a value, and for nothing else."};
}

bool isNumber(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return (std::isdigit(static_cast<unsigned char>(c)) != 0) || c == '.';
  });
}

/// What may follow `thread apply`: "all", or numbers and ranges; and marks of how it is shown.
bool namesThreads(std::string_view word) {
  return word == "all" || word == "-q" || word == "-c" || word == "-s" || word == "-ascending" ||
         std::all_of(word.begin(), word.end(), [](char c) {
           return std::isdigit(static_cast<unsigned char>(c)) != 0 || c == '.' || c == '-' ||
                  c == '*';
         });
}

bool looks(std::string_view line, bool nested);

bool thread(std::string_view rest, bool nested) {
  if (rest.empty() || isNumber(rest)) {
    return true;
  }
  if (nested || takeUpToBlank(rest) != "apply") {
    return false;
  }
  bool named = false;
  while (!rest.empty()) {
    std::string_view behind = rest;
    if (!namesThreads(takeUpToBlank(behind))) {
      break;
    }
    named = true;
    rest = behind;
  }
  return named && looks(rest, true);
}

bool frame(std::string_view rest) {
  if (rest.empty() || isNumber(rest)) {
    return true;
  }
  const std::string_view how = takeUpToBlank(rest);
  return (how == "level" && isNumber(rest)) || (how == "function" && !rest.empty());
}

bool looks(std::string_view line, bool nested) {
  static constexpr std::array<Verb, 15> kAny{{{"backtrace", 4},
                                              {"bt", 2},
                                              {"where", 3},
                                              {"print", 1},
                                              {"inspect", 3},
                                              {"output", 3},
                                              {"ptype", 3},
                                              {"whatis", 5},
                                              {"x", 1},
                                              {"list", 1},
                                              {"info", 1},
                                              {"show", 4},
                                              {"disassemble", 5},
                                              {"help", 1},
                                              {"apropos", 3}}};
  static constexpr std::array<Verb, 2> kSteps{{{"up", 2}, {"down", 3}}};
  std::string_view rest = line;
  const std::string_view verb = takeLettersOf(rest);
  if (isOneOf(verb, kSteps)) {
    return rest.empty() || isNumber(rest);
  }
  if (verb == "frame" || verb == "f") {
    return frame(rest);
  }
  if (verb == "thread" || verb == "t") {
    return thread(rest, nested);
  }
  return isOneOf(verb, kAny);
}

}  // namespace

Status onlyLooksAt(std::string_view expression) {
  const auto control = [](char c) {
    return std::iscntrl(static_cast<unsigned char>(c)) != 0 && c != '\t';
  };
  if (withoutBlanks(expression).empty() ||
      std::any_of(expression.begin(), expression.end(), control)) {
    return refused("it", "this is no line of text");
  }
  for (std::size_t i = expression.find('='); i != std::string_view::npos;
       i = expression.find('=', i + 1)) {
    if (!comparesAt(expression, i)) {
      return refused(expression, "a '=' that does not compare may change the program");
    }
  }
  for (const char* const counts : {"++", "--"}) {
    if (expression.find(counts) != std::string_view::npos) {
      return refused(expression, std::string(counts) + " may change the program");
    }
  }
  if (callsGdb(expression)) {
    return refused(expression, "a function of GDB's own may run a program");
  }
  return {};
}

Status onlyLooks(std::string_view line) {
  if (Status harmless = onlyLooksAt(line); !harmless) {
    return harmless;
  }
  if (!looks(withoutBlanks(line), false)) {
    Error error = refused(line, "it is not known to look only");
    error.advice =
        "These do: backtrace, print, ptype, whatis, x, list, info, show, disassemble, help, frame "
        "N, "
        "up, down, thread N, thread apply all of these.";
    return error;
  }
  return {};
}

}  // namespace pf::mi
