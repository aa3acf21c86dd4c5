// SPDX-License-Identifier: GPL-3.0-or-later
// The panes: docks around the centre, those of plugins among them. Where they are is for a workspace to say (workspaces.h).
#pragma once

#include <vector>

#include <QObject>

#include "app/gui/panes/plugin_panes.h"
#include "app/gui/panes/window_views.h"
#include "views/trace/trace_index.h"

class QDockWidget;
class QMainWindow;
class QMenu;
class QToolButton;

namespace pf::session {
class DebugSession;
}

namespace pf::gui {

class ContentsPane;
class InspectionPanes;
class MatrixFrames;
class RunTreePane;

class WindowDocks : public QObject {
  Q_OBJECT
 public:
  WindowDocks(QMainWindow& window, const WindowViews& views, session::DebugSession& session);

  [[nodiscard]] const std::vector<QDockWidget*>& all() const { return m_docks; }
  [[nodiscard]] InspectionPanes& inspection() { return *m_inspection; }
  [[nodiscard]] ContentsPane& contents() { return *m_contents; }
  [[nodiscard]] MatrixFrames& matrix() { return *m_matrix; }
  [[nodiscard]] RunTreePane& runs() { return *m_runs; }
  /// Those of plugins.
  [[nodiscard]] PluginPanes& plugins() { return m_plugins; }
  /// Which plugins there are, and which were refused.
  [[nodiscard]] const plugins::Registry& registry() const { return m_registry; }
  /// Null: there is no pane of this name. That of a plugin goes by its id.
  [[nodiscard]] QDockWidget* find(const QString& name) const;

  /// Who waits for whom at the end of the record: in front.
  void showWaits();

  /// Opens one of the panes that are closed, which are its menu.
  [[nodiscard]] QToolButton* makeMoreButton();

  /// In front of those that share its place; it does not take the keyboard.
  void showPane(const char* name);

 private:
  /// The menu of makeMoreButton().
  void listClosed(QMenu& menu);
  QDockWidget* add(const QString& name, const QString& title, QWidget* widget);
  void makeDocks(const WindowViews& views, session::DebugSession& session);
  void makePlugins();
  Result<QWidget*> tryPane(const plugins::Plugin& plugin, const plugins::Part& part);
  void makePlugin(const plugins::Plugin& plugin, const plugins::Part& part);
  bool eventFilter(QObject* watched, QEvent* event) override;

  QMainWindow& m_window;
  plugins::Registry m_registry;
  PluginPanes m_plugins{m_registry};
  std::vector<QDockWidget*> m_docks;
  InspectionPanes* m_inspection = nullptr;
  ContentsPane* m_contents = nullptr;
  MatrixFrames* m_matrix = nullptr;
  RunTreePane* m_runs = nullptr;
};

}  // namespace pf::gui
