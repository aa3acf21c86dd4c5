// SPDX-License-Identifier: GPL-3.0-or-later
// One trace being debugged: its cycles, the job of the present cycle, the GDBs of the focus set,
// breakpoints and watches. No widgets: the window shows what it signals. Lives on the GUI thread
// and never blocks it: starting and ending a job run on a worker thread.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include <QDateTime>
#include <QObject>
#include <QPointer>
#include <QSet>
#include <QThreadPool>
#include <QTimer>

#include "app/replaying/part_of_job.h"
#include "app/replaying/verdict_text.h"
#include "app/session/breakpoints.h"
#include "app/session/cycle_times.h"
#include "app/session/cycles.h"
#include "app/session/debuggers.h"
#include "app/session/destinations.h"
#include "app/session/group_run.h"
#include "app/session/hit_search.h"
#include "app/session/inspection/across_ranks.h"
#include "app/session/inspection/all_stacks.h"
#include "app/session/inspection/filled_buffers.h"
#include "app/session/inspection/gdb_consoles.h"
#include "app/session/inspection/inspector.h"
#include "app/session/inspection/machine_inspector.h"
#include "app/session/rank_groups.h"
#include "app/session/records/bookmarks.h"
#include "app/session/records/judged_races.h"
#include "app/session/run_control.h"
#include "app/session/state/session_state.h"
#include "app/session/targets/target.h"
#include "app/session/watches.h"
#include "app/trace_loading/trace_loader.h"
#include "db/store/trace_store.h"
#include "mi_bridge/fleet.h"
#include "views/values/debug_values.h"
#include "views/values/space_time_types.h"

namespace pf::session {

struct UnrecordedRank;
struct SessionRecords;
class LineSearch;
class StandingCalls;
class Waits;
enum class LineMove : int;

class DebugSession : public QObject, private mi::FleetObserver {
  Q_OBJECT
 public:
  explicit DebugSession(QObject* parent = nullptr);
  ~DebugSession() override;
  Q_DISABLE_COPY_MOVE(DebugSession)

  /// Takes over a loaded trace; brings back its breakpoints, watches and cycles.
  void open(const QString& path, LoadedTrace trace);
  /// A newer version of the open trace takes its place; what was set or chosen stays (debug_session_renew.cpp).
  bool renew(const QString& path, LoadedTrace trace, const SessionRecords& carried, bool sameIds);
  [[nodiscard]] Result<SessionRecords> records()
      const;  ///< what the user has added, as the file has it
  /// Ranks of core files: to be looked at only. All get a GDB, up to 16 at once (debug_session_unrecorded.cpp).
  void openCores(const QList<UnrecordedRank>& ranks);
  /// Ranks of a job that runs without us. None is stopped until it gets a GDB (setFocus());
  /// endReplay() lets all go on.
  void attachTo(const QString& job, const QList<UnrecordedRank>& ranks);
  [[nodiscard]] Source source() const { return m_state.source; }
  [[nodiscard]] bool isOpen() const { return m_state.trace != nullptr; }
  /// Of the open trace; empty where there is none.
  [[nodiscard]] const QString& path() const { return m_state.path; }
  [[nodiscard]] const views::TraceDataPtr& trace() const { return m_state.trace; }
  [[nodiscard]] const db::RunInfo& run() const { return m_state.run; }
  [[nodiscard]] bool isReplaying() const { return m_state.phase != Phase::Idle; }
  /// The ranks are past the gate, and the job is not being ended.
  [[nodiscard]] bool isRunning() const { return m_state.phase == Phase::Running; }

  // -- a part of the job (debug_session_part.cpp)
  /// Cycles from now on run these ranks alone, each with a GDB (up to 16); the others can be looked at as the trace has
  /// them. What runs is ended. Usage: ranks that cannot run without others, and what to do.
  Status debugOnly(const app::PartOfJob& part);
  /// All ranks again.
  void debugAll();
  /// The part that the trace keeps is debugged, and whatever part is chosen from now on is kept in it; until another trace
  /// is opened. An error, and all ranks are debugged, where what is kept is no part of this job.
  Status restorePart();
  /// Ranks that can run only together: the trace's group of this one. Empty: the trace has no groups.
  [[nodiscard]] std::vector<Rank> groupOf(int rank) const;
  /// Ranks that cycles run, ascending; empty: all.
  [[nodiscard]] const std::vector<Rank>& part() const { return m_state.part; }
  [[nodiscard]] bool runs(int rank) const { return m_state.runs(rank); }
  /// Why nothing can be done with a rank that is not among them, and how it can, as a sentence.
  [[nodiscard]] QString notInReplay(int rank) const { return m_state.notInReplay(rank); }

