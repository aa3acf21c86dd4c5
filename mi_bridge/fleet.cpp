// SPDX-License-Identifier: GPL-3.0-or-later
#include "mi_bridge/fleet.h"

#include <utility>

#include "mi_bridge/fleet_member.h"

namespace pf::mi {
namespace {

Error noGdb(Rank rank) {
  return {ErrorCode::NotFound, "rank " + std::to_string(rank) + " has no GDB",
          "add the rank to the focus set first"};
}

}  // namespace

std::string GroupResult::summary() const {
  std::string text =
      action + ": " + std::to_string(done.size()) + " of " + std::to_string(asked) + " ranks";
  for (const RankFailure& failure : failed) {
    text += "; rank " + std::to_string(failure.rank) + ": " + failure.error.message;
  }
  return text;
}

Fleet::Fleet(FleetObserver& observer) : m_observer(observer) {}

Fleet::~Fleet() {
  for (const auto& [rank, member] : m_members) {
    member->retire();
  }
}

GdbSession& Fleet::add(Rank rank, std::unique_ptr<Transport> transport) {
  remove(rank);
  auto member = std::make_unique<Member>(*this, rank, std::move(transport));
  GdbSession& session = member->session();
  session.tick(m_now);
  m_members[rank] = std::move(member);
  return session;
}

void Fleet::remove(Rank rank) {
  const auto found = m_members.find(rank);
  if (found == m_members.end()) {
    return;
  }
  std::unique_ptr<Member> member = std::move(found->second);
  m_members.erase(found);
  member->retire();
  member->session().closed("the debugger has let go of it");
  m_retired.push_back(std::move(member));  // we may be inside one of its callbacks
}

GdbSession* Fleet::session(Rank rank) {
  const auto found = m_members.find(rank);
  return found == m_members.end() ? nullptr : &found->second->session();
}

std::vector<Rank> Fleet::ranks() const {
  std::vector<Rank> all;
  for (const auto& [rank, member] : m_members) {
    all.push_back(rank);
  }
  return all;
}

void Fleet::startAndAttach(Rank rank, pid_t pid, Done done) {
  const auto found = m_members.find(rank);
  if (found == m_members.end()) {
    done(noGdb(rank));
  } else {
    found->second->startAndAttach(pid, std::move(done));
  }
}

void Fleet::abandon(Rank rank, Done done) {
  if (GdbSession* const session = this->session(rank)) {
    session->abandon(std::move(done));
  } else {
    done(noGdb(rank));
  }
}

void Fleet::reattach(Rank rank, pid_t pid, Done done) {
  const auto found = m_members.find(rank);
  if (found == m_members.end()) {
    done(noGdb(rank));
  } else {
    found->second->reattach(pid, std::move(done));
  }
}

void Fleet::feed(Rank rank, std::string_view bytes) {
  if (GdbSession* const session = this->session(rank)) {
    session->feed(bytes);
  }
}

std::string Fleet::closed(Rank rank, const std::string& reason) {
  GdbSession* const session = this->session(rank);
  return session != nullptr ? session->closed(reason) : reason;
}

/// Called from the event loop, never from a callback: what was retired can go.
void Fleet::tick(TimePoint now) {
  m_retired.clear();
  m_now = now;
  forEach([now](Member& member) { member.session().tick(now); });
}

/// Callbacks may add and remove members meanwhile.
void Fleet::forEach(const std::function<void(Member&)>& visit) {
  for (const Rank rank : ranks()) {
    const auto found = m_members.find(rank);
    if (found != m_members.end()) {
      visit(*found->second);
    }
  }
}

void Fleet::group(std::string action, const std::vector<Rank>& ranks, const Act& act,
                  GroupDone done) {
  const auto result = std::make_shared<GroupResult>();
  result->action = std::move(action);
  result->asked = ranks.size();
  const auto answered = [this, result, done](Rank rank, const Status& status) {
    if (status) {
      result->done.push_back(rank);
    } else {
      result->failed.push_back({rank, status.error()});
    }
    m_observer.onGroupProgress(*result);
    if (done && result->complete()) {
      done(*result);
    }
  };
  if (ranks.empty() && done) {
    done(*result);
  }
  for (const Rank rank : ranks) {
    if (GdbSession* const session = this->session(rank)) {
      act(*session, [answered, rank](const Status& status) { answered(rank, status); });
    } else {
      answered(rank, noGdb(rank));
    }
  }
}

void Fleet::run(const std::vector<Rank>& ranks, const RunCommand& command, GroupDone done) {
  group(
      std::string(toString(command.kind)), ranks,
      [command](GdbSession& session, Done answered) { session.run(command, std::move(answered)); },
      std::move(done));
}

void Fleet::pause(const std::vector<Rank>& ranks, GroupDone done) {
  group(
      "pause", ranks,
      [](GdbSession& session, Done answered) { session.pause(std::move(answered)); },
      std::move(done));
}

void Fleet::detach(const std::vector<Rank>& ranks, GroupDone done) {
  group(
      "detach", ranks,
      [](GdbSession& session, Done answered) { session.detach(std::move(answered)); },
      std::move(done));
}

int Fleet::addBreakpoint(BreakpointSpec spec) {
  spec.id = ++m_lastSpec;
  m_specs[spec.id] = spec;
  forEach([&spec](Member& member) { member.change(spec, spec); });
  return spec.id;
}

Status Fleet::changeBreakpoint(const BreakpointSpec& spec) {
  const auto found = m_specs.find(spec.id);
  if (found == m_specs.end()) {
    return Error{ErrorCode::NotFound, "there is no breakpoint " + std::to_string(spec.id), {}};
  }
  const BreakpointSpec before = std::exchange(found->second, spec);
  forEach([&before, &spec](Member& member) { member.change(before, spec); });
  return {};
}

void Fleet::removeBreakpoint(int id) {
  m_specs.erase(id);
  forEach([id](Member& member) { member.erase(id); });
}

std::vector<BreakpointSpec> Fleet::breakpoints() const {
  std::vector<BreakpointSpec> all;
  for (const auto& [id, spec] : m_specs) {
    all.push_back(spec);
  }
  return all;
}

BreakpointStatus Fleet::status(int id, Rank rank) const {
  const auto found = m_members.find(rank);
  if (found != m_members.end()) {
    return found->second->status(id);
  }
  BreakpointStatus none;
  none.spec = id;
  none.rank = rank;
  return none;
}

int Fleet::specOf(Rank rank, int gdbNumber) const {
  const auto found = m_members.find(rank);
  return found == m_members.end() ? 0 : found->second->specOf(gdbNumber);
}

int Fleet::addWatch(std::string expression) {
  m_watches[++m_lastWatch] = std::move(expression);
  refreshWatches();
  return m_lastWatch;
}

void Fleet::removeWatch(int id) {
  m_watches.erase(id);
}

void Fleet::focus(Rank rank, FrameRef frame) {
  m_focus = rank;
  m_frame = frame;
  refreshWatches();
}

void Fleet::refreshWatches() {
  evaluateWatches(m_focus);
}

void Fleet::evaluateWatches(Rank rank) {
  GdbSession* const session = this->session(rank);
  if (rank != m_focus || session == nullptr || session->state() != SessionState::Stopped) {
    return;
  }
  const FrameRef frame{session->stop().thread, m_frame.level, m_frame.python};
  const auto watches = m_watches;  // an observer may change them
  for (const auto& [id, expression] : watches) {
    WatchValue asked;
    asked.watch = id;
    asked.rank = rank;
    asked.expression = expression;
    asked.python = frame.python != 0;
    if (asked.python) {
      session->inspect().createVar(
          frame, expression, [this, asked](const Result<VarObject>& value) {
            WatchValue out = asked;
            out.parts = value && value->expandable();
            tellWatch(std::move(out), value ? Result<std::string>(value->value) : value.error());
          });
    } else {
      session->inspect().evaluate(
          frame, expression,
          [this, asked](const Result<std::string>& value) { tellWatch(asked, value); });
    }
  }
}

void Fleet::tellWatch(WatchValue watch, const Result<std::string>& value) {
  const GdbSession* const now = session(watch.rank);
  const bool gone = now == nullptr || now->state() != SessionState::Stopped;
  if (m_watches.count(watch.watch) != 0 && (value || !gone)) {
    watch.ok = value.ok();
    watch.text = value ? *value : value.error().message;
    m_observer.onWatch(watch);
  }
}

}  // namespace pf::mi
