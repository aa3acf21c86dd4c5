// SPDX-License-Identifier: GPL-3.0-or-later
// From the launch of a recording to the first stop, and the ends of a session.
#include <sys/stat.h>

#include <QCoreApplication>
#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QFutureWatcher>

#include "app/dap/dap_server.h"
#include "app/job/job.h"
#include "app/session/records/trusted_trace.h"
#include "app/session/state/in_background.h"

namespace pf::headless {
namespace {

constexpr std::size_t kFocusAllUpTo = 16;  ///< ranks: each GDB takes some 60 MB

/// PROGRAM-N.pft in `directory`, as 'photofinish record' names its traces.
QString freeTraceName(const QString& directory, const std::string& program) {
  const QString base = QFileInfo(QString::fromStdString(program)).fileName();
  for (int i = 1;; ++i) {
    const QString name = QDir(directory).filePath(QStringLiteral("%1-%2.pft").arg(base).arg(i));
    if (!QFile::exists(name) && !QFile::exists(name + QStringLiteral(".d"))) {
      return name;
    }
  }
}

/// Which file (inode) has this name; 0: none.
quint64 fileAt(const QString& path) {
  struct stat info {};
  return ::stat(QFile::encodeName(path).constData(), &info) == 0 ? quint64{info.st_ino} : 0;
}

}  // namespace

void DapServer::launch(const Request& request) {
  Result<LaunchArguments> arguments = parseLaunchArguments(request.arguments);
  if (!arguments) {
    fail(request, arguments.error().message, arguments.error().advice);
    return;
  }
  if (arguments->noDebug && !arguments->trace.empty()) {
    fail(request, "a trace is replayed to be debugged, and 'noDebug' is set",
         "Launch 'program' without debugging, or the trace with it.");
    return;
  }
  m_arguments = std::move(*arguments);
  m_launch = request;
  m_state = State::Launching;
  if (m_arguments.trace.empty()) {
    record();
  } else {
    load(fromClient(m_arguments.trace));
  }
}

void DapServer::record() {
  const QString directory =
      m_arguments.directory.empty() ? QDir::currentPath() : fromClient(m_arguments.directory);
  m_trace = m_arguments.output.empty()
                ? freeTraceName(directory, word(m_launch->arguments, "program"))
                : QDir(directory).filePath(fromClient(m_arguments.output));
  m_formerFile = fileAt(m_trace);
  QStringList words = {QStringLiteral("record"), QStringLiteral("--end-stuck"),
                       QStringLiteral("-o"), m_trace};
  if (m_arguments.jitter > 0) {
    words << QStringLiteral("--jitter") << QString::number(m_arguments.jitter);
  }
  for (const std::string& each : m_arguments.command) {
    words << QString::fromStdString(each);
  }
  m_recorder = std::make_unique<QProcess>();
  QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
  for (const auto& [name, value] : m_arguments.environment) {
    environment.insert(QString::fromStdString(name), QString::fromStdString(value));
  }
  m_recorder->setProcessEnvironment(environment);
  m_recorder->setWorkingDirectory(directory);
  m_recorder->setStandardInputFile(QProcess::nullDevice());
  connect(m_recorder.get(), &QProcess::readyReadStandardOutput, this, [this] {
    const std::string bytes = m_recorder->readAllStandardOutput().toStdString();
    send(eventMessage("output", {{"category", "stdout"}, {"output", bytes}}));
  });
  connect(m_recorder.get(), &QProcess::readyReadStandardError, this, [this] {
    const QByteArray bytes = m_recorder->readAllStandardError();
    m_recorderSaid = (m_recorderSaid + bytes).right(4096);
    send(eventMessage("output", {{"category", "stderr"}, {"output", bytes.toStdString()}}));
  });
  connect(m_recorder.get(), &QProcess::finished, this,
          [this](int status, QProcess::ExitStatus how) {
            recorded(how == QProcess::NormalExit ? status : 128 + status);
          });
  connect(m_recorder.get(), &QProcess::errorOccurred, this, [this](QProcess::ProcessError error) {
    if (error == QProcess::FailedToStart) {
      m_recorderSaid = m_recorder->errorString().toUtf8();
      recorded(1);
    }
  });
  showProgress(tr("Recording …"));
  m_recorder->start(QString::fromStdString(app::programDirectory() + "/photofinish"), words);
}

void DapServer::recorded(int status) {
  m_recorder.release()->deleteLater();
  if (m_finishing) {
    finishStep();
    return;
  }
  if (m_state == State::Over) {
    return;  // terminated meanwhile
  }
  if (const quint64 file = fileAt(m_trace); file == 0 || file == m_formerFile) {
    const QString said = QString::fromUtf8(m_recorderSaid).trimmed();
    launchFails({ErrorCode::System, "the program could not be recorded",
                 said.isEmpty() ? "Try the command in a terminal." : said.toStdString()});
    return;
  }
  if (m_arguments.noDebug) {
    showProgress({});
    succeed(*m_launch);
    over(status);
    return;
  }
  load(m_trace);
}

void DapServer::load(const QString& trace) {
  m_trace = QFileInfo(trace).absoluteFilePath();
  showProgress(tr("Opening %1; a trace that holds choices only is surveyed first …")
                   .arg(QFileInfo(trace).fileName()));
  // What has been recorded just now is one's own.
  const auto consent = m_launch->arguments.find("trust");
  const bool trusted = qApp->property(session::kTrusted).toBool() || m_arguments.trace.empty() ||
                       (consent != m_launch->arguments.end() && *consent == true);
  m_loader.setFuture(session::inBackground([path = m_trace, trusted] {
    return std::make_shared<Result<session::LoadedTrace>>(session::loadToReplay(path, trusted));
  }));
}

void DapServer::launchFails(const Error& error) {
  showProgress({});
  m_state = State::Initialized;
  send(errorResponse(m_launch->seq, m_launch->command, error));
  m_launch.reset();
}

void DapServer::loaded() {
  const std::shared_ptr<Result<session::LoadedTrace>> trace = m_loader.result();
  if (m_finishing) {
    finishStep();
    return;
  }
  if (m_state == State::Over) {
    return;
  }
  if (!trace->ok()) {
    launchFails(trace->error());
    return;
  }
  const auto ranks = static_cast<int>((*trace)->ranks.size());
  const views::Failure& failure = (*trace)->data->failure;
  for (const Rank rank : m_arguments.focus.value_or(std::vector<Rank>{})) {
    if (rank >= ranks) {
      launchFails({ErrorCode::Usage,
                   "'focus' names rank " + std::to_string(rank) + ", and the recording has " +
                       std::to_string(ranks) + " ranks",
                   ""});
      return;
    }
  }
  if (m_arguments.until &&
      (m_arguments.until->rank >= ranks ||
       m_arguments.until->serial >
           (*trace)
               ->data->execution.ranks[static_cast<std::size_t>(m_arguments.until->rank)]
               .events.size())) {
    launchFails({ErrorCode::Usage, "'until' names an event that the recording does not have",
                 "'photofinish events' lists them."});
    return;
  }
  const int failed = failure.event.valid() ? failure.event.rank : 0;
  m_session.open(m_trace, std::move(**trace));
  QList<int> focus;
  if (m_arguments.focus) {
    focus = QList<int>(m_arguments.focus->begin(), m_arguments.focus->end());
  } else if (!m_arguments.focusFailed && static_cast<std::size_t>(ranks) <= kFocusAllUpTo) {
    for (int rank = 0; rank < ranks; ++rank) {
      focus << rank;
    }
  } else {
    focus << failed;
  }
  m_session.breakpoints().setAside();
  m_session.debuggers().setTranscripts(QString::fromStdString(m_arguments.transcripts));
  m_session.control().stepOneThread(m_arguments.stepOneThread);
  m_session.debuggers().setFocus(focus);
  showProgress({});
  m_state = State::Configuring;
  succeed(*m_launch);
  send(eventMessage("initialized", nullptr));
}

void DapServer::configurationDone(const Request& request) {
  m_state = State::Live;
  succeed(request);
  if (m_session.source() == session::Source::Recording) {
    start();
  } else {
    startUnrecorded();
  }
}

void DapServer::start() {
  const EventRef failing = m_session.trace()->failure.event;
  if (m_arguments.until) {
    moving("goto");
    m_session.setCurrentRank(m_arguments.until->rank);
    m_session.replayTo(*m_arguments.until);
  } else if (m_arguments.untilFailure && failing.valid()) {
    moving("goto");
    m_session.go(session::Move::Failure);
  } else if (m_arguments.stopOnEntry) {
    // A rank's first event is MPI_Init, which is over when it can be stopped.
    moving("entry");
    m_session.replayTo({m_session.currentRank(), 2});
  } else {
    if (m_arguments.untilFailure) {
      say(tr("No rank failed in this recording: it is replayed to its end."), "console");
    }
    moving("pause");
    m_session.restartCycle();
  }
}

void DapServer::restart(const Request& request) {
  succeed(request);
  send(eventMessage("continued", {{"threadId", 1}, {"allThreadsContinued", true}}));
  if (request.arguments.contains("arguments")) {
    // The latest launch arguments: what they say of the way is taken, not another program.
    if (Result<LaunchArguments> latest = parseLaunchArguments(request.arguments["arguments"]);
        latest) {
      m_arguments.stopOnEntry = latest->stopOnEntry;
      m_arguments.untilFailure = latest->untilFailure;
    }
  }
  // A new cycle in any case, also where the ranks could go on to the goal.
  if (!m_arguments.until && !m_arguments.untilFailure && !m_arguments.stopOnEntry) {
    moving("pause");
    m_session.restartCycle();
    return;
  }
  m_restarting = m_session.isReplaying();
  if (m_restarting) {
    m_session.endReplay();
  } else {
    start();
  }
}

void DapServer::terminate(const Request& request) {
  succeed(request);
  if (m_recorder != nullptr) {
    m_recorder->terminate();
  }
  over(std::nullopt);
  m_session.endReplay();
}

void DapServer::disconnect(const Request& request) {
  succeed(request);
  if (m_state != State::Over) {
    over(std::nullopt);
  }
  finish();
}

void DapServer::over(std::optional<int> exitStatus) {
  for (const auto& [key, text] : m_output.takeRest()) {
    send(eventMessage("output",
                      {{"category", key.second == 2 ? "stderr" : "stdout"}, {"output", text}}));
  }
  showProgress({});
  m_state = State::Over;
  if (exitStatus) {
    send(eventMessage("exited", {{"exitCode", *exitStatus}}));
  }
  send(eventMessage("terminated", nullptr));
}

void DapServer::finish() {
  if (m_finishing) {
    return;
  }
  m_finishing = true;
  m_state = State::Over;
  m_publishSoon.stop();
  if (m_recorder != nullptr) {
    m_recorder->terminate();
    QTimer::singleShot(15000, m_recorder.get(), &QProcess::kill);
  }
  m_session.endReplay();
  // Not inside of a message: the owner of the server may delete it.
  QMetaObject::invokeMethod(this, &DapServer::finishStep, Qt::QueuedConnection);
}

/// Once nothing of ours runs any more.
void DapServer::finishStep() {
  if (m_recorder == nullptr && !m_loader.isRunning() && !m_finder.isRunning() &&
      !m_session.isReplaying()) {
    m_channel.drain(500);
    Q_EMIT finished();
  }
}

}  // namespace pf::headless
