// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/session/rank_groups.h"

#include <algorithm>

#include "app/collation/collate.h"
#include "app/session/records/session_records.h"

namespace pf::session {
namespace {

constexpr const char* kGroupKind = "group";
constexpr const char* kArrangementKind = "ranks shown";

}  // namespace

void RankGroups::open(db::TraceStore* store) {
  m_store = store;
  m_groups.clear();
  m_ids.clear();
  m_arrangement = {};
  m_arrangementId = 0;
}

bool RankGroups::read(const db::Note& note) {
  if (note.kind == kGroupKind) {
    readGroup(note);
    return true;
  }
  if (note.kind == kArrangementKind) {
    m_arrangement = views::arrangementOf(QString::fromStdString(note.text),
                                         static_cast<int>(m_state.rankInfos.size()));
    m_arrangementId = note.id;
    return true;
  }
  return false;
}

void RankGroups::readGroup(const db::Note& note) {
  const QString text = QString::fromStdString(note.text);
  bool ok = false;
  const QList<int> ranks = views::parseRankSet(text.section(QLatin1Char('\n'), 0, 0), ok);
  const QString name = text.section(QLatin1Char('\n'), 1);
  if (ok && !ranks.isEmpty() && !name.isEmpty()) {
    m_groups.append({name, ranks});
    m_ids[name] = note.id;
  }
}

std::int64_t RankGroups::store(const char* kind, const QString& text) {
  db::Note note;
  note.kind = kind;
  note.text = text.toStdString();
  note.createdUtc = app::utcNow();
  return keepRow(m_store, note);
}

void RankGroups::setArrangement(const views::RankArrangement& arrangement) {
  if (arrangement == m_arrangement) {
    return;
  }
  m_arrangement = arrangement;
  if (m_store != nullptr && m_arrangementId != 0) {
    (void)m_store->session().remove<db::Note>(m_arrangementId);
    m_arrangementId = 0;
  }
  if (!arrangement.isPlain()) {
    m_arrangementId = store(kArrangementKind, views::arrangementText(arrangement));
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
  if (const std::int64_t id =
          store(kGroupKind, views::rankSetText(known) + QLatin1Char('\n') + plain);
      id != 0) {
    m_ids[plain] = id;
  }
  Q_EMIT changed();
}

void RankGroups::remove(const QString& name) {
  if (m_groups.removeIf([&](const views::RankGroup& group) { return group.name == name; }) == 0) {
    return;
  }
  if (const auto id = m_ids.find(name); id != m_ids.end()) {
    if (m_store != nullptr) {
      (void)m_store->session().remove<db::Note>(id->second);
    }
    m_ids.erase(id);
  }
  Q_EMIT changed();
}

QList<views::RankGroup> RankGroups::communicators() const {
  QList<views::RankGroup> out;
  if (m_state.trace == nullptr) {
    return out;
  }
  for (const Communicator& communicator : m_state.trace->execution.communicators) {
    const QString name = QString::fromStdString(communicator.name);
    const QList<int> ranks(communicator.group.begin(), communicator.group.end());
    const bool known = std::any_of(out.begin(), out.end(), [&](const views::RankGroup& group) {
      return group.ranks == ranks;
    });
    if (!ranks.isEmpty() && !known) {
      out.append({name.isEmpty() ? tr("communicator %1").arg(out.size()) : name, ranks});
    }
  }
  return out;
}

}  // namespace pf::session
