#include "views/rank_groups.h"

#include <algorithm>

#include <QMap>
#include <QStringList>

#include "views/text.h"

namespace pf::views {

namespace {

QString ranksWord(const QList<int>& ranks) {
  return (ranks.size() == 1 ? u"rank "_s : u"ranks "_s) + rankSetText(ranks);
}

/// "in MPI_Recv, waiting for rank 0"
QString callOf(const RankState& state) {
  return state.activity == RankActivity::InCall ? state.detail : QString();
}

}  // namespace

QList<RankGroup> groupsByState(const QList<RankState>& states) {
  QList<RankGroup> groups;
  for (const RankState& state : states) {
    const QString call = callOf(state).section(QLatin1Char(','), 0, 0);
    const QString name = call.isEmpty() ? activityText(state.activity) : call;
    const auto known = std::find_if(groups.begin(), groups.end(),
                                    [&](const RankGroup& group) { return group.name == name; });
    if (known == groups.end()) {
      groups.append({name, {state.rank}});
    } else {
      known->ranks.append(state.rank);
    }
  }
  return groups;
}

QString actionWord(RankAction action) {
  switch (action) {
    case RankAction::Continue:
      return u"continue"_s;
    case RankAction::Pause:
      return u"pause"_s;
    case RankAction::Step:
      return u"step"_s;
    case RankAction::Next:
      return u"next"_s;
    case RankAction::Finish:
      return u"finish"_s;
  }
  return {};
}

QString groupRunText(const GroupRun& run, const QList<RankState>& states) {
  QMap<QString, QList<int>> late;  // by what they do
  for (const RankState& state : states) {
    if (run.underWay.contains(state.rank)) {
      late[callOf(state)].append(state.rank);
    }
  }
  QString text = run.action;
  if (!run.who.isEmpty()) {
    text += u" (%1)"_s.arg(run.who);
  }
  text += u": %1 of %2"_s.arg(run.ranks.size() - run.underWay.size())
              .arg(counted(static_cast<std::size_t>(run.ranks.size()), u"rank"_s, u"ranks"_s));
  for (auto it = late.begin(); it != late.end(); ++it) {
    text += u"; %1 still %2"_s.arg(ranksWord(it.value()), it->size() == 1 ? u"runs"_s : u"run"_s);
    if (!it.key().isEmpty()) {
      text += QLatin1Char(' ') + it.key();
    }
  }
  if (!run.debugless.isEmpty()) {
    text += u"; %1 %2 no debugger"_s.arg(ranksWord(run.debugless),
                                         run.debugless.size() == 1 ? u"has"_s : u"have"_s);
  }
  return text;
}

}  // namespace pf::views
