// SPDX-License-Identifier: GPL-3.0-or-later
// The job of a cycle: starting it, what its daemon says, its end.
#include "app/session/debug_session.h"

#include <algorithm>
#include <utility>

#include <QLoggingCategory>

#include "app/replaying/replay.h"
#include "app/session/targets/replay_target.h"

namespace pf::session {
namespace {

// QT_LOGGING_RULES="photofinish.*=true" shows all MI text and what the daemon says.
Q_LOGGING_CATEGORY(miLog, "photofinish.mi", QtWarningMsg)
Q_LOGGING_CATEGORY(sessionLog, "photofinish.session", QtWarningMsg)

/// MI text to one GDB, through what is debugged.
class TargetTransport final : public mi::Transport {
 public:
  TargetTransport(int rank, Target* target) : m_rank(rank), m_target(target) {}
  void send(std::string_view bytes) override {
    qCDebug(miLog).noquote()
        << m_rank << "->"
        << QByteArray(bytes.data(), static_cast<qsizetype>(bytes.size())).trimmed();
    for (std::size_t i = 0; m_target != nullptr && i < bytes.size(); i += protocol::kMaxChunk) {
      m_target->send(protocol::MiToGdb{m_rank, std::string(bytes.substr(i, protocol::kMaxChunk))});
    }
  }

