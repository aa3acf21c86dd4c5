// SPDX-License-Identifier: GPL-3.0-or-later
// The requests photofinish/flip and photofinish/blame: another order of the recording, run beside what is debugged. One at a time.
#pragma once

#include <optional>

#include <QObject>

#include "app/dap/wire/dap_client.h"
#include "app/session/debug_session.h"
#include "app/session/other_order.h"

namespace pf::headless {

class OtherOrders : public QObject {
  Q_OBJECT
 public:
  OtherOrders(session::DebugSession& session, DapClient& client);

  /// {"race": 3, "alternative": 2} or {"receive": {"rank", "serial"}, "send": {"rank", "serial"}}, and "output":
  /// {"trace", "said"}.
  void flip(const Request& request);
  /// The document of `photofinish blame --json`.
  void blame(const Request& request);

 private:
  bool begins(const Request& request);
  void endFlip(const QString& trace, const QStringList& said);
  void endBlame(const QByteArray& document, const QStringList& said);

  session::DebugSession& m_session;
  DapClient& m_client;
  session::OtherOrder m_order;
  std::optional<Request> m_request;  ///< that has no answer yet
};

}  // namespace pf::headless
