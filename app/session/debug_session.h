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

#include "app/session/breakpoints.h"
#include "app/session/group_run.h"
#include "app/session/inspection/across_ranks.h"
#include "app/session/inspection/all_stacks.h"
#include "app/session/inspection/filled_buffers.h"
#include "app/session/inspection/gdb_consoles.h"
#include "app/session/inspection/inspector.h"
#include "app/session/inspection/machine_inspector.h"
#include "app/session/rank_groups.h"
#include "app/session/records/benign_races.h"
#include "app/session/records/bookmarks.h"
#include "app/session/records/cycle_keeper.h"
#include "app/session/state/session_state.h"
#include "app/session/targets/target.h"
#include "app/trace_loading/trace_loader.h"
#include "db/store/trace_store.h"
#include "mi_bridge/fleet.h"
#include "replay_engine/steering/stop_plan.h"
#include "views/values/debug_values.h"
#include "views/values/space_time_types.h"

namespace pf::session {

struct OutsideRank;
struct SessionRecords;

class DebugSession : public QObject, private mi::FleetObserver {
  Q_OBJECT
 public:
  explicit DebugSession(QObject* parent = nullptr);
  ~DebugSession() override;

  /// Takes over a loaded trace; brings back its breakpoints, watches and cycles.
  void open(const QString& path, LoadedTrace trace);
  /// A newer version of the open trace takes its place; what was set or chosen stays (debug_session_renew.cpp).
  bool renew(const QString& path, LoadedTrace trace, const SessionRecords& carried, bool sameIds);
  [[nodiscard]] Result<SessionRecords> records()
      const;  ///< what the user has added, as the file has it
  /// Ranks of core files: to be looked at only. All get a GDB, up to 16 at once (debug_session_outside.cpp).
  void openCores(const QList<OutsideRank>& ranks);
  /// Ranks of a job that runs without us. None is stopped until it gets a GDB (setFocus());
  /// endReplay() lets all go on.
  void attachTo(const QString& job, const QList<OutsideRank>& ranks);
  [[nodiscard]] Source source() const { return m_state.source; }
  [[nodiscard]] bool isOpen() const { return m_state.trace != nullptr; }
  [[nodiscard]] const views::TraceDataPtr& trace() const { return m_state.trace; }
  [[nodiscard]] const db::RunInfo& run() const { return m_state.run; }
  [[nodiscard]] bool isReplaying() const { return m_state.phase != Phase::Idle; }
  /// The ranks are past the gate, and the job is not being ended.
  [[nodiscard]] bool isRunning() const { return m_state.phase == Phase::Running; }

  // -- parts, each with signals of its own
  [[nodiscard]] Inspector& inspector() { return m_inspector; }
  [[nodiscard]] MachineInspector& machine() { return m_machine; }
  [[nodiscard]] FilledBuffers& buffers() { return m_buffers; }
  [[nodiscard]] AllStacks& stacks() { return m_stacks; }
  [[nodiscard]] AcrossRanks& across() { return m_across; }
  [[nodiscard]] GdbConsoles& consoles() { return m_consoles; }
  [[nodiscard]] RankGroups& groups() { return m_groups; }
  [[nodiscard]] const RankGroups& groups() const { return m_groups; }
  [[nodiscard]] GroupRun& groupRun() { return m_groupRun; }
  [[nodiscard]] Breakpoints& breakpoints() { return m_breakpoints; }
  [[nodiscard]] const Breakpoints& breakpoints() const { return m_breakpoints; }

