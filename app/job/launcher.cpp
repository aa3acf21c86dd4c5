// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/job/launcher.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <set>
#include <span>
#include <string_view>

#include "app/files/paths.h"
#include "app/job/srun_options.h"

namespace pf::app {
namespace {

/// Options of Open MPI's and MPICH's launchers that take a value, by name without dashes; and those that take two.
constexpr auto kWithValue = std::to_array<std::string_view>({"n",
                                                             "np",
                                                             "c",
                                                             "N",
                                                             "npernode",
                                                             "npersocket",
                                                             "H",
                                                             "host",
                                                             "hosts",
                                                             "hostfile",
                                                             "machinefile",
                                                             "default-hostfile",
                                                             "f",
                                                             "x",
                                                             "wd",
                                                             "wdir",
                                                             "path",
                                                             "prefix",
                                                             "map-by",
                                                             "bind-to",
                                                             "rank-by",
                                                             "am",
                                                             "app",
                                                             "tune",
                                                             "output-filename",
                                                             "output",
                                                             "stdin",
                                                             "tmpdir",
                                                             "personality",
                                                             "ppr",
                                                             "cpu-list",
                                                             "cpu-set",
                                                             "slot-list",
                                                             "rankfile",
                                                             "rf",
                                                             "timeout",
                                                             "max-restarts",
                                                             "preload-files",
                                                             "s",
                                                             "dvm",
                                                             "launch-agent",
                                                             "envlist",
                                                             "genvlist",
                                                             "ppn",
                                                             "iface",
                                                             "bootstrap",
                                                             "launcher",
                                                             "launcher-exec",
                                                             "bootstrap-exec",
                                                             "localhost",
                                                             "membind",
                                                             "topolib",
                                                             "usize",
                                                             "nameserver",
                                                             "demux",
                                                             "port-range",
                                                             "prepend-pattern",
                                                             "rmk",
                                                             "configfile",
                                                             "errfile-pattern",
                                                             "outfile-pattern",
                                                             "with-ft",
                                                             "runtime-options",
                                                             "stream-buffering",
                                                             "memory-alloc-kinds",
                                                             "report-uri",
                                                             "spawn-timeout",
                                                             "forward-signals",
                                                             "dvm-uri",
                                                             "namespace",
                                                             "display"});
constexpr auto kWithTwoValues =
    std::to_array<std::string_view>({"mca", "gmca", "omca", "prtemca", "pmixmca", "env", "genv"});

/// Words behind an option.
std::size_t valuesOfMpirun(std::string_view name) {
  const auto among = [name](const auto& options) {
    return std::ranges::find(options, name) != options.end();
  };
  return among(kWithValue) ? 1 : among(kWithTwoValues) ? 2 : 0;
}

bool isMpirun(const std::string& name) {
  for (const char* known :
       {"mpirun", "mpiexec", "orterun", "prterun", "prun", "oshrun", "shmemrun"}) {
    if (name == known || name.rfind(std::string(known) + ".", 0) == 0) {
      return true;
    }
  }
  return false;
}

bool isExecutable(const std::string& path) {
  struct stat info {};
  return stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode) && access(path.c_str(), X_OK) == 0;
}

/// Number of words that the option at `i` takes, itself included.
std::size_t optionWords(const std::vector<std::string>& words, std::size_t i, bool srun) {
  if (srun) {
    return srunOptionWords(words, i);
  }
  const std::string& word = words[i];
  const std::string name = word.substr(word.find_first_not_of('-'));
  if (name.find('=') != std::string::npos) {
    return 1;
  }
  return 1 + valuesOfMpirun(name);
}

Error programNotFound(const std::string& program) {
  return Error{ErrorCode::NotFound, "program '" + program + "' not found or not executable",
               program.find('/') == std::string::npos
                   ? "It is not in PATH: give its path, for example ./" + program + "."
                   : "Check the path, and that the file has execute permission."};
}

}  // namespace

std::string findInPath(const std::string& name) {
  if (name.find('/') != std::string::npos) {
    return isExecutable(name) ? name : std::string();
  }
  const char* path = std::getenv("PATH");
  std::string rest = path != nullptr ? path : "/usr/local/bin:/usr/bin:/bin";
  while (!rest.empty()) {
    const std::size_t colon = rest.find(':');
    const std::string directory = rest.substr(0, colon);
    rest = colon == std::string::npos ? std::string() : rest.substr(colon + 1);
    const std::string candidate = (directory.empty() ? "." : directory) + "/" + name;
    if (isExecutable(candidate)) {
      return candidate;
    }
  }
  return {};
}

Result<LaunchCommand> parseLaunch(const std::vector<std::string>& words) {
  if (words.empty()) {
    return Error{ErrorCode::Usage, "no program given",
                 "For example: photofinish record mpirun -n 4 ./app"};
  }
  LaunchCommand command;
  command.words = words;
  const std::string name = fileName(words.front());
  const bool srun = name == "srun";
  if (!srun && !isMpirun(name)) {
    if (findInPath(words.front()).empty()) {
      return programNotFound(words.front());
    }
    command.programs.push_back(0);
    return command;
  }
  command.launcher = findInPath(words.front());
  if (command.launcher.empty()) {
    return Error{ErrorCode::NotFound, "launcher '" + words.front() + "' not found",
                 srun ? "Install Slurm's client, or give the path of srun."
                      : "Install Open MPI (apt-get install openmpi-bin) or MPICH (mpich), or give "
                        "the path of mpirun."};
  }
  bool expectProgram = true;
  for (std::size_t i = 1; i < words.size();) {
    if (!expectProgram) {
      expectProgram = words[i] == ":";
      ++i;
    } else if (words[i].size() > 1 && words[i][0] == '-' &&
               words[i].find_first_not_of('-') != std::string::npos) {
      if (Status taken = srun ? srunOptionTaken(words[i]) : Status(); !taken) {
        return taken.error();
      }
      i += optionWords(words, i, srun);
    } else {
      command.programs.push_back(words[i] == "--" && i + 1 < words.size() ? i + 1 : i);
      i = command.programs.back() + 1;
      expectProgram = false;
    }
  }
  if (command.programs.empty()) {
    return Error{ErrorCode::Usage, "no program behind '" + words.front() + "'",
                 "For example: photofinish record mpirun -n 4 ./app"};
  }
  for (const std::size_t program : command.programs) {
    if (findInPath(words[program]).empty()) {
      return programNotFound(words[program]);
    }
  }
  return command;
}