  /// Copies of the rank that runs alone, to go back to, as its agent told last (debug_session_back.cpp).
  [[nodiscard]] const protocol::Snapshots& snapshots() const { return m_state.snapshots; }
  /// How many they are, before which events, and the memory that they hold; why none is made. Empty: no rank has any.
  [[nodiscard]] QString snapshotsText() const;

  // -- parts of the session, each with signals of its own
  [[nodiscard]] Inspector& inspector() { return m_inspector; }
  [[nodiscard]] MachineInspector& machine() { return m_machine; }
  [[nodiscard]] FilledBuffers& buffers() { return m_buffers; }
  [[nodiscard]] AllStacks& stacks() { return m_stacks; }
  [[nodiscard]] AcrossRanks& across() { return m_across; }
  [[nodiscard]] Waits& waits() { return *m_waits; }  ///< inspection/waits.h
  /// inspection/standing_calls.h
  [[nodiscard]] StandingCalls& standingCalls() { return *m_standingCalls; }
  [[nodiscard]] GdbConsoles& consoles() { return m_consoles; }
  [[nodiscard]] RankGroups& groups() { return m_groups; }
  [[nodiscard]] const RankGroups& groups() const { return m_groups; }
  [[nodiscard]] GroupRun& groupRun() { return m_groupRun; }
  [[nodiscard]] Breakpoints& breakpoints() { return m_breakpoints; }
  [[nodiscard]] const Breakpoints& breakpoints() const { return m_breakpoints; }
  [[nodiscard]] Cycles& cycles() { return m_cycles; }
  [[nodiscard]] const Cycles& cycles() const { return m_cycles; }
  [[nodiscard]] Debuggers& debuggers() { return m_debuggers; }
  [[nodiscard]] Watches& watches() { return m_watches; }
  [[nodiscard]] Bookmarks& bookmarks() { return m_bookmarks; }
  [[nodiscard]] JudgedRaces& judgedRaces() { return m_judgedRaces; }
  [[nodiscard]] RunControl& control() { return m_control; }

  // -- moving. All re-execute if the ranks are past the goal or none runs.
  /// Stops `event.rank` just before `event`, the others at the cut that it needs.
  void replayTo(const EventRef& event);
  /// Where it goes, ranks that need not move stay where they are.
  void go(Move move);
  /// A new cycle that runs to the first breakpoint or the end.
  void restartCycle();
  /// A new cycle to where the last one was sent.
  void repeatCycle();
  /// hit_search.h. endReplay() cancels.
  void previousHit();
  void lastChange(const QString& expression);
  /// line_search.h. endReplay() cancels.
  void lineBack(LineMove move);
  void endReplay();
  /// Ranks that run, as RunControl::act(); none runs: Continue begins a cycle.
  void act(values::RankAction action, const QList<int>& ranks, const QString& who = {});

  /// Why it cannot be gone there now, as a sentence. Empty: it can, as far as that is known without reading events first.
  [[nodiscard]] QString whyNot(Move move) const;
  /// The same of previousHit().
  [[nodiscard]] QString whyNoPreviousHit() const;
  /// The same of lineBack().
  [[nodiscard]] QString whyNoLineBack() const;
  /// lineBack() is under way.
  [[nodiscard]] bool goesBackByLines() const;
  /// What a step back of the current rank takes.
  struct BackCost {
    bool snapshot = false;    ///< from one; else a new cycle is started
    qint64 milliseconds = 0;  ///< as this session has measured it
  };
  /// Nothing: it has not been measured.
  [[nodiscard]] std::optional<BackCost> backCost() const;

  void setCurrentRank(int rank) { m_inspector.selectRank(rank); }
  [[nodiscard]] int currentRank() const { return m_state.current; }
  /// Cycles of a program that was changed and rebuilt since the recording are not refused.
  void allowRebuilt(bool allow) { m_allowRebuilt = allow; }

