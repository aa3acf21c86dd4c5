// SPDX-License-Identifier: GPL-3.0-or-later
// The job of a cycle: starting it, what its daemon says, its end.
#include "app/session/debug_session.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <utility>

#include <QCoreApplication>
#include <QFutureWatcher>
#include <QLoggingCategory>

#include "app/replaying/replay.h"
#include "app/session/in_background.h"
#include "replay_engine/base/unique_fd.h"

namespace pf::session {
namespace {

// QT_LOGGING_RULES="photofinish.*=true" shows all MI text and what the daemon says.
Q_LOGGING_CATEGORY(miLog, "photofinish.mi", QtWarningMsg)
Q_LOGGING_CATEGORY(sessionLog, "photofinish.session", QtWarningMsg)

constexpr std::size_t kMostOfLauncher = 2000;  ///< bytes of its output that are shown

/// MI text to one GDB, through daemon and agent.
class DaemonTransport final : public mi::Transport {
 public:
  DaemonTransport(int rank, std::function<void(const protocol::Message&)> send)
      : m_rank(rank), m_send(std::move(send)) {}
  void send(std::string_view bytes) override {
    qCDebug(miLog).noquote()
        << m_rank << "->"
        << QByteArray(bytes.data(), static_cast<qsizetype>(bytes.size())).trimmed();
    for (std::size_t i = 0; i < bytes.size(); i += protocol::kMaxChunk) {
      m_send(protocol::MiToGdb{m_rank, std::string(bytes.substr(i, protocol::kMaxChunk))});
    }
  }

