// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/commands/compare_action.h"

#include <memory>

#include <QAction>
#include <QFileDialog>
#include <QFileInfo>
#include <QFutureWatcher>

#include "app/gui/commands/command.h"
#include "app/gui/commands/compare_window.h"
#include "app/gui/panes/shown_trace.h"
#include "app/gui/panes/status_line.h"
#include "app/session/debug_session.h"
#include "app/session/state/in_background.h"
#include "views/panes/session_views.h"

namespace pf::gui {

CompareAction::CompareAction(QWidget& window, ShownTrace& shown, StatusLine& status,
                             session::DebugSession& session)
    : QObject(&window),
      m_window(window),
      m_shown(shown),
      m_status(status),
      m_session(session),
      m_action(makeCommand(window, tr("&Compare with …"),
                           tr("Show where this run and another recording of the program part"), {},
                           {}, [this] { ask(); })) {}

void CompareAction::ask() {
  const QString path = QFileDialog::getOpenFileName(&m_window, tr("Compare with a recording"),
                                                    QFileInfo(m_shown.path()).absolutePath(),
                                                    tr("Traces (*.pft);;All files (*)"));
  if (!path.isEmpty()) {
    compareWith(path);
  }
}

void CompareAction::compareWith(const QString& path) {
  using Loading = std::shared_ptr<Result<LoadedComparison>>;
  const QString own = m_shown.path();
  const QString other = QFileInfo(path).absoluteFilePath();
  m_status.progress().start(tr("Comparing with %1 …").arg(QFileInfo(path).fileName()), false);
  auto* watcher = new QFutureWatcher<Loading>(this);
  connect(watcher, &QFutureWatcherBase::finished, this, [this, watcher, other, own] {
    watcher->deleteLater();
    m_status.progress().finish();
    const Loading loaded = watcher->result();
    if (!loaded->ok()) {
      m_status.say(QString::fromStdString(loaded->error().text()), true);
      Q_EMIT compared(nullptr);
      return;
    }
    show(new CompareWindow(own, other, loaded->value(), &m_window), own);
  });
  watcher->setFuture(session::inBackground([own, index = m_shown.index(), other] {
    return std::make_shared<Result<LoadedComparison>>(loadComparison(own, index, other));
  }));
}

void CompareAction::show(CompareWindow* window, const QString& own) {
  window->setAttribute(Qt::WA_DeleteOnClose);
  const auto inThisTrace = [this, own](auto does) {
    return [this, own, does](const EventRef& event) {
      if (own == m_shown.path()) {  // another trace may be open by now
        does(event);
      }
    };
  };
  connect(window, &CompareWindow::eventSelected, this,
          inThisTrace([this](const EventRef& event) { m_shown.selectEvent(event); }));
  connect(window, &CompareWindow::replayToRequested, this,
          inThisTrace([this](const EventRef& event) { m_session.replayTo(event); }));
  window->show();
  Q_EMIT compared(window);
}

}  // namespace pf::gui

#include "moc_compare_action.cpp"
