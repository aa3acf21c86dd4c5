// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/session_files.h"

#include <algorithm>

#include <QFileDialog>
#include <QFileInfo>
#include <QMainWindow>

#include "app/gui/commands/take_over.h"
#include "app/gui/panes/inspection_panes.h"
#include "app/gui/panes/shown_trace.h"
#include "app/gui/panes/workspaces.h"
#include "app/gui/recording/record_dialog.h"
#include "app/session/debug_session.h"
#include "app/session/records/breakpoint_text.h"
#include "app/traces/own_traces.h"
#include "views/diagram/space_time_view.h"
#include "views/models/rank_models.h"
#include "views/models/watches_model.h"
#include "views/panes/debug_views.h"
#include "views/panes/rank_strip.h"
#include "views/panes/session_views.h"
#include "views/panes/values_across_view.h"

namespace pf::gui {

using session::SessionFile;

namespace {

constexpr qsizetype kRanksNamed = 100;  ///< of those that a file names, in a sentence

}  // namespace

SessionFiles::SessionFiles(const Parts& parts)
    : QObject(&parts.window),
      m_window(parts.window),
      m_workspaces(parts.workspaces),
      m_views(parts.views),
      m_shown(parts.shown),
      m_inspection(parts.inspection),
      m_session(parts.session) {}

void SessionFiles::ask() {
  const QString path =
      QFileDialog::getSaveFileName(&m_window, tr("Save session"),
                                   session::sessionFileFor(m_shown.path()), tr("Sessions (*.pfs)"));
  if (!path.isEmpty()) {
    save(path.endsWith(QLatin1String(".pfs")) ? path : path + QStringLiteral(".pfs"));
  }
}

bool SessionFiles::save(const QString& path) {
  SessionFile file;
  file.trace = m_shown.path();
  for (const std::string& word : m_session.run().command) {
    file.command << QString::fromStdString(word);
  }
  file.directory = QString::fromStdString(m_session.run().workingDirectory);
  file.input = QFileInfo(m_input.trace) == QFileInfo(m_shown.path()) ? m_input.file : QString();
  file.breakpoints = m_session.breakpoints().all();
  file.watches = m_views.watches->model()->expressions();
  file.groups = m_session.groups().all();
  file.focus = m_session.debuggers().focus();
  file.currentRank = m_session.currentRank();
  file.part = QList<int>(m_session.part().begin(), m_session.part().end());
  file.expression = m_inspection.across().expression();
  file.ranksShown = views::arrangementText(m_session.groups().arrangement());
  file.geometry = m_window.saveGeometry();
  if (const std::optional<Workspace> current = m_workspaces.current()) {
    file.workspace = nameOf(*current);
    file.layout = m_workspaces.layout();
  }
  if (const Status written = session::writeSessionFile(path, file); !written) {
    Q_EMIT said(QString::fromStdString(written.error().text()), true);
    return false;
  }
  app::keepWords(file.expression.toStdString());
  app::keepWords(session::recordWords(file));
  Q_EMIT used(QFileInfo(path).absoluteFilePath());
  Q_EMIT said(tr("The session is in %1. Opening it brings all of this back.")
                  .arg(QFileInfo(path).fileName()),
              false);
  return true;
}

void SessionFiles::open(const QString& path) {
  Result<SessionFile> read = session::readSessionFile(path);
  if (!read) {
    Q_EMIT said(QString::fromStdString(read.error().text()), true);
    Q_EMIT notOpened();
    return;
  }
  Q_EMIT used(QFileInfo(path).absoluteFilePath());
  m_opening = std::make_unique<SessionFile>(std::move(*read));
  if (QFileInfo::exists(m_opening->trace) ||
      QFileInfo::exists(m_opening->trace + QStringLiteral(".d"))) {
    Q_EMIT traceWanted(m_opening->trace);
    return;
  }
  if (app::areKnownWords(session::recordWords(*m_opening))) {
    offerToRecord(*m_opening);
  } else {
    Q_EMIT said(
        tr("%1 is not there, and this session was not saved by you: what it would record "
           "is not taken from it. It is: %2, in %3")
            .arg(m_opening->trace, session::commandText(m_opening->command), m_opening->directory),
        true);
    askToTakeOver(&m_window, *m_opening, [this, file = *m_opening] { offerToRecord(file); });
  }
  Q_EMIT notOpened();
}

void SessionFiles::offerToRecord(const SessionFile& file) {
  proposeRecordRequest({session::commandText(file.command), file.directory, file.input, false});
  Q_EMIT said(tr("%1 is not there. Record (Ctrl+R) runs '%2' again; breakpoints, groups and "
                 "layout of the session are used then.")
                  .arg(file.trace, session::commandText(file.command)),
              true);
}

void SessionFiles::recorded(const QString& trace, const QStringList& command,
                            const QString& input) {
  m_input = {trace, input};
  if (m_opening != nullptr &&
      session::commandText(m_opening->command) == session::commandText(command)) {
    m_opening->trace = trace;
  }
}

void SessionFiles::apply() {
  if (m_opening == nullptr) {
    return;
  }
  const std::unique_ptr<SessionFile> file = std::move(m_opening);
  if (QFileInfo(file->trace) != QFileInfo(m_shown.path())) {
    return;  // something else was opened meanwhile
  }
  if (QFileInfo(m_input.trace) != QFileInfo(m_shown.path()) &&
      app::areKnownWords(
          session::recordWords(*file))) {  // else recorded just now, with an input of its own
    m_input = {m_shown.path(), file->input};
  }
  applyBreakpoints(*file);
  applyWatches(*file);
  applyPart(*file);
  applyRanks(*file);
  if (!file->expression.isEmpty() && app::areKnownWords(file->expression.toStdString())) {
    m_inspection.across().ask(file->expression);
  }
  m_window.restoreGeometry(file->geometry);
  if (const std::optional<Workspace> workspace = workspaceOf(file->workspace)) {
    (void)m_workspaces.restore(*workspace, file->layout);  // else as the user has it here
  }
}

void SessionFiles::applyBreakpoints(const SessionFile& file) {
  for (values::Breakpoint wanted : file.breakpoints) {
    wanted.enabled = wanted.enabled && app::areKnownWords(app::wordsOf(session::toRow(wanted)));
    const auto same = [&wanted](const values::Breakpoint& known) {
      return session::breakpointText(known) == session::breakpointText(wanted) &&
             known.ranks == wanted.ranks && known.condition == wanted.condition &&
             known.log == wanted.log;
    };
    const QList<values::Breakpoint>& known = m_session.breakpoints().all();
    if (std::none_of(known.begin(), known.end(), same)) {
      m_session.breakpoints().add(wanted);
    }
  }
}

void SessionFiles::applyWatches(const SessionFile& file) {
  QStringList watches = m_views.watches->model()->expressions();
  for (const QString& expression : file.watches) {
    if (!watches.contains(expression) && app::areKnownWords(expression.toStdString())) {
      watches.append(expression);
    }
  }
  m_session.watches().set(watches);
  m_views.watches->model()->setExpressions(watches);
}

/// What cannot be debugged alone is said; all ranks are then.
void SessionFiles::applyPart(const SessionFile& file) {
  if (!file.part) {
    return;  // what the trace keeps stays
  }
  const Status status =
      m_session.debugOnly({{}, std::vector<Rank>(file.part->begin(), file.part->end())});
  if (!status && !file.part->isEmpty()) {
    m_session.debugAll();
    Q_EMIT said(tr("All ranks are debugged, as those that the session names (%1) cannot be without "
                   "the others: %2")
                    .arg(values::rankSetText(
                             file.part->first(std::min<qsizetype>(file.part->size(), kRanksNamed))),
                         QString::fromStdString(status.error().text())),
                true);
  }
}

void SessionFiles::applyRanks(const SessionFile& file) {
  const auto count = static_cast<int>(m_session.trace()->execution.ranks.size());
  for (const values::RankGroup& group : file.groups) {
    const QList<values::RankGroup>& known = m_session.groups().all();
    if (std::none_of(known.begin(), known.end(), [&group](const values::RankGroup& other) {
          return other.name == group.name;
        })) {
      m_session.groups().add(group.name, group.ranks);
    }
  }
  QSet<int> focus;
  for (const int rank : file.focus) {
    if (rank < count && m_session.runs(rank)) {
      focus.insert(rank);
    }
  }
  if (!focus.isEmpty() || m_session.part().empty()) {
    m_views.ranks->model()->setFocusRanks(focus);
    m_session.debuggers().setFocus(focus.values());
  }
  if (const int rank = std::clamp(file.currentRank, 0, std::max(0, count - 1));
      m_session.runs(rank)) {
    m_session.setCurrentRank(rank);
  }
  if (m_session.groups().arrangement().isPlain()) {
    m_views.diagram->setArrangement(views::arrangementOf(file.ranksShown, count));
  }
}

}  // namespace pf::gui

#include "moc_session_files.cpp"