std::vector<std::string> LaunchCommand::withAgent(const std::vector<std::string>& agent,
                                                  const std::vector<std::string>& extra) const {
  std::vector<std::string> out;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (std::find(programs.begin(), programs.end(), i) != programs.end()) {
      out.insert(out.end(), agent.begin(), agent.end());
      out.emplace_back("--");
    }
    out.push_back(words[i]);
    if (i == 0 && !launcher.empty()) {
      out.insert(out.end(), extra.begin(), extra.end());
    }
  }
  return out;
}

namespace {

/// What runs a script, or another program, that its arguments name.
bool runsAnother(const std::string& name) {
  static const std::set<std::string> kOthers = {"perl", "ruby", "Rscript", "julia",
                                                "sh",   "bash", "env"};
  return name.starts_with("python") || kOthers.count(name) != 0;
}

}  // namespace

std::string LaunchCommand::title() const {
  const std::string name = fileName(program());
  if (!runsAnother(name)) {
    return name;
  }
  for (std::size_t i = programs.front() + 1; i < words.size() && words[i] != ":"; ++i) {
    const std::string& word = words[i];
    if (word == "-c" || word.empty()) {
      break;  // the script itself
    }
    if (word == "-m" && i + 1 < words.size() && words[i + 1] != "mpi4py") {
      return words[i + 1];
    }
    if (word == "-m" || word == "-W" || word == "-X") {
      ++i;  // mpi4py as a module runs a script, too
    } else if (word.front() != '-' && (name != "env" || word.find('=') == std::string::npos)) {
      const std::string script = fileName(word);
      const std::size_t dot = script.rfind('.');
      return dot == 0 ? script : script.substr(0, dot);
    }
  }
  return name;
}

std::vector<std::string> wordsOfProgram(const LaunchCommand& command, std::size_t which) {
  const auto begin = command.words.begin() + static_cast<std::ptrdiff_t>(command.programs[which]);
  return {begin, which + 1 < command.programs.size() ? std::find(begin, command.words.end(), ":")
                                                     : command.words.end()};
}

LaunchCommand alone(const LaunchCommand& command, std::size_t which) {
  LaunchCommand out;
  out.words = wordsOfProgram(command, which);
  out.programs.push_back(0);
  return out;
}

namespace {

/// Options that say what a program gets, not where it runs; and what all get, wherever they stand.
constexpr auto kForTheProgram =
    std::to_array<std::string_view>({"mca", "omca", "pmixmca", "prtemca", "x", "env", "envlist"});
constexpr auto kForAllPrograms = std::to_array<std::string_view>({"gmca", "genv", "genvlist"});

/// Those of a part's options that are `wanted`, to `out`.
void addOptions(const std::vector<std::string>& options, std::span<const std::string_view> wanted,
                std::vector<std::string>& out) {
  for (std::size_t i = 0; i < options.size() && options[i] != "--";) {
    const std::size_t words = optionWords(options, i, false);
    const std::string name =
        options[i].substr(std::min(options[i].find_first_not_of('-'), options[i].size()));
    const std::size_t next = std::min(i + std::max<std::size_t>(words, 1), options.size());
    if (std::ranges::find(wanted, name) != wanted.end()) {
      out.insert(out.end(), options.begin() + static_cast<std::ptrdiff_t>(i),
                 options.begin() + static_cast<std::ptrdiff_t>(next));
    }
    i = next;
  }
}

}  // namespace

std::vector<std::string> optionsOfProgram(const LaunchCommand& command, std::size_t which) {
  const std::size_t program = command.programs[which];
  // Behind the launcher, or the ":" of the part before.
  const std::size_t from =
      which == 0 ? std::min<std::size_t>(1, program)
                 : command.programs[which - 1] + wordsOfProgram(command, which - 1).size() + 1;
  return {command.words.begin() + static_cast<std::ptrdiff_t>(from),
          command.words.begin() + static_cast<std::ptrdiff_t>(program)};
}

LaunchCommand ofSo(const LaunchCommand& command, const std::vector<SoMany>& parts) {
  if (command.launcher.empty()) {
    return command;
  }
  const bool srun = fileName(command.words.front()) == "srun";
  LaunchCommand out;
  out.launcher = command.launcher;
  out.words = {command.words.front()};
  for (std::size_t i = 0; !srun && i < command.programs.size(); ++i) {
    addOptions(optionsOfProgram(command, i), kForAllPrograms, out.words);
  }
  for (const SoMany& part : parts) {
    if (!out.programs.empty()) {
      out.words.emplace_back(":");
    }
    out.words.insert(out.words.end(), {"-n", std::to_string(part.processes)});
    if (!srun) {
      addOptions(optionsOfProgram(command, part.which), kForTheProgram, out.words);
    }
    out.programs.push_back(out.words.size());
    const std::vector<std::string> words = wordsOfProgram(command, part.which);
    out.words.insert(out.words.end(), words.begin(), words.end());
  }
  return out;
}

}  // namespace pf::app
