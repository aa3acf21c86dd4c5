// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/recording/recording_follower.h"

#include <sys/prctl.h>
#include <sys/resource.h>

#include <algorithm>
#include <csignal>
#include <ctime>
#include <utility>

#include <QFile>
#include <QFileInfo>
#include <QFutureWatcher>
#include <QLocale>
#include <QThread>

#include "app/gui/panes/physical_pyramid.h"
#include "app/job/job.h"
#include "app/session/state/in_background.h"
#include "db/store/trace_store.h"

namespace pf::gui {
namespace {

constexpr int kTick = 250;           // ms
constexpr qint64 kFirst = 1000;      // ms after the beginning
constexpr qint64 kShare = 5;         // making takes one part of so many of a processor's time,
constexpr qint64 kLongest = 30'000;  // but none waits longer (ms)
constexpr qint64 kLongestSurvey = 600'000;  // than this, where the program runs once more for each
// One third of what a rank gets that keeps a processor busy. With 19 it would be a hundredth: where
// ranks poll on all processors, a trace that takes 0.03 s took many.
constexpr int kNice = 5;
constexpr int kEnding = 3000;  // ms

/// Reads a version, and what the diagram draws it from.
RecordingFollower::VersionPtr read(const QString& path, bool last, bool physical,
                                   std::optional<Error>& error) {
  Result<session::LoadedTrace> trace =
      session::loadTrace(path, nullptr, session::mostEventsInMemory());
  if (!trace) {
    error = trace.error();
    return nullptr;
  }
  auto version = std::make_shared<RecordingFollower::Version>();
  version->path = path;
  version->last = last;
  version->trace = std::move(*trace);
  version->index = views::makeIndex(version->trace.data);
  if (physical) {
    version->physical = views::TraceIndex::onPhysicalAxis(*version->index, physicalPyramid);
  }
  return version;
}

/// Processor time that ended child processes of this one have taken, and theirs (ms).
qint64 timeOfChildren() {
  rusage usage{};
  ::getrusage(RUSAGE_CHILDREN, &usage);
  return (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000 +
         (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1000;
}

/// Of this thread (ms).
qint64 timeOfThread() {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return time.tv_sec * 1000 + time.tv_nsec / 1'000'000;
}

/// What the user has added to `from` goes into the version's file.
std::optional<Error> carryFrom(const QString& from, RecordingFollower::Version& version) {
  version.carriedFrom = from;
  Result<db::TraceStore> old =
      db::TraceStore::open(from.toStdString(), db::TraceStore::Mode::ReadOnly);
  if (!old) {
    return old.error();
  }
  Result<session::SessionRecords> records = session::readRecords(*old);
  if (!records) {
    return records.error();
  }
  const session::SessionRecords before = std::exchange(version.carried, std::move(*records));
  if (version.carried == before) {
    return std::nullopt;
  }
  Result<db::TraceStore> store =
      db::TraceStore::open(version.path.toStdString(), db::TraceStore::Mode::ReadWrite);
  const Result<bool> same =
      store ? session::copyRecords(before, version.carried, *store) : Result<bool>(store.error());
  if (!same) {
    return same.error();
  }
  version.sameIds = version.sameIds && *same;
  return std::nullopt;
}

}  // namespace

RecordingFollower::RecordingFollower(QObject* parent) : QObject(parent) {
  m_pool.setMaxThreadCount(1);
  m_tick.setInterval(kTick);
  connect(&m_tick, &QTimer::timeout, this, &RecordingFollower::tick);
}

RecordingFollower::~RecordingFollower() {
  blockSignals(true);  // who listens may be gone
  stop();
  for (QProcess* process : findChildren<QProcess*>()) {
    process->disconnect(this);
    if (process->state() != QProcess::NotRunning && !process->waitForFinished(kEnding)) {
      process->kill();
      process->waitForFinished(kEnding);
    }
  }
  m_pool.waitForDone();
}

template <typename T, typename Compute, typename Done>
void RecordingFollower::work(Compute compute, Done done) {
  using Kept = std::shared_ptr<T>;
  auto* watcher = new QFutureWatcher<Kept>(this);
  connect(watcher, &QFutureWatcherBase::finished, this,
          [this, watcher, number = m_number, done = std::move(done)] {
            watcher->deleteLater();
            if (number == m_number) {
              done(*watcher->result());
            }
          });
  watcher->setFuture(session::inBackground(
      &m_pool, [compute = std::move(compute)] { return std::make_shared<T>(caught(compute)); }));
}

void RecordingFollower::follow(const QString& trace, const QString& open) {
  stop();
  m_trace = trace;
  m_pause = kFirst;
  wait();
  m_grown = 0;
  m_seen = false;
  m_ending = false;
  if (trace != m_lastTrace || open != m_shown) {
    m_left = std::exchange(m_shown, {});
    m_lastTrace = trace;
    m_events = 0;
    m_surveys = false;
    m_asOf.invalidate();
  }
  m_tick.start();
  tell();
}

void RecordingFollower::stop() {
  ++m_number;
  m_tick.stop();
  m_looking = false;
  m_trace.clear();
  m_ready.reset();
  m_problem.clear();
  endProcess();
  tell();
}

void RecordingFollower::tick() {
  if (m_phase == Phase::Ready && m_mayShow()) {
    carry();
  }
  if (m_phase == Phase::Waiting || m_phase == Phase::Making) {
    look();
  }
  tell();
}

/// At the logs, on the thread: they may lie on a slow file system.
void RecordingFollower::look() {
  if (std::exchange(m_looking, true)) {
    return;
  }
  work<app::RecordingNow>([trace = m_trace.toStdString()] { return app::recordingNow(trace); },
                          [this](const app::RecordingNow& now) {
                            m_looking = false;
                            looked(now);
                          });
}

void RecordingFollower::looked(const app::RecordingNow& now) {
  const bool due = m_waiting.elapsed() >= m_pause;
  m_seen = m_seen || now.logs || now.trace;
  if (!m_seen) {
    return;
  }
  if (!now.logs && !now.trace) {
    giveUp(tr("The recording of %1 is gone: neither its logs nor its trace are there any more.")
               .arg(QFileInfo(m_trace).fileName()));
  } else if (!now.logs) {
    endProcess();
    load(m_trace, true);
  } else if (m_phase != Phase::Waiting || !due || now.trace) {
    return;  // (with its trace there, it is about to end)
  } else if (now.recorder || now.grown > m_grown) {
    if (now.grown > m_grown) {
      make(now);
    }
  } else {  // The recorder was killed: its ranks may go on, else the trace is made of what there
            // is.
    load(m_trace, true);
  }
}

/// By a process of its own, so that it disturbs neither the ranks nor this window: it comes last
/// where the processor is wanted, and its memory goes with it.
void RecordingFollower::make(const app::RecordingNow& now) {
  if (m_directory == nullptr) {
    m_directory = std::make_unique<PeekDirectory>();
  }
  const QString path = m_directory->newFile(QFileInfo(m_trace).fileName());
  if (path.isEmpty()) {
    failed(m_directory->problem());
    return;
  }
  m_phase = Phase::Making;
  m_making.start();
  m_before = timeOfChildren();
  m_asOfNext.start();
  m_grown = now.grown;
  m_said.clear();
  auto* process = new QProcess(this);
  m_process = process;
  process->setStandardInputFile(QProcess::nullDevice());
  process->setStandardOutputFile(QProcess::nullDevice());
  process->setChildProcessModifier([] {
    ::setpriority(PRIO_PROCESS, 0, kNice);
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  });
  connect(process, &QProcess::readyReadStandardError, this, [this, process] {
    constexpr qsizetype kKept = 4096;
    m_said = (m_said + process->readAllStandardError()).right(kKept);
  });
  connect(process, &QProcess::errorOccurred, this,
          [this, process, path](QProcess::ProcessError error) {
            if (error == QProcess::FailedToStart && process == m_process) {
              m_said = process->errorString().toUtf8();
              makingEnded(false, path);
            }
          });
  connect(process, &QProcess::finished, this,
          [this, process, path](int status, QProcess::ExitStatus how) {
            process->deleteLater();
            if (process == m_process) {
              makingEnded(how == QProcess::NormalExit && status == 0, path);
            } else {
              PeekDirectory::remove(path);  // no longer wanted
            }
          });
  process->start(QString::fromStdString(app::programDirectory()) + QStringLiteral("/photofinish"),
                 {QStringLiteral("peek"), QStringLiteral("--survey"), m_trace, path});
}

void RecordingFollower::makingEnded(bool good, const QString& path) {
  m_process = nullptr;
  // (Other children may have ended meanwhile. Only a survey runs on several processors.)
  m_cost = std::min(timeOfChildren() - m_before,
                    m_making.elapsed() * (m_surveys ? QThread::idealThreadCount() : 1));
  if (good) {
    load(path, false);
    return;
  }
  PeekDirectory::remove(path);
  m_grown = 0;
  QString said = QString::fromUtf8(m_said).trimmed().section(QLatin1Char('\n'), -1);
  const QString prefix = QStringLiteral("photofinish: ");
  said = said.startsWith(prefix) ? said.mid(prefix.size()) : said;
  failed(said.isEmpty() ? tr("its trace could not be made") : said);
}

void RecordingFollower::load(const QString& path, bool last) {
  m_phase = Phase::Loading;
  m_ending = last;
  if (last) {
    m_asOfNext.start();
  }
  work<Loaded>(
      [path, last, physical = m_wantsPhysical()] {
        Loaded loaded;
        const qint64 before = timeOfThread();
        loaded.version = read(path, last, physical, loaded.error);
        loaded.time = timeOfThread() - before;
        return loaded;
      },
      [this, path, last](const Loaded& done) { loaded(done, path, last); });
}

void RecordingFollower::loaded(const Loaded& done, const QString& path, bool last) {
  if (done.version != nullptr) {
    m_ready = done.version;
    m_cost += done.time;
    m_surveys = m_ready->trace.run.mode != "all";
    m_phase = Phase::Ready;
    tick();
    return;
  }
  const QString why = QString::fromStdString(done.error->text());
  if (!last) {
    PeekDirectory::remove(path);
    m_grown = 0;
    failed(why);
  } else if (!QFileInfo::exists(m_trace) && done.error->code == ErrorCode::System) {
    failed(
        tr("its recorder was killed, and its ranks go on"));  // what they have done by now is shown
  } else {
    giveUp(why);
  }
}

void RecordingFollower::carry() {
  const VersionPtr version = m_ready;
  if (m_shown.isEmpty() || !QFileInfo::exists(m_shown)) {
    handOut();
    return;
  }
  m_phase = Phase::Carrying;
  work<std::optional<Error>>(
      [version, from = m_shown] { return carryFrom(from, *version); },
      [this](const std::optional<Error>& problem) {
        if (problem) {
          giveUp(tr("What was added to %1 cannot be brought into its newer version, so the older "
                    "one stays: %2")
                     .arg(QFileInfo(m_trace).fileName(), QString::fromStdString(problem->text())));
        } else if (m_mayShow()) {
          handOut();
        } else {
          m_phase = Phase::Ready;  // once more: what was carried may be changed until then
        }
      });
}

void RecordingFollower::handOut() {
  const VersionPtr version = std::exchange(m_ready, nullptr);
  const QString before = std::exchange(m_shown, version->path);
  m_problem.clear();
  m_events = version->index->eventCount();
  m_asOf = m_asOfNext;
  setPause();
  wait();
  const quint64 number = m_number;
  Q_EMIT newer(version);
  for (const QString& old : {before, std::exchange(m_left, {})}) {
    if (m_directory != nullptr && old != version->path && m_directory->holds(old)) {
      PeekDirectory::remove(old);
    }
  }
  if (version->last && number == m_number) {
    giveUp({});
  }
  tell();
}

void RecordingFollower::failed(const QString& why) {
  m_problem = why;
  setPause();
  wait();
  tell();
}

/// Until the next one is made. By processor time: where the ranks want all processors, making one
/// takes long, and hardly anything from them.
void RecordingFollower::setPause() {
  const qint64 took = m_making.isValid() ? m_making.elapsed() : 0;
  m_pause =
      std::clamp(std::max(m_cost * kShare, took), kFirst, m_surveys ? kLongestSurvey : kLongest);
}

void RecordingFollower::wait() {
  m_phase = Phase::Waiting;
  m_waiting.start();
}

void RecordingFollower::endProcess() {
  if (QProcess* process = std::exchange(m_process, nullptr)) {
    process->terminate();
    QTimer::singleShot(kEnding, process, &QProcess::kill);
  }
}

void RecordingFollower::giveUp(const QString& problem) {
  stop();
  Q_EMIT ended(problem);
}

void RecordingFollower::tell() {
  QString text;
  if (isFollowing()) {
    const QLocale locale;
    const QString name = QFileInfo(m_trace).fileName();
    text = m_events == 0
               ? tr("following %1: no events yet").arg(name)
               : tr("following %1: %2 events, as of %3 s ago; times and races may still change")
                     .arg(name, locale.toString(static_cast<qulonglong>(m_events)))
                     .arg(m_asOf.isValid() ? m_asOf.elapsed() / 1000 : 0);
    if (m_ending) {
      text = tr("following %1: the recording has ended; reading its trace …").arg(name);
    } else if (m_phase == Phase::Ready) {
      text += tr(" (newer ones wait for the replay to end)");
    } else if (!m_problem.isEmpty()) {
      text += tr(" (none newer: %1)").arg(m_problem);
    } else if (m_phase == Phase::Making && m_surveys) {
      text += tr(" (newer ones are being seen in a replay)");
    }
  }
  if (text != m_told) {
    m_told = text;
    Q_EMIT statusChanged(text);
  }
}

}  // namespace pf::gui

#include "moc_recording_follower.cpp"
