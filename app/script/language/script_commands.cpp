// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/script/language/script_commands.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace pf::headless {
namespace {

using W = ScriptWords;
using G = ScriptGroup;

constexpr std::array kVerbs{
    ScriptVerb{"run", W::None, G::None, false, false, "",
               "a new replay, to the first breakpoint, the failure or the end"},
    ScriptVerb{"continue", W::None, G::All, true, false, "[@GROUP]",
               "all ranks, or these, on to the next stop"},
    ScriptVerb{"next", W::None, G::Current, true, false, "[@GROUP]", "over the next line"},
    ScriptVerb{"step", W::None, G::Current, true, false, "[@GROUP]",
               "into what the next line calls"},
    ScriptVerb{"finish", W::None, G::Current, true, false, "[@GROUP]", "out of the function"},
    ScriptVerb{"until", W::Place, G::Current, true, false, "FILE:LINE [@GROUP]",
               "run to this line"},
    ScriptVerb{"pause", W::None, G::All, true, false, "[@GROUP]",
               "stop ranks that run, or wait in a call"},
    ScriptVerb{"replay-to", W::Event, G::None, false, false, "RANK:SERIAL",
               "this rank just before its event, the others at the cut that it needs"},
    ScriptVerb{"to-failure", W::None, G::None, false, false, "",
               "before the last receive of the rank that failed"},
    ScriptVerb{"next-receive", W::None, G::None, false, false, "",
               "the current rank to its next receive"},
    ScriptVerb{"next-racing-receive", W::None, G::None, false, false, "",
               "to the next racing receive of any rank, by logical time"},
    ScriptVerb{"next-event", W::None, G::None, false, false, "",
               "the current rank to its next event"},
    ScriptVerb{"deliver-next", W::Anywhere, G::None, false, false, "[anywhere]",
               "let the current rank, or whichever comes next, take one message more"},
    ScriptVerb{"previous-event", W::None, G::None, true, false, "",
               "the current rank one event back"},
    ScriptVerb{"reverse-step", W::None, G::None, true, false, "",
               "the current rank back to the line before, into what was called"},
    ScriptVerb{"reverse-next", W::None, G::None, true, false, "", "the same, over what was called"},
    ScriptVerb{"reverse-finish", W::None, G::None, true, false, "",
               "back to the line that called the function"},
    ScriptVerb{"previous-receive", W::None, G::None, true, false, "",
               "before the last receive that the current rank has begun"},
    ScriptVerb{"previous-hit", W::None, G::None, false, false, "",
               "the hit of a breakpoint before this place, by the current rank"},
    ScriptVerb{"last-change", W::Text, G::None, true, false, "EXPRESSION",
               "back to where its value changed last, on the current rank"},
    ScriptVerb{"repeat-cycle", W::None, G::None, false, false, "",
               "a new replay, to where the last one was sent"},
    ScriptVerb{"end-replay", W::None, G::None, false, false, "", "end the ranks"},
    ScriptVerb{"break", W::Breakpoint, G::All, false, false, "PLACE [if CONDITION] [@GROUP]",
               "a breakpoint: FILE:LINE, FUNCTION, watch E, receive 0#2, race 1 …"},
    ScriptVerb{"tbreak", W::Breakpoint, G::All, false, false, "PLACE [if CONDITION] [@GROUP]",
               "the same, until its first hit"},
    ScriptVerb{"log", W::NumberAndText, G::None, false, false, "FILE:LINE TEXT",
               "a line for each passing, {EXPRESSION} replaced by its value"},
    ScriptVerb{"delete", W::Number, G::None, false, false, "ID", "a breakpoint"},
    ScriptVerb{"enable", W::Number, G::None, false, false, "ID", "a breakpoint"},
    ScriptVerb{"disable", W::Number, G::None, false, false, "ID", "a breakpoint"},
    ScriptVerb{"ignore", W::NumberAndText, G::None, false, false, "ID COUNT",
               "the next COUNT hits of a breakpoint"},
    ScriptVerb{"stops", W::NumberAndText, G::None, false, false, "ID rank|all|RANKS",
               "who stops with a rank that comes to a breakpoint"},
    ScriptVerb{"breakpoints", W::None, G::None, false, false, "", "list them, with their hits"},
    ScriptVerb{"rank", W::Number, G::None, false, false, "N", "make this rank the current one"},
    ScriptVerb{"frame", W::Number, G::None, true, false, "N",
               "select this frame of the current rank, as stack numbers them"},
    ScriptVerb{"up", W::None, G::None, true, false, "",
               "the frame that has called the selected one"},
    ScriptVerb{"down", W::None, G::None, true, false, "",
               "the frame that the selected one has called"},
    ScriptVerb{"focus", W::Text, G::None, false, false, "RANKS",
               "these ranks have a GDB, the others have none"},
    ScriptVerb{"group", W::Text, G::None, false, false, "NAME RANKS",
               "a name for these ranks, kept in the trace"},
    ScriptVerb{"groups", W::None, G::None, false, false, "", "list them"},
    ScriptVerb{"print", W::Text, G::Current, true, false, "EXPRESSION [@GROUP]",
               "its value, equal ones together"},
    ScriptVerb{"array", W::Text, G::None, true, false,
               "EXPRESSION [across RANKS [along D] [columns N] [halo N]]",
               "an array of the current rank, or the parts of these ranks as one: what it is, its "
               "statistics, and its elements"},
    ScriptVerb{"stack", W::None, G::Current, true, false, "[@GROUP]", "the stack"},
    ScriptVerb{"stacks", W::None, G::None, true, false, "", "the stacks of all ranks, as one tree"},
    ScriptVerb{"where", W::None, G::All, false, false, "[@GROUP]",
               "what each rank does: its state, event and call"},
    ScriptVerb{"waits", W::None, G::None, false, false, "",
               "which rank waits for which, in which call, and who cannot go on"},
    ScriptVerb{"which-message", W::Text, G::None, true, false, "EXPRESSION",
               "the message that was written there last, on the current rank"},
    ScriptVerb{"contents", W::Event, G::None, false, false, "RANK:SERIAL",
               "what was in the messages of an event, where the trace has kept it"},
    ScriptVerb{"snapshots", W::None, G::None, false, false, "",
               "of the rank that runs alone, to go back to: where, and their memory"},
    ScriptVerb{"gdb", W::Text, G::Current, true, true, "[@GROUP] COMMAND", "a command of GDB"},
    ScriptVerb{"races", W::None, G::None, false, false, "",
               "the racing receives, and what else they could have taken"},
    ScriptVerb{"flip", W::Text, G::None, false, false, "WHAT [FILE]",
               "a new run, in which a receive takes another message: RACE:ALTERNATIVE, 0:2=2:1"},
    ScriptVerb{"blame", W::None, G::None, false, false, "",
               "which deliveries decide between this failure and none; takes many runs"},
    ScriptVerb{"cycles", W::None, G::None, false, false, "",
               "the replays of this script, and why they stopped"},
    ScriptVerb{"output", W::None, G::All, false, false, "[@GROUP]",
               "what the ranks have printed in this replay"},
    ScriptVerb{"echo", W::OptionalText, G::None, false, false, "TEXT", "print this"},
    ScriptVerb{"expect", W::Text, G::None, false, false, "REGEX",
               "a line of the last answer has to match, else the script fails"},
    ScriptVerb{"expect-not", W::Text, G::None, false, false, "REGEX",
               "no line of the last answer may match"},
    ScriptVerb{"timeout", W::Seconds, G::None, false, false, "SECONDS",
               "that a command may take (default 60)"},
    ScriptVerb{"help", W::None, G::None, false, false, "", "this list"},
    ScriptVerb{"quit", W::None, G::None, false, false, "", "end the replay and the script"},
};

constexpr int kMostSeconds = 86400;

std::string_view trimmed(std::string_view text) {
  const auto blank = [](char c) { return c == ' ' || c == '\t' || c == '\r'; };
  while (!text.empty() && blank(text.front())) {
    text.remove_prefix(1);
  }
  while (!text.empty() && blank(text.back())) {
    text.remove_suffix(1);
  }
  return text;
}

/// Takes the first word off.
std::string_view takeWord(std::string_view& text) {
  const std::size_t end = std::min(text.find_first_of(" \t"), text.size());
  const std::string_view word = text.substr(0, end);
  text = trimmed(text.substr(end));
  return word;
}

template <typename T>
bool readNumber(std::string_view text, T& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() && number >= 0;
}

Error wrong(const ScriptVerb& verb, const std::string& why) {
  const std::string form =
      std::string(verb.name) + (verb.form.empty() ? "" : " ") + std::string(verb.form);
  return {ErrorCode::Usage, why, "Write: " + form};
}

/// Letters to add, leave out, change or swap with the next.
std::size_t differences(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> cost(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) {
    for (std::size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        cost[i][j] = i + j;
        continue;
      }
      const bool same = a[i - 1] == b[j - 1];
      cost[i][j] =
          std::min({cost[i - 1][j] + 1, cost[i][j - 1] + 1, cost[i - 1][j - 1] + (same ? 0U : 1U)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        cost[i][j] = std::min(cost[i][j], cost[i - 2][j - 2] + 1);
      }
    }
  }
  return cost[a.size()][b.size()];
}

bool readPlace(std::string_view text, ScriptCommand& command) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos || colon == 0 ||
      !readNumber(text.substr(colon + 1), command.line) || command.line == 0) {
    return false;
  }
  command.file = text.substr(0, colon);
  return true;
}

