// SPDX-License-Identifier: GPL-3.0-or-later
// What is told of where the ranks are.
#include <QRegularExpression>

#include "app/collation/event_text.h"
#include "app/script/script_run.h"
#include "mi_bridge/stop_values.h"

namespace pf::headless {

using values::RankActivity;
using values::RankState;

namespace {

QString placeOf(const std::vector<mi::Frame>& frames) {
  const mi::Frame& frame = frames[mi::firstUserFrame(frames).value_or(0)];
  QString text =
      QString::fromStdString(frame.function.empty() ? std::string("??") : frame.function) +
      QStringLiteral("()");
  if (frame.line > 0) {
    const QString file =
        QString::fromStdString(frame.fullname.empty() ? frame.file : frame.fullname);
    text += QStringLiteral(" at %1:%2").arg(file.section(QLatin1Char('/'), -1)).arg(frame.line);
  }
  return text;
}

}  // namespace

void ScriptRun::locate(const std::function<void()>& then) {
  m_then = then;
  m_missing.clear();
  m_places.clear();
  m_begun.clear();
  const quint64 number = ++m_question;
  for (const RankState& state : m_session.rankStates()) {
    if (m_session.debugger(state.rank) != nullptr && rests(state)) {
      m_missing.insert(state.rank);
    }
  }
  const std::set<int> asked = m_missing;
  m_missing.insert(-1);  // not before all are asked
  for (const int rank : asked) {
    mi::GdbSession* gdb = m_session.debugger(rank);
    gdb->inspect().frames(gdb->stop().thread, 0, kMostFrames,
                          [this, rank, number](const Result<std::vector<mi::Frame>>& frames) {
                            mi::GdbSession* here = m_session.debugger(rank);
                            if (number != m_question) {
                              return;
                            }
                            if (!frames || frames->empty() || here == nullptr) {
                              m_missing.erase(rank);
                              answered();
                              return;
                            }
                            m_places[rank] = placeOf(*frames);
                            mi::eventsBegun(
                                *here, [this, rank, number](const Result<std::uint64_t>& begun) {
                                  if (number == m_question) {
                                    if (begun) {
                                      m_begun[rank] = *begun;
                                    }
                                    m_missing.erase(rank);
                                    answered();
                                  }
                                });
                          });
  }
  m_missing.erase(-1);
  answered();
}

void ScriptRun::answered() {
  if (m_missing.empty() && m_then) {
    std::exchange(m_then, {})();
  }
}

void ScriptRun::tell(const QList<int>& ranks, bool changedOnly) {
  std::map<int, QString> texts;
  for (const RankState& state : m_session.rankStates()) {
    if (!ranks.contains(state.rank)) {
      continue;
    }
    const QString text = rankText(state);
    if (m_told[state.rank] != text || !changedOnly) {
      texts[state.rank] = text;
    }
    m_told[state.rank] = text;
  }
  sayEqualOnes(texts);
}

int ScriptRun::breakpointBefore(const EventRef& event) const {
  for (const values::Breakpoint& breakpoint : m_session.breakpoints().all()) {
    if (breakpoint.enabled && breakpoint.events.contains(event)) {
      return breakpoint.id;
    }
  }
  return 0;
}

/// "breakpoint 1 (sum.c:18), after event 3: main() at sum.c:18"
QString ScriptRun::stopText(const RankState& state, mi::GdbSession& gdb) {
  const auto begun = m_begun.find(state.rank);
  const Serial serial = begun == m_begun.end() ? state.serial : begun->second;
  const mi::StopEvent& stop = gdb.stop();
  const QString place = m_places[state.rank];
  const bool standing = stop.reason == mi::StopReason::Attached &&
                        state.detail.startsWith(QLatin1String("before event"));
  if (stop.reason == mi::StopReason::Event || standing) {
    const EventRef event{state.rank, serial + 1};
    const int id = breakpointBefore(event);
    const QString why =
        id == 0
            ? QString()
            : tr("breakpoint %1 (%2), ").arg(numberOf(id)).arg(values::breakpointPlace(*known(id)));
    return why + tr("before event %1: %2")
                     .arg(serial + 1)
                     .arg(QString::fromStdString(app::eventText(m_data->execution, event)));
  }
  const int id = m_session.breakpointAt(state.rank);
  QString why = QString::fromStdString(stop.describe());
  if (stop.reason == mi::StopReason::Watchpoint) {
    why = tr("watch %1: was %2, is %3")
              .arg(QString::fromStdString(stop.watchExpression),
                   QString::fromStdString(stop.oldValue), QString::fromStdString(stop.newValue));
  } else if (why.size() > 1 && why.at(1).isLower()) {
    why.replace(0, 1, why.at(0).toLower());
  }
  if (const values::Breakpoint* breakpoint = known(id); id != 0 && breakpoint != nullptr) {
    why = tr("breakpoint %1 (%2)").arg(numberOf(id)).arg(values::breakpointPlace(*breakpoint));
    const bool caught = breakpoint->kind == values::BreakpointKind::Catch;
    why += caught && !state.detail.startsWith(QLatin1String("breakpoint"))
               ? QStringLiteral(": ") + state.detail
               : QString();
  }
  return tr("%1, after event %2: %3").arg(why).arg(serial).arg(place);
}

QString ScriptRun::rankText(const RankState& state) {
  mi::GdbSession* gdb = m_session.debugger(state.rank);
  if (m_session.isRunning() && gdb != nullptr && gdb->state() == mi::SessionState::Stopped) {
    return stopText(state, *gdb);
  }
  switch (state.activity) {
    case RankActivity::InCall:
      return tr("%1, event %2").arg(state.detail).arg(state.serial);
    case RankActivity::Stopped: {
      const EventRef event{state.rank, state.serial + 1};
      return tr("before event %1: %2")
          .arg(event.serial)
          .arg(QString::fromStdString(app::eventText(m_data->execution, event)));
    }
    case RankActivity::NotStarted:
    case RankActivity::Gated:
    case RankActivity::Running:
    case RankActivity::Failed:
    case RankActivity::Finished:
    case RankActivity::Lost:
      break;
  }
  if (state.activity == RankActivity::Finished && state.detail.isEmpty()) {
    return tr("in MPI_Finalize, event %1").arg(state.serial);
  }
  if (gone(state)) {
    static const QRegularExpression kRank(QStringLiteral("^rank \\d+ "));
    return QString(state.detail).remove(kRank);
  }
  const QString activity = values::activityText(state.activity);
  return (state.detail.isEmpty() ? activity : tr("%1: %2").arg(activity, state.detail)) +
         (state.serial == 0 ? QString() : tr(", after event %1").arg(state.serial));
}

}  // namespace pf::headless
