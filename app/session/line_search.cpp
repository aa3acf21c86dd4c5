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
/// That are walked through to the next event in place of a cycle more, which they cost about as much as.
constexpr std::size_t kMostCounting = 60;
constexpr int kMostLandmarks = 5;
constexpr std::chrono::seconds kLongStep(2);  ///< a loop in one line, of which GDB steps each round
constexpr std::chrono::seconds kPatience(40);  ///< to begin a cycle, and for a step
constexpr std::chrono::seconds kCountPatience(
    120);  ///< GDB stops a rank some thousand times a second

QString notTheSame() {
  return LineSearch::tr("The replay does not come to this place again in the same way.");
}

QString lineOf(const std::string& file, int line) {
  return QStringLiteral("%1:%2").arg(toText(file).section(QLatin1Char('/'), -1)).arg(line);
}

/// Where a step has ended.
bool isLine(const mi::StopEvent& stop) {
  using mi::StopReason;
  return stop.reason == StopReason::Step || stop.reason == StopReason::Finished ||
         stop.reason == StopReason::Breakpoint;
}

}  // namespace

LineSearch::LineSearch(const Parts& parts, std::function<void(Goal)> startCycle)
    : m_state(parts.state),
      m_breakpoints(parts.breakpoints),
      m_control(parts.control),
      m_startCycle(std::move(startCycle)),
      m_trail(parts.state) {
  m_patience.setSingleShot(true);
  connect(&m_patience, &QTimer::timeout, this, [this] {
    fail(tr("The lines before this place were not counted within %1 s: those of the rank come too "
            "often.")
             .arg(m_patience.interval() / 1000));
  });
  m_stepTime.setSingleShot(true);
  m_stepTime.setInterval(kLongStep);
  connect(&m_stepTime, &QTimer::timeout, this,
          [this] { m_state.fleet.pause({m_search->rank}, [](const mi::GroupResult&) {}); });
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

QString LineSearch::whyNotInPython() {
  return tr("Lines of Python are not gone back by: Previous event goes back.");
}

// -- where the rank is

void LineSearch::go(LineMove move) {
  if (const QString why = whyNot(); !why.isEmpty()) {
    Q_EMIT message(why, false);
    return;
  }
  cancel();
  m_breakpoint = 0;
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
  const mi::StopEvent& stop = m_state.stoppedDebugger(rank)->stop();
  search.bySignal = stop.reason == mi::StopReason::Signal;
  search.breakpoint = stop.breakpointNumber > 0
                          ? m_breakpoints.idOf(m_state.fleet.specOf(rank, stop.breakpointNumber))
                          : m_state.now.at(rank).broughtTo;
  search.words = m_state.now.at(rank).why;
  search.othersMove = std::ranges::any_of(m_state.now, [this, rank](const auto& each) {
    return each.first != rank && m_state.stoppedDebugger(each.first) != nullptr &&
           !m_state.standsBeforeEvent(each.first);
  });
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
        askDepth(*gdb(), thread, [this, frames = *frames, asked](int depth) {
          if (asked && gdb() != nullptr) {
            lookedAt(frames, depth);
          }
        });
      });
}

void LineSearch::lookedAt(const std::vector<mi::Frame>& frames, int depth) {
  const std::size_t user = mi::firstUserFrame(frames).value_or(0);
  const mi::Frame& frame = frames[user];
  if (frame.python != 0 || frame.line <= 0 || depth == 0) {
    fail(frame.python != 0 ? whyNotInPython()
                           : tr("No line of %1() is known (built without -g?): Previous event goes "
                                "back.")
                                 .arg(toText(frame.function)));
    return;
  }
  m_search->present = {frame.function, frame.file, frame.line, depth - static_cast<int>(user),
                       frame.address};
  m_search->walk = LineWalk(m_search->move, m_search->present.depth);
  const std::string maps = memoryMaps(m_state.now[m_search->rank].pid);
  m_search->code = codePlaceOf(maps, frame.address);
  if (!m_search->beforeEvent) {
    const auto code = codePlaceOf(maps, frames.front().address);
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
    lookForStart(frame.address, [this](const std::optional<CodePlace>& start) {
      if (!start) {
        fail(tr("Where %1() begins is not known.").arg(toText(m_search->present.function)));
        return;
      }
      m_search->marks.push_back({*start});  // what is gone back to first
      begin();
    });
  }
}

