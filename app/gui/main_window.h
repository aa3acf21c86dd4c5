// SPDX-License-Identifier: GPL-3.0-or-later
// The window: docks around diagram and source, actions, and the wiring between views and
// DebugSession.
#pragma once

#include <memory>
#include <vector>

#include <QMainWindow>
#include <QPointer>
#include <QProcess>

#include "app/session/debug_session.h"
#include "plugins/api/api.h"
#include "views/trace/trace_index.h"

class QLabel;
class QLayout;
class QLineEdit;
class QListWidget;
class QSplitter;
class QStackedWidget;

namespace pf::views {
class BreakpointsView;
class ConsoleView;
class LogView;
class CyclesView;
class OutputView;
class ProgressStrip;
class RaceListView;
class RankStrip;
class SourceView;
class SpaceTimeView;
class StackView;
class VariablesView;
class WatchesView;
}  // namespace pf::views

namespace pf::session {
struct SessionFile;
}

namespace pf::gui {

class CompareWindow;
using session::DebugSession;
using session::LoadedTrace;

class KeyBindings;
class InspectionPanes;
class PeekDirectory;
class RecordingFollower;

class MainWindow : public QMainWindow {
  Q_OBJECT
 public:
  explicit MainWindow(QWidget* parent = nullptr);
  ~MainWindow() override;

  /// Loads a trace on a worker thread; opened() or a message follows.
  void openTrace(const QString& path);
  /// A trace or a session, by its name.
  void openPath(const QString& path);
  /// A session's file; opened() follows. Where its trace is gone, what was set waits for the next recording.
  void openSession(const QString& path);
  bool saveSession(const QString& path);
  /// Shows what the recording that makes `trace` has by now, and what comes; opened() follows with the first of it.
  void followRecording(const QString& trace);
  [[nodiscard]] RecordingFollower& follower() { return *m_follower; }
  /// Core files of ranks, to be looked at; opened() follows. `program`: empty, as the files say.
  void openCores(const QStringList& files, const QString& program);
  /// The job of this launcher or rank, which goes on; opened() follows.
  void attachTo(qint64 pid);
  /// Opens a window with the open trace and this one side by side; compared() follows.
  void compareWith(const QString& path);
  [[nodiscard]] DebugSession& session() { return *m_session; }
  [[nodiscard]] views::SpaceTimeView& diagram() { return *m_diagram; }
  [[nodiscard]] views::RaceListView& races() { return *m_races; }
  [[nodiscard]] views::SourceView& source() { return *m_source; }
  [[nodiscard]] views::VariablesView& variables() { return *m_variables; }
  [[nodiscard]] views::StackView& stack() { return *m_stack; }
  [[nodiscard]] views::CyclesView& cyclesView() { return *m_cycles; }
  [[nodiscard]] views::OutputView& outputView() { return *m_output; }
  [[nodiscard]] views::LogView& logView() { return *m_log; }
  [[nodiscard]] InspectionPanes& looking() { return *m_looking; }
  [[nodiscard]] KeyBindings& keys() { return *m_keys; }
  [[nodiscard]] views::RankStrip& ranks() { return *m_ranks; }
  [[nodiscard]] QString statusText() const;
  void say(const QString& text, bool problem);

 Q_SIGNALS:
  void compared(pf::gui::CompareWindow* window);  ///< null: that failed, and was said
  void opened(bool ok);

 protected:
  void closeEvent(QCloseEvent* event) override;

