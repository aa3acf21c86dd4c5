// SPDX-License-Identifier: GPL-3.0-or-later
// 'photofinish/contents': what was in the messages of an event, where the trace has kept it.
#pragma once

#include <memory>

#include <QObject>

#include "app/dap/wire/dap_client.h"
#include "app/session/debug_session.h"
#include "views/trace/trace_index.h"

namespace pf::session {
struct EventContents;
}

namespace pf::headless {

class ContentsAnswers : public QObject {
  Q_OBJECT
 public:
  ContentsAnswers(session::DebugSession& session, DapClient& client);

  /// Reads on another thread: other requests are answered meanwhile.
  void contents(const Request& request);

 private:
  session::DebugSession& m_session;
  DapClient& m_client;
  views::TraceIndexPtr m_index;  ///< of the open trace, once it was made; null: it was not
};

}  // namespace pf::headless
