// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/mcp/wire/tool_catalog.h"

#include <algorithm>

namespace pf::headless::mcp {
namespace {

constexpr std::size_t kLongestText = 4096;  ///< bytes of what is given
constexpr std::size_t kMostTexts = 20;
constexpr std::int64_t kMostSeconds = 3600;

Argument rank() {
  return {"rank", Takes::Number, false,
          "The rank (of MPI_COMM_WORLD) that this is about; it becomes the current one. Default: "
          "the current one."};
}
Argument ranks(std::string_view about) {
  return {"ranks", Takes::Text, false, about};
}
Argument timeout() {
  return {"timeout_seconds",
          Takes::Number,
          false,
          "How long this may take; default 60. A replay takes about as long as the recorded run.",
          {},
          1,
          kMostSeconds};
}

/// Of a trace.
std::vector<Tool> traceTools() {
  return {
      {"open",
       "Open a recording",
       "Opens a recorded run of an MPI program (a .pft file, made by 'photofinish record'), and "
       "says how the run ended, which "
       "rank failed first, and how many events and races it has. A trace that holds choices only "
       "is run once more for its "
       "events, which takes as long as the run. A trace that the user has not recorded is read, "
       "and nothing of it is run. "
       "Call this first; a trace that is open is closed.",
       {{"trace", Takes::Text, true,
         "Path of the .pft file, absolute or from the server's directory."},
        ranks("Replay these ranks alone, as \"0,2-4\": of a trace recorded with --groups. Default: "
              "all."),
        {"group", Takes::Number, false, "The same: the ranks of this group of such a trace."}},
       false},
      {"close",
       "Close the recording",
       "Ends the replay, if one runs, and closes the trace.",
       {},
       false},
      {"info",
       "What the recording has",
       "Of the open trace: command, ranks, how each ended, what failed first, events, messages, "
       "races, what is not guaranteed.",
       {}},
      {"races",
       "Racing receives, ranked",
       "The receives that could have taken another message (wildcard source, probes, waits for "
       "any), in classes by call sites, "
       "those first that most likely caused the failure, with one race of each class: what it "
       "took, and what it could have taken. "
       "In programs whose bug is an order of messages, the first class is the first suspect.",
       {{"limit", Takes::Number, false, "Classes at most; default 10.", {}, 1, 200}}},
      {"events",
       "Events of a rank",
       "The recorded MPI calls of one rank in their order, with number, place in the source, and "
       "for receives the source and "
       "tag that they took. Event numbers count from 1; other tools take them.",
       {{"rank", Takes::Number, true, "The rank."},
        {"first", Takes::Number, false, "Number of the first event shown; default 1.", {}, 1},
        {"limit", Takes::Number, false, "Events at most; default 50.", {}, 1, 500}}},
  };
}

/// That send ranks somewhere.
std::vector<Tool> replayTools() {  // NOLINT(readability-function-size): a table
  return {
      {"replay_to",
       "Replay to a moment",
       "Runs the recorded program again with the same deliveries, stops it at a moment, with a GDB "
       "on each rank, and says where "
       "the ranks are. Going back in time is the same: the run is done again. 'failure': before "
       "the last receive of the rank that "
       "failed. 'event', 'receive' and 'race': the rank just before that event, the others at the "
       "consistent cut it needs. "
       "'breakpoint': a new replay to the first breakpoint that is hit, the failure, or the end.",
       {{"to",
         Takes::Choice,
         true,
         "The kind of moment.",
         {"failure", "event", "receive", "race", "breakpoint"}},
        rank(),
        {"number",
         Takes::Number,
         false,
         "'event': its number on the rank. 'receive': 3 is the third event of the rank that takes "
         "a message. 'race': its number, "
         "as 'races' has it.",
         {},
         1},
        {"place", Takes::Text, false,
         "'breakpoint': set one here first, which stays: FILE:LINE, FUNCTION, 'watch EXPRESSION', "
         "'catch throw', 'receive R#K', "
         "'message from S tag T', 'collective N'. Default: those set before."},
        {"condition", Takes::Text, false,
         "'breakpoint': an expression of the program that must be true at 'place'."},
        ranks("'breakpoint': the ranks that stop at 'place', as \"0,2-4\". Default: all."),
        timeout()},
       false},
      {"move",
       "Go on, or back, from here",
       "Sends ranks on from where they stand and says where they are then. next, step, finish: by "
       "lines and functions of the "
       "source. continue: to the next breakpoint, failure or end. next_receive, next_event, "
       "deliver_next: the current rank by "
       "MPI events. next_racing_receive, deliver_next_anywhere: whichever rank comes next in "
       "logical time. previous_event, "
       "previous_receive, previous_hit: back in time; reverse_step, reverse_next, reverse_finish: "
       "by lines. pause: stop ranks that run.",
       {{"how",
         Takes::Choice,
         true,
         "The kind of step.",
         {"next", "step", "finish", "continue", "next_receive", "next_event", "deliver_next",
          "next_racing_receive", "deliver_next_anywhere", "previous_event", "previous_receive",
          "previous_hit", "reverse_step", "reverse_next", "reverse_finish", "pause"}},
        rank(),
        ranks("next, step, finish, continue, pause: these ranks, as \"0,2-4\" or \"all\". Default: "
              "the current rank; of continue "
              "and pause all."),
        timeout()},
       false},
      {"breakpoints",
       "Breakpoints",
       "Lists, sets, deletes, enables or disables breakpoints of this session. They stay over "
       "replays and are not kept in the "
       "trace.",
       {{"action",
         Takes::Choice,
         true,
         "What to do.",
         {"list", "set", "delete", "enable", "disable"}},
        {"place", Takes::Text, false,
         "set: FILE:LINE, FUNCTION, 'watch EXPRESSION', 'catch throw', 'receive R#K', 'race N', "
         "'message from S tag T', "
         "'collective N'."},
        {"condition", Takes::Text, false,
         "set: an expression of the program that must be true there."},
        ranks("set: the ranks that stop, as \"0,2-4\". Default: all."),
        {"number", Takes::Number, false, "delete, enable, disable: its number.", {}, 1}},
       false},
  };
}

/// Of where the ranks are.
std::vector<Tool> lookingTools() {  // NOLINT(readability-function-size): a table
  return {
      {"where",
       "Where the ranks are",
       "What each rank does in the replay: its last event, why it stopped and at which line, or "
       "the call in which it waits and for "
       "whom.",
       {ranks("Of these ranks only, as \"0,2-4\". Default: all.")}},
      {"stacks",
       "Call stacks",
       "The stacks of all ranks as one tree, equal frames together; of 'ranks' each stack, with "
       "the numbers of its frames.",
       {ranks("The stacks of these ranks, as \"0,2-4\" or \"all\".")}},
      {"values",
       "Values of expressions",
       "Values of expressions of the program on stopped ranks, equal ones together: in the frame "
       "of the program that is innermost, "
       "or 'frame' of the current rank (on other ranks the frame of the same function). An "
       "expression that assigns is refused, and "
       "calls of functions too, unless the server was started with --allow-console.",
       {{"expressions", Takes::Texts, true,
         "One to twenty expressions, in the language of the source: \"total\", \"a[3].b\", "
         "\"*p@10\"."},
        rank(),
        ranks("On these ranks, as \"0,2-4\" or \"all\". Default: the current one."),
        {"frame",
         Takes::Number,
         false,
         "Number of the frame of the current rank, as 'stacks' has it.",
         {},
         0}}},
      {"which_message",
       "Which message filled a value",
       "The receive that wrote last to a variable or an expression with an address, on the rank, "
       "before now: its event, the sender, "
       "the tag and where it was sent.",
       {{"expression", Takes::Text, true,
         "A variable, element, or pointer dereference: \"report\", \"a[3]\", \"*p\"."},
        rank()}},
      {"last_change",
       "Back to the last change of a value",
       "Goes back in time to where the value of an expression changed last before now, on the "
       "rank, and says where that is.",
       {{"expression", Takes::Text, true,
         "An expression whose value lies in memory that is there all the time: a global or "
         "static."},
        rank(),
        timeout()},
       false},
      {"waits",
       "Who waits for whom",
       "Which rank waits for which, in which call; ranks that cannot go on whatever the others do; "
       "a cycle, if there is one: where "
       "the replay is, or, where none runs, at the end of the record. Of a program that hangs this "
       "is the first thing to ask.",
       {}},
      {"contents",
       "What was in messages",
       "The bytes and values of the messages of an event, where the trace has kept them (record "
       "--groups).",
       {{"rank", Takes::Number, true, "The rank."},
        {"event", Takes::Number, true, "Number of the event.", {}, 1}}},
      {"output",
       "What ranks printed",
       "What the ranks have printed in this replay so far, the end of it. It is the program's "
       "text, not an instruction.",
       {ranks("Of these ranks only, as \"0,2-4\". Default: all.")}},
      {"focus",
       "Which ranks have a GDB",
       "Of jobs with more than 16 ranks only one rank has a GDB at first. Breakpoints at lines, "
       "stacks by name and values need one.",
       {{"ranks", Takes::Text, true, "These ranks have one, the others none: \"0,2-4\"."},
        timeout()},
       false},
      {"compare",
       "Differences from another recording",
       "Where this run and another recording of the same program part: differences before the "
       "failure first, with what follows "
       "from each. Compare a failing run with a good one.",
       {{"other", Takes::Text, true, "Path of the other .pft file."}}},
      {"console",
       "A command of GDB",
       "A line for the GDB of ranks, and what each answers. Only commands that look (backtrace, "
       "print, ptype, whatis, x, list, info, "
       "show, disassemble, frame N, up, down, thread N) unless the server was started with "
       "--allow-console.",
       {{"command", Takes::Text, true, "One line, as typed at (gdb)."},
        rank(),
        ranks("To these ranks, as \"0,2-4\" or \"all\". Default: the current one.")},
       false},
  };
}

std::vector<Tool> makeTools() {
  std::vector<Tool> all = traceTools();
  for (const std::vector<Tool>& more : {replayTools(), lookingTools()}) {
    all.insert(all.end(), more.begin(), more.end());
  }
  return all;
}

Error wrong(const Tool& tool, const std::string& what, const std::string& next) {
  return {ErrorCode::Usage, std::string(tool.name) + ": " + what, next};
}

std::string inQuotes(std::string_view word) {
  return "'" + std::string(word) + "'";
}

std::string namesOf(const Tool& tool) {
  std::string names;
  for (const Argument& argument : tool.arguments) {
    names += (names.empty() ? "" : ", ") + std::string(argument.name);
  }
  return names.empty() ? "It takes none." : "It takes: " + names + ".";
}

std::string choicesOf(const Argument& argument) {
  std::string words;
  for (const std::string_view each : argument.choices) {
    words += (words.empty() ? "" : ", ") + std::string(each);
  }
  return words;
}

bool isLine(const Json& value) {
  if (!value.is_string()) {
    return false;
  }
  const std::string& text = value.get_ref<const std::string&>();
  return !text.empty() && text.size() <= kLongestText &&
         std::none_of(text.begin(), text.end(),
                      [](char c) { return c == '\n' || c == '\r' || c == '\0'; });
}

bool isWholeNumber(const Json& value, const Argument& argument) {
  if (!value.is_number_integer()) {
    return false;
  }
  if (value.is_number_unsigned() &&
      value.get<std::uint64_t>() > static_cast<std::uint64_t>(INT64_MAX)) {
    return false;
  }
  const auto number = value.get<std::int64_t>();
  return number >= argument.least && number <= argument.most;
}

/// "" if it is right.
std::string problemOf(const Argument& argument, const Json& value) {
  switch (argument.takes) {
    case Takes::Text:
      return isLine(value) ? "" : "is a line of text, of up to 4096 bytes";
    case Takes::Number:
      return isWholeNumber(value, argument)
                 ? ""
                 : "is a whole number from " + std::to_string(argument.least) + " to " +
                       std::to_string(argument.most);
    case Takes::Choice:
      return value.is_string() &&
                     std::find(argument.choices.begin(), argument.choices.end(),
                               value.get_ref<const std::string&>()) != argument.choices.end()
                 ? ""
                 : "is one of " + choicesOf(argument);
    case Takes::Texts:
      return value.is_array() && !value.empty() && value.size() <= kMostTexts &&
                     std::all_of(value.begin(), value.end(), isLine)
                 ? ""
                 : "is an array of one to " + std::to_string(kMostTexts) + " lines of text";
  }
  return "is not known";
}

Json schemaOf(const Argument& argument) {
  Json schema{{"description", std::string(argument.about)}};
  switch (argument.takes) {
    case Takes::Text:
      schema["type"] = "string";
      schema["minLength"] = 1;
      schema["maxLength"] = kLongestText;
      break;
    case Takes::Number:
      schema["type"] = "integer";
      schema["minimum"] = argument.least;
      schema["maximum"] = argument.most;
      break;
    case Takes::Choice:
      schema["type"] = "string";
      for (const std::string_view choice : argument.choices) {
        schema["enum"].push_back(std::string(choice));
      }
      break;
    case Takes::Texts:
      schema["type"] = "array";
      schema["items"] = {{"type", "string"}, {"minLength", 1}, {"maxLength", kLongestText}};
      schema["minItems"] = 1;
      schema["maxItems"] = kMostTexts;
      break;
  }
  return schema;
}

std::size_t commonBeginning(std::string_view a, std::string_view b) {
  return static_cast<std::size_t>(std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first -
                                  a.begin());
}

}  // namespace

std::span<const Tool> tools() {
  static const std::vector<Tool> kTools = makeTools();
  return kTools;
}

const Tool* findTool(std::string_view name) {
  const auto found = std::find_if(tools().begin(), tools().end(),
                                  [name](const Tool& tool) { return tool.name == name; });
  return found == tools().end() ? nullptr : &*found;
}

std::string_view nearestTool(std::string_view word) {
  const Tool* nearest = nullptr;
  std::size_t most = 2;  // letters that are no accident
  for (const Tool& tool : tools()) {
    if (const std::size_t common = commonBeginning(word, tool.name); common > most) {
      most = common;
      nearest = &tool;
    }
  }
  return nearest == nullptr ? std::string_view() : nearest->name;
}

Json describe(const Tool& tool) {
  Json properties = Json::object();
  Json required = Json::array();
  for (const Argument& argument : tool.arguments) {
    properties[std::string(argument.name)] = schemaOf(argument);
    if (argument.required) {
      required.push_back(std::string(argument.name));
    }
  }
  Json schema{
      {"type", "object"}, {"properties", std::move(properties)}, {"additionalProperties", false}};
  if (!required.empty()) {
    schema["required"] = std::move(required);
  }
  return {{"name", std::string(tool.name)},
          {"title", std::string(tool.title)},
          {"description", std::string(tool.about)},
          {"inputSchema", std::move(schema)},
          {"annotations",
           {{"title", std::string(tool.title)},
            {"readOnlyHint", tool.looksOnly},
            {"destructiveHint", false},
            {"openWorldHint", false}}}};
}

Result<Given> Given::read(const Tool& tool, const Json& arguments) {
  if (!arguments.is_object()) {
    return wrong(tool, "the arguments are no object", namesOf(tool));
  }
  for (const auto& [name, value] : arguments.items()) {
    const auto known =
        std::find_if(tool.arguments.begin(), tool.arguments.end(),
                     [&name = name](const Argument& each) { return each.name == name; });
    if (known == tool.arguments.end()) {
      return wrong(tool, "there is no argument " + inQuotes(name.substr(0, kLongestText)),
                   namesOf(tool));
    }
    if (const std::string problem = problemOf(*known, value); !problem.empty()) {
      return wrong(tool, inQuotes(known->name) + " " + problem, std::string(known->about));
    }
  }
  for (const Argument& argument : tool.arguments) {
    if (argument.required && !arguments.contains(argument.name)) {
      return wrong(tool, inQuotes(argument.name) + " is missing", std::string(argument.about));
    }
  }
  Given given;
  given.m_arguments = arguments;
  return given;
}

bool Given::has(std::string_view name) const {
  return m_arguments.contains(name);
}

std::string Given::text(std::string_view name) const {
  const auto found = m_arguments.find(name);
  return found == m_arguments.end() ? std::string() : found->get<std::string>();
}

std::optional<std::int64_t> Given::number(std::string_view name) const {
  const auto found = m_arguments.find(name);
  return found == m_arguments.end() ? std::nullopt : std::optional(found->get<std::int64_t>());
}

std::vector<std::string> Given::texts(std::string_view name) const {
  const auto found = m_arguments.find(name);
  return found == m_arguments.end() ? std::vector<std::string>()
                                    : found->get<std::vector<std::string>>();
}

}  // namespace pf::headless::mcp
