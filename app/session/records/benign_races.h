// SPDX-License-Identifier: GPL-3.0-or-later
// Classes of races that somebody has judged to be benign, with the reason: kept in the trace, and
// for later runs of the same program in the user's settings.
#pragma once

#include <QHash>
#include <QObject>
#include <QString>

#include "db/store/trace_store.h"

namespace pf::session {

class BenignRaces : public QObject {
  Q_OBJECT
 public:
  /// What the trace says, and what was said of earlier runs of `program` (its path). `store` may be
  /// null or read-only: then only the settings keep what is said.
  void open(db::TraceStore* store, const QString& program);
  /// Reasons by class key (views/trace/analyses/race_classes.h).
  [[nodiscard]] const QHash<QString, QString>& notes() const { return m_notes; }
  /// False if the trace could not be written.
  bool set(const QString& key, const QString& reason);
  bool clear(const QString& key);

 Q_SIGNALS:
  void changed();
  void message(const QString& text, bool problem);

 private:
  bool keepInTrace(const QString& key, const QString& reason);
  bool removeFromTrace(const QString& key);
  void keepInSettings() const;
  db::TraceStore* m_store = nullptr;
  QString m_program;
  QHash<QString, QString> m_notes;
};

}  // namespace pf::session