 private:
  void makeViews();
  void makeDocks();
  void makeActions();
  void makeMenus();
  void connectDiagram();
  void connectRaceClasses();
  void connectSession();
  void connectDebugViews();
  void connectBreakpoints();
  void connectLogic();
  void makeLogicActions(QMenu* debug, QMenu* replay);
  void compareCycles();
  void askLastChange();
  void askWhichMessage();
  void showWhichMessage(const QString& expression);
  void editBreakpoint(const values::Breakpoint& breakpoint);
  QDockWidget* addDock(const QString& name, const QString& title, QWidget* widget,
                       Qt::DockWidgetArea area);
  QAction* command(const QString& text, const QString& tip, const QIcon& icon,
                   const QKeySequence& keys, const std::function<void()>& does);
  void showTrace(const QString& path, LoadedTrace trace);
  void resetLayout();
  void restoreLayout();
  void selectEvent(const EventRef& event);
  void selectRace(int race);
  void showSites(const EventRef& event, const EventRef& other);
  void showFrame(int level);
  void noteSource();
  void refreshRanks();
  void askTrace();
  void askRecord();
  void lookAtRecording();
  void makeFollower();
  QAction* makeFollowAction();
  void askFollowed();
  void stopFollowing();
  void showNewer(const QString& path, bool last, const views::TraceIndexPtr& physical);
  void tellOutcome();
  void showCallSites();
  void tellOfDamage();
  QLayout* fileField(QLineEdit* name, const QLineEdit* directory);
  /// `input`: a file for the launcher's standard input, as seen from `directory`; none if empty.
  void record(const QString& command, const QString& directory, const QString& input);
  void remember(const QString& path);
  void fillRecent();
  void exportDiagram();
  void askComparison();
  void askSaveSession();
  void applySession();
  /// The session's trace is gone: what was set waits for the next recording.
  void offerToRecord(const session::SessionFile& file);
  QMenu* makeRecentMenu();
  [[nodiscard]] static QStringList recentPaths();
  void askCores();
  void askJob();
  void showUnrecorded(const QString& title);
  QAction* makeTranscriptsAction();
  void keepTranscripts(const QString& directory);
  void locateSource(const QString& path);
  void editBreakpointAt(const QString& file, int line);
  void setActionsEnabled();

  DebugSession* m_session;
  views::TraceIndexPtr m_index;
  QString m_path;

  QStackedWidget* m_pages = nullptr;
  QListWidget* m_recent = nullptr;
  views::SpaceTimeView* m_diagram = nullptr;
  views::SourceView* m_source = nullptr;
  views::RaceListView* m_races = nullptr;
  views::RankStrip* m_ranks = nullptr;
  views::StackView* m_stack = nullptr;
  views::VariablesView* m_variables = nullptr;
  views::WatchesView* m_watches = nullptr;
  views::BreakpointsView* m_breakpoints = nullptr;
  views::OutputView* m_output = nullptr;
  views::ConsoleView* m_console = nullptr;
  views::CyclesView* m_cycles = nullptr;
  views::LogView* m_log = nullptr;
  views::ProgressStrip* m_progress = nullptr;
  InspectionPanes* m_looking = nullptr;
  KeyBindings* m_keys = nullptr;
  QLabel* m_status = nullptr;
  QLabel* m_mode = nullptr;
  plugins::ViewRegistry m_registry;
  std::vector<plugins::ViewWidget*> m_pluginViews;
  std::vector<QDockWidget*> m_docks;
  QByteArray m_defaultLayout;
  QPointer<QProcess> m_recording;
  QString m_recordedTrace;  ///< that it makes
  views::ProgressStrip* m_recordingStrip = nullptr;
  QAction* m_lookAtRecording = nullptr;
  std::unique_ptr<PeekDirectory> m_peeks;
  int m_peekNumber = 0;
  RecordingFollower* m_follower = nullptr;
  QAction* m_follow = nullptr;
  QLabel* m_followed = nullptr;
  QSplitter* m_centre = nullptr;
  struct GivenInput {
    QString trace;
    QString file;
  };
  GivenInput m_input;  ///< the file that a trace was recorded with, where that is known
  std::unique_ptr<session::SessionFile>
      m_opening;  ///< whose trace is being opened, or is yet to be recorded
  QAction* m_saveSession = nullptr;

  QAction* m_compare = nullptr;
  QAction* m_open = nullptr;
  QAction* m_record = nullptr;
  QAction* m_restart = nullptr;
  QAction* m_repeat = nullptr;
  QAction* m_nextReceive = nullptr;
  QAction* m_deliverNext = nullptr;
  QAction* m_deliverHere = nullptr;
  QAction* m_previousEvent = nullptr;
  QAction* m_failing = nullptr;
  QAction* m_end = nullptr;
  QAction* m_markFailing = nullptr;
  QAction* m_newBreakpoint = nullptr;
};

}  // namespace pf::gui
