// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/panes/manual.h"

#include <array>

#include <QAction>
#include <QDialog>
#include <QListWidget>
#include <QMainWindow>
#include <QMessageBox>
#include <QPointer>
#include <QScreen>
#include <QSplitter>
#include <QTextBrowser>
#include <QUrl>
#include <QVBoxLayout>

#include "app/job/job.h"
#include "app/version.h"

namespace pf::gui {
namespace {

struct Page {
  const char* file;
  const char* title;
};

constexpr std::array<Page, 9> kPages{{
    {"debugging.md", QT_TR_NOOP("Debugging")},
    {"views.md", QT_TR_NOOP("The window and its diagram")},
    {"looking.md", QT_TR_NOOP("Looking at all ranks")},
    {"other-orders.md", QT_TR_NOOP("Other orders")},
    {"predicting.md", QT_TR_NOOP("Predicting")},
    {"command-line.md", QT_TR_NOOP("The command line")},
    {"editors.md", QT_TR_NOOP("Editors")},
    {"glossary.md", QT_TR_NOOP("Words")},
    {"systems.md", QT_TR_NOOP("Systems and MPI libraries")},
}};

QDialog* openManual(QMainWindow& window, const QString& directory) {
  auto* const dialog = new QDialog(&window);
  dialog->setObjectName(QStringLiteral("manual"));
  dialog->setAttribute(Qt::WA_DeleteOnClose);
  dialog->setWindowTitle(QAction::tr("Photofinish: manual"));
  auto* const list = new QListWidget;
  auto* const text = new QTextBrowser;
  text->setOpenExternalLinks(false);
  text->setSearchPaths({directory});
  for (const Page& page : kPages) {
    auto* const item = new QListWidgetItem(QAction::tr(page.title), list);
    item->setData(Qt::UserRole, QString::fromLatin1(page.file));
  }
  QObject::connect(
      list, &QListWidget::currentItemChanged, text, [text, directory](const QListWidgetItem* item) {
        text->setSource(
            QUrl::fromLocalFile(directory + QLatin1Char('/') + item->data(Qt::UserRole).toString()),
            QTextDocument::MarkdownResource);
      });
  auto* const split = new QSplitter;
  split->addWidget(list);
  split->addWidget(text);
  split->setStretchFactor(1, 1);
  split->setSizes({220, 860});
  auto* const column = new QVBoxLayout(dialog);
  column->addWidget(split);
  dialog->resize(QSize(1080, 760).boundedTo(window.screen()->availableSize() * 9 / 10));
  list->setCurrentRow(0);
  return dialog;
}

}  // namespace

QAction* makeManual(QMainWindow& window) {
  auto* const action = new QAction(QAction::tr("&Manual"), &window);
  action->setObjectName(QStringLiteral("openManual"));
  action->setStatusTip(QAction::tr("The documents: debugging, the window, the command line …"));
  QObject::connect(action, &QAction::triggered, &window,
                   [&window, open = QPointer<QDialog>()]() mutable {
                     const Result<std::string> directory = app::dataDirectory("docs");
                     if (!directory) {
                       QMessageBox::warning(&window, QAction::tr("Manual"),
                                            QString::fromStdString(directory.error().text()));
                       return;
                     }
                     if (open == nullptr) {
                       open = openManual(window, QString::fromStdString(*directory));
                     }
                     open->show();
                     open->raise();
                   });
  return action;
}

QAction* makeAbout(QMainWindow& window) {
  auto* const action = new QAction(QAction::tr("&About Photofinish"), &window);
  action->setObjectName(QStringLiteral("about"));
  action->setMenuRole(QAction::AboutRole);
  QObject::connect(action, &QAction::triggered, &window, [&window] {
    QMessageBox::about(
        &window, QAction::tr("About Photofinish"),
        QAction::tr("<p><b>Photofinish %1</b>: a debugger for MPI programs that records who won "
                    "every race of messages, and replays the run to the same finish.</p>"
                    "<p>GPL-3.0-or-later; what is loaded into your program, and the interface of "
                    "plugins: MIT.</p><p>Qt %2 (built with %3).</p>")
            .arg(QString::fromLatin1(app::kVersion), QString::fromLatin1(qVersion()),
                 QStringLiteral(QT_VERSION_STR)));
  });
  return action;
}

}  // namespace pf::gui
