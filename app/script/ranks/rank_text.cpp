// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/script/ranks/rank_text.h"

#include <QObject>
#include <QRegularExpression>

#include "app/collation/event_text.h"

namespace pf::headless {

using values::RankActivity;
using values::RankState;

namespace {

QString fileName(const QString& path) {
  return path.section(QLatin1Char('/'), -1);
}

/// "rank 2 ended with status 0" is said of ranks that the line names.
QString withoutRank(const QString& text) {
  static const QRegularExpression kRank(QStringLiteral("^rank \\d+ "));
  return QString(text).remove(kRank);
}

}  // namespace

QString userPlaceText(const std::vector<mi::Frame>& frames) {
  const mi::Frame& frame = frames[mi::firstUserFrame(frames).value_or(0)];
  const QString function =
      QString::fromStdString(frame.function.empty() ? std::string("??") : frame.function) +
      QStringLiteral("()");
  if (frame.line <= 0) {
    return function;
  }
  const std::string& file = frame.fullname.empty() ? frame.file : frame.fullname;
  return function +
         QStringLiteral(" at %1:%2").arg(fileName(QString::fromStdString(file))).arg(frame.line);
}

QString frameText(const values::StackFrame& frame, bool withLevel) {
  QString text = withLevel ? QStringLiteral("#%1 ").arg(frame.level) : QString();
  text += frame.function + QLatin1String(frame.file.isEmpty() ? "" : "()");
  return frame.file.isEmpty() || frame.line == 0
             ? text
             : QStringLiteral("%1 at %2:%3").arg(text, fileName(frame.file)).arg(frame.line);
}

QString stopReasonText(const mi::StopEvent& stop, const std::string& words) {
  if (stop.reason == mi::StopReason::Watchpoint) {
    return QObject::tr("watch %1: was %2, is %3")
        .arg(QString::fromStdString(stop.watchExpression), QString::fromStdString(stop.oldValue),
             QString::fromStdString(stop.newValue));
  }
  QString why = QString::fromStdString(words);
  if (why.size() > 1 && why.at(1).isLower()) {
    why.replace(0, 1, why.at(0).toLower());
  }
  return why;
}

QString breakpointStopText(int number, const values::Breakpoint& breakpoint,
                           const QString& detail) {
  const QString why =
      QObject::tr("breakpoint %1 (%2)").arg(number).arg(values::breakpointPlace(breakpoint));
  const bool caught = breakpoint.kind == values::BreakpointKind::Catch;
  return caught && !detail.startsWith(QLatin1String("breakpoint"))
             ? why + QStringLiteral(": ") + detail
             : why;
}

QString eventText(const Execution& execution, const EventRef& event) {
  return QString::fromStdString(app::eventText(execution, event));
}

QString eventOfRankText(const Execution& execution, const EventRef& event) {
  return QStringLiteral("rank %1 event %2, %3")
      .arg(event.rank)
      .arg(event.serial)
      .arg(eventText(execution, event));
}

QString eventProblem(const Execution& execution, const EventRef& event) {
  const auto rank = static_cast<std::size_t>(event.rank);
  if (rank >= execution.ranks.size()) {
    return QObject::tr("the recording has ranks 0 to %1").arg(execution.ranks.size() - 1);
  }
  const std::size_t events = execution.ranks[rank].events.size();
  return event.serial <= events
             ? QString()
             : QObject::tr("rank %1 has %2 events in the recording").arg(rank).arg(events);
}

QString beforeEventText(const Execution& execution, const EventRef& event) {
  return QObject::tr("before event %1: %2").arg(event.serial).arg(eventText(execution, event));
}

QString rankStateText(const RankState& state, bool gone, const Execution& execution) {
  if (state.activity == RankActivity::InCall) {
    return QObject::tr("%1, event %2").arg(state.detail).arg(state.serial);
  }
  if (state.activity == RankActivity::Stopped) {
    return beforeEventText(execution, {state.rank, state.serial + 1});
  }
  if (state.activity == RankActivity::Finished && state.detail.isEmpty()) {
    return QObject::tr("in MPI_Finalize, event %1").arg(state.serial);
  }
  if (gone) {
    return withoutRank(state.detail);
  }
  const QString activity = values::activityText(state.activity);
  return (state.detail.isEmpty() ? activity : QObject::tr("%1: %2").arg(activity, state.detail)) +
         (state.serial == 0 ? QString() : QObject::tr(", after event %1").arg(state.serial));
}

}  // namespace pf::headless
