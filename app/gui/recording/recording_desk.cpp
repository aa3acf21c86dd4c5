// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/recording/recording_desk.h"

#include <csignal>

#include <QAction>
#include <QDir>
#include <QFileInfo>
#include <QFutureWatcher>
#include <QStandardPaths>

#include "app/gui/commands/command.h"
#include "app/gui/recording/peek_directory.h"
#include "app/job/job.h"
#include "app/job/launcher.h"
#include "app/recording/record.h"
#include "app/recording/until_failure.h"
#include "app/session/state/in_background.h"
#include "replay_engine/base/caught.h"
#include "views/panes/action_tips.h"
#include "views/panes/icons.h"
#include "views/panes/session_views.h"

namespace pf::gui {

RecordingDesk::RecordingDesk(QWidget& window, views::ProgressStrip& strip)
    : QObject(&window),
      m_window(window),
      m_strip(strip),
      m_record(makeCommand(window, tr("&Record …"), tr("Run an MPI program and record it"),
                           views::icon(views::Icon::Record), QKeySequence(tr("Ctrl+R")),
                           [this] { ask(); })),
      m_example(makeCommand(window, tr("Record the e&xample"),
                            tr("Record the bundled master and workers until a run fails, and open "
                               "that run"),
                            {}, {}, [this] { startExample(); })),
      m_look(makeCommand(window, tr("Look at what is recorded so &far"),
                         tr("Open a trace of what the recording that goes on has by now; the "
                            "program goes on"),
                         {}, QKeySequence(tr("Ctrl+Alt+R")), [this] { look(); })) {
  m_record->setObjectName(QStringLiteral("record"));
  m_example->setObjectName(QStringLiteral("recordExample"));
  refresh();
}

RecordingDesk::~RecordingDesk() = default;

namespace {

/// The bundled program that is recorded as an example.
QString exampleProgram() {
  return QString::fromStdString(app::programDirectory()) + QStringLiteral("/corpus/harvest");
}

}  // namespace

void RecordingDesk::refresh() {
  const QString busy = m_process == nullptr ? QString() : tr("A recording goes on.");
  views::setWhyNot(*m_record, busy);
  views::setWhyNot(*m_example, QFileInfo(exampleProgram()).isExecutable()
                                   ? busy
                                   : tr("%1 is not there: './run --build' in the sources of "
                                        "Photofinish builds it.")
                                         .arg(exampleProgram()));
  m_look->setEnabled(m_process != nullptr);
}

void RecordingDesk::ask() {
  if (const std::optional<RecordRequest> wanted = askRecordRequest(m_window); wanted) {
    record(*wanted);
  }
}

void RecordingDesk::record(const RecordRequest& request) {
  if (m_process != nullptr) {
    Q_EMIT problem(tr("A recording goes on: end it first, or wait."));
    return;
  }
  const QStringList words = QProcess::splitCommand(request.command);
  if (!words.isEmpty()) {
    start(request, words);
  }
}

/// Its traces are kept where the user's data are.
void RecordingDesk::startExample() {
  constexpr int kMostRuns = 60;
  RecordRequest request;
  request.command = QStringLiteral("mpirun --oversubscribe -n 4 \"%1\"").arg(exampleProgram());
  request.directory = QStandardPaths::writableLocation(QStandardPaths::AppDataLocation) +
                      QStringLiteral("/example");
  request.runs = kMostRuns;
  request.compares = false;
  if (!QDir().mkpath(request.directory)) {
    Q_EMIT problem(tr("%1 cannot be made, where the traces of the example would be: make it, or "
                      "set XDG_DATA_HOME.")
                       .arg(request.directory));
    return;
  }
  record(request);
}

namespace {

QString goodBeside(const QString& trace) {
  return QString::fromStdString(app::goodName(trace.toStdString()));
}

}  // namespace

/// Of a trace, and of the good one beside it: as the command line names them.
QString RecordingDesk::freeName(const RecordRequest& request, const QStringList& words) {
  std::vector<std::string> command;
  for (const QString& word : words) {
    const bool isPath =
        word.startsWith(QLatin1String("./")) || word.startsWith(QLatin1String("../"));
    const QString there = isPath ? QDir(request.directory).absoluteFilePath(word) : word;
    command.push_back(there.toStdString());
  }
  // What is no command of a launcher is refused by what records it.
  const Result<app::LaunchCommand> launch = app::parseLaunch(command);
  const std::string base =
      request.directory.toStdString() + '/' + (launch ? launch->title() : "run");
  return QString::fromStdString(app::freeTraceName(base, [&](const std::string& trace) {
    return request.runs > 1 && QFileInfo::exists(goodBeside(QString::fromStdString(trace)));
  }));
}

namespace {

QStringList optionsOf(const RecordRequest& request) {
  QStringList options;
  if (request.follow) {
    options << QStringLiteral("--mode") << QStringLiteral("all");
  }
  if (request.jitter > 0) {
    options << QStringLiteral("--jitter") << QString::number(request.jitter);
  }
  if (request.runs > 1) {
    options << QStringLiteral("--until-failure") << QStringLiteral("--runs")
            << QString::number(request.runs);
  }
  if (!request.check.isEmpty()) {
    options << QStringLiteral("--check") << request.check;
  }
  return options + request.options;
}

}  // namespace

void RecordingDesk::start(const RecordRequest& request, const QStringList& words) {
  const QString given = request.input.isEmpty()
                            ? QProcess::nullDevice()
                            : QDir(request.directory).absoluteFilePath(request.input);
  if (const QFileInfo file(given); file.isDir() || !file.isReadable()) {
    Q_EMIT problem(tr("%1 cannot be read as standard input: choose a file that is there, or leave "
                      "the field empty.")
                       .arg(given));
    return;
  }
  m_strip.start(tr("Recording %1 …").arg(request.command), true);
  m_trace = freeName(request, words);
  m_good = goodBeside(m_trace);
  m_line.clear();
  m_why.clear();
  m_request = request;
  auto* process = new QProcess(this);
  m_process = process;
  process->setWorkingDirectory(request.directory);
  process->setProcessChannelMode(QProcess::MergedChannels);
  process->setStandardInputFile(given);
  connect(process, &QProcess::readyRead, this,
          [this, process, request] { heard(request, process->readAll()); });
  connect(process, &QProcess::finished, this,
          [this, process, request, words](int status) { ended(process, request, words, status); });
  connect(&m_strip, &views::ProgressStrip::cancelRequested, process, [this] { endNow(); });
  process->start(QString::fromStdString(app::programDirectory()) + QStringLiteral("/photofinish"),
                 QStringList{QStringLiteral("record"), QStringLiteral("-o"), m_trace} +
                     optionsOf(request) + words);
  refresh();
  Q_EMIT begun(m_trace, request.follow);
}

void RecordingDesk::endNow() {
  if (m_request.runs > 1 && m_process != nullptr && m_process->processId() > 0) {
    ::kill(static_cast<pid_t>(m_process->processId()), SIGINT);  // what it has is kept
  } else if (m_process != nullptr) {
    m_process->terminate();
  }
}

void RecordingDesk::heard(const RecordRequest& request, const QByteArray& text) {
  Q_EMIT printed(text);
  m_line += QString::fromUtf8(text);
  const QStringList lines = m_line.split(QLatin1Char('\n'));
  m_line = lines.last().right(4096);
  for (const QString& line : lines.first(lines.size() - 1)) {
    heardLine(request, line);
  }
}

/// Of several runs, how each has ended stands in the strip. Why a program makes no progress may be some lines.
void RecordingDesk::heardLine(const RecordRequest& request, const QString& line) {
  constexpr qsizetype kLongest = 1000;
  static const QLatin1String kSays("photofinish: ");
  static const QLatin1String kStuck("photofinish: the program makes no progress: ");
  if (line.startsWith(kStuck)) {
    m_why = line.mid(kStuck.size());
  } else if (!m_why.isEmpty() && line.startsWith(kSays)) {
    Q_EMIT stuck(std::exchange(m_why, {}));
  } else if (!m_why.isEmpty() && m_why.size() < kLongest) {
    m_why += (m_why.endsWith(QLatin1Char(':')) ? QStringLiteral(" ") : QStringLiteral("; ")) + line;
  }
  if (request.runs > 1 && line.startsWith(QLatin1String("photofinish: run "))) {
    m_strip.start(tr("Recording until it fails: %1").arg(line.mid(kSays.size())), true);
  }
}

void RecordingDesk::ended(QProcess* process, const RecordRequest& request, const QStringList& words,
                          int status) {
  process->deleteLater();
  m_strip.finish();
  m_process = nullptr;
  refresh();
  const bool made = QFileInfo::exists(m_trace);
  if (request.runs > 1 && (made || QFileInfo::exists(m_good))) {
    endedSearch(request, words);
  } else if (made) {
    Q_EMIT recorded(m_trace, words, request.input);
  } else {
    Q_EMIT failed(m_trace, status);
  }
}

void RecordingDesk::endedSearch(const RecordRequest& request, const QStringList& words) {
  if (QFileInfo::exists(m_trace)) {
    Q_EMIT foundFailing(request.compares && QFileInfo::exists(m_good) ? m_good : QString());
    Q_EMIT recorded(m_trace, words, request.input);
    return;
  }
  Q_EMIT noneFailed(request.runs);
  Q_EMIT recorded(m_good, words, request.input);
}

void RecordingDesk::letGo() {
  if (m_process != nullptr) {
    m_process->setParent(nullptr);
    m_process->disconnect(this);
  }
}

/// What it has so far becomes a trace of its own.
void RecordingDesk::look() {
  if (m_process == nullptr) {
    return;
  }
  if (m_peeks == nullptr) {
    m_peeks = std::make_unique<PeekDirectory>();
  }
  const QString name = QFileInfo(m_trace).completeBaseName();
  const QString to =
      m_peeks->newFile(QStringLiteral("%1-so-far-%2.pft").arg(name).arg(++m_peekNumber));
  if (to.isEmpty()) {
    Q_EMIT problem(m_peeks->problem());
    return;
  }
  auto* watcher = new QFutureWatcher<QString>(this);
  connect(watcher, &QFutureWatcherBase::finished, this, [this, watcher, to] {
    watcher->deleteLater();
    if (const QString why = watcher->result(); !why.isEmpty()) {
      Q_EMIT problem(why);
    } else {
      Q_EMIT madeSoFar(to);
    }
  });
  watcher->setFuture(session::inBackground([from = m_trace, to] {
    const auto made = caught([&] { return app::peek(from.toStdString(), to.toStdString()); });
    return made ? QString() : QString::fromStdString(made.error().text());
  }));
}

}  // namespace pf::gui

#include "moc_recording_desk.cpp"