  // -- moving. All re-execute if the ranks are past the goal or none runs.
  /// Stops `event.rank` just before `event`, the others at the cut that it needs.
  void replayTo(const EventRef& event);
  /// A new cycle that runs to the first breakpoint or the end.
  void restartCycle();
  /// A new cycle to where the last one was sent.
  void repeatCycle();
  void stepToNextReceive();
  /// Lets the next message of the recording be taken, and no other that need not be: the first by
  /// logical time, or of the current rank. Ranks stay where they are but for what that needs.
  void deliverNext(bool anywhere);
  /// One event of the current rank back, by a new cycle: the others go back where they depend on
  /// it.
  void previousEvent();
  /// The current rank to its next event, whatever it is.
  void nextEvent();
  /// The next racing receive of any rank, by logical time.
  void nextRacingReceive();
  void previousReceive();
  /// Back to the hit before, of the current rank in this cycle: the same place again, by a new
  /// cycle.
  void previousHit();
  /// Back to where the expression was changed last before the current rank's next event, by two new
  /// cycles (debug_session_back.cpp). endReplay() cancels.
  void lastChange(const QString& expression);
  void runToFailure();
  void endReplay();
  /// `who`: the name of the group that `ranks` are, for messages. GroupRun tells how far
  /// it has come; nothing waits for ranks that do not stop.
  void act(views::RankAction action, const QList<int>& ranks, const QString& who = {});
  /// No ranks: the current one.
  void runToLine(const QString& file, int line, const QList<int>& ranks = {},
                 const QString& who = {});

  // -- focus
  void setCurrentRank(int rank) { m_inspector.selectRank(rank); }
  [[nodiscard]] int currentRank() const { return m_state.current; }
  void setFocus(const QList<int>& ranks);
  [[nodiscard]] QList<int> focus() const { return m_focus.values(); }

  // -- breakpoints, watches, values
  void setWatches(const QStringList& expressions);
  void bookmark(const EventRef& event, const QString& text);
  /// The event is what runToFailure() goes to.
  void markFailing(const EventRef& event);
  void mapSource(const QString& from, const QString& to);
  /// Class keys (views/trace/race_classes.h) and why they are benign.
  [[nodiscard]] const QHash<QString, QString>& benignRaces() const { return m_benign.notes(); }
  void setBenign(const QString& key, const QString& reason);
  void clearBenign(const QString& key);
  /// Saves what passes between the bridge and each GDB that attaches from now on, as
  /// DIRECTORY/TRACE-cycle-N-rank-R.transcript (mi_bridge/transcript.h). Empty: no more.
  void setTranscripts(const QString& directory) { m_transcripts = directory; }
  [[nodiscard]] const QString& transcripts() const { return m_transcripts; }
  /// Cycles of a program that was changed and rebuilt since the recording are not refused.
  void allowRebuilt(bool allow) { m_allowRebuilt = allow; }
  /// Whether the other threads of a rank wait while one is stepped; they go on otherwise.
  void stepOneThread(bool one) { m_stepsOneThread = one; }

  // -- for front ends that ask the ranks' GDBs themselves (debug_session_front.cpp)
  /// The GDB of a rank; null while it has none. Not to be kept: it goes with the job.
  [[nodiscard]] mi::GdbSession* debugger(int rank) { return m_state.debugger(rank); }
  /// The breakpoint at which GDB has stopped the rank; 0: at none.
  [[nodiscard]] int breakpointAt(int rank);
  /// Asked first when a breakpoint stops a rank that is not being stepped. True: the front end
  /// deals with the stop and lets the rank go on by goOn(); nobody else hears of it.
  using StopFilter = std::function<bool(int rank, int breakpoint)>;
  void setStopFilter(StopFilter filter) { m_stopFilter = std::move(filter); }
  void goOn(int rank);

  /// Present positions: for tests.
  [[nodiscard]] Serial serialOf(int rank) const { return m_state.serialOf(rank); }
  [[nodiscard]] const QList<views::Cycle>& cycles() const { return m_cycles; }
  /// Cycles and hits are in the trace's file as they are here.
  [[nodiscard]] bool isKept() const { return m_keeper == nullptr || m_keeper->isIdle(); }

 Q_SIGNALS:
  void message(const QString& text,
               bool problem);          ///< one line for the status bar; a problem stays
  void progress(const QString& task);  ///< empty: done
  void ranksChanged();
  void positionsChanged(const std::vector<pf::views::ReplayPosition>& positions);
  void rankStopped(int rank);  ///< its stack can be asked for
  void watchArrived(const QString& expression, const QList<pf::views::WatchValue>& values);
  void watchesChanged(const QStringList& expressions);
  void cyclesChanged();
  void benignRacesChanged();
  void marksChanged(const std::vector<pf::views::EventMark>& marks);
  void output(int rank, pf::views::OutputStream stream, const QByteArray& bytes);
  void logged(const pf::views::LogEntry& entry);  ///< by a logpoint
  void consoleText(int rank, const QString& text, bool error);
  void settled();  ///< the ranks have come to where they were sent, or have ended
  void focusChanged(const QList<int>& ranks);  ///< ranks with a breakpoint of their own have joined
  void stalled(const QString& text, bool deadlock);  ///< no rank gets on by itself
  void ended(int exitStatus);                        ///< the launcher of the cycle, by itself