 private:
  int m_rank;
  QPointer<Target> m_target;
};

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
      m_consoles(m_state),
      m_groups(m_state),
      m_groupRun(m_state),
      m_breakpoints(m_state),
      m_makeReplay(&ReplayTarget::make) {
  m_tick.setInterval(100);
  m_closing.setMaxThreadCount(64);
  connect(&m_tick, &QTimer::timeout, this, [this] {
    m_fleet.tick(std::chrono::steady_clock::now());
    if (m_target != nullptr) {
      m_target->tick();
    }
  });
  connect(&m_state.events, &WholeTrace::progress, this, &DebugSession::progress);
  connect(&m_state.events, &WholeTrace::message, this, &DebugSession::message);
  connect(&m_inspector, &Inspector::message, this, &DebugSession::message);
  connect(&m_inspector, &Inspector::ranksChanged, this, &DebugSession::ranksChanged);
  connect(&m_groups, &RankGroups::message, this, &DebugSession::message);
  connect(&m_breakpoints, &Breakpoints::message, this, &DebugSession::message);
  connect(&m_breakpoints, &Breakpoints::planChanged, this, &DebugSession::replan);
  connect(&m_breakpoints, &Breakpoints::marksChanged, this, &DebugSession::publishMarks);
  connect(&m_consoles, &GdbConsoles::consoleText, this, &DebugSession::consoleText);
}

DebugSession::~DebugSession() {
  const QSignalBlocker nobodyListens(this);
  finishCycle(tr("closed"));
}

void DebugSession::open(const QString& path, LoadedTrace trace) {
  m_next.reset();
  closeOutside();
  closeTarget();
  m_state.source = Source::Recording;
  m_toldInputs.clear();
  take(path, std::move(trace));
  m_goal = {};
  m_state.current = m_state.trace->failure.event.valid() ? m_state.trace->failure.event.rank : 0;
  m_focus = {m_state.current};
  readRecords();
  m_benign.open(m_store.get(), QString::fromStdString(m_state.run.program));
  Q_EMIT benignRacesChanged();
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

void DebugSession::startCycle(Goal goal) {
  if (!canReplay() || m_state.events.readsFirst([this, goal] { startCycle(goal); })) {
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
  m_goal = std::move(goal);
  launch();
}

void DebugSession::launch() {
  m_state.phase = Phase::Starting;
  m_state.now.clear();
  m_standing.clear();
  m_pausing.clear();
  joinFocus();
  m_breakpoints.followLines();
  m_state.diverged = false;
  m_inspector.beginCycle();
  m_buffers.beginCycle();
  m_groupRun.end();
  views::Cycle cycle;
  cycle.number = m_cycles.isEmpty() ? 1 : m_cycles.last().number + 1;
  cycle.started = QDateTime::currentDateTime();
  cycle.running = true;
  cycle.summary = m_goal.text;
  m_cycles.append(cycle);
  m_openHits.clear();
  saveCycle();
  Q_EMIT cyclesChanged();
  Q_EMIT progress(tr("Starting cycle %1 …").arg(cycle.number));
  Q_EMIT ranksChanged();

  Result<std::unique_ptr<Target>> target =
      m_makeReplay({m_store.get(), m_allowRebuilt, &m_closing});
  if (!target) {
    couldNotStart(QString::fromStdString(target.error().message),
                  QString::fromStdString(target.error().text()));
    return;
  }
  debug(std::move(*target));
}

void DebugSession::couldNotStart(const QString& summary, const QString& text) {
  m_state.phase = Phase::Idle;
  finishCycle(summary);
  Q_EMIT progress({});
  Q_EMIT message(text, true);
  Q_EMIT settled();
}

/// Begins to.
void DebugSession::debug(std::unique_ptr<Target> target) {
  m_target = std::move(target);
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
                   if (hello.rank == 0) {
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
                 [this](const protocol::GdbState& state) { onGdbState(state); },
                 [this](const protocol::MiFromGdb& mi) {
                   qCDebug(miLog).noquote()
                       << mi.rank << "<-" << QByteArray::fromStdString(mi.bytes).trimmed();
                   m_fleet.feed(mi.rank, mi.bytes);
                 },
                 [this](const protocol::Output& text) {
                   Q_EMIT output(
                       text.rank,
                       text.stream == 2 ? views::OutputStream::Err : views::OutputStream::Out,
                       QByteArray::fromStdString(text.bytes));
                 },
                 [this](const protocol::RankStack& stack) { m_stacks.answered(stack); },
                 [this](const protocol::Notice& notice) {
                   Q_EMIT this->message(QString::fromStdString(notice.text), false);
                 },
                 [this](const protocol::Nudged& nudged) {
                   mi::GdbSession* gdb = m_fleet.session(nudged.rank);
                   if (gdb != nullptr && gdb->state() == mi::SessionState::Stopped &&
                       gdb->stop().reason == mi::StopReason::Event) {
                     sendOn(nudged.rank);
                   }
                 },
                 [this](const protocol::SessionState& state) {
                   for (const protocol::RankState& rank : state.ranks) {
                     m_state.now[rank.rank].state = rank;
                   }
                   if (state.allGated && m_state.phase == Phase::Gating) {
                     attachFocus();
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
  if (mi::GdbSession* gdb = m_fleet.session(state.rank);
      !wasStopped && gdb != nullptr && gdb->state() == mi::SessionState::Stopped &&
      gdb->stop().reason == mi::StopReason::Event && mayGoOn(state.rank)) {
    sendOn(state.rank);
  }
  if (!wasStopped && state.phase == RankPhase::Stopped) {
    if (m_fleet.session(state.rank) == nullptr) {
      m_groupRun.arrived(state.rank);
    }
    noteStanding(state.rank);
  }
  if (state.inCall != 0 && m_stepping.contains(state.rank)) {
    letOthersFollow(state.rank, state.serial);
  }
  m_groupRun.moved(state.rank);
  if (m_state.phase == Phase::Running && !m_awaitsCut) {
    tellPositions();  // a step
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
  const EventRef at{diverged.rank, diverged.serial};
  if (diverged.goesOn) {
    Q_EMIT message(tr("Rank %1 has sent other contents than recorded at event %2: %3")
                       .arg(diverged.rank)
                       .arg(diverged.serial)
                       .arg(QString::fromStdString(app::eventText(m_state.whole().execution, at))),
                   true);
    return;
  }
  m_state.diverged = true;
  const bool known = diverged.expected.rfind("MPI_", 0) == 0;
  const QString besides = m_target->advice();
  const QString text =
      tr("Replay divergence at rank %1, event %2: expected %3, got %4")
          .arg(diverged.rank)
          .arg(diverged.serial)
          .arg(QString::fromStdString(known ? app::eventText(m_state.whole().execution, at)
                                            : diverged.expected),
               QString::fromStdString(diverged.got)) +
      (besides.isEmpty() ? besides : QLatin1Char('.') + besides);
  m_cycles.last().match = views::CycleMatch::Diverged;
  m_cycles.last().divergence = text;
  noteDivergence(at);
  Q_EMIT cyclesChanged();
  Q_EMIT message(text, true);
}

void DebugSession::onVerdict(const protocol::Verdict& verdict) {
  const QString text = QString::fromStdString(verdict.text);
  qCDebug(sessionLog).noquote() << "verdict" << static_cast<int>(verdict.kind) << text;
  switch (verdict.kind) {
    case protocol::VerdictKind::CutReached:
      if (!std::exchange(m_awaitsCut, false)) {
        break;  // a step has brought the ranks to rest; its own stop says so
      }
      settleOnceStopped(m_goal.event.valid() ? m_goal.text : tr("stopped"));
      break;
    case protocol::VerdictKind::Stalled:
    case protocol::VerdictKind::Deadlock:
      if (!verdict.proven && !(verdict.asRecorded && !m_state.run.complete)) {
        Q_EMIT message(tr("Nothing gets on in the replay, which may be right, in a long operation "
                          "or with much data: %1")
                           .arg(text),
                       false);
        break;
      }
      Q_EMIT message(m_state.run.complete
                         ? tr("The replay does not get on: %1").arg(text)
                         : tr("The ranks wait, as they did in the recording: %1").arg(text),
                     m_state.run.complete);
      Q_EMIT stalled(text, verdict.kind == protocol::VerdictKind::Deadlock);
      settle(verdict.kind == protocol::VerdictKind::Deadlock ? tr("deadlock")
                                                             : tr("all ranks wait"));
      break;
    case protocol::VerdictKind::Refused:
      Q_EMIT message(
          m_allowRebuilt
              ? text
              : tr("%1\nReplay, Allow a rebuilt program goes on all the same.").arg(text),
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

void DebugSession::onGdbState(const protocol::GdbState& state) {
  const int rank = state.rank;
  switch (state.state) {
    case protocol::GdbCondition::Attached:
      keepTranscript(rank,
                     m_fleet.add(rank, std::make_unique<TargetTransport>(rank, m_target.get())));
      m_target->attach(m_fleet, rank, state.pid,
                       [this, rank](const Status& status) { onAttached(rank, status); });
      break;
    case protocol::GdbCondition::Failed:
      m_state.now[rank].failedToAttach = true;
      Q_EMIT message(
          tr("Rank %1 has no debugger: %2").arg(rank).arg(QString::fromStdString(state.text)),
          true);
      noLongerAttaching(rank);
      break;
    case protocol::GdbCondition::Died:
    case protocol::GdbCondition::Detached:
      onDetached(state);
      noLongerAttaching(rank);
      break;
  }
  Q_EMIT ranksChanged();
}

void DebugSession::onAttached(int rank, const Status& status) {
  RankNow& now = m_state.now[rank];
  now.attached = status.ok();
  now.failedToAttach = !status.ok();
  if (!status) {
    Q_EMIT message(tr("Rank %1: %2").arg(rank).arg(QString::fromStdString(status.error().text())),
                   true);
  }
  if (m_state.source != Source::Recording) {
    outsideAttached(rank, status.ok());
    return;
  }
  noLongerAttaching(rank);
}

void DebugSession::noLongerAttaching(int rank) {
  m_attaching.remove(rank);
  attachDone();
}

void DebugSession::onDetached(const protocol::GdbState& state) {
  if (m_state.source != Source::Recording && state.state == protocol::GdbCondition::Detached) {
    forgetGdb(state.rank);
    return;
  }
  RankNow& now = m_state.now[state.rank];
  const bool wasAttached = std::exchange(now.attached, false);
  const QString why = QString::fromStdString(m_fleet.closed(state.rank, state.text));
  if (m_state.source != Source::Recording) {  // Detached follows
    now.failedToAttach = !wasAttached;
    Q_EMIT message(tr("The debugger of rank %1 is gone (%2). Tick the rank again for another one.")
                       .arg(state.rank)
                       .arg(why),
                   true);
  } else if (state.state == protocol::GdbCondition::Died && !now.exited) {
    Q_EMIT message(tr("The debugger of rank %1 is gone (%2). The rank goes on without it; "
                      "restart the cycle to get it back.")
                       .arg(state.rank)
                       .arg(why),
                   true);
  }
}

void DebugSession::launcherEnded(int status, const QString& words) {
  if (!m_state.haveStarted() && !m_state.diverged) {
    Q_EMIT message(tr("The launcher ended with status %1 before all ranks had called MPI_Init. %2")
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
  for (const mi::Rank rank : m_fleet.ranks()) {
    m_fleet.remove(rank);
  }
  m_attaching.clear();
  m_stepping.clear();
  if (m_target == nullptr) {
    return;
  }
  m_inspector.goesOn();
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
  } else {
    Q_EMIT settled();
  }
}

void DebugSession::endReplay() {
  m_next.reset();
  endSearch();
  if (m_state.source != Source::Recording) {
    closeOutside();
    return;
  }
  if (m_state.phase != Phase::Idle && m_state.phase != Phase::Ending) {
    finishCycle(tr("ended by the user"));
    closeTarget();
  }
}

}  // namespace pf::session
