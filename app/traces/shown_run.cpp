// SPDX-License-Identifier: GPL-3.0-or-later
// What the trace of somebody else would run, for a person to decide.
#include <algorithm>
#include <array>
#include <cctype>
#include <set>

#include "app/collation/launch_context.h"
#include "app/traces/own_traces.h"

namespace pf::app {
namespace {

constexpr std::size_t kInputShown = 200;  ///< bytes

/// Of variables, in capitals: their whole names.
constexpr std::array<std::string_view, 12> kLoaders{
    "PATH",    "GLIBC_TUNABLES", "ENV",          "SHELL", "SHELLOPTS", "BASHOPTS",
    "PERL5DB", "PERL5OPT",       "MALLOC_TRACE", "PS4",   "IFS",       "RUBYOPT"};
/// How they begin: loader, interpreters, and where the MPI libraries find themselves.
constexpr std::array<std::string_view, 7> kLoaderFamilies{"LD_",   "PYTHON", "BASH_", "OPAL_",
                                                          "PMIX_", "PRTE_",  "ORTE_"};
/// What is in them: names of files, directories and commands.
constexpr std::array<std::string_view, 24> kLoaderParts{
    "PATH",  "PRELOAD", "LIBRAR",  "_LIB",    "5LIB",    "RUBYLIB", "PLUGIN",  "MODULE",
    "AGENT", "LAUNCH",  "_EXEC",   "PREFIX",  "COMMAND", "_DIR",    "_FILE",   "_RSH",
    "_SSH",  "HOME",    "OPTIONS", "STARTUP", "INIT",    "INJECT",  "PROFILE", "COMPONENT"};

bool isHarmless(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
         std::string_view("_-./:,=+@%").find(c) != std::string_view::npos;
}

/// Bytes of a UTF-8 character that is neither a control nor turns the direction of what follows; 0:
/// it is none.
std::size_t plainBytes(std::string_view text) {
  const auto at = [&](std::size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U;
  };
  const auto goesOn = [&](std::size_t i) { return (at(i) & 0xC0U) == 0x80U; };
  if (at(0) < 0x80) {
    return at(0) >= 0x20 && at(0) != 0x7F ? 1 : 0;
  }
  if (at(0) >= 0xC3 && at(0) < 0xE0) {
    return goesOn(1) ? 2 : 0;
  }
  if (at(0) == 0xC2) {  // U+0080 to U+009F are controls
    return goesOn(1) && at(1) >= 0xA0 ? 2 : 0;
  }
  if (at(0) >= 0xE3 &&
      at(0) < 0xEE) {  // from U+3000 to U+DFFF; signs of direction are before and behind
    return goesOn(1) && goesOn(2) && at(0) != 0xED ? 3 : 0;
  }
  return 0;
}

std::string escaped(std::string_view text, bool& any) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t bytes = plainBytes(text.substr(i));
    const auto byte = static_cast<unsigned char>(text[i]);
    if (bytes > 0) {
      out += text.substr(i, bytes);
      i += bytes;
      continue;
    }
    any = true;
    out += byte == '\n'   ? "\\n"
           : byte == '\t' ? "\\t"
                          : std::string("\\x") + kDigits[byte >> 4U] + kDigits[byte & 15U];
    ++i;
  }
  return out;
}

void addLine(std::string& out, std::string_view title, std::string_view text) {
  std::string line = "  ";
  line += title;
  line.resize(std::max<std::size_t>(line.size() + 1, 14), ' ');
  out += line;
  out += text;
  out += '\n';
}

/// What is typed into a debugger: not to be read by a shell.
void addWords(std::string& out, std::string_view title, const std::string& text) {
  if (!text.empty()) {
    bool any = false;
    addLine(out, "    " + std::string(title), escaped(text, any));
  }
}

/// Of the kinds that a replay sets: what the launcher was told to pass on, and the environment.
bool setsVariable(const protocol::ContextFact& fact) {
  return fact.kind == "variable" || fact.kind == "environ";
}

