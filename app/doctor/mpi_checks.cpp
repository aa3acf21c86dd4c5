// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/doctor/mpi_checks.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

#include "app/job/launcher.h"
#include "replay_engine/agent/child_output.h"
#include "replay_engine/agent/elf_file.h"
#include "replay_engine/agent/loaded_libraries.h"
#include "replay_engine/agent/mpi_library.h"

namespace pf::app {
namespace {

namespace fs = std::filesystem;

constexpr std::array kLaunchers{
    "mpirun",       "mpiexec",       "mpirun.openmpi", "mpiexec.openmpi",
    "mpirun.mpich", "mpiexec.mpich", "mpiexec.hydra",  "prterun",
    "prun",         "srun"};

std::string real(const std::string& path) {
  std::error_code error;
  const fs::path found = fs::canonical(path, error);
  return error ? path : found.string();
}

/// Adds what is new.
void add(std::vector<std::string>& all, const std::string& one) {
  if (!one.empty() && std::find(all.begin(), all.end(), one) == all.end()) {
    all.push_back(one);
  }
}

std::vector<std::string> filesOfMpi(const std::vector<std::string>& directories) {
  std::vector<std::string> found;
  for (const std::string& directory : directories) {
    std::error_code error;
    for (fs::directory_iterator at(directory, error), end; !error && at != end;
         at.increment(error)) {
      const std::string name = at->path().filename().string();
      if (name.starts_with("libmpi") && name.find(".so") != name.npos) {
        const std::string path = real(at->path().string());
        if (std::find(found.begin(), found.end(), path) == found.end() &&
            agent::definesFunction(path, "PMPI_Init")) {
          found.push_back(path);
        }
      }
    }
  }
  std::sort(found.begin(), found.end());
  return found;
}

/// "Open MPI", "MPICH" or "": by what a launcher says.
std::string_view familyOf(std::string_view said) {
  const auto has = [&](std::string_view text) { return said.find(text) != said.npos; };
  return has("Open MPI") || has("OpenRTE") || has("PRRTE") || has("PRTE") ? "Open MPI"
         : has("HYDRA")                                                   ? "MPICH"
         : has("slurm")                                                   ? "Slurm"
                                                                          : "";
}

bool launches(const Check& launcher, MpiKind kind) {
  const std::string_view family = familyOf(launcher.version);
  return launcher.state == CheckState::Works &&
         (family == "Slurm" || family == (kind == MpiKind::Mpich ? "MPICH" : "Open MPI"));
}

/// Of a library with the standard's binary interface.
Check standardCheck(Check check, const agent::Recorder& recorder) {
  const MpiVersion abi = abiVersionOf(check.version);
  if (check.version.empty()) {
    check.found = "does not say what it is when it is loaded: no recorder";
    check.remedy = "Does ldd find all that it needs?";
  } else if (abi.kind != MpiKind::Standard) {
    check.found = "has " + std::string(agent::kEarlyAbi) + ": no recorder";
    check.remedy = agent::kRemedyOfEarlyAbi;
  } else if (abi.major != recorder.version().major) {
    check.found = "has another version of the MPI standard's binary interface than its recorder (" +
                  recorder.builtFor + ")";
    check.remedy = "Use a library with " + recorder.builtFor + ".";
  } else {
    check.state = CheckState::Works;
    check.found = "has the binary interface of the MPI standard, and its recorder (" +
                  recorder.builtFor + ")";
  }
  return check;
}

Check together(const Checks& checks) {
  for (const Check& library : checks) {
    if (library.name != "mpi-library" || library.state != CheckState::Works) {
      continue;
    }
    const MpiKind kind = mpiVersionOf(library.version).kind;
    for (const Check& launcher : checks) {
      if (launcher.name == "launcher" && launches(launcher, kind)) {
        return {.name = "mpi",
                .state = CheckState::Works,
                .needed = true,
                .found = "programs of " + library.version + " are recorded under " + launcher.path,
                .remedy = ""};
      }
    }
  }
  return {.name = "mpi",
          .state = CheckState::Missing,
          .needed = true,
          .found = "no MPI library, its recorder and its launcher go together",
          .remedy =
              "Install Open MPI (openmpi-bin) or MPICH (mpich), and build photofinish where "
              "that is; or set PATH and LD_LIBRARY_PATH to it (module load)."};
}

}  // namespace

Check recorderCheck(const agent::Recorder& recorder) {
  const bool known = recorder.version().kind == recorder.kind;
  Check check{.name = "recorder",
              .state = known ? CheckState::Works : CheckState::Missing,
              .found = "",
              .remedy = "",
              .path = recorder.file,
              .version = recorder.builtFor};
  if (known) {
    check.found = "for programs of " + recorder.builtFor;
  } else {
    const std::string name = agent::nameOf(recorder.kind);
    check.found = "none for programs of " + name;
    check.remedy =
        recorder.kind == MpiKind::Standard
            ? "Build or install photofinish again, if you use it: nothing else is needed."
            : "Install " +
                  std::string(recorder.kind == MpiKind::Mpich ? "libmpich-dev" : "libopenmpi-dev") +
                  " and build photofinish again, if you use " + name + ".";
  }
  return check;
}

Check libraryCheck(const std::string& path, const std::string& version,
                   const std::vector<agent::Recorder>& recorders) {
  Check check{.name = "mpi-library",
              .state = CheckState::Missing,
              .found = "",
              .remedy = "",
              .path = path,
              .version = version};
  const MpiVersion said = mpiVersionOf(version);
  const bool standard = hasStandardAbi(path) || abiVersionOf(version).kind == MpiKind::Standard;
  const auto ofStandard = std::find_if(
      recorders.begin(), recorders.end(),
      [](const agent::Recorder& recorder) { return recorder.version().kind == MpiKind::Standard; });
  if (standard && ofStandard != recorders.end()) {
    return standardCheck(std::move(check), *ofStandard);
  }
  if (standard || said.kind == MpiKind::Other) {
    check.found = standard          ? "has the binary interface of the MPI standard: no recorder"
                  : version.empty() ? "does not say what it is when it is loaded: no recorder"
                                    : "is not known: no recorder";
    check.remedy = "Build the program with Open MPI or MPICH.";
    return check;
  }
  for (const agent::Recorder& recorder : recorders) {
    const MpiVersion built = recorder.version();
    if (built.kind == said.kind && built.major == said.major) {
      check.state = CheckState::Works;
      check.found = "has its recorder (" + recorder.builtFor + ")";
      if (built.minor < said.minor) {
        check.state = CheckState::Limited;
        check.found = "is newer than its recorder (" + recorder.builtFor +
                      "): refused in MPI_Init if it is of a newer MPI standard";
        check.remedy = "Build photofinish again with this library's mpi.h.";
      }
      return check;
    }
  }
  check.found = "has no recorder of its major version";
  check.remedy = "Build photofinish with this library's mpi.h.";
  return check;
}

Check launcherCheck(const std::string& path, const std::string& said) {
  const std::string line = said.substr(0, said.find('\n'));
  const std::string_view family = familyOf(said);
  Check check{.name = "launcher",
              .state = CheckState::Works,
              .found = "",
              .remedy = "",
              .path = path,
              .version = line};
  if (family.empty()) {
    check.state = CheckState::Limited;
    check.found = said.empty() ? "does not answer --version" : "is not known";
    check.remedy = "Recording may work: try it with a small program.";
  } else {
    check.version = family == "MPICH" ? "HYDRA" : line;
    check.found = std::string(family) + "'s";
    if (family == "MPICH") {
      const std::size_t at = said.find("Version:");
      const std::size_t begin = at == said.npos ? at : said.find_first_not_of(" \t", at + 8);
      check.version +=
          begin == said.npos ? "" : " " + said.substr(begin, said.find('\n', begin) - begin);
    }
  }
  return check;
}

std::vector<std::string> libraryDirectories(const std::vector<std::string>& launchers) {
  std::vector<std::string> found;
  const char* const given = std::getenv("LD_LIBRARY_PATH");
  std::string_view rest = given != nullptr ? given : "";
  while (!rest.empty()) {
    add(found, std::string(rest.substr(0, rest.find(':'))));
    rest.remove_prefix(std::min(rest.size(), rest.substr(0, rest.find(':')).size() + 1));
  }
  std::vector<std::string> roots{"/usr", "/usr/local"};
  for (const std::string& launcher : launchers) {
    add(roots, fs::path(launcher).parent_path().parent_path().string());
    add(roots, fs::path(real(launcher)).parent_path().parent_path().string());
  }
  for (const std::string& root : roots) {
    for (const char* folder : {"/lib", "/lib64", "/lib/" PF_MULTIARCH}) {
      add(found, real(root + folder));
      add(found, real(root + folder + "/openmpi/lib"));
      add(found, real(root + folder + "/mpich/lib"));
    }
  }
  return found;
}

Checks mpiChecks(const std::string& programs) {
  const std::vector<agent::Recorder> recorders = agent::recordersIn(programs);
  Checks checks;
  for (const agent::Recorder& recorder : recorders) {
    checks.push_back(recorderCheck(recorder));
  }
  std::vector<std::string> launchers;
  for (const char* name : kLaunchers) {
    add(launchers, findInPath(name));
  }
  for (const std::string& path : filesOfMpi(libraryDirectories(launchers))) {
    checks.push_back(libraryCheck(path, agent::askedVersion(path), recorders));
  }
  std::vector<std::string> seen;
  for (const std::string& path : launchers) {
    const std::size_t before = seen.size();
    add(seen, real(path));
    if (seen.size() > before) {
      checks.push_back(launcherCheck(path, agent::outputOfProgram({path, "--version"})));
    }
  }
  checks.push_back(together(checks));
  return checks;
}

}  // namespace pf::app
