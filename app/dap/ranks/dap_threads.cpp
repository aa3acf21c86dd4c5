// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/dap/ranks/dap_threads.h"

#include <algorithm>

namespace pf::headless {

using values::RankActivity;
using values::RankState;

QList<RankState> Threads::all() const {
  QList<RankState> states = m_session.rankStates();
  const bool recording = m_session.source() == session::Source::Recording;
  states.removeIf(
      [this, recording](const RankState& state) {  // a job may have ranks on other hosts
        return recording ? !m_session.runs(state.rank) : !m_attached.contains(state.rank);
      });
  return states;
}

bool Threads::atRest(const RankState& state) const {
  mi::GdbSession* gdb = m_session.debugger(state.rank);
  if (gdb == nullptr) {
    return state.activity == RankActivity::Stopped;
  }
  const bool gated = m_session.source() == session::Source::Recording &&
                     gdb->stop().reason == mi::StopReason::Attached;
  return gdb->state() == mi::SessionState::Stopped && !gdb->isAboutToRun() && !gated &&
         !m_logpoints.holds(state.rank);
}

bool Threads::gone(const RankState& state) const {
  if (mi::GdbSession* gdb = m_session.debugger(state.rank); gdb != nullptr) {
    return gdb->state() == mi::SessionState::Exited || gdb->state() == mi::SessionState::Lost;
  }
  return state.activity == RankActivity::Finished || state.activity == RankActivity::Failed;
}

bool Threads::arrives(const RankState& state) const {
  mi::GdbSession* gdb = m_session.debugger(state.rank);
  return gdb != nullptr && gdb->state() == mi::SessionState::Running &&
         state.activity == RankActivity::Stopped;
}

RankStanding Threads::standing(const RankState& state) const {
  return {state.rank, atRest(state), gone(state)};
}

std::optional<int> Threads::rankOf(const Request& request) const {
  const std::int64_t thread = number(request.arguments, "threadId", 0);
  const QList<RankState> states = all();
  if (std::none_of(states.begin(), states.end(),
                   [thread](const RankState& state) { return idOf(state.rank) == thread; })) {
    const QList<RankState> recorded = m_session.rankStates();
    const bool outside = thread > 0 && thread <= recorded.size() &&
                         recorded[thread - 1].activity == RankActivity::NotInReplay;
    m_client.fail(request,
                  outside ? m_session.notInReplay(static_cast<int>(thread - 1)).toStdString()
                          : "there is no thread " + std::to_string(thread),
                  "Thread N + 1 is rank N; 'threads' lists them.");
    return std::nullopt;
  }
  return static_cast<int>(thread - 1);
}

std::optional<Threads::Stopped> Threads::stoppedOf(const Request& request) const {
  const std::optional<int> rank = rankOf(request);
  if (!rank) {
    return std::nullopt;
  }
  mi::GdbSession* gdb = m_session.debugger(*rank);
  if (gdb == nullptr) {
    m_client.fail(request, "rank " + std::to_string(*rank) + " has no GDB",
                  "Name it in 'focus' of the launch arguments.");
    return std::nullopt;
  }
  if (gdb->state() != mi::SessionState::Stopped) {
    m_client.failAsRunning(request, *rank);
    return std::nullopt;
  }
  return Stopped{*rank, gdb};
}

}  // namespace pf::headless
