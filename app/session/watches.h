// SPDX-License-Identifier: GPL-3.0-or-later
// Expressions whose values are asked for on each rank at each stop, and what each was at the stop before. Kept in the
// trace.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>

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
  /// `function`: whose frame it was asked in.
  void answered(const mi::WatchValue& value, const QString& function);
  /// The rank goes on; until stops(), answers are of stops that the user is not shown.
  void goesOn(int rank) { m_moving.insert(rank); }
  /// The user is shown the rank where it is.
  void stops(int rank);
  /// Those that GDB has stopped meanwhile are where they were sent.
  void settle();

 Q_SIGNALS:
  void changed(const QStringList& expressions);
  void arrived(const QString& expression, const QList<pf::values::WatchValue>& values);
  void message(const QString& text, bool problem);

 private:
  /// What the user was shown.
  struct Shown {
    QString value;
    QString function;
    int stop = 0;  ///< as m_stops counts

    [[nodiscard]] bool isOf(int number, const QString& where) const {
      return stop == number && function == where;
    }
  };
  struct Values {
    Shown before;
    Shown now;
  };

  void give(const QStringList& expressions);
  void keep(const QStringList& expressions);

  mi::Fleet& m_fleet;
  db::TraceStore* m_store = nullptr;
  QStringList m_all;
  std::map<std::string, int> m_ids;                        ///< expression -> the fleet's
  std::map<std::pair<std::string, int>, Values> m_values;  ///< by expression and rank
  std::map<int, int> m_stops;                              ///< of each rank: how many were shown
  std::set<int> m_moving;
};

}  // namespace pf::session
