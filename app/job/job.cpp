// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/job/job.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>

#include "app/files/paths.h"
#include "app/files/private_file.h"
#include "app/traces/own_traces.h"

namespace pf::app {
namespace {

constexpr auto kConnectWithin = std::chrono::seconds(10);
constexpr std::chrono::milliseconds kLauncherMayLinger(4000);
constexpr std::chrono::milliseconds kMayLingerShortly(2000);  // where it is to end at once
/// For what mpirun does first.
constexpr std::chrono::milliseconds kEndsAfter(50);

/// A child that runs `words`, with the given standard descriptors and one more variable.
pid_t spawn(const std::vector<std::string>& words, const std::string& directory,
            const int (&descriptors)[3], const std::string& session) {
  std::vector<char*> arguments;
  arguments.reserve(words.size() + 1);
  for (const std::string& word : words) {
    arguments.push_back(const_cast<char*>(word.c_str()));
  }
  arguments.push_back(nullptr);
  const pid_t pid = fork();
  if (pid != 0) {
    return pid;
  }
  // Copies first: a descriptor may be one of those that are replaced.
  int copies[3];
  for (int i = 0; i < 3; ++i) {
    copies[i] = fcntl(descriptors[i], F_DUPFD_CLOEXEC, 10);
  }
  for (int i = 0; i < 3; ++i) {
    dup2(copies[i], i);
  }
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGPIPE, SIG_DFL);
  std::signal(SIGXFSZ, SIG_DFL);
  setenv(protocol::kSessionVariable, session.c_str(), 1);
  if (!directory.empty() && chdir(directory.c_str()) != 0) {
    std::fprintf(stderr, "photofinish: cannot go to the recorded working directory %s\n",
                 directory.c_str());
    _exit(126);
  }
  execvp(arguments[0], arguments.data());
  std::fprintf(stderr, "photofinish: cannot run %s\n", arguments[0]);
  _exit(127);
}

/// A file in memory, at its beginning; invalid with errno on failure.
UniqueFd fileOf(const std::string& content) {
  UniqueFd fd(memfd_create("photofinish-input", MFD_CLOEXEC));
  std::size_t done = 0;
  while (fd.valid() && done < content.size()) {
    const ssize_t n = write(fd.get(), content.data() + done, content.size() - done);
    if (n <= 0) {
      return {};
    }
    done += static_cast<std::size_t>(n);
  }
  if (fd.valid()) {
    lseek(fd.get(), 0, SEEK_SET);
  }
  return fd;
}

void sleepMilliseconds(long n) {
  const timespec pause{n / 1000, n % 1000 * 1000000};
  nanosleep(&pause, nullptr);
}

}  // namespace

std::string programDirectory() {
  char path[4096];
  const ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
  const std::string text(path, n > 0 ? static_cast<std::size_t>(n) : 0);
  return text.substr(0, text.find_last_of('/'));
}

Result<std::string> dataDirectory(const std::string& name) {
  const std::string programs = programDirectory();
  const std::string installed = programs + "/" PF_DATA_FROM_PROGRAMS "/" + name;
  const std::string built = programs + "/../share/" + name;  // a link that CMake makes
  for (const std::string& directory : {installed, built}) {
    if (isDirectory(directory)) {
      return absolutePath(directory);
    }
  }
  return Error{ErrorCode::NotFound, "there is no " + absolutePath(installed),
               "Install Photofinish again."};
}

Result<std::unique_ptr<Job>> Job::start(JobOptions options) {
  std::unique_ptr<Job> job(new Job());
  job->m_replay = (options.session.mode & kReplay) != 0;
  if (job->m_replay && ownerOf(options.trace) != Owner::Own) {
    options.session.environment = withoutLoaders(std::move(options.session.environment));
  }
  auto session = protocol::SessionDirectory::create(options.session);
  if (!session) {
    return session.error();
  }
  job->m_session = std::move(*session);
  if (Status status = job->writeSchedules(options); !status) {
    return status.error();
  }
  if (Status status = job->startDaemon(options); !status) {
    return status.error();
  }
  if (Status status = job->startLauncher(options); !status) {
    return status.error();
  }
  return job;
}

