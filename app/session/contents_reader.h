// SPDX-License-Identifier: GPL-3.0-or-later
// Reads what is kept of the messages of an event while a session goes on: for front ends that have no index of the trace.
#pragma once

#include <functional>

#include <QObject>

#include "app/session/event_contents.h"
#include "replay_engine/base/result.h"
#include "views/trace/trace_index.h"

namespace pf::session {

class DebugSession;

class ContentsReader : public QObject {
 public:
  explicit ContentsReader(DebugSession& session) : m_session(session) {}

  using Then = std::function<void(const Result<EventContents>& found)>;
  /// Of an event of the session's trace, on another thread; `then` on this one. Errors: as readEventContents().
  void read(const EventRef& event, const Then& then);

 private:
  DebugSession& m_session;
  views::TraceIndexPtr m_index;  ///< of the open trace, once it was made; null: it was not
};

}  // namespace pf::session
