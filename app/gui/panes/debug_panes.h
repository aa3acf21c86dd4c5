// SPDX-License-Identifier: GPL-3.0-or-later
// The panes of a debugger (ranks, stack, variables, watches, console, output, cycles, source), each wired to the part of
// the session that it shows and asks.
#pragma once

#include <vector>

#include <QObject>

#include "app/gui/panes/window_views.h"
#include "db/schema/trace_types.h"

namespace pf::session {
class DebugSession;
}

namespace pf::gui {

class ExpressionMenu;
class InspectionPanes;

class DebugPanes : public QObject {
  Q_OBJECT
 public:
  DebugPanes(QWidget& window, const WindowViews& views, InspectionPanes& inspection,
             session::DebugSession& session);

  /// What was printed while the trace was recorded.
  void showPrinted(const std::vector<db::Printed>& printed);
  /// The ranks' states everywhere.
  void refreshRanks();

 private:
  void connectSession();
  void connectRanks();
  void connectStack();
  void connectVariables();
  void connectWatches();
  void connectSource();
  void showFrame(int level);
  void noteSource();
  void locateSource(const QString& path);

  QWidget& m_window;
  const WindowViews m_views;
  InspectionPanes& m_inspection;
  session::DebugSession& m_session;
  ExpressionMenu* m_expressions;
};

}  // namespace pf::gui
