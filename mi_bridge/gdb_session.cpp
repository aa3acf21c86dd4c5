// SPDX-License-Identifier: GPL-3.0-or-later
#include "mi_bridge/gdb_session.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <iterator>
#include <utility>
#include <variant>

#include "mi_bridge/gdb_command.h"
#include "mi_bridge/parser.h"

namespace pf::mi {
namespace {

constexpr std::size_t kTokenDigits = 20;
constexpr int kVersionTries = 5;
constexpr Duration kStartPatience = std::chrono::seconds(30);
/// The user may run a long script; pause() interrupts it.
constexpr Duration kConsolePatience = std::chrono::minutes(10);
constexpr Duration kAttachPatience = std::chrono::seconds(60);

/// In this order; one that an older GDB does not know is passed over.
constexpr const char* kSettings[] = {
    "-gdb-version", "-gdb-set mi-async on", "-gdb-set width 0", "-gdb-set height 0",
    "-gdb-set pagination off", "-gdb-set confirm off", "-gdb-set style enabled off",
    "-gdb-set breakpoint pending on", "-gdb-set print elements 200",
    "-gdb-set print static-members off", "-gdb-set max-value-size 4194304",
    "-gdb-set debuginfod enabled off", "-gdb-set startup-with-shell off",
    "-gdb-set detach-on-fork on", "-gdb-set follow-fork-mode parent", "-enable-pretty-printing",
    // Signals that MPI libraries and thread libraries use for themselves; SIGCONT a launcher that ends a job.
    // NOLINTNEXTLINE(bugprone-suspicious-missing-comma): one command
    "-interpreter-exec console \"handle SIGUSR1 SIGUSR2 SIGCONT SIGCHLD SIGPIPE SIGWINCH SIGURG "
    "SIG32 "
    "SIG33 "
    "SIG34 SIG35 SIG36 SIG37 SIG38 SIG39 SIG40 SIG41 SIG42 SIG43 nostop noprint pass\"",
    // The last rung of the pause ladder: it must not stop the program a second time.
    "-interpreter-exec console \"handle SIGSTOP stop print nopass\"",
    "-interpreter-exec console \"skip -rfu ^P?MPI_[A-Z]\"",
    // Our wrappers of locks, threads and clocks, and the memory of --same-addresses.
    "-interpreter-exec console \"skip -gfi */replay_engine/rank/*/*\""};

Error noProgram(std::string_view what) {
  return {ErrorCode::Usage, "cannot " + std::string(what) + ": GDB has no program",
          "attach to the rank first"};
}

/// Of "i2". 0: there is none.
int inferiorOf(const Value& results) {
  const std::string& name = results.str("inferior");
  int number = 0;
  if (name.size() < 2 || name.front() != 'i') {
    return 0;
  }
  const char* const end = name.data() + name.size();
  const auto read = std::from_chars(name.data() + 1, end, number);
  return read.ec == std::errc() && read.ptr == end ? number : 0;
}

std::string attachAdvice(const std::string& message) {
  if (message.find("Operation not permitted") != std::string::npos ||
      message.find("ptrace") != std::string::npos) {
    return "another debugger may be attached, or the kernel forbids it: see "
           "/proc/sys/kernel/yama/ptrace_scope (0 or 1 is needed), and in a container start it "
           "with "
           "--cap-add=SYS_PTRACE";
  }
  return "check that the rank is still alive";
}

}  // namespace

std::string_view toString(SessionState state) {
  static constexpr std::array<std::string_view, 5> kNames{"not started", "stopped", "running",
                                                          "exited", "lost"};
  return kNames.at(static_cast<std::size_t>(state));
}

std::string_view toString(RunKind kind) {
  static constexpr std::array<std::string_view, 7> kNames{
      "continue", "step", "next", "finish", "step instruction", "next instruction", "run to"};
  return kNames.at(static_cast<std::size_t>(kind));
}

GdbSession::GdbSession(Transport& transport, SessionObserver& observer)
    : m_transport(transport),
      m_observer(observer),
      m_queue([this](std::string_view line) {
        if (m_transcript) {
          m_transcript(TranscriptSide::ToGdb, line.substr(0, line.size() - 1));
        }
        m_transport.send(line);
      }),
      m_inspector(m_queue, [this](Frame& frame) { nameLibrary(frame); }),
      m_breakpoints(
          m_queue,
          [this](BreakpointChange change, const Breakpoint& breakpoint) {
            m_observer.onBreakpointChanged(change, breakpoint);
          },
          [this](std::function<void()> action) { whilePaused(std::move(action)); }) {
  m_queue.setSecondReply([this](const std::string& command, const ResultRecord& record) {
    secondReply(command, record);
  });
  m_queue.setSlow([this](const std::string& command, bool givenUp) {
    m_observer.onSlow(command, givenUp);
    m_observer.onEscalate(givenUp ? Escalation::TerminateGdb : Escalation::InterruptGdb);
  });
}

void GdbSession::send(std::string text, CommandFlag flags, Done done, Duration patience) {
  m_queue.push({std::move(text), flags,
                [done = std::move(done)](const Result<ResultRecord>& reply) {
                  if (done) {
                    done(reply ? Status() : Status(reply.error()));
                  }
                },
                patience});
}

void GdbSession::asked(const std::string& what) const {
  if (m_transcript) {
    m_transcript(TranscriptSide::Asked, what);
  }
}

void GdbSession::told(const std::string& what) const {
  if (m_transcript) {
    std::string line = what;  // values may have several lines
    std::replace(line.begin(), line.end(), '\n', ' ');
    m_transcript(TranscriptSide::Told, line);
  }
}

/// m_stop has become the stop that is shown.
void GdbSession::published() {
  const StopEvent shown = m_stop;
  if (m_transcript) {
    told("stop " + shown.describe() + (shown.frame.known() ? " in " + shown.frame.function : "") +
         (shown.frame.line > 0 ? ":" + std::to_string(shown.frame.line) : ""));
  }
  m_observer.onStopped(shown);
}

void GdbSession::start(Done done) {
  asked("start");
  m_starting = true;
  m_banner.clear();
  m_versionAsked = 0;
  m_startDone = std::move(done);
  for (std::size_t i = 0; i < std::size(kSettings); ++i) {
    const bool last = i + 1 == std::size(kSettings);
    Done settled = last ? Done([this](const Status& status) { finishStart(status); }) : Done();
    send(kSettings[i], CommandFlag::None, std::move(settled), kStartPatience);
  }
}

void GdbSession::finishStart(const Status& lastSetting) {
  // Its first line is the version; where the program's output has torn it, ask once more.
  const auto version =
      gdbVersionOf(m_banner.substr(std::min(m_banner.size(), m_banner.find("GNU gdb"))));
  if (!version && lastSetting && m_versionAsked++ < kVersionTries) {
    send(kSettings[0], CommandFlag::None, [this](const Status& status) { finishStart(status); });
    return;
  }
  m_starting = false;
  const Done done = std::exchange(m_startDone, nullptr);
  Status status;
  if (m_state == SessionState::Lost) {
    status = lastSetting;
  } else if (!version) {
    status =
        Error{ErrorCode::Version,
              "what was started does not say that it is GDB: " + toMiString(m_banner.substr(0, 80)),
              "install GDB 9.1 or newer, or name it in the settings"};
  } else if (*version < kOldestGdb) {
    status = Error{ErrorCode::Version,
                   "GDB " + std::to_string(version->first) + "." + std::to_string(version->second) +
                       " is too old: 9.1 is the oldest that will do",
                   "install a newer GDB, or name it in the settings"};
  }
  if (done) {
    done(status);
  }
}

void GdbSession::forbidCalls(Done done) {
  send("-gdb-set may-call-functions off", CommandFlag::None,
       [done = std::move(done)](const Status& status) {
         done(status
                  ? status
                  : Status(Error{ErrorCode::Version,
                                 "this GDB cannot be kept from calling functions of the program: " +
                                     status.error().message,
                                 "Take a newer GDB, or allow the console, with which it may."}));
       });
}

void GdbSession::attach(pid_t pid, Done done) {
  if (m_state != SessionState::NotStarted && m_state != SessionState::Exited) {
    done(Error{ErrorCode::Usage,
               "cannot attach to process " + std::to_string(pid) + ": this debugger is " +
                   std::string(toString(m_state)),
               "detach first"});
    return;
  }
  asked("attach " + std::to_string(pid));
  m_pid = pid;
  m_attachDone = std::move(done);
  m_libraries.clear();
  if (std::exchange(m_abandoned, false)) {
    attachBeside(pid);
  } else {
    attachHere(pid);
  }
}

/// When GDB attaches it drops what it knows of the libraries of that inferior, and reads them again. What another inferior has,
/// it shares (gdb/objfiles.h, objfile_per_bfd_storage): the process that it has left stays one until this one is there.
void GdbSession::attachBeside(pid_t pid) {
  m_queue.push({"-add-inferior", CommandFlag::None, [this, pid](const Result<ResultRecord>& made) {
                  const int number = made ? inferiorOf(made->results) : 0;
                  if (number == 0) {
                    attachHere(pid);
                    return;
                  }
                  send("-interpreter-exec console \"inferior " + std::to_string(number) + "\"",
                       CommandFlag::None, [this, pid, number](const Status& status) {
                         attachHere(pid);
                         if (status) {
                           removeInferior(std::exchange(m_inferior, number));
                         }
                       });
                }});
}

/// It has no program any more. GDB says of its libraries that the current one has lost them.
void GdbSession::removeInferior(int number) {
  m_removing = true;
  send("-interpreter-exec console \"remove-inferiors " + std::to_string(number) + "\"",
       CommandFlag::None, [this](const Status&) { m_removing = false; });
}

void GdbSession::attachHere(pid_t pid) {
  // The answer comes first and the stop after it: the stop completes the attach.
  send(
      "-target-attach " + std::to_string(pid), CommandFlag::MaybeStartsRunning,
      [this, pid](const Status& status) {
        if (!status && m_attachDone) {
          const std::string reason = status.error().message;
          std::exchange(m_attachDone, nullptr)(
              Error{status.error().code,
                    "cannot attach to process " + std::to_string(pid) + ": " + reason,
                    attachAdvice(reason)});
        }
      },
      kAttachPatience);
}

void GdbSession::detach(Done done) {
  if (m_state != SessionState::Stopped && m_state != SessionState::Running) {
    done(noProgram("detach"));
    return;
  }
  asked("detach");
  m_leaving.reset();
  whilePaused([this, done = std::move(done)] {
    m_detaching = true;
    if (m_strayUntil && m_queue.now() < *m_strayUntil) {
      // Our SIGINT may still be on its way: let GDB take it, or it would kill the free program.
      m_afterStray = [this, done] { letGo(done); };
      send("-exec-step-instruction", CommandFlag::MaybeStartsRunning, [this](const Status& status) {
        if (!status) {
          runAfterStray();
        }
      });
    } else {
      letGo(done);
    }
  });
}

void GdbSession::abandon(Done done) {
  if (m_state == SessionState::Lost) {
    done(noProgram("end its program"));
    return;
  }
  asked("abandon");
  m_abandoning = true;
  m_leaving.reset();
  m_runTo.reset();
  m_strayUntil.reset();
  m_afterStray = nullptr;
  m_pausedActions.clear();
  finishPause(Error{ErrorCode::NotFound, "the program has been ended", {}});
  m_pause = {};
  // Whether it has died already or not: an error is as good.
  send("-interpreter-exec console \"kill\"", CommandFlag::Immediate,
       [this, done = std::move(done)](const Status&) {
         m_abandoning = false;
         m_targetRunning = false;
         m_runPending = false;
         m_quiet = false;
         if (m_state != SessionState::Lost) {
           m_abandoned = true;
           setState(SessionState::NotStarted);
         }
         done(m_state == SessionState::Lost ? noProgram("end its program") : Status());
       });
}

void GdbSession::runAfterStray() {
  m_strayUntil.reset();
  if (const std::function<void()> next = std::exchange(m_afterStray, nullptr)) {
    next();
  }
}

void GdbSession::letGo(const Done& done) {
  m_breakpoints.leavePython();
  send("-target-detach", CommandFlag::MaybeStartsRunning, [this, done](const Status& status) {
    m_detaching = false;
    if (status && m_state != SessionState::Lost) {
      m_targetRunning = false;
      m_quiet = false;
      setState(SessionState::NotStarted);
    }
    if (done) {
      done(status);
    }
  });
}

void GdbSession::feed(std::string_view bytes) {
  m_lines.feed(bytes, [this](std::string_view line, bool cut) { handleLine(line, cut); });
}

void GdbSession::handleLine(std::string_view line, bool cut) {
  if (m_transcript) {
    m_transcript(TranscriptSide::FromGdb, line);
  }
  if (line.empty() || (!cut && handleRecord(line))) {
    return;
  }
  const auto token = resultTokenOf(line);
  if (token && m_queue.awaits(*token)) {
    const auto record = parseRecord(line);
    m_queue.damagedReply(
        *token, cut || record ? Error{ErrorCode::Peer, "it is too long", {}} : record.error());
  } else if (cut || !salvage(line)) {
    m_observer.onConsole(StreamKind::Target, std::string(line) + "\n");
  }
}

bool GdbSession::handleRecord(std::string_view line) {
  const auto record = parseRecord(line);
  if (!record) {
    return false;
  }
  std::visit(
      [this](const auto& r) {
        if constexpr (!std::is_same_v<std::decay_t<decltype(r)>, PromptRecord>) {
          handle(r);
        }
      },
      *record);
  return true;
}

/// A program that shares GDB's output may leave a line unfinished, and GDB's record follows on it.
bool GdbSession::salvage(std::string_view line) {
  std::size_t found = std::string_view::npos;
  for (std::size_t caret = line.find('^'); caret != std::string_view::npos && caret > 0;
       caret = line.find('^', caret + 1)) {
    // "rank 5" + "12^done": the digits of the program and of the token run together.
    const std::size_t first = caret - std::min(caret, kTokenDigits);
    for (std::size_t start = caret; start-- > first && line[start] >= '0' && line[start] <= '9';) {
      const auto token = resultTokenOf(line.substr(start, caret - start + 1));
      if (token && m_queue.awaits(*token)) {
        found = start;
      }
    }
  }
  for (const char* opening : {"*stopped", "*running", "=breakpoint-", "~\"GNU gdb"}) {
    if (found == std::string_view::npos) {
      found = line.find(opening);
    }
  }
  if (found == std::string_view::npos || !handleRecord(line.substr(found))) {
    return false;
  }
  if (found > 0) {
    m_observer.onConsole(StreamKind::Target, line.substr(0, found));
  }
  return true;
}

void GdbSession::handle(const ResultRecord& record) {
  m_inAnswer = false;
  m_queue.reply(record);
}

void GdbSession::handle(const StreamRecord& record) {
  if (m_starting) {
    m_banner += record.kind == StreamKind::Console ? record.text : "";
    return;
  }
  // GDB waits for more lines of a block and would take our commands for them.
  if (record.kind == StreamKind::Console && record.text == ">" && m_consoleBusy > 0) {
    if (m_transcript) {
      m_transcript(TranscriptSide::ToGdb, "end");
    }
    m_transport.send("end\n");
    return;
  }
  // "thread.c:85: internal-error: inferior_thread: Assertion ...", of files of its own.
  if (record.kind == StreamKind::Log &&
      record.text.find(": internal-error: ") != std::string::npos) {
    m_internalError = record.text.substr(0, record.text.find('\n'));
    m_internalError.erase(0, m_internalError.substr(0, m_internalError.find(':')).rfind('/') + 1);
  }
  if (!isAnswerOfOurs(record)) {
    m_observer.onConsole(record.kind, record.text);
  }
}

/// What GDB's Python says by an error is printed as well, in one piece or in several.
bool GdbSession::isAnswerOfOurs(const StreamRecord& record) {
  if (record.kind != StreamKind::Log) {
    return false;
  }
  const bool ours =
      m_inAnswer || record.text.starts_with(kAnswer) || record.text.starts_with(kProblem);
  m_inAnswer = ours && !record.text.ends_with('\n');
  return ours;
}

void GdbSession::handle(const AsyncRecord& record) {
  if (record.kind == AsyncKind::Exec) {
    handleExec(record);
  } else if (record.kind == AsyncKind::Notify) {
    handleNotify(record);
  }
}

void GdbSession::handleExec(const AsyncRecord& record) {
  if (record.asyncClass == "running") {
    running();
  } else if (record.asyncClass == "stopped") {
    StopEvent stop = stopEventOf(record.results);
    nameLibrary(stop.frame);
    if (stop.exited()) {
      exited(std::move(stop));
    } else if (!stop.frame.known() && stop.reasonText.empty() && !m_attachDone) {
      completeBareStop(std::move(stop));
    } else {
      stopped(std::move(stop));
    }
  }
}

void GdbSession::handleNotify(const AsyncRecord& record) {
  const std::string& name = record.asyncClass;
  const Value& results = record.results;
  if (name == "library-loaded") {
    for (Library& library : librariesOf(results)) {
      m_libraries.push_back(std::move(library));
    }
  } else if (name == "library-unloaded" && !m_removing) {
    const std::string& gone = results.str("target-name");
    m_libraries.erase(std::remove_if(m_libraries.begin(), m_libraries.end(),
                                     [&gone](const Library& l) { return l.name == gone; }),
                      m_libraries.end());
  } else if (name.rfind("breakpoint-", 0) == 0) {
    m_breakpoints.notify(record);
  } else if (name == "memory-changed") {
    m_observer.onValuesChanged();
  }
}

void GdbSession::exited(StopEvent stop) {
  if (m_abandoning) {
    m_targetRunning = false;
    return;
  }
  m_targetRunning = false;
  m_quiet = false;
  m_leaving.reset();
  m_runTo.reset();
  m_strayUntil.reset();
  m_stop = std::move(stop);
  setState(SessionState::Exited);
  published();
  if (const Done attached = std::exchange(m_attachDone, nullptr)) {
    attached(Error{ErrorCode::NotFound, "the program has ended while GDB attached to it", {}});
  }
  finishPause(Error{ErrorCode::NotFound, "the program has ended before it could be paused", {}});
  m_pause = {};
  runPausedActions();
  runAfterStray();
}

void GdbSession::nameLibrary(Frame& frame) const {
  if (frame.from.empty() && frame.address != 0) {
    const auto found =
        std::find_if(m_libraries.begin(), m_libraries.end(), [&frame](const Library& library) {
          return frame.address >= library.from && frame.address < library.to;
        });
    if (found != m_libraries.end()) {
      frame.from = found->name;
    }
  }
  nameCall(frame);
}

void GdbSession::setState(SessionState state) {
  if (m_state != state) {
    m_state = state;
    told("state " + std::string(toString(state)));
    m_observer.onState(state);
  }
}

Status GdbSession::requireStopped(std::string_view what) const {
  if (m_core) {
    return Error{
        ErrorCode::Usage,
        "cannot " + std::string(what) + ": this is a core file, of a process that has ended",
        "look at its stack and values; to run it again, record the program"};
  }
  if (m_state == SessionState::Stopped) {
    return {};
  }
  return Error{ErrorCode::Usage,
               "cannot " + std::string(what) + ": the program is " + std::string(toString(m_state)),
               m_state == SessionState::Running ? "pause it first" : ""};
}

void GdbSession::tick(TimePoint now) {
  m_queue.tick(now);
  if (m_pause.active) {
    climb();
  }
}

std::string GdbSession::closed(const std::string& given) {
  const std::string reason = m_internalError.empty() ? given : given + ": " + m_internalError;
  if (m_state == SessionState::Lost) {
    return reason;
  }
  asked("closed " + given);
  const bool hadProgram = m_state == SessionState::Stopped || m_state == SessionState::Running;
  const Error error{ErrorCode::Peer, "GDB has ended: " + reason,
                    hadProgram ? "attach a new GDB if the rank still lives, or replay again" : ""};
  m_lines.reset();
  m_targetRunning = false;
  m_quiet = false;
  m_leaving.reset();
  m_runTo.reset();
  setState(SessionState::Lost);
  m_queue.close(error);
  if (const Done attached = std::exchange(m_attachDone, nullptr)) {
    attached(error);
  }
  finishPause(error);
  m_pause = {};
  runPausedActions();
  runAfterStray();
  m_breakpoints.clear();
  m_observer.onLost(error.text());
  return reason;
}

void GdbSession::console(std::string_view line, Done done) {
  asked("console " + std::string(line));
  if (!m_block.empty()) {
    if (!m_block.add(std::string(line))) {
      m_observer.onConsole(StreamKind::Console, ">");
      done({});
      return;
    }
    const auto command = m_block.take();
    if (!command) {
      done(command.error());
      return;
    }
    send(*command, CommandFlag::None, std::move(done), kConsolePatience);
    return;
  }
  const auto plan = planConsoleLine(line);
  if (!plan) {
    done(plan.error());
    return;
  }
  switch (plan->kind) {
    case ConsolePlan::Kind::Action:
      m_observer.onToolAction(plan->action, line);
      done({});
      return;
    case ConsolePlan::Kind::NeedsBody:
      (void)m_block.add(std::string(line));
      m_observer.onConsole(StreamKind::Console, ">");
      done({});
      return;
    case ConsolePlan::Kind::Send:
      break;
  }
  if (m_state == SessionState::Stopped) {
    m_lastRun.kind = line.substr(0, 1) == "c" ? RunKind::Continue : RunKind::Step;
  }
  ++m_consoleBusy;
  send(
      plan->command, CommandFlag::None,
      [this, done = std::move(done)](const Status& status) {
        --m_consoleBusy;
        done(status);
      },
      kConsolePatience);
}

}  // namespace pf::mi
