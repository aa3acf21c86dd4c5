// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/unrecorded_jobs/running_job.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <set>

#include "app/unrecorded_jobs/core_file.h"
#include "app/unrecorded_jobs/listening_ports.h"
#include "replay_engine/base/text_stream.h"

namespace pf::app {
namespace {

namespace fs = std::filesystem;

struct Process {
  pid_t pid = 0;
  pid_t parent = 0;
  std::optional<Rank> rank;
  pid_t srun = 0;  ///< that has started it, if it is a task of Slurm
};
using Processes = std::map<pid_t, Process>;

std::string fileOf(pid_t pid, const char* name) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/" + name, std::ios::binary);
  TextStream text;
  text << file.rdbuf();
  return text.str();
}

pid_t parentOf(pid_t pid) {
  const std::string stat = fileOf(pid, "stat");
  const std::size_t behind = stat.rfind(')');  // the name may have blanks and brackets
  pid_t parent = 0;
  if (behind != std::string::npos && behind + 4 < stat.size()) {
    std::from_chars(stat.data() + behind + 4, stat.data() + stat.size(), parent);
  }
  return parent;
}

std::string commandOf(pid_t pid) {
  std::string words = fileOf(pid, "cmdline");
  std::replace(words.begin(), words.end(), '\0', ' ');
  while (!words.empty() && words.back() == ' ') {
    words.pop_back();
  }
  return words;
}

std::string nameOf(pid_t pid) {
  const std::string words = fileOf(pid, "cmdline");
  return fs::path(words.substr(0, words.find('\0'))).filename().string();
}

/// Where srun listens to its tasks, from their environment; 0 if they are none.
std::uint16_t srunPort(const std::string& environment) {
  static const std::string kName = std::string(1, '\0') + "SLURM_SRUN_COMM_PORT=";
  std::uint16_t port = 0;
  if (const std::size_t at = environment.find(kName); at != std::string::npos) {
    const char* digits = environment.data() + at + kName.size();
    std::from_chars(digits, environment.data() + environment.size(), port);
  }
  return port;
}

/// Slurm's tasks are children of slurmstepd, which is nobody's: their srun is found by its port.
void addSruns(Processes& all, const std::map<pid_t, std::uint16_t>& tasks) {
  std::vector<pid_t> sruns;
  for (const auto& [pid, process] : all) {
    if (!tasks.empty() && nameOf(pid) == "srun") {
      sruns.push_back(pid);
    }
  }
  const std::map<std::uint16_t, pid_t> listening = listeningPorts(sruns);
  for (const auto& [pid, port] : tasks) {
    if (const auto found = listening.find(port); found != listening.end()) {
      all[pid].srun = found->second;
    }
  }
}

Processes allProcesses() {
  Processes all;
  std::map<pid_t, std::uint16_t> tasks;
  std::error_code gone;
  for (fs::directory_iterator entry("/proc", gone), end; !gone && entry != end;
       entry.increment(gone)) {
    const std::string name = entry->path().filename().string();
    pid_t pid = 0;
    const auto [rest, error] = std::from_chars(name.data(), name.data() + name.size(), pid);
    if (error == std::errc() && rest == name.data() + name.size()) {
      const std::string environment = '\0' + fileOf(pid, "environ");
      all[pid] = {pid, parentOf(pid), rankInEnvironment(environment)};
      if (const std::uint16_t port = srunPort(environment); port != 0) {
        tasks[pid] = port;
      }
    }
  }
  addSruns(all, tasks);
  return all;
}

/// The parent of an srun's tasks on one host: its title is "slurmstepd: [JOB.STEP]".
bool isStepDaemon(pid_t pid) {
  return nameOf(pid).rfind("slurmstepd", 0) == 0;
}

/// Between the launcher and the ranks of one host: MPICH's, Slurm's.
bool isProxy(pid_t pid) {
  return nameOf(pid) == "hydra_pmi_proxy" || isStepDaemon(pid);
}

bool isLauncher(pid_t pid) {
  // Also as distributions that have several name them: mpiexec.mpich, mpirun.openmpi.
  static constexpr std::array<const char*, 6> kNames{"mpirun",  "mpiexec", "orterun",
                                                     "prterun", "srun",    "hydra_pmi_proxy"};
  const std::string full = nameOf(pid);
  const std::string name = full.substr(0, full.find('.'));
  return isStepDaemon(pid) || std::find(kNames.begin(), kNames.end(), name) != kNames.end();
}

/// The launcher that has started a process, which may be within the job of another one; 0 if there is none.
pid_t launcherOf(pid_t pid, const Processes& all) {
  const auto task = all.find(pid);
  const pid_t srun = task != all.end() ? task->second.srun : 0;
  pid_t proxy = 0;
  for (int generation = 0; generation < 64; ++generation) {
    const auto process = all.find(pid);
    if (process == all.end()) {
      break;
    }
    if (isLauncher(pid)) {
      if (!isProxy(pid)) {
        return pid;
      }
      proxy = isStepDaemon(pid) && srun != 0 ? srun : pid;
    }
    pid = process->second.parent;
  }
  return proxy;
}

bool usesMpi(pid_t pid) {
  return fileOf(pid, "maps").find("libmpi") != std::string::npos;
}

/// A rank's environment is its children's as well: the first process below the launcher that has the MPI library.
void addRank(std::map<Rank, RunningRank>& ranks, const Process& process) {
  if (ranks.count(*process.rank) != 0 || !usesMpi(process.pid)) {
    return;
  }
  std::error_code none;
  ranks[*process.rank] = {
      *process.rank, process.pid,
      fs::read_symlink("/proc/" + std::to_string(process.pid) + "/exe", none).string()};
}

RunningJob jobOf(pid_t launcher, const Processes& all) {
  std::map<Rank, RunningRank> ranks;
  for (const auto& [pid, process] : all) {  // by pid: parents come first, as a rule
    if (process.rank && pid != launcher && !isLauncher(pid) && launcherOf(pid, all) == launcher) {
      addRank(ranks, process);
    }
  }
  RunningJob job;
  job.launcher = launcher;
  job.command = commandOf(launcher);
  for (auto& [rank, found] : ranks) {
    job.ranks.push_back(std::move(found));
  }
  return job;
}

}  // namespace

