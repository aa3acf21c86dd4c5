// SPDX-License-Identifier: GPL-3.0-or-later
// The debugger of one rank: a state machine over one GDB, wherever that GDB runs.
//
// Problem: GDB answers late, answers twice, lets the user start the program behind our back, stops
// for our own purposes, hangs, and dies. Rules:
// - The state follows GDB's async records only, never our own commands.
// - Bytes come in by feed(), death by closed(), time by tick(); bytes go out through the Transport.
//   Nothing here blocks, starts a thread or reads a clock.
// - Stops that we cause ourselves are not shown, and the program goes on by itself.
// - Every callback is called exactly once, also when GDB dies.
// Single-threaded. A callback or observer may call any function here, but must not destroy the
// session.
#pragma once

#include <sys/types.h>

#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "mi_bridge/console_command.h"
#include "mi_bridge/gdb_breakpoints.h"
#include "mi_bridge/gdb_inspector.h"
#include "mi_bridge/lexer.h"
#include "mi_bridge/transcript.h"
#include "mi_bridge/transport.h"

namespace pf::mi {

enum class SessionState {
  NotStarted,  ///< no program attached
  Stopped,
  Running,
  Exited,  ///< the program has ended
  Lost,    ///< GDB is gone
};
[[nodiscard]] std::string_view toString(SessionState state);

/// What the owner of GDB's process must do when commands do not help.
enum class Escalation {
  InterruptGdb,      ///< SIGINT to GDB
  InterruptProgram,  ///< SIGINT to the program
  StopProgram,       ///< SIGSTOP to the program
  TerminateGdb,      ///< SIGTERM to GDB, which lets go of the program
};

class SessionObserver {
 public:
  virtual ~SessionObserver() = default;
  virtual void onState(SessionState state) = 0;
  /// After onState(Stopped), or onState(Exited).
  virtual void onStopped(const StopEvent& stop) = 0;
  virtual void onBreakpointChanged(BreakpointChange change, const Breakpoint& breakpoint) = 0;
  /// Console: GDB's answers. Log: GDB's messages. Target: what is no MI at all (program output).
  virtual void onConsole(StreamKind kind, std::string_view text) = 0;
  virtual void onLost(const std::string& text) = 0;
  virtual void onEscalate(Escalation escalation) = 0;
  /// The user asked in the console for something that is the debugger's business.
  virtual void onToolAction(ToolAction action, std::string_view line) = 0;
  /// GDB is slow with this command; `givenUp`: it has been completed with an error.
  virtual void onSlow(const std::string& command, bool givenUp) = 0;
  /// Memory was changed by the user: values on show are stale.
  virtual void onValuesChanged() = 0;
};

enum class RunKind { Continue, Step, Next, Finish, StepInstruction, NextInstruction, RunTo };
[[nodiscard]] std::string_view toString(RunKind kind);

/// How to go on. From a stop at an event, Step, Next and Finish leave the MPI call first. Where the program's frame is one of
/// Python they go by its lines.
struct RunCommand {
  RunKind kind = RunKind::Continue;
  int frameLevel = 0;  ///< Finish: the frame to return from
  std::string source;  ///< RunTo
  int line = 0;
  int thread = 0;           ///< of steps: GDB's number; 0: the thread that has stopped
  bool onlyThread = false;  ///< of steps: the process' other threads wait meanwhile
  /// Frame::python of the frame that is stepped; 0: the program's innermost one, if that is Python's.
  std::uint64_t python = 0;

  bool operator==(const RunCommand&) const = default;
};

class GdbSession {
 public:
  GdbSession(Transport& transport, SessionObserver& observer);
  ~GdbSession() = default;
  GdbSession(const GdbSession&) = delete;
  GdbSession& operator=(const GdbSession&) = delete;

  /// Settings and version check of a GDB just started by gdbCommandLine().
  void start(Done done);
  /// Expressions and conditions call no function of the program from now on. `done` fails where this GDB cannot be kept
  /// from it.
  void forbidCalls(Done done);
  /// Completes when the program is stopped. `done` fails with GDB's reason and what helps.
  void attach(pid_t pid, Done done);
  /// Ends the program, of which nothing is told any more; another process can be attached to after that. Completes when GDB
  /// has let go of it, or has none.
  void abandon(Done done);
  /// Looks at what a process that has ended left behind. `program` may be empty: GDB then has to find it by itself.
  /// Nothing can be run. `done` fails with GDB's reason.
  void openCore(const std::string& program, const std::string& core, Done done);
  /// Lets the program run on by itself; it is stopped for a moment if it runs.
  void detach(Done done);
  /// Every line from now on goes there, too; empty: no more. Costs nothing while there is none.
  void setTranscript(TranscriptSink sink) { m_transcript = std::move(sink); }
  /// Carries out `action` while the program is stopped; one that runs is stopped for a moment.
  void whilePaused(std::function<void()> action);

  void feed(std::string_view bytes);
  /// GDB is gone. Returns why, with the internal error that it told of before, if there was one.
  std::string closed(const std::string& reason);
  /// A few times a second.
  void tick(TimePoint now);

  [[nodiscard]] SessionState state() const { return m_state; }
  /// Stopped, and sent on: GDB has not said yet that it runs.
  [[nodiscard]] bool isAboutToRun() const { return m_runPending; }
  /// The last stop; meaningful in Stopped and Exited.
  [[nodiscard]] const StopEvent& stop() const { return m_stop; }
  [[nodiscard]] pid_t pid() const { return m_pid; }
  /// CPython, or a module of its own, is loaded: mpi4py is one.
  [[nodiscard]] bool runsPython() const;

