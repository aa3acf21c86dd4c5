// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/dap/breakpoints/dap_breakpoints.h"

#include <algorithm>

#include "app/dap/wire/dap_capabilities.h"
#include "app/session/records/breakpoint_text.h"
#include "replay_engine/steering/logical_stops.h"

namespace pf::headless {

using values::Breakpoint;

namespace {

Json unverified(const std::string& message) {
  return {{"verified", false}, {"message", message}, {"reason", "failed"}};
}

Json breakpointsBody(Json breakpoints) {
  return {{"breakpoints", std::move(breakpoints)}};
}

Error refused(const std::string& message) {
  return {ErrorCode::Usage, message, ""};
}

/// What 'setBreakpoints' wants; older clients give lines only.
Json wantedLines(const Json& arguments) {
  if (arguments.contains("breakpoints")) {
    return arguments["breakpoints"];
  }
  Json wanted = Json::array();
  for (const Json& line : arguments.value("lines", Json::array())) {
    wanted.push_back({{"line", line}});
  }
  return wanted;
}

bool exists(const std::vector<RankHistory>& ranks, const EventRef& event) {
  const auto rank = static_cast<std::size_t>(event.rank);
  return rank < ranks.size() && event.serial <= ranks[rank].events.size();
}

}  // namespace

BreakpointAnswers::BreakpointAnswers(session::DebugSession& session, DapClient& client)
    : m_session(session), m_client(client), m_logpoints(session, client) {
  connect(&session.breakpoints(), &session::Breakpoints::changed, this,
          &BreakpointAnswers::tellChanged);
}

Json BreakpointAnswers::breakpointJson(const Breakpoint& breakpoint) const {
  Json out = {{"id", clientId(breakpoint.id)},
              {"verified", breakpoint.state == values::BreakpointState::Set}};
  if (!breakpoint.file.isEmpty()) {
    out["source"] = m_client.format().source(breakpoint.file);
    out["line"] = m_client.format().lineToClient(breakpoint.line);
  }
  if (breakpoint.state == values::BreakpointState::Failed) {
    out["reason"] = "failed";
    out["message"] = breakpoint.note.toStdString();
  } else if (breakpoint.state == values::BreakpointState::Pending) {
    out["reason"] = "pending";
    const bool kept = breakpoint.kind == values::BreakpointKind::Logical;
    out["message"] = kept && !breakpoint.note.isEmpty() ? breakpoint.note.toStdString()
                                                        : "set when GDB is attached to the ranks";
  }
  return out;
}

const Breakpoint* BreakpointAnswers::findSame(const Breakpoint& wanted, bool logs,
                                              const Kept& kept) const {
  const auto& all = m_session.breakpoints().all();
  const auto found = std::find_if(all.begin(), all.end(), [&](const Breakpoint& each) {
    return each.file == wanted.file && each.line == wanted.line &&
           each.function == wanted.function && each.expression == wanted.expression &&
           m_logpoints.contains(each.id) == logs && !kept.contains(each.id);
  });
  return found != all.end() ? &*found : nullptr;
}

int BreakpointAnswers::change(const Breakpoint& there, const Breakpoint& wanted) {
  Breakpoint changed = there;
  changed.condition = wanted.condition;
  changed.ignoreCount = wanted.ignoreCount;
  changed.enabled = true;
  if (!(changed == there)) {
    m_session.breakpoints().change(changed);
  }
  return changed.id;
}

/// The session's breakpoint for `wanted`: the one that is there, changed, or a new one.
Json BreakpointAnswers::place(Breakpoint wanted, const std::string& logMessage, Kept& kept) {
  const Breakpoint* there = findSame(wanted, !logMessage.empty(), kept);
  const int id = there != nullptr ? change(*there, wanted)
                                  : m_session.breakpoints().addTransient(std::move(wanted));
  if (!logMessage.empty()) {
    m_logpoints.set(id, logMessage);
  }
  kept.insert(id);
  for (const Breakpoint& each : m_session.breakpoints().all()) {
    if (each.id == id) {
      return m_told[id] = breakpointJson(each);
    }
  }
  return unverified("it could not be kept");
}

void BreakpointAnswers::removeOthers(const std::function<bool(const Breakpoint&)>& belongs,
                                     const Kept& kept) {
  QList<int> leave;
  for (const Breakpoint& each : m_session.breakpoints().all()) {
    if (belongs(each) && !kept.contains(each.id)) {
      leave << each.id;
      m_logpoints.remove(each.id);
      m_told.erase(each.id);
    }
  }
  m_session.breakpoints().remove(leave);
}

Result<Breakpoint> BreakpointAnswers::lineBreakpoint(const Json& wanted,
                                                     const QString& file) const {
  const Result<int> ignored = ignoreCountOf(word(wanted, "hitCondition"));
  const int line = m_client.format().lineFromClient(number(wanted, "line", -1));
  if (!ignored) {
    return ignored.error();
  }
  if (line < 1) {
    return refused("a line is missing");
  }
  Breakpoint breakpoint;
  breakpoint.file = file;
  breakpoint.line = line;
  breakpoint.condition = QString::fromStdString(word(wanted, "condition"));
  breakpoint.ignoreCount = *ignored;
  return breakpoint;
}

void BreakpointAnswers::setBreakpoints(const Request& request) {
  const QString file = m_client.format().sourcePath(request.arguments);
  if (file.isEmpty()) {
    m_client.fail(request, "'setBreakpoints' needs source.path");
    return;
  }
  Kept kept;
  Json out = Json::array();
  for (const Json& each : wantedLines(request.arguments)) {
    Result<Breakpoint> wanted = lineBreakpoint(each, file);
    out.push_back(wanted ? place(std::move(*wanted), word(each, "logMessage"), kept)
                         : unverified(wanted.error().text()));
  }
  removeOthers([&file](const Breakpoint& each) { return each.file == file; }, kept);
  m_client.succeed(request, breakpointsBody(std::move(out)));
}

Result<Breakpoint> BreakpointAnswers::eventBreakpoint(const std::string& name,
                                                      const EventRef& event) const {
  if (!exists(m_session.trace()->execution.ranks, event)) {
    return refused(m_session.source() == session::Source::Recording
                       ? "the recording has no event " + name
                       : "events are counted in recordings only");
  }
  Breakpoint breakpoint;
  breakpoint.kind = values::BreakpointKind::Logical;
  breakpoint.expression = QStringLiteral("event ") + QString::fromStdString(name);
  return breakpoint;
}

Result<Breakpoint> BreakpointAnswers::functionBreakpoint(const Json& wanted) const {
  const std::string name = word(wanted, "name");
  const Result<int> ignored = ignoreCountOf(word(wanted, "hitCondition"));
  if (!ignored) {
    return ignored.error();
  }
  if (name.empty()) {
    return refused("a name is missing");
  }
  if (const std::optional<EventRef> event = parseEventRef(name)) {
    return eventBreakpoint(name, *event);
  }
  if (name == "main" && m_session.source() == session::Source::Recording) {
    if (!word(wanted, "condition").empty() || *ignored != 0) {
      return refused(
          "main has begun where a replay can stop first, behind MPI_Init: it takes no condition");
    }
    return session::parseBreakpoint(QStringLiteral("main"));
  }
  Breakpoint breakpoint;
  breakpoint.function = QString::fromStdString(name);
  breakpoint.condition = QString::fromStdString(word(wanted, "condition"));
  breakpoint.ignoreCount = *ignored;
  return breakpoint;
}

void BreakpointAnswers::setFunctionBreakpoints(const Request& request) {
  Kept kept;
  Json out = Json::array();
  for (const Json& each : request.arguments.value("breakpoints", Json::array())) {
    Result<Breakpoint> wanted = functionBreakpoint(each);
    out.push_back(wanted ? place(std::move(*wanted), {}, kept) : unverified(wanted.error().text()));
  }
  removeOthers(
      [](const Breakpoint& each) {
        return !each.function.isEmpty() || each.event.valid() ||
               each.expression == QLatin1String(kStartOfMain);
      },
      kept);
  m_client.succeed(request, breakpointsBody(std::move(out)));
}

void BreakpointAnswers::setExceptionBreakpoints(const Request& request) {
  const Json filters = request.arguments.value("filters", Json::array());
  const bool wanted = filters.is_array() &&
                      std::find(filters.begin(), filters.end(), kMpiErrorFilter) != filters.end();
  const int there = mpiErrorBreakpoint();
  if (!wanted && there != 0) {
    m_session.breakpoints().remove({there});
    m_told.erase(there);
  } else if (wanted && there == 0) {
    Breakpoint breakpoint;
    breakpoint.kind = values::BreakpointKind::Catch;
    breakpoint.expression = QStringLiteral("mpi error");
    Kept kept;
    place(std::move(breakpoint), {}, kept);
  }
  m_client.succeed(request);
}

/// 0: it is not set.
int BreakpointAnswers::mpiErrorBreakpoint() const {
  const auto& all = m_session.breakpoints().all();
  const auto found = std::find_if(all.begin(), all.end(), [](const Breakpoint& each) {
    return each.kind == values::BreakpointKind::Catch;
  });
  return found != all.end() ? found->id : 0;
}

bool BreakpointAnswers::isMpiError(int breakpoint) const {
  return breakpoint != 0 && breakpoint == mpiErrorBreakpoint();
}

void BreakpointAnswers::tellChanged() {
  for (const Breakpoint& breakpoint : m_session.breakpoints().all()) {
    const auto told = m_told.find(breakpoint.id);
    if (told == m_told.end()) {
      continue;  // the response tells of it
    }
    Json now = breakpointJson(breakpoint);
    if (now != told->second) {
      told->second = now;
      m_client.tell("breakpoint", {{"reason", "changed"}, {"breakpoint", std::move(now)}});
    }
  }
}

}  // namespace pf::headless

#include "moc_dap_breakpoints.cpp"
