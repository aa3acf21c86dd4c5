// SPDX-License-Identifier: GPL-3.0-or-later
// Breakpoints of every kind, the log, cycles side by side, and ways back: what the window has of
// them.
#include <functional>

#include <QInputDialog>
#include <QMenu>
#include <QTreeView>

#include "app/gui/breakpoint_dialog.h"
#include "app/gui/cycle_comparison_dialog.h"
#include "app/gui/main_window.h"
#include "views/models/rank_models.h"
#include "views/models/session_models.h"
#include "views/panes/debug_views.h"
#include "views/panes/icons.h"
#include "views/panes/log_view.h"
#include "views/panes/rank_strip.h"
#include "views/panes/session_views.h"

namespace pf::gui {

void MainWindow::connectLogic() {
  connect(&m_session->debuggers(), &session::Debuggers::focusChanged, this,
          [this](const QList<int>& ranks) {
            m_ranks->model()->setFocusRanks({ranks.begin(), ranks.end()});
          });
  connect(m_breakpoints, &views::BreakpointsView::stopsEdited, this,
          [this](int id, const QString& stops) {
            for (values::Breakpoint breakpoint : m_session->breakpoints().all()) {
              if (breakpoint.id == id && values::setStops(breakpoint, stops)) {
                m_session->breakpoints().change(breakpoint);
                return;
              }
            }
          });
  connect(m_session, &DebugSession::logged, m_log, &views::LogView::append);
  connect(m_log, &views::LogView::eventActivated, m_session, &DebugSession::replayTo);
  connect(m_breakpoints, &views::BreakpointsView::addRequested, this,
          [this] { editBreakpoint({}); });
  connect(m_breakpoints, &views::BreakpointsView::editRequested, this, [this](int id) {
    for (const values::Breakpoint& breakpoint : m_session->breakpoints().all()) {
      if (breakpoint.id == id) {
        editBreakpoint(breakpoint);
        return;
      }
    }
  });
}

void MainWindow::makeLogicActions(QMenu* debug, QMenu* replay) {
  m_newBreakpoint =
      command(tr("&New breakpoint …"),
              tr("Stop at a line, function, address, change of a value, exception, signal, or a "
                 "moment of the recording"),
              views::icon(views::Icon::Breakpoint), QKeySequence(tr("Ctrl+B")),
              [this] { editBreakpoint({}); });
  m_newBreakpoint->setObjectName(QStringLiteral("newBreakpoint"));
  debug->addAction(m_newBreakpoint);
  struct Way {
    const char* name;
    QString text;
    QString tip;
    QKeySequence keys;
    std::function<void()> go;
  };
  replay->addSeparator();
  const auto to = [this](session::Move move) { return [this, move] { m_session->go(move); }; };
  for (const Way& way :
       {Way{"nextEvent", tr("Next e&vent"), tr("Run the current rank to its next event"),
            QKeySequence(tr("Ctrl+F8")), to(session::Move::NextEvent)},
        Way{"nextRacing", tr("Next racin&g receive"),
            tr("Run to the next receive of any rank that could have taken another message"),
            QKeySequence(tr("F6")), to(session::Move::NextRace)},
        Way{"previousReceive", tr("Previous receive"),
            tr("Take the current rank back to its receive before, by running the recording again"),
            QKeySequence(tr("Ctrl+Shift+F8")), to(session::Move::PreviousReceive)},
        Way{"previousHit", tr("Previous &hit"),
            tr("Back to the hit of a breakpoint before this place, on the current rank"),
            QKeySequence(tr("Shift+F6")), [this] { m_session->previousHit(); }}}) {
    QAction* action = command(way.text, way.tip, {}, way.keys, way.go);
    action->setObjectName(QString::fromLatin1(way.name));
    replay->addAction(action);
  }
  QAction* change =
      command(tr("Back to the &last change …"),
              tr("Back to where a variable was changed last, by running the recording again twice"),
              {}, QKeySequence(tr("Ctrl+F6")), [this] { askLastChange(); });
  change->setObjectName(QStringLiteral("lastChange"));
  replay->addAction(change);
  QAction* message =
      command(tr("Which &message filled …"),
              tr("The message that was written last to a variable or an address, and who sent it"),
              {}, QKeySequence(tr("Ctrl+M")), [this] { askWhichMessage(); });
  message->setObjectName(QStringLiteral("whichMessage"));
  debug->addAction(message);
  connect(m_variables, &views::VariablesView::messageRequested, this,
          &MainWindow::showWhichMessage);
  QAction* rebuilt =
      command(tr("Allow a re&built program"),
              tr("Replay a program that was changed and rebuilt since it was recorded; where it "
                 "calls MPI otherwise, that is a divergence"),
              {}, {}, {});
  rebuilt->setCheckable(true);
  connect(rebuilt, &QAction::toggled, m_session, &DebugSession::allowRebuilt);
  QAction* threads =
      command(tr("Other threads &wait during a step"),
              tr("A step moves only the thread that is stepped; the rank's other threads stand "
                 "meanwhile. A step over what waits for one of them does not end: pause it"),
              {}, {}, {});
  threads->setObjectName(QStringLiteral("stepOneThread"));
  threads->setCheckable(true);
  connect(threads, &QAction::toggled, &m_session->control(), &session::RunControl::stepOneThread);
  QAction* compare =
      command(tr("&Compare cycles …"), tr("Two cycles side by side: which hits and values differ"),
              {}, QKeySequence(tr("Ctrl+Shift+C")), [this] { compareCycles(); });
  compare->setObjectName(QStringLiteral("compareCycles"));
  replay->addSeparator();
  replay->addActions({compare, rebuilt});
  debug->addAction(threads);
  m_cycles->tree()->setContextMenuPolicy(Qt::ActionsContextMenu);
  m_cycles->tree()->addAction(compare);
}

void MainWindow::askLastChange() {
  const QStringList& watches = m_watches->model()->expressions();
  bool ok = false;
  const QString expression = QInputDialog::getItem(
      this, tr("Back to the last change"),
      tr("Expression (of globals and statics), on rank %1:").arg(m_session->currentRank()), watches,
      0, true, &ok);
  if (ok) {
    m_session->lastChange(expression);
  }
}

void MainWindow::askWhichMessage() {
  bool ok = false;
  const QString expression = QInputDialog::getText(
      this, tr("Which message filled this"),
      tr("Variable, expression or address, on rank %1:").arg(m_session->currentRank()),
      QLineEdit::Normal, {}, &ok);
  if (ok) {
    showWhichMessage(expression);
  }
}

void MainWindow::showWhichMessage(const QString& expression) {
  m_session->buffers().ask(expression, [this](const session::WhichMessage& answer) {
    if (answer.event.valid()) {
      selectEvent(answer.event);
    }
    say(answer.text, answer.problem);
  });
}

void MainWindow::compareCycles() {
  const QList<values::Cycle>& cycles = m_session->cycles().all();
  if (cycles.size() < 2) {
    say(tr("There are no two cycles yet. Restart cycle (Ctrl+Shift+F5) makes one."), false);
    return;
  }
  auto* dialog = new CycleComparisonDialog(cycles, m_cycles->selectedCycle(), 0, this);
  dialog->setAttribute(Qt::WA_DeleteOnClose);
  connect(dialog, &CycleComparisonDialog::eventActivated, this, &MainWindow::selectEvent);
  dialog->open();
}

void MainWindow::editBreakpoint(const values::Breakpoint& breakpoint) {
  if (!m_session->isOpen()) {
    return;
  }
  auto* dialog = new BreakpointDialog(breakpoint, this);
  dialog->setAttribute(Qt::WA_DeleteOnClose);
  connect(dialog, &QDialog::accepted, this, [this, dialog] {
    const values::Breakpoint& entered = dialog->breakpoint();
    entered.id == 0 ? m_session->breakpoints().add(entered)
                    : m_session->breakpoints().change(entered);
  });
  dialog->open();
}

}  // namespace pf::gui