 public:
  [[nodiscard]] QList<views::RankState> rankStates() const { return m_state.rankStates(); }
  /// Before open(): what makes the replays of its cycles; in tests, a script's.
  void setReplays(ReplayFactory make) { m_makeReplay = std::move(make); }

 private:
  struct Goal {
    EventRef event;  ///< invalid: to the end
    QString text;
    std::vector<Serial> cut = {};  ///< events that each rank does; empty: what `event` needs
  };

  // debug_session.cpp: what is debugged
  void take(const QString& path, LoadedTrace trace);
  void startCycle(Goal goal);
  void launch();
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
  void onGdbState(const protocol::GdbState& state);
  void onAttached(int rank, const Status& status);
  void noLongerAttaching(int rank);
  void onDetached(const protocol::GdbState& state);
  void launcherEnded(int status, const QString& words);
  void closeTarget();
  /// The same, and its end is not waited for.
  void abandonTarget();
  void targetClosed();

  void keepTranscript(int rank, mi::GdbSession& gdb);

  // debug_session_outside.cpp: ranks of core files, and of jobs that run without us
  [[nodiscard]] bool canReplay();
  void openOutside(Source source, const QString& title, const QList<OutsideRank>& ranks);
  void closeAny();
  void closeOutside();
  void outsideAttached(int rank, bool ok);
  void endGdbLater(int rank);
  void forgetGdb(int rank);
  void setOutsideFocus(const QSet<int>& wanted);
  bool outsideAct(views::RankAction action, const std::vector<mi::Rank>& withGdb,
                  const QList<int>& debugless, const QString& who);

  // debug_session_run.cpp: plans
  void attachFocus();
  void attachDone();
  void sendPlan(const Goal& goal);
  [[nodiscard]] bool reachable(const Goal& goal) const;
  [[nodiscard]] std::vector<Serial> cutOf(const Goal& goal) const;
  [[nodiscard]] EventRef nextDelivery(int rank, const std::vector<Serial>& done) const;
  void goTo(Goal goal);
  void releaseGdbs(const std::vector<std::uint64_t>& stops);
  /// GDB lets the rank go on from its stop at an event.
  void sendOn(int rank);
  /// Whether its stop at an event is behind it by what was last planned.
  [[nodiscard]] bool mayGoOn(int rank) const;
  void letOthersFollow(int rank, Serial serial);
  void pauseRanks(const std::vector<mi::Rank>& withGdb, const QList<int>& debugless,
                  const QString& who);
  void continueRanks(const std::vector<mi::Rank>& withGdb, const QList<int>& debugless,
                     const QString& who);
  void stepRanks(views::RankAction action, const std::vector<mi::Rank>& withGdb,
                 const QList<int>& debugless, const QString& who);
  void prepareStep(int rank);
  void finishCycle(const QString& why, bool ranToEnd = false);
  void settle(const QString& why);
  /// settle() as soon as GDB, too, knows that the ranks have stopped.
  void settleOnceStopped(const QString& why);
  void endSettling();
  void tellPositions();
  [[nodiscard]] Serial nextReceive(int rank) const;

  // debug_session_records.cpp: the trace's own tables
  void readRecords();
  void readHits(const std::vector<db::BreakpointHit>& hits, std::int64_t row, views::Cycle& cycle);
  void saveCycle();
  /// The last cycle, whose front end has gone without ending it: Repeat Cycle goes to where its
  /// ranks were.
  void takeUp(views::Cycle& cycle);

