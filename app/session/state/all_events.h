// SPDX-License-Identifier: GPL-3.0-or-later
// The events of a trace whose views read chunks of it: a session goes by all of them, in memory.
#pragma once

#include <functional>
#include <vector>

#include <QObject>

#include "views/trace/chunks/trace_view_data.h"

namespace pf::session {

class AllEvents : public QObject {
  Q_OBJECT
 public:
  using QObject::QObject;

  /// Another trace; what waits for the former one's events is forgotten. `path`: for messages.
  void set(const QString& path, const views::TraceDataPtr& trace);
  /// Reads them on this thread if nothing else has.
  [[nodiscard]] const views::TraceData& all() const;
  [[nodiscard]] bool areRead() const;
  /// False: they are there. Else they are read now, and `then` is called after it.
  [[nodiscard]] bool readsFirst(std::function<void()> then);

 Q_SIGNALS:
  void progress(const QString& task);
  void message(const QString& text, bool problem);

 private:
  QString m_path;
  views::TraceDataPtr m_trace;
  mutable views::TraceDataPtr m_whole;  ///< of a trace whose views read chunks; null: not read yet
  std::vector<std::function<void()>> m_waiting;
};

}  // namespace pf::session
