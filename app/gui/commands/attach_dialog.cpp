// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/commands/attach_dialog.h"

#include <QDialog>
#include <QDialogButtonBox>
#include <QFutureWatcher>
#include <QLabel>
#include <QListWidget>
#include <QPushButton>
#include <QVBoxLayout>

#include "app/session/state/in_background.h"
#include "app/unrecorded_jobs/running_job.h"
#include "views/values/text.h"

namespace pf::gui {

void askJob(QWidget& window, const std::function<void(qint64 pid)>& chosen) {
  auto* dialog = new QDialog(&window);
  dialog->setObjectName(QStringLiteral("attachDialog"));
  dialog->setAttribute(Qt::WA_DeleteOnClose);
  dialog->setWindowTitle(QObject::tr("Attach to a running job"));
  auto* column = new QVBoxLayout(dialog);
  auto* about = new QLabel(
      QObject::tr("No rank is stopped until it is ticked in the ranks' list. A job that was not "
                  "recorded cannot be replayed."));
  about->setWordWrap(true);
  column->addWidget(about);
  auto* list = new QListWidget;
  list->setMinimumSize(620, 200);
  list->setAccessibleName(QObject::tr("Jobs that run on this host"));
  column->addWidget(list);
  auto* buttons = new QDialogButtonBox(QDialogButtonBox::Ok | QDialogButtonBox::Cancel);
  buttons->button(QDialogButtonBox::Ok)->setText(QObject::tr("Attach"));
  buttons->button(QDialogButtonBox::Ok)->setEnabled(false);
  column->addWidget(buttons);
  QObject::connect(list, &QListWidget::itemSelectionChanged, buttons, [list, buttons] {
    buttons->button(QDialogButtonBox::Ok)->setEnabled(!list->selectedItems().isEmpty());
  });
  QObject::connect(list, &QListWidget::itemActivated, dialog, &QDialog::accept);
  QObject::connect(buttons, &QDialogButtonBox::accepted, dialog, &QDialog::accept);
  QObject::connect(buttons, &QDialogButtonBox::rejected, dialog, &QDialog::reject);
  QObject::connect(dialog, &QDialog::accepted, &window, [chosen, list] {
    if (const auto selected = list->selectedItems(); !selected.isEmpty()) {
      chosen(selected.first()->data(Qt::UserRole).toLongLong());
    }
  });
  auto* watcher = new QFutureWatcher<std::vector<app::RunningJob>>(dialog);
  QObject::connect(watcher, &QFutureWatcherBase::finished, dialog, [watcher, list, about] {
    for (const app::RunningJob& job : watcher->result()) {
      auto* item = new QListWidgetItem(
          QObject::tr("%1   —   %2: %3")
              .arg(job.launcher)
              .arg(values::counted(job.ranks.size(), QObject::tr("rank"), QObject::tr("ranks")))
              .arg(QString::fromStdString(job.command)),
          list);
      item->setData(Qt::UserRole, qint64{job.launcher});
    }
    if (list->count() == 0) {
      about->setText(QObject::tr(
          "No MPI job of yours runs on this host. Start one with mpirun, then look again."));
    } else {
      list->setCurrentRow(0);
    }
  });
  watcher->setFuture(session::inBackground([] { return app::runningJobs(); }));
  dialog->open();
}

}  // namespace pf::gui
