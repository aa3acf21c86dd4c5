// SPDX-License-Identifier: GPL-3.0-or-later
// 'launch': a program is recorded first, a trace is loaded and opened in the session.
#pragma once

#include <memory>

#include <QFutureWatcher>
#include <QObject>

#include "app/dap/launch/dap_recorder.h"
#include "app/dap/wire/dap_launch_request.h"
#include "app/session/debug_session.h"

namespace pf::headless {

class Launch : public QObject {
  Q_OBJECT
 public:
  Launch(session::DebugSession& session, DapClient& client);

  void begin(const Request& request, LaunchArguments arguments);
  /// The conversation is over: what is recorded or loaded is not opened.
  void abandon() { m_request.abandon(); }
  [[nodiscard]] Recorder& recorder() { return m_recorder; }
  [[nodiscard]] bool isBusy() const { return m_recorder.isRunning() || m_loader.isRunning(); }
  /// That was opened.
  [[nodiscard]] const QString& trace() const { return m_trace; }

 Q_SIGNALS:
  void ready();
  void failed();
  void ran(int status);  ///< without debugging
  void idle();           ///< abandoned, and nothing of it is under way any more

 private:
  void onRecorded(int status);
  void load(const QString& trace);
  [[nodiscard]] bool isTrusted() const;
  void onLoaded();
  [[nodiscard]] Status fitsPart() const;
  void open(session::LoadedTrace trace);
  void fail(const Error& error);

  session::DebugSession& m_session;
  DapClient& m_client;
  LaunchRequest m_request;
  LaunchArguments m_arguments;
  Recorder m_recorder;
  QString m_trace;
  QFutureWatcher<std::shared_ptr<Result<session::LoadedTrace>>> m_loader;
};

}  // namespace pf::headless
