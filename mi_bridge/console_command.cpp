// SPDX-License-Identifier: GPL-3.0-or-later
#include "mi_bridge/console_command.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <optional>
#include <utility>

#include "mi_bridge/breakpoint_words.h"
#include "mi_bridge/command.h"
#include "mi_bridge/python_literal.h"
#include "mi_bridge/verbs.h"

namespace pf::mi {
namespace {

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) {
    return {};
  }
  return text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

struct Words {
  std::string_view verb;
  std::string_view rest;
};

/// GDB's rule: the verb ends where its letters, digits, - and _ end ("print/x y", "!ls").
Words split(std::string_view line) {
  line = trimmed(line);
  std::size_t length = 0;
  while (length < line.size() && (std::isalnum(static_cast<unsigned char>(line[length])) != 0 ||
                                  line[length] == '-' || line[length] == '_')) {
    ++length;
  }
  if (length == 0 && !line.empty()) {
    length = 1;
  }
  return {line.substr(0, length), trimmed(line.substr(length))};
}

bool isPython(std::string_view verb) {
  return verb == "python" || verb == "py";
}

/// Blocks that GDB reads line by line.
bool opensBlock(const Words& words) {
  static constexpr std::array<Verb, 5> kBlocks{
      {{"commands", 4}, {"define", 3}, {"document", 3}, {"if", 2}, {"while", 3}}};
  if (isPython(words.verb)) {
    return words.rest.empty();
  }
  return isOneOf(words.verb, kBlocks);
}

std::optional<ToolAction> actionOf(std::string_view verb) {
  static constexpr std::array<std::pair<Verb, ToolAction>, 18> kActions{
      {{{"quit", 1}, ToolAction::Quit},
       {{"exit", 3}, ToolAction::Quit},
       {{"kill", 1}, ToolAction::Kill},
       {{"run", 1}, ToolAction::Run},
       {{"start", 5}, ToolAction::Run},
       {{"starti", 6}, ToolAction::Run},
       {{"attach", 2}, ToolAction::Attach},
       {{"detach", 3}, ToolAction::Detach},
       {{"reverse-continue", 9}, ToolAction::Back},
       {{"rc", 2}, ToolAction::Back},
       {{"reverse-finish", 9}, ToolAction::LineFinish},
       {{"reverse-next", 9}, ToolAction::LineNext},
       {{"rn", 2}, ToolAction::LineNext},
       {{"reverse-step", 9}, ToolAction::LineStep},
       {{"rs", 2}, ToolAction::LineStep},
       {{"reverse-nexti", 13}, ToolAction::Before},
       {{"reverse-stepi", 13}, ToolAction::Before},
       {{"rni", 3}, ToolAction::Before}}};
  for (const auto& [v, action] : kActions) {
    if (isVerb(verb, v)) {
      return action;
    }
  }
  return std::nullopt;
}

/// Of a rank's processes: a rank that runs alone is copied by fork() (replay_engine/rank/snapshots), which GDB must not follow,
/// keep or stop at. `with` sets one, too.
bool setsForks(const Words& words) {
  static constexpr std::array<Verb, 4> kSettings{{{"follow-fork-mode", 8},
                                                  {"follow-exec-mode", 8},
                                                  {"detach-on-fork", 3},
                                                  {"schedule-multiple", 10}}};
  return (isVerb(words.verb, {"set", 3}) || isVerb(words.verb, {"with", 1})) &&
         isOneOf(split(words.rest).verb, kSettings);
}
bool catchesForks(const Words& words) {
  static constexpr std::array<Verb, 2> kCatch{{{"catch", 3}, {"tcatch", 2}}};
  static constexpr std::array<Verb, 2> kForks{{{"fork", 1}, {"vfork", 1}}};
  return isOneOf(words.verb, kCatch) && isOneOf(split(words.rest).verb, kForks);
}

constexpr const char* kElsewhere = "use the debugger's own command, or a terminal of yours";

std::string refusedText(std::string_view line, std::string_view why) {
  return "not sent to GDB: " + std::string(trimmed(line)) + ": " + std::string(why);
}

/// Why the line is refused, or "".
std::string_view refusal(const Words& words) {
  static constexpr std::array<Verb, 6> kScreen{
      {{"tui", 3}, {"layout", 3}, {"focus", 3}, {"winheight", 4}, {"new-ui", 6}, {"edit", 2}}};
  static constexpr std::array<Verb, 4> kShell{{{"shell", 3}, {"make", 3}, {"pipe", 3}, {"!", 1}}};
  static constexpr std::array<Verb, 7> kOther{{{"target", 3},
                                               {"core-file", 4},
                                               {"inferior", 4},
                                               {"add-inferior", 7},
                                               {"clone-inferior", 7},
                                               {"interpreter-exec", 6},
                                               {"python-interactive", 7}}};
  static constexpr std::array<std::string_view, 9> kSettings{
      "mi-async",   "target-async", "non-stop",
      "pagination", "confirm",      "height",
      "width",      "style",        "breakpoint always-inserted"};
  if (isOneOf(words.verb, kScreen)) {
    return "it draws on a terminal, and this console is none";
  }
  if (isOneOf(words.verb, kShell) || words.verb == "|") {
    return "a shell started here would read the debugger's own commands";
  }
  if (isOneOf(words.verb, kOther) || words.verb == "pi") {
    return "each rank has its own GDB, and this one keeps its rank";
  }
  if (setsForks(words)) {
    return "the debugger depends on this setting";
  }
  if (catchesForks(words)) {
    return "it would stop at the debugger's own copies of the process: set a breakpoint at fork";
  }
  if (words.verb == "set") {
    for (const std::string_view setting : kSettings) {
      if (words.rest.substr(0, setting.size()) == setting) {
        return "the debugger depends on this setting";
      }
    }
  }
  return {};
}

/// Refused with a breakpoint, besides: what is in it is not seen here, or leaves the program.
bool leavesTheProgram(std::string_view verb) {
  static constexpr std::array<Verb, 30> kVerbs{{{"python", 2},
                                                {"guile", 2},
                                                {"guile-repl", 2},
                                                {"gr", 2},
                                                {"source", 2},
                                                {"compile", 5},
                                                {"expression", 3},
                                                {"eval", 2},
                                                {"alias", 2},
                                                {"define", 3},
                                                {"define-prefix", 7},
                                                {"dump", 2},
                                                {"append", 3},
                                                {"restore", 4},
                                                {"save", 2},
                                                {"save-tracepoints", 3},
                                                {"attach", 2},
                                                {"record", 3},
                                                {"tsave", 3},
                                                {"generate-core-file", 1},
                                                {"gcore", 2},
                                                {"jit-reader-load", 3},
                                                {"load", 2},
                                                {"file", 3},
                                                {"exec-file", 3},
                                                {"symbol-file", 3},
                                                {"add-symbol-file", 5},
                                                {"add-auto-load-safe-path", 5},
                                                {"maintenance", 2},
                                                {"mt", 2}}};
  return isOneOf(verb, kVerbs);
}

/// "set" is for the program's variables; GDB's own settings name files, languages and wrappers.
bool setsTheDebugger(const Words& words) {
  static constexpr std::array<Verb, 2> kHarmless{{{"variable", 3}, {"print", 2}}};
  if (!isVerb(words.verb, {"set", 3})) {
    return false;
  }
  const Words what = split(words.rest);
  const bool assigns =
      std::string_view("$*(").find(what.verb) != std::string_view::npos ||
      std::string_view("=.[").find(what.rest.substr(0, 1)) != std::string_view::npos ||
      what.rest.starts_with("->");
  return !isOneOf(what.verb, kHarmless) && !assigns;
}

/// Commands that begin others: "thread apply all CMD", "with SETTING -- CMD".
bool carriesAnother(std::string_view verb) {
  static constexpr std::array<Verb, 6> kVerbs{
      {{"thread", 1}, {"frame", 1}, {"taas", 4}, {"tfaas", 5}, {"faas", 4}, {"with", 1}}};
  return isOneOf(verb, kVerbs);
}

/// Of the command that `line` begins with.
std::string_view refusalOfFirst(std::string_view line) {
  const Words words = split(line);
  if (const std::string_view why = refusal(words); !why.empty()) {
    return why;
  }
  return leavesTheProgram(words.verb) || setsTheDebugger(words)
             ? "a breakpoint is for the program, and this goes beyond it"
             : "";
}

std::string_view refusalWithBreakpoint(std::string_view line) {
  if (!checkExpression(line)) {
    return "it runs a shell";
  }
  const Words words = split(line);
  std::string_view why = refusalOfFirst(line);
  if (carriesAnother(words.verb)) {  // which may carry another: each word may be one
    for (std::size_t at = 0; why.empty() && at < words.rest.size();
         at = words.rest.find(' ', at + 1)) {
      why = refusalOfFirst(words.rest.substr(at));
    }
  }
  return why;
}

Result<std::string> consoleCommand(std::string_view line) {
  auto quoted = quote(line);
  if (!quoted) {
    return quoted.error();
  }
  return "-interpreter-exec console " + *quoted;
}

/// Indentation matters (Python inside `commands`), but a tab is a control character.
std::string withoutTabs(std::string_view line) {
  std::string out;
  for (const char c : line) {
    if (c == '\t') {
      out += "        ";
    } else if (c != '\r') {
      out += c;
    }
  }
  return out;
}

Result<std::string> breakpointCommands(std::string_view number,
                                       const std::vector<std::string>& body) {
  const bool digits = !number.empty() && std::all_of(number.begin(), number.end(),
                                                     [](char c) { return c >= '0' && c <= '9'; });
  if (!digits) {
    return Error{ErrorCode::Usage, "commands: no breakpoint number is given",
                 "write, for example: commands 2"};
  }
  int depth = 0;  // of a block of Python, which is not GDB's to read
  for (const std::string& line : body) {
    const Words words = split(line);
    const std::string_view why = depth > 0 ? std::string_view() : refusal(words);
    if (!why.empty()) {
      return Error{ErrorCode::Usage, refusedText(line, why), kElsewhere};
    }
    depth =
        trimmed(line) == "end" ? 0 : depth + (isPython(words.verb) && words.rest.empty() ? 1 : 0);
  }
  std::string command = "-break-commands " + std::string(number);
  for (const std::string& line : body) {
    auto quoted = quote(withoutTabs(line));
    if (!quoted) {
      return quoted.error();
    }
    command += " " + *quoted;
  }
  return command;
}

}  // namespace

