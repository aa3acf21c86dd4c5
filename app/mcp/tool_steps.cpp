// SPDX-License-Identifier: GPL-3.0-or-later
// Commands of scripts that a tool carries out, one after the other.
#include <algorithm>

#include "app/mcp/tools.h"

namespace pf::headless {
namespace {

constexpr int kDefaultSeconds = 60;

/// Null: there is none.
const ScriptVerb* verbNamed(std::string_view name) {
  const auto verbs = scriptVerbs();
  const auto found = std::find_if(verbs.begin(), verbs.end(),
                                  [name](const ScriptVerb& verb) { return verb.name == name; });
  return found == verbs.end() ? nullptr : &*found;
}

/// Words of a script for those that a client has.
std::string inToolWords(std::string text) {
  static const std::map<std::string, std::string> kWords{
      {"'stack' lists", "'stacks' with 'ranks' lists"},
      {"'breakpoints' lists them", "'breakpoints' with the action 'list' lists them"},
      {"'pause @", "'move' with how 'pause' and ranks '"},
      {"'pause' stops it", "'move' with how 'pause' stops it"},
      {"'focus RANKS' gives", "'focus' gives"},
  };
  for (const auto& [script, tool] : kWords) {
    for (std::size_t at = text.find(script); at != std::string::npos;
         at = text.find(script, at + tool.size())) {
      text.replace(at, script.size(), tool);
    }
  }
  return text;
}

}  // namespace

ToolDesk::Step ToolDesk::step(std::string_view verb, const std::string& text) const {
  Step step;
  step.command.verb = verbNamed(verb);
  step.command.text = text;
  return step;
}

ToolDesk::Step ToolDesk::ofRanks(Step step, const Given& given) const {
  step.command.group = given.text("ranks");
  return step;
}

void ToolDesk::addRank(std::deque<Step>& steps, const Given& given) const {
  if (const auto rank = given.number("rank")) {
    Step choose = step("rank");
    choose.command.number = static_cast<int>(*rank);
    choose.shown = false;
    steps.push_back(std::move(choose));
  }
}

void ToolDesk::carryOut(std::deque<Step> steps, const Given& given, const std::string& left) {
  m_steps = std::move(steps);
  m_left = left;
  m_some = false;
  m_run->setTimeout(1000 * static_cast<int>(given.number("timeout_seconds", kDefaultSeconds)));
  next();
}

/// The same for steps that send ranks on.
void ToolDesk::go(std::deque<Step> steps, const Given& given) {
  m_moves = true;
  carryOut(std::move(steps), given, kSmaller);
}

void ToolDesk::next() {
  if (m_steps.empty()) {
    if (m_present.mayFail && !m_some) {
      failNext(
          "none of these has a value here",
          "'stacks' with 'ranks' lists the frames; 'console' with 'info locals' the variables.");
      return;
    }
    // One that a wrong name asks for: an answer that it was not come to would be no answer.
    if (const QStringList never = m_run->handlers().neverSet(); m_toPlace && !never.isEmpty()) {
      failNext(
          never.join(QLatin1Char('\n')).toStdString(),
          "Name code of the program, as FILE:LINE or FUNCTION; 'breakpoints' deletes this one.");
      return;
    }
    end({m_said.isEmpty() ? m_ifNothing : m_said.take(m_left), {}});
    return;
  }
  m_present = std::move(m_steps.front());
  m_steps.pop_front();
  if (m_present.command.verb == nullptr) {
    fail({ErrorCode::Internal, "a tool names no command", {}});
    return;
  }
  m_run->carryOut(std::optional(m_present.command));
}

void ToolDesk::takeAnswer() {
  if (!m_present.title.empty()) {
    m_said.add(m_present.title);
  }
  if (m_present.shown) {
    for (const QString& line : m_run->answer().lines()) {
      m_said.add(inToolWords(line.toStdString()));
    }
  }
}

void ToolDesk::stepEnded(const std::optional<QString>& failure) {
  if (m_cancelled) {
    return;
  }
  takeAnswer();
  if (!failure) {
    m_some = true;
  } else {
    const std::string why =
        inToolWords(m_run->handlers().sayable(failure->trimmed()).toStdString());
    if (!m_present.mayFail) {
      m_steps.clear();
      failNext(why.empty() ? "that did not succeed" : why,
               m_run->session().isRunning()
                   ? "'where' says where the ranks are, 'waits' who waits for whom."
                   : "'replay_to' begins another replay.");
      return;
    }
    m_said.add("error: " + why);
  }
  // Not from within the command that ends.
  QMetaObject::invokeMethod(
      this,
      [this] {
        if (m_busy && !m_cancelled) {
          next();
        }
      },
      Qt::QueuedConnection);
}

}  // namespace pf::headless
