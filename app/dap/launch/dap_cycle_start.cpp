// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/dap/launch/dap_cycle_start.h"

#include <utility>

namespace pf::headless {

void CycleStart::setGoal(const LaunchArguments& arguments) {
  m_until = arguments.until;
  m_untilFailure = arguments.untilFailure;
  m_stopOnEntry = arguments.stopOnEntry;
}

void CycleStart::start() {
  if (m_until) {
    m_teller.sent("goto");
    m_session.setCurrentRank(m_until->rank);
    m_session.replayTo(*m_until);
  } else if (m_untilFailure && failsHere()) {
    m_teller.sent("goto");
    m_session.go(session::Move::Failure);
  } else if (m_stopOnEntry) {
    // A rank's first event is MPI_Init, which is over when it can be stopped.
    m_teller.sent("entry");
    m_session.replayTo({m_session.currentRank(), 2});
  } else {
    if (m_untilFailure) {
      const EventRef failure = m_session.trace()->failure.event;
      m_client.say(
          failure.valid()
              ? QObject::tr("The rank that failed, %1, does not run: the others are replayed to "
                            "their end.")
                    .arg(failure.rank)
              : QObject::tr("No rank failed in this recording: it is replayed to its end."),
          "console");
    }
    run();
  }
}

bool CycleStart::failsHere() const {
  const EventRef failure = m_session.trace()->failure.event;
  return failure.valid() && m_session.runs(failure.rank);
}

/// A new cycle to its first stop or its end.
void CycleStart::run() {
  m_teller.sent("pause");
  m_session.restartCycle();
}

/// What the latest launch arguments say of the way is taken, not another program.
void CycleStart::takeLatest(const Json& arguments) {
  if (const Result<LaunchArguments> latest = parseLaunchArguments(arguments)) {
    m_stopOnEntry = latest->stopOnEntry;
    m_untilFailure = latest->untilFailure;
  }
}

void CycleStart::restart(const Request& request) {
  m_client.succeed(request);
  m_client.tell(
      "continued",
      {{"threadId", Threads::idOf(m_session.part().empty() ? 0 : m_session.part().front())},
       {"allThreadsContinued", true}});
  if (request.arguments.contains("arguments")) {
    takeLatest(request.arguments["arguments"]);
  }
  // A new cycle in any case, also where the ranks could go on to the goal.
  if (!m_until && !m_untilFailure && !m_stopOnEntry) {
    run();
    return;
  }
  m_restarting = m_session.isReplaying();
  if (m_restarting) {
    m_session.endReplay();
  } else {
    start();
  }
}

bool CycleStart::startsAgain() {
  const bool again = std::exchange(m_restarting, false);
  if (again) {
    start();
  }
  return again;
}

}  // namespace pf::headless
