// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/dap/ranks/dap_stop_body.h"

#include "app/dap/ranks/dap_threads.h"

namespace pf::headless {

using values::RankState;

namespace {

const char* reasonOf(const mi::StopEvent& stop) {
  switch (stop.reason) {
    case mi::StopReason::Breakpoint:
      return "breakpoint";
    case mi::StopReason::Watchpoint:
    case mi::StopReason::WatchpointScope:
      return "data breakpoint";
    case mi::StopReason::Step:
    case mi::StopReason::Finished:
    case mi::StopReason::Location:
      return "step";
    case mi::StopReason::Signal:
      return "exception";
    case mi::StopReason::Attached:
    case mi::StopReason::Paused:
    case mi::StopReason::Event:
    case mi::StopReason::Exited:
    case mi::StopReason::ExitedBySignal:
    case mi::StopReason::Other:
      break;
  }
  return "pause";
}

}  // namespace

bool StopBody::isRecorded() const {
  return m_session.source() == session::Source::Recording;
}

Json StopBody::of(int rank, const StopCircumstances& circumstances) const {
  const RankState state = m_session.rankStates()[rank];
  mi::GdbSession* gdb = m_session.debugger(rank);
  Json body = {{"threadId", Threads::idOf(rank)}, {"reason", circumstances.goalReason}};
  std::string text;
  if (gdb == nullptr || gdb->stop().reason == mi::StopReason::Event) {
    stoppedAtEvent(state, body);
    text = state.detail.toStdString();
  } else {
    stoppedByGdb(rank, gdb->stop(), body);
    text = textOf(rank, gdb->stop(), state.serial, circumstances.stalled);
  }
  body["description"] = "rank " + std::to_string(rank) + ": " + text;
  if (!isRecorded() && gdb != nullptr) {
    m_attached.describe(rank, gdb->stop(), circumstances.goalReason, body);
  }
  return body;
}

void StopBody::stoppedAtEvent(const RankState& state, Json& body) const {
  if (m_session.breakpoints().isAbort({state.rank, state.serial + 1})) {
    body["reason"] = "exception";
    body["text"] = "about to call MPI_Abort";
  }
  for (const values::Breakpoint& breakpoint : m_session.breakpoints().all()) {
    if (breakpoint.enabled && breakpoint.event == EventRef{state.rank, state.serial + 1}) {
      body["reason"] = "function breakpoint";
      body["hitBreakpointIds"] = {BreakpointAnswers::clientId(breakpoint.id)};
    }
  }
}

void StopBody::stoppedByGdb(int rank, const mi::StopEvent& stop, Json& body) const {
  body["reason"] = reasonOf(stop);
  if (stop.reason == mi::StopReason::Signal) {
    body["text"] = stop.signalName + ": " + stop.signalMeaning;
  }
  const int breakpoint = m_session.breakpointAt(rank);
  if (m_breakpoints.isMpiError(breakpoint)) {
    body["reason"] = "exception";
    body["text"] = "an MPI call has failed";
  } else if (breakpoint != 0) {
    body["hitBreakpointIds"] = {BreakpointAnswers::clientId(breakpoint)};
  }
}

std::string StopBody::textOf(int rank, const mi::StopEvent& stop, Serial serial,
                             const QString& stalled) const {
  const bool paused = stop.reason == mi::StopReason::Paused && !stalled.isEmpty();
  const std::string text =
      paused ? stalled.section(QLatin1Char('\n'), 0, 0).toStdString() : m_session.stopWords(rank);
  return text + (isRecorded() ? ", after event " + std::to_string(serial) : "");
}

}  // namespace pf::headless
