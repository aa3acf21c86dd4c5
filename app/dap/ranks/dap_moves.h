// SPDX-License-Identifier: GPL-3.0-or-later
// Requests that send ranks elsewhere. Each is answered before the ranks move.
#pragma once

#include <QObject>

#include "app/dap/ranks/dap_goto_targets.h"
#include "app/dap/ranks/dap_stop_teller.h"
#include "app/dap/ranks/dap_threads.h"

namespace pf::headless {

class Moves : public QObject {
  Q_OBJECT
 public:
  Moves(session::DebugSession& session, DapClient& client, const Threads& threads,
        StopTeller& teller)
      : m_session(session), m_client(client), m_threads(threads), m_teller(teller) {}

  // -- from where they are
  void continueRanks(const Request& request);
  void next(const Request& request) { step(request, values::RankAction::Next); }
  void stepIn(const Request& request) { step(request, values::RankAction::Step); }
  void stepOut(const Request& request) { step(request, values::RankAction::Finish); }
  void pause(const Request& request);

  // -- to an event, perhaps in a new cycle
  void stepBack(const Request& request);
  void reverseContinue(const Request& request);
  void replayTo(const Request& request);

  /// What a rank that runs alone goes back to.
  void snapshots(const Request& request);
  void waits(const Request& request);

  void gotoTargets(const Request& request);
  void goTo(const Request& request);

 private:
  void step(const Request& request, values::RankAction action);
  void finishFrame(int rank);
  [[nodiscard]] bool canPause(const values::RankState& state) const;
  /// The last event of the rank, up to where it is, that has received something; 0: none has.
  [[nodiscard]] Serial lastReceive(int rank) const;
  void goToLine(const Request& request, const GotoTargets::Line& line);
  void send(const EventRef& event, const char* reason);

  session::DebugSession& m_session;
  DapClient& m_client;
  const Threads& m_threads;
  StopTeller& m_teller;
  GotoTargets m_targets;
};

}  // namespace pf::headless
