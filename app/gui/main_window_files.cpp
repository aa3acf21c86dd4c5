// SPDX-License-Identifier: GPL-3.0-or-later
// Opening, recording, exporting, finding sources.
#include <QCheckBox>
#include <QDialog>
#include <QDialogButtonBox>
#include <QDir>
#include <QFileDialog>
#include <QFileInfo>
#include <QFormLayout>
#include <QFutureWatcher>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QPushButton>
#include <QSettings>

#include "app/gui/compare_window.h"
#include "app/gui/main_window.h"
#include "app/gui/peek_directory.h"
#include "app/gui/recording_follower.h"
#include "app/recording/record.h"
#include "app/session/records/session_file.h"
#include "app/session/state/in_background.h"
#include "views/diagram/space_time_view.h"
#include "views/panes/session_views.h"
#include "views/panes/source_view.h"

namespace pf::gui {
namespace {

constexpr int kRecentTraces = 12;
const QString kRecentKey = QStringLiteral("recent/traces");
const QString kFollowKey = QStringLiteral("record/follow");

}  // namespace

void MainWindow::remember(const QString& path) {
  QSettings settings;
  QStringList recent = settings.value(kRecentKey).toStringList();
  recent.removeAll(path);
  recent.prepend(path);
  while (recent.size() > kRecentTraces) {
    recent.removeLast();
  }
  settings.setValue(kRecentKey, recent);
  fillRecent();
}

void MainWindow::fillRecent() {
  m_recent->clear();
  for (const QString& path : recentPaths()) {
    auto* item = new QListWidgetItem(
        tr("%1   —   %2").arg(QFileInfo(path).fileName(), QFileInfo(path).absolutePath()),
        m_recent);
    item->setData(Qt::UserRole, path);
  }
}

/// Traces and sessions that are still there.
QStringList MainWindow::recentPaths() {
  QStringList paths = QSettings().value(kRecentKey).toStringList();
  paths.removeIf([](const QString& path) { return !QFileInfo::exists(path); });
  return paths;
}

void MainWindow::askTrace() {
  const QString path = QFileDialog::getOpenFileName(
      this, tr("Open trace or session"), QFileInfo(m_path).absolutePath(),
      tr("Traces and sessions (*.pft *.pfs);;All files (*)"));
  if (!path.isEmpty()) {
    openPath(path);
  }
}

void MainWindow::askRecord() {
  QSettings settings;
  QDialog dialog(this);
  dialog.setWindowTitle(tr("Record a run"));
  auto* form = new QFormLayout(&dialog);
  auto* command = new QLineEdit(
      settings.value(QStringLiteral("record/command"), QStringLiteral("mpirun -n 4 ./program"))
          .toString());
  command->setMinimumWidth(480);
  auto* directory = new QLineEdit(settings
                                      .value(QStringLiteral("record/directory"),
                                             QFileInfo(QStringLiteral(".")).absoluteFilePath())
                                      .toString());
  form->addRow(tr("Command, as you would type it:"), command);
  form->addRow(tr("In directory:"), directory);
  auto* input = new QLineEdit(settings.value(QStringLiteral("record/input")).toString());
  input->setObjectName(QStringLiteral("recordInput"));
  input->setPlaceholderText(tr("none: the program finds its end at once"));
  input->setToolTip(
      tr("What the launcher reads, as after '<' in a shell; mpirun gives it to rank 0. "
         "It is kept in the trace, and given back in each replay."));
  form->addRow(tr("Standard input from file:"), fileField(input, directory));
  auto* follow = new QCheckBox(tr("Show it while it runs"));
  follow->setObjectName(QStringLiteral("recordFollow"));
  follow->setChecked(settings.value(kFollowKey).toBool());
  follow->setToolTip(tr(
      "The window follows the recording as it grows. For that every call is recorded (--mode all), "
      "at some eighty nanoseconds each."));
  form->addRow(QString(), follow);
  auto* buttons = new QDialogButtonBox(QDialogButtonBox::Ok | QDialogButtonBox::Cancel);
  buttons->button(QDialogButtonBox::Ok)->setText(tr("Record"));
  connect(buttons, &QDialogButtonBox::accepted, &dialog, &QDialog::accept);
  connect(buttons, &QDialogButtonBox::rejected, &dialog, &QDialog::reject);
  form->addRow(buttons);
  if (dialog.exec() == QDialog::Accepted) {
    settings.setValue(QStringLiteral("record/command"), command->text());
    settings.setValue(QStringLiteral("record/directory"), directory->text());
    settings.setValue(QStringLiteral("record/input"), input->text());
    settings.setValue(kFollowKey, follow->isChecked());
    record(command->text(), directory->text(), input->text().trimmed());
  }
}

QLayout* MainWindow::fileField(QLineEdit* name, const QLineEdit* directory) {
  auto* line = new QHBoxLayout;
  auto* browse = new QPushButton(tr("Choose …"));
  browse->setAutoDefault(false);
  connect(browse, &QPushButton::clicked, name, [this, name, directory] {
    const QString path =
        QFileDialog::getOpenFileName(this, tr("Standard input from file"), directory->text());
    if (!path.isEmpty()) {
      name->setText(path);
    }
  });
  line->addWidget(name);
  line->addWidget(browse);
  return line;
}

void MainWindow::record(const QString& command, const QString& directory, const QString& input) {
  const QStringList words = QProcess::splitCommand(command);
  if (words.isEmpty()) {
    return;
  }
  const QString given =
      input.isEmpty() ? QProcess::nullDevice() : QDir(directory).absoluteFilePath(input);
  if (const QFileInfo file(given); file.isDir() || !file.isReadable()) {
    say(tr("%1 cannot be read as standard input: choose a file that is there, or leave the field "
           "empty.")
            .arg(given),
        true);
    return;
  }
  QString trace;
  for (int i = 1; trace.isEmpty() || QFileInfo::exists(trace) ||
                  QFileInfo::exists(trace + QStringLiteral(".d"));
       ++i) {
    trace = QStringLiteral("%1/run-%2.pft").arg(directory).arg(i);
  }
  const bool follow = QSettings().value(kFollowKey).toBool();
  m_recordingStrip->start(tr("Recording %1 …").arg(command), true);
  m_recordedTrace = trace;
  auto* process = new QProcess(this);
  m_recording = process;
  process->setWorkingDirectory(directory);
  process->setProcessChannelMode(QProcess::MergedChannels);
  process->setStandardInputFile(given);
  connect(process, &QProcess::readyRead, this, [this, process] {
    Q_EMIT m_session->output(-1, values::OutputStream::Out, process->readAll());
  });
  connect(process, &QProcess::finished, this, [this, process, trace, words, input](int status) {
    process->deleteLater();
    m_recordingStrip->finish();
    m_recording = nullptr;
    setActionsEnabled();
    if (QFileInfo::exists(trace)) {
      m_input = {trace, input};
      if (m_opening != nullptr &&
          session::commandText(m_opening->command) == session::commandText(words)) {
        m_opening->trace = trace;
      }
      if (m_follower->trace() != trace) {  // else it takes the place of what is shown
        openTrace(trace);
      }
    } else {
      if (m_follower->trace() == trace) {
        stopFollowing();
      }
      say(tr("Nothing was recorded (status %1); the output pane says why.").arg(status), true);
    }
  });
  connect(m_recordingStrip, &views::ProgressStrip::cancelRequested, process, &QProcess::terminate);
  process->start(
      QString::fromStdString(app::programDirectory()) + QStringLiteral("/photofinish"),
      QStringList{QStringLiteral("record"), QStringLiteral("-o"), trace} +
          (follow ? QStringList{QStringLiteral("--mode"), QStringLiteral("all")} : QStringList()) +
          words);
  if (follow) {
    followRecording(trace);
  }
  setActionsEnabled();
}

/// What it has so far becomes a trace of its own, which goes with the window.
void MainWindow::lookAtRecording() {
  if (m_recording == nullptr) {
    return;
  }
  if (m_peeks == nullptr) {
    m_peeks = std::make_unique<PeekDirectory>();
  }
  const QString name = QFileInfo(m_recordedTrace).completeBaseName();
  const QString to =
      m_peeks->newFile(QStringLiteral("%1-so-far-%2.pft").arg(name).arg(++m_peekNumber));
  if (to.isEmpty()) {
    say(m_peeks->problem(), true);
    return;
  }
  auto* watcher = new QFutureWatcher<QString>(this);
  connect(watcher, &QFutureWatcherBase::finished, this, [this, watcher, to] {
    watcher->deleteLater();
    if (const QString problem = watcher->result(); !problem.isEmpty()) {
      say(problem, true);
    } else {
      openTrace(to);
    }
  });
  watcher->setFuture(session::inBackground([from = m_recordedTrace, to] {
    const auto made = caught([&] { return app::peek(from.toStdString(), to.toStdString()); });
    return made ? QString() : QString::fromStdString(made.error().text());
  }));
}

void MainWindow::askComparison() {
  const QString path = QFileDialog::getOpenFileName(this, tr("Compare with a recording"),
                                                    QFileInfo(m_path).absolutePath(),
                                                    tr("Traces (*.pft);;All files (*)"));
  if (!path.isEmpty()) {
    compareWith(path);
  }
}

void MainWindow::compareWith(const QString& path) {
  using Loading = std::shared_ptr<Result<LoadedComparison>>;
  const QString other = QFileInfo(path).absoluteFilePath();
  m_progress->start(tr("Comparing with %1 …").arg(QFileInfo(path).fileName()), false);
  auto* watcher = new QFutureWatcher<Loading>(this);
  connect(watcher, &QFutureWatcherBase::finished, this, [this, watcher, other, own = m_path] {
    watcher->deleteLater();
    m_progress->finish();
    const Loading loaded = watcher->result();
    if (!loaded->ok()) {
      say(QString::fromStdString(loaded->error().text()), true);
      Q_EMIT compared(nullptr);
      return;
    }
    auto* window = new CompareWindow(own, other, loaded->value(), this);
    window->setAttribute(Qt::WA_DeleteOnClose);
    const auto inThisTrace = [this, own](auto does) {
      return [this, own, does](const EventRef& event) {
        if (own == m_path) {  // another trace may be open by now
          does(event);
        }
      };
    };
    connect(window, &CompareWindow::eventSelected, this,
            inThisTrace([this](const EventRef& event) { selectEvent(event); }));
    connect(window, &CompareWindow::replayToRequested, this,
            inThisTrace([this](const EventRef& event) { m_session->replayTo(event); }));
    window->show();
    Q_EMIT compared(window);
  });
  watcher->setFuture(session::inBackground([own = m_path, index = m_index, other] {
    return std::make_shared<Result<LoadedComparison>>(loadComparison(own, index, other));
  }));
}

void MainWindow::exportDiagram() {
  const QString path = QFileDialog::getSaveFileName(
      this, tr("Export diagram"), QStringLiteral("diagram.svg"), tr("Pictures (*.svg *.png)"));
  QString error;
  if (!path.isEmpty() && !views::exportDiagram(*m_diagram, path, m_diagram->size(), &error)) {
    say(error, true);
  }
}

QAction* MainWindow::makeTranscriptsAction() {
  QAction* action = command(
      tr("Save GDB &transcripts …"),
      tr("Write what passes between the window and each GDB into files, from the next cycle on"),
      {}, {}, {});
  action->setObjectName(QStringLiteral("transcripts"));
  action->setCheckable(true);
  connect(action, &QAction::triggered, this, [this, action](bool on) {
    const QString directory =
        on ? QFileDialog::getExistingDirectory(this, tr("Where to save the transcripts"),
                                               QFileInfo(m_path).absolutePath())
           : QString();
    action->setChecked(!directory.isEmpty());
    keepTranscripts(directory);
  });
  return action;
}

void MainWindow::keepTranscripts(const QString& directory) {
  m_session->debuggers().setTranscripts(directory);
  say(directory.isEmpty()
          ? tr("GDB transcripts are no longer saved.")
          : tr("From the next cycle on, %1 gets a GDB transcript of each rank that has a debugger.")
                .arg(directory),
      false);
}

void MainWindow::locateSource(const QString& path) {
  const QString local = QFileDialog::getOpenFileName(this, tr("Where is %1?").arg(path));
  if (!local.isEmpty()) {
    m_source->setPathMapping(path, local);
    m_session->debuggers().mapSource(QFileInfo(path).path(), QFileInfo(local).path());
  }
}

}  // namespace pf::gui