  // -- for front ends that ask the ranks' GDBs themselves (debug_session_front.cpp)
  /// GDBs of cycles to come call no function of the program (mi_bridge/fleet.h).
  void forbidCalls() { m_fleet.forbidCalls(); }
  /// The GDB of a rank; null while it has none. Not to be kept: it goes with the job.
  [[nodiscard]] mi::GdbSession* debugger(int rank) { return m_state.debugger(rank); }
  /// The breakpoint at which GDB has stopped the rank; 0: at none.
  [[nodiscard]] int breakpointAt(int rank);
  /// Why GDB has stopped the rank, which has one. Of what ways back have set, not that.
  [[nodiscard]] std::string stopWords(int rank);
  /// Asked first when a breakpoint stops a rank that is not being stepped. True: the front end
  /// deals with the stop and lets the rank go on by goOn(); nobody else hears of it.
  using StopFilter = std::function<bool(int rank, int breakpoint)>;
  void setStopFilter(StopFilter filter) { m_stopFilter = std::move(filter); }
  void goOn(int rank);

  /// Events that a rank has begun, and that each has done, by rank: one that it is inside of is not. All of those of ranks
  /// that do not run.
  [[nodiscard]] Serial serialOf(int rank) const { return m_state.serialOf(rank); }
  [[nodiscard]] std::vector<Serial> eventsDone() const { return m_state.eventsDone(); }
  /// Where the ranks of the replay are; empty: none runs.
  [[nodiscard]] std::vector<values::ReplayPosition> positions() const {
    return m_state.positions();
  }

 Q_SIGNALS:
  void message(const QString& text,
               bool problem);          ///< one line for the status bar; a problem stays
  void progress(const QString& task);  ///< empty: done
  void ranksChanged();
  void snapshotsChanged();
  void positionsChanged(const std::vector<pf::values::ReplayPosition>& positions);
  void rankStopped(int rank);  ///< its stack can be asked for
  void stopTold(
      const QString&
          text);  ///< GDB has stopped a rank at a breakpoint, a watch or a signal: for the status bar
  void marksChanged(const std::vector<pf::values::EventMark>& marks);
  void output(int rank, pf::values::OutputStream stream, const QByteArray& bytes);
  void logged(const pf::values::LogEntry& entry);  ///< by a logpoint
  void consoleText(int rank, const QString& text, bool error);
  /// A line of the console asked for what cannot be done now; consoleText() has said why.
  void consoleRefused(int rank);
  void settled();  ///< the ranks have come to where they were sent, or have ended
  void stalled(const QString& text, bool deadlock);  ///< no rank gets on by itself
  /// The first rank to do something else than was recorded, or to give other contents: in which event, and what.
  void diverged(const pf::EventRef& at, const QString& text);
  void ended(int exitStatus);  ///< the launcher of the cycle, by itself

 public:
  [[nodiscard]] QList<values::RankState> rankStates() const { return m_state.rankStates(); }
  /// Before open(): what makes the replays of its cycles; in tests, a script's.
  void setReplays(ReplayFactory make) {
    m_makeReplay = std::move(make);
    m_fleet.refuseWatchpoints({});  // whatever this machine can
  }

 private:
  // debug_session.cpp: what is debugged
  void take(const QString& path, LoadedTrace trace);
  void readRecords();
  void openRecords(std::unique_ptr<db::TraceStore> store, bool writable);
  void takeUp(int number, const EventRef& event);
  void publishMarks();
  void startCycle(Goal goal);
  void launch();
  void beginCycle();
  // debug_session_back.cpp
  [[nodiscard]] Serial startFor(const Goal& goal) const;
  [[nodiscard]] bool goBack(const Goal& goal);
  void onSnapshots(const protocol::Snapshots& told);
  void wentBack(const protocol::WentBack& back);
  void goOnFromSnapshot();
  void couldNotStart(const QString& summary, const QString& text);
  void debug(std::unique_ptr<Target> target);
  void targetStarted();
  /// Lines of ReplayInputs: each is said once, not in each cycle again.
  void tellInputs(const QStringList& lines, const QString& atEnd);
  void order(const protocol::Message& message);
  void handle(const protocol::Message& message);
  void onState(const protocol::RankState& state);
  void rankEnded(int rank, const QString& how);
  void onVerdict(const protocol::Verdict& verdict);
  void onDiverged(const protocol::RankDiverged& diverged);
  void launcherEnded(int status, const QString& words);
  void closeTarget();
  /// The same, and its end is not waited for.
  void abandonTarget();
  void targetClosed();

  // debug_session_part.cpp
  void setPart(std::vector<Rank> ranks);
  void keepPart();
  /// True: the rank is not among those that cycles run, which has been said.
  [[nodiscard]] bool refuses(int rank);

