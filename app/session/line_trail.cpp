// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/session/line_trail.h"

#include <string>
#include <string_view>
#include <utility>

namespace pf::session {
namespace {

constexpr std::size_t kMostSteps = 1000;  ///< each is taken again on the way back

std::string_view baseName(std::string_view file) {
  return file.substr(file.rfind('/') + 1);
}

bool isStep(const mi::RunCommand& command) {
  using mi::RunKind;
  const bool whole = command.kind == RunKind::Step || command.kind == RunKind::Next ||
                     (command.kind == RunKind::Finish && command.frameLevel == 0);
  return whole && command.python == 0 && !command.onlyThread;
}

}  // namespace

LinePlace placeOf(const mi::StopEvent& stop) {
  return {stop.frame.function, stop.frame.file, stop.frame.line, 0, stop.frame.address};
}

void askDepth(mi::GdbSession& gdb, int thread, std::function<void(int depth)> then) {
  gdb.queue().push({"-stack-info-depth --thread " + std::to_string(thread), mi::CommandFlag::None,
                    [then = std::move(then)](const Result<mi::ResultRecord>& reply) {
                      then(reply ? reply->results.toInt32Or(0, "depth") : 0);
                    }});
}

void LineTrail::isAt(KnownLines lines) {
  forget();
  m_lines = std::move(lines);
}

void LineTrail::forget() {
  m_asked.drop();
  m_lines.reset();
  m_stepped.reset();
  m_left = 0;
  m_ends = false;
}

void LineTrail::begins(const mi::RunCommand& command) {
  const int rank = m_state.current;
  const mi::GdbSession* gdb = m_state.stoppedDebugger(rank);
  if (gdb == nullptr || !isStep(command) ||
      (command.thread != 0 && command.thread != gdb->stop().thread)) {
    forget();
    return;
  }
  if (m_state.standsBeforeEvent(rank)) {
    forget();
    if (command.kind == mi::RunKind::Finish) {
      return;  // out of the program's frame: that is not told apart from the call's
    }
    m_lines = KnownLines{rank, m_state.serialOf(rank) + 1, {}, {}, {}, {}};
    m_lines->walk.beginsBeforeEvent();
  } else {
    const KnownLines* lines = of(rank);
    if (lines == nullptr || m_ends || lines->walk.size() >= kMostSteps) {
      forget();
      return;
    }
  }
  m_lines->walk.goesOnBy(command.kind);
  m_stepped = gdb->stop().thread;
}

void LineTrail::goesOn(int rank) {
  if (m_lines && m_lines->rank == rank && !m_stepped) {
    forget();
  }
}

void LineTrail::stopped(int rank, const mi::StopEvent& stop) {
  if (!m_lines || m_lines->rank != rank) {
    return;
  }
  const std::optional<int> stepped = std::exchange(m_stepped, std::nullopt);
  mi::GdbSession* gdb = m_state.debugger(rank);
  const bool asExpected =
      stop.reason == mi::StopReason::Step || stop.reason == mi::StopReason::Finished;
  if (!stepped || !asExpected || stop.thread != *stepped || gdb == nullptr) {
    forget();
    return;
  }
  const std::size_t place = m_left + m_lines->walk.size();
  m_lines->walk.came(placeOf(stop));
  askDepth(*gdb, stop.thread, [this, place, asked = m_asked.guard()](int depth) {
    if (asked && place > m_left) {
      depth > 0 ? m_lines->walk.isDeep(place - m_left, depth) : forget();
    }
  });
}

const KnownLines* LineTrail::of(int rank) {
  if (!m_lines || m_lines->rank != rank || m_stepped) {
    return nullptr;
  }
  passEvents();
  return m_lines ? &*m_lines : nullptr;
}

/// The last step may have led past events: then what lies before the last of them is of no use any more.
void LineTrail::passEvents() {
  const Serial now = m_state.serialOf(m_lines->rank);
  if (now == m_lines->event) {
    return;
  }
  if (m_lines->walk.size() < 2) {
    forget();
    return;
  }
  const LineWalk& walk = m_lines->walk;
  const std::size_t from = walk.size() - 2;
  const mi::RunKind by = walk.onwards(from);
  KnownLines lines{m_lines->rank, now, {}, {}, {}, {}};
  lines.walk.beginsBeforeEvent();
  lines.walk.goesOnBy(by);
  lines.walk.came(walk.last());
  // Who steps over a function stands behind it; who leaves the event in it stands in it.
  m_ends = by == mi::RunKind::Finish || (by == mi::RunKind::Next && !calls(walk.place(from), now));
  m_left += from;
  m_lines = std::move(lines);
}

/// Whether the call of the event is one of this line itself.
bool LineTrail::calls(const LinePlace& place, Serial event) const {
  const Execution& execution = m_state.whole().execution;
  const auto& events = execution.ranks[static_cast<std::size_t>(m_lines->rank)].events;
  if (event == 0 || event > events.size() || events[event - 1].site >= execution.sites.size()) {
    return false;
  }
  const CallSite& site = execution.sites[events[event - 1].site];
  return site.line == place.line && site.function == place.function &&
         baseName(site.file) == baseName(place.file);
}

}  // namespace pf::session
