// SPDX-License-Identifier: GPL-3.0-or-later
// Moving, and what the client is told of it.
#include <algorithm>

#include "app/collation/event_text.h"
#include "app/collation/failure.h"
#include "app/dap/dap_server.h"
#include "app/reports/report.h"

namespace pf::headless {

using values::RankActivity;
using values::RankState;

namespace {

constexpr std::size_t kMostTargets = 200;
constexpr int kAwaited = 100;  ///< times that publish() puts itself off

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

void DapServer::connectSession() {
  using S = session::DebugSession;
  m_session.setStopFilter([this](int rank, int breakpoint) { return logs(rank, breakpoint); });
  connect(&m_session, &S::message, this, [this](const QString& text, bool problem) {
    say(text, problem ? "important" : "console");
  });
  connect(&m_session, &S::progress, this, &DapServer::showProgress);
  connect(&m_session, &S::settled, this, &DapServer::onSettled);
  connect(&m_session, &S::ranksChanged, this, [this] { m_publishSoon.start(); });
  connect(&m_session.debuggers(), &session::Debuggers::focusChanged, this,
          [this] { m_publishSoon.start(); });
  connect(&m_session, &S::rankStopped, this, [this](int rank) {
    if (m_told.contains(rank)) {  // it has run without our doing: a line of the console
      resumed({rank});
      send(eventMessage("continued", {{"threadId", rank + 1}, {"allThreadsContinued", false}}));
    }
  });
  connect(&m_session.breakpoints(), &session::Breakpoints::changed, this,
          &DapServer::tellChangedBreakpoints);
  connect(&m_session, &S::ended, this, [this](int status) { m_exitStatus = status; });
  connect(&m_session, &S::stalled, this, [this](const QString& text, bool deadlock) {
    m_stalled = deadlock ? tr("Deadlock: %1").arg(text) : tr("All ranks wait: %1").arg(text);
    QList<int> ranks;
    for (const RankState& state : ranksHere()) {
      if (state.debugger && !atRest(state) && !gone(state)) {
        ranks << state.rank;
      }
    }
    m_session.act(values::RankAction::Pause, ranks);
  });
  connect(&m_session, &S::output, this,
          [this](int rank, values::OutputStream stream, const QByteArray& bytes) {
            const bool errors = stream == values::OutputStream::Err;
            const std::string lines = m_output.feed(
                rank, errors ? 2 : 1, {bytes.constData(), static_cast<std::size_t>(bytes.size())});
            if (!lines.empty()) {
              send(eventMessage("output",
                                {{"category", errors ? "stderr" : "stdout"},
                                 {"output", marked(lines, "[" + std::to_string(rank) + "] ")}}));
            }
          });
  connect(&m_session, &S::consoleText, this, [this](int rank, const QString& text, bool error) {
    if (const auto asked = m_consoleOf.find(rank); asked != m_consoleOf.end()) {
      asked->second += text.toStdString();
    } else if (m_state == State::Live && error) {  // the rest is of stops, which are told otherwise
      send(eventMessage("output", {{"category", "console"}, {"output", text.toStdString()}}));
    }
  });
}

std::optional<int> DapServer::rankOf(const Request& request) {
  const std::int64_t thread = number(request.arguments, "threadId", 0);
  const QList<RankState> states = ranksHere();
  if (std::none_of(states.begin(), states.end(),
                   [thread](const RankState& state) { return state.rank == thread - 1; })) {
    fail(request, "there is no thread " + std::to_string(thread),
         "Thread N + 1 is rank N; 'threads' lists them.");
    return std::nullopt;
  }
  return static_cast<int>(thread - 1);
}

mi::GdbSession* DapServer::debuggerOf(const Request& request, int& rank) {
  const std::optional<int> found = rankOf(request);
  if (!found) {
    return nullptr;
  }
  rank = *found;
  mi::GdbSession* gdb = m_session.debugger(rank);
  if (gdb == nullptr) {
    fail(request, "rank " + std::to_string(rank) + " has no GDB",
         "Name it in 'focus' of the launch arguments.");
  } else if (gdb->state() != mi::SessionState::Stopped) {
    send(notStopped(request, "rank " + std::to_string(rank) + " runs"));
    gdb = nullptr;
  }
  return gdb;
}

void DapServer::resumed(const std::set<int>& ranks) {
  for (const int rank : ranks) {
    m_told.erase(rank);
    m_references.run(rank);
    mi::GdbSession* gdb = m_session.debugger(rank);
    for (const std::string& object : std::exchange(m_objects[rank], {})) {
      if (gdb != nullptr && gdb->state() == mi::SessionState::Stopped) {
        gdb->inspect().deleteVar(object, [](const Status&) {});
      }
    }
  }
}

/// To another place, perhaps in a new cycle. The response is sent before.
void DapServer::moving(const char* reason) {
  const std::set<int> told = m_told;
  resumed(told);
  m_stalled.clear();
  m_goneTold.clear();
  m_logging.clear();
  m_exitStatus.reset();
  m_goalReason = reason;
  m_moving = true;
}

void DapServer::continueRanks(const Request& request) {
  const std::optional<int> rank = rankOf(request);
  if (!rank) {
    return;
  }
  const bool one = flag(request.arguments, "singleThread");
  QList<int> ranks;
  for (const RankState& state : ranksHere()) {
    if (!one || state.rank == *rank) {
      ranks << state.rank;
    }
  }
  succeed(request, {{"allThreadsContinued", !one}});
  resumed(std::set<int>(ranks.begin(), ranks.end()));
  m_stalled.clear();
  m_goalReason = "pause";
  m_session.act(values::RankAction::Continue, ranks);
}

void DapServer::step(const Request& request, values::RankAction action) {
  int rank = 0;
  if (debuggerOf(request, rank) == nullptr) {
    return;
  }
  succeed(request);
  resumed({rank});
  m_stalled.clear();
  m_goalReason = "step";
  if (action != values::RankAction::Finish || m_session.currentRank() == rank) {
    m_session.setCurrentRank(rank);
    m_session.act(action, {rank});
    return;
  }
  // Its stack has to be known: the frame to return from is the program's.
  connect(
      &m_session.inspector(), &session::Inspector::stackChanged, this,
      [this, rank] { m_session.act(values::RankAction::Finish, {rank}); },
      static_cast<Qt::ConnectionType>(Qt::QueuedConnection | Qt::SingleShotConnection));
  m_session.setCurrentRank(rank);
}

void DapServer::pause(const Request& request) {
  if (!rankOf(request)) {
    return;
  }
  succeed(request);
  QList<int> ranks;
  for (const RankState& state : ranksHere()) {
    // Of a job that runs without us, nothing else can stop a rank.
    const bool can = state.debugger || m_session.source() == session::Source::Recording;
    // Also those that are about to go on.
    if (can && !m_told.contains(state.rank) && !gone(state)) {
      ranks << state.rank;
    }
  }
  m_goalReason = "pause";
  m_pauseThen = m_moving && m_session.source() == session::Source::Job;
  m_session.act(values::RankAction::Pause, ranks);
}

void DapServer::stepBack(const Request& request) {
  const std::optional<int> rank = rankOf(request);
  if (!rank) {
    return;
  }
  if (m_session.serialOf(*rank) == 0) {
    fail(request, "rank " + std::to_string(*rank) + " has done no event yet");
    return;
  }
  succeed(request);
  moving("step");
  m_session.setCurrentRank(*rank);
  m_session.go(session::Move::PreviousEvent);
}

void DapServer::reverseContinue(const Request& request) {
  const std::optional<int> rank = rankOf(request);
  if (!rank) {
    return;
  }
  const RankHistory& history = m_session.trace()->execution.ranks[static_cast<std::size_t>(*rank)];
  Serial serial = std::min<Serial>(m_session.serialOf(*rank), history.events.size());
  while (serial > 0 && !app::receives(history, serial)) {
    --serial;
  }
  if (serial == 0) {
    fail(request, "rank " + std::to_string(*rank) + " has received nothing before this");
    return;
  }
  succeed(request, {{"allThreadsContinued", true}});
  moving("step");
  m_session.setCurrentRank(*rank);
  m_session.replayTo({*rank, serial});
}

void DapServer::gotoTargets(const Request& request) {
  const QString file = fromClient(word(request.arguments.value("source", Json::object()), "path"));
  const int line = lineFromClient(number(request.arguments, "line", -1));
  if (file.isEmpty() || line < 1) {
    fail(request, "'gotoTargets' needs source.path and line");
    return;
  }
  m_targets.clear();
  m_lineTargets.clear();
  Json targets = Json::array();
  const Execution& execution = m_session.trace()->execution;
  const std::string path = file.toStdString();
  for (std::size_t r = 0; r < execution.ranks.size(); ++r) {
    const auto& events = execution.ranks[r].events;
    for (std::size_t i = 0; i < events.size() && targets.size() < kMostTargets; ++i) {
      if (events[i].site >= execution.sites.size() ||
          execution.sites[events[i].site].line != line ||
          execution.sites[events[i].site].file != path) {
        continue;
      }
      const EventRef target{static_cast<Rank>(r), i + 1};
      m_targets[++m_lastTarget] = target;
      targets.push_back(
          {{"id", m_lastTarget},
           {"label", "rank " + std::to_string(r) + " event " + std::to_string(target.serial) +
                         ": " + app::eventText(execution, target)},
           {"line", lineToClient(line)}});
    }
  }
  m_lineTargets[++m_lastTarget] = {file, line};
  targets.push_back(
      {{"id", m_lastTarget}, {"label", "on to this line"}, {"line", lineToClient(line)}});
  succeed(request, {{"targets", std::move(targets)}});
}

void DapServer::goTo(const Request& request) {
  const std::optional<int> rank = rankOf(request);
  if (!rank) {
    return;
  }
  const auto id = static_cast<int>(number(request.arguments, "targetId", 0));
  if (const auto event = m_targets.find(id); event != m_targets.end()) {
    succeed(request);
    moving("goto");
    m_session.setCurrentRank(event->second.rank);
    m_session.replayTo(event->second);
    return;
  }
  const auto line = m_lineTargets.find(id);
  if (line == m_lineTargets.end()) {
    fail(request, "there is no such target", "Ask for 'gotoTargets' of the line again.");
    return;
  }
  int ours = 0;
  if (debuggerOf(request, ours) == nullptr) {
    return;
  }
  succeed(request);
  resumed({*rank});
  m_goalReason = "goto";
  m_session.setCurrentRank(*rank);
  m_session.control().runToLine(line->second.first, line->second.second);
}

void DapServer::replayTo(const Request& request) {
  const auto& ranks = m_session.trace()->execution.ranks;
  const std::int64_t rank = number(request.arguments, "rank", -1);
  const std::int64_t serial = number(request.arguments, "serial", 0);
  if (rank < 0 || serial < 1 || static_cast<std::size_t>(rank) >= ranks.size() ||
      static_cast<std::size_t>(serial) > ranks[static_cast<std::size_t>(rank)].events.size()) {
    fail(request, "the recording has no such event",
         "'rank' and 'serial' name it, serials count from 1; 'photofinish events' lists them.");
    return;
  }
  succeed(request);
  send(eventMessage("continued", {{"threadId", rank + 1}, {"allThreadsContinued", true}}));
  moving("goto");
  m_session.setCurrentRank(static_cast<int>(rank));
  m_session.replayTo({static_cast<Rank>(rank), static_cast<Serial>(serial)});
}

void DapServer::races(const Request& request) {
  std::string report;
  const Status status = app::racesReport(m_trace.toStdString(), true,
                                         [&report](std::string_view text) { report += text; });
  if (!status) {
    fail(request, status.error().message, status.error().advice);
    return;
  }
  succeed(request, Json::parse(report, nullptr, false));
}

void DapServer::exceptionInfo(const Request& request) {
  int rank = 0;
  mi::GdbSession* gdb = debuggerOf(request, rank);
  if (gdb == nullptr) {
    return;
  }
  const mi::StopEvent& stop = gdb->stop();
  if (const int id = m_session.breakpointAt(rank); id != 0 && id == mpiErrorBreakpoint()) {
    succeed(request, {{"exceptionId", "MPI error"},
                      {"description", m_session.rankStates()[rank].detail.toStdString()},
                      {"breakMode", "always"}});
    return;
  }
  if (stop.reason != mi::StopReason::Signal) {
    fail(request, "rank " + std::to_string(rank) + " was not stopped by a signal");
    return;
  }
  succeed(request, {{"exceptionId", stop.signalName},
                    {"description", stop.signalMeaning},
                    {"breakMode", "always"}});
}

void DapServer::onSettled() {
  if (m_finishing) {
    finishStep();
    return;
  }
  if (m_state != State::Live) {
    return;
  }
  if (m_session.isReplaying()) {
    m_moving = m_moving && m_session.source() != session::Source::Recording;
    publish();
  } else if (std::exchange(m_restarting, false)) {
    start();
  } else {
    over(m_exitStatus);
  }
}

bool DapServer::atRest(const RankState& state) {
  mi::GdbSession* gdb = m_session.debugger(state.rank);
  if (gdb == nullptr) {
    return state.activity == RankActivity::Stopped;
  }
  const bool gated = m_session.source() == session::Source::Recording &&
                     gdb->stop().reason == mi::StopReason::Attached;
  return gdb->state() == mi::SessionState::Stopped && !gdb->isAboutToRun() && !gated &&
         !m_logging.contains(state.rank);
}

/// The rank's process is no more, or was never seen by a GDB and is past MPI_Finalize.
bool DapServer::gone(const RankState& state) {
  if (mi::GdbSession* gdb = m_session.debugger(state.rank); gdb != nullptr) {
    return gdb->state() == mi::SessionState::Exited || gdb->state() == mi::SessionState::Lost;
  }
  return state.activity == RankActivity::Finished || state.activity == RankActivity::Failed;
}

/// At a stop, of which its GDB has not told yet.
bool DapServer::arrives(const RankState& state) {
  mi::GdbSession* gdb = m_session.debugger(state.rank);
  return gdb != nullptr && gdb->state() == mi::SessionState::Running &&
         state.activity == RankActivity::Stopped;
}

Json DapServer::stoppedBody(int rank) {
  const RankState state = m_session.rankStates()[rank];
  mi::GdbSession* gdb = m_session.debugger(rank);
  const bool recorded = m_session.source() == session::Source::Recording;
  const bool atEvent = gdb == nullptr || gdb->stop().reason == mi::StopReason::Event;
  std::string text = "rank " + std::to_string(rank) + ": ";
  Json body = {{"threadId", rank + 1}};
  if (atEvent) {
    body["reason"] = m_goalReason;
    text += state.detail.toStdString();
    for (const values::Breakpoint& breakpoint : m_session.breakpoints().all()) {
      if (breakpoint.enabled && breakpoint.event == EventRef{rank, state.serial + 1}) {
        body["reason"] = "function breakpoint";
        body["hitBreakpointIds"] = {-breakpoint.id};
      }
    }
  } else {
    const mi::StopEvent& stop = gdb->stop();
    body["reason"] = reasonOf(stop);
    if (stop.reason == mi::StopReason::Signal) {
      body["text"] = stop.signalName + ": " + stop.signalMeaning;
    }
    if (const int id = m_session.breakpointAt(rank); id != 0) {
      if (id == mpiErrorBreakpoint()) {
        body["reason"] = "exception";
        body["text"] = "an MPI call has failed";
      } else {
        body["hitBreakpointIds"] = {-id};
      }
    }
    const bool stalled = stop.reason == mi::StopReason::Paused && !m_stalled.isEmpty();
    text += stalled ? m_stalled.section(QLatin1Char('\n'), 0, 0).toStdString() : stop.describe();
    text += recorded ? ", after event " + std::to_string(state.serial) : "";
  }
  body["description"] = text;
  if (!recorded && gdb != nullptr) {
    unrecordedStop(rank, gdb->stop(), body);
  }
  return body;
}

/// Tells the client what has changed in who runs and who does not.
void DapServer::publish() {
  if (m_state != State::Live || !m_session.isRunning()) {
    return;
  }
  if (m_moving && m_session.source() != session::Source::Recording) {
    m_moving = !unrecordedArrived();
    if (!m_moving && std::exchange(m_pauseThen, false)) {
      m_session.act(values::RankAction::Pause, m_unrecordedFocus);
    }
  }
  if (m_moving || m_state != State::Live) {
    return;
  }
  const QList<RankState> states = ranksHere();
  if (std::any_of(states.begin(), states.end(),
                  [this](const auto& each) { return arrives(each); }) &&
      ++m_awaited < kAwaited) {
    m_publishSoon.start();
    return;
  }
  m_awaited = 0;
  std::vector<int> fresh;
  bool all = true;
  for (const RankState& state : states) {
    const bool rests = atRest(state);
    if (!rests && gone(state)) {
      if (m_goneTold.insert(state.rank).second) {
        resumed({state.rank});
        send(eventMessage("thread", {{"reason", "exited"}, {"threadId", state.rank + 1}}));
      }
      continue;
    }
    all = all && rests;
    if (rests && !m_told.contains(state.rank)) {
      fresh.push_back(state.rank);
    } else if (!rests && m_told.contains(state.rank)) {
      resumed({state.rank});
      send(eventMessage("continued",
                        {{"threadId", state.rank + 1}, {"allThreadsContinued", false}}));
    }
  }
  if (fresh.empty()) {
    if (m_session.source() == session::Source::Job &&
        std::all_of(states.begin(), states.end(),
                    [this](const auto& each) { return gone(each); })) {
      over(std::nullopt);
      m_session.endReplay();
    }
    return;
  }
  const bool others = !m_told.empty();
  m_told.insert(fresh.begin(), fresh.end());
  std::stable_partition(fresh.begin(), fresh.end(),
                        [this](int rank) { return rank == m_session.currentRank(); });
  for (std::size_t i = 0; i < (all ? 1 : fresh.size()); ++i) {
    Json body = stoppedBody(fresh[i]);
    body["allThreadsStopped"] = all;
    if (i > 0 || (others && body["reason"] == "pause")) {
      body["preserveFocusHint"] = true;
    }
    send(eventMessage("stopped", std::move(body)));
  }
}

}  // namespace pf::headless