bool readEvent(std::string_view text, EventRef& event) {
  const std::size_t colon = text.find(':');
  std::uint64_t serial = 0;
  if (colon == std::string_view::npos || !readNumber(text.substr(0, colon), event.rank) ||
      !readNumber(text.substr(colon + 1), serial) || serial == 0) {
    return false;
  }
  event.serial = serial;
  return true;
}

/// "PLACE if CONDITION", as GDB has it.
bool readBreakpoint(std::string_view text, ScriptCommand& command) {
  const std::string words = std::string(text) + " ";
  const std::size_t found = words.find(" if ");
  command.text = trimmed(words.substr(0, found));
  command.condition = found == std::string::npos ? "" : trimmed(words.substr(found + 4));
  return !command.text.empty() && (found == std::string::npos || !command.condition.empty());
}

bool readSeconds(std::string_view text, ScriptCommand& command) {
  double seconds = 0;
  if (!readNumber(text, seconds) || !std::isfinite(seconds) || seconds <= 0 ||
      seconds > kMostSeconds) {
    return false;
  }
  command.number = std::max(1, static_cast<int>(seconds * 1000));
  return true;
}

/// A number and words; of log a place and words.
bool readNumberAndText(std::string_view text, ScriptCommand& command) {
  const std::string_view first = takeWord(text);
  command.text = text;
  const bool known =
      command.verb->name == "log" ? readPlace(first, command) : readNumber(first, command.number);
  return known && !text.empty();
}

