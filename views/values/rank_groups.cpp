// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/values/rank_groups.h"

#include <algorithm>

#include <QMap>
#include <QStringList>

#include "views/values/text.h"

namespace pf::values {

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

namespace {

/// Reads from left to right; the first thing that is wrong ends it.
class RankExpression {
 public:
  RankExpression(const QString& text, const QList<RankGroup>& groups, int rankCount)
      : m_text(text), m_groups(groups), m_rankCount(rankCount) {}

  QSet<int> read() {
    const QSet<int> ranks = sum(0);
    if (m_problem.isEmpty() && peek() != QChar()) {
      m_problem =
          u"'%1' is not expected here: write +, - or & between groups"_s.arg(m_text.mid(m_at));
    }
    return ranks;
  }
  [[nodiscard]] const QString& problem() const { return m_problem; }

 private:
  static constexpr int kDeepest = 50;

  QChar peek() {
    while (m_at < m_text.size() && m_text[m_at].isSpace()) {
      ++m_at;
    }
    return m_at < m_text.size() ? m_text[m_at] : QChar();
  }
  QSet<int> sum(int depth) {
    QSet<int> ranks = product(depth);
    for (QChar next = peek(); m_problem.isEmpty() && (next == u'+' || next == u'-');
         next = peek()) {
      ++m_at;
      const QSet<int> other = product(depth);
      next == u'+' ? ranks.unite(other) : ranks.subtract(other);
    }
    return ranks;
  }
  QSet<int> product(int depth) {
    QSet<int> ranks = one(depth);
    while (m_problem.isEmpty() && peek() == u'&') {
      ++m_at;
      ranks.intersect(one(depth));
    }
    return ranks;
  }
  QSet<int> one(int depth) {
    const QChar next = peek();
    if (next == u'(' && depth < kDeepest) {
      ++m_at;
      const QSet<int> ranks = sum(depth + 1);
      if (m_problem.isEmpty() && peek() != u')') {
        m_problem = u"a ')' is missing"_s;
      }
      ++m_at;
      return ranks;
    }
    if (next == u'\'' || next == u'"') {
      const qsizetype end = m_text.indexOf(next, m_at + 1);
      if (end < 0) {
        m_problem = u"the quote at '%1' is not closed"_s.arg(m_text.mid(m_at));
        return {};
      }
      const QString name = m_text.mid(m_at + 1, end - m_at - 1);
      m_at = end + 1;
      return named(name);
    }
    const qsizetype begin = m_at;
    // Within a set of ranks '-' and ',' belong to it: 0, 2-4
    const bool digits = next.isDigit();
    const auto belongs = [&](QChar c) {
      const bool between = m_at + 1 < m_text.size() && m_text[m_at + 1].isDigit();
      return c.isLetterOrNumber() || c == u'_' || (digits && (c == u'-' || c == u',') && between);
    };
    while (m_at < m_text.size() && belongs(m_text[m_at])) {
      ++m_at;
    }
    const QString word = m_text.mid(begin, m_at - begin);
    if (word.isEmpty()) {
      m_problem = next.isNull() ? u"a group or ranks are missing at the end"_s
                                : u"'%1' is neither a group nor ranks"_s.arg(m_text.mid(begin));
      return {};
    }
    return named(word);
  }
  QSet<int> named(const QString& name) {
    const auto known = std::find_if(m_groups.begin(), m_groups.end(),
                                    [&name](const RankGroup& group) { return group.name == name; });
    if (known != m_groups.end()) {
      return {known->ranks.begin(), known->ranks.end()};
    }
    QSet<int> ranks;
    if (name == u"all"_s) {
      for (int rank = 0; rank < m_rankCount; ++rank) {
        ranks.insert(rank);
      }
      return ranks;
    }
    bool ok = false;
    const QList<int> listed = parseRankSet(name, ok);
    for (const int rank : listed) {
      ok = ok && rank >= 0 && rank < m_rankCount;
    }
    if (!ok || listed.isEmpty()) {
      m_problem =
          u"'%1' is neither a group nor ranks from 0 to %2"_s.arg(name).arg(m_rankCount - 1);
      return {};
    }
    return {listed.begin(), listed.end()};
  }

  QString m_text;
  const QList<RankGroup>& m_groups;
  int m_rankCount;
  qsizetype m_at = 0;
  QString m_problem;
};

}  // namespace

QList<int> ranksOfExpression(const QString& text, const QList<RankGroup>& groups, int rankCount,
                             QString* problem) {
  RankExpression expression(text, groups, rankCount);
  QList<int> ranks = expression.read().values();
  std::sort(ranks.begin(), ranks.end());
  *problem = expression.problem();
  if (problem->isEmpty() && ranks.isEmpty()) {
    *problem = u"no rank is left"_s;
  }
  return problem->isEmpty() ? ranks : QList<int>();
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
  QList<int> finished;
  for (const RankState& state : states) {
    if (run.underWay.contains(state.rank)) {
      QList<int>& those = state.activity == RankActivity::Finished ? finished : late[callOf(state)];
      those.append(state.rank);
    }
  }
  QString text = run.action;
  if (!run.who.isEmpty()) {
    text += u" (%1)"_s.arg(run.who);
  }
  if (run.underWay.isEmpty() && run.debugless.isEmpty() && !run.ranks.isEmpty()) {
    const qsizetype ended = std::ranges::count_if(states, [&run](const RankState& state) {
      return run.ranks.contains(state.rank) && state.activity == RankActivity::Finished;
    });
    if (ended > 0 && ended < run.ranks.size()) {
      return text + u": %1 stopped, %2 ended"_s.arg(run.ranks.size() - ended).arg(ended);
    }
    const QString who =
        run.ranks.size() == 1 ? u"the rank has"_s : u"all %1 ranks have"_s.arg(run.ranks.size());
    return text + u": "_s + who + (ended > 0 ? u" ended"_s : u" stopped"_s);
  }
  text += u": %1 of %2"_s.arg(run.ranks.size() - run.underWay.size())
              .arg(counted(static_cast<std::size_t>(run.ranks.size()), u"rank"_s, u"ranks"_s));
  for (auto it = late.begin(); it != late.end(); ++it) {
    text += u"; %1 still %2"_s.arg(ranksWord(it.value()), it->size() == 1 ? u"runs"_s : u"run"_s);
    if (!it.key().isEmpty()) {
      text += QLatin1Char(' ') + it.key();
    }
  }
  if (!finished.isEmpty()) {
    text +=
        u"; %1 %2 finished"_s.arg(ranksWord(finished), finished.size() == 1 ? u"has"_s : u"have"_s);
  }
  if (!run.debugless.isEmpty()) {
    text += u"; %1 %2 no debugger"_s.arg(ranksWord(run.debugless),
                                         run.debugless.size() == 1 ? u"has"_s : u"have"_s);
  }
  return text;
}

}  // namespace pf::values
