// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/session/records/judged_races.h"

#include <algorithm>
#include <utility>

#include <QSettings>
#include <QUrl>

#include "app/collation/collate.h"
#include "app/reports/baseline_file.h"
#include "views/values/text.h"

namespace pf::session {

using values::operator""_s;

namespace {

QString settingOf(const char* group, const QString& program) {
  return QString::fromLatin1(group) + QString::fromLatin1(QUrl::toPercentEncoding(program));
}
/// What former versions kept: reasons of benign classes.
QString formerSettingOf(const QString& program) {
  return settingOf("benignRaces/", program);
}
QString judgedSettingOf(const QString& program) {
  return settingOf("judgedRaces/", program);
}

}  // namespace

void JudgedRaces::open(db::TraceStore* store, const QString& program) {
  const Said before = std::exchange(m_said, {});
  m_store = store;
  m_program = program;
  const QVariantHash former = QSettings().value(formerSettingOf(program)).toHash();
  for (auto it = former.begin(); it != former.end(); ++it) {
    m_said.insert(it.key(), {RaceVerdict::Benign, it.value().toString().toStdString()});
  }
  const QVariantHash earlier = QSettings().value(judgedSettingOf(program)).toHash();
  for (auto it = earlier.begin(); it != earlier.end(); ++it) {
    const QStringList words = it.value().toStringList();  // verdict, reason
    const auto verdict = verdictOf(words.value(0).toStdString());
    if (verdict) {
      m_said.insert(it.key(), {*verdict, words.value(1).toStdString()});
    }
  }
  readTrace();
  setSaid(std::exchange(m_said, {}));
  if (m_said != before) {
    Q_EMIT changed();
  }
}

void JudgedRaces::readTrace() {
  if (m_store == nullptr) {
    return;
  }
  db::SessionTables tables = m_store->session();
  if (const auto rows = tables.all<db::BenignRace>(); rows) {
    for (const db::BenignRace& row : *rows) {
      m_said.insert(values::fromUtf8(row.raceClass), {RaceVerdict::Benign, row.reason});
    }
  }
  if (const auto rows = tables.all<db::JudgedRace>(); rows) {
    for (const db::JudgedRace& row : *rows) {
      if (const auto verdict = verdictOf(row.verdict)) {
        m_said.insert(values::fromUtf8(row.raceClass), {*verdict, row.reason});
      }
    }
  }
}

void JudgedRaces::setSaid(const Said& said) {
  m_said = said;
  m_verdicts = {};
  for (auto it = m_said.cbegin(); it != m_said.cend(); ++it) {
    m_verdicts.setClass(it.key().toStdString(), it.value());
  }
}

QHash<QString, QString> JudgedRaces::notes() const {
  QHash<QString, QString> notes;
  for (auto it = m_said.cbegin(); it != m_said.cend(); ++it) {
    if (it->verdict == RaceVerdict::Benign) {
      notes.insert(it.key(), values::fromUtf8(it->reason));
    }
  }
  return notes;
}

bool JudgedRaces::keep(const QString& key, const Judged& judged) {
  m_said.insert(key, judged);
  m_verdicts.setClass(key.toStdString(), judged);
  return removeFromTrace(key) && keepInTrace(key, judged);
}

bool JudgedRaces::judge(const QString& key, const Judged& judged) {
  const bool kept = keep(key, judged);
  keepInSettings();
  if (!kept) {
    Q_EMIT message(
        tr("The trace cannot be written: what was said of this class of races is kept for "
           "this user only."),
        false);
  }
  Q_EMIT changed();
  return kept;
}

bool JudgedRaces::clear(const QString& key) {
  bool cleared = removeFromTrace(key);
  Said left = m_said;
  for (auto it = m_said.cbegin(); it != m_said.cend(); ++it) {
    RaceBaseline alone;
    alone.setClass(it.key().toStdString(), it.value());
    if (alone.ofClass(key.toStdString()) != nullptr) {
      cleared = removeFromTrace(it.key()) && cleared;
      left.remove(it.key());
    }
  }
  setSaid(left);
  keepInSettings();
  Q_EMIT changed();
  return cleared;
}

void JudgedRaces::save(const QString& path, const std::vector<std::string>& keys) {
  const std::string file = path.toStdString();
  Result<RaceBaseline> known = app::readBaselineIfThere(file);
  if (!known) {
    Q_EMIT message(values::fromUtf8(known.error().text()), true);
    return;
  }
  const std::size_t added = known->add(keys, m_verdicts);
  const auto leftOut =
      std::ranges::count_if(keys, [](const std::string& key) { return !survivesEdits(key); });
  if (const Status written = app::writeBaseline(file, *known); !written) {
    Q_EMIT message(values::fromUtf8(written.error().text()), true);
    return;
  }
  Q_EMIT message(
      tr("%1: %2 added")
              .arg(path, values::counted(added, tr("class of races"), tr("classes of races"))) +
          (leftOut == 0
               ? QString()
               : tr("; %1 left out, as the text of their lines is not known").arg(leftOut)),
      leftOut != 0);
}

void JudgedRaces::load(const QString& path, const std::vector<std::string>& keys) {
  const Result<RaceBaseline> known = app::readBaseline(path.toStdString());
  if (!known) {
    Q_EMIT message(values::fromUtf8(known.error().text()), true);
    return;
  }
  std::size_t judged = 0;
  bool kept = true;
  for (const std::string& key : keys) {
    const Judged* said = survivesEdits(key) ? known->ofClass(key) : nullptr;
    if (said != nullptr && !(*said == Judged{})) {
      kept = keep(values::fromUtf8(key), *said) && kept;
      ++judged;
    }
  }
  keepInSettings();
  Q_EMIT changed();
  Q_EMIT message(
      tr("%1 marked as in %2")
              .arg(values::counted(judged, tr("class of races"), tr("classes of races")), path) +
          (kept ? QString() : tr("; the trace cannot be written: this is kept for this user only")),
      false);
}

bool JudgedRaces::keepInTrace(const QString& key, const Judged& judged) {
  return m_store->session()
      .add(db::JudgedRace{0, key.toStdString(), nameOf(judged.verdict), judged.reason,
                          app::utcNow()})
      .ok();
}

bool JudgedRaces::removeFromTrace(const QString& key) {
  if (m_store == nullptr) {
    return false;
  }
  db::SessionTables tables = m_store->session();
  const auto former = tables.all<db::BenignRace>();
  const auto rows = tables.all<db::JudgedRace>();
  return former && rows &&
         std::ranges::all_of(*former,
                             [&](const db::BenignRace& row) {
                               return values::fromUtf8(row.raceClass) != key ||
                                      tables.remove<db::BenignRace>(row.id);
                             }) &&
         std::ranges::all_of(*rows, [&](const db::JudgedRace& row) {
           return values::fromUtf8(row.raceClass) != key || tables.remove<db::JudgedRace>(row.id);
         });
}

void JudgedRaces::keepInSettings() const {
  QVariantHash all;
  for (auto it = m_said.cbegin(); it != m_said.cend(); ++it) {
    all.insert(it.key(),
               QStringList{QString::fromLatin1(nameOf(it->verdict)), values::fromUtf8(it->reason)});
  }
  QSettings settings;
  settings.setValue(judgedSettingOf(m_program), all);
  settings.remove(formerSettingOf(m_program));
}

}  // namespace pf::session

#include "moc_judged_races.cpp"
