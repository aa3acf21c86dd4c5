// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/recording/recorded_logs.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <random>
#include <thread>

#include "app/collation/failure.h"
#include "app/collation/printed_text.h"
#include "app/files/paths.h"
#include "app/recording/follow_recording.h"
#include "app/recording/log_directory.h"
#include "app/recording/record.h"
#include "app/traces/own_traces.h"
#include "app/unrecorded_jobs/core_file.h"
#include "replay_engine/base/shown_text.h"

namespace pf::app {
namespace fs = std::filesystem;
namespace {

volatile std::sig_atomic_t g_launcher = 0;
/// As the launcher alone would have had it.
extern "C" void onPassedOn(int number) {
  if (g_launcher > 0) {
    ::kill(static_cast<pid_t>(g_launcher), number);
  }
}

volatile std::sig_atomic_t g_interrupted = 0;
extern "C" void onInterrupt(int /*signal*/) {
  g_interrupted = 1;
}

volatile std::sig_atomic_t g_ended = 0;
extern "C" void onEnd(int /*signal*/) {
  g_ended = 1;
}

/// The terminal's Ctrl-C goes to the launcher as well, which ends the ranks; we stay to make the
/// trace.
class StayForTheTrace {
 public:
  StayForTheTrace() {
    g_ended = 0;
    g_interrupted = 0;
    struct sigaction note {};
    note.sa_handler = onInterrupt;
    note.sa_flags = SA_RESTART;
    sigaction(SIGINT, &note, &m_interrupt);
    struct sigaction end {};
    end.sa_handler = onEnd;
    sigaction(SIGTERM, &end, &m_terminate);
    struct sigaction passOn {};
    passOn.sa_handler = onPassedOn;
    passOn.sa_flags = SA_RESTART;
    for (const int number : {SIGUSR1, SIGUSR2}) {
      struct sigaction& before = m_users[number == SIGUSR1 ? 0 : 1];
      sigaction(number, nullptr, &before);
      if (before.sa_handler == SIG_DFL) {  // who records for a replay has other uses of them
        sigaction(number, &passOn, nullptr);
      }
    }
  }
  ~StayForTheTrace() {
    sigaction(SIGUSR1, &m_users[0], nullptr);
    sigaction(SIGUSR2, &m_users[1], nullptr);
    g_launcher = 0;
    sigaction(SIGINT, &m_interrupt, nullptr);
    sigaction(SIGTERM, &m_terminate, nullptr);
  }
  StayForTheTrace(const StayForTheTrace&) = delete;
  StayForTheTrace& operator=(const StayForTheTrace&) = delete;