void addVariables(std::string& out, const db::TraceFacts& facts) {
  std::set<std::string> given;
  std::set<std::string> left;
  for (const auto& [rank, context] : contextsOf(facts.launch, facts.run.ranks)) {
    for (const protocol::ContextFact& fact : context) {
      if (setsVariable(fact)) {
        (loadsCode(fact.name) ? left : given).insert(fact.name + "=" + fact.value);
      }
    }
  }
  for (const std::string& each : given) {
    addLine(out, "sets", shownWord(each));
  }
  for (const std::string& each : left) {
    addLine(out, "never sets", shownWord(each) + "  (it loads code: left out, whatever you say)");
  }
}

void addBreakpoint(std::string& out, const db::Breakpoint& breakpoint) {
  if (wordsOf(breakpoint).empty()) {
    return;
  }
  bool any = false;
  const std::string place = !breakpoint.function.empty() ? breakpoint.function
                            : !breakpoint.file.empty()
                                ? breakpoint.file + ":" + std::to_string(breakpoint.line)
                                : breakpoint.expression;
  addLine(out, "breakpoint", std::to_string(breakpoint.id) + " at " + escaped(place, any));
  addWords(out, "evaluates", breakpoint.expression);
  addWords(out, "if", breakpoint.condition);
  addWords(out, "logs", breakpoint.log);
  for (const std::string& command : breakpoint.commands) {
    addWords(out, "does", command);
  }
}

}  // namespace

std::string shownWord(std::string_view word) {
  if (!word.empty() && std::all_of(word.begin(), word.end(), isHarmless)) {
    return std::string(word);
  }
  bool any = false;
  (void)escaped(word, any);
  std::string quoted;
  for (const char c : word) {
    quoted += c == '\'' ? (any ? "\\'" : "'\\''") : any && c == '\\' ? "\\\\" : std::string(1, c);
  }
  bool ignored = false;
  return (any ? "$'" : "'") + escaped(quoted, ignored) + "'";
}

std::string whatItRuns(const db::TraceFacts& facts) {
  std::string out;
  std::string command;
  for (const std::string& word : facts.run.command) {
    command += (command.empty() ? "" : " ") + shownWord(word);
  }
  addLine(out, "program", shownWord(facts.run.program));
  addLine(out, "command", command);
  addLine(out, "directory", shownWord(facts.run.workingDirectory));
  addVariables(out, facts);
  if (facts.run.input) {
    const std::string_view input = facts.run.input->bytes;
    addLine(out, "input",
            std::to_string(input.size()) + " bytes: " + shownWord(input.substr(0, kInputShown)) +
                (input.size() > kInputShown ? " …" : ""));
  }
  for (const db::Breakpoint& breakpoint : facts.breakpoints) {
    addBreakpoint(out, breakpoint);
  }
  for (const db::Watch& watch : facts.watches) {
    bool any = false;
    addLine(out, "watch", escaped(watch.expression, any));
  }
  return out;
}

bool loadsCode(std::string_view variable) {
  std::string name;
  for (const char c : variable) {
    name += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  }
  if (name == "PYTHONHASHSEED") {
    return false;
  }
  return std::find(kLoaders.begin(), kLoaders.end(), name) != kLoaders.end() ||
         std::any_of(kLoaderFamilies.begin(), kLoaderFamilies.end(),
                     [&](std::string_view start) { return name.starts_with(start); }) ||
         std::any_of(kLoaderParts.begin(), kLoaderParts.end(),
                     [&](std::string_view part) { return name.find(part) != std::string::npos; });
}

std::vector<std::string> withoutLoaders(std::vector<std::string> environment) {
  std::erase_if(environment, [](const std::string& each) {
    return loadsCode(std::string_view(each).substr(0, each.find('=')));
  });
  return environment;
}

protocol::LaunchContext withoutLoaders(protocol::LaunchContext context) {
  std::erase_if(context, [](const protocol::ContextFact& fact) {
    return setsVariable(fact) && loadsCode(fact.name);
  });
  return context;
}

}  // namespace pf::app
