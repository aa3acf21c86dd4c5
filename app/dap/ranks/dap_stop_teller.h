// SPDX-License-Identifier: GPL-3.0-or-later
// Tells the client who has stopped, goes on, or is gone.
//
// Rules:
// - A 'stopped' event is sent for ranks that have come to rest, never for those on their way; who
//   goes on by itself (as another rank's step needs it) is told by 'continued'.
// - Ranks that the client itself sends on are told of by the response, which is sent before.
#pragma once

#include <optional>
#include <set>

#include <QObject>
#include <QTimer>

#include "app/dap/ranks/dap_stop_body.h"
#include "app/dap/ranks/dap_threads.h"
#include "app/dap/ranks/dap_told_ranks.h"

namespace pf::headless {

class StopTeller : public QObject {
  Q_OBJECT
 public:
  StopTeller(session::DebugSession& session, DapClient& client, Threads& threads,
             const BreakpointAnswers& breakpoints);

  /// Nothing is told before, and after.
  void begin() { m_telling = true; }
  void end();

  // -- what the client has asked for; `reason` is that of the stops to come
  /// To another place, perhaps in a new cycle.
  void sent(const char* reason);
  /// These ranks, from where they are. A stall is over with that.
  void sentOn(const std::set<int>& ranks, const char* reason);
  void pauseAsked();
  [[nodiscard]] bool knowsStopped(int rank) const { return m_told.knowsStopped(rank); }

  /// The ranks are where they were sent.
  void settled();
  /// Tells what has changed.
  void publish();
  /// Of the cycle, once it has ended by itself.
  [[nodiscard]] std::optional<int> exitStatus() const { return m_exitStatus; }

 Q_SIGNALS:
  void elsewhere();  ///< the ranks leave for another place
  void resumed(int rank);
  void allGone();  ///< no rank is left of the job, or none could be attached to

 private:
  void onStalled(const QString& text, bool deadlock);
  void onStopped(int rank);
  void leave(int rank);
  [[nodiscard]] bool haveArrived();
  [[nodiscard]] bool awaitsGdbs(const QList<values::RankState>& states);
  void tellChanges(const std::vector<ToldRanks::Change>& changes);
  void tellContinued(int rank);
  void tellStopped(const ToldRanks::News& news);

  session::DebugSession& m_session;
  DapClient& m_client;
  Threads& m_threads;
  StopBody m_body;
  ToldRanks m_told;
  StopCircumstances m_circumstances;
  std::optional<int> m_exitStatus;
  QTimer m_publishSoon;
  int m_awaited = 0;      ///< times that publish() has put itself off
  bool m_moving = false;  ///< on the way: what rests now is not told
  bool m_telling = false;
};

}  // namespace pf::headless
