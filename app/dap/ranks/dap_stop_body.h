// SPDX-License-Identifier: GPL-3.0-or-later
// What a 'stopped' event says of a rank: why it has stopped, at which breakpoint, and the words.
#pragma once

#include "app/dap/breakpoints/dap_breakpoints.h"
#include "app/dap/ranks/dap_attached_ranks.h"
#include "app/session/debug_session.h"

namespace pf::headless {

/// What is known of ranks besides their stops.
struct StopCircumstances {
  std::string goalReason = "pause";  ///< 'reason' of ranks that are where they were sent
  QString stalled;                   ///< why no rank gets on; empty: they do
};

class StopBody {
 public:
  StopBody(session::DebugSession& session, const BreakpointAnswers& breakpoints,
           const AttachedRanks& attached)
      : m_session(session), m_breakpoints(breakpoints), m_attached(attached) {}

  [[nodiscard]] Json of(int rank, const StopCircumstances& circumstances) const;

 private:
  void stoppedAtEvent(const values::RankState& state, Json& body) const;
  void stoppedByGdb(int rank, const mi::StopEvent& stop, Json& body) const;
  [[nodiscard]] std::string textOf(int rank, const mi::StopEvent& stop, Serial serial,
                                   const QString& stalled) const;
  [[nodiscard]] bool isRecorded() const;

  session::DebugSession& m_session;
  const BreakpointAnswers& m_breakpoints;
  const AttachedRanks& m_attached;
};

}  // namespace pf::headless
