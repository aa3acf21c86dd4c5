// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/values/debug_values.h"

#include <algorithm>

#include <QStringList>

#include "views/values/text.h"

namespace pf::values {

namespace {
constexpr int kMaxRank = 1 << 20;
}

QString rankSetText(QList<int> ranks) {
  std::sort(ranks.begin(), ranks.end());
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  QStringList parts;
  for (qsizetype i = 0; i < ranks.size();) {
    qsizetype last = i;
    while (last + 1 < ranks.size() && ranks[last + 1] == ranks[last] + 1) {
      ++last;
    }
    parts << (last == i ? QString::number(ranks[i]) : u"%1-%2"_s.arg(ranks[i]).arg(ranks[last]));
    i = last + 1;
  }
  return parts.join(u", "_s);
}

QList<int> parseRankSet(const QString& text, bool& ok) {
  QList<int> out;
  ok = true;
  for (const QString& part : text.split(QLatin1Char(','), Qt::SkipEmptyParts)) {
    const QStringList ends = part.trimmed().split(QLatin1Char('-'));
    bool okFirst = false;
    bool okLast = false;
    const int first = ends.first().trimmed().toInt(&okFirst);
    const int last = ends.last().trimmed().toInt(&okLast);
    if (!okFirst || !okLast || ends.size() > 2 || first < 0 || last < first || last > kMaxRank ||
        out.size() > kMaxRank) {  // the same ranks again and again, which would fill the memory
      ok = false;
      return {};
    }
    for (int r = first; r <= last; ++r) {
      out << r;
    }
  }
  return out;
}

QString outcomeText(const Cycle& cycle) {
  QString text = cycle.summary;
  if (!cycle.inputs.isEmpty()) {
    text += u"; "_s + cycle.inputs;
  }
  if (!cycle.ranks.isEmpty()) {
    text += (cycle.ranks.size() == 1 ? u"; rank %1 alone"_s : u"; ranks %1 alone"_s)
                .arg(rankSetText(cycle.ranks));
  }
  return text;
}

QString activityText(RankActivity activity) {
  switch (activity) {
    case RankActivity::NotStarted:
      return u"not started"_s;
    case RankActivity::Gated:
      return u"held at MPI_Init"_s;
    case RankActivity::Running:
      return u"running"_s;
    case RankActivity::InCall:
      return u"in MPI call"_s;
    case RankActivity::Stopped:
      return u"stopped"_s;
    case RankActivity::Failed:
      return u"failed"_s;
    case RankActivity::Finished:
      return u"finished"_s;
    case RankActivity::Lost:
      return u"debugger lost"_s;
    case RankActivity::NotInReplay:
      return u"not in this replay"_s;
    case RankActivity::NotHere:
      return u"not here"_s;
  }
  return {};
}

QString actionText(RankAction action) {
  switch (action) {
    case RankAction::Continue:
      return u"Continue"_s;
    case RankAction::Pause:
      return u"Pause"_s;
    case RankAction::Step:
      return u"Step into"_s;
    case RankAction::Next:
      return u"Step over"_s;
    case RankAction::Finish:
      return u"Step out"_s;
  }
  return {};
}

QString breakpointPlace(const Breakpoint& breakpoint) {
  switch (breakpoint.kind) {
    case BreakpointKind::Address:
      return u"*"_s + oneLine(breakpoint.expression);
    case BreakpointKind::ReadWatch:
      return u"rwatch "_s + oneLine(breakpoint.expression);
    case BreakpointKind::AccessWatch:
      return u"awatch "_s + oneLine(breakpoint.expression);
    case BreakpointKind::Catch:
      return u"catch "_s + oneLine(breakpoint.expression);
    case BreakpointKind::Logical:
      return oneLine(breakpoint.expression);
    case BreakpointKind::Code:
    case BreakpointKind::Watch:
      break;
  }
  if (breakpoint.event.valid()) {
    return u"rank %1, event %2"_s.arg(breakpoint.event.rank).arg(breakpoint.event.serial);
  }
  if (!breakpoint.expression.isEmpty()) {
    return u"watch "_s + oneLine(breakpoint.expression);
  }
  if (!breakpoint.file.isEmpty()) {
    return u"%1:%2"_s.arg(oneLine(baseName(breakpoint.file))).arg(breakpoint.line);
  }
  return oneLine(breakpoint.function) + u"()"_s;
}

QString stopsText(const Breakpoint& breakpoint) {
  return breakpoint.stops == StopsWho::All     ? u"all"_s
         : breakpoint.stops == StopsWho::Group ? breakpoint.group
                                               : u"rank"_s;
}

bool setStops(Breakpoint& breakpoint, const QString& text) {
  const QString word = text.trimmed();
  bool ok = true;
  const QList<int> ranks =
      word == u"rank"_s || word == u"all"_s ? QList<int>() : parseRankSet(word, ok);
  if (!ok || word.isEmpty()) {
    return false;
  }
  breakpoint.stops = word == u"all"_s    ? StopsWho::All
                     : word == u"rank"_s ? StopsWho::Alone
                                         : StopsWho::Group;
  breakpoint.group = rankSetText(ranks);
  return true;
}

}  // namespace pf::values
