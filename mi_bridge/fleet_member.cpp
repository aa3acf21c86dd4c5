// SPDX-License-Identifier: GPL-3.0-or-later
#include "mi_bridge/fleet_member.h"

#include <utility>

#include "mi_bridge/gdb_command.h"
#include "mi_bridge/logpoint.h"

namespace pf::mi {
namespace {

BreakpointRequest requestOf(const BreakpointSpec& spec) {
  BreakpointRequest request;
  request.source = spec.source;
  request.line = spec.line;
  request.function = spec.function;
  request.condition = spec.condition;
  request.ignoreCount = spec.ignoreCount;
  request.temporary = spec.temporary;
  request.addressExpression = spec.expression;
  request.enabled = spec.enabled;
  return request;
}

}  // namespace

int Fleet::Member::specOf(int gdbNumber) const {
  for (const auto& [spec, status] : m_status) {
    if (gdbNumber > 0 && status.gdbNumber == gdbNumber) {
      return spec;
    }
  }
  return 0;
}

BreakpointStatus Fleet::Member::status(int spec) const {
  const auto found = m_status.find(spec);
  if (found != m_status.end()) {
    return found->second;
  }
  BreakpointStatus none;
  none.spec = spec;
  none.rank = m_rank;
  return none;
}

void Fleet::Member::startAndAttach(pid_t pid, Done done) {
  m_session.start([this, pid, done = std::move(done)](const Status& started) {
    if (!started) {
      done(started);
    } else if (m_fleet.m_mayCall) {
      attach(pid, done);
    } else {
      m_session.forbidCalls([this, pid, done](const Status& forbidden) {
        forbidden ? attach(pid, done) : done(forbidden);
      });
    }
  });
}

void Fleet::Member::attach(pid_t pid, Done done) {
  if (!m_fleet.m_noWatchpoints.empty()) {
    m_session.queue().push({"-gdb-set can-use-hw-watchpoints 0", CommandFlag::None, {}});
  }
  m_session.attach(pid, [this, done = std::move(done)](const Status& attached) {
    if (!attached) {
      done(attached);
    } else {
      insertAll(done);
    }
  });
}

/// Counts of hits and of those to pass over begin anew: by making the breakpoints anew. Those of the console's do not come
/// back, as another GDB would not have them.
void Fleet::Member::reattach(pid_t pid, Done done) {
  m_status.clear();
  m_session.breakpoints().removeAll();
  attach(pid, std::move(done));
}

/// A spec that cannot be inserted is reported as a status; it does not fail the attach.
void Fleet::Member::insertAll(Done done) {
  if (m_session.runsPython()) {
    m_session.breakpoints().findPython([](const Result<PythonTeller>&) {});
  }
  std::vector<BreakpointSpec> specs;
  for (const auto& [id, spec] : m_fleet.m_specs) {
    if (spec.appliesTo(m_rank) && status(id).gdbNumber == 0) {
      specs.push_back(spec);
    }
  }
  if (specs.empty()) {
    done({});
    return;
  }
  const auto left = std::make_shared<std::size_t>(specs.size());
  for (const BreakpointSpec& spec : specs) {
    insert(spec, [left, done](const Status&) {
      if (--*left == 0) {
        done({});
      }
    });
  }
}

void Fleet::Member::insert(const BreakpointSpec& spec, Done done) {
  ++m_inserting;
  insertKind(spec, [this, spec, done = std::move(done)](const Result<Breakpoint>& bp) {
    --m_inserting;
    inserted(spec.id, bp);
    if (bp && status(spec.id).gdbNumber == bp->number) {
      finishInsert(spec, *bp);
    }
    if (done) {
      done(bp ? Status() : Status(bp.error()));
    }
  });
}

namespace {

bool isWatch(SpecKind kind) {
  return kind == SpecKind::Watch || kind == SpecKind::ReadWatch || kind == SpecKind::AccessWatch;
}

}  // namespace

void Fleet::Member::insertWatch(const BreakpointSpec& spec, Callback<Breakpoint> done) {
  if (!m_fleet.m_noWatchpoints.empty()) {
    done(Error{ErrorCode::System, m_fleet.m_noWatchpoints, {}});
    return;
  }
  const WatchKind kind = spec.kind == SpecKind::ReadWatch     ? WatchKind::Read
                         : spec.kind == SpecKind::AccessWatch ? WatchKind::Access
                                                              : WatchKind::Write;
  const auto insert = [this, expression = spec.expression, kind,
                       done = std::move(done)](const Status& there) {
    if (there) {
      m_session.breakpoints().watch(expression, kind, done);
    } else {
      done(there.error());
    }
  };
  if (m_session.state() == SessionState::Stopped) {
    m_session.inspect().watchable(spec.expression, insert);
  } else {
    insert({});
  }
}

void Fleet::Member::insertKind(const BreakpointSpec& spec, Callback<Breakpoint> done) {
  GdbBreakpoints& breakpoints = m_session.breakpoints();
  if (isWatch(spec.kind)) {
    insertWatch(spec, std::move(done));
    return;
  }
  if (spec.kind == SpecKind::Catch) {
    breakpoints.catchpoint(spec.expression, std::move(done));
    return;
  }
  if (isPythonSource(spec.source) && !spec.condition.empty() && !m_fleet.m_mayCall) {
    done(Error{ErrorCode::Usage, "the condition of a line of Python may call the program",
               "take the condition away, or allow the console, with which it may"});
    return;
  }
  if (spec.log.empty()) {
    breakpoints.insert(requestOf(spec), std::move(done));
  } else {
    insertLog(spec, std::move(done));
  }
}

void Fleet::Member::insertLog(const BreakpointSpec& spec, Callback<Breakpoint> done) {
  if (const Status can = canLogIn(spec.source); !can) {
    done(can.error());
    return;
  }
  auto parts = parseLog(spec.log);
  if (!parts) {
    done(parts.error());
    return;
  }
  LogpointRequest request{spec.id,         spec.source,    spec.line,        spec.function,
                          spec.expression, spec.condition, spec.ignoreCount, std::move(*parts)};
  const auto insert = [this, request, done] {
    m_session.breakpoints().insertByConsole(logpointCommand(request), done);
  };
  if (m_canLog) {
    insert();
    return;
  }
  const auto quoted = quote(logpointSetup());
  m_session.queue().push(
      {"-interpreter-exec console " + *quoted, CommandFlag::None,
       [this, insert, done](const Result<ResultRecord>& reply) {
         m_canLog = reply.ok();
         if (m_canLog) {
           insert();
         } else {
           done(Error{ErrorCode::Peer, "logpoints need a GDB with Python: " + reply.error().message,
                      "take the log away and use a breakpoint with commands"});
         }
       }});
}

/// What the command that made it did not say.
void Fleet::Member::finishInsert(const BreakpointSpec& spec, const Breakpoint& breakpoint) {
  Done failed = [this, id = spec.id](const Status& done) {
    if (!done) {
      BreakpointStatus now = status(id);
      now.problem = done.error().message;
      report(now);
    }
  };
  GdbBreakpoints& breakpoints = m_session.breakpoints();
  const bool plain = spec.kind == SpecKind::Code && spec.log.empty();
  if (!plain && spec.log.empty() && !spec.condition.empty()) {
    breakpoints.setCondition(breakpoint.number, spec.condition, failed);
  }
  if (!plain && spec.log.empty() && spec.ignoreCount > 0) {
    breakpoints.setIgnoreCount(breakpoint.number, spec.ignoreCount, failed);
  }
  if (!plain && !spec.enabled) {
    breakpoints.enable(breakpoint.number, false, failed);
  }
  if (!spec.commands.empty()) {
    breakpoints.setCommands(breakpoint.number, spec.commands, failed);
  }
}

/// An expression with locals can be watched only where they are: at the first stop that knows them.
void Fleet::Member::retryWatches() {
  for (const auto& [id, spec] : m_fleet.m_specs) {
    if (isWatch(spec.kind) && spec.enabled && spec.appliesTo(m_rank) && status(id).gdbNumber == 0) {
      insert(spec, {});
    }
  }
}

void Fleet::Member::inserted(int spec, const Result<Breakpoint>& breakpoint) {
  if (m_fleet.m_specs.count(spec) == 0) {
    if (breakpoint) {
      m_session.breakpoints().remove(breakpoint->number, {});  // removed while it was on its way
    }
    return;
  }
  BreakpointStatus now = status(spec);
  if (breakpoint) {
    fill(now, *breakpoint);
  } else {
    now.problem = breakpoint.error().message;
  }
  report(now);
}

void Fleet::Member::fill(BreakpointStatus& status, const Breakpoint& breakpoint) const {
  status.gdbNumber = breakpoint.number;
  status.verified = breakpoint.pending.empty();
  status.hits = breakpoint.hits;
  status.fullname = breakpoint.fullname;
  status.line = breakpoint.line;
  status.problem = status.verified ? "" : "no code is known for it yet";
}

void Fleet::Member::report(const BreakpointStatus& status) {
  m_status[status.spec] = status;
  if (m_live) {
    m_fleet.m_observer.onBreakpointStatus(status);
  }
}

void Fleet::Member::change(const BreakpointSpec& before, const BreakpointSpec& spec) {
  const int number = status(spec.id).gdbNumber;
  const bool samePlace = before.source == spec.source && before.line == spec.line &&
                         before.function == spec.function && before.temporary == spec.temporary &&
                         before.kind == spec.kind && before.expression == spec.expression &&
                         before.commands == spec.commands && before.log == spec.log;
  const bool logs = !spec.log.empty() &&
                    (before.condition != spec.condition || before.ignoreCount != spec.ignoreCount);
  const bool told = isPythonSource(spec.source) && before.condition != spec.condition;
  const SessionState state = m_session.state();
  if (state != SessionState::Stopped && state != SessionState::Running) {
    return;  // it will be inserted when the rank is attached
  }
  if (!spec.appliesTo(m_rank)) {
    erase(spec.id);
    return;
  }
  if (number == 0 || !samePlace || logs || told) {
    erase(spec.id);
    insert(spec, {});
    return;
  }
  Done failed = [this, id = spec.id](const Status& changed) {
    if (!changed) {
      BreakpointStatus now = status(id);
      now.problem = changed.error().message;
      report(now);
    }
  };
  GdbBreakpoints& breakpoints = m_session.breakpoints();
  if (before.condition != spec.condition) {
    breakpoints.setCondition(number, spec.condition, failed);
  }
  if (before.ignoreCount != spec.ignoreCount) {
    breakpoints.setIgnoreCount(number, spec.ignoreCount, failed);
  }
  if (before.enabled != spec.enabled) {
    breakpoints.enable(number, spec.enabled, failed);
  }
}

void Fleet::Member::erase(int spec) {
  const int number = status(spec).gdbNumber;
  m_status.erase(spec);
  if (number > 0) {
    m_session.breakpoints().remove(number, {});
  }
}

void Fleet::Member::onBreakpointChanged(BreakpointChange change, const Breakpoint& breakpoint) {
  if (!m_live) {
    return;
  }
  const int spec = specOf(breakpoint.number);
  if (spec == 0) {
    const bool ours = change == BreakpointChange::Created && m_inserting > 0;
    if (!ours) {
      m_fleet.m_observer.onForeignBreakpoint(m_rank, change, breakpoint);
    }
    return;
  }
  BreakpointStatus now = status(spec);
  if (change == BreakpointChange::Deleted) {
    now.gdbNumber = 0;
    now.verified = false;
    now.hits = breakpoint.hits;
    now.problem = breakpoint.temporary ? "temporary, and it was hit" : "deleted in GDB's console";
  } else {
    fill(now, breakpoint);
  }
  report(now);
}

void Fleet::Member::onState(SessionState state) {
  if (m_live) {
    m_fleet.m_observer.onRankState(m_rank, state);
  }
}

void Fleet::Member::onStopped(const StopEvent& stop) {
  if (m_live) {
    m_fleet.m_observer.onRankStopped(m_rank, stop);
    if (!stop.exited()) {
      if (stop.reason != StopReason::WatchpointScope && stop.reason != StopReason::Attached) {
        retryWatches();
      }
      if (m_fleet.m_frame.python ==
          0) {  // else it is not there any more: what is looked at is said anew
        m_fleet.evaluateWatches(m_rank);
      }
    }
  }
}

void Fleet::Member::onConsole(StreamKind kind, std::string_view text) {
  if (kind == StreamKind::Console && (!m_line.empty() || text.rfind("@pf-log ", 0) == 0)) {
    m_line += text;
    if (m_line.back() != '\n') {
      return;
    }
    const auto line = logLineOf(std::exchange(m_line, {}));
    if (line && m_live) {
      m_fleet.m_observer.onRankLog(m_rank, line->id, line->serial, line->text);
    }
    return;
  }
  if (m_live) {
    m_fleet.m_observer.onRankConsole(m_rank, kind, text);
  }
}

void Fleet::Member::onLost(const std::string& text) {
  for (auto& [spec, status] : m_status) {
    status.gdbNumber = 0;
    status.verified = false;
  }
  if (m_live) {
    m_fleet.m_observer.onRankLost(m_rank, text);
  }
}

void Fleet::Member::onEscalate(Escalation escalation) {
  if (m_live) {
    m_fleet.m_observer.onRankEscalate(m_rank, escalation);
  }
}

void Fleet::Member::onToolAction(ToolAction action, std::string_view line) {
  if (m_live) {
    m_fleet.m_observer.onRankToolAction(m_rank, action, line);
  }
}

void Fleet::Member::onSlow(const std::string& command, bool givenUp) {
  if (m_live) {
    m_fleet.m_observer.onRankSlow(m_rank, command, givenUp);
  }
}

void Fleet::Member::onValuesChanged() {
  if (m_live) {
    m_fleet.m_observer.onRankValuesChanged(m_rank);
    m_fleet.evaluateWatches(m_rank);
  }
}

}  // namespace pf::mi
