// SPDX-License-Identifier: GPL-3.0-or-later
// The window: makes its parts, puts them together, and opens what they are to show.
#pragma once

#include <memory>

#include <QMainWindow>

#include "app/gui/panes/window_views.h"
#include "app/session/debug_session.h"
#include "plugins/host/registry.h"
#include "views/trace/trace_index.h"

class QSplitter;

namespace pf::gui {

class BreakpointActions;
class CompareAction;
class CompareWindow;
class DebugPanes;
class FailureBanner;
class FollowAction;
class InspectionPanes;
class KeyBindings;
class Opening;
class OrderActions;
class RecordingDesk;
class RecordingFollower;
class PartActions;
class PluginCommands;
class ReplayActions;
class SessionFiles;
class ShownTrace;
class StartPage;
class StatusLine;
class TimeTravelBar;
class WindowDocks;
class Workspaces;
using session::DebugSession;
using session::LoadedTrace;

class MainWindow : public QMainWindow {
  Q_OBJECT
 public:
  explicit MainWindow(QWidget* parent = nullptr);
  ~MainWindow() override;
  Q_DISABLE_COPY_MOVE(MainWindow)

  /// Loads a trace on a worker thread; opened() or a message follows.
  void openTrace(const QString& path);
  /// A trace or a session, by its name.
  void openPath(const QString& path);
  /// A session's file; opened() follows. Where its trace is gone, what was set waits for the next recording.
  void openSession(const QString& path);
  bool saveSession(const QString& path);
  /// Shows what the recording that makes `trace` has by now, and what comes; opened() follows with the first of it.
  void followRecording(const QString& trace);
  [[nodiscard]] RecordingFollower& follower();
  /// Core files of ranks, to be looked at; opened() follows. `program`: empty, as the files say.
  void openCores(const QStringList& files, const QString& program);
  /// The job of this launcher or rank, which goes on; opened() follows.
  void attachTo(qint64 pid);
  /// Opens a window with the open trace and this one side by side; compared() follows.
  void compareWith(const QString& path);
  [[nodiscard]] DebugSession& session() { return *m_session; }
  [[nodiscard]] views::SpaceTimeView& diagram() { return *m_views.diagram; }
  [[nodiscard]] views::RaceListView& races() { return *m_views.races; }
  [[nodiscard]] views::SourceView& source() { return *m_views.source; }
  [[nodiscard]] views::VariablesView& variables() { return *m_views.variables; }
  [[nodiscard]] views::StackView& stack() { return *m_views.stack; }
  [[nodiscard]] views::CyclesView& cyclesView() { return *m_views.cycles; }
  [[nodiscard]] views::OutputView& outputView() { return *m_views.output; }
  [[nodiscard]] views::LogView& logView() { return *m_views.log; }
  [[nodiscard]] InspectionPanes& looking();
  [[nodiscard]] KeyBindings& keys() { return *m_keys; }
  [[nodiscard]] Workspaces& workspaces() { return *m_workspaces; }
  [[nodiscard]] TimeTravelBar& timeTravel() { return *m_travel; }
  [[nodiscard]] views::RankStrip& ranks() { return *m_views.ranks; }
  /// Brings a pane to the front, that of a plugin by its id. False: there is none of this name.
  bool showPane(const QString& name);
  /// Which there are, and which were refused.
  [[nodiscard]] const plugins::Registry& plugins() const;
  [[nodiscard]] PluginCommands& pluginCommands() { return *m_plugins; }
  [[nodiscard]] OrderActions& orders() { return *m_orders; }
  [[nodiscard]] QString statusText() const;
  void say(const QString& text, bool problem);

 Q_SIGNALS:
  void compared(pf::gui::CompareWindow* window);  ///< null: that failed, and was said
  void opened(bool ok);

 protected:
  void closeEvent(QCloseEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;

 private:
  void makeParts();
  void makeMenus();
  void makeFileMenu();
  void makeToolBars();
  void makeViewMenu();
  void makeToolsMenu();
  void connectSession();
  void connectWorkspaces();
  void noteCycle();
  void connectOpening();
  void connectRecording();
  void connectFollowing();
  void connectFiles();
  void connectOrders();
  void showTrace(const QString& path, const LoadedTrace& trace, views::TraceIndexPtr index);
  void showNewer(const QString& path, const LoadedTrace& trace, bool last);
  void showUnrecorded(const QString& title);
  void openAgain(const QString& path);
  void refreshActions();
  void refreshOthers();
  void showBanner(const LoadedTrace& trace);
  void askTrace();
  void askCores();
  void exportDiagram();

  DebugSession* m_session;
  const WindowViews m_views;
  QSplitter* m_centre;          ///< diagram and source
  FailureBanner* m_banner;      ///< of the run that is shown
  FailureBanner* m_divergence;  ///< of its replay
  StartPage* m_pages;
  StatusLine* m_status;
  WindowDocks* m_docks = nullptr;
  Workspaces* m_workspaces = nullptr;
  TimeTravelBar* m_travel = nullptr;
  QAction* m_open = nullptr;
  QAction* m_openCores = nullptr;
  QAction* m_attach = nullptr;
  int m_cycle = 0;  ///< the last one that was seen
  ShownTrace* m_shown = nullptr;
  DebugPanes* m_panes = nullptr;
  BreakpointActions* m_breakpoints = nullptr;
  ReplayActions* m_replay = nullptr;
  PartActions* m_part = nullptr;
  RecordingDesk* m_recording = nullptr;
  QAction* m_tutorial = nullptr;
  FollowAction* m_follow = nullptr;
  SessionFiles* m_files = nullptr;
  CompareAction* m_compare = nullptr;
  OrderActions* m_orders = nullptr;
  Opening* m_opening = nullptr;
  PluginCommands* m_plugins = nullptr;
  KeyBindings* m_keys = nullptr;
};

}  // namespace pf::gui
