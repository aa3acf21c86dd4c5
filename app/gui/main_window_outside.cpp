// Core files, and jobs that run without having been started here.
#include "main_window.h"

#include <csignal>
#include <cstring>

#include <QDialog>
#include <QDialogButtonBox>
#include <QFileDialog>
#include <QFileInfo>
#include <QLabel>
#include <QListWidget>
#include <QPushButton>
#include <QStackedWidget>
#include <QVBoxLayout>
#include <QtConcurrent>

#include "app/core_file.h"
#include "app/running_job.h"
#include "views/race_list_view.h"
#include "views/rank_models.h"
#include "views/rank_strip.h"
#include "views/source_view.h"
#include "views/space_time_view.h"
#include "views/text_views.h"

namespace pf::gui {
namespace {

using session::OutsideRank;

struct LoadedCores {
  QList<OutsideRank> ranks;
  QString note;     ///< what the user should know
  QString problem;  ///< why nothing is opened
};

/// Reads what the files say of themselves. `program`: for those that do not name theirs, or another build.
LoadedCores loadCores(const QStringList& files, const QString& program) {
  LoadedCores out;
  QMap<int, OutsideRank> byRank;
  QList<OutsideRank> others;
  for (const QString& file : files) {
    const Result<app::CoreFile> core = app::readCoreFile(file.toStdString());
    if (!core) {
      out.problem = QString::fromStdString(core.error().text());
      return out;
    }
    OutsideRank rank;
    rank.core = QString::fromStdString(core->path);
    rank.pid = core->pid;
    rank.program = program.isEmpty() ? QString::fromStdString(core->program) : program;
    const char* name = core->signal > 0 ? ::sigabbrev_np(core->signal) : nullptr;
    rank.end = name != nullptr ? QStringLiteral("SIG%1").arg(QString::fromLatin1(name)) : QString();
    const QFileInfo built(rank.program);
    if (core->cut) {
      out.note = MainWindow::tr("%1 is cut short: some values cannot be read.").arg(file);
    } else if (!built.exists()) {
      out.note = MainWindow::tr("The program %1 is not there: without it there are no names and lines.")
                     .arg(rank.program);
      rank.program.clear();
    } else if (built.lastModified() > QFileInfo(file).lastModified()) {
      out.note = MainWindow::tr("%1 was built after %2 was written: names and lines may be wrong.")
                     .arg(rank.program, QFileInfo(file).fileName());
    }
    if (core->rank && !byRank.contains(*core->rank)) {
      rank.rank = *core->rank;
      byRank[rank.rank] = rank;
    } else {
      others.append(rank);
    }
  }
  if (!others.isEmpty() && out.note.isEmpty()) {
    out.note = MainWindow::tr("%n core file(s) do not say which rank they are of: they have free numbers.",
                              nullptr, static_cast<int>(others.size()));
  }
  for (OutsideRank& rank : others) {
    while (byRank.contains(rank.rank)) {
      ++rank.rank;
    }
    byRank[rank.rank] = rank;
  }
  out.ranks = byRank.values();
  return out;
}

}  // namespace

void MainWindow::showOutside(const QString& title) {
  m_path.clear();
  m_index = views::makeIndex(m_session->trace());
  m_pages->setCurrentIndex(1);
  setWindowTitle(tr("%1 — Photofinish").arg(title));
  m_output->clear();
  m_output->setRankCount(static_cast<int>(m_session->trace()->execution.ranks.size()));
  m_source->closeAll();
  m_diagram->setReplayPositions({});
  m_diagram->setTrace(m_index);
  m_diagram->hide();  // there are no events: the source has the place
  m_races->setTrace(m_index);
  for (plugins::ViewWidget* view : m_pluginViews) {
    view->setTrace(m_index);
  }
  refreshRanks();
  setActionsEnabled();
}

void MainWindow::openCores(const QStringList& files, const QString& program) {
  auto* watcher = new QFutureWatcher<LoadedCores>(this);
  connect(watcher, &QFutureWatcherBase::finished, this, [this, watcher] {
    watcher->deleteLater();
    const LoadedCores loaded = watcher->result();
    if (!loaded.problem.isEmpty()) {
      say(loaded.problem, true);
      Q_EMIT opened(false);
      return;
    }
    m_session->openCores(loaded.ranks);
    showOutside(tr("%n core file(s)", nullptr, static_cast<int>(loaded.ranks.size())));
    say(loaded.note.isEmpty() ? tr("Core files: stacks and values can be looked at; nothing runs.")
                              : loaded.note,
        !loaded.note.isEmpty());
    Q_EMIT opened(true);
  });
  watcher->setFuture(QtConcurrent::run([files, program] { return loadCores(files, program); }));
}

void MainWindow::attachTo(qint64 pid) {
  using Found = std::shared_ptr<Result<app::RunningJob>>;
  auto* watcher = new QFutureWatcher<Found>(this);
  connect(watcher, &QFutureWatcherBase::finished, this, [this, watcher] {
    watcher->deleteLater();
    const Found found = watcher->result();
    if (!found->ok()) {
      say(QString::fromStdString(found->error().text()), true);
      Q_EMIT opened(false);
      return;
    }
    const app::RunningJob& job = **found;
    QList<OutsideRank> ranks;
    for (const app::RunningRank& rank : job.ranks) {
      ranks.append({rank.rank, rank.pid, QString::fromStdString(rank.program), {}, {}});
    }
    const QString name = job.launcher != 0 ? tr("job %1").arg(job.launcher)
                                           : tr("process %1").arg(job.ranks.front().pid);
    m_session->attachTo(name, ranks);
    const QString told = statusText();
    showOutside(tr("%1: %2").arg(name, QString::fromStdString(job.command)));
    say(told, false);
    Q_EMIT opened(true);
  });
  watcher->setFuture(QtConcurrent::run([pid] {
    return std::make_shared<Result<app::RunningJob>>(app::runningJob(static_cast<pid_t>(pid)));
  }));
}

void MainWindow::askCores() {
  const QStringList files =
      QFileDialog::getOpenFileNames(this, tr("Open core files, one a rank"), QFileInfo(m_path).absolutePath(),
                                    tr("Core files (core core.* *.core);;All files (*)"));
  if (!files.isEmpty()) {
    openCores(files, {});
  }
}

void MainWindow::askJob() {
  auto* dialog = new QDialog(this);
  dialog->setObjectName(QStringLiteral("attachDialog"));
  dialog->setAttribute(Qt::WA_DeleteOnClose);
  dialog->setWindowTitle(tr("Attach to a running job"));
  auto* column = new QVBoxLayout(dialog);
  auto* about = new QLabel(tr("No rank is stopped until it is ticked in the ranks' list. A job that was not "
                              "recorded cannot be replayed."));
  about->setWordWrap(true);
  column->addWidget(about);
  auto* list = new QListWidget;
  list->setMinimumSize(620, 200);
  list->setAccessibleName(tr("Jobs that run on this host"));
  column->addWidget(list);
  auto* buttons = new QDialogButtonBox(QDialogButtonBox::Ok | QDialogButtonBox::Cancel);
  buttons->button(QDialogButtonBox::Ok)->setText(tr("Attach"));
  buttons->button(QDialogButtonBox::Ok)->setEnabled(false);
  column->addWidget(buttons);
  connect(list, &QListWidget::itemSelectionChanged, buttons, [list, buttons] {
    buttons->button(QDialogButtonBox::Ok)->setEnabled(!list->selectedItems().isEmpty());
  });
  connect(list, &QListWidget::itemActivated, dialog, &QDialog::accept);
  connect(buttons, &QDialogButtonBox::accepted, dialog, &QDialog::accept);
  connect(buttons, &QDialogButtonBox::rejected, dialog, &QDialog::reject);
  connect(dialog, &QDialog::accepted, this, [this, list] {
    if (const auto chosen = list->selectedItems(); !chosen.isEmpty()) {
      attachTo(chosen.first()->data(Qt::UserRole).toLongLong());
    }
  });
  auto* watcher = new QFutureWatcher<std::vector<app::RunningJob>>(dialog);
  connect(watcher, &QFutureWatcherBase::finished, dialog, [watcher, list, about] {
    for (const app::RunningJob& job : watcher->result()) {
      auto* item = new QListWidgetItem(tr("%1   —   %2 rank(s): %3")
                                           .arg(job.launcher)
                                           .arg(job.ranks.size())
                                           .arg(QString::fromStdString(job.command)),
                                       list);
      item->setData(Qt::UserRole, qint64{job.launcher});
    }
    if (list->count() == 0) {
      about->setText(tr("No MPI job of yours runs on this host. Start one with mpirun, then look again."));
    } else {
      list->setCurrentRow(0);
    }
  });
  watcher->setFuture(QtConcurrent::run([] { return app::runningJobs(); }));
  dialog->open();
}

}  // namespace pf::gui
