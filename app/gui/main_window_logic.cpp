// Breakpoints of every kind, the log, cycles side by side, and ways back: what the window has of
// them.
#include "breakpoint_dialog.h"
#include "main_window.h"

#include <QMenu>

#include "views/icons.h"
#include "views/rank_models.h"
#include "views/rank_strip.h"
#include "views/session_views.h"

namespace pf::gui {

void MainWindow::connectLogic() {
  connect(m_session, &DebugSession::focusChanged, this, [this](const QList<int>& ranks) {
    m_ranks->model()->setFocusRanks({ranks.begin(), ranks.end()});
  });
  connect(m_breakpoints, &views::BreakpointsView::stopsEdited, this,
          [this](int id, const QString& stops) {
            for (views::Breakpoint breakpoint : m_session->breakpoints()) {
              if (breakpoint.id == id && views::setStops(breakpoint, stops)) {
                m_session->changeBreakpoint(breakpoint);
                return;
              }
            }
          });
  connect(m_breakpoints, &views::BreakpointsView::addRequested, this,
          [this] { editBreakpoint({}); });
  connect(m_breakpoints, &views::BreakpointsView::editRequested, this, [this](int id) {
    for (const views::Breakpoint& breakpoint : m_session->breakpoints()) {
      if (breakpoint.id == id) {
        editBreakpoint(breakpoint);
        return;
      }
    }
  });
}

void MainWindow::makeLogicActions(QMenu* debug, QMenu* /*replay*/) {
  m_newBreakpoint =
      command(tr("&New breakpoint …"),
              tr("Stop at a line, function, address, change of a value, exception, signal, or a "
                 "moment of the recording"),
              views::icon(views::Icon::Breakpoint), QKeySequence(tr("Ctrl+B")),
              [this] { editBreakpoint({}); });
  m_newBreakpoint->setObjectName(QStringLiteral("newBreakpoint"));
  debug->addAction(m_newBreakpoint);
}

void MainWindow::editBreakpoint(const views::Breakpoint& breakpoint) {
  if (!m_session->isOpen()) {
    return;
  }
  auto* dialog = new BreakpointDialog(breakpoint, this);
  dialog->setAttribute(Qt::WA_DeleteOnClose);
  connect(dialog, &QDialog::accepted, this, [this, dialog] {
    const views::Breakpoint& entered = dialog->breakpoint();
    entered.id == 0 ? m_session->addBreakpoint(entered) : m_session->changeBreakpoint(entered);
  });
  dialog->open();
}

}  // namespace pf::gui
