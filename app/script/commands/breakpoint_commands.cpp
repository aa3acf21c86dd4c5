// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/script/commands/breakpoint_commands.h"

#include <utility>

#include "app/session/records/breakpoint_text.h"

namespace pf::headless {
namespace {

constexpr int kGdbsMs = 5000;  ///< that GDBs may take to make a breakpoint

/// What enable, disable, ignore and stops make of a breakpoint. False: the words make no sense.
bool apply(const ScriptCommand& command, values::Breakpoint& breakpoint) {
  const QString words = QString::fromStdString(command.text);
  if (command.verb->name == "ignore") {
    bool ok = true;
    breakpoint.ignoreCount = words.toInt(&ok);
    return ok && breakpoint.ignoreCount >= 0;
  }
  if (command.verb->name == "stops") {
    return values::setStops(breakpoint, words);
  }
  breakpoint.enabled = command.verb->name == "enable";
  return true;
}

}  // namespace

BreakpointCommands::BreakpointCommands(session::DebugSession& session, const ScriptRanks& ranks,
                                       ScriptBreakpoints& breakpoints, const ScriptCycles& cycles,
                                       ScriptAnswer& answer)
    : m_session(session),
      m_ranks(ranks),
      m_breakpoints(breakpoints),
      m_cycles(cycles),
      m_answer(answer) {
  connect(&m_session, &session::DebugSession::logged, this, [this](const values::LogEntry& entry) {
    m_answer.say({entry.rank}, tr("log %1, after event %2: %3")
                                   .arg(m_breakpoints.numberOf(entry.breakpoint))
                                   .arg(entry.serial)
                                   .arg(entry.text));
  });
}

void BreakpointCommands::addTo(CommandTable& table) {
  using B = BreakpointCommands;
  table["break"] = table["tbreak"] = handlerOf(this, &B::breakAt);
  table["log"] = handlerOf(this, &B::log);
  table["delete"] = handlerOf(this, &B::remove);
  for (const auto* verb : {"enable", "disable", "ignore", "stops"}) {
    table[verb] = handlerOf(this, &B::change);
  }
  table["breakpoints"] = handlerOf(this, &B::list);
}

/// Null: the command has failed.
const values::Breakpoint* BreakpointCommands::numbered(int number) {
  const values::Breakpoint* breakpoint = m_breakpoints.numbered(number);
  if (breakpoint == nullptr) {
    m_answer.fail(tr("there is no breakpoint %1: 'breakpoints' lists them").arg(number));
  }
  return breakpoint;
}

void BreakpointCommands::breakAt(const Command& command, const Ranks& ranks) {
  Result<values::Breakpoint> parsed =
      session::parseBreakpoint(QString::fromStdString(command.text));
  if (!parsed) {
    m_answer.fail(QString::fromStdString(parsed.error().message + ". " + parsed.error().advice));
    return;
  }
  const bool logical = parsed->kind == values::BreakpointKind::Logical;
  if (logical && !command.condition.empty()) {
    m_answer.fail(tr("an event of the recording takes no condition"));
    return;
  }
  parsed->condition = QString::fromStdString(command.condition);
  parsed->temporary = command.verb->name == "tbreak";
  parsed->ranks = command.group.empty() ? QString() : values::rankSetText(ranks);
  add(std::move(*parsed), ranks);
}

void BreakpointCommands::log(const Command& command, const Ranks& ranks) {
  values::Breakpoint breakpoint;
  breakpoint.file = QString::fromStdString(command.file);
  breakpoint.line = command.line;
  breakpoint.log = QString::fromStdString(command.text);
  add(std::move(breakpoint), ranks);
}

void BreakpointCommands::add(values::Breakpoint breakpoint, const Ranks& ranks) {
  const bool some = !breakpoint.ranks.isEmpty();
  const int id = m_breakpoints.add(std::move(breakpoint));
  const values::Breakpoint made = *m_breakpoints.find(id);
  const bool logical = made.kind == values::BreakpointKind::Logical;
  const int outside = m_session.breakpoints().outsideRank(made);
  if (outside >= 0 || (logical && made.state == values::BreakpointState::Failed)) {
    m_breakpoints.takeBack();
    m_answer.fail(outside >= 0 ? m_session.notInReplay(outside) : made.note);
    return;
  }
  if (some && !logical && !m_session.isRunning()) {
    giveDebuggers(ranks);
  }
  tellChanged(id);
}

/// In the cycles that come.
void BreakpointCommands::giveDebuggers(const Ranks& ranks) {
  QSet<int> focus;
  for (const int rank : m_session.debuggers().focus() + ranks) {
    focus << rank;
  }
  m_session.debuggers().setFocus(focus.values());
}

/// Nothing where it is no more.
void BreakpointCommands::tell(int id) {
  const values::Breakpoint* breakpoint = m_breakpoints.find(id);
  if (breakpoint == nullptr) {
    return;
  }
  bool ok = true;
  const QList<int> ranks = values::parseRankSet(breakpoint->ranks, ok);
  const QString line = m_breakpoints.line(*breakpoint, m_cycles.number());
  ranks.isEmpty() ? m_answer.sayForAll(line) : m_answer.say(ranks, line);
}

void BreakpointCommands::tellChanged(int id) {
  if (m_session.isRunning()) {
    m_changed = id;
    return;
  }
  tell(id);
  m_answer.done();
}

bool BreakpointCommands::look(qint64 commandMs) {
  if (!m_changed || (commandMs <= kGdbsMs && !m_ranks.gdbsAreIdle())) {
    return false;
  }
  tell(*std::exchange(m_changed, {}));
  m_answer.done();
  return true;
}

void BreakpointCommands::remove(const Command& command, const Ranks&) {
  if (const values::Breakpoint* breakpoint = numbered(command.number); breakpoint != nullptr) {
    const int id = breakpoint->id;
    m_breakpoints.remove(command.number);
    tellChanged(id);
  }
}

void BreakpointCommands::change(const Command& command, const Ranks&) {
  const values::Breakpoint* breakpoint = numbered(command.number);
  if (breakpoint == nullptr) {
    return;
  }
  values::Breakpoint changed = *breakpoint;
  if (!apply(command, changed)) {
    m_answer.fail(tr("'%1' is not understood. Write: %2 %3")
                      .arg(QString::fromStdString(command.text))
                      .arg(QString::fromUtf8(command.verb->name.data()),
                           QString::fromUtf8(command.verb->form.data())));
    return;
  }
  m_session.breakpoints().change(changed);
  tellChanged(changed.id);
}

void BreakpointCommands::list(const Command&, const Ranks&) {
  for (const int id : m_breakpoints.ids()) {
    if (id != 0) {
      tell(id);
    }
  }
  m_answer.done();
}

}  // namespace pf::headless

#include "moc_breakpoint_commands.cpp"
