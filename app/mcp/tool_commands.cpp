// SPDX-License-Identifier: GPL-3.0-or-later
// Tools that send ranks somewhere, or look at them.
#include "app/collation/collate.h"
#include "app/mcp/tools.h"
#include "mi_bridge/looking_words.h"
#include "replay_engine/steering/logical_stops.h"

namespace pf::headless {

Status ToolDesk::looksOnly(const std::string& expression) const {
  if (m_options.console) {
    return {};
  }
  Status looks = mi::onlyLooksAt(expression);
  if (looks) {
    return looks;
  }
  Error error = looks.error();
  error.advice += " The person who starts the server can allow it: photofinish mcp --allow-console";
  return error;
}

// -- moving

Result<EventRef> ToolDesk::raceOf(std::int64_t number) {
  const views::TraceDataPtr trace = m_run->session().trace();
  std::int64_t at = 0;
  for (const Race race : trace->races) {
    if (++at == number) {
      return app::raceEvent(trace->execution, race);
    }
  }
  return Error{ErrorCode::Usage, "the recording has " + std::to_string(at) + " races",
               "'races' lists them."};
}

Result<EventRef> ToolDesk::receiveOf(int rank, std::int64_t number) {
  const auto& ranks = m_run->session().trace()->execution.ranks;
  if (static_cast<std::size_t>(rank) >= ranks.size()) {
    return Error{ErrorCode::Usage,
                 "the recording has ranks 0 to " + std::to_string(ranks.size() - 1),
                 "Name one of them."};
  }
  const std::vector<Serial> receives = receivesOf(ranks[static_cast<std::size_t>(rank)]);
  if (number < 1 || static_cast<std::size_t>(number) > receives.size()) {
    return Error{ErrorCode::Usage,
                 "rank " + std::to_string(rank) + " takes " + std::to_string(receives.size()) +
                     " messages in the recording",
                 "'number' counts from 1; 'events' lists them."};
  }
  return EventRef{rank, receives[static_cast<std::size_t>(number) - 1]};
}

Result<EventRef> ToolDesk::eventOf(const Given& given) {
  const std::string to = given.text("to");
  const auto number = given.number("number");
  if (!number) {
    return Error{ErrorCode::Usage, "'number' is missing, which '" + to + "' needs",
                 "'event' and 'receive' go by 'rank' and 'number', 'race' by 'number'."};
  }
  if (to == "race") {
    return raceOf(*number);
  }
  const auto rank = static_cast<int>(given.number("rank", m_run->session().currentRank()));
  return to == "receive" ? receiveOf(rank, *number)
                         : Result<EventRef>(EventRef{rank, static_cast<Serial>(*number)});
}

void ToolDesk::replayTo(const Given& given) {
  if (!mayReplay()) {
    return;
  }
  const std::string to = given.text("to");
  std::deque<Step> steps;
  if (to == "failure" && !m_run->session().trace()->failure.event.valid()) {
    failNext("no rank failed in this recording",
             "'races' lists the suspects; to 'event' or 'receive' leads to where it went wrong.");
    return;
  }
  if (to == "failure") {
    steps.push_back(step("to-failure"));
  } else if (to == "breakpoint") {
    m_toPlace = given.has("place");
    if (m_toPlace) {
      Step set = ofRanks(step("break", given.text("place")), given);
      set.command.condition = given.text("condition");
      for (const std::string& words : {set.command.text, set.command.condition}) {
        if (const Status looks = words.empty() ? Status() : looksOnly(words); !looks) {
          fail(looks.error());
          return;
        }
      }
      steps.push_back(std::move(set));
    }
    steps.push_back(step("run"));
  } else {
    const Result<EventRef> event = eventOf(given);
    if (!event) {
      fail(event.error());
      return;
    }
    Step go = step("replay-to");
    go.command.event = *event;
    steps.push_back(std::move(go));
  }
  go(std::move(steps), given);
}

void ToolDesk::move(const Given& given) {
  static const std::map<std::string, std::string_view> kVerbs{
      {"next_receive", "next-receive"},
      {"next_event", "next-event"},
      {"deliver_next", "deliver-next"},
      {"deliver_next_anywhere", "deliver-next"},
      {"next_racing_receive", "next-racing-receive"},
      {"previous_event", "previous-event"},
      {"reverse_step", "reverse-step"},
      {"reverse_next", "reverse-next"},
      {"reverse_finish", "reverse-finish"},
      {"previous_receive", "previous-receive"},
      {"previous_hit", "previous-hit"}};
  if (!mayReplay() || !needsReplay()) {
    return;
  }
  const std::string how = given.text("how");
  std::deque<Step> steps;
  addRank(steps, given);
  const auto found = kVerbs.find(how);
  if (found == kVerbs.end()) {
    steps.push_back(ofRanks(step(how), given));
  } else if (given.has("ranks")) {
    failNext("'" + how + "' is of one rank", "Give 'rank' instead of 'ranks'.");
    return;
  } else {
    steps.push_back(step(found->second, how == "deliver_next_anywhere" ? "anywhere" : ""));
  }
  go(std::move(steps), given);
}

/// Of a command on the given expression, on the given rank. Nothing: it does more than look, and that is answered.
std::optional<std::deque<ToolDesk::Step>> ToolDesk::stepsOfExpression(const char* command,
                                                                      const Given& given) {
  const std::string expression = given.text("expression");
  if (const Status looks = looksOnly(expression); !looks) {
    fail(looks.error());
    return std::nullopt;
  }
  std::deque<Step> steps;
  addRank(steps, given);
  steps.push_back(step(command, expression));
  return steps;
}

void ToolDesk::lastChange(const Given& given) {
  if (!mayReplay() || !needsReplay()) {
    return;
  }
  if (std::optional<std::deque<Step>> steps = stepsOfExpression("last-change", given)) {
    go(std::move(*steps), given);
  }
}

void ToolDesk::focus(const Given& given) {
  if (!mayReplay()) {
    return;
  }
  go({step("focus", given.text("ranks"))}, given);
}

void ToolDesk::breakpoints(const Given& given) {
  if (!mayReplay()) {
    return;
  }
  const std::string action = given.text("action");
  std::deque<Step> steps;
  if (action == "set") {
    if (!given.has("place")) {
      failNext("'place' is missing", "FILE:LINE, FUNCTION, 'receive 0#2' …");
      return;
    }
    Step set = ofRanks(step("break", given.text("place")), given);
    set.command.condition = given.text("condition");
    for (const std::string& words : {set.command.text, set.command.condition}) {
      if (const Status looks = words.empty() ? Status() : looksOnly(words); !looks) {
        fail(looks.error());
        return;
      }
    }
    steps.push_back(std::move(set));
  } else if (action != "list") {
    if (!given.has("number")) {
      failNext("'number' is missing", "'breakpoints' with the action 'list' lists them.");
      return;
    }
    Step change = step(action);
    change.command.number = static_cast<int>(given.number("number", 0));
    change.shown = false;
    steps.push_back(std::move(change));
  }
  m_ifNothing = action == "list" ? "there are none" : "done";
  Step list = step("breakpoints");
  list.shown = action != "set";
  steps.push_back(std::move(list));
  carryOut(std::move(steps), given, kSmaller);
}

// -- looking

void ToolDesk::where(const Given& given) {
  if (needsReplay()) {
    carryOut({ofRanks(step("where"), given)}, given, kSmaller);
  }
}

void ToolDesk::stacks(const Given& given) {
  if (needsReplay()) {
    carryOut({given.has("ranks") ? ofRanks(step("stack"), given) : step("stacks")}, given,
             kSmaller);
  }
}

void ToolDesk::values(const Given& given) {
  if (!needsReplay()) {
    return;
  }
  std::deque<Step> steps;
  addRank(steps, given);
  if (const auto frame = given.number("frame")) {
    Step choose = step("frame");
    choose.command.number = static_cast<int>(*frame);
    steps.push_back(std::move(choose));
  }
  for (const std::string& expression : given.texts("expressions")) {
    if (const Status looks = looksOnly(expression); !looks) {
      fail(looks.error());
      return;
    }
    Step print = ofRanks(step("print", expression), given);
    print.mayFail = true;
    print.title = expression + ":";
    steps.push_back(std::move(print));
  }
  carryOut(std::move(steps), given, "ask for fewer ranks, or for parts, as a[0]@10");
}

void ToolDesk::whichMessage(const Given& given) {
  if (!needsReplay()) {
    return;
  }
  if (std::optional<std::deque<Step>> steps = stepsOfExpression("which-message", given)) {
    carryOut(std::move(*steps), given, kSmaller);
  }
}

void ToolDesk::contents(const Given& given) {
  if (!needsTrace()) {
    return;
  }
  Step look = step("contents");
  look.command.event = {static_cast<Rank>(given.number("rank", 0)),
                        static_cast<Serial>(given.number("event", 1))};
  carryOut({std::move(look)}, given, "'photofinish payload' prints all");
}

void ToolDesk::output(const Given& given) {
  if (needsTrace()) {
    m_ifNothing = "nothing was printed in this replay";
    carryOut({ofRanks(step("output"), given)}, given, "ask for fewer ranks");
  }
}

void ToolDesk::console(const Given& given) {
  if (!needsReplay()) {
    return;
  }
  const std::string command = given.text("command");
  if (!m_options.console) {
    if (const Status looks = mi::onlyLooks(command); !looks) {
      Error error = looks.error();
      error.advice +=
          " The person who starts the server can allow all: photofinish mcp --allow-console";
      fail(std::move(error));
      return;
    }
  }
  std::deque<Step> steps;
  addRank(steps, given);
  steps.push_back(ofRanks(step("gdb", command), given));
  carryOut(std::move(steps), given, kSmaller);
}

}  // namespace pf::headless
