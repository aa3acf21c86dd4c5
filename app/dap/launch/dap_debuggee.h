// SPDX-License-Identifier: GPL-3.0-or-later
// What is debugged, from the 'launch' or 'attach' that asks for it to its first cycle or stop.
#pragma once

#include <QObject>

#include "app/dap/launch/dap_attach.h"
#include "app/dap/launch/dap_cycle_start.h"
#include "app/dap/launch/dap_launch.h"
#include "app/dap/ranks/dap_stop_teller.h"

namespace pf::headless {

class Debuggee : public QObject {
  Q_OBJECT
 public:
  Debuggee(session::DebugSession& session, DapClient& client, Threads& threads, StopTeller& teller);

  // -- requests
  void launch(const Request& request);
  void attach(const Request& request);
  void restart(const Request& request) { m_start.restart(request); }
  void races(const Request& request);
  void events(const Request& request);

  /// The breakpoints are known: the ranks begin.
  void begin();
  /// The cycle is gone. True: another one begins.
  bool beginsAgain() { return m_start.startsAgain(); }

  /// The conversation is over: what is under way is not opened.
  void abandon();
  void terminateRecording() { m_launch.recorder().terminate(); }
  /// The same, and it is killed in the end.
  void endRecording() { m_launch.recorder().end(); }
  [[nodiscard]] bool isBusy() const { return m_launch.isBusy() || m_attach.isBusy(); }

 Q_SIGNALS:
  void underWay();
  void ready();   ///< the session has it
  void failed();  ///< another launch may follow
  void ran(int status);
  void idle();  ///< after abandon(): nothing is under way any more

 private:
  bool usesGdb(const Request& request, const std::string& gdb);
  void beginAttached();

  session::DebugSession& m_session;
  DapClient& m_client;
  Threads& m_threads;
  StopTeller& m_teller;
  Launch m_launch;
  Attach m_attach;
  CycleStart m_start;
};

}  // namespace pf::headless
