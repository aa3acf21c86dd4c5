// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/session/records/benign_races.h"

#include <QSettings>
#include <QUrl>

#include "app/collation/collate.h"
#include "views/values/text.h"

namespace pf::session {

using views::operator""_s;

namespace {

QString settingOf(const QString& program) {
  return u"benignRaces/"_s + QString::fromLatin1(QUrl::toPercentEncoding(program));
}

}  // namespace

void BenignRaces::open(db::TraceStore* store, const QString& program) {
  m_store = store;
  m_program = program;
  m_notes.clear();
  const QVariantHash earlier = QSettings().value(settingOf(program)).toHash();
  for (auto it = earlier.begin(); it != earlier.end(); ++it) {
    m_notes.insert(it.key(), it.value().toString());
  }
  if (m_store == nullptr) {
    return;
  }
  if (const auto rows = m_store->session().all<db::BenignRace>(); rows) {
    for (const db::BenignRace& row : *rows) {
      m_notes.insert(views::fromUtf8(row.raceClass), views::fromUtf8(row.reason));
    }
  }
}

bool BenignRaces::set(const QString& key, const QString& reason) {
  const bool cleared = clear(key);
  m_notes.insert(key, reason);
  keepInSettings();
  if (m_store == nullptr || !cleared) {
    return false;
  }
  return m_store->session()
      .add(db::BenignRace{0, key.toStdString(), reason.toStdString(), app::utcNow()})
      .ok();
}

bool BenignRaces::clear(const QString& key) {
  m_notes.remove(key);
  keepInSettings();
  if (m_store == nullptr) {
    return false;
  }
  db::SessionTables tables = m_store->session();
  const auto rows = tables.all<db::BenignRace>();
  if (!rows) {
    return false;
  }
  for (const db::BenignRace& row : *rows) {
    if (views::fromUtf8(row.raceClass) == key && !tables.remove<db::BenignRace>(row.id)) {
      return false;
    }
  }
  return true;
}

void BenignRaces::keepInSettings() const {
  QVariantHash all;
  for (auto it = m_notes.begin(); it != m_notes.end(); ++it) {
    all.insert(it.key(), it.value());
  }
  QSettings().setValue(settingOf(m_program), all);
}

}  // namespace pf::session
