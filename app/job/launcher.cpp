// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/job/launcher.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>

#include "app/files/paths.h"
#include "app/job/srun_options.h"

namespace pf::app {
namespace {

/// Options of Open MPI's and MPICH's launchers that take values, by name without dashes.
const std::map<std::string, int>& mpirunValues() {
  static const std::map<std::string, int> values = {{"n", 1},
                                                    {"np", 1},
                                                    {"c", 1},
                                                    {"N", 1},
                                                    {"npernode", 1},
                                                    {"npersocket", 1},
                                                    {"H", 1},
                                                    {"host", 1},
                                                    {"hosts", 1},
                                                    {"hostfile", 1},
                                                    {"machinefile", 1},
                                                    {"default-hostfile", 1},
                                                    {"f", 1},
                                                    {"x", 1},
                                                    {"wd", 1},
                                                    {"wdir", 1},
                                                    {"path", 1},
                                                    {"prefix", 1},
                                                    {"map-by", 1},
                                                    {"bind-to", 1},
                                                    {"rank-by", 1},
                                                    {"mca", 2},
                                                    {"gmca", 2},
                                                    {"omca", 2},
                                                    {"prtemca", 2},
                                                    {"pmixmca", 2},
                                                    {"am", 1},
                                                    {"app", 1},
                                                    {"tune", 1},
                                                    {"output-filename", 1},
                                                    {"output", 1},
                                                    {"stdin", 1},
                                                    {"tmpdir", 1},
                                                    {"personality", 1},
                                                    {"ppr", 1},
                                                    {"cpu-list", 1},
                                                    {"cpu-set", 1},
                                                    {"slot-list", 1},
                                                    {"rankfile", 1},
                                                    {"rf", 1},
                                                    {"timeout", 1},
                                                    {"max-restarts", 1},
                                                    {"preload-files", 1},
                                                    {"s", 1},
                                                    {"dvm", 1},
                                                    {"launch-agent", 1},
                                                    {"env", 2},
                                                    {"genv", 2},
                                                    {"envlist", 1},
                                                    {"genvlist", 1},
                                                    {"ppn", 1},
                                                    {"iface", 1},
                                                    {"bootstrap", 1},
                                                    {"launcher", 1},
                                                    {"launcher-exec", 1},
                                                    {"bootstrap-exec", 1},
                                                    {"localhost", 1},
                                                    {"membind", 1},
                                                    {"topolib", 1},
                                                    {"usize", 1},
                                                    {"nameserver", 1},
                                                    {"demux", 1},
                                                    {"port-range", 1},
                                                    {"prepend-pattern", 1},
                                                    {"rmk", 1},
                                                    {"configfile", 1},
                                                    {"errfile-pattern", 1},
                                                    {"outfile-pattern", 1},
                                                    {"bind-to-core", 0},
                                                    {"with-ft", 1},
                                                    {"runtime-options", 1},
                                                    {"stream-buffering", 1},
                                                    {"memory-alloc-kinds", 1},
                                                    {"report-uri", 1},
                                                    {"spawn-timeout", 1},
                                                    {"forward-signals", 1},
                                                    {"dvm-uri", 1},
                                                    {"namespace", 1},
                                                    {"display", 1}};
  return values;
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
  const auto found = mpirunValues().find(name);
  return found == mpirunValues().end() ? 1 : 1 + static_cast<std::size_t>(found->second);
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

LaunchCommand alone(const LaunchCommand& command) {
  LaunchCommand out;
  out.words.assign(command.words.begin() + static_cast<std::ptrdiff_t>(command.programs.front()),
                   command.words.end());
  out.programs.push_back(0);
  return out;
}

LaunchCommand ofSo(const LaunchCommand& command, std::size_t processes) {
  if (command.launcher.empty()) {
    return command;
  }
  const bool srun = fileName(command.words.front()) == "srun";
  LaunchCommand out;
  out.launcher = command.launcher;
  out.words = {command.words.front(), "-n", std::to_string(processes)};
  for (std::size_t i = 1; !srun && i < command.programs.front();) {
    const std::size_t words = optionWords(command.words, i, false);
    const std::string name = command.words[i].substr(
        std::min(command.words[i].find_first_not_of('-'), command.words[i].size()));
    for (const char* kept :
         {"mca", "gmca", "omca", "pmixmca", "prtemca", "x", "env", "genv", "envlist", "genvlist"}) {
      if (name == kept) {
        for (std::size_t j = i; j < i + words && j < command.programs.front(); ++j) {
          out.words.push_back(command.words[j]);
        }
      }
    }
    i += std::max<std::size_t>(words, 1);
  }
  out.programs.push_back(out.words.size());
  out.words.insert(out.words.end(),
                   command.words.begin() + static_cast<std::ptrdiff_t>(command.programs.front()),
                   command.words.end());
  return out;
}

}  // namespace pf::app
