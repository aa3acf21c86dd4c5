// SPDX-License-Identifier: GPL-3.0-or-later
// A Debug Adapter Protocol server for one client and one trace: the ranks are the client's threads
// (thread id = rank + 1). It answers from a DebugSession, the same engine that the window has.
//
// Each part answers the requests of one kind; the server knows the state of the conversation, and
// which part a request goes to.
//
// Rules:
// - Every request gets one response; what cannot be done is an error response and changes nothing.
// - Parts know the session, the client, and the parts that are made before them. What concerns
//   those made after them is a signal.
#pragma once

#include <memory>
#include <optional>

#include <QObject>

#include "app/dap/breakpoints/dap_breakpoints.h"
#include "app/dap/launch/dap_debuggee.h"
#include "app/dap/launch/dap_other_orders.h"
#include "app/dap/ranks/dap_moves.h"
#include "app/dap/ranks/dap_stop_teller.h"
#include "app/dap/ranks/dap_threads.h"
#include "app/dap/values/dap_contents_answers.h"
#include "app/dap/values/dap_inspection.h"
#include "app/dap/wire/dap_client.h"
#include "app/dap/wire/dap_requests.h"
#include "app/session/debug_session.h"

namespace pf::headless {

class DapServer : public QObject {
  Q_OBJECT
 public:
  /// `strict`: noise instead of a frame ends the connection (a port that others can reach).
  DapServer(ByteChannel& channel, bool strict, QObject* parent = nullptr);
  ~DapServer() override;
  Q_DISABLE_COPY_MOVE(DapServer)

  /// Ends what runs; finished() follows.
  void finish();
  [[nodiscard]] bool isFinishing() const { return m_requests.state() == DapState::Finishing; }
  /// What it answers from: a test gives it replays.
  [[nodiscard]] session::DebugSession& session() { return *m_session; }

 Q_SIGNALS:
  void finished();  ///< once

 private:
  void connectParts();
  void connectSession();
  void addRequests();
  template <typename Part>
  void add(const char* command, Part& part, void (Part::*answer)(const Request&), DapState from,
           DapState to, Needs needs = Needs::Nothing);

  void dispatch(const Request& request);
  [[nodiscard]] Needs whatIsThere() const;

  void initialize(const Request& request);
  void configurationDone(const Request& request);
  void source(const Request& request);
  void terminate(const Request& request);
  void disconnect(const Request& request);

  void onSettled();
  void onConsoleText(int rank, const QString& text, bool error);
  void over(std::optional<int> exitStatus);
  void finishStep();

  DapClient m_client;
  Requests m_requests;
  /// Ends before the parts do: its end completes what they have asked of GDBs.
  std::unique_ptr<session::DebugSession> m_session;
  BreakpointAnswers m_breakpoints;
  Threads m_threads;
  StopTeller m_teller;
  Inspection m_inspection;
  Moves m_moves;
  Debuggee m_debuggee;
  OtherOrders m_orders;
  ContentsAnswers m_contents;
  bool m_finished = false;  ///< said so
};

}  // namespace pf::headless
