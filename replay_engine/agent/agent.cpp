// SPDX-License-Identifier: GPL-3.0-or-later
#include "replay_engine/agent/agent.h"

#include <fcntl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>

#include "replay_engine/agent/cycle_counter.h"
#include "replay_engine/agent/mpi_library.h"
#include "replay_engine/agent/proc.h"
#include "replay_engine/agent/process_limits.h"
#include "replay_engine/agent/same_addresses.h"
#include "replay_engine/base/shown_text.h"
#include "replay_engine/protocol/client_connection.h"
#include "replay_engine/protocol/place_in_job.h"
#include "replay_engine/protocol/recorded_environment.h"

namespace pf::agent {

using protocol::PeerRole;

namespace {

/// The front end starts the launcher once the daemon is there.
constexpr std::chrono::milliseconds kDialWithin(2'000);
constexpr std::chrono::milliseconds kForLong(60'000);
/// A GDB that holds its rank stopped does not see it die, and then neither do we: it has to go.
constexpr std::chrono::milliseconds kGdbMaySay(300);
constexpr std::chrono::milliseconds kSoon(20);
/// A user waits for it, who goes back one event at a time.
constexpr std::chrono::milliseconds kAtOnce(1);
/// How often a program is looked at that has not come to MPI_Init: a signal may have stopped it.
constexpr std::chrono::milliseconds kLookAtStart(1000);
constexpr std::size_t kMaxEcho = std::size_t{1} << 20U;
constexpr std::size_t kMaxOutputQueue = std::size_t{4} << 20U;
constexpr std::size_t kMaxMiQueue = std::size_t{1} << 20U;
constexpr const char* kMemory = "libphotofinish_memory.so";

/// A number that the launcher left in the environment, or -1.
std::int32_t fromLauncher(std::initializer_list<const char*> names) {
  for (const char* name : names) {
    if (const char* text = std::getenv(name)) {
      char* end = nullptr;
      const long value = std::strtol(text, &end, 10);
      if (end != text && *end == '\0' && value >= 0 && value < (1L << 20)) {
        return static_cast<std::int32_t>(value);
      }
    }
  }
  return -1;
}

std::string ownDirectory() {
  std::array<char, 4096> path{};
  const ssize_t n = ::readlink("/proc/self/exe", path.data(), path.size());
  const std::string text(path.data(), n > 0 ? static_cast<std::size_t>(n) : 0);
  return text.substr(0, text.rfind('/'));
}

/// Of a GDB that a signal ends, its log is how its Python took that.
std::string withoutLog(const std::string& lines) {
  std::string kept;
  for (std::size_t at = 0; at < lines.size();) {
    const std::size_t end = std::min(lines.find('\n', at), lines.size() - 1) + 1;
    if (lines[at] != '&') {
      kept.append(lines, at, end - at);
    }
    at = end;
  }
  return kept;
}

}  // namespace

void say(const std::string& text) {
  tell(text);
}

Agent::Agent(protocol::SessionDirectory session, std::vector<std::string> command,
             const AgentSignals& signals, SignalCanary& canary)
    : m_session(std::move(session)),
      m_command(std::move(command)),
      m_signals(signals),
      m_canary(canary),
      m_rank(fromLauncher({"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID"})),
      m_echo(m_session.config().echo) {
  // A part of the job: the launcher counts those that run.
  const std::vector<std::int32_t>& running = m_session.config().running;
  if (!running.empty()) {
    const auto place = static_cast<std::size_t>(std::max(m_rank, 0));
    m_rank = place < running.size() ? running[place] : -1;
  }
}

Agent::~Agent() = default;

Result<int> Agent::run() {
  Status status = connect();
  if (status) {
    status = startProgram();
  }
  if (!status) {
    return status.error();
  }
  protocol::RankLaunched launched;
  launched.rank = m_rank;
  launched.size = fromLauncher({"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_NTASKS"});
  launched.pid = m_program;
  launched.agentPid = ::getpid();
  std::array<char, 256> host{};
  ::gethostname(host.data(), host.size() - 1);
  launched.host = host.data();
  launched.program = m_command[0];
  if (replaying()) {
    launched.environment = m_environment;
  }
  tell(launched);
  loop();
  finish();
  return m_status;
}

Status Agent::connect() {
  if (replaying()) {
    Result<protocol::ClientConnection> connection =
        protocol::ClientConnection::connect(m_session, PeerRole::Agent, kDialWithin);
    if (!connection) {
      return connection.error();
    }
    m_daemon = std::move(*connection).takeSocket();
  } else if (Result<protocol::FramedSocket> socket =
                 protocol::dial(m_session, PeerRole::Agent, std::chrono::milliseconds(0))) {
    m_daemon = std::move(*socket);
  }
  m_session.forgetKey();
  return {};
}

Result<std::string> Agent::interposerPath() const {
  std::string path = m_session.config().interposer;
  if (path.empty()) {
    const std::vector<Recorder> recorders = recordersIn(ownDirectory());
    Result<ProgramMpi> program = mpiOf(m_command[0], recorders);
    if (!program) {
      return isFirstOfHost(kRefusedMark) ? program.error() : Error{program.error().code, "", ""};
    }
    sayTools(program->tools);
    const Recorder& ours =
        *std::find_if(recorders.begin(), recorders.end(),
                      [&](const Recorder& one) { return one.kind == program->kind; });
    if (::access(ours.file.c_str(), F_OK) != 0 && ours.kind == MpiKind::Mpich) {
      return Error{ErrorCode::NotFound,
                   "'" + m_command[0] + "' is run by MPICH, and photofinish was built without it",
                   "install libmpich-dev and build photofinish again"};
    }
    path = ours.file;
    // What a script starts may be linked against libmpi_abi, and then takes that recorder, beside this one.
    const auto standard = std::find_if(recorders.begin(), recorders.end(), [](const Recorder& one) {
      return one.kind == MpiKind::Standard;
    });
    if (&*standard != &ours && ::access(standard->file.c_str(), F_OK) == 0) {
      Result<std::string> beside =
          preloadable(standard->file, std::string(fileNameOf(standard->file)));
      if (!beside) {
        return beside;
      }
    }
  }
  return preloadable(path, "recorder.so");
}

/// Whether no other agent or rank of this host has made the mark `name` in the session's directory.
bool Agent::isFirstOfHost(const char* name) const {
  const std::string path = m_session.path() + "/" + name;
  const UniqueFd made(
      ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  return made.valid() || errno != EEXIST;
}

/// Tracing tools are loaded behind our library, and are not called by it.
void Agent::sayTools(const std::vector<std::string>& tools) const {
  if (tools.empty() || replaying() || !isFirstOfHost("tools")) {
    return;
  }
  say(tools[0] +
      ", which is loaded with the program, stands in for MPI's routines as well: while photofinish "
      "records it sees none of the calls that are recorded. To measure with it, run the program "
      "without photofinish.");
}

bool Agent::sameAddresses() const {
  return (m_session.config().mode & kSameAddresses) != 0;
}

/// What LD_PRELOAD names.
Result<std::string> Agent::preloads() const {
  Result<std::string> interposer = interposerPath();
  if (!interposer || !sameAddresses()) {
    return interposer;
  }
  Result<std::string> memory = preloadable(ownDirectory() + "/" + kMemory, "memory.so");
  return memory ? *interposer + ":" + *memory : memory;
}

/// A library of ours as LD_PRELOAD can take it, without spaces and colons: by a link `name`, if
/// need be.
Result<std::string> Agent::preloadable(const std::string& path, const std::string& name) const {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) {
    Error error = systemError("the recorder library " + path + " cannot be used", errno);
    error.advice = "build or install photofinish again";
    return error;
  }
  const bool trusted = info.st_uid == 0 || info.st_uid == ::geteuid();
  if (!S_ISREG(info.st_mode) || !trusted || (info.st_mode & S_IWOTH) != 0) {
    return Error{ErrorCode::System,
                 "the recorder library " + path + " can be changed by other users",
                 "make it yours alone (chown, chmod o-w), or install photofinish again"};
  }
  if (path.find_first_of(" :") == std::string::npos) {
    return path;
  }
  const std::string link = m_session.path() + "/" + name;
  if (::symlink(path.c_str(), link.c_str()) != 0 && errno != EEXIST) {
    return systemError("cannot make a link to " + path + " in " + m_session.path(), errno);
  }
  return link;
}

/// Ours, but for what the session says otherwise.
std::vector<std::string> Agent::programEnvironment(const std::string& interposer) {
  std::vector<std::string> given;
  const std::vector<std::string>& changes = m_session.config().environment;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string name(*entry, std::strcspn(*entry, "="));
    if (std::none_of(changes.begin(), changes.end(), [&](const std::string& change) {
          return change.substr(0, change.find('=')) == name;
        })) {
      given.emplace_back(*entry);
    }
  }
  std::copy_if(changes.begin(), changes.end(), std::back_inserter(given),
               [](const std::string& change) { return change.find('=') != std::string::npos; });
  std::vector<std::string> out;
  std::string preload = interposer;
  for (const std::string_view text : givenEnvironment(std::move(given))) {
    const std::string_view name = text.substr(0, text.find('='));
    if (name == "LD_PRELOAD") {
      const std::string_view before = text.substr(std::min(text.size(), name.size() + 1));
      preload += before.empty() ? "" : ":" + std::string(before);
    } else if (name != protocol::kSessionVariable && name != kRankPageVariable) {
      out.emplace_back(text);
    }
  }
  out.push_back("LD_PRELOAD=" + preload);
  out.push_back(std::string(kRankPageVariable) + "=" + m_page->path());
  return out;
}

/// In a recording what there is, which is kept; in a replay what was kept.
std::vector<std::string> Agent::givenEnvironment(std::vector<std::string> now) {
  const protocol::SessionConfig& config = m_session.config();
  if (!replaying()) {
    m_environment = protocol::environmentFacts(now);
    const protocol::LaunchContext limits = processLimits();
    m_environment.insert(m_environment.end(), limits.begin(), limits.end());
    const protocol::LaunchContext place = protocol::placeFacts(now);
    m_environment.insert(m_environment.end(), place.begin(), place.end());
    return now;
  }
  const auto& all = config.recordedEnvironment;
  const auto own = all.find(m_rank);
  protocol::LaunchContext recorded;
  if (const auto lines = own != all.end() ? own : all.begin(); lines != all.end()) {
    for (const std::string& line : lines->second) {
      if (protocol::ContextFact fact; protocol::factFromText(line, fact)) {
        recorded.push_back(std::move(fact));
      }
    }
  }
  protocol::GivenEnvironment given = protocol::giveBackEnvironment(recorded, now, config.giveBack);
  m_environment = std::move(given.differences);
  const protocol::LaunchContext limits = changedLimits(recorded, processLimits());
  m_environment.insert(m_environment.end(), limits.begin(), limits.end());
  return config.running.empty() ? std::move(given.environment)
                                : protocol::giveBackPlace(recorded, std::move(given.environment));
}

Status Agent::startProgram() {
  if ((m_session.config().mode & kTrapTsc) != 0 && !cycleCounterTraps()) {
    return Error{ErrorCode::System, kNoCycleTrap,
                 replaying() ? "Replay this trace on another machine: it was recorded with --rdtsc."
                             : "Leave out --rdtsc, or record on another machine."};
  }
  Result<RankPageFile> page = RankPageFile::create(m_session.pagePath(::getpid()));
  Result<std::string> interposer = preloads();
  if (!page || !interposer) {
    return page ? interposer.error() : page.error();
  }
  m_page = std::make_unique<RankPageFile>(std::move(*page));
  m_page->setLaunch(m_session, m_rank);
  if (replaying() && (m_session.config().mode & kSnapshots) != 0) {
    m_snapshots.emplace(m_page->page());
  }
  LaunchPlan plan;
  plan.arguments = m_command;
  plan.environment = programEnvironment(*interposer);
  if (sameAddresses()) {
    if (Status fixed = stopRandomAddresses(); !fixed) {
      return fixed;
    }
    plan.environment = padEnvironment(std::move(plan.environment));
  } else if (replaying()) {
    (void)
        stopRandomAddresses();  // replays of a trace are then more alike; a container may not allow it
  }
  if (m_session.config().pty) {
    m_output.emplace();
    if (Status opened = m_output->open(); !opened) {
      return opened;
    }
    plan.out = m_output->programOut();
    plan.err = m_output->programErr();
  }
  Result<pid_t> program = launch(plan, m_signals);
  if (!program) {
    return program.error();
  }
  m_program = *program;
  if (m_output) {
    m_output->closeProgramEnds();
  }
  m_watcher = std::make_unique<PageWatcher>(m_page->page());
  return {};
}

// -- loop

void Agent::loop() {
  while (!m_ended) {
    poll(pollTimeout());
    onPage();
    onTimer();
    reapProgram();
    lookWhetherBack();
  }
}

std::chrono::milliseconds Agent::pollTimeout() const {
  if (m_wayBack) {
    return kAtOnce;
  }
  if (m_killAt || m_wakeStoppedUntil || !m_mi.empty() || (m_gdb.runs() && m_gdb.askedToEnd())) {
    return kSoon;
  }
  const std::chrono::milliseconds interval(m_session.config().watchIntervalMs);
  const bool watched = m_daemon.valid() || m_gdb.runs() || m_daemonLost.has_value();
  return watched ? interval : kForLong;
}

void Agent::poll(std::chrono::milliseconds timeout) {
  enum Slot : std::size_t {
    Signals,
    Page,
    Daemon,
    Out,
    Err,
    EchoOut,
    EchoErr,
    GdbOut,
    GdbErr,
    GdbIn,
    Slots
  };
  m_polled.assign(Slots, ::pollfd{-1, 0, 0});
  const auto watch = [this](std::size_t slot, int fd, short events) {
    m_polled[slot] = ::pollfd{fd, events, 0};
  };
  watch(Signals, m_signals.fd(), POLLIN);
  watch(Page, m_watcher->fd(), POLLIN);
  const bool sending = m_daemon.valid() && m_daemon.queued() > 0;
  watch(Daemon, m_daemon.fd(), static_cast<short>(sending ? POLLIN | POLLOUT : POLLIN));
  for (std::size_t stream = 0; m_output && stream < 2; ++stream) {
    const std::size_t queued = m_output->echoQueued(stream);
    watch(Out + stream, queued < kMaxEcho ? m_output->fd(stream) : -1, POLLIN);
    watch(EchoOut + stream, queued > 0 ? static_cast<int>(stream) + STDOUT_FILENO : -1, POLLOUT);
  }
  watch(GdbOut, m_daemon.valid() && m_daemon.queued() > kMaxMiQueue ? -1 : m_gdb.outFd(), POLLIN);
  watch(GdbErr, m_gdb.errFd(), POLLIN);
  watch(GdbIn, m_gdb.wantsWrite() ? m_gdb.inFd() : -1, POLLOUT);
  if (::poll(m_polled.data(), m_polled.size(), static_cast<int>(timeout.count())) <= 0) {
    return;
  }
  const auto ready = [this](std::size_t slot) { return m_polled[slot].revents != 0; };
  if (ready(Page)) {
    m_watcher->clear();
  }
  for (std::size_t stream = 0; m_output && stream < 2; ++stream) {
    if (ready(EchoOut + stream)) {
      m_output->writeEcho(stream);
    }
    if (ready(Out + stream)) {
      relayOutput(stream);
    }
  }
  if (ready(GdbOut)) {
    static_cast<void>(relayGdb(false));
  }
  if (ready(GdbErr)) {
    m_gdb.readComplaints();
  }
  if (ready(GdbIn)) {
    m_gdb.flush();
  }
  if (ready(Daemon)) {
    onDaemon();
  }
  if (ready(Signals)) {
    onSignals();
  }
}

void Agent::onSignals() {
  signalfd_siginfo info{};
  while (::read(m_signals.fd(), &info, sizeof info) == static_cast<ssize_t>(sizeof info)) {
    const int number = static_cast<int>(info.ssi_signo);
    if (number != SIGCHLD && !m_canary.wasForAll(number)) {
      ::kill(m_program, number);
    }
  }
  if (m_gdb.reap()) {
    gdbEnded();
  }
}

void Agent::reapProgram() {
  int status = 0;
  if (::waitpid(m_program, &status, WNOHANG) == m_program) {
    if (m_wayBack && !m_wayBack->woken) {
      wakeSnapshot();
      return;
    }
    m_status = status;
    m_ended = true;
  }
  if (m_snapshots) {
    SnapshotKeeper::reap({m_program, m_gdb.pid(), m_canary.pid()});
  }
}

void Agent::relayOutput(std::size_t stream) {
  std::string bytes = m_output->read(stream);
  if (bytes.empty()) {
    return;
  }
  if (m_echo) {
    m_output->echo(stream, bytes);
  }
  if (m_daemon.valid() && m_daemon.queued() > kMaxOutputQueue) {
    m_cut += bytes.size();
    return;
  }
  tell(protocol::Output{m_rank, static_cast<std::uint8_t>(stream + 1), std::move(bytes),
                        std::exchange(m_cut, 0)});
}

/// GDB writes some of its text byte by byte: whole lines are sent, or what has waited long enough.
bool Agent::relayGdb(bool all) {
  const std::string bytes = m_gdb.read();
  m_mi += bytes;
  const std::size_t end = m_mi.rfind('\n');
  const std::size_t size = all || m_mi.size() >= protocol::kMaxChunk ? m_mi.size() : end + 1;
  if (size > 0 && size <= m_mi.size()) {
    if (m_mi.find("*stopped") < size && m_page->state().serial != m_told.serial) {
      report(true);  // first: who hears of the stop knows at which event
    }
    std::string text = m_mi.substr(0, size);
    m_mi.erase(0, size);
    if (m_gdb.askedToEnd()) {
      text = withoutLog(text);
    }
    tell(protocol::MiFromGdb{m_rank, std::move(text)});
  }
  m_miAt = Clock::now();
  return !bytes.empty();
}

void Agent::onTimer() {
  const auto now = Clock::now();
  if (m_daemonLost) {
    endWithoutDaemon(now);
  }
  if (!m_mi.empty() && now - m_miAt >= kSoon) {
    static_cast<void>(relayGdb(true));
  }
  if (m_killAt && now >= *m_killAt) {
    m_killAt.reset();
    signalProgram(SIGKILL);
  }
  if (!m_gdb.runs() || m_wayBack || processState(mpiProcess()) != 'Z') {
    m_deadSince.reset();
  } else if (!m_deadSince) {
    m_deadSince = now;
  } else if (now - *m_deadSince >= kGdbMaySay) {
    endGdb();
  }
  if (!m_introduced && m_daemon.valid() && now - m_lookedAt >= kLookAtStart) {
    m_lookedAt = now;
    const bool stopped = processState(m_program) == 'T';
    if (stopped && m_told.held && !m_told.stopped) {  // the second time that it is seen
      tell(protocol::Notice{m_rank, "'" + m_command[0] + "' (process " + std::to_string(m_program) +
                                        "), which has not come to MPI_Init yet, does not go on: " +
                                        whyNoAnswer(m_program, 'T')});
      m_told.stopped = true;
    }
    m_told.held = stopped;
  }
  m_gdb.killIfHung(mpiProcess(), std::chrono::seconds(5));
  if (m_wakeStoppedUntil && now >= *m_wakeStoppedUntil) {
    m_wakeStoppedUntil.reset();
  }
}

}  // namespace pf::agent
