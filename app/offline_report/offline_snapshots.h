// SPDX-License-Identifier: GPL-3.0-or-later
// Stacks of all ranks while an offline replay goes on: every so many seconds, and when asked for by
// a signal. A rank that computes under its GDB is paused for it, and goes on.
#pragma once

#include <string>

#include <QElapsedTimer>
#include <QObject>
#include <QTimer>

#include "app/offline_report/offline_report.h"
#include "app/session/debug_session.h"

namespace pf::headless {

class Snapshots : public QObject {
  Q_OBJECT
 public:
  Snapshots(session::DebugSession& session, OfflineReport& report);

  /// From now on, the beginning of the replay, by itself every `seconds`; 0: when asked only.
  void start(double seconds);
  /// One more; `why`: "SIGUSR1". None while the ranks do not run, or while one is under way.
  void take(const std::string& why);
  void stop();
  /// Ranks stand still for a snapshot: that they do is no news.
  [[nodiscard]] bool isTaking() const { return m_asked; }

 Q_SIGNALS:
  void taken();

 private:
  [[nodiscard]] mi::GdbSession* running(int rank);
  void ask();
  void arrived(const QList<values::RankStack>& stacks);

  session::DebugSession& m_session;
  OfflineReport& m_report;
  QTimer m_timer;
  QElapsedTimer m_since;
  ReportSnapshot m_next;
  bool m_asked = false;
  bool m_stopped = false;
  QList<int> m_paused;
  QTimer m_wait;  ///< until they stand
  int m_looks = 0;
};

}  // namespace pf::headless
