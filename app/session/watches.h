// SPDX-License-Identifier: GPL-3.0-or-later
// Expressions whose values are asked for on each rank at each stop. Kept in the trace.
#pragma once

#include <map>
#include <string>

#include <QObject>
#include <QStringList>

#include "db/store/trace_store.h"
#include "mi_bridge/fleet.h"
#include "views/values/debug_values.h"

namespace pf::session {

class Watches : public QObject {
  Q_OBJECT
 public:
  explicit Watches(mi::Fleet& fleet) : m_fleet(fleet) {}

  [[nodiscard]] const QStringList& all() const { return m_all; }
  void set(const QStringList& expressions);

  // -- for the session
  /// Those of another trace that are this user's. `store`: where they are kept; null: none is, and the present ones stay.
  void open(db::TraceStore* store);
  /// The same ones, in another file that has them.
  void keepIn(db::TraceStore* store) { m_store = store; }
  void answered(const mi::WatchValue& value);

 Q_SIGNALS:
  void changed(const QStringList& expressions);
  void arrived(const QString& expression, const QList<pf::values::WatchValue>& values);
  void message(const QString& text, bool problem);

 private:
  void give(const QStringList& expressions);
  void keep(const QStringList& expressions);

  mi::Fleet& m_fleet;
  db::TraceStore* m_store = nullptr;
  QStringList m_all;
  std::map<std::string, int> m_ids;  ///< expression -> the fleet's
};

}  // namespace pf::session
