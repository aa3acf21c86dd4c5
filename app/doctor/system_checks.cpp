// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/doctor/system_checks.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>

#include "app/files/paths.h"
#include "replay_engine/agent/child_output.h"
#include "replay_engine/agent/cycle_counter.h"
#include "replay_engine/agent/watchpoints.h"
#include "replay_engine/base/unique_fd.h"
#include "replay_engine/protocol/session_directory.h"

namespace pf::app {
namespace {

constexpr std::uint64_t kMebi = 1U << 20U;
/// Open MPI 4.1 takes 4 MiB of it for each rank, MPICH 4.0 more.
constexpr std::uint64_t kEnoughShared = 256 * kMebi;
constexpr std::uint64_t kLittleShared = 16 * kMebi;
constexpr std::uint64_t kEnoughDisk = 1024 * kMebi;
constexpr std::uint64_t kLittleDisk = 64 * kMebi;
constexpr std::uint64_t kTried = 16 * kMebi;
constexpr double kSlow = 20.0;  ///< MiB a second

std::string mebi(std::uint64_t bytes) {
  return bytes < std::uint64_t{10} * 1024 * kMebi ? std::to_string(bytes / kMebi) + " MiB"
                                                  : std::to_string(bytes / kMebi / 1024) + " GiB";
}

std::string lineOf(const char* path) {
  std::ifstream file(path);
  std::string text;
  std::getline(file, text);
  return text;
}

/// Whether `work` returns true in a child.
template <typename Work>
bool inChild(Work work) {
  return agent::outputOfChild([&](int out) {
           if (work()) {
             static_cast<void>(::write(out, "1", 1) == 1);
           }
         }) == "1";
}

/// As GDB does it with a rank, which is another child of the same agent.
bool mayTrace() {
  return inChild([] {
    const pid_t traced = ::fork();
    if (traced == 0) {
      ::pause();
      ::_exit(0);
    }
    const bool may = traced > 0 && ::ptrace(PTRACE_SEIZE, traced, nullptr, nullptr) == 0;
    if (traced > 0) {
      ::kill(traced, SIGKILL);
      ::waitpid(traced, nullptr, 0);
    }
    return may;
  });
}

struct Written {
  std::uint64_t free = 0;
  std::uint64_t bytes = 0;  ///< 0: nothing can be written
  double seconds = 0;
};

Written tryDisk(const std::string& directory) {
  Written out;
  struct statvfs about {};
  if (::statvfs(directory.c_str(), &about) == 0) {
    out.free = std::uint64_t{about.f_bavail} * about.f_frsize;
  }
  std::string path = directory + "/.photofinish-doctor-XXXXXX";
  const UniqueFd file(::mkostemp(path.data(), O_CLOEXEC));
  if (!file.valid()) {
    return out;
  }
  ::unlink(path.c_str());
  const std::string piece(kMebi, 'x');
  const auto begin = std::chrono::steady_clock::now();
  while (out.bytes < kTried && out.bytes + kLittleDisk / 2 < out.free &&
         ::write(file.get(), piece.data(), piece.size()) == static_cast<ssize_t>(piece.size())) {
    out.bytes += piece.size();
  }
  ::fdatasync(file.get());
  out.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return out;
}

}  // namespace

Check ptraceCheck(bool traced, const std::string& scope, bool root) {
  Check check{.name = "ptrace",
              .state = CheckState::Works,
              .needed = true,
              .found = "GDB may stop ranks",
              .remedy = ""};
  if (!traced) {
    check.state = CheckState::Missing;
    check.found = "the system does not let GDB stop ranks" +
                  (scope.empty() ? "" : " (kernel.yama.ptrace_scope is " + scope + ")");
    check.remedy =
        "In a container: start it with --cap-add=SYS_PTRACE (Docker, Podman). Else as root: "
        "sysctl kernel.yama.ptrace_scope=0.";
  } else if (!root && !scope.empty() && scope != "0") {
    check.state = CheckState::Limited;
    check.found =
        "GDB may stop ranks that are recorded or replayed, but not attach to a job that runs "
        "(kernel.yama.ptrace_scope is " +
        scope + ")";
    check.remedy = "For 'photofinish attach', as root: sysctl kernel.yama.ptrace_scope=0.";
  }
  return check;
}

Check coreCheck(const std::string& pattern, std::uint64_t limit) {
  Check check{.name = "core-files",
              .state = CheckState::Works,
              .found = "left as " + pattern,
              .remedy = ""};
  if (pattern.empty() || limit == 0) {
    check.state = CheckState::Limited;
    check.found = pattern.empty() ? "kernel.core_pattern is empty: a crash leaves none"
                                  : "limited to 0 bytes: a crash leaves none";
    check.remedy =
        pattern.empty() ? "As root: sysctl kernel.core_pattern=core." : "ulimit -c unlimited";
  } else if (pattern.front() == '|') {
    const bool systemd = pattern.find("systemd-coredump") != pattern.npos;
    check.state = systemd ? CheckState::Works : CheckState::Limited;
    check.found = "go to " + pattern.substr(1, pattern.find(' ') - 1);
    check.remedy =
        systemd ? ""
                : "For core files beside the program, as root: sysctl kernel.core_pattern=core.";
  }
  return check;
}

Check sharedMemoryCheck(std::uint64_t size, std::uint64_t free, bool writable) {
  Check check{.name = "shared-memory",
              .state = CheckState::Works,
              .needed = true,
              .found = "",
              .remedy = "",
              .path = "/dev/shm"};
  check.found = mebi(size) + ", " + mebi(free) + " free";
  check.remedy =
      "Make it larger: mount -o remount,size=1G /dev/shm; docker run --shm-size=1g; or remove "
      "what was left there.";
  if (size == 0 || !writable) {
    check.state = CheckState::Missing;
    check.found = size == 0 ? "is not there: MPI libraries need it between ranks of a host"
                            : "cannot be written to: MPI libraries need it between ranks of a host";
    check.remedy =
        "Mount a tmpfs there, for all users: mount -t tmpfs -o mode=1777 tmpfs /dev/shm.";
  } else if (free < kLittleShared) {
    check.state = CheckState::Missing;
    check.found += ": too little for the ranks of a job";
  } else if (free < kEnoughShared) {
    check.state = CheckState::Limited;
    check.found += ": enough for a few ranks";
  } else {
    check.remedy.clear();
  }
  return check;
}

Check diskCheck(const std::string& directory, std::uint64_t free, std::uint64_t bytes,
                double seconds) {
  Check check{.name = "disk",
              .state = CheckState::Works,
              .needed = true,
              .found = mebi(free) + " free",
              .remedy = "",
              .path = directory};
  const double rate =
      seconds > 0 ? static_cast<double>(bytes) / static_cast<double>(kMebi) / seconds : 0;
  if (bytes == 0 || free < kLittleDisk) {
    check.state = CheckState::Missing;
    check.found =
        bytes == 0 ? "nothing can be written here" : check.found + ": too little for a recording";
    check.remedy = "Work in a directory that you can write to, or give record another one by -o.";
    return check;
  }
  char text[64];
  std::snprintf(text, sizeof text, ", %.0f MiB/s to the disk itself", rate);
  check.found += text;
  if (free < kEnoughDisk || rate < kSlow) {
    check.state = CheckState::Limited;
    check.remedy = rate < kSlow
                       ? "Recordings of many ranks wait for it: record to a local disk (-o)."
                       : "A long recording needs more: record to another disk (-o).";
  }
  return check;
}

namespace {

/// What a machine may not have, and not all need.
Check featureCheck(const char* name, bool works, const char* found, const char* whyNot,
                   const char* remedy) {
  return {.name = name,
          .state = works ? CheckState::Works : CheckState::Limited,
          .needed = false,
          .found = works ? found : whyNot,
          .remedy = works ? "" : remedy,
          .path = "",
          .version = ""};
}

}  // namespace

Check watchpointCheck(bool work) {
  return featureCheck(
      "watchpoints", work, "a change of memory stops the process", agent::kNoWatchpoints,
      "Watches and 'back to the last change' need another machine; what a message filled, hits and "
      "going back by lines do not.");
}

Check cycleCounterCheck(bool traps) {
  return featureCheck("cycle-counter", traps, "rdtsc can be recorded and given back",
                      agent::kNoCycleTrap,
                      "record --rdtsc needs another machine; all else does not.");
}

Check sessionCheck() {
  Check check{.name = "session-directory",
              .state = CheckState::Works,
              .needed = true,
              .found = "",
              .remedy = ""};
  protocol::SessionConfig config;
  config.logDirectory = "/tmp";
  const Result<protocol::SessionDirectory> made = protocol::SessionDirectory::create(config);
  if (!made) {
    check.state = CheckState::Missing;
    check.found = made.error().message;
    check.remedy = made.error().advice;
    return check;
  }
  check.path = made->path().substr(0, made->path().rfind('/'));
  check.found = "can be made";
  return check;
}

Check namespaceCheck(bool works) {
  Check check{.name = "user-namespaces",
              .state = works ? CheckState::Works : CheckState::Limited,
              .found = "",
              .remedy = ""};
  check.found = works ? "can be made"
                      : "cannot be made: containers without root (Apptainer, Podman) do not start";
  check.remedy = works ? ""
                       : "As root: sysctl user.max_user_namespaces=15000, and "
                         "kernel.unprivileged_userns_clone=1 "
                         "where there is such.";
  return check;
}

Check displayCheck(bool window, const std::string& display) {
  Check check{.name = "display", .state = CheckState::Limited, .found = "", .remedy = ""};
  if (!window) {
    check.found = "the window (photofinish-gui) is not installed here";
    check.remedy = "Open traces on your own machine, or use the command line, scripts and reports.";
  } else if (display.empty()) {
    check.found = "there is none for the window";
    check.remedy = "Set DISPLAY (ssh -X), or use the command line, scripts and reports.";
  } else {
    check.state = CheckState::Works;
    check.found = display + " is there for the window";
  }
  return check;
}

Checks systemChecks(const std::string& programs) {
  rlimit core{};
  ::getrlimit(RLIMIT_CORE, &core);
  struct statvfs shared {};
  const bool there = ::statvfs("/dev/shm", &shared) == 0;
  const auto bytes = [&](fsblkcnt_t blocks) {
    return there ? std::uint64_t{blocks} * shared.f_frsize : 0;
  };
  std::string here = absolutePath(".");
  here.resize(here.size() - (here.size() > 1 && here.back() == '/' ? 1 : 0));
  const Written disk = tryDisk(here);
  const bool namespaces = inChild([] { return ::unshare(CLONE_NEWUSER) == 0; });
  const char* display = std::getenv("WAYLAND_DISPLAY");
  display = display != nullptr && *display != '\0' ? display : std::getenv("DISPLAY");
  return {ptraceCheck(mayTrace(), lineOf("/proc/sys/kernel/yama/ptrace_scope"), ::geteuid() == 0),
          sharedMemoryCheck(bytes(shared.f_blocks), bytes(shared.f_bavail),
                            ::access("/dev/shm", W_OK) == 0),
          sessionCheck(),
          watchpointCheck(agent::watchpointsWork()),
          cycleCounterCheck(agent::cycleCounterTraps()),
          diskCheck(here, disk.free, disk.bytes, disk.seconds),
          coreCheck(lineOf("/proc/sys/kernel/core_pattern"), core.rlim_cur),
          namespaceCheck(namespaces),
          displayCheck(isFile(programs + "/photofinish-gui"), display != nullptr ? display : "")};
}

}  // namespace pf::app
