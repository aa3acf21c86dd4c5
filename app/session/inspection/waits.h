// SPDX-License-Identifier: GPL-3.0-or-later
// Who waits for whom where the ranks are now, or at the end of the record where no replay runs.
#pragma once

#include <functional>
#include <string>

#include <QObject>

#include "app/session/inspection/standing_calls.h"
#include "app/session/state/latest.h"
#include "app/session/state/session_state.h"
#include "views/trace/analyses/job_state.h"

namespace pf::session {

struct WaitsAnswer {
  QString text;           ///< views::waitsText()
  views::JobState state;  ///< the same as values
};

class Waits : public QObject {
  Q_OBJECT
 public:
  Waits(const SessionState& state, StandingCalls& calls) : m_state(state), m_calls(calls) {}

  using Done = std::function<void(const Result<WaitsAnswer>&)>;
  /// `done` is called later, on this thread, unless another question comes first. Usage: it is not known, and why.
  void ask(Done done);

 private:
  void askNow();

  const SessionState& m_state;
  StandingCalls& m_calls;
  views::TraceIndexPtr m_index;  ///< of the trace that was asked about last
  Latest<Done> m_question;
};

}  // namespace pf::session
