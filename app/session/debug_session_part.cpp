// SPDX-License-Identifier: GPL-3.0-or-later
// Cycles of a part of the job: which ranks run, and what becomes of what was set for others.
#include <algorithm>
#include <utility>

#include "app/session/debug_session.h"
#include "app/session/records/session_records.h"
#include "replay_engine/groups/replay_groups.h"
#include "views/values/text.h"

namespace pf::session {
namespace {

constexpr std::size_t kGdbsUpTo = 16;  ///< ranks: each GDB takes some 60 MB

QString partText(const std::vector<Rank>& ranks) {
  return values::rankSetText(QList<int>(ranks.begin(), ranks.end()));
}

}  // namespace

Status DebugSession::debugOnly(const app::PartOfJob& part) {
  if (m_state.source != Source::Recording || m_store == nullptr) {
    return Error{ErrorCode::Usage, "only a recording's ranks can be replayed without the others",
                 "Record the job with --groups."};
  }
  if (part.isWhole()) {
    debugAll();
    return {};
  }
  Result<std::vector<Rank>> ranks = app::ranksOfPart(*m_store, part);
  if (!ranks) {
    return ranks.error();
  }
  setPart(ranks->size() == m_state.rankInfos.size() ? std::vector<Rank>() : std::move(*ranks));
  return {};
}

void DebugSession::debugAll() {
  setPart({});
}

void DebugSession::setPart(std::vector<Rank> ranks) {
  if (ranks == m_state.part) {
    return;
  }
  endReplay();
  m_state.part = std::move(ranks);
  std::erase_if(m_state.now, [this](const auto& each) { return !m_state.runs(each.first); });
  if (const EventRef goal = m_control.goal().event; goal.valid() && !m_state.runs(goal.rank)) {
    m_control.setGoal({});
  }
  if (!m_state.runs(m_state.current)) {
    m_inspector.selectRank(m_state.part.front());
  }
  m_debuggers.partChanged(kGdbsUpTo);
  m_breakpoints.partChanged();
  keepPart();
  Q_EMIT ranksChanged();
}

/// In the place of what is kept. A trace that cannot be written has said so when it was opened.
void DebugSession::keepPart() {
  if (!m_keepsPart || m_store == nullptr) {
    return;
  }
  db::SessionTables tables = m_store->session();
  const auto kept = tables.all<db::PartOfJob>();
  for (std::size_t i = 0; kept && i < kept->size(); ++i) {
    (void)tables.remove<db::PartOfJob>((*kept)[i].id);
  }
  if (!m_state.part.empty()) {
    keepRow(m_store.get(), db::PartOfJob{0, partText(m_state.part).toStdString()});
  }
}

Status DebugSession::restorePart() {
  if (m_state.source != Source::Recording || m_store == nullptr) {
    return {};
  }
  const auto kept = m_store->session().all<db::PartOfJob>();
  if (!kept || kept->empty()) {
    m_keepsPart = true;
    return kept ? Status() : Status(kept.error());
  }
  const QString text = values::fromUtf8(kept->back().ranks);
  bool ok = false;
  const QList<int> ranks = values::parseRankSet(text, ok);
  Status status = ok && !ranks.isEmpty()
                      ? debugOnly({{}, {ranks.begin(), ranks.end()}})
                      : Status(Error{ErrorCode::Damaged, "they are no ranks", {}});
  m_keepsPart = true;
  if (!status) {
    status = Error{status.error().code,
                   "all ranks are debugged, as those that the trace keeps to be debugged alone ('" +
                       values::oneLine(text).left(100).toStdString() +
                       "') cannot be: " + status.error().message,
                   status.error().advice};
  }
  return status;
}

std::vector<Rank> DebugSession::groupOf(int rank) const {
  if (m_state.source != Source::Recording || !m_state.knows(rank) || !m_state.run.groups) {
    return {};
  }
  const auto groups = ReplayGroups::parse(*m_state.run.groups, m_state.run.ranks);
  if (!groups) {
    return {};
  }
  const auto members = groups->members(groups->groupOf(rank));
  return {members.begin(), members.end()};
}

bool DebugSession::refuses(int rank) {
  if (m_state.runs(rank)) {
    return false;
  }
  Q_EMIT message(m_state.notInReplay(rank), false);
  return true;
}

}  // namespace pf::session
