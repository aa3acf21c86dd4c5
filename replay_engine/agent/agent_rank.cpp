// SPDX-License-Identifier: GPL-3.0-or-later
// The agent between its rank's page and the daemon.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstring>

#include "replay_engine/agent/agent.h"
#include "replay_engine/agent/build_id.h"
#include "replay_engine/agent/group_file.h"
#include "replay_engine/agent/log_syncer.h"
#include "replay_engine/agent/proc.h"
#include "replay_engine/agent/python_place.h"
#include "replay_engine/agent/rank_stack.h"
#include "replay_engine/agent/read_context.h"
#include "replay_engine/base/page_marks.h"

namespace pf::agent {

using namespace protocol;  // NOLINT(google-build-using-namespace): every order is obeyed here

namespace {

/// Where a rank is that is in one call for longer is looked up: before whoever asks for the proof of a deadlock soonest has it.
constexpr std::chrono::milliseconds kPlaceAfter(150);
/// And what its receives have matched.
constexpr std::chrono::milliseconds kSeemsToWait(1000);
/// Then it is looked whether its data move, so often.
constexpr std::chrono::milliseconds kMayMoveData(500);
constexpr std::chrono::milliseconds kLookEvery(250);

template <std::size_t Size>
void copyText(char (&field)[Size], const std::string& text) {  // NOLINT(modernize-avoid-c-arrays)
  const std::size_t size = std::min(text.size(), Size - 1);
  std::memcpy(field, text.data(), size);
  field[size] = '\0';
}

bool sameButForProgress(RankState a, const RankState& b) {
  a.serial = b.serial;
  a.inCall = b.inCall;
  a.call = b.call;
  a.waitPeer = b.waitPeer;
  a.waitTag = b.waitTag;
  a.moved = b.moved;
  return a == b;
}

}  // namespace

void Agent::tell(const Message& message) {
  static_cast<void>(
      m_daemon.send(message));  // if it is gone, onDaemon() reads its last words first
}

// -- from the rank

void Agent::onPage() {
  if (m_wayBack) {
    return;  // what it says is of the process that is gone
  }
  const auto phase = m_page->state().phase;
  if (phase != RankPhase::Launched && !m_introduced) {
    introduce();
  }
  if (m_introduced) {
    report(false);
  }
}

void Agent::introduce() {
  m_introduced = true;
  RankHello hello = m_page->hello();
  hello.pid = mpiProcess();
  std::array<char, 256> host{};
  ::gethostname(host.data(), host.size() - 1);
  hello.host = host.data();
  hello.buildId = buildId(hello.executable);
  const bool possible = hello.rank >= 0 && hello.rank < hello.size;
  // In a replay the daemon refuses a second one, for a reason that a user can do something about where there is one: the
  // processes of another MPI library's launcher each say that they are rank 0 of 1. Ended here, one takes down the others.
  if ((!possible || !claimRank(hello.rank)) && !replaying()) {
    say("a second process says that it is rank " + std::to_string(hello.rank) +
        " (MPI_Comm_spawn, or a second mpirun): it is not recorded");
    m_daemon.close();
    configure(0, 0, {}, 0);
    return;
  }
  m_rank = hello.rank;
  m_told.rank = m_rank;
  m_told.phase = RankPhase::Hello;
  LaunchContext context = contextOf(hello.pid, m_session.config().variables);
  if (replaying()) {
    hello.context = std::move(context);
  } else {
    const SessionConfig& config = m_session.config();
    context.insert(context.end(), m_environment.begin(), m_environment.end());
    keepContext(context);
    if (Status kept = keepGroup(config, hello.rank, hello.size); !kept) {
      endWithoutGroup(kept.error(), hello);
      return;
    }
    configure(config.mode & ~static_cast<std::uint32_t>(kGate), config.jitterSeed, {}, 0);
    syncEverySecond(logPath());
    if ((config.mode & kKeepContents) != 0) {
      syncContentsEverySecond(contentsPath());
    }
  }
  tell(hello);
}

/// A rank of which nothing can be kept is not recorded. Who records hears of groups that are none of this job, and ends it:
/// one line for all ranks. Where nobody hears it, rank 0 says it.
void Agent::endWithoutGroup(const Error& why, const RankHello& hello) {
  if (m_daemon.valid() && why.code == ErrorCode::Usage) {
    tell(hello);  // with the size of the job; the rank waits for its end in MPI_Init
    return;
  }
  if (why.code != ErrorCode::Usage || hello.rank == 0) {
    say(why.text());
  }
  signalProgram(SIGKILL);
}

/// Beside the log of a recording. Without it, a replay compares less: no reason to say anything.
void Agent::keepContext(const LaunchContext& context) const {
  const std::string path = contextPath(m_session.config().logDirectory, m_rank);
  const UniqueFd made(
      ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  std::string text;
  for (const ContextFact& fact : context) {
    text += factText(fact) + "\n";
  }
  if (made.valid() &&
      ::write(made.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size())) {
    ::unlink(path.c_str());
  }
}

/// Two processes must not write one log.
bool Agent::claimRank(std::int32_t rank) {
  const UniqueFd claim(::open(m_session.claimPath(rank).c_str(),
                              O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  return claim.valid();
}

std::string Agent::logPath() const {
  return m_session.config().logDirectory + "/rank-" + std::to_string(m_rank) + ".log";
}

std::string Agent::contentsPath() const {
  return m_session.config().logDirectory + "/rank-" + std::to_string(m_rank) + ".payload";
}

void Agent::configure(std::uint32_t mode, std::uint64_t jitterSeed, const std::string& schedule,
                      std::uint64_t stopAt) {
  RankPage& page = m_page->page();
  page.mode = mode;
  page.jitterSeed = jitterSeed;
  page.salt = m_session.config().salt;
  copyText(page.logPath, logPath());
  copyText(page.schedulePath, schedule);
  page.algorithm = m_session.config().algorithm;
  copyText(page.boardPath, m_session.boardPath());
  page.stopAt.store(stopAt, std::memory_order_relaxed);
  page.configured.store(1, std::memory_order_release);
  m_page->wakeRank();
}

void Agent::report(bool now) {
  if (!m_daemon.valid() && !m_gdb.runs()) {
    return;
  }
  RankState state = m_page->state();
  state.rank = m_rank;
  state.place = waitPlace(state);
  lookAtProcess(state);
  armTrap(state);
  if (!m_contentsTold && m_page->page().contentsAt.load(std::memory_order_acquire) != 0) {
    m_contentsTold = true;
    tell(m_page->otherContents());
    m_page->page().contentsSeen.store(1, std::memory_order_release);
    m_page->wakeRank();
  }
  if (state.phase == RankPhase::Diverged && !m_divergedTold) {
    m_divergedTold = true;
    tell(m_page->divergence());
  }
  if (m_snapshots) {
    if (!m_wayBack) {
      m_snapshots->keepWithinBudget(m_program);
    }
    // Where a rank has come to a stop, a user may ask.
    const bool atOnce = state.phase == RankPhase::Stopped && m_told.phase != RankPhase::Stopped;
    if (const auto news = m_snapshots->news(m_rank, atOnce)) {
      tell(*news);
    }
  }
  const auto time = Clock::now();
  const std::chrono::milliseconds interval(m_session.config().watchIntervalMs);
  const bool due = now || !sameButForProgress(state, m_told) || time - m_toldAt >= interval;
  if (due && !(state == m_told)) {
    m_told = state;
    m_toldAt = time;
    tell(state);
  }
}

/// Whether it is stopped, and in a long wait, whether its data move. Of a recorded rank, which runs
/// for hours, now and then.
void Agent::lookAtProcess(RankState& state) {
  const auto now = Clock::now();
  const bool often = replaying() || m_gdb.runs();
  const bool waits = state.inCall != 0 && now - m_waiting.since >= kMayMoveData;
  const bool again = now - m_lookedAt >= (waits ? kLookEvery : kSeemsToWait);
  state.held = m_told.held;
  state.stopped = m_told.stopped;
  const RankPage& page = m_page->page();
  state.uncertain = page.outermostAt == 0 || (page.claimed.load() & kMetOtherJobs) != 0;
  state.moved = waits ? m_told.moved : 0;
  if (often || again) {
    const char process = processState(mpiProcess());
    state.held = process == 't' || process == 'T';
    state.stopped = process == 'T';
    if (process == 'T' && m_wakeStoppedUntil) {
      ::kill(mpiProcess(), SIGCONT);  // a GDB that died while it attached left a stop behind
    }
  }
  if (again) {
    m_lookedAt = now;
    state.moved = waits ? bytesMoved(mpiProcess()) : 0;
  }
}

CodePlace Agent::waitPlace(const RankState& state) {
  const auto now = Clock::now();
  if (state.inCall == 0 || state.serial != m_waiting.serial || state.inCall != m_waiting.inCall) {
    m_waiting = {state.serial, state.inCall, now, {}};
  }
  if (state.inCall == 0 || now - m_waiting.since < kPlaceAfter) {
    return {};
  }
  if (now - m_waiting.since >= kSeemsToWait && now - m_lookedForMatched >= kSeemsToWait / 2) {
    lookForMatched();
  }
  if (!m_waiting.place) {
    m_waiting.place = callPlaceOf(mpiProcess(), m_page->page());
    m_waiting.place->text = pythonPlaceOf(mpiProcess(), m_page->page());
  }
  return *m_waiting.place;
}

void Agent::lookForMatched() {
  if ((m_page->page().mode & (kRecordChoices | kRecordEvents)) == 0) {
    return;
  }
  m_lookedForMatched = Clock::now();
  m_matched.look(mpiProcess(), m_page->page(), logPath());
}

/// The rank takes the trap off when it has trapped: set it again for its next stop.
void Agent::armTrap(const RankState& state) {
  std::atomic<std::uint32_t>& trap = m_page->page().trapOnStop;
  if (!m_gdb.runs() || m_gdb.askedToEnd() || trap.load() != 0) {
    return;
  }
  const bool atStop = state.phase == RankPhase::Stopped || state.phase == RankPhase::Diverged;
  if (atStop && (!m_trappedAt || m_trappedAt == state.serial)) {
    m_trappedAt = state.serial;
    return;
  }
  m_trappedAt.reset();
  trap.store(1);
  m_page->wakeRank();
}

bool Agent::waitsForUs() const {
  const RankPhase phase = m_page->state().phase;
  const bool asks = phase == RankPhase::Hello && m_page->page().configured.load() == 0;
  return asks || phase == RankPhase::Gated || phase == RankPhase::Stopped ||
         phase == RankPhase::Diverged;
}

/// The program, or the process that it started and that called MPI_Init.
pid_t Agent::mpiProcess() const {
  const pid_t pid = m_page->page().pid;
  if (pid <= 0 || isDescendant(pid, m_program)) {
    return pid > 0 ? pid : m_program;
  }
  const auto now = std::chrono::steady_clock::now();
  if (m_nested.toItself != pid ||
      (!isDescendant(m_nested.pid, m_program) && now - m_nested.looked > std::chrono::seconds(1))) {
    m_nested = {pid, nestedProcess(pid, m_program), now};
  }
  return isDescendant(m_nested.pid, m_program) ? m_nested.pid : m_program;
}

// -- from the daemon

void Agent::onDaemon() {
  static_cast<void>(m_daemon.flush());
  while (m_daemon.valid()) {
    Result<std::optional<Message>> message = m_daemon.receive();
    if (!message) {
      loseDaemon();
    } else if (message->has_value()) {
      obey(**message);
    } else {
      return;
    }
  }
}

void Agent::obey(const Message& message) {
  std::visit(Overloaded{
                 [&](const Configure& m) {
                   if (replaying()) {
                     configure(m.mode, m.jitterSeed, m.schedulePath, m.stopAt);
                   }
                 },
                 [&](const OpenGate&) { openGate(); },
                 [&](const SetStop& m) { setStop(m.serial); },
                 [&](const AttachGdb&) { attachGdb(); },
                 [&](const DetachGdb&) { endGdb(); },
                 [&](const MiToGdb& m) { m_gdb.write(m.bytes); },
                 [&](const GdbSignal& m) { sendSignal(m); },
                 [&](const AskStack& m) { tellStack(m); },
                 [&](const Ping& m) {
                   if (m_introduced && !m_wayBack) {
                     report(true);  // what its rank has done by now comes first
                   }
                   tell(Pong{m.number});
                 },
                 [&](const Kill&) { kill(); },
                 [&](const GoBack& m) { goBack(m); },
                 [&](const Refused& m) { onRefused(m.text); },
                 [](const auto&) {},
             },
             message);
}

void Agent::openGate() {
  m_page->page().gateOpen.store(1, std::memory_order_release);
  m_page->wakeRank();
}

void Agent::setStop(std::uint64_t serial) {
  m_page->page().stopAt.store(serial, std::memory_order_release);
  m_page->wakeRank();
}

void Agent::sendSignal(const GdbSignal& order) {
  if (order.signal != SIGINT && order.signal != SIGTERM) {
    return;
  }
  if (order.target == SignalTarget::Gdb) {
    m_gdb.signal(order.signal);
  } else {
    ::kill(mpiProcess(), order.signal);
  }
}

void Agent::tellStack(const AskStack& question) {
  const RankState state = m_page->state();
  RankStack answer;
  answer.rank = m_rank;
  answer.question = question.question;
  answer.inCall = state.inCall;
  answer.call = state.call;
  Result<std::vector<CodePlace>> frames = stackOf(mpiProcess(), m_page->page(), m_gdb.runs());
  if (frames) {
    answer.frames = std::move(*frames);
  } else {
    answer.text = frames.error().message;
  }
  tell(answer);
}

void Agent::kill() {
  m_killed = true;
  lookForMatched();  // what the rank will not say any more
  if (replaying()) {
    signalProgram(SIGKILL);
    if (m_snapshots) {  // one of them may be on its way to be the rank
      m_snapshots->killAll();
    }
    return;
  }
  signalProgram(SIGTERM);
  m_killAt = Clock::now() + std::chrono::seconds(2);
}

void Agent::signalProgram(int number) {
  if (const pid_t rank = mpiProcess(); rank != m_program) {
    ::kill(rank, number);
  }
  ::kill(m_program, number);
}

/// The daemon tells the front end why; here the program must not run on in a replay.
void Agent::onRefused(const std::string& text) {
  m_daemon.close();
  if (replaying()) {
    if (m_page->page().configured.load() == 0) {
      m_ownStatus = 1;
    } else {
      say(text);
    }
    signalProgram(SIGKILL);
  }
}

void Agent::loseDaemon() {
  m_daemon.close();
  m_echo = true;
  endGdb();
  if (replaying() && !m_killed) {
    say("rank " + std::to_string(m_rank) + ": the control daemon is gone");
    m_daemonLost = Clock::now();
    if (!waitsForUs()) {
      setStop(0);
    }
  }
}

/// A rank that can go on does, to its end. Nobody is left to see of another one that it does not.
void Agent::endWithoutDaemon(Clock::time_point now) {
  constexpr std::chrono::seconds kMayComeBack(2);
  constexpr std::chrono::seconds kHangs(10);
  const RankState state = m_page->state();
  if (!state.inCall) {
    m_lastCall.reset();
  } else if (!m_lastCall || m_lastCall->serial != state.serial) {
    m_lastCall = {state.serial, now};
  }
  std::string why;
  if (waitsForUs() && now - *m_daemonLost >= kMayComeBack) {
    why = " waits for the control daemon, which is gone: ended";
  } else if (m_lastCall && now - m_lastCall->since >= kHangs) {
    why = " does not come out of its event " + std::to_string(state.serial) +
          ", and the control daemon is gone: ended";
  } else {
    return;
  }
  say("rank " + std::to_string(m_rank) + why);
  m_daemonLost.reset();
  signalProgram(SIGKILL);
}

// -- GDB

void Agent::tellGdb(GdbCondition state, const std::string& text) {
  tell(GdbState{m_rank, state, mpiProcess(), text});
}

void Agent::attachGdb() {
  if (m_gdb.runs()) {
    tellGdb(GdbCondition::Attached, "gdb is there already");
    return;
  }
  std::vector<std::string> environment;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    environment.emplace_back(*entry);
  }
  if (Status status = m_gdb.start(m_session.config().gdb, m_signals, environment, mpiProcess());
      !status) {
    tellGdb(GdbCondition::Failed, status.error().text());
    return;
  }
  m_trappedAt.reset();
  m_page->page().trapOnStop.store(1);
  m_page->page().debugger.store(1);
  tellGdb(GdbCondition::Attached, {});
}

void Agent::endGdb() {
  if (m_gdb.runs()) {
    m_page->page().trapOnStop.store(0);
    m_gdb.end();
  }
}

void Agent::gdbEnded() {
  m_page->page().trapOnStop.store(0);
  m_page->page().debugger.store(0);
  while (relayGdb(true)) {
  }
  m_wakeStoppedUntil = Clock::now() + std::chrono::seconds(1);
  tellGdb(m_gdb.askedToEnd() ? GdbCondition::Detached : GdbCondition::Died, m_gdb.text());
}

}  // namespace pf::agent