Result<ConsolePlan> planConsoleLine(std::string_view line) {
  const Words words = split(line);
  ConsolePlan plan;
  if (const auto action = actionOf(words.verb)) {
    plan.kind = ConsolePlan::Kind::Action;
    plan.action = *action;
    return plan;
  }
  if (const std::string_view why = refusal(words); !why.empty()) {
    return Error{ErrorCode::Usage, refusedText(line, why), kElsewhere};
  }
  if (opensBlock(words)) {
    plan.kind = ConsolePlan::Kind::NeedsBody;
    return plan;
  }
  auto command = consoleCommand(trimmed(line));
  if (!command) {
    return command.error();
  }
  plan.command = std::move(*command);
  return plan;
}

Status checkCommands(const std::vector<std::string>& commands) {
  for (const std::string& line : commands) {
    if (const std::string_view why = refusalWithBreakpoint(line); !why.empty()) {
      return Error{ErrorCode::Usage, refusedText(line, why), "Take it out of the commands."};
    }
  }
  return {};
}

Status checkExpression(std::string_view expression) {
  if (expression.find("$_shell") == std::string_view::npos) {
    return {};
  }
  return Error{ErrorCode::Usage, refusedText(expression, "it runs a shell"),
               "Take $_shell out of it."};
}

bool ConsoleBlock::add(std::string line) {
  if (m_lines.empty()) {
    m_depth = 1;
    m_python = isPython(split(line).verb);
    m_lines.push_back(std::move(line));
    return false;
  }
  const Words words = split(line);
  if (trimmed(line) == "end") {
    --m_depth;
    m_python = false;
  } else if (!m_python && opensBlock(words)) {
    ++m_depth;
    m_python = isPython(words.verb);
  }
  m_lines.push_back(std::move(line));
  return m_depth == 0;
}

Result<std::string> ConsoleBlock::take() {
  std::vector<std::string> lines = std::exchange(m_lines, {});
  m_depth = 0;
  if (lines.size() < 2) {
    return Error{ErrorCode::Usage, "a block without its end", {}};
  }
  const std::string first = lines.front();
  const Words words = split(first);
  if (isVerb(words.verb, {"commands", 4})) {
    return breakpointCommands(words.rest, {lines.begin() + 1, lines.end() - 1});
  }
  const bool python = isPython(words.verb);
  std::string text;
  for (std::size_t i = python ? 1 : 0; i < lines.size() - (python ? 1 : 0); ++i) {
    text += lines[i] + "\n";
  }
  return consoleCommand((python ? "python exec(" : "python gdb.execute(") + pythonLiteral(text) +
                        (python ? ", globals())" : ")"));
}

}  // namespace pf::mi
