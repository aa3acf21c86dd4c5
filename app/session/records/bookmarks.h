// SPDX-License-Identifier: GPL-3.0-or-later
// What a user has marked in the recording: bookmarks, and the receive that counts as the failing one.
#pragma once

#include <vector>

#include <QObject>
#include <QString>

#include "db/store/trace_store.h"
#include "views/values/space_time_types.h"

namespace pf::session {

class Bookmarks : public QObject {
  Q_OBJECT
 public:
  /// Those of a trace. `store`: where new ones are kept; null: nowhere, and there are none.
  void open(db::TraceStore* store);
  /// The same ones, in another file that has them.
  void keepIn(db::TraceStore* store) { m_store = store; }

  [[nodiscard]] const std::vector<values::EventMark>& all() const { return m_all; }
  /// The one that was marked last; not valid: none is.
  [[nodiscard]] const EventRef& failing() const { return m_failing; }
  void add(const EventRef& event, const QString& words);
  /// The event is what Move::Failure goes to.
  void markFailing(const EventRef& event);

 Q_SIGNALS:
  void changed();

 private:
  void keep(const EventRef& event, const QString& words, bool failing);
  void append(const EventRef& event, const QString& words, bool failing);

  db::TraceStore* m_store = nullptr;
  std::vector<values::EventMark> m_all;
  EventRef m_failing;
};

}  // namespace pf::session