  /// Completes when GDB has accepted the command; the stop comes through the observer.
  void run(const RunCommand& command, Done done);
  /// Completes when the program is stopped. While GDB is busy with a console line: interrupts that.
  void pause(Done done);

  /// A line of the user. Completes when GDB has carried it out.
  void console(std::string_view line, Done done);

  [[nodiscard]] GdbInspector& inspect() { return m_inspector; }
  [[nodiscard]] const GdbInspector& inspect() const { return m_inspector; }
  [[nodiscard]] GdbBreakpoints& breakpoints() { return m_breakpoints; }
  [[nodiscard]] CommandQueue& queue() { return m_queue; }

 private:
  struct Pause {
    bool active = false;
    bool user = false;
    TimePoint since;
    int steps = 0;  ///< rungs of the ladder already climbed
    std::vector<Done> waiters;
  };
  /// Out of an MPI call of the program's, then the command.
  struct Leaving {
    RunCommand command;
    Frame call;  ///< the frame that has called
  };
  struct RunTo {
    int breakpoint = 0;
    StopReason reason = StopReason::Location;  ///< what its stop is
    bool ofPython = false;                     ///< the rank knows of it, too
  };

  // gdb_session.cpp: records and states
  void handleLine(std::string_view line, bool cut);
  bool handleRecord(std::string_view line);
  bool salvage(std::string_view line);
  void handle(const ResultRecord& record);
  bool isAnswerOfOurs(const StreamRecord& record);
  void handle(const AsyncRecord& record);
  void handle(const StreamRecord& record);
  void handleExec(const AsyncRecord& record);
  void handleNotify(const AsyncRecord& record);
  void setState(SessionState state);
  void send(std::string text, CommandFlag flags, Done done, Duration patience = kPatience);
  void finishStart(const Status& lastSetting);
  void exited(StopEvent stop);
  void attachHere(pid_t pid);
  void attachBeside(pid_t pid);
  void removeInferior(int number);
  void letGo(const Done& done);
  void coreOpened(const std::string& core, const Result<ResultRecord>& reply, const Done& done);
  void runAfterStray();
  void nameLibrary(Frame& frame) const;
  Status requireStopped(std::string_view what) const;
  void asked(const std::string& what) const;
  void told(const std::string& what) const;
  void published();

  // gdb_session_run.cpp: running and stopping
  void running();
  void stopped(StopEvent stop);
  void paused(StopEvent stop);
  void showFirstThread(StopEvent stop);
  void completeBareStop(StopEvent stop);
  bool swallowStop(const StopEvent& stop, bool interrupt);
  bool resumeQuietly(const StopEvent& stop);
  bool goOnLeaving(const StopEvent& stop);
  void publish(StopEvent stop);
  void finishPause(const Status& status);
  void runPausedActions();
  void beginPause(bool user);
  void climb();
  void execute(const RunCommand& command, Done done);
  void staysStopped(const Status& why, const Done& done);
  void lock(bool locked);
  void leaveEvent(const RunCommand& command, Done done);
  void runTo(const RunCommand& command, Done done);
  void step(const RunCommand& command, Done done);
  void stepByFrames(const RunCommand& command, const PythonTeller& teller,
                    const std::vector<Frame>& frames, const Done& done);
  void stepPython(const RunCommand& command, const PythonTeller& teller, int outer,
                  const Done& done);
  void beginPythonStep(const RunCommand& command, int outer, const Done& done);
  void stepNative(const RunCommand& command, Done done);
  void secondReply(const std::string& command, const ResultRecord& record);

  static constexpr Duration kPatience = std::chrono::seconds(20);

  Transport& m_transport;
  SessionObserver& m_observer;
  TranscriptSink m_transcript;
  CommandQueue m_queue;
  GdbInspector m_inspector;
  GdbBreakpoints m_breakpoints;
  LineSplitter m_lines;

  SessionState m_state = SessionState::NotStarted;
  StopEvent m_stop;
  std::vector<Library> m_libraries;
  bool m_targetRunning = false;  ///< what GDB says, also when it is not shown
  bool m_runPending = false;     ///< it is to be started, and no word of it yet
  bool m_quiet = false;          ///< running on without having shown the stop before
  bool m_detaching = false;
  bool m_abandoning = false;  ///< that it ends is our doing
  bool m_abandoned = false;   ///< it has, and GDB still knows its libraries
  bool m_removing = false;    ///< an inferior that has been left
  int m_inferior = 1;         ///< GDB's number of the one that is debugged
  bool m_core = false;        ///< nothing runs here
  pid_t m_pid = 0;

  std::string m_internalError;  ///< GDB's own, in its words: it ends
  std::string m_banner;         ///< GDB's first words, until start() is done
  bool m_starting = false;
  int m_versionAsked = 0;
  Done m_startDone;
  Done m_attachDone;

  Pause m_pause;
  std::deque<std::function<void()>> m_pausedActions;
  std::optional<TimePoint> m_strayUntil;  ///< a SIGINT of ours may still be on its way
  std::function<void()> m_afterStray;     ///< waits for that SIGINT
  RunCommand m_lastRun;
  bool m_locked = false;  ///< GDB lets one thread run only, until the next stop
  std::optional<Leaving> m_leaving;
  std::optional<RunTo> m_runTo;

  ConsoleBlock m_block;
  int m_consoleBusy = 0;
  bool m_inAnswer = false;  ///< GDB prints what its Python has answered
};

}  // namespace pf::mi