 private:
  struct sigaction m_interrupt {};
  struct sigaction m_terminate {};
  struct sigaction m_users[2] = {};
};

/// Notes where the kernel has put the core files of ranks that a signal has ended.
void noteCoreFiles(RunFacts& facts) {
  const auto setting = [](const char* name) {
    std::ifstream file(std::string("/proc/sys/kernel/") + name);
    std::string text;
    std::getline(file, text);
    return text;
  };
  const std::string pattern = setting("core_pattern");
  const bool usesPid = setting("core_uses_pid") == "1";
  for (auto& [rank, end] : facts.ends) {
    if (!end.signal || end.pid <= 0) {
      continue;
    }
    const std::string name =
        coreFileName(pattern, usesPid, end.pid, *end.signal, facts.program, facts.workingDirectory);
    if (name.starts_with('|')) {
      if (name.find("systemd-coredump") != std::string::npos && endedByItself(*end.signal)) {
        end.core = "with the system: coredumpctl dump " + std::to_string(end.pid);
      }
      continue;
    }
    if (const Result<CoreFile> core = readCoreFile(name); core && core->pid == end.pid) {
      end.core = core->path;
      std::fprintf(stderr,
                   "photofinish:   core file of rank %d: %s ('photofinish core %s' opens it)\n",
                   rank, core->path.c_str(), core->path.c_str());
    }
  }
}

/// How often it is looked, each 100 ms, whether ranks end that their launcher has left.
constexpr int kLooksForRanks = 150;

/// Of srun --pty.
bool wantsTerminal(const LaunchCommand& command) {
  const auto end = command.words.begin() + static_cast<std::ptrdiff_t>(command.programs.front());
  return fileName(command.launcher) == "srun" &&
         std::any_of(command.words.begin(), end, [](const std::string& word) {
           return word == "--pty" || word.starts_with("--pty=");
         });
}

}  // namespace

Status noRankRuns(const std::string& logs) {
  auto files = readLogFiles(logs);
  if (!files) {
    return files.error();
  }
  for (const auto& [rank, bytes] : *files) {
    const Result<RankLog> log = readLog(bytes);
    if (!log || log->complete || log->pid <= 0) {
      continue;
    }
    std::error_code gone;
    const fs::path program = fs::read_symlink("/proc/" + std::to_string(log->pid) + "/exe", gone);
    if (!gone && program == log->executable) {
      return Error{ErrorCode::System,
                   "the recording still goes on: rank " + std::to_string(rank) + " is process " +
                       std::to_string(log->pid),
                   "Wait until the program has ended, or end it; then try again."};
    }
  }
  return {};
}

std::uint64_t randomSalt() {
  std::random_device device;
  return std::uint64_t{device()} << 32 | device();
}

RecordedLogs::RecordedLogs(RunFacts facts, std::string trace, bool replace)
    : m_facts(std::move(facts)),
      m_trace(std::move(trace)),
      m_logs(absolutePath(logDirectoryOf(m_trace))),
      m_replace(replace) {}

Status RecordedLogs::begin() {
  Result<UniqueFd> lock = beginLogs(m_logs, m_facts);
  if (!lock) {
    return lock.error();
  }
  m_lock = std::move(*lock);
  if (Status noted = noteStart(m_facts, m_logs); !noted) {
    std::fprintf(
        stderr,
        "photofinish: %s: that this recording is yours cannot be kept, and its replays will "
        "ask for --trust\n",
        noted.error().message.c_str());
  }
  return {};
}

Status RecordedLogs::keepInput(const std::string& bytes) {
  std::ofstream file(m_logs + "/input", std::ios::binary);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  file.close();
  return file ? Status() : Status(systemError("cannot write " + m_logs + "/input", errno));
}

Result<int> RecordedLogs::run(JobOptions job, const RunSettings& settings) {
  // A program that runs without a launcher keeps its terminal.
  if (settings.ownInput && (!m_facts.launcher.empty() || isatty(STDIN_FILENO) == 0)) {
    Result<InputTee> tee = InputTee::start(m_logs + "/input", settings.input);
    if (!tee) {
      return tee.error();
    }
    m_input = std::move(*tee);
    job.input = m_input->launcherEnd();
  }
  if (settings.keepsOutput) {
    keepOutput(job);
  }
  const StayForTheTrace stay;
  Result<std::unique_ptr<Job>> running = Job::start(std::move(job));
  if (!running) {
    return running.error();
  }
  g_launcher = (*running)->launcher();
  if (m_input) {
    m_input->launched();
  }
  if (m_output) {
    m_output->launched();
  }
  const auto begun = std::chrono::steady_clock::now();
  const Patience patience{
      settings.endStuck, [this, &settings, begun] {
        const auto passed = std::chrono::steady_clock::now() - begun;
        m_timeWasUp =
            m_timeWasUp || (g_ended == 0 && settings.limit.count() > 0 && passed > settings.limit);
        return g_ended != 0 || m_timeWasUp;
      }};
  Result<int> status = followRecording(**running, m_facts, m_input ? &*m_input : nullptr, patience);
  if (m_output) {
    m_output->drain([] { return g_ended != 0; });
  }
  if (status) {
    m_facts.exitStatus = *status;
    m_daemonLost = (*running)->connection() == nullptr;
  }
  return status;
}

/// Without a launcher a program keeps what it may look at: terminals and files, and one place for both streams. srun --pty wants a
/// terminal. Nothing else of the recording needs what is printed.
void RecordedLogs::keepOutput(JobOptions& job) {
  const bool alone = job.command.launcher.empty();
  const bool terminal = wantsTerminal(job.command);
  const bool onePlace = alone && areOnePlace(job.output, job.error);
  const auto carried = [=](int stream) {
    struct stat info {};
    const bool plain = ::fstat(stream, &info) == 0 && S_ISREG(info.st_mode);
    const bool left =
        (alone && (plain || onePlace)) || ((alone || terminal) && isatty(stream) != 0);
    return left ? -1 : stream;
  };
  Result<OutputTee> tee =
      OutputTee::start(m_logs + "/" + kPrintedFile, carried(job.output), carried(job.error));
  if (!tee) {
    tell(tee.error().message + ": it will not be in the trace");
    return;
  }
  m_output = std::move(*tee);
  job.output = m_output->outputEnd() >= 0 ? m_output->outputEnd() : job.output;
  job.error = m_output->errorEnd() >= 0 ? m_output->errorEnd() : job.error;
}

bool RecordedLogs::interrupted() {
  return g_interrupted != 0 || g_ended != 0;
}

void RecordedLogs::end() {
  noteEnd(m_facts);
  endLogs(m_logs);
}

Result<std::optional<Collated>> RecordedLogs::makeTrace() {
  noteCoreFiles(m_facts);
  if (Status status = writeFacts(m_logs, m_facts); !status) {
    return status.error();
  }
  if (const Status over = awaitRanks(); !over) {
    tell(over.error().message + ", though its launcher has ended. The logs are kept in " + m_logs +
         ": when it has ended, 'photofinish info " + m_trace + "' makes the trace");
    return std::optional<Collated>();
  }
  Result<Collated> collated =
      collate(m_logs, m_facts, m_trace, m_replace ? db::Existing::Replace : db::Existing::Keep);
  if (!collated) {
    return sayWhyNot(collated.error());
  }
  noteTrace(m_facts, m_logs, m_trace, collated->contents);
  end();
  if (m_input && m_input->tooLong()) {
    std::fprintf(stderr,
                 "photofinish: the standard input was longer than 15 MiB and is not in the "
                 "trace: give it to each replay again\n");
  }
  return std::optional<Collated>(std::move(*collated));
}

/// Where the daemon was lost, only the logs say which ranks there are. An error: one still runs.
Status RecordedLogs::awaitRanks() const {
  Status over = m_daemonLost ? noRankRuns(m_logs) : Status();
  for (int i = 0; !over && over.error().code == ErrorCode::System && i < kLooksForRanks; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    over = noRankRuns(m_logs);
  }
  return !over && over.error().code == ErrorCode::System ? over : Status();
}

/// The program itself has run: its exit status counts, where that says that something was wrong.
Result<std::optional<Collated>> RecordedLogs::sayWhyNot(const Error& error) {
  Error why = error;
  if (error.code == ErrorCode::NotFound) {
    end();
    if (m_facts.exitStatus == 0) {
      return why;
    }
    why.advice = "The program ended with status " + std::to_string(*m_facts.exitStatus) +
                 " before that; what it said is above.";
  } else {
    (void)noteStart(m_facts, m_logs);  // as they are now, also where they are copied to
    why.advice +=
        (why.advice.empty() ? "" : " ") +
        ("The logs are kept in " + m_logs + "; 'photofinish info " + m_trace + "' tries again.");
  }
  tell(why.text());
  return std::optional<Collated>();
}

}  // namespace pf::app
