// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/session/line_search.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "app/session/state/frame_values.h"
#include "replay_engine/causality/cut_check.h"

namespace pf::session {
namespace {

constexpr int kCountOnly = 1000000000;
constexpr std::size_t kMostLines = 300;  ///< that are walked through from one place
constexpr int kMostLandmarks = 5;
constexpr std::chrono::seconds kPatience(40);  ///< to begin a cycle, to count, and for a step

QString notTheSame() {
  return LineSearch::tr("The replay does not come to this place again in the same way.");
}

QString lineOf(const std::string& file, int line) {
  return QStringLiteral("%1:%2").arg(toText(file).section(QLatin1Char('/'), -1)).arg(line);
}

}  // namespace

LineSearch::LineSearch(const Parts& parts, std::function<void(Goal)> startCycle)
    : m_state(parts.state),
      m_breakpoints(parts.breakpoints),
      m_control(parts.control),
      m_startCycle(std::move(startCycle)) {
  m_patience.setSingleShot(true);
  m_patience.setInterval(kPatience);
  connect(&m_patience, &QTimer::timeout, this, [this] {
    fail(tr("The lines before this place were not counted within %1 s: those of the rank come too "
            "often.")
             .arg(kPatience.count()));
  });
}

mi::GdbSession* LineSearch::gdb() const {
  return m_search ? m_state.stoppedDebugger(m_search->rank) : nullptr;
}

QString LineSearch::whyNot() const {
  const int rank = m_state.current;
  const auto now = m_state.now.find(rank);
  if (m_state.phase != session::Phase::Running || now == m_state.now.end()) {
    return tr("No replay runs that could go back by lines. Replay to an event first.");
  }
  if (m_state.debugger(rank) == nullptr) {
    return tr("Rank %1 has no debugger: tick it in the ranks' list to go back by lines.").arg(rank);
  }
  if (m_state.stoppedDebugger(rank) == nullptr) {
    return tr("Rank %1 runs: pause it to go back by lines.").arg(rank);
  }
  if (now->second.state.serial == 0 || now->second.state.phase == RankPhase::Finalized) {
    return tr("Rank %1 goes back by lines between MPI_Init and MPI_Finalize only.").arg(rank);
  }
  return {};
}

// -- where the rank is

void LineSearch::go(LineMove move) {
  if (const QString why = whyNot(); !why.isEmpty()) {
    Q_EMIT message(why, false);
    return;
  }
  cancel();
  const int rank = m_state.current;
  if (m_state.now.at(rank).inside()) {  // over calls of MPI by events
    if (Result<Goal> goal = Destinations(m_state).of(Move::PreviousEvent, {})) {
      m_startCycle(std::move(*goal));
    }
    return;
  }
  Search search;
  search.move = move;
  search.rank = rank;
  search.event = m_state.serialOf(rank);
  search.done = m_state.eventsDone();
  search.beforeEvent = m_state.standsBeforeEvent(rank);
  search.bySignal = m_state.stoppedDebugger(rank)->stop().reason == mi::StopReason::Signal;
  m_search = std::move(search);
  Q_EMIT progress(tr("Back by lines …"));
  look();
}

void LineSearch::look() {
  m_asked.begin();
  const int thread = gdb()->stop().thread;
  gdb()->inspect().frames(
      thread, 0, mi::kFramesToUser,
      [this, thread, asked = m_asked.guard()](const Result<std::vector<mi::Frame>>& frames) {
        if (!asked || gdb() == nullptr) {
          return;
        }
        if (!frames || frames->empty()) {
          fail(tr("GDB does not say where rank %1 is.").arg(m_search->rank));
          return;
        }
        gdb()->queue().push(
            {"-stack-info-depth --thread " + std::to_string(thread), mi::CommandFlag::None,
             [this, frames = *frames, asked](const Result<mi::ResultRecord>& reply) {
               if (asked && gdb() != nullptr) {
                 lookedAt(frames, reply ? reply->results.toInt32Or(0, "depth") : 0);
               }
             }});
      });
}

void LineSearch::lookedAt(const std::vector<mi::Frame>& frames, int depth) {
  const std::size_t user = mi::firstUserFrame(frames).value_or(0);
  const mi::Frame& frame = frames[user];
  if (frame.python != 0 || frame.line <= 0 || depth == 0) {
    fail(frame.python != 0 ? tr("Lines of Python are not gone back by: Previous event goes back.")
                           : tr("No line of %1() is known (built without -g?): Previous event goes "
                                "back.")
                                 .arg(toText(frame.function)));
    return;
  }
  m_search->present = {frame.function, frame.file, frame.line, depth - static_cast<int>(user),
                       frame.address};
  if (!m_search->beforeEvent) {
    const auto code =
        codePlaceOf(memoryMaps(m_state.now[m_search->rank].pid), frames.front().address);
    if (!code) {
      fail(
          tr("The code at this place is of no file that can be looked at: Previous event goes "
             "back."));
      return;
    }
    m_search->marks.push_back({*code});
  }
  if (m_search->move != LineMove::Finish) {
    begin();
  } else if (user + 1 >= frames.size() || frame.function == "main" || frames[user + 1].line <= 0) {
    fail(tr("No line of the program called %1().").arg(toText(frame.function)));
  } else {
    lookForStart(frame);
  }
}

/// The function's begin is what is gone back to first.
void LineSearch::lookForStart(const mi::Frame& frame) {
  const std::string address = QStringLiteral("0x%1").arg(frame.address, 0, 16).toStdString();
  gdb()->inspect().instructions(
      mi::refOf(gdb()->stop().thread, frame), address,
      [this, asked = m_asked.guard()](const Result<std::vector<mi::Instruction>>& code) {
        if (!asked || gdb() == nullptr) {
          return;
        }
        const bool known =
            code && !code->empty() && !code->front().function.empty() && code->front().offset == 0;
        const auto start = known ? codePlaceOf(memoryMaps(m_state.now[m_search->rank].pid),
                                               std::stoull(code->front().address, nullptr, 16))
                                 : std::nullopt;
        if (!start) {
          fail(tr("Where %1() begins is not known.").arg(toText(m_search->present.function)));
          return;
        }
        m_search->marks.push_back({*start});
        begin();
      });
}

void LineSearch::begin() {
  if (useKnown()) {
    return;
  }
  if (!m_search->marks.empty()) {
    m_search->goal = m_search->marks.size() - 1;
  }
  if (m_search->marks.empty()) {
    startWalk({});
  } else if (m_search->beforeEvent || m_search->bySignal) {
    startCycle(Phase::ToCount);
  } else {
    setMarks({});
    quiet();
    goOnToNextEvent(Phase::Forward);
  }
}

/// The lines before the place that the last search went to are known: nothing need be counted.
bool LineSearch::useKnown() {
  const bool same = m_known && m_known->rank == m_search->rank && !m_search->beforeEvent &&
                    m_known->event == m_search->event && m_search->move != LineMove::Finish &&
                    m_known->places.back().isAt(m_search->present);
  if (!same) {
    return false;
  }
  const std::vector<Mark> asked = m_search->marks;
  std::vector<Place> before = m_known->places;
  before.pop_back();
  m_search->done = m_known->done;
  m_search->marks = m_known->marks;
  for (Mark& mark : m_search->marks) {
    mark.spec = 0;  // of that cycle
  }
  m_search->base = m_known->base;
  m_search->here = Aim{m_known->base.mark, m_known->base.hit, before.size()};
  if (const auto place = chosen(before)) {
    m_search->places = std::move(before);
    startAim(*place);
    return true;
  }
  if (!before.empty() || m_known->base.hit == 0) {
    m_search->here.reset();
    m_search->marks = asked;
    return false;
  }
  Mark mark = m_search->marks[m_known->base.mark];  // it stands at this time of it
  mark.number = m_known->base.hit;
  m_search->marks = {mark};
  m_search->goal = 0;
  m_search->here = Aim{0, mark.number, 0};
  startFromTimeBefore();
  return true;
}

// -- cycles

/// Event 1 is MPI_Init, behind which a cycle begins.
Goal LineSearch::beforeEvent() const {
  const Search& search = *m_search;
  std::vector<Serial> part = search.done;
  const Serial stop = std::max<Serial>(search.event, 2);
  part[static_cast<std::size_t>(search.rank)] = stop - 1;
  const QString text = tr("back by lines: rank %1 before its event %2").arg(search.rank).arg(stop);
  const RankHistory& history =
      m_state.whole().execution.ranks[static_cast<std::size_t>(search.rank)];
  if (stop > history.events.size()) {
    return {{}, text, {}, true};
  }
  return {
      {search.rank, stop}, text, consistentPart(m_state.whole().execution, std::move(part)), true};
}

Goal LineSearch::toNextEvent() const {
  const Search& search = *m_search;
  const RankHistory& history =
      m_state.whole().execution.ranks[static_cast<std::size_t>(search.rank)];
  const QString text = tr("counting the lines before");
  if (search.event >= history.events.size()) {
    return {{}, text, {}, true};
  }
  std::vector<Serial> cut = search.done;
  cut[static_cast<std::size_t>(search.rank)] = search.event;
  return {{search.rank, search.event + 1}, text, std::move(cut), true};
}

void LineSearch::startCycle(Phase phase) {
  dropMarks();
  m_control.letGo();
  m_breakpoints.giveToFleet();
  m_search->phase = phase;
  m_state.searching = m_search->event == 1;  // a snapshot behind MPI_Init is too late
  if (m_state.searching) {
    quiet();
  }
  m_patience.start();
  m_startCycle(beforeEvent());
}

void LineSearch::goOnToNextEvent(Phase phase) {
  m_search->phase = phase;
  m_patience.start();
  m_control.goOnTo(toNextEvent());
}

/// In the rank's GDB, which counts from now on. `stop`: the time of a mark at which it stops.
void LineSearch::setMarks(const Aim& stop) {
  const std::string maps = memoryMaps(m_state.now[m_search->rank].pid);
  for (std::size_t i = 0; i < m_search->marks.size(); ++i) {
    Mark& mark = m_search->marks[i];
    const auto address = addressOf(maps, mark.code);
    mi::BreakpointSpec spec;
    spec.expression = QStringLiteral("0x%1").arg(address.value_or(0), 0, 16).toStdString();
    spec.ranks = {m_search->rank};
    spec.ignoreCount = stop.hit > 0 && stop.mark == i ? stop.hit - 1 : kCountOnly;
    mark.spec = address ? m_state.fleet.addBreakpoint(spec) : 0;
  }
}

void LineSearch::dropMarks() {
  for (Mark& mark : m_search->marks) {
    if (const int spec = std::exchange(mark.spec, 0); spec != 0) {
      m_state.fleet.removeBreakpoint(spec);
    }
  }
}

/// No breakpoint of the user's stops.
void LineSearch::quiet() {
  for (mi::BreakpointSpec one : m_state.fleet.breakpoints()) {
    if (one.enabled && m_breakpoints.idOf(one.id) != 0) {
      one.enabled = false;
      (void)m_state.fleet.changeBreakpoint(one);
    }
  }
}

int LineSearch::timesOf(const Mark& mark) const {
  return m_state.fleet.status(mark.spec, m_search->rank).hits;
}

// -- on the way

bool LineSearch::holdsAtGate(int rank) const {
  const bool begins =
      m_search && (m_search->phase == Phase::ToCount || m_search->phase == Phase::ToWalk ||
                   m_search->phase == Phase::ToSurvey || m_search->phase == Phase::ToAim);
  return begins && m_search->event == 1 && m_search->rank == rank;
}

void LineSearch::atGate() {
  if (m_search && holdsAtGate(m_search->rank)) {
    m_search->leavesGate = true;
    atAnchor();
  }
}

bool LineSearch::cutCame() {
  if (!m_search) {
    return false;
  }
  const Phase phase = m_search->phase;
  if (phase == Phase::Forward || phase == Phase::Count) {
    endReached();
    return true;
  }
  if (phase == Phase::Survey) {  // before event S + 1
    surveyed();
    return true;
  }
  if (phase != Phase::ToCount && phase != Phase::ToWalk && phase != Phase::ToAim &&
      phase != Phase::ToSurvey) {
    return true;
  }
  if (gdb() == nullptr) {
    fail(tr("Rank %1 has no debugger any more.").arg(m_search->rank));
    return true;
  }
  return atAnchor();
}

/// The rank stands before event S. False: that was the aim.
bool LineSearch::atAnchor() {
  const Phase phase = m_search->phase;
  if (phase == Phase::ToCount) {
    quiet();
    setMarks({});
    m_search->leavesGate = false;
    goOnToNextEvent(Phase::Count);
    return true;
  }
  if (phase == Phase::ToSurvey && m_search->goal) {
    const std::size_t goal = *m_search->goal;
    return leave({goal, m_search->marks[goal].number, 0}, Phase::Survey, Phase::Survey);
  }
  if (phase == Phase::ToSurvey) {
    quiet();
    setMarks({});
    m_search->leavesGate = false;
    goOnToNextEvent(Phase::Survey);
    return true;
  }
  return phase == Phase::ToWalk ? leave(m_search->base, Phase::WalkHit, Phase::Walk)
                                : leave(m_search->aim, Phase::AimHit, Phase::AimSteps);
}

/// From event S to `aim`. False: it is there.
bool LineSearch::leave(const Aim& aim, Phase hit, Phase steps) {
  m_search->stepsLeft = aim.steps;
  const bool gate = m_search->leavesGate;
  if (steps == Phase::AimSteps && aim.hit == 0 && aim.steps == 0 && !gate) {
    return arrive();
  }
  quiet();
  setMarks(aim);
  m_control.hold(m_search->rank, m_search->event + 1);
  m_patience.start();
  if (aim.hit > 0) {
    m_search->phase = hit;
    m_search->leavesGate = false;
    m_control.walk(m_search->rank, {});
    return true;
  }
  m_search->phase = steps;
  if (!gate && steps == Phase::Walk) {
    m_search->places.emplace_back();  // before event S
  }
  m_search->stepsLeft += gate ? 1 : 0;
  step();
  return true;
}

void LineSearch::step() {
  m_patience.start();
  if (std::exchange(m_search->leavesGate, false)) {
    stepOutOfGate();
    return;
  }
  mi::RunCommand command;
  command.kind = mi::RunKind::Step;
  m_control.walk(m_search->rank, command);
}

void LineSearch::stepOutOfGate() {
  m_asked.begin();
  gdb()->inspect().frames(
      gdb()->stop().thread, 0, mi::kFramesToUser,
      [this, asked = m_asked.guard()](const Result<std::vector<mi::Frame>>& frames) {
        if (!asked || gdb() == nullptr) {
          return;
        }
        const auto user = frames ? mi::firstUserFrame(*frames) : std::nullopt;
        if (!user || *user == 0) {
          fail(tr("Where MPI_Init was called is not known."));
          return;
        }
        mi::RunCommand command;
        command.kind = mi::RunKind::Finish;
        command.frameLevel = static_cast<int>(*user) - 1;
        m_control.walk(m_search->rank, command);
      });
}

bool LineSearch::takes(int rank, const mi::StopEvent& stop) {
  if (!m_search || rank != m_search->rank) {
    return false;
  }
  const Phase phase = m_search->phase;
  if (phase == Phase::WalkHit || phase == Phase::AimHit) {
    return hitCame(stop);
  }
  if (phase == Phase::Walk) {
    walked(stop);
    return true;
  }
  if (phase == Phase::Survey && stop.reason != mi::StopReason::Event) {
    surveyed();
    return true;
  }
  if (phase == Phase::AimSteps) {
    return stepped(stop);
  }
  const bool counts = phase == Phase::Forward || phase == Phase::Count;
  if (counts && stop.reason == mi::StopReason::Signal) {
    endReached();
    return true;
  }
  return false;
}

/// The rank is before its next event, has ended, or a signal has stopped it: all is counted.
void LineSearch::endReached() {
  m_patience.stop();
  keepTimes();
  counted();
}

void LineSearch::keepTimes() {
  for (Mark& mark : m_search->marks) {
    const int times = timesOf(mark);
    m_search->phase == Phase::Forward ? mark.after = times : mark.number = times - mark.after;
  }
}

void LineSearch::counted() {
  if (m_search->phase == Phase::Forward) {
    startCycle(Phase::ToCount);
    return;
  }
  if (!m_search->beforeEvent && m_search->marks.front().number > 0) {
    m_search->here = Aim{0, m_search->marks.front().number, 0};
  }
  if (m_search->marks[*m_search->goal].number > 0) {
    startFromTimeBefore();
  } else if (m_search->move == LineMove::Finish) {
    fail(tr("%1() was called before event %2 of rank %3: Previous event goes towards there.")
             .arg(toText(m_search->present.function))
             .arg(m_search->event)
             .arg(m_search->rank));
  } else {
    fail(notTheSame());
  }
}

void LineSearch::startWalk(const Aim& base) {
  m_search->base = base;
  m_search->places.clear();
  startCycle(Phase::ToWalk);
}

void LineSearch::startFromTimeBefore() {
  startWalk({*m_search->goal, m_search->marks[*m_search->goal].number - 1, 0});
}

/// Too many lines have been walked through: the last of them that may be gone back to is a landmark.
void LineSearch::startSurvey() {
  const std::vector<Place>& places = m_search->places;
  const std::size_t place = chosen(places).value_or(places.size() - 1);
  const auto code = codePlaceOf(memoryMaps(m_state.now[m_search->rank].pid), places[place].address);
  if (!code || ++m_search->landmarks > kMostLandmarks) {
    fail(tr("Too many lines lie between event %1 of rank %2 and this place, or between two times "
            "that it was here: Previous event goes back.")
             .arg(m_search->event)
             .arg(m_search->rank));
    return;
  }
  m_search->landmark = m_search->marks.size();
  m_search->marks.push_back({*code});
  startCycle(Phase::ToSurvey);
}

/// The rank is where the search began, and the landmark's last time is known.
void LineSearch::surveyed() {
  m_patience.stop();
  Mark& mark = m_search->marks[m_search->landmark];
  mark.number = timesOf(mark);
  if (mark.number == 0) {
    fail(notTheSame());
  } else {
    startWalk({m_search->landmark, mark.number, 0});
  }
}

/// At the time before.
bool LineSearch::hitCame(const mi::StopEvent& stop) {
  const bool aims = m_search->phase == Phase::AimHit;
  const Aim& aim = aims ? m_search->aim : m_search->base;
  const int spec = m_search->marks[aim.mark].spec;
  if (stop.breakpointNumber == 0 ||
      m_state.fleet.specOf(m_search->rank, stop.breakpointNumber) != spec) {
    fail(notTheSame());
    return true;
  }
  for (mi::BreakpointSpec one : m_state.fleet.breakpoints()) {
    if (one.id == spec) {
      one.ignoreCount = kCountOnly;
      (void)m_state.fleet.changeBreakpoint(one);
    }
  }
  if (!aims) {
    m_search->phase = Phase::Walk;
    withDepth(stop, [this](const Place& place) {
      m_search->places.push_back(place);
      step();
    });
    return true;
  }
  m_search->phase = Phase::AimSteps;
  if (m_search->stepsLeft == 0) {
    return arrive();
  }
  step();
  return true;
}

/// A line on the way to where the search began, or that place itself.
void LineSearch::walked(const mi::StopEvent& stop) {
  using mi::StopReason;
  const Mark* const goal = m_search->goal ? &m_search->marks[*m_search->goal] : nullptr;
  const bool there =
      goal == nullptr ? stop.reason == StopReason::Event : timesOf(*goal) >= goal->number;
  const bool signalled = m_search->bySignal && stop.reason == StopReason::Signal;
  if (there || signalled) {
    if (m_search->move != LineMove::Finish) {
      choose();
      return;
    }
    withDepth(stop, [this](const Place& place) {
      place.depth == m_search->present.depth
          ? choose()
          : fail(tr("%1() has called itself since it was called: which of its calls this is is "
                    "not known.")
                     .arg(toText(m_search->present.function)));
    });
    return;
  }
  const bool line = stop.reason == StopReason::Step || stop.reason == StopReason::Finished ||
                    stop.reason == StopReason::Breakpoint;
  if (!line) {
    fail(notTheSame());
  } else if (m_search->places.size() >= kMostLines) {
    startSurvey();
  } else {
    withDepth(stop, [this](const Place& place) {
      m_search->places.push_back(place);
      step();
    });
  }
}

/// Unless the search has ended meanwhile.
void LineSearch::withDepth(const mi::StopEvent& stop,
                           const std::function<void(const Place&)>& then) {
  m_asked.begin();
  Place place{stop.frame.function, stop.frame.file, stop.frame.line, 0, stop.frame.address};
  gdb()->queue().push(
      {"-stack-info-depth --thread " + std::to_string(stop.thread), mi::CommandFlag::None,
       [this, place, then, asked = m_asked.guard()](const Result<mi::ResultRecord>& reply) mutable {
         if (!asked || !m_search) {
           return;
         }
         place.depth = reply ? reply->results.toInt32Or(0, "depth") : 0;
         place.depth > 0 ? then(place) : fail(tr("GDB does not say how deep the stack is."));
       }});
}

/// Which of the places is the line before. Before event S is the last resort: a call of MPI lies on the way.
std::optional<std::size_t> LineSearch::chosen(const std::vector<Place>& places) const {
  for (std::size_t i = places.size(); i > 0; --i) {
    if (m_search->move != LineMove::Next || places[i - 1].depth <= m_search->present.depth) {
      return i - 1;
    }
  }
  return std::nullopt;
}

void LineSearch::choose() {
  if (const auto place = chosen(m_search->places)) {
    startAim(*place);
  } else if (m_search->base.hit > 0 && m_search->landmarks == 0) {
    startWalk({});
  } else {
    fail(tr("No line of the program lies before this place since event %1 of rank %2.")
             .arg(m_search->event)
             .arg(m_search->rank));
  }
}

void LineSearch::startAim(std::size_t place) {
  m_search->aim = m_search->base;
  m_search->aim.steps = place;
  m_search->places.resize(place + 1);
  m_search->wanted = m_search->places.back();
  startCycle(Phase::ToAim);
}

bool LineSearch::stepped(const mi::StopEvent& stop) {
  using mi::StopReason;
  if (stop.reason != StopReason::Step && stop.reason != StopReason::Finished &&
      stop.reason != StopReason::Breakpoint) {
    fail(notTheSame());
    return true;
  }
  if (--m_search->stepsLeft > 0) {
    step();
    return true;
  }
  const Place place{stop.frame.function, stop.frame.file, stop.frame.line, 0, stop.frame.address};
  if (!m_search->wanted.isAt(place)) {
    fail(tr("The replay came to %1 where it had been at %2 before.")
             .arg(lineOf(place.file, place.line),
                  lineOf(m_search->wanted.file, m_search->wanted.line)));
    return true;
  }
  return arrive();
}

/// False: others hear of this stop.
bool LineSearch::arrive() {
  const Search search = *m_search;
  end();
  if (!search.failed.isEmpty()) {
    Q_EMIT message(search.failed, true);
    return false;
  }
  const bool anchor = search.wanted.function.empty();
  m_words = anchor                          ? QString()
            : search.move == LineMove::Step ? tr("back by a line")
            : search.move == LineMove::Next ? tr("back over a line")
                                            : tr("back to the call");
  if (!anchor) {
    m_known =
        Known{search.rank, search.event, search.done, search.marks, search.base, search.places};
  }
  return false;
}

QString LineSearch::takeWords() {
  return std::exchange(m_words, {});
}

/// The rank is brought back to where it was, as far as that is known.
void LineSearch::fail(const QString& why) {
  if (!m_search) {
    return;
  }
  const Search search = *m_search;
  if (search.phase == Phase::Look) {  // it has not been moved
    end();
    Q_EMIT progress({});
    Q_EMIT message(why, true);
    Q_EMIT stays();
    return;
  }
  if (search.here && search.failed.isEmpty()) {
    m_search->failed = why;
    m_search->aim = *search.here;
    m_search->wanted = search.present;
    startCycle(Phase::ToAim);
    return;
  }
  end();
  Goal goal;
  if (search.beforeEvent) {
    goal = {{search.rank, search.event + 1}, tr("where it was"), {}, true};
    Q_EMIT message(why, true);
  } else {
    goal = {{search.rank, std::max<Serial>(search.event, 2)}, tr("the event before"), {}, true};
    Q_EMIT message(tr("%1 Rank %2 goes to its event %3 instead.")
                       .arg(why)
                       .arg(search.rank)
                       .arg(goal.event.serial),
                   true);
  }
  m_startCycle(std::move(goal));
}

void LineSearch::cycleEnded(bool ranToEnd) {
  if (!m_search) {
    return;
  }
  const bool counts = m_search->phase == Phase::Forward || m_search->phase == Phase::Count;
  if (!ranToEnd || !counts) {
    end();
    return;
  }
  m_patience.stop();
  keepTimes();  // its GDB goes with the cycle
  m_asked.begin();
  QMetaObject::invokeMethod(
      this,
      [this, asked = m_asked.guard()] {
        if (asked && m_search) {
          counted();
        }
      },
      Qt::QueuedConnection);
}

void LineSearch::goesOn(int rank) {
  if (!m_search && m_known && m_known->rank == rank) {
    m_known.reset();
  }
}

void LineSearch::cancel() {
  if (m_search) {
    end();
    Q_EMIT progress({});
  }
}

void LineSearch::end() {
  m_patience.stop();
  m_asked.drop();
  dropMarks();
  m_control.letGo();
  m_search.reset();
  m_known.reset();
  m_state.searching = false;
  m_breakpoints.giveToFleet();
}

}  // namespace pf::session

#include "moc_line_search.cpp"
