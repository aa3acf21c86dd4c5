// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/session/records/benign_races.h"

#include <algorithm>
#include <utility>

#include <QSettings>
#include <QUrl>

#include "app/collation/collate.h"
#include "views/values/text.h"

namespace pf::session {

using values::operator""_s;

namespace {

QString settingOf(const QString& program) {
  return u"benignRaces/"_s + QString::fromLatin1(QUrl::toPercentEncoding(program));
}

}  // namespace

void BenignRaces::open(db::TraceStore* store, const QString& program) {
  const QHash<QString, QString> before = std::exchange(m_notes, {});
  m_store = store;
  m_program = program;
  const QVariantHash earlier = QSettings().value(settingOf(program)).toHash();
  for (auto it = earlier.begin(); it != earlier.end(); ++it) {
    m_notes.insert(it.key(), it.value().toString());
  }
  if (m_store != nullptr) {
    if (const auto rows = m_store->session().all<db::BenignRace>(); rows) {
      for (const db::BenignRace& row : *rows) {
        m_notes.insert(values::fromUtf8(row.raceClass), values::fromUtf8(row.reason));
      }
    }
  }
  if (m_notes != before) {
    Q_EMIT changed();
  }
}

bool BenignRaces::set(const QString& key, const QString& reason) {
  const bool kept = removeFromTrace(key) && keepInTrace(key, reason);
  m_notes.insert(key, reason);
  keepInSettings();
  if (!kept) {
    Q_EMIT message(tr("The trace cannot be written: that this class of races is benign is kept for "
                      "this user only."),
                   false);
  }
  Q_EMIT changed();
  return kept;
}

bool BenignRaces::clear(const QString& key) {
  m_notes.remove(key);
  keepInSettings();
  const bool cleared = removeFromTrace(key);
  Q_EMIT changed();
  return cleared;
}

bool BenignRaces::keepInTrace(const QString& key, const QString& reason) {
  return m_store->session()
      .add(db::BenignRace{0, key.toStdString(), reason.toStdString(), app::utcNow()})
      .ok();
}

bool BenignRaces::removeFromTrace(const QString& key) {
  if (m_store == nullptr) {
    return false;
  }
  db::SessionTables tables = m_store->session();
  const auto rows = tables.all<db::BenignRace>();
  return rows && std::ranges::all_of(*rows, [&](const db::BenignRace& row) {
           return values::fromUtf8(row.raceClass) != key || tables.remove<db::BenignRace>(row.id);
         });
}

void BenignRaces::keepInSettings() const {
  QVariantHash all;
  for (auto it = m_notes.begin(); it != m_notes.end(); ++it) {
    all.insert(it.key(), it.value());
  }
  QSettings().setValue(settingOf(m_program), all);
}

}  // namespace pf::session
