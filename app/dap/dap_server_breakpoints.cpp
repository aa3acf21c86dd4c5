// SPDX-License-Identifier: GPL-3.0-or-later
// The client's breakpoints and logpoints in the session, which keeps them over its cycles. The
// client keeps them over its sessions: in the trace they are not, and what is there is left alone.
#include <algorithm>

#include "app/dap/dap_server.h"

namespace pf::headless {

using values::Breakpoint;

namespace {

Json unverified(const std::string& message) {
  return {{"verified", false}, {"message", message}, {"reason", "failed"}};
}

Json breakpointsBody(Json breakpoints) {
  return {{"breakpoints", std::move(breakpoints)}};
}

}  // namespace

Json DapServer::breakpointJson(const Breakpoint& breakpoint) const {
  Json out = {{"id", -breakpoint.id},
              {"verified", breakpoint.state == values::BreakpointState::Set}};
  if (!breakpoint.file.isEmpty()) {
    out["source"] = {{"path", toClient(breakpoint.file)},
                     {"name", breakpoint.file.section(QLatin1Char('/'), -1).toStdString()}};
    out["line"] = lineToClient(breakpoint.line);
  }
  if (breakpoint.state == values::BreakpointState::Failed) {
    out["reason"] = "failed";
    out["message"] = breakpoint.note.toStdString();
  } else if (breakpoint.state == values::BreakpointState::Pending) {
    out["reason"] = "pending";
    out["message"] = "set when GDB is attached to the ranks";
  }
  return out;
}

/// The session's breakpoint for `wanted`: the one that is there, changed, or a new one.
Json DapServer::place(Breakpoint wanted, const std::string& logMessage, std::set<int>& kept) {
  const auto same = [&](const Breakpoint& each) {
    return each.file == wanted.file && each.line == wanted.line &&
           each.function == wanted.function && each.expression == wanted.expression &&
           m_logpoints.contains(each.id) == !logMessage.empty() && !kept.contains(each.id);
  };
  const auto& all = m_session.breakpoints().all();
  const auto found = std::find_if(all.begin(), all.end(), same);
  if (found != all.end()) {
    Breakpoint changed = *found;
    changed.condition = wanted.condition;
    changed.ignoreCount = wanted.ignoreCount;
    changed.enabled = true;
    wanted.id = changed.id;
    if (!(changed == *found)) {
      m_session.breakpoints().change(changed);
    }
  } else {
    wanted.id = m_session.breakpoints().addTransient(wanted);
  }
  if (!logMessage.empty()) {
    m_logpoints[wanted.id] = logPieces(logMessage);
  }
  kept.insert(wanted.id);
  for (const Breakpoint& each : m_session.breakpoints().all()) {
    if (each.id == wanted.id) {
      return m_breakpointsTold[wanted.id] = breakpointJson(each);
    }
  }
  return unverified("it could not be kept");
}

void DapServer::setBreakpoints(const Request& request) {
  const QString file = fromClient(word(request.arguments.value("source", Json::object()), "path"));
  if (file.isEmpty()) {
    fail(request, "'setBreakpoints' needs source.path");
    return;
  }
  Json wanted = request.arguments.value("breakpoints", Json::array());
  if (!request.arguments.contains("breakpoints")) {
    for (const Json& line : request.arguments.value("lines", Json::array())) {
      wanted.push_back({{"line", line}});
    }
  }
  std::set<int> kept;
  Json out = Json::array();
  for (const Json& each : wanted) {
    Breakpoint breakpoint;
    breakpoint.file = file;
    breakpoint.line = lineFromClient(number(each, "line", -1));
    breakpoint.condition = QString::fromStdString(word(each, "condition"));
    const Result<int> ignored = ignoreCountOf(word(each, "hitCondition"));
    if (breakpoint.line < 1 || !ignored) {
      out.push_back(unverified(ignored ? "a line is missing" : ignored.error().text()));
      continue;
    }
    breakpoint.ignoreCount = *ignored;
    out.push_back(place(std::move(breakpoint), word(each, "logMessage"), kept));
  }
  QList<int> leave;
  for (const Breakpoint& each : m_session.breakpoints().all()) {
    if (each.file == file && !kept.contains(each.id)) {
      leave << each.id;
      m_logpoints.erase(each.id);
      m_breakpointsTold.erase(each.id);
    }
  }
  m_session.breakpoints().remove(leave);
  succeed(request, breakpointsBody(std::move(out)));
}

void DapServer::setFunctionBreakpoints(const Request& request) {
  std::set<int> kept;
  Json out = Json::array();
  const auto& ranks = m_session.trace()->execution.ranks;
  for (const Json& each : request.arguments.value("breakpoints", Json::array())) {
    const std::string name = word(each, "name");
    Breakpoint breakpoint;
    const Result<int> ignored = ignoreCountOf(word(each, "hitCondition"));
    if (name.empty() || !ignored) {
      out.push_back(unverified(ignored ? "a name is missing" : ignored.error().text()));
      continue;
    }
    if (const std::optional<EventRef> at = parseEventRef(name); at) {  // a logical breakpoint
      if (static_cast<std::size_t>(at->rank) >= ranks.size() ||
          at->serial > ranks[static_cast<std::size_t>(at->rank)].events.size()) {
        out.push_back(unverified(m_session.source() == session::Source::Recording
                                     ? "the recording has no event " + name
                                     : "events are counted in recordings only"));
        continue;
      }
      breakpoint.kind = values::BreakpointKind::Logical;
      breakpoint.expression = QStringLiteral("event ") + QString::fromStdString(name);
    } else {
      breakpoint.function = QString::fromStdString(name);
      breakpoint.condition = QString::fromStdString(word(each, "condition"));
      breakpoint.ignoreCount = *ignored;
    }
    out.push_back(place(std::move(breakpoint), {}, kept));
  }
  QList<int> leave;
  for (const Breakpoint& each : m_session.breakpoints().all()) {
    if ((!each.function.isEmpty() || each.event.valid()) && !kept.contains(each.id)) {
      leave << each.id;
      m_breakpointsTold.erase(each.id);
    }
  }
  m_session.breakpoints().remove(leave);
  succeed(request, breakpointsBody(std::move(out)));
}

/// A rank that crashes or aborts is stopped in any case; of the filters one is ours to set.
void DapServer::setExceptionBreakpoints(const Request& request) {
  const Json filters = request.arguments.value("filters", Json::array());
  const bool wanted = filters.is_array() &&
                      std::find(filters.begin(), filters.end(), kMpiErrorFilter) != filters.end();
  const int there = mpiErrorBreakpoint();
  if (!wanted && there != 0) {
    m_session.breakpoints().remove({there});
    m_breakpointsTold.erase(there);
  } else if (wanted && there == 0) {
    Breakpoint breakpoint;
    breakpoint.kind = values::BreakpointKind::Catch;
    breakpoint.expression = QStringLiteral("mpi error");
    std::set<int> kept;
    place(std::move(breakpoint), {}, kept);
  }
  succeed(request);
}

int DapServer::mpiErrorBreakpoint() const {
  const auto& all = m_session.breakpoints().all();
  const auto found = std::find_if(all.begin(), all.end(), [](const Breakpoint& each) {
    return each.kind == values::BreakpointKind::Catch;
  });
  return found != all.end() ? found->id : 0;
}

void DapServer::tellChangedBreakpoints() {
  for (const Breakpoint& breakpoint : m_session.breakpoints().all()) {
    const auto told = m_breakpointsTold.find(breakpoint.id);
    if (told == m_breakpointsTold.end()) {
      continue;  // the response tells of it
    }
    Json now = breakpointJson(breakpoint);
    if (now != told->second) {
      told->second = now;
      send(eventMessage("breakpoint", {{"reason", "changed"}, {"breakpoint", std::move(now)}}));
    }
  }
}

/// A stop at a logpoint is none for the client.
bool DapServer::logs(int rank, int breakpoint) {
  if (m_state != State::Live || !m_logpoints.contains(breakpoint)) {
    return false;
  }
  m_logging.insert(rank);
  logNext(rank, breakpoint, 0, {});
  return true;
}

void DapServer::logNext(int rank, int breakpoint, std::size_t piece, const std::string& text) {
  mi::GdbSession* gdb = m_session.debugger(rank);
  const auto pieces = m_logpoints.find(breakpoint);
  if (!m_logging.contains(rank) || gdb == nullptr) {
    return;
  }
  if (pieces != m_logpoints.end() && piece < pieces->second.size()) {
    const LogPiece& now = pieces->second[piece];
    if (!now.expression) {
      logNext(rank, breakpoint, piece + 1, text + now.text);
      return;
    }
    gdb->inspect().evaluate(
        {gdb->stop().thread, 0}, now.text,
        [this, rank, breakpoint, piece, text](const Result<std::string>& value) {
          logNext(rank, breakpoint, piece + 1,
                  text + (value ? *value : "<" + value.error().message + ">"));
        });
    return;
  }
  const mi::Frame& frame = gdb->stop().frame;
  send(eventMessage("output",
                    {{"category", "console"},
                     {"output", "[" + std::to_string(rank) + ", event " +
                                    std::to_string(m_session.serialOf(rank)) + "] " + text + "\n"},
                     {"source", {{"path", toClient(QString::fromStdString(frame.fullname))}}},
                     {"line", lineToClient(frame.line)}}));
  m_logging.erase(rank);
  m_session.goOn(rank);
}

}  // namespace pf::headless
