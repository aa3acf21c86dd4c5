// SPDX-License-Identifier: GPL-3.0-or-later
// The job of a cycle: starting it, what its daemon says, its end.
#include "app/session/debug_session.h"

#include <algorithm>
#include <utility>

#include <QLoggingCategory>

#include "app/replaying/replay.h"
#include "app/replaying/verdict_text.h"
#include "app/session/inspection/waits.h"
#include "app/session/line_search.h"
#include "app/session/targets/replay_target.h"
#include "replay_engine/agent/watchpoints.h"

namespace pf::session {
namespace {

// QT_LOGGING_RULES="photofinish.*=true" shows all MI text and what the daemon says.
Q_LOGGING_CATEGORY(sessionLog, "photofinish.session", QtWarningMsg)

QString sentence(app::Stall stall, const QString& verdict) {
  QString text = QString::fromUtf8(app::words(stall)) + QStringLiteral(": ") + verdict;
  text[0] = text.at(0).toUpper();
  return text;
}

}  // namespace

DebugSession::DebugSession(QObject* parent)
    : QObject(parent),
      m_fleet(*this),
      m_state(m_fleet),
      m_inspector(m_state),
      m_machine(m_state, m_inspector),
      m_buffers(m_state, m_inspector),
      m_stacks(m_state, [this](const protocol::Message& message) { order(message); }),
      m_across(m_state, m_inspector),
      m_standingCalls(std::make_unique<StandingCalls>(m_state)),
      m_waits(std::make_unique<Waits>(m_state, *m_standingCalls)),
      m_consoles(m_state),
      m_groups(m_state),
      m_groupRun(m_state),
      m_breakpoints(m_state),
      m_cycles(m_state, m_breakpoints),
      m_debuggers(m_state, m_inspector, m_cycles),
      m_watches(m_fleet),
      m_search(m_state, m_breakpoints, m_cycles,
               [this](Goal goal) { startCycle(std::move(goal)); }),
      m_control({m_state, m_breakpoints, m_cycles, m_inspector, m_groupRun},
                [this](const protocol::Message& message) { order(message); }),
      m_lines(std::make_unique<LineSearch>(LineSearch::Parts{m_state, m_breakpoints, m_control},
                                           [this](Goal goal) { startCycle(std::move(goal)); })),
      m_makeReplay(&ReplayTarget::make) {
  if (!agent::watchpointsWork()) {
    m_fleet.refuseWatchpoints(agent::kNoWatchpoints);
  }
  m_tick.setInterval(100);
  m_closing.setMaxThreadCount(64);
  connect(&m_tick, &QTimer::timeout, this, [this] {
    m_fleet.tick(std::chrono::steady_clock::now());
    if (m_target != nullptr) {
      m_target->tick();
    }
  });
  connect(&m_state.events, &AllEvents::progress, this, &DebugSession::progress);
  connect(&m_state.events, &AllEvents::message, this, &DebugSession::message);
  connect(&m_inspector, &Inspector::message, this, &DebugSession::message);
  connect(&m_inspector, &Inspector::ranksChanged, this, &DebugSession::ranksChanged);
  connect(&m_groups, &RankGroups::message, this, &DebugSession::message);
  connect(&m_breakpoints, &Breakpoints::message, this, &DebugSession::message);
  connect(&m_breakpoints, &Breakpoints::planChanged, &m_control, &RunControl::replan);
  connect(&m_breakpoints, &Breakpoints::marksChanged, this, &DebugSession::publishMarks);
  connect(&m_consoles, &GdbConsoles::consoleText, this, &DebugSession::consoleText);
  connect(&m_cycles, &Cycles::takenUp, this, &DebugSession::takeUp);
  connect(&m_debuggers, &Debuggers::message, this, &DebugSession::message);
  connect(&m_debuggers, &Debuggers::progress, this, &DebugSession::progress);
  connect(&m_debuggers, &Debuggers::ranksChanged, this, &DebugSession::ranksChanged);
  connect(&m_debuggers, &Debuggers::settled, this, &DebugSession::settled);
  connect(&m_debuggers, &Debuggers::attached, this, &DebugSession::begin);
  connect(&m_watches, &Watches::message, this, &DebugSession::message);
  connect(this, &DebugSession::settled, &m_watches, &Watches::settle);
  connect(&m_bookmarks, &Bookmarks::changed, this, &DebugSession::publishMarks);
  connect(&m_judgedRaces, &JudgedRaces::message, this, &DebugSession::message);
  connect(&m_search, &HitSearch::message, this, &DebugSession::message);
  connect(&m_search, &HitSearch::gaveUp, this, &DebugSession::settle);
  connect(m_lines.get(), &LineSearch::message, this, &DebugSession::message);
  connect(m_lines.get(), &LineSearch::progress, this, &DebugSession::progress);
  connect(m_lines.get(), &LineSearch::stays, this, &DebugSession::settled);
  connect(&m_control, &RunControl::message, this, &DebugSession::message);
  connect(&m_control, &RunControl::progress, this, &DebugSession::progress);
  connect(&m_control, &RunControl::steps, m_lines.get(), &LineSearch::userSteps);
  connect(&m_control, &RunControl::arrived, this, &DebugSession::arrived);
  connect(this, &DebugSession::settled, this, [this] { m_times.stands(); });
  connect(this, &DebugSession::ranksChanged, m_standingCalls.get(), &StandingCalls::refresh);
}

DebugSession::~DebugSession() {
  const QSignalBlocker nobodyListens(this);
  finishCycle(tr("closed"));
}

void DebugSession::open(const QString& path, LoadedTrace trace) {
  m_lines->cancel();
  m_next.reset();
  closeUnrecorded();
  closeTarget();
  m_state.source = Source::Recording;
  m_state.part.clear();
  m_keepsPart = false;
  m_toldInputs.clear();
  m_times.forget();
  take(path, std::move(trace));
  m_control.setGoal({});
  m_state.current = m_state.trace->failure.event.valid() ? m_state.trace->failure.event.rank : 0;
  m_debuggers.begin({m_state.current});
  readRecords();
  m_judgedRaces.open(m_store.get(), QString::fromStdString(m_state.run.program));
  Q_EMIT ranksChanged();
  Q_EMIT m_inspector.currentRankChanged(m_state.current);
}

void DebugSession::take(const QString& path, LoadedTrace trace) {
  m_state.path = path;
  m_state.trace = std::move(trace.data);
  m_state.events.set(path, m_state.trace);
  m_state.run = std::move(trace.run);
  m_state.rankInfos = std::move(trace.ranks);
  m_state.now.clear();
}

void DebugSession::readRecords() {
  Result<db::TraceStore> store =
      db::TraceStore::open(m_state.path.toStdString(), db::TraceStore::Mode::ReadWrite);
  const bool writable = store.ok();
  if (!store) {
    store = db::TraceStore::open(m_state.path.toStdString(), db::TraceStore::Mode::ReadOnly);
    Q_EMIT message(tr("The trace cannot be written: breakpoints, cycles and notes of this session "
                      "will not be kept."),
                   false);
  }
  openRecords(store ? std::make_unique<db::TraceStore>(std::move(*store)) : nullptr, writable);
}

/// The parts read what the trace keeps for them. None: they keep nothing.
void DebugSession::openRecords(std::unique_ptr<db::TraceStore> store, bool writable) {
  m_cycles.open(nullptr, false);
  m_store = std::move(store);
  m_groups.open(m_store.get());
  m_bookmarks.open(m_store.get());
  m_breakpoints.open(m_store.get());
  m_cycles.open(m_store.get(), writable);
  m_watches.open(m_store.get());
  Q_EMIT m_groups.changed();
  Q_EMIT m_cycles.changed();
  publishMarks();
}

/// The last cycle of the trace that was opened has not ended: Repeat Cycle goes to where its ranks were.
void DebugSession::takeUp(int number, const EventRef& event) {
  m_control.setGoal(
      event.valid()
          ? Goal{event, tr("rank %1 before its event %2").arg(event.rank).arg(event.serial)}
          : Goal{{}, tr("to the end")});
  Q_EMIT message(tr("Cycle %1 has not ended: what ran it was killed, or has this trace open now. "
                    "Repeat Cycle goes there again (%2).")
                     .arg(number)
                     .arg(m_control.goal().text),
                 false);
}

void DebugSession::startCycle(Goal goal) {
  if (!canReplay() || m_state.events.readsFirst([this, goal] { startCycle(goal); })) {
    return;
  }
  if (goBack(goal)) {
    return;
  }
  if (m_state.phase != Phase::Idle) {
    m_next = std::move(goal);
    if (m_state.phase != Phase::Starting && m_state.phase != Phase::Ending) {
      finishCycle(tr("restarted"));
      closeTarget();
    }
    return;
  }
  m_control.setGoal(std::move(goal));
  launch();
}

void DebugSession::launch() {
  m_state.phase = Phase::Starting;
  m_times.begin(CycleTimes::Begin::Anew);
  m_state.now.clear();
  m_state.snapshots = {};
  Q_EMIT snapshotsChanged();
  m_toldObstacles.clear();
  m_debuggers.join(m_breakpoints.ownRanks());
  m_breakpoints.followLines();
  beginCycle();
  Q_EMIT progress(tr("Starting cycle %1 …").arg(m_cycles.lastNumber()));
  Q_EMIT ranksChanged();

  Result<std::unique_ptr<Target>> target =
      m_makeReplay({m_store.get(), m_allowRebuilt, m_state.part, &m_closing});
  if (!target) {
    couldNotStart(QString::fromStdString(target.error().message),
                  QString::fromStdString(target.error().text()));
    return;
  }
  debug(std::move(*target));
}

/// What is known of the former one is forgotten.
void DebugSession::beginCycle() {
  m_control.begin();
  m_state.diverged = false;
  m_contents = {};
  m_inspector.beginCycle();
  m_buffers.beginCycle();
  m_groupRun.end();
  m_cycles.begin(m_control.goal().text);
}

void DebugSession::couldNotStart(const QString& summary, const QString& text) {
  m_state.phase = Phase::Idle;
  finishCycle(summary);
  tellPositions();
  Q_EMIT progress({});
  Q_EMIT message(text, true);
  Q_EMIT settled();
}

/// Begins to.
void DebugSession::debug(std::unique_ptr<Target> target) {
  m_target = std::move(target);
  m_debuggers.use(m_target.get());
  connect(m_target.get(), &Target::started, this, &DebugSession::targetStarted);
  connect(m_target.get(), &Target::failed, this, [this](const QString& text) {
    Target* gone = m_target.release();
    gone->disconnect(this);
    gone->deleteLater();
    couldNotStart(tr("could not be started"), text);
  });
  connect(m_target.get(), &Target::said, this, &DebugSession::handle);
  connect(m_target.get(), &Target::noticed, this, &DebugSession::message);
  connect(m_target.get(), &Target::inputsChanged, this, &DebugSession::tellInputs);
  connect(m_target.get(), &Target::lost, this, [this] {
    Q_EMIT message(tr("The control daemon is gone: this cycle has ended. Restart it; nothing "
                      "of the trace is lost."),
                   true);
    finishCycle(tr("control daemon lost"));
    closeTarget();
  });
  connect(m_target.get(), &Target::ended, this, &DebugSession::launcherEnded);
  m_target->start();
}

void DebugSession::targetStarted() {
  m_tick.start();
  if (m_state.phase == Phase::Running) {
    return;  // ranks of somebody else's
  }
  m_state.phase = Phase::Gating;
  if (m_next) {  // something else was asked for meanwhile
    finishCycle(tr("restarted"));
    closeTarget();
  }
}

void DebugSession::tellInputs(const QStringList& lines, const QString& atEnd) {
  m_cycles.last().inputs = atEnd;
  for (const QString& line : lines) {
    QString text = line + QLatin1Char('.');
    text[0] = text.at(0).toUpper();
    if (!m_toldInputs.contains(text)) {
      m_toldInputs.insert(text);
      Q_EMIT message(text, false);
    }
  }
}

void DebugSession::order(const protocol::Message& message) {
  if (m_target != nullptr) {
    m_target->send(message);
  }
}

void DebugSession::handle(const protocol::Message& message) {
  std::visit(protocol::Overloaded{
                 [this](const protocol::RankHello& hello) {
                   m_state.now[hello.rank].pid = hello.pid;
                   m_state.now[hello.rank].host = QString::fromStdString(hello.host);
                   if (hello.rank == (m_state.part.empty() ? 0 : m_state.part.front())) {
                     m_cycles.last().build = QString::fromStdString(hello.buildId);
                   }
                 },
                 [this](const protocol::RankState& state) { onState(state); },
                 [this](const protocol::RankExited& exited) {
                   if (exited.rank >= 0) {
                     rankEnded(exited.rank, QString::fromStdString(exited.text));
                   }
                 },
                 [this](const protocol::RankDiverged& diverged) { onDiverged(diverged); },
                 [this](const protocol::Verdict& verdict) { onVerdict(verdict); },
                 [this](const protocol::GdbState& state) { m_debuggers.onState(state); },
                 [this](const protocol::MiFromGdb& mi) { m_debuggers.feed(mi); },
                 [this](const protocol::Output& text) {
                   Q_EMIT output(
                       text.rank,
                       text.stream == 2 ? values::OutputStream::Err : values::OutputStream::Out,
                       QByteArray::fromStdString(text.bytes));
                 },
                 [this](const protocol::RankStack& stack) { m_stacks.answered(stack); },
                 [this](const protocol::Notice& notice) {
                   Q_EMIT this->message(QString::fromStdString(notice.text), false);
                 },
                 [this](const protocol::Snapshots& told) { onSnapshots(told); },
                 [this](const protocol::WentBack& back) { wentBack(back); },
                 [this](const protocol::Nudged& nudged) { m_control.nudged(nudged.rank); },
                 [this](const protocol::SessionState& state) {
                   for (const protocol::RankState& rank : state.ranks) {
                     m_state.now[rank.rank].state = rank;
                   }
                   if (state.allGated && m_state.phase == Phase::Gating) {
                     m_state.phase = Phase::Attaching;
                     m_debuggers.attachAll();
                   }
                   Q_EMIT ranksChanged();
                 },
                 [](const auto&) {}},
             message);
}

void DebugSession::onState(const protocol::RankState& state) {
  qCDebug(sessionLog) << "rank" << state.rank << "phase" << static_cast<int>(state.phase) << "event"
                      << state.serial << "in call" << state.inCall;
  RankNow& now = m_state.now[state.rank];
  const bool wasStopped = now.state.phase == RankPhase::Stopped && now.state.serial == state.serial;
  now.state = state;
  if (wasStopped && state.phase == RankPhase::Running) {
    now.why.clear();
  }
  m_control.rankMoved(state, wasStopped);
  if (!wasStopped && state.phase == RankPhase::Stopped) {
    if (m_fleet.session(state.rank) == nullptr) {
      m_groupRun.arrived(state.rank);
    }
    noteStanding(state.rank);
  }
  m_groupRun.moved(state.rank);
  if (m_state.phase == Phase::Running && (m_state.diverged || !m_control.awaitsCut())) {
    tellPositions();  // a step, or the last that a rank does
  }
  Q_EMIT ranksChanged();
}

void DebugSession::rankEnded(int rank, const QString& how) {
  RankNow& now = m_state.now[rank];
  now.exited = true;
  now.end = how;
  m_groupRun.arrived(rank);
  Q_EMIT ranksChanged();
}

void DebugSession::onDiverged(const protocol::RankDiverged& diverged) {
  const app::DivergenceText words = app::divergenceText(m_state.whole().execution, diverged);
  const QString besides = m_target->advice();
  const QString text =
      (diverged.goesOn
           ? tr("Other contents than recorded at rank %1, event %2: expected %3, got %4")
           : tr("Replay divergence at rank %1, event %2: expected %3, got %4"))
          .arg(diverged.rank)
          .arg(diverged.serial)
          .arg(QString::fromStdString(words.expected), QString::fromStdString(words.got)) +
      (besides.isEmpty() ? besides : QLatin1Char('.') + besides);
  values::Cycle& cycle = m_cycles.last();
  const bool isFirst =
      std::exchange(cycle.match, values::CycleMatch::Diverged) != values::CycleMatch::Diverged;
  if (diverged.goesOn) {  // the first of all ranks is what counts
    m_contents.note(diverged);
    cycle.divergence = tr("The cycle does what the recorded run did, but with %1.")
                           .arg(QString::fromStdString(m_contents.first()));
  } else {
    m_state.diverged = true;
    cycle.divergence = text + QString::fromStdString(words.history);
    noteDivergence({diverged.rank, diverged.serial});
  }
  Q_EMIT m_cycles.changed();
  Q_EMIT message(text, !diverged.goesOn);
  if (isFirst || !diverged.goesOn) {
    Q_EMIT this->diverged({diverged.rank, diverged.serial}, text);
  }
}

void DebugSession::onVerdict(const protocol::Verdict& verdict) {
  const QString text = QString::fromStdString(verdict.text);
  qCDebug(sessionLog).noquote() << "verdict" << static_cast<int>(verdict.kind) << text;
  switch (verdict.kind) {
    case protocol::VerdictKind::CutReached:
      m_control.cutReached();
      break;
    case protocol::VerdictKind::Stalled:
    case protocol::VerdictKind::Deadlock: {
      const app::Stall stall = app::meaningOf(verdict, m_state.run);
      Q_EMIT message(sentence(stall, text), stall == app::Stall::Proven);
      if (stall == app::Stall::MayGoOn) {
        break;
      }
    }
      Q_EMIT stalled(text, verdict.kind == protocol::VerdictKind::Deadlock);
      settle(verdict.kind == protocol::VerdictKind::Deadlock ? tr("deadlock")
                                                             : tr("all ranks wait"));
      break;
    case protocol::VerdictKind::Refused:
      Q_EMIT message(m_allowRebuilt
                         ? text
                         : tr("%1\nIn the window, Replay, Allow a program that was rebuilt … goes "
                              "on all the same; 'debug "
                              "--script' has --force.")
                               .arg(text),
                     true);
      finishCycle(tr("refused"));
      closeTarget();
      break;
    case protocol::VerdictKind::Ended:
    case protocol::VerdictKind::PastEnd:
      break;
    case protocol::VerdictKind::Diverged:
      settle(tr("diverged"));
      break;
  }
}

void DebugSession::launcherEnded(int status, const QString& words) {
  if (!m_state.haveStarted() && !m_state.diverged) {
    const bool alone = m_state.part.size() == 1;  // there is no launcher
    Q_EMIT message((alone ? tr("The program ended with status %1 before it had called MPI_Init. %2")
                          : tr("The launcher ended with status %1 before all ranks had called "
                               "MPI_Init. %2"))
                       .arg(status)
                       .arg(words.isEmpty() ? tr("It said nothing.") : tr("It said: ") + words),
                   true);
    finishCycle(tr("did not start: the launcher ended with status %1").arg(status));
  } else {
    finishCycle(
        m_state.diverged ? tr("diverged") : tr("ran to the end, exit status %1").arg(status),
        !m_state.diverged);
  }
  Q_EMIT ended(status);
  closeTarget();
}

void DebugSession::closeTarget() {
  m_tick.stop();
  m_debuggers.removeAll();
  m_control.end();
  if (m_target == nullptr) {
    return;
  }
  m_inspector.forget();
  Target* target = m_target.release();
  target->disconnect(this);
  target->setParent(this);
  connect(target, &Target::closed, target, &QObject::deleteLater);
  // Where its agents are there, its ranks are killed long before those of the next cycle come.
  if (m_next && m_state.haveStarted()) {
    target->close();
    m_state.phase = Phase::Idle;
    startCycle(*std::exchange(m_next, std::nullopt));
    return;
  }
  m_state.phase = Phase::Ending;
  connect(target, &Target::closed, this, &DebugSession::targetClosed);
  target->close();
}

void DebugSession::abandonTarget() {
  closeTarget();
  for (Target* closing : findChildren<Target*>(Qt::FindDirectChildrenOnly)) {
    closing->disconnect(this);
  }
}

void DebugSession::targetClosed() {
  m_state.phase = Phase::Idle;
  Q_EMIT progress({});
  Q_EMIT ranksChanged();
  if (m_next) {
    startCycle(*std::exchange(m_next, std::nullopt));
    return;
  }
  // Of ranks that were ended where they were, nothing is true any more.
  if (std::erase_if(m_state.now, [](const auto& each) { return !each.second.exited; }) > 0) {
    Q_EMIT ranksChanged();
  }
  tellPositions();  // also of a cycle that was ended before it stood: what is shown is that of the one before
  Q_EMIT settled();
}

void DebugSession::endReplay() {
  m_lines->cancel();
  m_next.reset();
  m_search.end();
  if (m_state.source != Source::Recording) {
    closeUnrecorded();
    return;
  }
  if (m_state.phase != Phase::Idle && m_state.phase != Phase::Ending) {
    finishCycle(tr("ended by the user"));
    closeTarget();
  }
}

}  // namespace pf::session

#include "moc_debug_session.cpp"