bool readWords(std::string_view text, ScriptCommand& command) {
  command.text = text;
  switch (command.verb->words) {
    case W::None:
      return text.empty();
    case W::Text:
      return !text.empty();
    case W::OptionalText:
      return true;
    case W::Anywhere:
      return text.empty() || text == "anywhere";
    case W::Event:
      return readEvent(text, command.event);
    case W::Place:
      return readPlace(text, command);
    case W::Number:
      return readNumber(text, command.number);
    case W::NumberAndText:
      return readNumberAndText(text, command);
    case W::Breakpoint:
      return readBreakpoint(text, command);
    case W::Seconds:
      return readSeconds(text, command);
  }
  return false;
}

/// The group behind the name of a command, or last. False: there are two.
bool takeGroup(std::string_view& text, ScriptCommand& command) {
  const auto take = [&command](std::string_view word) {
    const bool first = command.group.empty();
    command.group = word.substr(1);
    return first && !command.group.empty();
  };
  if (!text.empty() && text.front() == '@' && !take(takeWord(text))) {
    return false;
  }
  const std::size_t blank = text.find_last_of(" \t");
  const std::string_view last = blank == std::string_view::npos ? text : text.substr(blank + 1);
  if (!command.verb->gdbText && last.size() > 1 && last.front() == '@') {
    text = trimmed(text.substr(0, text.size() - last.size()));
    return take(last);
  }
  return true;
}

}  // namespace

