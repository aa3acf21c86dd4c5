// SPDX-License-Identifier: GPL-3.0-or-later
// The ranks of a running job or of core files, none of which was recorded: who they are, and how
// they come to the stop that begins the session.
#pragma once

#include <map>

#include "app/dap/wire/dap_messages.h"
#include "app/session/debug_session.h"
#include "app/session/targets/unrecorded_ranks.h"

namespace pf::headless {

class AttachedRanks {
 public:
  explicit AttachedRanks(session::DebugSession& session) : m_session(session) {}

  /// What there is. `focus`: ranks that will have a GDB; `goOn`: they go on once they have it.
  void take(const QList<session::UnrecordedRank>& ranks, const QList<int>& focus, bool goOn);
  [[nodiscard]] bool contains(int rank) const { return m_ranks.contains(rank); }

  /// The ranks get their GDBs, which stop them.
  void begin();
  enum class Arrival {
    UnderWay,
    Here,  ///< each has its GDB, or cannot have one, and goes on if it is to
    None,  ///< no rank has one; why has been said of each
  };
  /// How far they are; lets those go on that are to.
  Arrival arrive();
  /// The client has asked for a pause while they were under way, or has not.
  void askForPause(bool pause) { m_pauseThen = pause; }
  /// Once they are here.
  void pauseIfAsked();

  /// What a 'stopped' event says of the rank, where it is not said by GDB's stop. `reason`: of one
  /// that was attached to.
  void describe(int rank, const mi::StopEvent& stop, const std::string& reason, Json& body) const;

 private:
  [[nodiscard]] Arrival arrivalOf(int rank, const QList<int>& withGdb) const;

  session::DebugSession& m_session;
  std::map<int, session::UnrecordedRank> m_ranks;
  QList<int> m_focus;
  bool m_goOn = false;
  bool m_lettingGo = false;  ///< they were stopped to attach to them, and are on their way
  bool m_pauseThen = false;
};

}  // namespace pf::headless
