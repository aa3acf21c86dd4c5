// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/tutorial/lesson_tools.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string_view>

#include "app/job/launcher.h"

namespace pf::app {
namespace {

struct Tool {
  const char* language;  ///< that needs it; empty: each
  const char* program;
  std::array<const char*, 2>
      tried;             ///< words behind it that succeed where it runs; null: nothing is tried
  const char* missing;   ///< what is said where that does not
  const char* packages;  ///< of Debian
};

constexpr std::array kTools{
    Tool{"", "mpirun", {}, "mpirun does not run", "openmpi-bin"},
    Tool{"", "gdb", {}, "gdb does not run", "gdb"},
    Tool{"C", "mpicc", {"--version"}, "mpicc finds no C compiler", "libopenmpi-dev gcc"},
    Tool{"C++", "mpicxx", {"--version"}, "mpicxx finds no C++ compiler", "libopenmpi-dev g++"},
    Tool{"Fortran",
         "mpifort",
         {"--version"},
         "mpifort finds no Fortran compiler",
         "libopenmpi-dev gfortran"},
    Tool{"Python",
         "python3",
         {"-c", "import mpi4py.MPI"},
         "python3 has no mpi4py",
         "python3-mpi4py"},
};

/// Whether it exits with status 0. It has no input, and what it says is not shown.
bool runs(const std::string& program, const std::array<const char*, 2>& words) {
  std::array<char*, 4> arguments{const_cast<char*>(program.c_str()), const_cast<char*>(words[0]),
                                 const_cast<char*>(words[1]),
                                 nullptr};  // NOLINT: POSIX takes them so
  posix_spawn_file_actions_t quiet;
  posix_spawn_file_actions_init(&quiet);
  posix_spawn_file_actions_addopen(&quiet, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&quiet, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addopen(&quiet, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  pid_t child = 0;
  const int error =
      posix_spawn(&child, program.c_str(), &quiet, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&quiet);
  if (error != 0) {
    return false;
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

Status has(const Tool& tool) {
  const std::string found = findInPath(tool.program);
  std::string advice = std::string("Debian: apt-get install ") + tool.packages;
  if (found.empty()) {
    return Error{ErrorCode::NotFound, std::string(tool.program) + " is not there", advice};
  }
  if (tool.tried[0] == nullptr || runs(found, tool.tried)) {
    return {};
  }
  if (std::string_view(tool.language) == "Python" && found != "/usr/bin/python3") {
    advice += ", and take its python3: PATH=/usr/bin:$PATH; or: python3 -m pip install mpi4py";
  }
  return Error{ErrorCode::NotFound, std::string(tool.missing) + " (" + found + ")", advice};
}

}  // namespace

Status hasTools(const Lesson& lesson) {
  bool known = false;
  for (const Tool& tool : kTools) {
    const bool all = tool.language[0] == '\0';
    if (!all && tool.language != lesson.language) {
      continue;
    }
    known = known || !all;
    if (Status status = has(tool); !status) {
      return status;
    }
  }
  return known ? Status()
               : Error{ErrorCode::Damaged,
                       "lesson " + std::to_string(lesson.number) +
                           " is in an unknown language: " + lesson.language,
                       "Install Photofinish again."};
}

}  // namespace pf::app