/// Ranks may ask for theirs before MPI_Init: they are whole before any is there.
Status Job::writeSchedules(const JobOptions& options) const {
  for (std::size_t rank = 0; rank < options.schedules.size(); ++rank) {
    const std::string path = protocol::SessionDirectory::schedulePath(
        m_session->path(), static_cast<std::int32_t>(rank));
    if (Status written = writeNewFile(path, options.schedules[rank], "the schedule"); !written) {
      return written;
    }
  }
  return options.schedules.empty()
             ? Status()
             : writeNewFile(m_session->path() + "/" + kSchedulesMade, {}, "the schedule");
}

Status Job::startDaemon(const JobOptions& options) {
  int ready[2];
  if (pipe2(ready, 0) != 0) {
    return systemError("cannot make a pipe", errno);
  }
  fcntl(ready[0], F_SETFD, FD_CLOEXEC);
  std::vector<std::string> words = {programDirectory() + "/photofinish-daemon", "--session",
                                    m_session->path(), "--ready-fd", std::to_string(ready[1])};
  if (!options.trace.empty()) {
    words.insert(words.end(), {"--trace", options.trace});
  }
  if (options.force) {
    words.emplace_back("--force");
  }
  if (!options.deliveries.empty()) {
    words.insert(words.end(), {"--deliveries", options.deliveries});
  }
  const auto giveTime = [&words](const char* name, std::chrono::milliseconds time) {
    if (time.count() > 0) {
      words.insert(words.end(), {name, std::to_string(time.count())});
    }
  };
  if (!options.session.running.empty()) {
    std::string running;
    for (const std::int32_t rank : options.session.running) {
      running += (running.empty() ? "" : ",") + std::to_string(rank);
    }
    words.insert(words.end(), {"--running", running});
  }
  giveTime("--stall-after", options.stallAfter);
  giveTime("--stall-limit", options.stallLimit);
  if ((options.session.mode & kBoundedBuffers) != 0) {
    words.emplace_back("--bounded-buffers");
  }
  if ((options.session.mode & kBranch) != 0) {
    words.emplace_back("--branch");
  }
  const UniqueFd null(open("/dev/null", O_RDWR | O_CLOEXEC));
  m_daemon = null.valid() ? spawn(words, {}, {null.get(), null.get(), 2}, m_session->path()) : -1;
  close(ready[1]);
  UniqueFd readEnd(ready[0]);
  if (m_daemon < 0) {
    return systemError("cannot start the control daemon", errno);
  }
  pollfd waiting{readEnd.get(), POLLIN, 0};
  char byte = 0;
  if (poll(&waiting, 1, 10000) <= 0 || read(readEnd.get(), &byte, 1) != 1) {
    return Error{ErrorCode::Peer, "the control daemon did not start",
                 "Its own message is above; try again, or report it."};
  }
  auto connection =
      protocol::ClientConnection::connect(*m_session, protocol::PeerRole::Client, kConnectWithin);
  if (!connection) {
    return connection.error();
  }
  m_connection.emplace(std::move(*connection));
  return {};
}

Status Job::startLauncher(const JobOptions& options) {
  // The session is named to the agent: a launcher may pass on no variable (srun --export=NONE).
  const auto words = options.command.withAgent(
      {programDirectory() + "/photofinish-agent", "--session", m_session->path()},
      options.launcherOptions);
  UniqueFd given;
  if (options.givenInput) {
    given = fileOf(*options.givenInput);
    if (!given.valid()) {
      return systemError("cannot keep the recorded input in memory", errno);
    }
  }
  m_launcher = spawn(words, options.workingDirectory,
                     {given.valid() ? given.get() : options.input, options.output, options.error},
                     m_session->path());
  if (m_launcher < 0) {
    return systemError("cannot start " + words.front(), errno);
  }
  m_endsAtOnce = options.endsAtOnce;
  m_mayLockUp = std::filesystem::path(words.front()).filename() != "srun";
  m_launcherFd.reset(static_cast<int>(syscall(SYS_pidfd_open, m_launcher, 0)));
  return {};
}

Status Job::send(const protocol::Message& message) {
  if (!m_connection) {
    return Error{ErrorCode::Peer, "the control daemon is gone", "Start the replay again."};
  }
  return m_connection->send(message);
}

Job::Heard Job::listen(const std::function<bool(const protocol::Message&)>& tell) {
  bool heard = false;
  while (m_connection) {
    auto message = m_connection->receive();
    if (!message) {
      m_connection.reset();
      return Heard::DaemonGone;
    }
    if (!message->has_value()) {
      break;
    }
    heard = heard || !std::holds_alternative<protocol::Pong>(**message);
    note(**message);
    if (!tell(**message)) {
      return Heard::Something;
    }
  }
  return heard ? Heard::Something : Heard::Nothing;
}