/// Of the function that has code at this address.
void LineSearch::lookForStart(std::uint64_t address,
                              const std::function<void(const std::optional<CodePlace>&)>& then) {
  m_asked.begin();
  gdb()->inspect().instructions(
      {}, QStringLiteral("0x%1").arg(address, 0, 16).toStdString(),
      [this, then, asked = m_asked.guard()](const Result<std::vector<mi::Instruction>>& code) {
        if (!asked || gdb() == nullptr) {
          return;
        }
        const bool known =
            code && !code->empty() && !code->front().function.empty() && code->front().offset == 0;
        const std::uint64_t begin =
            known ? QString::fromStdString(code->front().address).toULongLong(nullptr, 0) : 0;
        then(begin != 0 ? codePlaceOf(memoryMaps(m_state.now[m_search->rank].pid), begin)
                        : std::nullopt);
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

/// The lines before this place are known: nothing need be counted.
bool LineSearch::useKnown() {
  const KnownLines* found = m_search->beforeEvent ? nullptr : m_trail.of(m_search->rank);
  if (found == nullptr || found->event != m_search->event || !found->walk.knows(m_search->move) ||
      !found->walk.last().isAt(m_search->present)) {
    return false;
  }
  KnownLines known = *found;
  const std::vector<mi::RunKind> steps = known.walk.stepsTo(known.walk.size() - 1);
  known.walk.dropLast();
  const auto place = known.walk.before(m_search->move, m_search->present.depth);
  if (!place && (known.walk.size() > 0 || known.base.hit == 0)) {
    return false;
  }
  if (!known.done.empty()) {
    m_search->done = known.done;
  }
  for (LineMark& mark : known.marks) {
    mark.spec = 0;  // of that cycle
  }
  m_search->base = known.base;
  if (place) {
    m_search->here = LineAim{known.base.mark, known.base.hit, steps};
    m_search->marks = std::move(known.marks);
    m_search->walk = std::move(known.walk);
    startAim(*place);
    return true;
  }
  LineMark mark = known.marks[known.base.mark];  // it stands at this time of it
  mark.number = known.base.hit;
  m_search->marks = {mark};
  m_search->goal = 0;
  m_search->here = LineAim{0, mark.number};
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
  m_control.waitFor(m_search->rank);
  m_patience.start(kPatience);
  m_startCycle(beforeEvent());
}

void LineSearch::goOnToNextEvent(Phase phase) {
  m_search->phase = phase;
  m_control.waitFor(m_search->rank);
  m_patience.start(kCountPatience);
  m_control.goOnTo(toNextEvent());
}

/// In the rank's GDB, which counts from now on. `stop`: the time of a mark at which it stops. A walk ends at the goal, in
/// the midst of a step as well.
void LineSearch::setMarks(const LineAim& stop) {
  const std::string maps = memoryMaps(m_state.now[m_search->rank].pid);
  for (std::size_t i = 0; i < m_search->marks.size(); ++i) {
    LineMark& mark = m_search->marks[i];
    const auto address = addressOf(maps, mark.code);
    mi::BreakpointSpec spec;
    spec.expression = QStringLiteral("0x%1").arg(address.value_or(0), 0, 16).toStdString();
    spec.ranks = {m_search->rank};
    const bool isGoal = m_search->goal == i;
    spec.ignoreCount = stop.hit > 0 && stop.mark == i                   ? stop.hit - 1
                       : isGoal && m_search->phase == Phase::ToWalk     ? mark.number - 1
                       : isGoal && m_search->phase == Phase::CountSteps ? 0
                                                                        : kCountOnly;
    mark.spec = address ? m_state.fleet.addBreakpoint(spec) : 0;
  }
}

void LineSearch::dropMarks() {
  for (LineMark& mark : m_search->marks) {
    if (const int spec = std::exchange(mark.spec, 0); spec != 0) {
      m_state.fleet.removeBreakpoint(spec);
    }
  }
}

/// So many times from now on the mark does not stop the rank.
void LineSearch::letPass(int spec, int times) {
  for (mi::BreakpointSpec one : m_state.fleet.breakpoints()) {
    if (one.id == spec) {
      one.ignoreCount = times;
      (void)m_state.fleet.changeBreakpoint(one);
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

int LineSearch::timesOf(const LineMark& mark) const {
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
    countBySteps();
    return true;
  }
  if (phase == Phase::ToSurvey && m_search->goal) {
    const std::size_t goal = *m_search->goal;
    return leave({goal, m_search->marks[goal].number}, Phase::Survey, Phase::Survey);
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
bool LineSearch::leave(const LineAim& aim, Phase hit, Phase steps) {
  m_search->stepsLeft.assign(aim.steps.rbegin(), aim.steps.rend());
  const bool gate = m_search->leavesGate;
  if (steps == Phase::AimSteps && aim.hit == 0 && aim.steps.empty() && !gate) {
    return arrive();
  }
  quiet();
  setMarks(aim);
  m_control.hold(m_search->rank, m_search->event + 1);
  if (aim.hit > 0) {
    m_search->phase = hit;
    m_search->leavesGate = false;
    m_patience.start(kCountPatience);
    m_control.walk(m_search->rank, {});
    return true;
  }
  m_search->phase = steps;
  if (steps == Phase::Walk) {
    walkFromEvent();
  } else if (std::exchange(m_search->leavesGate, false)) {
    stepOutOfGate();
  } else {
    stepToAim();
  }
  return true;
}

void LineSearch::walkFromEvent() {
  if (std::exchange(m_search->leavesGate, false)) {
    stepOutOfGate();
    return;
  }
  m_search->walk.beginsBeforeEvent();
  m_search->times.push_back(0);
  step(m_search->walk.onwards());
}

void LineSearch::step(mi::RunKind kind) {
  m_patience.start(kPatience);
  if (m_search->phase == Phase::CountSteps) {
    m_stepTime.start();
  }
  mi::RunCommand command;
  command.kind = kind;
  m_control.walk(m_search->rank, command);
}

void LineSearch::stepToAim() {
  const mi::RunKind kind = m_search->stepsLeft.back();
  m_search->stepsLeft.pop_back();
  step(kind);
}

void LineSearch::stepOutOfGate() {
  m_patience.start(kPatience);
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
  if (!m_search) {
    m_trail.stopped(rank, stop);
    return false;
  }
  if (rank != m_search->rank) {
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
  if (phase == Phase::CountSteps) {
    steppedCounting(stop);
    return true;
  }
  if (phase == Phase::Survey && stop.reason != mi::StopReason::Event) {
    surveyed();
    return true;
  }
  if (phase == Phase::AimSteps) {
    return stepped(stop);
  }
  if (counts() && stop.reason == mi::StopReason::Signal) {
    endReached();
    return true;
  }
  return false;
}

bool LineSearch::counts() const {
  return m_search->phase == Phase::Forward || m_search->phase == Phase::Count;
}

/// From event S on, if the rank has an event behind it.
void LineSearch::countBySteps() {
  const auto rank = static_cast<std::size_t>(m_search->rank);
  const bool ends = m_search->event >= m_state.whole().execution.ranks[rank].events.size();
  m_search->phase = ends ? Phase::Count : Phase::CountSteps;
  m_search->times.clear();
  quiet();
  setMarks({});
  if (ends) {
    m_search->leavesGate = false;
    goOnToNextEvent(Phase::Count);
    return;
  }
  m_control.hold(m_search->rank, m_search->event + 1);
  walkFromEvent();
}

/// A line on the way from event S to the next event, before that, or where a signal has stopped the rank.
void LineSearch::steppedCounting(const mi::StopEvent& stop) {
  using mi::StopReason;
  m_stepTime.stop();
  if (stop.reason == StopReason::Event || stop.reason == StopReason::Signal) {
    endReached();
  } else if (stop.reason == StopReason::Paused || m_search->times.size() >= kMostCounting) {
    countOnly();
  } else if (isLine(stop)) {
    m_search->times.push_back(timesOf(m_search->marks[*m_search->goal]));
    withDepth(stop, [this](const LinePlace& place) { wentOn(place); });
  } else {
    fail(notTheSame());
  }
}

/// The rest of the way, on which the lines would take too long.
void LineSearch::countOnly() {
  letPass(m_search->marks[*m_search->goal].spec, kCountOnly);
  m_search->walk.clear();
  goOnToNextEvent(Phase::Count);
}

/// The rank is before its next event, has ended, or a signal has stopped it: all is counted.
void LineSearch::endReached() {
  m_patience.stop();
  keepTimes();
  counted();
}

void LineSearch::keepTimes() {
  for (LineMark& mark : m_search->marks) {
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
    m_search->here = LineAim{0, m_search->marks.front().number};
  }
  if (m_search->marks[*m_search->goal].number > 0) {
    chooseOfCounted();
  } else if (m_search->move == LineMove::Finish) {
    fail(tr("%1() was called before event %2 of rank %3: Previous event goes towards there.")
             .arg(toText(m_search->present.function))
             .arg(m_search->event)
             .arg(m_search->rank));
  } else {
    fail(notTheSame());
  }
}

/// Of the lines that the rank was stepped through while it was counted, if it was: the walk from the time before.
void LineSearch::chooseOfCounted() {
  const int number = m_search->marks[*m_search->goal].number;
  const auto indexOf = [this](int time) {
    return static_cast<std::size_t>(std::ranges::lower_bound(m_search->times, time) -
                                    m_search->times.begin());
  };
  const std::size_t there = indexOf(number);
  if (m_search->phase != Phase::CountSteps || there == m_search->times.size()) {
    startFromTimeBefore();
    return;
  }
  const int depth = m_search->walk.place(there).depth;
  m_search->walk.endBefore(there);
  m_search->base = {*m_search->goal, number - 1};
  m_search->walk.beginAt(indexOf(number - 1));
  chooseAt(depth);
}

void LineSearch::startWalk(const LineAim& base) {
  m_search->base = base;
  m_search->walk.clear();
  startCycle(Phase::ToWalk);
}

void LineSearch::startFromTimeBefore() {
  startWalk({*m_search->goal, m_search->marks[*m_search->goal].number - 1});
}

/// Too many lines have been walked through: the last of them that may be gone back to is a landmark.
void LineSearch::tooManyLines() {
  const LineWalk& walk = m_search->walk;
  const std::string maps = memoryMaps(m_state.now[m_search->rank].pid);
  const std::size_t place =
      walk.before(m_search->move, m_search->present.depth).value_or(walk.size() - 1);
  const auto code = codePlaceOf(maps, walk.place(place).address);
  if (!code || ++m_search->landmarks > kMostLandmarks) {
    fail(tr("Too many lines lie between event %1 of rank %2 and this place, or between two times "
            "that it was here: Previous event goes back.")
             .arg(m_search->event)
             .arg(m_search->rank));
    return;
  }
  m_search->entry.reset();
  m_search->landmark = m_search->marks.size();
  m_search->marks.push_back({*code});
  const auto here = m_search->code ? addressOf(maps, *m_search->code) : std::nullopt;
  if (!here || m_search->landmarks > 1 || m_search->move == LineMove::Finish ||
      walk.wasIn(m_search->present)) {
    startSurvey();
    return;
  }
  lookForStart(*here, [this](const std::optional<CodePlace>& start) {
    if (start) {
      m_search->entry = m_search->marks.size();
      m_search->marks.push_back({*start});
    }
    startSurvey();
  });
}

void LineSearch::startSurvey() {
  startCycle(Phase::ToSurvey);
}

/// The rank is where the search began, and the last times of its landmarks are known.
void LineSearch::surveyed() {
  m_patience.stop();
  for (std::size_t i = m_search->landmark; i < m_search->marks.size(); ++i) {
    m_search->marks[i].number = timesOf(m_search->marks[i]);
  }
  const bool entered = m_search->entry && m_search->marks[*m_search->entry].number > 0;
  if (m_search->marks[m_search->landmark].number == 0) {
    fail(notTheSame());
    return;
  }
  if (!entered) {
    m_search->entry.reset();
  }
  const std::size_t base = m_search->entry.value_or(m_search->landmark);
  startWalk({base, m_search->marks[base].number});
}

/// At the time before.
bool LineSearch::hitCame(const mi::StopEvent& stop) {
  const bool aims = m_search->phase == Phase::AimHit;
  const LineAim& aim = aims ? m_search->aim : m_search->base;
  const int spec = m_search->marks[aim.mark].spec;
  if (stop.breakpointNumber == 0 ||
      m_state.fleet.specOf(m_search->rank, stop.breakpointNumber) != spec) {
    fail(notTheSame());
    return true;
  }
  letPass(spec, !aims && m_search->goal == aim.mark ? 0 : kCountOnly);
  if (!aims) {
    m_search->phase = Phase::Walk;
    withDepth(stop, [this](const LinePlace& place) { wentOn(place); });
    return true;
  }
  m_search->phase = Phase::AimSteps;
  if (m_search->stepsLeft.empty()) {
    return arrive();
  }
  stepToAim();
  return true;
}

void LineSearch::wentOn(const LinePlace& place) {
  LineWalk& walk = m_search->walk;
  const bool entry = m_search->entry && m_search->base.mark == *m_search->entry;
  walk.size() == 0 && entry ? walk.beginsAtEntry(place) : walk.came(place);
  step(walk.onwards());
}

/// A line on the way to where the search began, or that place itself.
void LineSearch::walked(const mi::StopEvent& stop) {
  using mi::StopReason;
  const LineMark* const goal = m_search->goal ? &m_search->marks[*m_search->goal] : nullptr;
  const bool there =
      goal == nullptr ? stop.reason == StopReason::Event : timesOf(*goal) >= goal->number;
  const bool signalled = m_search->bySignal && stop.reason == StopReason::Signal;
  if (there || signalled) {
    if (m_search->move != LineMove::Finish) {
      choose();
      return;
    }
    withDepth(stop, [this](const LinePlace& place) { chooseAt(place.depth); });
    return;
  }
  if (!isLine(stop)) {
    fail(notTheSame());
  } else if (m_search->walk.size() >= kMostLines) {
    tooManyLines();
  } else {
    withDepth(stop, [this](const LinePlace& place) { wentOn(place); });
  }
}

/// Unless the search has ended meanwhile.
void LineSearch::withDepth(const mi::StopEvent& stop,
                           const std::function<void(const LinePlace&)>& then) {
  m_asked.begin();
  askDepth(*gdb(), stop.thread,
           [this, place = placeOf(stop), then, asked = m_asked.guard()](int depth) mutable {
             if (!asked || !m_search) {
               return;
             }
             place.depth = depth;
             depth > 0 ? then(place) : fail(tr("GDB does not say how deep the stack is."));
           });
}

/// `depth`: of where the walk has ended.
void LineSearch::chooseAt(int depth) {
  if (m_search->move == LineMove::Finish && depth != m_search->present.depth) {
    fail(tr("%1() has called itself since it was called: which of its calls this is is not known.")
             .arg(toText(m_search->present.function)));
    return;
  }
  choose();
}

void LineSearch::choose() {
  const LineMove move = m_search->move;
  const int depth = m_search->present.depth;
  if (const auto place = m_search->walk.before(move, depth)) {
    startAim(*place);
  } else if (m_search->base.hit > 0 && m_search->landmarks == 0) {
    startWalk({});
  } else if (std::exchange(m_search->entry, std::nullopt)) {  // the line before called the function
    startWalk({m_search->landmark, m_search->marks[m_search->landmark].number});
  } else if (const auto begun = m_search->walk.before(move, depth, true)) {
    startAim(*begun);
  } else {
    fail(tr("No line of the program lies before this place since event %1 of rank %2.")
             .arg(m_search->event)
             .arg(m_search->rank));
  }
}

void LineSearch::startAim(std::size_t place) {
  m_search->aim = m_search->base;
  m_search->aim.steps = m_search->walk.stepsTo(place);
  m_search->walk.endAt(place);
  m_search->wanted = m_search->walk.last();
  startCycle(Phase::ToAim);
}

bool LineSearch::stepped(const mi::StopEvent& stop) {
  if (!isLine(stop)) {
    fail(notTheSame());
    return true;
  }
  if (!m_search->stepsLeft.empty()) {
    stepToAim();
    return true;
  }
  const LinePlace place = placeOf(stop);
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
    m_words = search.words;
    m_breakpoint = search.breakpoint;
    Q_EMIT message(
        search.failed + (search.othersMove ? tr(" Other ranks are before events now.") : QString()),
        true);
    return false;
  }
  const bool anchor = search.wanted.function.empty();
  m_words = anchor                          ? QString()
            : search.move == LineMove::Step ? tr("back by a line")
            : search.move == LineMove::Next ? tr("back over a line")
                                            : tr("back to the call");
  if (!anchor) {
    m_trail.isAt({search.rank, search.event, search.done, search.marks, search.base, search.walk});
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
    m_trail.forget();
    return;
  }
  if (!ranToEnd || !counts()) {
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

void LineSearch::cancel() {
  if (m_search) {
    end();
    Q_EMIT progress({});
  }
}

void LineSearch::end() {
  m_patience.stop();
  m_stepTime.stop();
  m_asked.drop();
  dropMarks();
  m_control.letGo();
  m_search.reset();
  m_trail.forget();
  m_state.searching = false;
  m_breakpoints.giveToFleet();
}

}  // namespace pf::session

#include "moc_line_search.cpp"
