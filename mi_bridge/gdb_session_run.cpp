// SPDX-License-Identifier: GPL-3.0-or-later
// Running and stopping: the pause ladder, stops that are not shown, and the way out of an MPI call.
#include <algorithm>
#include <array>
#include <utility>

#include "mi_bridge/gdb_session.h"

namespace pf::mi {
namespace {

/// How long a SIGINT that we sent may take to arrive after another stop came first.
constexpr Duration kStray = std::chrono::seconds(2);

struct Rung {
  Duration after;
  Escalation escalation;
};
/// After -exec-interrupt.
constexpr std::array<Rung, 3> kLadder{{{std::chrono::seconds(1), Escalation::InterruptGdb},
                                       {std::chrono::seconds(2), Escalation::InterruptProgram},
                                       {std::chrono::seconds(4), Escalation::StopProgram}}};
constexpr Duration kPauseGivenUp = std::chrono::seconds(10);

bool isInterrupt(const StopEvent& stop) {
  return stop.reason == StopReason::Signal &&
         (stop.signalName == "SIGINT" || stop.signalName == "SIGSTOP" || stop.signalName == "0");
}

std::string runText(const RunCommand& command, int thread) {
  const std::string threadOption = thread > 0 ? " --thread " + std::to_string(thread) : "";
  switch (command.kind) {
    case RunKind::Continue:
    case RunKind::RunTo:
      return "-exec-continue";
    case RunKind::Step:
      return "-exec-step" + threadOption;
    case RunKind::Next:
      return "-exec-next" + threadOption;
    case RunKind::StepInstruction:
      return "-exec-step-instruction" + threadOption;
    case RunKind::NextInstruction:
      return "-exec-next-instruction" + threadOption;
    case RunKind::Finish:
      return "-exec-finish" + threadOption + " --frame " + std::to_string(command.frameLevel);
  }
  return "-exec-continue";
}

bool leavesEvent(RunKind kind) {
  return kind == RunKind::Step || kind == RunKind::Next || kind == RunKind::Finish;
}

}  // namespace

// --- going on
// ---------------------------------------------------------------------------------------

void GdbSession::run(const RunCommand& command, Done done) {
  if (const Status status = requireStopped(toString(command.kind)); !status) {
    done(status);
    return;
  }
  if (m_transcript) {
    const std::string thread =
        command.thread > 0 ? " of thread " + std::to_string(command.thread) : std::string();
    asked("run " + std::string(toString(command.kind)) + thread +
          (command.onlyThread ? " alone, " : ", ") + std::to_string(command.frameLevel) + ", " +
          std::to_string(command.line) + ", " + command.source);
  }
  // Also while GDB is asked how: nobody is to take the rank for one that rests.
  m_runPending = true;
  if (command.kind == RunKind::RunTo) {
    runTo(command, std::move(done));
  } else if (leavesEvent(command.kind)) {
    step(command, std::move(done));
  } else {
    execute(command, std::move(done));
  }
}

bool GdbSession::runsPython() const {
  return std::any_of(m_libraries.begin(), m_libraries.end(), [](const Library& library) {
    const std::string name = library.name.substr(library.name.rfind('/') + 1);
    return name.starts_with("libpython") || name.find(".cpython-") != std::string::npos ||
           name.ends_with(".abi3.so");
  });
}

/// By lines of Python, where the program's frame is one of Python.
void GdbSession::step(const RunCommand& command, Done done) {
  if (!runsPython()) {
    stepNative(command, std::move(done));
    return;
  }
  m_breakpoints.findPython(
      [this, command, done = std::move(done)](const Result<PythonTeller>& teller) {
        if (!teller) {
          stepNative(command, done);  // no replay: there is nobody to tell of lines
          return;
        }
        m_inspector.frames(
            command.thread > 0 ? command.thread : m_stop.thread, 0, kFramesToUser,
            [this, command, teller = *teller, done](const Result<std::vector<Frame>>& frames) {
              if (frames) {
                stepByFrames(command, teller, *frames, done);
              } else {
                staysStopped(frames.error(), done);
              }
            });
      });
}

void GdbSession::stepByFrames(const RunCommand& command, const PythonTeller& teller,
                              const std::vector<Frame>& frames, const Done& done) {
  auto stepped = frames.end();
  if (command.python != 0) {
    stepped = std::find_if(frames.begin(), frames.end(), [&command](const Frame& frame) {
      return frame.python == command.python;
    });
  } else if (const auto user = firstUserFrame(frames); user && command.frameLevel == 0) {
    stepped = frames.begin() + static_cast<std::ptrdiff_t>(*user);
  }
  if (stepped == frames.end() || stepped->python == 0) {
    stepNative(command, done);
    return;
  }
  const auto isPython = [](const Frame& frame) { return frame.python != 0; };
  if (command.kind == RunKind::Finish && std::none_of(stepped + 1, frames.end(), isPython)) {
    staysStopped(Error{ErrorCode::Usage, "no frame of Python has called this one", "continue"},
                 done);
    return;
  }
  stepPython(command, teller, static_cast<int>(std::count_if(frames.begin(), stepped, isPython)),
             done);
}

/// If the thread is one that is told: of others a step would be another thread's, or end nowhere.
void GdbSession::stepPython(const RunCommand& command, const PythonTeller& teller, int outer,
                            const Done& done) {
  const int thread = command.thread > 0 ? command.thread : m_stop.thread;
  m_queue.push(
      {"-thread-info " + std::to_string(thread), CommandFlag::None,
       [this, command, teller, outer, thread, done](const Result<ResultRecord>& reply) {
         const bool told = m_stop.stoppedAtEvent() || teller.thread != 0;
         bool isFirst = false;
         for (const ThreadInfo& each :
              reply ? threadsOf(reply->results["threads"]) : std::vector<ThreadInfo>()) {
           isFirst = isFirst || (each.id == thread && threadKeyOf(each.target).native ==
                                                          static_cast<std::uint64_t>(m_pid));
         }
         if (told && isFirst) {
           beginPythonStep(command, outer, done);
           return;
         }
         staysStopped(
             isFirst
                 ? Error{ErrorCode::Usage,
                         "lines of Python are told from the rank's next call of MPI on",
                         "go on to its next event, and step there"}
                 : Error{ErrorCode::Usage, "lines of Python are told of a rank's first thread only",
                         "set a breakpoint in native code, or step the first thread"},
             done);
       }});
}

void GdbSession::beginPythonStep(const RunCommand& command, int outer, const Done& done) {
  const cpython::LineStep step = command.kind == RunKind::Step   ? cpython::LineStep::Into
                                 : command.kind == RunKind::Next ? cpython::LineStep::Over
                                                                 : cpython::LineStep::Out;
  m_breakpoints.insertPythonStep(step, outer, [this, command, done](const Result<Breakpoint>& end) {
    if (!end) {
      staysStopped(end.error(), done);
      return;
    }
    m_runTo =
        RunTo{end->number,
              command.kind == RunKind::Finish ? StopReason::Finished : StopReason::Step, true};
    execute({}, done);
  });
}

void GdbSession::stepNative(const RunCommand& command, Done done) {
  if (m_stop.stoppedAtEvent() || (command.thread > 0 && command.thread != m_stop.thread)) {
    leaveEvent(command, std::move(done));
  } else {
    execute(command, std::move(done));
  }
}

void GdbSession::execute(const RunCommand& command, Done done) {
  m_lastRun = command;
  m_runPending = true;
  if (command.onlyThread != m_locked) {
    lock(command.onlyThread);
  }
  send(runText(command, command.thread > 0 ? command.thread : m_stop.thread),
       CommandFlag::MaybeStartsRunning, [this, done = std::move(done)](const Status& status) {
         if (!status) {
           m_runPending = false;
           if (m_targetRunning) {
             completeBareStop({});  // it did start, GDB says; ask
           } else {
             finishPause({});
           }
         }
         if (done) {
           done(status);
         }
       });
}

/// What was asked for cannot be done: the program has not been started.
void GdbSession::staysStopped(const Status& why, const Done& done) {
  m_runPending = false;
  finishPause({});
  done(why);
}

/// Not longer than a step: a `continue` of the console has to be one of the whole process.
void GdbSession::lock(bool locked) {
  m_locked = locked;
  send(std::string("-gdb-set scheduler-locking ") + (locked ? "on" : "replay"), CommandFlag::None,
       {});
}

/// The rank is inside the interposer, or another of its threads in a lock or a call. Return to the
/// program's frame, then do what was asked there.
void GdbSession::leaveEvent(const RunCommand& command, Done done) {
  // Not a refresh: the command that the user gave depends on it.
  const int thread = command.thread > 0 ? command.thread : m_stop.thread;
  const std::string text = "-stack-list-frames" +
                           (thread > 0 ? " --thread " + std::to_string(thread) : std::string()) +
                           " 0 " + std::to_string(kFramesToUser);
  m_queue.push({text, CommandFlag::None,
                [this, command, thread, done = std::move(done)](const Result<ResultRecord>& reply) {
                  if (!reply) {
                    staysStopped(reply.error(), done);
                    return;
                  }
                  std::vector<Frame> frames = framesOf(reply->results["stack"]);
                  for (Frame& frame : frames) {
                    nameLibrary(frame);
                  }
                  const auto user = firstUserFrame(frames);
                  RunCommand out{RunKind::Finish, 0, {}, 0, thread};
                  if (!user || *user == 0) {
                    const bool chosen = command.thread > 0;
                    execute(command.kind == RunKind::Finish && !chosen ? out : command, done);
                    return;
                  }
                  const int level = static_cast<int>(*user);
                  if (command.kind == RunKind::Finish) {
                    out.frameLevel = command.frameLevel > level ? command.frameLevel : level;
                  } else {
                    out.frameLevel = level - 1;  // all threads go on: the call may need them
                    m_leaving = Leaving{command, frames[*user]};
                  }
                  execute(out, [this, done](const Status& status) {
                    if (!status) {
                      m_leaving.reset();
                    }
                    done(status);
                  });
                }});
}

void GdbSession::runTo(const RunCommand& command, Done done) {
  BreakpointRequest request;
  request.source = command.source;
  request.line = command.line;
  request.temporary = true;
  m_breakpoints.insertHidden(
      request, [this, command, done = std::move(done)](const Result<Breakpoint>& breakpoint) {
        if (!breakpoint) {
          staysStopped(breakpoint.error(), done);
          return;
        }
        if (!breakpoint->pending.empty()) {
          m_breakpoints.remove(breakpoint->number, {});
          staysStopped(Error{ErrorCode::NotFound,
                             "there is no code at line " + std::to_string(command.line) + " of " +
                                 command.source,
                             "choose a line with code"},
                       done);
          return;
        }
        m_runTo = RunTo{breakpoint->number};
        execute(command, done);
      });
}

/// GDB said `^running` and then, with the same token, `^error`: it may have stopped without saying
/// so.
void GdbSession::secondReply(const std::string& command, const ResultRecord& record) {
  if (record.resultClass != ResultClass::Error) {
    return;
  }
  const std::string message = command + ": " + record.errorMessage();
  m_observer.onConsole(StreamKind::Log, message + "\n");
  if (m_targetRunning) {
    StopEvent stop;
    stop.reasonText = record.errorMessage();
    completeBareStop(std::move(stop));
  }
}

// --- async records
// ----------------------------------------------------------------------------------

void GdbSession::running() {
  m_targetRunning = true;
  m_runPending = false;
  if (m_attachDone || m_detaching) {
    return;
  }
  if (!m_quiet) {
    setState(SessionState::Running);
  }
  if (!m_pause.active && !m_pause.waiters.empty()) {
    beginPause(true);  // asked for before GDB had started the program
  }
}

/// A stop without a place (a breakpoint with `silent` commands, or an error): asks where it is.
void GdbSession::completeBareStop(StopEvent stop) {
  m_queue.push({"-thread-info", CommandFlag::Immediate,
                [this, stop = std::move(stop)](const Result<ResultRecord>& reply) mutable {
                  if (reply) {
                    const int current = reply->results.toInt32Or(0, "current-thread-id");
                    for (const ThreadInfo& thread : threadsOf(reply->results["threads"])) {
                      if (thread.running && thread.id == current) {
                        return;  // it has gone on meanwhile
                      }
                      if (thread.id == current) {
                        stop.thread = thread.id;
                        stop.frame = thread.frame;
                        nameLibrary(stop.frame);
                      }
                    }
                  }
                  if (m_state != SessionState::Lost && m_state != SessionState::Exited) {
                    stopped(std::move(stop));
                  }
                }});
}

void GdbSession::stopped(StopEvent stop) {
  m_targetRunning = false;
  m_runPending = false;
  if (m_afterStray) {
    runAfterStray();
    return;
  }
  if (m_attachDone) {
    stop.reason = StopReason::Attached;
    m_quiet = false;
    publish(std::move(stop));
    std::exchange(m_attachDone, nullptr)({});
    return;
  }
  const bool interrupt = isInterrupt(stop);
  if (swallowStop(stop, interrupt)) {
    return;
  }
  if (m_pause.active) {
    if (interrupt) {
      stop.reason = StopReason::Paused;
      if (stop.thread > 1) {
        showFirstThread(std::move(stop));
        return;
      }
    } else {
      m_strayUntil = m_queue.now() + kStray;
    }
  }
  paused(std::move(stop));
}

void GdbSession::paused(StopEvent stop) {
  publish(std::move(stop));
  finishPause({});
  runPausedActions();
}

/// The signal of a pause is taken by any thread, MPI's own too: the program's first one is shown.
void GdbSession::showFirstThread(StopEvent stop) {
  m_queue.push({"-thread-info 1", CommandFlag::Immediate,
                [this, stop = std::move(stop)](const Result<ResultRecord>& reply) mutable {
                  for (ThreadInfo& thread :
                       reply ? threadsOf(reply->results["threads"]) : std::vector<ThreadInfo>()) {
                    if (thread.id == 1 && !thread.running) {
                      stop.thread = 1;
                      stop.frame = std::move(thread.frame);
                    }
                  }
                  if (m_state != SessionState::Lost && m_state != SessionState::Exited) {
                    paused(std::move(stop));
                  }
                }});
}

/// Stops that are ours and are not shown. True: dealt with.
bool GdbSession::swallowStop(const StopEvent& stop, bool interrupt) {
  if (m_pause.active && !m_pause.user && interrupt) {
    const bool silent = m_lastRun.kind == RunKind::Continue || m_lastRun.kind == RunKind::RunTo;
    if (!silent) {
      return false;  // a step cannot be taken up again: show the stop
    }
    m_pause = {};
    m_quiet = true;
    runPausedActions();
    if (m_detaching) {
      return true;
    }
    // Behind whatever the actions have queued.
    send("-exec-continue", CommandFlag::MaybeStartsRunning, [this](const Status& status) {
      if (!status && m_quiet) {
        m_quiet = false;
        completeBareStop({});
      }
    });
    return true;
  }
  if (!m_pause.active && interrupt && m_strayUntil && m_queue.now() < *m_strayUntil) {
    m_strayUntil.reset();
    return resumeQuietly(stop);
  }
  return !m_pause.active && goOnLeaving(stop);
}

/// Our own SIGINT has come late. Goes on as before, if that is still the same command.
bool GdbSession::resumeQuietly(const StopEvent& stop) {
  const bool plain = m_lastRun.kind == RunKind::Continue || m_lastRun.kind == RunKind::RunTo;
  if (!plain && stop.frame.address != m_stop.frame.address) {
    return false;
  }
  m_quiet = true;
  execute(m_lastRun, {});
  return true;
}

/// Back in the program's frame after an event: now the step that was asked for. Where the call was the last of its line,
/// the next one begins here, and the step ends.
bool GdbSession::goOnLeaving(const StopEvent& stop) {
  if (!m_leaving) {
    return false;
  }
  const Leaving leaving = *m_leaving;
  m_leaving.reset();
  if (stop.reason != StopReason::Finished || stop.frame.line == 0) {
    return false;
  }
  const Frame& call = leaving.call;
  if (call.line > 0 && call.line != stop.frame.line && call.function == stop.frame.function) {
    StopEvent ended = stop;
    ended.reason = StopReason::Step;
    paused(std::move(ended));
    return true;
  }
  m_quiet = true;
  m_stop.thread = stop.thread;
  execute(leaving.command, [this, stop](const Status& status) {
    if (!status) {
      publish(stop);
    }
  });
  return true;
}

void GdbSession::publish(StopEvent stop) {
  if (m_runTo) {
    const RunTo ends = *m_runTo;
    m_runTo.reset();
    if (stop.reason == StopReason::Breakpoint && stop.breakpointNumber == ends.breakpoint) {
      stop.reason = ends.reason;
    } else {
      m_breakpoints.remove(ends.breakpoint, {});
      if (ends.ofPython && !stop.exited()) {
        m_breakpoints.endPythonStep();
      }
    }
  }
  m_quiet = false;
  m_leaving.reset();
  m_stop = std::move(stop);
  if (m_locked) {
    lock(false);
  }
  setState(SessionState::Stopped);
  published();
}

// --- pausing
// ----------------------------------------------------------------------------------------

void GdbSession::pause(Done done) {
  asked("pause");
  if (m_state == SessionState::Stopped && m_runPending) {
    m_pause.waiters.push_back(std::move(done));
    return;
  }
  if (m_state == SessionState::Stopped) {
    if (m_consoleBusy > 0) {
      m_observer.onEscalate(Escalation::InterruptGdb);
    }
    done({});
    return;
  }
  if (m_state != SessionState::Running) {
    done(requireStopped("pause"));
    return;
  }
  m_pause.waiters.push_back(std::move(done));
  beginPause(true);
}

void GdbSession::beginPause(bool user) {
  m_pause.user = m_pause.user || user;
  if (m_pause.active) {
    return;
  }
  m_pause.active = true;
  m_pause.since = m_queue.now();
  m_pause.steps = 0;
  send("-exec-interrupt", CommandFlag::Interrupts, {});
}

/// One rung after another until the program stops.
void GdbSession::climb() {
  const Duration waited = m_queue.now() - m_pause.since;
  const auto next = static_cast<std::size_t>(m_pause.steps);
  if (next < kLadder.size() && waited >= kLadder[next].after) {
    ++m_pause.steps;
    m_observer.onEscalate(kLadder[next].escalation);
  } else if (waited >= kPauseGivenUp) {
    m_strayUntil.reset();
    finishPause(Error{ErrorCode::Peer, "the program has not stopped within 10 s",
                      "it may be inside the kernel; try again, or end the rank"});
    m_pause = {};
    runPausedActions();
  }
}

void GdbSession::finishPause(const Status& status) {
  std::vector<Done> waiters = std::exchange(m_pause.waiters, {});
  m_pause = {};
  for (const Done& done : waiters) {
    if (done) {
      done(status);
    }
  }
}

void GdbSession::whilePaused(std::function<void()> action) {
  if (!m_targetRunning) {
    action();
    return;
  }
  asked("while paused");
  m_pausedActions.push_back(std::move(action));
  beginPause(false);
}

void GdbSession::runPausedActions() {
  std::deque<std::function<void()>> actions = std::exchange(m_pausedActions, {});
  for (const auto& action : actions) {
    action();
  }
}

}  // namespace pf::mi