Result<RunningJob> runningJob(pid_t pid) {
  const Processes all = allProcesses();
  const auto process = all.find(pid);
  if (process == all.end()) {
    return Error{ErrorCode::NotFound, "there is no process " + std::to_string(pid),
                 "'photofinish attach' lists the jobs that run here."};
  }
  if (::access(("/proc/" + std::to_string(pid) + "/environ").c_str(), R_OK) != 0) {
    return Error{ErrorCode::System, "process " + std::to_string(pid) + " is another user's",
                 "Only its user and root can attach to it."};
  }
  if (const pid_t launcher = launcherOf(pid, all); launcher != 0) {
    if (RunningJob job = jobOf(launcher, all); !job.ranks.empty()) {
      return job;
    }
  }
  if (process->second.rank || usesMpi(pid)) {
    std::error_code none;
    RunningJob job;
    job.command = commandOf(pid);
    job.ranks.push_back({process->second.rank.value_or(0), pid,
                         fs::read_symlink("/proc/" + std::to_string(pid) + "/exe", none).string()});
    return job;
  }
  return Error{
      ErrorCode::Usage,
      "process " + std::to_string(pid) + " (" + commandOf(pid).substr(0, 60) +
          ") is neither a launcher with ranks on this host nor a rank of an MPI job",
      "Give the process id of mpirun, or of one of its ranks; 'photofinish attach' lists them."};
}

std::vector<RunningJob> runningJobs() {
  const Processes all = allProcesses();
  std::set<pid_t> launchers;
  for (const auto& [pid, process] : all) {
    if (process.rank) {
      launchers.insert(launcherOf(pid, all));
    }
  }
  std::vector<RunningJob> jobs;
  for (const pid_t launcher : launchers) {
    if (launcher != 0) {
      if (RunningJob job = jobOf(launcher, all); !job.ranks.empty()) {
        jobs.push_back(std::move(job));
      }
    }
  }
  return jobs;
}

std::string whyNotTraceable(pid_t pid) {
  const std::string directory = "/proc/" + std::to_string(pid);
  struct stat about {};
  if (::stat(directory.c_str(), &about) != 0) {
    return "process " + std::to_string(pid) + " has ended";
  }
  const std::string status = fileOf(pid, "status");
  const std::size_t at = status.find("TracerPid:\t");
  if (at != std::string::npos && status[at + 11] != '0') {
    const std::size_t end = status.find('\n', at);
    return "process " + status.substr(at + 11, end - at - 11) +
           " debugs it already: a process has one debugger at a time";
  }
  if (::geteuid() == 0) {
    return {};
  }
  if (about.st_uid != ::geteuid()) {
    return "it is another user's process: only that user and root can attach to it";
  }
  std::ifstream yama("/proc/sys/kernel/yama/ptrace_scope");
  int scope = 0;
  if (yama >> scope && scope > 0) {
    return "the kernel lets only parents debug (ptrace_scope is " + std::to_string(scope) +
           "): as root, sysctl kernel.yama.ptrace_scope=0";
  }
  return {};
}

}  // namespace pf::app
