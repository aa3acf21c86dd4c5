// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/trace/analyses/waits_text.h"

#include <algorithm>

#include <QCoreApplication>
#include <QStringList>

#include "views/trace/analyses/calls_now.h"
#include "views/trace/analyses/trace_text.h"
#include "views/values/debug_values.h"

namespace pf::views {

namespace {

QString tr(const char* text) {
  return QCoreApplication::translate("pf::views::Waits", text);
}

}  // namespace

QString ranksText(const std::vector<Rank>& ranks) {
  const QList<int> list(ranks.begin(), ranks.end());
  return (list.size() == 1 ? tr("rank %1") : tr("ranks %1")).arg(values::rankSetText(list));
}

QString circleText(const std::vector<Rank>& circle) {
  QString text = tr("rank %1").arg(circle.front());
  for (std::size_t i = 1; i < circle.size(); ++i) {
    text += tr(" waits for rank %1, which").arg(circle[i]);
  }
  return text + tr(" waits for rank %1").arg(circle.front());
}

QString waitedForText(const RankWait& wait) {
  return wait.on.empty() ? tr("what is not known")
         : wait.anyOne   ? tr("one of %1").arg(ranksText(wait.on))
                         : ranksText(wait.on);
}

QString waitText(const TraceIndex& trace, const RankWait& wait) {
  const QString how = wait.sure || wait.on.empty() ? tr("rank %1 waits for %2: %3")
                                                   : tr("rank %1 waits, it seems, for %2: %3");
  QString text = how.arg(wait.rank).arg(waitedForText(wait), wait.why);
  if (const QString site = siteText(trace, wait.event); !site.isEmpty()) {
    text += tr(" at %1").arg(site);
  }
  return wait.event.valid() ? text + tr(" (event %1)").arg(wait.event.serial) : text;
}

namespace {

/// Of a job that was not recorded.
QString callsText(const TraceIndex& trace, const JobState& state) {
  const std::vector<CallNow>& calls = trace.data().calls;
  QStringList lines{tr("where %1 of %2 ranks stand; which messages there are is not known of a job "
                       "that was not recorded")
                        .arg(calls.size())
                        .arg(trace.rankCount())};
  lines << remarksOnCalls(calls, trace.rankCount());
  for (const RankWait& wait : state.waits) {
    lines << waitText(trace, wait);
  }
  return lines.join(QLatin1Char('\n')) + QLatin1Char('\n');
}

}  // namespace

QString waitsText(const TraceIndex& trace, const JobState& state, const QString& moment) {
  if (!trace.data().calls.empty()) {
    return callsText(trace, state);
  }
  const auto unexpected = std::ranges::count_if(
      state.items, [](const QueueItem& item) { return item.kind == QueueItem::Kind::Unexpected; });
  QStringList lines{tr("%1: %2 receives posted, %3 messages unexpected, %4 of %5 ranks wait")
                        .arg(moment)
                        .arg(static_cast<qsizetype>(state.items.size()) - unexpected)
                        .arg(unexpected)
                        .arg(state.waits.size())
                        .arg(trace.rankCount())};
  if (!state.cycle.empty()) {
    lines << tr("deadlock: %1").arg(circleText(state.cycle));
  }
  if (!state.stuck.empty()) {
    lines << tr("%1 cannot go on, whatever the others do").arg(ranksText(state.stuck));
  }
  for (const RankWait& wait : state.waits) {
    lines << waitText(trace, wait);
  }
  return lines.join(QLatin1Char('\n')) + QLatin1Char('\n');
}

}  // namespace pf::views
