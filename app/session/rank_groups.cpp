// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/session/rank_groups.h"

#include <algorithm>

#include "app/session/records/session_records.h"
#include "views/values/text.h"

namespace pf::session {
namespace {

db::RankArrangement rowOf(const views::RankArrangement& arrangement) {
  db::RankArrangement row;
  row.hidden = arrangement.hidden.isEmpty() ? std::string()
                                            : values::rankSetText(arrangement.hidden).toStdString();
  row.rowOrder = views::rowOrderText(arrangement.order).toStdString();
  for (const values::RankGroup& sharedRow : arrangement.sharedRows) {
    row.sharedRows.push_back(sharedRow.name.toStdString());
    row.sharedRows.push_back(values::rankSetText(sharedRow.ranks).toStdString());
  }
  return row;
}

views::RankArrangement arrangementOf(const db::RankArrangement& row, std::size_t ranks) {
  QList<std::pair<QString, QString>> sharedRows;
  for (std::size_t i = 0; i + 1 < row.sharedRows.size(); i += 2) {
    sharedRows.append(
        {values::fromUtf8(row.sharedRows[i]), values::fromUtf8(row.sharedRows[i + 1])});
  }
  return views::arrangementFrom(values::fromUtf8(row.hidden), sharedRows,
                                values::fromUtf8(row.rowOrder), static_cast<int>(ranks));
}

}  // namespace

void RankGroups::open(db::TraceStore* store) {
  m_store = store;
  m_groups.clear();
  m_ids.clear();
  m_arrangement = {};
  m_arrangementId = 0;
  if (store == nullptr) {
    return;
  }
  if (const auto rows = store->session().all<db::RankGroup>(); rows) {
    for (const db::RankGroup& row : *rows) {
      read(row);
    }
  }
  if (const auto rows = store->session().all<db::RankArrangement>(); rows && !rows->empty()) {
    m_arrangement = arrangementOf(rows->back(), m_state.rankInfos.size());
    m_arrangementId = rows->back().id;
  }
}

void RankGroups::read(const db::RankGroup& row) {
  bool ok = false;
  const QList<int> ranks = values::parseRankSet(values::fromUtf8(row.ranks), ok);
  const QString name = values::fromUtf8(row.name);
  if (ok && !ranks.isEmpty() && !name.isEmpty()) {
    m_groups.append({name, ranks});
    m_ids[name] = row.id;
  }
}

void RankGroups::setArrangement(const views::RankArrangement& arrangement) {
  if (arrangement == m_arrangement) {
    return;
  }
  m_arrangement = arrangement;
  if (m_store != nullptr && m_arrangementId != 0) {
    (void)m_store->session().remove<db::RankArrangement>(m_arrangementId);
    m_arrangementId = 0;
  }
  if (!arrangement.isPlain()) {
    m_arrangementId = keepRow(m_store, rowOf(arrangement));
  }
}

void RankGroups::add(const QString& name, const QList<int>& ranks) {
  QList<int> known;
  std::copy_if(ranks.begin(), ranks.end(), std::back_inserter(known),
               [this](int rank) { return m_state.knows(rank); });
  const QString plain = name.simplified();
  if (plain.isEmpty() || known.isEmpty()) {
    Q_EMIT message(tr("A group needs a name and at least one rank."), false);
    return;
  }
  std::sort(known.begin(), known.end());
  known.erase(std::unique(known.begin(), known.end()), known.end());
  remove(plain);
  m_groups.append({plain, known});
  if (const std::int64_t id = keepRow(
          m_store, db::RankGroup{0, plain.toStdString(), values::rankSetText(known).toStdString()});
      id != 0) {
    m_ids[plain] = id;
  }
  Q_EMIT changed();
}

void RankGroups::remove(const QString& name) {
  if (m_groups.removeIf([&](const values::RankGroup& group) { return group.name == name; }) == 0) {
    return;
  }
  if (const auto id = m_ids.find(name); id != m_ids.end()) {
    if (m_store != nullptr) {
      (void)m_store->session().remove<db::RankGroup>(id->second);
    }
    m_ids.erase(id);
  }
  Q_EMIT changed();
}

QList<values::RankGroup> RankGroups::communicators() const {
  QList<values::RankGroup> out;
  if (m_state.trace == nullptr) {
    return out;
  }
  for (const Communicator& communicator : m_state.trace->execution.communicators) {
    const QString name = QString::fromStdString(communicator.name);
    const QList<int> ranks(communicator.group.begin(), communicator.group.end());
    const bool known = std::any_of(out.begin(), out.end(), [&](const values::RankGroup& group) {
      return group.ranks == ranks;
    });
    if (!ranks.isEmpty() && !known) {
      out.append({name.isEmpty() ? tr("communicator %1").arg(out.size()) : name, ranks});
    }
  }
  return out;
}

}  // namespace pf::session

#include "moc_rank_groups.cpp"
