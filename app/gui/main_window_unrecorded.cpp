// SPDX-License-Identifier: GPL-3.0-or-later
// Core files, and jobs that run without having been started here.
#include <QDialog>
#include <QDialogButtonBox>
#include <QFileDialog>
#include <QFileInfo>
#include <QFutureWatcher>
#include <QLabel>
#include <QListWidget>
#include <QPushButton>
#include <QStackedWidget>
#include <QVBoxLayout>

#include "app/gui/main_window.h"
#include "app/session/state/in_background.h"
#include "app/session/targets/unrecorded_ranks.h"
#include "app/unrecorded_jobs/running_job.h"
#include "views/diagram/space_time_view.h"
#include "views/models/rank_models.h"
#include "views/panes/race_list_view.h"
#include "views/panes/rank_strip.h"
#include "views/panes/source_view.h"
#include "views/panes/text_views.h"

namespace pf::gui {

void MainWindow::showUnrecorded(const QString& title) {
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
  using Found = std::shared_ptr<Result<session::UnrecordedRanks>>;
  auto* watcher = new QFutureWatcher<Found>(this);
  connect(watcher, &QFutureWatcherBase::finished, this, [this, watcher] {
    watcher->deleteLater();
    const Found found = watcher->result();
    if (!found->ok()) {
      say(QString::fromStdString(found->error().text()), true);
      Q_EMIT opened(false);
      return;
    }
    const session::UnrecordedRanks& cores = **found;
    m_session->openCores(cores.ranks);
    showUnrecorded(cores.title);
    say(cores.note.isEmpty() ? tr("Core files: stacks and values can be looked at; nothing runs.")
                             : cores.note,
        !cores.note.isEmpty());
    Q_EMIT opened(true);
  });
  watcher->setFuture(session::inBackground([files, program] {
    return std::make_shared<Result<session::UnrecordedRanks>>(
        session::ranksOfCores(files, program));
  }));
}

void MainWindow::attachTo(qint64 pid) {
  using Found = std::shared_ptr<Result<session::UnrecordedRanks>>;
  auto* watcher = new QFutureWatcher<Found>(this);
  connect(watcher, &QFutureWatcherBase::finished, this, [this, watcher] {
    watcher->deleteLater();
    const Found found = watcher->result();
    if (!found->ok()) {
      say(QString::fromStdString(found->error().text()), true);
      Q_EMIT opened(false);
      return;
    }
    const session::UnrecordedRanks& job = **found;
    m_session->attachTo(job.title, job.ranks);
    const QString told = statusText();
    showUnrecorded(tr("%1: %2").arg(job.title, job.about));
    say(told, false);
    Q_EMIT opened(true);
  });
  watcher->setFuture(session::inBackground([pid] {
    return std::make_shared<Result<session::UnrecordedRanks>>(session::ranksOfJob(pid));
  }));
}

void MainWindow::askCores() {
  const QStringList files = QFileDialog::getOpenFileNames(
      this, tr("Open core files, one a rank"), QFileInfo(m_path).absolutePath(),
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
  auto* about =
      new QLabel(tr("No rank is stopped until it is ticked in the ranks' list. A job that was not "
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
      about->setText(
          tr("No MPI job of yours runs on this host. Start one with mpirun, then look again."));
    } else {
      list->setCurrentRow(0);
    }
  });
  watcher->setFuture(session::inBackground([] { return app::runningJobs(); }));
  dialog->open();
}

}  // namespace pf::gui
