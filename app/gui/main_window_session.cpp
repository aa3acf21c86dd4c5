// SPDX-License-Identifier: GPL-3.0-or-later
// Saved sessions: a file that brings back what was debugged, what was set, and how the window looked.
#include <algorithm>

#include <QFileDialog>
#include <QFileInfo>
#include <QMenu>
#include <QSettings>
#include <QSplitter>

#include "app/gui/inspection_panes.h"
#include "app/gui/main_window.h"
#include "app/gui/take_over.h"
#include "app/session/records/breakpoint_text.h"
#include "app/session/records/session_file.h"
#include "app/traces/own_traces.h"
#include "views/diagram/space_time_view.h"
#include "views/models/rank_models.h"
#include "views/models/session_models.h"
#include "views/panes/debug_views.h"
#include "views/panes/rank_strip.h"
#include "views/panes/session_views.h"
#include "views/panes/values_across_view.h"

namespace pf::gui {

void MainWindow::openPath(const QString& path) {
  path.endsWith(QLatin1String(".pfs")) ? openSession(path) : openTrace(path);
}

bool MainWindow::saveSession(const QString& path) {
  session::SessionFile file;
  file.trace = m_path;
  for (const std::string& word : m_session->run().command) {
    file.command << QString::fromStdString(word);
  }
  file.directory = QString::fromStdString(m_session->run().workingDirectory);
  file.input = QFileInfo(m_input.trace) == QFileInfo(m_path) ? m_input.file : QString();
  file.breakpoints = m_session->breakpoints().all();
  file.watches = m_watches->model()->expressions();
  file.groups = m_session->groups().all();
  file.focus = m_session->debuggers().focus();
  file.currentRank = m_session->currentRank();
  file.expression = m_looking->across().expression();
  file.ranksShown = views::arrangementText(m_session->groups().arrangement());
  file.geometry = saveGeometry();
  file.layout = saveState();
  file.centre = m_centre->saveState();
  if (const Status written = session::writeSessionFile(path, file); !written) {
    say(QString::fromStdString(written.error().text()), true);
    return false;
  }
  app::keepWords(file.expression.toStdString());
  app::keepWords(session::recordWords(file));
  remember(QFileInfo(path).absoluteFilePath());
  say(tr("The session is in %1. Opening it brings all of this back.")
          .arg(QFileInfo(path).fileName()),
      false);
  return true;
}

void MainWindow::askSaveSession() {
  const QString path = QFileDialog::getSaveFileName(
      this, tr("Save session"), session::sessionFileFor(m_path), tr("Sessions (*.pfs)"));
  if (!path.isEmpty()) {
    saveSession(path.endsWith(QLatin1String(".pfs")) ? path : path + QStringLiteral(".pfs"));
  }
}

void MainWindow::openSession(const QString& path) {
  Result<session::SessionFile> read = session::readSessionFile(path);
  if (!read) {
    say(QString::fromStdString(read.error().text()), true);
    Q_EMIT opened(false);
    return;
  }
  remember(QFileInfo(path).absoluteFilePath());
  m_opening = std::make_unique<session::SessionFile>(std::move(*read));
  if (QFileInfo::exists(m_opening->trace) ||
      QFileInfo::exists(m_opening->trace + QStringLiteral(".d"))) {
    openTrace(m_opening->trace);
    return;
  }
  if (!app::areKnownWords(session::recordWords(*m_opening))) {
    say(tr("%1 is not there, and this session was not saved by you: what it would record is not "
           "taken from it. "
           "It is: %2, in %3")
            .arg(m_opening->trace, session::commandText(m_opening->command), m_opening->directory),
        true);
    askToTakeOver(this, *m_opening, [this, file = *m_opening] { offerToRecord(file); });
    Q_EMIT opened(false);
    return;
  }
  offerToRecord(*m_opening);
  Q_EMIT opened(false);
}

void MainWindow::offerToRecord(const session::SessionFile& file) {
  QSettings settings;
  settings.setValue(QStringLiteral("record/command"), session::commandText(file.command));
  settings.setValue(QStringLiteral("record/directory"), file.directory);
  settings.setValue(QStringLiteral("record/input"), file.input);
  say(tr("%1 is not there. Record (Ctrl+R) runs '%2' again; breakpoints, groups and layout of the "
         "session "
         "are used then.")
          .arg(file.trace, session::commandText(file.command)),
      true);
}

/// A trace has been opened for a session: what it does not have itself comes from the file.
void MainWindow::applySession() {
  if (m_opening == nullptr) {
    return;
  }
  const std::unique_ptr<session::SessionFile> file = std::move(m_opening);
  if (QFileInfo(file->trace) != QFileInfo(m_path)) {
    return;  // something else was opened meanwhile
  }
  if (QFileInfo(m_input.trace) != QFileInfo(m_path) &&
      app::areKnownWords(
          session::recordWords(*file))) {  // else recorded just now, with an input of its own
    m_input = {m_path, file->input};
  }
  const auto count = static_cast<int>(m_session->trace()->execution.ranks.size());
  for (values::Breakpoint wanted : file->breakpoints) {
    wanted.enabled = wanted.enabled && app::areKnownWords(app::wordsOf(session::toRow(wanted)));
    const auto same = [&wanted](const values::Breakpoint& known) {
      return session::breakpointText(known) == session::breakpointText(wanted) &&
             known.ranks == wanted.ranks && known.condition == wanted.condition &&
             known.log == wanted.log;
    };
    const QList<values::Breakpoint>& known = m_session->breakpoints().all();
    if (std::none_of(known.begin(), known.end(), same)) {
      m_session->breakpoints().add(wanted);
    }
  }
  QStringList watches = m_watches->model()->expressions();
  for (const QString& expression : file->watches) {
    if (!watches.contains(expression) && app::areKnownWords(expression.toStdString())) {
      watches.append(expression);
    }
  }
  m_session->watches().set(watches);
  m_watches->model()->setExpressions(watches);
  for (const values::RankGroup& group : file->groups) {
    const QList<values::RankGroup>& known = m_session->groups().all();
    if (std::none_of(known.begin(), known.end(), [&group](const values::RankGroup& other) {
          return other.name == group.name;
        })) {
      m_session->groups().add(group.name, group.ranks);
    }
  }
  QSet<int> focus;
  for (const int rank : file->focus) {
    if (rank < count) {
      focus.insert(rank);
    }
  }
  m_ranks->model()->setFocusRanks(focus);
  m_session->debuggers().setFocus(focus.values());
  m_session->setCurrentRank(std::clamp(file->currentRank, 0, std::max(0, count - 1)));
  if (!file->expression.isEmpty() && app::areKnownWords(file->expression.toStdString())) {
    m_looking->across().ask(file->expression);
  }
  if (m_session->groups().arrangement().isPlain()) {
    m_diagram->setArrangement(views::arrangementOf(file->ranksShown, count));
  }
  restoreGeometry(file->geometry);
  restoreState(file->layout);
  m_centre->restoreState(file->centre);
}

QMenu* MainWindow::makeRecentMenu() {
  auto* menu = new QMenu(tr("Open &recent"), this);
  connect(menu, &QMenu::aboutToShow, this, [this, menu] {
    menu->clear();
    for (const QString& path : recentPaths()) {
      menu->addAction(QFileInfo(path).fileName(), this, [this, path] { openPath(path); })
          ->setStatusTip(path);
    }
    menu->setToolTipsVisible(true);
    if (menu->isEmpty()) {
      menu->addAction(tr("None yet"))->setEnabled(false);
    }
  });
  return menu;
}

}  // namespace pf::gui