  // debug_session_unrecorded.cpp: ranks of core files, and of jobs that run without us
  [[nodiscard]] bool canReplay();
  /// Why ranks that were not recorded cannot be replayed, as a sentence; empty: they were.
  [[nodiscard]] QString whyNoReplay() const;
  void openUnrecorded(Source source, const QString& title, const QList<UnrecordedRank>& ranks);
  void closeAny();
  void closeUnrecorded();
  bool actUnrecorded(values::RankAction action, const QList<int>& ranks, const QString& who);

  // debug_session_run.cpp
  void begin();
  void askWhere(const QString& expression, const PlaceOrWhyNot& then);
  void goTo(Goal goal);
  [[nodiscard]] bool isGoing() const;
  void finishCycle(const QString& why, bool ranToEnd = false);
  void arrived(const QString& why);
  [[nodiscard]] QString aborting();
  void settle(const QString& why);
  void tellPositions();

  // debug_session_hits.cpp
  void noteStanding(int rank);
  void tellStop(int rank, const mi::StopEvent& stop);
  bool isOurStop(int rank, const mi::StopEvent& stop);
  void noteStop(int rank, const mi::StopEvent& stop);
  void noteDivergence(const EventRef& at);
  [[nodiscard]] bool passesOver(int rank, const mi::StopEvent& stop);
  void onBreakpointHit(int id, int rank, const mi::StopEvent& stop);
  void addHit(int id, int rank, Serial serial);
  void describeMpiError(int rank);

  [[nodiscard]] QString whyNot(mi::ToolAction action) const;
  void refuseConsole(int rank, const QString& why);

  // mi::FleetObserver
  void onRankState(mi::Rank rank, mi::SessionState state) override;
  void onRankStopped(mi::Rank rank, const mi::StopEvent& stop) override;
  void onBreakpointStatus(const mi::BreakpointStatus& status) override;
  void onForeignBreakpoint(mi::Rank rank, mi::BreakpointChange change,
                           const mi::Breakpoint& bp) override;
  void onWatch(const mi::WatchValue& value) override;
  void onRankConsole(mi::Rank rank, mi::StreamKind kind, std::string_view text) override;
  void onRankLost(mi::Rank rank, const std::string& text) override;
  void onRankEscalate(mi::Rank rank, mi::Escalation escalation) override;
  void onRankToolAction(mi::Rank rank, mi::ToolAction action, std::string_view line) override;
  void onRankSlow(mi::Rank rank, const std::string& command, bool givenUp) override;
  void onRankValuesChanged(mi::Rank rank) override;
  void onRankLog(mi::Rank rank, int spec, std::uint64_t serial, const std::string& words) override;
  void onGroupProgress(const mi::GroupResult& result) override;

  std::unique_ptr<db::TraceStore> m_store;  ///< where the parts keep what the user adds
  mi::Fleet m_fleet;
  SessionState m_state;
  Inspector m_inspector;
  MachineInspector m_machine;
  FilledBuffers m_buffers;
  AllStacks m_stacks;
  AcrossRanks m_across;
  std::unique_ptr<StandingCalls> m_standingCalls;
  std::unique_ptr<Waits> m_waits;
  GdbConsoles m_consoles;
  RankGroups m_groups;
  GroupRun m_groupRun;
  Breakpoints m_breakpoints;
  Cycles m_cycles;
  Debuggers m_debuggers;
  Watches m_watches;
  Bookmarks m_bookmarks;
  JudgedRaces m_judgedRaces;
  HitSearch m_search;
  Latest<NoQuestion> m_asked;  ///< where an expression lies to whose change it is to go back
  RunControl m_control;
  std::unique_ptr<LineSearch> m_lines;

  ReplayFactory m_makeReplay;
  std::optional<Goal> m_next;  ///< what to start once the present job is gone
  struct WayBack {
    bool left = false;  ///< the rank's GDB has let go of the process that it was
    std::optional<protocol::WentBack> back;
  };
  WayBack m_wayBack;
  std::set<std::string> m_toldObstacles;  ///< to snapshots, in this cycle
  QThreadPool m_closing;                  ///< where jobs of past cycles end
  std::unique_ptr<Target> m_target;
  QSet<QString> m_toldInputs;
  app::OtherContents m_contents;  ///< of the present cycle
  QTimer m_tick;
  CycleTimes m_times;
  bool m_allowRebuilt = false;
  bool m_keepsPart = false;  ///< in the trace
  StopFilter m_stopFilter;
};

}  // namespace pf::session