 private:
  int m_rank;
  std::function<void(const protocol::Message&)> m_send;
};

}  // namespace

DebugSession::DebugSession(QObject* parent) : QObject(parent), m_fleet(*this) {
  m_tick.setInterval(100);
  m_closing.setMaxThreadCount(64);
  connect(&m_tick, &QTimer::timeout, this, [this] {
    for (const std::string& text :
         m_job != nullptr ? m_job->notices() : std::vector<std::string>()) {
      Q_EMIT message(QString::fromStdString(text), false);
    }
    m_fleet.tick(std::chrono::steady_clock::now());
    launcherEnded();
    lookForEnded();
  });
}

DebugSession::~DebugSession() {
  {
    const QSignalBlocker nobodyListens(this);
    finishCycle(tr("closed"));
  }
  m_daemonNotifier.reset();
  m_launcherNotifier.reset();
  m_job.reset();
}

void DebugSession::open(const QString& path, LoadedTrace trace) {
  m_next.reset();
  closeOutside();
  closeJob();
  m_source = Source::Recording;
  m_path = path;
  m_trace = std::move(trace.data);
  m_whole.reset();
  m_afterReading.clear();
  m_resolving = false;
  m_toldInputs.clear();
  m_run = std::move(trace.run);
  m_rankInfos = std::move(trace.ranks);
  m_now.clear();
  m_goal = {};
  m_current = m_trace->failure.event.valid() ? m_trace->failure.event.rank : 0;
  m_focus = {m_current};
  readRecords();
  m_benign.open(m_store.get(), QString::fromStdString(m_run.program));
  Q_EMIT benignRacesChanged();
  Q_EMIT ranksChanged();
  Q_EMIT currentRankChanged(m_current);
}

void DebugSession::startCycle(Goal goal) {
  if (!canReplay() || readsFirst([this, goal] { startCycle(goal); })) {
    return;
  }
  if (m_phase != Phase::Idle) {
    m_next = std::move(goal);
    if (m_phase != Phase::Starting && m_phase != Phase::Ending) {
      finishCycle(tr("restarted"));
      closeJob();
    }
    return;
  }
  m_goal = std::move(goal);
  launch();
}

void DebugSession::launch() {
  m_phase = Phase::Starting;
  m_now.clear();
  m_standing.clear();
  m_pausing.clear();
  joinFocus();
  followLines();
  m_diverged = false;
  m_thread = 0;
  setAltered(false);
  m_noted.clear();
  endGroupRun();
  dropVariables();
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

  protocol::SessionConfig config;
  config.pty = true;
  config.echo = false;
  config.watchIntervalMs = 30;
  Result<app::JobOptions> options = app::replayJob(*m_store, config, 0, {}, m_allowRebuilt);
  Result<std::vector<db::RankCounter>> used = m_store->counters();
  if (!options || !used) {
    const Error& error = options ? used.error() : options.error();
    m_phase = Phase::Idle;
    finishCycle(QString::fromStdString(error.message));
    Q_EMIT progress({});
    Q_EMIT message(QString::fromStdString(error.text()), true);
    Q_EMIT settled();
    return;
  }
  m_inputs = std::make_shared<app::ReplayInputs>();
  auto changed = std::make_shared<app::ReplayInputs::Lines>();
  auto job = std::make_shared<Result<std::unique_ptr<app::Job>>>(Error{});
  auto* watcher = new QFutureWatcher<void>(this);
  connect(watcher, &QFutureWatcher<void>::finished, this,
          [this, watcher, job, changed, jobs = m_jobs] {
            watcher->deleteLater();
            if (jobs != m_jobs) {  // core files or a running job have been opened meanwhile
              (void)inBackground([job] { *job = Error{}; });
              return;
            }
            tellInputs(*changed);
            adopt(job);
          });
  m_launcherOutput = std::make_shared<UniqueFd>(memfd_create("photofinish-launcher", MFD_CLOEXEC));
  watcher->setFuture(inBackground(
      [job, changed, said = m_launcherOutput, options = std::move(*options), inputs = m_inputs,
       used = std::move(*used), ranks = m_rankInfos, host = m_run.host]() mutable {
        *changed = inputs->look(used, ranks, host);
        const UniqueFd null(::open("/dev/null", O_RDWR | O_CLOEXEC));
        options.input = null.get();
        options.output = options.error = said->valid() ? said->get() : null.get();
        *job = caught([&options] { return app::Job::start(std::move(options)); });
      }));
}

void DebugSession::adopt(std::shared_ptr<Result<std::unique_ptr<app::Job>>> job) {
  if (!job->ok()) {
    m_phase = Phase::Idle;
    finishCycle(tr("could not be started"));
    Q_EMIT progress({});
    Q_EMIT message(QString::fromStdString(job->error().text()), true);
    Q_EMIT settled();
    return;
  }
  m_job = std::move(job->value());
  m_phase = Phase::Gating;
  m_daemonNotifier =
      std::make_unique<QSocketNotifier>(m_job->connection()->fd(), QSocketNotifier::Read);
  connect(m_daemonNotifier.get(), &QSocketNotifier::activated, this, &DebugSession::readDaemon);
  m_launcherNotifier =
      std::make_unique<QSocketNotifier>(m_job->launcherFd(), QSocketNotifier::Read);
  connect(m_launcherNotifier.get(), &QSocketNotifier::activated, this,
          &DebugSession::launcherEnded);
  m_tick.start();
  if (m_next || m_abandon) {  // something else was asked for meanwhile
    m_abandon = false;
    finishCycle(tr("restarted"));
    closeJob();
    return;
  }
  readDaemon();
}

void DebugSession::tellInputs(const app::ReplayInputs::Lines& lines) {
  m_cycles.last().inputs = QString::fromStdString(m_inputs->atEnd());
  for (const std::string& line : lines) {
    QString text = QString::fromStdString(line) + QLatin1Char('.');
    text[0] = text.at(0).toUpper();
    if (!m_toldInputs.contains(text)) {
      m_toldInputs.insert(text);
      Q_EMIT message(text, false);
    }
  }
}

void DebugSession::sendToDaemon(const protocol::Message& message) {
  if (m_job != nullptr) {
    if (Status status = m_job->send(message); !status) {
      Q_EMIT this->message(QString::fromStdString(status.error().text()), true);
    }
  }
}

void DebugSession::readDaemon() {
  const quint64 generation = m_generation;
  while (m_job != nullptr && m_job->connection() != nullptr && generation == m_generation) {
    auto next = m_job->connection()->receive();
    if (!next) {
      m_daemonNotifier->setEnabled(false);
      m_job->loseConnection();
      if (m_phase != Phase::Ending) {
        Q_EMIT message(tr("The control daemon is gone: this cycle has ended. Restart it; nothing "
                          "of the trace is lost."),
                       true);
        finishCycle(tr("control daemon lost"));
        closeJob();
      }
      return;
    }
    if (!next->has_value()) {
      return;
    }
    m_job->note(**next);
    handle(**next);
  }
}

void DebugSession::handle(const protocol::Message& message) {
  std::visit(protocol::Overloaded{
                 [this](const protocol::RankHello& hello) {
                   m_now[hello.rank].pid = hello.pid;
                   m_now[hello.rank].host = QString::fromStdString(hello.host);
                   if (hello.rank == 0) {
                     m_cycles.last().build = QString::fromStdString(hello.buildId);
                   }
                 },
                 [this](const protocol::RankLaunched& launched) {
                   tellInputs(m_inputs->launched(launched, false));
                 },
                 [this](const protocol::RankState& state) { onState(state); },
                 [this](const protocol::RankExited& exited) { onExited(exited); },
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
                 [this](const protocol::RankStack& stack) { onStack(stack); },
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
                     m_now[rank.rank].state = rank;
                   }
                   if (state.allGated && m_phase == Phase::Gating) {
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
  RankNow& now = m_now[state.rank];
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
      arrived(state.rank);
    }
    noteStanding(state.rank);
  }
  if (state.inCall != 0 && m_stepping.contains(state.rank)) {
    letOthersFollow(state.rank, state.serial);
  }
  if (!m_groupRunTold.isEmpty() && m_groupRun.underWay.contains(state.rank)) {
    tellGroupRun();
  }
  if (m_phase == Phase::Running && !m_awaitsCut) {
    tellPositions();  // a step
  }
  Q_EMIT ranksChanged();
}

void DebugSession::onExited(const protocol::RankExited& exited) {
  if (exited.rank < 0) {
    return;
  }
  RankNow& now = m_now[exited.rank];
  now.exited = true;
  now.end = QString::fromStdString(exited.text);
  arrived(exited.rank);
  Q_EMIT ranksChanged();
}

void DebugSession::onDiverged(const protocol::RankDiverged& diverged) {
  const EventRef at{diverged.rank, diverged.serial};
  if (diverged.goesOn) {
    Q_EMIT message(tr("Rank %1 has sent other contents than recorded at event %2: %3")
                       .arg(diverged.rank)
                       .arg(diverged.serial)
                       .arg(QString::fromStdString(app::eventText(whole().execution, at))),
                   true);
    return;
  }
  m_diverged = true;
  const bool known = diverged.expected.rfind("MPI_", 0) == 0;
  const std::string besides = m_inputs->advice({});
  const QString text = tr("Replay divergence at rank %1, event %2: expected %3, got %4")
                           .arg(diverged.rank)
                           .arg(diverged.serial)
                           .arg(QString::fromStdString(known ? app::eventText(whole().execution, at)
                                                             : diverged.expected),
                                QString::fromStdString(diverged.got)) +
                       QString::fromStdString(besides.empty() ? besides : "." + besides);
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
      if (!verdict.proven && !(verdict.asRecorded && !m_run.complete)) {
        Q_EMIT message(tr("Nothing gets on in the replay, which may be right, in a long operation "
                          "or with much data: %1")
                           .arg(text),
                       false);
        break;
      }
      Q_EMIT message(m_run.complete
                         ? tr("The replay does not get on: %1").arg(text)
                         : tr("The ranks wait, as they did in the recording: %1").arg(text),
                     m_run.complete);
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
      closeJob();
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
  std::string why = state.text;
  switch (state.state) {
    case protocol::GdbCondition::Attached: {
      keepTranscript(
          rank,
          m_fleet.add(rank, std::make_unique<DaemonTransport>(
                                rank, [this](const protocol::Message& m) { sendToDaemon(m); })));
      m_fleet.startAndAttach(rank, state.pid, [this, rank](const Status& status) {
        RankNow& now = m_now[rank];
        now.attached = status.ok();
        now.failedToAttach = !status.ok();
        if (!status) {
          Q_EMIT message(
              tr("Rank %1: %2").arg(rank).arg(QString::fromStdString(status.error().text())), true);
        }
        m_attaching.remove(rank);
        attachDone();
      });
      break;
    }
    case protocol::GdbCondition::Failed:
      m_now[rank].failedToAttach = true;
      m_attaching.remove(rank);
      Q_EMIT message(
          tr("Rank %1 has no debugger: %2").arg(rank).arg(QString::fromStdString(state.text)),
          true);
      attachDone();
      break;
    case protocol::GdbCondition::Died:
    case protocol::GdbCondition::Detached:
      m_now[rank].attached = false;
      why = m_fleet.closed(rank, why);
      m_attaching.remove(rank);
      if (state.state == protocol::GdbCondition::Died && !m_now[rank].exited) {
        Q_EMIT message(tr("The debugger of rank %1 is gone (%2). The rank goes on without it; "
                          "restart the cycle to get it back.")
                           .arg(rank)
                           .arg(QString::fromStdString(why)),
                       true);
      }
      attachDone();
      break;
  }
  Q_EMIT ranksChanged();
}

void DebugSession::launcherEnded() {
  if (m_job == nullptr) {
    return;
  }
  readDaemon();
  if (m_job == nullptr) {
    return;
  }
  const std::optional<int> status = m_job->launcherStatus();
  if (!status) {
    return;
  }
  m_launcherNotifier->setEnabled(false);
  if (!haveStarted() && !m_diverged) {
    const QString said = launcherSaid();
    Q_EMIT message(tr("The launcher ended with status %1 before all ranks had called MPI_Init. %2")
                       .arg(*status)
                       .arg(said.isEmpty() ? tr("It said nothing.") : tr("It said: ") + said),
                   true);
    finishCycle(tr("did not start: the launcher ended with status %1").arg(*status));
  } else {
    finishCycle(m_diverged ? tr("diverged") : tr("ran to the end, exit status %1").arg(*status));
  }
  Q_EMIT ended(*status);
  closeJob();
}

/// What the launcher printed itself (the ranks have terminals of their own), on one line.
QString DebugSession::launcherSaid() const {
  std::array<char, kMostOfLauncher> text;
  const ssize_t n = m_launcherOutput == nullptr
                        ? 0
                        : ::pread(m_launcherOutput->get(), text.data(), text.size(), 0);
  QStringList lines;
  const QString all = QString::fromLocal8Bit(text.data(), std::max<ssize_t>(n, 0));
  for (const QString& line : all.split(QLatin1Char('\n'))) {
    const QString words = line.simplified();
    if (words.count(QLatin1Char('-')) < words.size()) {  // no ruled line
      lines << words;
    }
  }
  return lines.join(QLatin1Char(' '));
}

void DebugSession::closeJob(const std::function<void()>& then) {
  m_daemonNotifier.reset();
  m_launcherNotifier.reset();
  m_tick.stop();
  for (const mi::Rank rank : m_fleet.ranks()) {
    m_fleet.remove(rank);
  }
  m_attaching.clear();
  m_stepping.clear();
  ++m_generation;
  if (m_job == nullptr) {
    m_abandon = m_phase == Phase::Starting;
    return;
  }
  dropVariables();
  std::shared_ptr<app::Job> job = std::move(m_job);
  auto last = [job = std::move(job)]() mutable { job.reset(); };
  // Where its agents are there, its ranks are killed long before those of the next cycle come.
  if (m_next && !then && haveStarted()) {
    (void)inBackground(&m_closing, std::move(last));
    m_phase = Phase::Idle;
    startCycle(*std::exchange(m_next, std::nullopt));
    return;
  }
  m_phase = Phase::Ending;
  auto* watcher = new QFutureWatcher<void>(this);
  connect(watcher, &QFutureWatcher<void>::finished, this, [this, watcher, then, jobs = m_jobs] {
    watcher->deleteLater();
    if (jobs != m_jobs) {
      return;
    }
    m_phase = Phase::Idle;
    Q_EMIT progress({});
    Q_EMIT ranksChanged();
    if (then) {
      then();
    }
    if (m_next) {
      startCycle(*std::exchange(m_next, std::nullopt));
    } else {
      Q_EMIT settled();
    }
  });
  watcher->setFuture(inBackground(&m_closing, std::move(last)));
}

void DebugSession::endReplay() {
  m_next.reset();
  endSearch();
  if (m_source != Source::Recording) {
    closeOutside();
    return;
  }
  if (m_phase != Phase::Idle && m_phase != Phase::Ending) {
    finishCycle(tr("ended by the user"));
    closeJob();
  }
}

Serial DebugSession::serialOf(int rank) const {
  const auto found = m_now.find(rank);
  return found == m_now.end() ? 0 : found->second.state.serial;
}

}  // namespace pf::session