void Job::note(const protocol::Message& message) {
  if (const auto* exited = std::get_if<protocol::RankExited>(&message); exited != nullptr) {
    const bool bySignal = exited->signal > 0;
    const bool bad = bySignal || exited->exitStatus > 0;
    // SIGTERM and SIGKILL are how the launcher ends the others.
    if (bad && !m_firstBadEnd && exited->signal != SIGTERM && exited->signal != SIGKILL) {
      m_firstBadEnd = bySignal ? 128 + exited->signal : exited->exitStatus;
    }
  } else if (const auto* pong = std::get_if<protocol::Pong>(&message); pong != nullptr) {
    m_answered = pong->number;
  } else if (const auto* state = std::get_if<protocol::SessionState>(&message); state != nullptr) {
    m_agentsSeen = m_agentsSeen || state->agents > 0;
    if (m_agentsSeen && state->agents == 0 && !m_agentsGone) {
      m_agentsGone = std::chrono::steady_clock::now();
    } else if (state->agents > 0) {
      m_agentsGone.reset();
    }
  }
}

std::optional<int> Job::launcherStatus() {
  if (m_status || m_launcher <= 0) {
    return m_status;
  }
  endItsSleep();
  int status = 0;
  if (waitpid(m_launcher, &status, WNOHANG) == m_launcher) {
    const int signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    // Asked to end, that of Open MPI 5.0.7 now and then crashes, too (PMIx_server_finalize).
    const bool crashed = signal != 0 && !(m_asked && (signal == SIGTERM || signal == SIGKILL));
    m_status = signal != 0 ? 128 + signal : WEXITSTATUS(status);
    if (m_launcherKilled || (crashed && m_agentsGone)) {
      // Nobody has seen an end of its own of a job that we have ended.
      m_status = m_firstBadEnd.value_or(m_asked ? 128 + SIGTERM : 0);
    }
  } else if (m_agentsGone && !m_launcherKilled && m_mayLockUp &&
             std::chrono::steady_clock::now() - *m_agentsGone >
                 (m_endsAtOnce ? kMayLingerShortly : kLauncherMayLinger)) {
    m_launcherKilled = true;
    kill(m_launcher, SIGKILL);
  }
  return m_status;
}

/// mpirun lets the ranks of a job that it ends go on, sleeps for a second, and only then ends them. A signal ends the
/// sleep; this one it gets for each rank that ends, and then looks whether one has. Of a job that a failing rank ends, the
/// second shows what the others would do next: as long as there are others. It sleeps twice.
void Job::endItsSleep() {
  if (m_agentsGone && m_mayLockUp && !m_sleepsSince) {
    m_sleepsSince = std::chrono::steady_clock::now();
  }
  if (m_sleepsSince && std::chrono::steady_clock::now() - *m_sleepsSince >= kEndsAfter) {
    kill(m_launcher, SIGCHLD);
    m_sleepsSince.reset();
  }
}

void Job::endLauncher() {
  if (m_launcher > 0 && !launcherStatus()) {
    kill(m_launcher, m_asked ? SIGKILL : SIGTERM);
    if (m_endsAtOnce && !m_asked) {
      m_sleepsSince = std::chrono::steady_clock::now();
    }
    m_asked = true;
  }
}

Job::~Job() {
  if (m_replay && m_launcher > 0 && !launcherStatus()) {
    if (m_connection) {
      (void)m_connection->send(protocol::Kill{});
    }
    for (int i = 0; i < 300 && !launcherStatus(); ++i) {
      if (i == 100 || i == 200) {
        endLauncher();
      }
      sleepMilliseconds(10);
    }
    m_asked = true;
    endLauncher();
    for (int i = 0; i < 100 && !launcherStatus(); ++i) {
      sleepMilliseconds(10);
    }
  }
  if (m_connection) {
    (void)m_connection->send(protocol::Shutdown{});
    (void)m_connection->flush();
  }
  m_connection.reset();
  for (int i = 0; m_daemon > 0 && i < 300; ++i) {
    if (waitpid(m_daemon, nullptr, WNOHANG) != 0) {
      return;
    }
    if (i == 200) {
      kill(m_daemon, SIGKILL);
    }
    sleepMilliseconds(10);
  }
}

}  // namespace pf::app
