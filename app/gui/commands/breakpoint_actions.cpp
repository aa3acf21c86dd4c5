// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/commands/breakpoint_actions.h"

#include <QAction>
#include <QInputDialog>
#include <QMenu>

#include "app/gui/commands/breakpoint_dialog.h"
#include "app/gui/commands/command.h"
#include "app/gui/panes/shown_trace.h"
#include "app/session/debug_session.h"
#include "views/models/session_models.h"
#include "views/panes/icons.h"
#include "views/panes/session_views.h"
#include "views/panes/source_view.h"
#include "views/values/text.h"

namespace pf::gui {

using views::BreakpointsView;
using views::SourceView;

BreakpointActions::BreakpointActions(QWidget& window, const WindowViews& views, ShownTrace& shown,
                                     session::DebugSession& session)
    : QObject(&window),
      m_window(window),
      m_views(views),
      m_shown(shown),
      m_session(session),
      m_new(makeCommand(window, tr("&New breakpoint …"),
                        tr("Stop at a line, function, address, change of a value, exception, "
                           "signal, or a moment of the recording"),
                        views::icon(views::Icon::Breakpoint), QKeySequence(tr("Ctrl+B")),
                        [this] { edit({}); })) {
  m_new->setObjectName(QStringLiteral("newBreakpoint"));
  connect(&m_session.breakpoints(), &session::Breakpoints::changed, this, [this] {
    m_views.breakpoints->setBreakpoints(m_session.breakpoints().all());
    m_views.source->setBreakpoints(m_session.breakpoints().all());
  });
  connectSource();
  connectPane();
}

void BreakpointActions::connectSource() {
  connect(m_views.source, &SourceView::breakpointToggled, &m_session.breakpoints(),
          &session::Breakpoints::toggle);
  connect(m_views.source, &SourceView::breakpointMenuRequested, this, &BreakpointActions::showMenu);
}

void BreakpointActions::connectPane() {
  BreakpointsView* pane = m_views.breakpoints;
  connect(pane, &BreakpointsView::enableRequested, this,
          [this](int id, bool on) { change(id, [on](values::Breakpoint& b) { b.enabled = on; }); });
  connect(pane, &BreakpointsView::conditionEdited, this, [this](int id, const QString& text) {
    change(id, [text](values::Breakpoint& b) { b.condition = text; });
  });
  connect(pane, &BreakpointsView::ignoreCountEdited, this, [this](int id, int count) {
    change(id, [count](values::Breakpoint& b) { b.ignoreCount = count; });
  });
  connect(pane, &BreakpointsView::ranksEdited, this, [this](int id, const QString& ranks) {
    change(id, [ranks](values::Breakpoint& b) { b.ranks = ranks; });
  });
  connect(pane, &BreakpointsView::stopsEdited, this, [this](int id, const QString& stops) {
    for (values::Breakpoint breakpoint : m_session.breakpoints().all()) {
      if (breakpoint.id == id && values::setStops(breakpoint, stops)) {
        m_session.breakpoints().change(breakpoint);
        return;
      }
    }
  });
  connect(pane, &BreakpointsView::removeRequested, &m_session.breakpoints(),
          &session::Breakpoints::remove);
  connect(
      pane, &BreakpointsView::showRequested, this, [this](const values::Breakpoint& breakpoint) {
        breakpoint.event.valid() ? m_shown.selectEvent(breakpoint.event)
                                 : m_views.source->showLocation(breakpoint.file, breakpoint.line);
      });
  connect(pane, &BreakpointsView::addRequested, this, [this] { edit({}); });
  connect(pane, &BreakpointsView::editRequested, this, [this](int id) {
    for (const values::Breakpoint& breakpoint : m_session.breakpoints().all()) {
      if (breakpoint.id == id) {
        edit(breakpoint);
        return;
      }
    }
  });
}

void BreakpointActions::change(int id, const std::function<void(values::Breakpoint&)>& edit) {
  for (values::Breakpoint breakpoint : m_session.breakpoints().all()) {
    if (breakpoint.id == id) {
      edit(breakpoint);
      m_session.breakpoints().change(breakpoint);
      return;
    }
  }
}

void BreakpointActions::showMenu(const QString& file, int line, const QPoint& at) {
  QMenu menu(&m_window);
  const values::Breakpoint* here = nullptr;
  const QList<values::Breakpoint> all = m_session.breakpoints().all();
  for (const values::Breakpoint& breakpoint : all) {
    here =
        values::namesSource(breakpoint.file, file) && breakpoint.line == line ? &breakpoint : here;
  }
  menu.addAction(here != nullptr ? tr("Remove breakpoint") : tr("Add breakpoint"), this,
                 [this, file, line] { m_session.breakpoints().toggle(file, line); });
  menu.addAction(tr("Condition …"), this, [this, file, line] { askCondition(file, line); });
  if (here != nullptr) {
    menu.addAction(here->enabled ? tr("Disable") : tr("Enable"), this,
                   [this, id = here->id, enabled = here->enabled] {
                     change(id, [enabled](values::Breakpoint& b) { b.enabled = !enabled; });
                   });
  }
  menu.exec(at);
}

void BreakpointActions::askCondition(const QString& file, int line) {
  bool ok = false;
  values::Breakpoint breakpoint;
  breakpoint.file = file;
  breakpoint.line = line;
  for (const values::Breakpoint& known : m_session.breakpoints().all()) {
    if (values::namesSource(known.file, file) && known.line == line) {
      breakpoint = known;
    }
  }
  const QString condition = QInputDialog::getText(
      &m_window, tr("Breakpoint condition"),
      tr("Stop at %1:%2 only if:").arg(file.section(QLatin1Char('/'), -1)).arg(line),
      QLineEdit::Normal, breakpoint.condition, &ok);
  if (!ok) {
    return;
  }
  breakpoint.condition = condition;
  breakpoint.id == 0 ? m_session.breakpoints().add(breakpoint)
                     : m_session.breakpoints().change(breakpoint);
}

void BreakpointActions::edit(const values::Breakpoint& breakpoint) {
  if (!m_session.isOpen()) {
    return;
  }
  auto* dialog = new BreakpointDialog(breakpoint, &m_window);
  dialog->setAttribute(Qt::WA_DeleteOnClose);
  connect(dialog, &QDialog::accepted, this, [this, dialog] {
    const values::Breakpoint& entered = dialog->breakpoint();
    entered.id == 0 ? m_session.breakpoints().add(entered)
                    : m_session.breakpoints().change(entered);
  });
  dialog->open();
}

}  // namespace pf::gui

#include "moc_breakpoint_actions.cpp"
