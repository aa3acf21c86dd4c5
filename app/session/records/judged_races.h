// SPDX-License-Identifier: GPL-3.0-or-later
// Classes of races that somebody has judged: kept in the trace, for later runs of the same program in the user's
// settings, and, where that is asked for, in a file that is kept with the source.
#pragma once

#include <string>
#include <vector>

#include <QHash>
#include <QObject>
#include <QString>

#include "db/store/trace_store.h"
#include "replay_engine/races/race_baseline.h"

namespace pf::session {

class JudgedRaces : public QObject {
  Q_OBJECT
 public:
  /// What the trace says, and what was said of earlier runs of `program` (its path). `store` may be
  /// null or read-only: then only the settings keep what is said.
  void open(db::TraceStore* store, const QString& program);
  /// By class keys (views/trace/analyses/race_classes.h).
  [[nodiscard]] const RaceBaseline& verdicts() const { return m_verdicts; }
  /// Reasons of those that are benign.
  [[nodiscard]] QHash<QString, QString> notes() const;
  /// Benign. False if the trace could not be written.
  bool set(const QString& key, const QString& reason) {
    return judge(key, {RaceVerdict::Benign, reason.toStdString()});
  }
  bool judge(const QString& key, const Judged& judged);
  /// Nothing is said of it any more, nor of classes that stand for it.
  bool clear(const QString& key);

  /// Adds classes, and what is said of them, to a file of known races. Tells how many.
  void save(const QString& path, const std::vector<std::string>& keys);
  /// Judges these classes as the file has them. Tells how many.
  void load(const QString& path, const std::vector<std::string>& keys);

 Q_SIGNALS:
  void changed();
  void message(const QString& text, bool problem);

 private:
  using Said = QHash<QString, Judged>;
  void readTrace();
  void setSaid(const Said& said);
  bool keep(const QString& key, const Judged& judged);
  bool keepInTrace(const QString& key, const Judged& judged);
  bool removeFromTrace(const QString& key);
  void keepInSettings() const;
  db::TraceStore* m_store = nullptr;
  QString m_program;
  Said m_said;
  RaceBaseline m_verdicts;
};

}  // namespace pf::session
