// SPDX-License-Identifier: GPL-3.0-or-later
// 'photofinish/contents': what was in the messages of an event, where the trace has kept it.
#pragma once

#include "app/dap/wire/dap_client.h"
#include "app/session/contents_reader.h"

namespace pf::headless {

class ContentsAnswers {
 public:
  ContentsAnswers(session::DebugSession& session, DapClient& client);

  /// Reads on another thread: other requests are answered meanwhile.
  void contents(const Request& request);

 private:
  session::DebugSession& m_session;
  DapClient& m_client;
  session::ContentsReader m_reader;
};

}  // namespace pf::headless
