// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/script/ranks/script_breakpoints.h"

#include <algorithm>

#include <QObject>
#include <QRegularExpression>

#include "app/session/records/breakpoint_text.h"

namespace pf::headless {

int ScriptBreakpoints::add(values::Breakpoint breakpoint) {
  const int id = m_breakpoints.addTransient(std::move(breakpoint));
  m_ids << id;
  // What is known of one that had this id, and was deleted, is not true of it.
  m_hadPlace.erase(id);
  std::erase_if(m_warned, [id](const auto& warning) { return warning.second == id; });
  return id;
}

void ScriptBreakpoints::takeBack() {
  m_breakpoints.remove({m_ids.takeLast()});
}

void ScriptBreakpoints::remove(int number) {
  m_breakpoints.remove({m_ids[number - 1]});
  m_ids[number - 1] = 0;
}

const values::Breakpoint* ScriptBreakpoints::find(int id) const {
  const auto& all = m_breakpoints.all();
  const auto found = std::find_if(all.begin(), all.end(),
                                  [id](const values::Breakpoint& each) { return each.id == id; });
  return found == all.end() ? nullptr : &*found;
}

const values::Breakpoint* ScriptBreakpoints::numbered(int number) const {
  const int id = m_ids.value(number - 1);
  return id == 0 ? nullptr : find(id);
}

int ScriptBreakpoints::before(const EventRef& event) const {
  for (const values::Breakpoint& breakpoint : m_breakpoints.all()) {
    if (breakpoint.enabled && breakpoint.events.contains(event)) {
      return breakpoint.id;
    }
  }
  return 0;
}

QString ScriptBreakpoints::line(const values::Breakpoint& breakpoint, int cycle) const {
  QString text = QObject::tr("breakpoint %1: %2")
                     .arg(numberOf(breakpoint.id))
                     .arg(session::breakpointText(breakpoint));
  const auto add = [&text](bool holds, const QString& words) { text += holds ? words : QString(); };
  add(!breakpoint.condition.isEmpty(), QObject::tr(" if %1").arg(breakpoint.condition));
  add(!breakpoint.log.isEmpty(), QObject::tr("; log: %1").arg(breakpoint.log));
  add(breakpoint.ignoreCount != 0, QObject::tr("; ignores %1 hits").arg(breakpoint.ignoreCount));
  add(breakpoint.stops != values::StopsWho::Alone,
      QObject::tr("; stops %1").arg(values::stopsText(breakpoint)));
  add(breakpoint.temporary, QObject::tr("; temporary"));
  add(!breakpoint.enabled, QObject::tr("; disabled"));
  add(!breakpoint.note.isEmpty(), QObject::tr("; %1").arg(breakpoint.note));
  for (const values::CycleHits& hits : breakpoint.hits) {
    add(hits.cycle == cycle,
        hits.hits == 1 ? QObject::tr("; 1 hit") : QObject::tr("; %1 hits").arg(hits.hits));
  }
  return text;
}

QString ScriptBreakpoints::sayable(const QString& text) const {
  static const QRegularExpression kId(QStringLiteral("\\bbreakpoint (-\\d+)"),
                                      QRegularExpression::CaseInsensitiveOption);
  QString out = text;
  for (auto found = kId.match(out); found.hasMatch();
       found = kId.match(out, found.capturedStart() + 1)) {
    out.replace(found.capturedStart(1), found.capturedLength(1),
                QString::number(numberOf(found.captured(1).toInt())));
  }
  return out;
}

QStringList ScriptBreakpoints::neverSet() const {
  QStringList texts;
  for (const values::Breakpoint& breakpoint : m_breakpoints.all()) {
    const bool warned = std::any_of(m_warned.begin(), m_warned.end(), [&](const auto& warning) {
      return warning.second == breakpoint.id;
    });
    const bool placed = breakpoint.state == values::BreakpointState::Set ||
                        m_hadPlace.count(breakpoint.id) > 0 || !breakpoint.hits.isEmpty();
    if (warned && !placed && breakpoint.enabled && m_ids.contains(breakpoint.id)) {
      texts << QObject::tr("breakpoint %1 (%2) was never set: no code has been found for it")
                   .arg(numberOf(breakpoint.id))
                   .arg(session::breakpointText(breakpoint));
    }
  }
  return texts;
}

QStringList ScriptBreakpoints::newWarnings(int cycle) {
  QStringList warnings;
  for (const values::Breakpoint& breakpoint : m_breakpoints.all()) {
    const bool set = breakpoint.state == values::BreakpointState::Set;
    if (set) {
      m_hadPlace.insert(breakpoint.id);
    }
    if (!set && breakpoint.enabled && m_warned.insert({cycle, breakpoint.id}).second) {
      const QString why =
          breakpoint.note.isEmpty() ? QString() : QLatin1String(": ") + breakpoint.note;
      warnings << QStringLiteral("breakpoint %1 (%2) is not set%3")
                      .arg(numberOf(breakpoint.id))
                      .arg(session::breakpointText(breakpoint), why);
    }
  }
  return warnings;
}

}  // namespace pf::headless
