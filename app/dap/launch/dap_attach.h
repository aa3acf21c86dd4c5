// SPDX-License-Identifier: GPL-3.0-or-later
// 'attach': a job that runs without having been recorded, or core files, are found and opened in
// the session. They are looked at, not replayed.
#pragma once

#include <memory>

#include <QFutureWatcher>
#include <QObject>

#include "app/dap/ranks/dap_attached_ranks.h"
#include "app/dap/wire/dap_launch_request.h"

namespace pf::headless {

class Attach : public QObject {
  Q_OBJECT
 public:
  /// `ranks`: get to know what was found.
  Attach(session::DebugSession& session, DapClient& client, AttachedRanks& ranks);

  void begin(const Request& request, const AttachArguments& arguments);
  /// The conversation is over: what is found is not opened.
  void abandon() { m_request.abandon(); }
  [[nodiscard]] bool isBusy() const { return m_finder.isRunning(); }

 Q_SIGNALS:
  void ready();
  void failed();
  void idle();  ///< abandoned, and nothing of it is under way any more

 private:
  void onFound();
  void open(const session::UnrecordedRanks& found, const QList<int>& focus);
  void tellWhatIsThere(const session::UnrecordedRanks& found);
  void tellCapabilities();
  void fail(const Error& error);
  [[nodiscard]] bool isJob() const { return m_arguments.pid != 0; }

  session::DebugSession& m_session;
  DapClient& m_client;
  AttachedRanks& m_ranks;
  LaunchRequest m_request;
  AttachArguments m_arguments;
  QFutureWatcher<std::shared_ptr<Result<session::UnrecordedRanks>>> m_finder;
};

}  // namespace pf::headless
