// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/recording/recording_desk.h"

#include <QAction>
#include <QDir>
#include <QFileInfo>
#include <QFutureWatcher>

#include "app/gui/commands/command.h"
#include "app/gui/recording/peek_directory.h"
#include "app/job/job.h"
#include "app/recording/record.h"
#include "app/session/state/in_background.h"
#include "replay_engine/base/caught.h"
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
      m_look(makeCommand(window, tr("Look at what is recorded so &far"),
                         tr("Open a trace of what the recording that goes on has by now; the "
                            "program goes on"),
                         {}, QKeySequence(tr("Ctrl+Alt+R")), [this] { look(); })) {
  refresh();
}

RecordingDesk::~RecordingDesk() = default;

void RecordingDesk::refresh() {
  m_record->setEnabled(m_process == nullptr);
  m_look->setEnabled(m_process != nullptr);
}

void RecordingDesk::ask() {
  const std::optional<RecordRequest> wanted = askRecordRequest(m_window);
  if (!wanted) {
    return;
  }
  const QStringList words = QProcess::splitCommand(wanted->command);
  if (!words.isEmpty()) {
    start(*wanted, words);
  }
}

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
  QString trace;
  for (int i = 1; trace.isEmpty() || QFileInfo::exists(trace) ||
                  QFileInfo::exists(trace + QStringLiteral(".d"));
       ++i) {
    trace = QStringLiteral("%1/run-%2.pft").arg(request.directory).arg(i);
  }
  m_strip.start(tr("Recording %1 …").arg(request.command), true);
  m_trace = trace;
  auto* process = new QProcess(this);
  m_process = process;
  process->setWorkingDirectory(request.directory);
  process->setProcessChannelMode(QProcess::MergedChannels);
  process->setStandardInputFile(given);
  connect(process, &QProcess::readyRead, this,
          [this, process] { Q_EMIT printed(process->readAll()); });
  connect(process, &QProcess::finished, this,
          [this, process, trace, words, input = request.input](int status) {
            ended(process, trace, words, input, status);
          });
  connect(&m_strip, &views::ProgressStrip::cancelRequested, process, &QProcess::terminate);
  const QStringList mode =
      request.follow ? QStringList{QStringLiteral("--mode"), QStringLiteral("all")} : QStringList();
  process->start(QString::fromStdString(app::programDirectory()) + QStringLiteral("/photofinish"),
                 QStringList{QStringLiteral("record"), QStringLiteral("-o"), trace} + mode + words);
  refresh();
  Q_EMIT begun(trace, request.follow);
}

void RecordingDesk::ended(QProcess* process, const QString& trace, const QStringList& words,
                          const QString& input, int status) {
  process->deleteLater();
  m_strip.finish();
  m_process = nullptr;
  refresh();
  if (QFileInfo::exists(trace)) {
    Q_EMIT recorded(trace, words, input);
  } else {
    Q_EMIT failed(trace, status);
  }
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
