// SPDX-License-Identifier: GPL-3.0-or-later
// Breakpoints of a script: numbered from 1 as they are made, and not kept in the trace.
#include <algorithm>

#include "app/script/script_run.h"
#include "app/session/records/breakpoint_text.h"

namespace pf::headless {

int ScriptRun::numberOf(int id) const {
  return static_cast<int>(m_ids.indexOf(id)) + 1;
}

const values::Breakpoint* ScriptRun::known(int id) const {
  const auto& all = m_session.breakpoints().all();
  const auto found = std::find_if(all.begin(), all.end(),
                                  [id](const values::Breakpoint& each) { return each.id == id; });
  return found == all.end() ? nullptr : &*found;
}

/// Null: the command has failed.
const values::Breakpoint* ScriptRun::breakpointOf(int number) {
  const int id = m_ids.value(number - 1);
  const values::Breakpoint* breakpoint = id == 0 ? nullptr : known(id);
  if (breakpoint == nullptr) {
    fail(tr("there is no breakpoint %1: 'breakpoints' lists them").arg(number));
  }
  return breakpoint;
}

/// "breakpoint 1: sum.c:18 if i > 2; 3 hits"
QString ScriptRun::breakpointLine(const values::Breakpoint& breakpoint) const {
  QString text =
      tr("breakpoint %1: %2").arg(numberOf(breakpoint.id)).arg(session::breakpointText(breakpoint));
  text += breakpoint.condition.isEmpty() ? QString() : tr(" if %1").arg(breakpoint.condition);
  text += breakpoint.log.isEmpty() ? QString() : tr("; log: %1").arg(breakpoint.log);
  text +=
      breakpoint.ignoreCount == 0 ? QString() : tr("; ignores %1 hits").arg(breakpoint.ignoreCount);
  text += breakpoint.stops == values::StopsWho::Alone
              ? QString()
              : tr("; stops %1").arg(values::stopsText(breakpoint));
  text += breakpoint.temporary ? tr("; temporary") : QString();
  text += breakpoint.enabled ? QString() : tr("; disabled");
  text += breakpoint.note.isEmpty() ? QString() : tr("; %1").arg(breakpoint.note);
  for (const values::CycleHits& hits : breakpoint.hits) {
    if (hits.cycle == m_cycle) {
      text += hits.hits == 1 ? tr("; 1 hit") : tr("; %1 hits").arg(hits.hits);
    }
  }
  return text;
}

void ScriptRun::breakAt(const Command& command) {
  Result<values::Breakpoint> parsed =
      session::parseBreakpoint(QString::fromStdString(command.text));
  if (!parsed) {
    fail(QString::fromStdString(parsed.error().message + ". " + parsed.error().advice));
    return;
  }
  const bool logical = parsed->kind == values::BreakpointKind::Logical;
  if (logical && !command.condition.empty()) {
    fail(tr("an event of the recording takes no condition"));
    return;
  }
  parsed->condition = QString::fromStdString(command.condition);
  parsed->temporary = command.verb->name == "tbreak";
  parsed->ranks = command.group.empty() ? QString() : values::rankSetText(m_ranks);
  addBreakpoint(std::move(*parsed));
}

void ScriptRun::log(const Command& command) {
  values::Breakpoint breakpoint;
  breakpoint.file = QString::fromStdString(command.file);
  breakpoint.line = command.line;
  breakpoint.log = QString::fromStdString(command.text);
  addBreakpoint(std::move(breakpoint));
}

void ScriptRun::addBreakpoint(values::Breakpoint breakpoint) {
  const bool some = !breakpoint.ranks.isEmpty();
  const int id = m_session.breakpoints().addTransient(std::move(breakpoint));
  m_ids << id;
  const values::Breakpoint made = *known(id);
  if (made.kind == values::BreakpointKind::Logical &&
      made.state == values::BreakpointState::Failed) {
    m_session.breakpoints().remove({id});
    m_ids.removeLast();
    fail(made.note);
    return;
  }
  if (some && made.kind != values::BreakpointKind::Logical && !m_session.isRunning()) {
    QSet<int> focus;
    for (const int rank : m_session.debuggers().focus() + m_ranks) {
      focus << rank;
    }
    m_session.debuggers().setFocus(focus.values());
  }
  tellBreakpoint(id);
}

/// Nothing where it is no more.
void ScriptRun::sayBreakpoint(int id) {
  const values::Breakpoint* breakpoint = known(id);
  if (breakpoint == nullptr) {
    return;
  }
  bool ok = true;
  const QList<int> ranks = values::parseRankSet(breakpoint->ranks, ok);
  ranks.isEmpty() ? sayForAll(breakpointLine(*breakpoint))
                  : say(ranks, breakpointLine(*breakpoint));
}

void ScriptRun::tellBreakpoint(int id) {
  m_changed = [this, id] {
    sayBreakpoint(id);
    done();
  };
  if (!m_session.isRunning()) {
    std::exchange(m_changed, {})();
  }
}

void ScriptRun::remove(const Command& command) {
  if (const values::Breakpoint* breakpoint = breakpointOf(command.number); breakpoint != nullptr) {
    m_session.breakpoints().remove({breakpoint->id});
    tellBreakpoint(std::exchange(m_ids[command.number - 1], 0));
  }
}

void ScriptRun::change(const Command& command) {
  const values::Breakpoint* breakpoint = breakpointOf(command.number);
  if (breakpoint == nullptr) {
    return;
  }
  values::Breakpoint changed = *breakpoint;
  bool ok = true;
  if (command.verb->name == "ignore") {
    changed.ignoreCount = QString::fromStdString(command.text).toInt(&ok);
    ok = ok && changed.ignoreCount >= 0;
  } else if (command.verb->name == "stops") {
    ok = values::setStops(changed, QString::fromStdString(command.text));
  } else {
    changed.enabled = command.verb->name == "enable";
  }
  if (!ok) {
    fail(tr("'%1' is not understood. Write: %2 %3")
             .arg(QString::fromStdString(command.text))
             .arg(QString::fromUtf8(command.verb->name.data()),
                  QString::fromUtf8(command.verb->form.data())));
    return;
  }
  m_session.breakpoints().change(changed);
  tellBreakpoint(changed.id);
}

void ScriptRun::breakpoints(const Command&) {
  for (const int id : std::as_const(m_ids)) {
    if (id != 0) {
      sayBreakpoint(id);
    }
  }
  done();
}

/// Those that cannot stop a rank, as a name is wrong: said once a replay.
void ScriptRun::warnOfBreakpoints() {
  for (const values::Breakpoint& breakpoint : m_session.breakpoints().all()) {
    const bool set = breakpoint.state == values::BreakpointState::Set;
    if (!set && breakpoint.enabled && m_warned.insert({m_cycle, breakpoint.id}).second) {
      std::fprintf(stderr, "photofinish: breakpoint %d (%s) is not set%s%s\n",
                   numberOf(breakpoint.id),
                   session::breakpointText(breakpoint).toUtf8().constData(),
                   breakpoint.note.isEmpty() ? "" : ": ", breakpoint.note.toUtf8().constData());
    }
  }
}

}  // namespace pf::headless