std::span<const ScriptVerb> scriptVerbs() {
  return kVerbs;
}

std::string_view nearestScriptVerb(std::string_view word) {
  const auto begins = std::find_if(kVerbs.begin(), kVerbs.end(), [word](const ScriptVerb& verb) {
    return verb.name.substr(0, word.size()) == word;
  });
  if (begins != kVerbs.end()) {
    return begins->name;
  }
  const auto nearest = std::min_element(
      kVerbs.begin(), kVerbs.end(), [word](const ScriptVerb& a, const ScriptVerb& b) {
        return differences(word, a.name) < differences(word, b.name);
      });
  return 2 * differences(word, nearest->name) < nearest->name.size() ? nearest->name
                                                                     : std::string_view();
}

Result<std::optional<ScriptCommand>> parseScriptLine(std::string_view line) {
  std::string_view text = trimmed(line);
  if (text.empty() || text.front() == '#') {
    return std::optional<ScriptCommand>();
  }
  if (std::any_of(text.begin(), text.end(), [](char c) { return c == '\0' || c == '\n'; })) {
    return Error{ErrorCode::Usage, "this is no line of text", "Write one command a line."};
  }
  ScriptCommand command;
  if (text.front() == '@') {
    command.group = takeWord(text).substr(1);
    if (command.group.empty() || text.empty()) {
      return Error{ErrorCode::Usage, "there is no group, or no command behind it",
                   "Write: @GROUP COMMAND, for example @all print total"};
    }
  }
  const std::string_view name = takeWord(text);
  const auto verb = std::find_if(kVerbs.begin(), kVerbs.end(),
                                 [name](const ScriptVerb& each) { return each.name == name; });
  if (verb == kVerbs.end()) {
    const std::string nearest(nearestScriptVerb(name));
    return Error{ErrorCode::Usage, "there is no command '" + std::string(name) + "'",
                 (nearest.empty() ? "" : "Is it '" + nearest + "'? ") + "'help' lists all."};
  }
  command.verb = &*verb;
  if (verb->group != G::None && !takeGroup(text, command)) {
    return wrong(*verb, "one group can be named, after an @");
  }
  if (verb->group == G::None && !command.group.empty()) {
    return wrong(*verb, "'" + std::string(name) + "' takes no group");
  }
  if (!readWords(text, command)) {
    return wrong(*verb, text.empty() ? "something is missing behind '" + std::string(name) + "'"
                        : verb->form.empty() ? "nothing may follow '" + std::string(name) + "'"
                                             : "'" + std::string(text) + "' is not understood");
  }
  return std::optional<ScriptCommand>(std::move(command));
}

std::string scriptHelp() {
  std::string out;
  for (const ScriptVerb& verb : kVerbs) {
    std::string line =
        std::string(verb.name) + (verb.form.empty() ? "" : " ") + std::string(verb.form);
    line.resize(std::max<std::size_t>(line.size() + 2, 40), ' ');
    out += line + std::string(verb.help) + "\n";
  }
  return out;
}

}  // namespace pf::headless