  // debug_session_hits.cpp, debug_session_run.cpp
  [[nodiscard]] StopPlan planFor(const Goal& goal) const;
  /// The next logical breakpoint of a rank, 0 = none.
  [[nodiscard]] Serial nextStopOf(int rank) const;
  void replan();
  /// Ranks that have a breakpoint of their own get a GDB.
  void joinFocus();
  /// A rank stands before an event: hits of logical breakpoints.
  void noteStanding(int rank);
  void noteDivergence(const EventRef& at);
  void stopOthers(const views::Breakpoint& breakpoint, int rank);
  void publishMarks();

  // debug_session_back.cpp
  struct Search {
    int rank = 0;
    int spec = 0;       ///< of the fleet: what is looked for
    bool own = false;   ///< made for this search
    bool last = false;  ///< the cycle that stops there; else the one that counts
    int passes = 0;     ///< hits to pass over
    QString expression;
    QString text;
  };
  /// The event that the rank does next, 1 where none runs.
  [[nodiscard]] Serial upcoming(int rank) const;
  void searchCycle(Goal goal);
  bool countedChanges();
  void endSearch();

  // debug_session_hits.cpp
  struct HitKey {
    int cycle = 0;
    int index = 0;  ///< in the cycle's list
    auto operator<=>(const HitKey&) const = default;
  };
  /// Our breakpoint of a GDB's stop, 0 = none.
  [[nodiscard]] int breakpointOf(int rank, const mi::StopEvent& stop) const;
  [[nodiscard]] int caughtBy(int rank) const;
  void onBreakpointHit(int id, int rank);
  void addHit(int id, int rank, Serial serial);
  [[nodiscard]] views::BreakpointHit* hitAt(HitKey key);
  void storeHit(HitKey key);
  void completeHits(int rank);
  void askHit(mi::GdbSession& gdb, HitKey key);
  /// Says which MPI call has failed with what.
  void describeMpiError(int rank);

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

  mi::Fleet m_fleet;
  SessionState m_state;
  Inspector m_inspector;
  MachineInspector m_machine;
  FilledBuffers m_buffers;
  AllStacks m_stacks;
  AcrossRanks m_across;
  GdbConsoles m_consoles;
  RankGroups m_groups;
  GroupRun m_groupRun;
  Breakpoints m_breakpoints;
  std::unique_ptr<db::TraceStore> m_store;
  std::unique_ptr<CycleKeeper> m_keeper;  ///< null where nothing can be written

  ReplayFactory m_makeReplay;
  Goal m_goal;
  std::optional<Goal> m_next;  ///< what to start once the present job is gone
  QThreadPool m_closing;       ///< where jobs of past cycles end
  std::unique_ptr<Target> m_target;
  QSet<QString> m_toldInputs;
  QTimer m_tick;
  QSet<int> m_focus;
  QSet<int> m_attaching;
  QSet<int> m_stepping;                ///< ranks that GDB steps: others follow as far as these need
  std::vector<std::uint64_t> m_stops;  ///< as last planned
  QString m_transcripts;
  bool m_allowRebuilt = false;
  bool m_stepsOneThread = false;
  bool m_awaitsCut = false;  ///< ranks are on their way to a cut
  struct Settling {
    QSet<int> ranks;  ///< have stopped by what the daemon says, but not yet by their GDB
    QString why;
    quint64 number = 0;
    std::function<void()> then;  ///< what was asked for meanwhile: the last of it
  };
  Settling m_settling;
  QList<views::BreakpointHit> m_standing;  ///< hits since the ranks were last sent on
  std::optional<Search> m_search;          ///< under way: no other breakpoint stops
  QList<views::BreakpointHit> m_trail;     ///< hits before the one that previousHit() went to
  int m_trailCycle = 0;
  int m_trailRank = -1;
  QSet<int> m_pausing;  ///< ranks that are paused because another one has stopped

  StopFilter m_stopFilter;

  QStringList m_watches;
  std::map<std::string, int> m_watchIds;
  QList<views::Cycle> m_cycles;
  std::map<int, std::int64_t> m_cycleIds;  ///< number -> row
  std::map<HitKey, std::int64_t> m_hitRows;
  std::vector<HitKey> m_openHits;  ///< whose values are still to be asked for
  Bookmarks m_bookmarks;
  BenignRaces m_benign;
};

}  // namespace pf::session
