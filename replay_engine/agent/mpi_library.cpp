// SPDX-License-Identifier: GPL-3.0-or-later
#include "replay_engine/agent/mpi_library.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "replay_engine/agent/elf_file.h"

namespace pf::agent {
namespace {

namespace fs = std::filesystem;

std::string foundInPath(const std::string& name) {
  const char* const path = std::getenv("PATH");
  std::string_view rest = path != nullptr ? path : "/usr/local/bin:/usr/bin:/bin";
  while (name.find('/') == std::string::npos && !rest.empty()) {
    const std::string_view directory = rest.substr(0, rest.find(':'));
    rest.remove_prefix(std::min(rest.size(), directory.size() + 1));
    std::string candidate = std::string(directory.empty() ? "." : directory) + "/" + name;
    if (::access(candidate.c_str(), X_OK) == 0) {
      return candidate;
    }
  }
  return name;
}

std::string sameFile(const std::string& path) {
  std::error_code error;
  const fs::path real = fs::canonical(path, error);
  return error ? path : real.string();
}

/// By its name only: of a library that nobody finds.
bool mayBeMpi(std::string_view name) {
  return name.starts_with("libmpi.so") || name.starts_with("libmpich.so") || hasStandardAbi(name);
}

/// The version that a library says without being loaded; Open MPI and MPICH 4.0 do.
std::string writtenVersion(const std::string& path) {
  const std::string openMpi = textOfObject(path, "ompi_version_string");
  const std::string mpich = openMpi.empty() ? textOfObject(path, "MPII_Version_string") : "";
  return !openMpi.empty() ? "Open MPI v" + openMpi
         : !mpich.empty() ? "MPICH Version: " + mpich
                          : "";
}

Error refused(const std::string& message, const std::vector<Recorder>& recorders) {
  return {
      ErrorCode::Usage, message,
      "Photofinish records " + supportedText(recorders) + ": build the program with one of these."};
}

/// The kind of a library for which there may be a recorder.
Result<std::optional<MpiKind>> kindOf(const std::string& program, const ListedLibrary& library,
                                      const std::vector<Recorder>& recorders) {
  const std::string real = sameFile(library.path);
  bool standard = hasStandardAbi(library.name) || hasStandardAbi(real);
  MpiKind kind = standard ? MpiKind::Standard : mpiKindOfName(real);
  std::string said = standard || kind == MpiKind::Other ? "" : writtenVersion(real);
  if (standard || kind == MpiKind::Other) {  // who loads it may ask it
    said = askedVersion(library.path);
    standard = standard || abiVersionOf(said).kind == MpiKind::Standard;
    kind = standard ? MpiKind::Standard : mpiVersionOf(said).kind;
  }
  const MpiVersion version = standard ? abiVersionOf(said) : mpiVersionOf(said);
  const std::string what = library.name + " (" + (said.empty() ? real : said + ", " + real) + ")";
  const auto noRecorder = [&](const char* whatItIs) {
    return refused(
        "'" + program + "' is for " + what + ", " + whatItIs + ": there is no recorder for it",
        recorders);
  };
  if (!standard && (kind == MpiKind::Other || (!said.empty() && version.kind != kind))) {
    return noRecorder("an MPI library that is not known here");
  }
  const auto ours = std::find_if(recorders.begin(), recorders.end(),
                                 [&](const Recorder& one) { return one.kind == kind; });
  const bool there = ours != recorders.end() && ::access(ours->file.c_str(), F_OK) == 0;
  if (standard && !there) {
    return noRecorder("the binary interface of the MPI standard");
  }
  if (!there) {
    return Error{
        ErrorCode::NotFound,
        "'" + program + "' is run by " + nameOf(kind) + ", and photofinish was built without it",
        std::string("install ") + (kind == MpiKind::Mpich ? "libmpich-dev" : "libopenmpi-dev") +
            " and build photofinish again"};
  }
  if (standard && !said.empty() && version.kind != kind) {
    return Error{ErrorCode::Usage,
                 "'" + program + "' is for " + what + ": it has " + kEarlyAbi +
                     ", and the recorder here was built for " + ours->builtFor,
                 kRemedyOfEarlyAbi};
  }
  const MpiVersion built = ours->version();
  if (version.kind == kind && built.kind == kind && built.major != version.major) {
    return Error{ErrorCode::Usage,
                 "'" + program + "' is for " + what + ", and the recorder here was built for " +
                     ours->builtFor,
                 "Build photofinish on a system with that library, or the program with " +
                     ours->builtFor + "."};
  }
  return std::optional(kind);
}

std::optional<Error> otherMachine(const std::string& program, const ElfFacts& facts) {
  const std::optional<ElfFacts> own = elfFacts("/proc/self/exe");
  const bool same = !own || (own->machine == facts.machine && own->is64 == facts.is64);
  const bool ofMpi = std::any_of(facts.needed.begin(), facts.needed.end(), mayBeMpi);
  if (same || !ofMpi) {
    return std::nullopt;
  }
  return Error{ErrorCode::Usage,
               "'" + program + "' is a program for " + machineName(facts) +
                   ", and the recorders are for " + machineName(*own),
               "Build the program for " + machineName(*own) + "."};
}

std::optional<Error> mpiInside(const std::string& program) {
  if (definesFunction(program, "PMPI_Init", true)) {
    return Error{ErrorCode::Usage,
                 "'" + program + "' has its MPI library inside (static), and a recorder comes " +
                     "before a shared one only",
                 "Link it with the shared library: without -static, -Bstatic or libmpi.a."};
  }
  if (definesFunction(program, "MPI_Init", true)) {
    return Error{ErrorCode::Usage,
                 "'" + program + "' has an MPI_Init of its own, as of a tracing tool that was " +
                     "linked into it, and a recorder does not see calls that end there",
                 "Link the program without that tool."};
  }
  return std::nullopt;
}

std::optional<Error> notFound(const std::string& program, const ElfFacts& facts,
                              const std::vector<ListedLibrary>& listed) {
  for (const ListedLibrary& library : listed) {
    if (library.path.empty() && mayBeMpi(library.name)) {
      return Error{ErrorCode::NotFound,
                   "'" + program + "' needs the MPI library " + library.name +
                       ", and the loader finds none for " + machineName(facts),
                   "Is its folder in LD_LIBRARY_PATH, and is it of that architecture? ldd shows " +
                       std::string("what is found.")};
    }
  }
  return std::nullopt;
}

/// Where the loader does not say: by the names that the program itself has.
Result<std::optional<MpiKind>> byNames(const std::string& program, const ElfFacts& facts,
                                       const std::vector<Recorder>& recorders) {
  std::optional<MpiKind> found;
  for (const std::string& name : facts.needed) {
    const MpiKind kind = hasStandardAbi(name)     ? MpiKind::Standard
                         : name == "libmpi.so.12" ? MpiKind::Mpich
                                                  : mpiKindOfName(name);
    if ((kind == MpiKind::Other && mayBeMpi(name)) ||
        (found && kind != MpiKind::Other && *found != kind)) {
      return refused("'" + program + "' is for " + name + (found ? " and another MPI library" : ""),
                     recorders);
    }
    found = kind != MpiKind::Other ? std::optional(kind) : found;
  }
  return found;
}

}  // namespace

LinkedMpi mpiAmong(const std::vector<ListedLibrary>& listed) {
  LinkedMpi found;
  std::vector<std::string> files;
  for (const ListedLibrary& library : listed) {
    const std::string real = library.path.empty() ? "" : sameFile(library.path);
    if (real.empty() || std::find(files.begin(), files.end(), real) != files.end()) {
      continue;
    }
    files.push_back(real);
    if (definesFunction(real, "PMPI_Init")) {
      if (textOfSection(real, kBuiltForSection).empty()) {
        found.libraries.push_back(library);
      }
    } else if (definesFunction(real, "MPI_Init")) {
      found.tools.push_back(library);
    }
  }
  return found;
}

Result<ProgramMpi> linkedMpi(const std::string& path, const std::vector<Recorder>& recorders) {
  const std::optional<ElfFacts> facts = elfFacts(path);
  if (!facts) {
    return ProgramMpi{};
  }
  if (const std::optional<Error> other = otherMachine(path, *facts)) {
    return *other;
  }
  if (const std::optional<Error> inside = mpiInside(path)) {
    return *inside;
  }
  if (facts->interpreter.empty()) {
    return ProgramMpi{};
  }
  const std::vector<ListedLibrary> listed = loadedLibraries(facts->interpreter, path);
  if (const std::optional<Error> missing = notFound(path, *facts, listed)) {
    return *missing;
  }
  const LinkedMpi found = mpiAmong(listed);
  if (found.libraries.size() > 1) {
    return refused("'" + path + "' would load two MPI libraries, " + found.libraries[0].path +
                       " and " + found.libraries[1].path,
                   recorders);
  }
  ProgramMpi program;
  for (const ListedLibrary& tool : found.tools) {
    program.tools.push_back(tool.path);
  }
  Result<std::optional<MpiKind>> kind = std::optional<MpiKind>();
  if (listed.empty()) {
    kind = byNames(path, *facts, recorders);
  } else if (!found.libraries.empty()) {
    kind = kindOf(path, found.libraries[0], recorders);
  }
  if (!kind) {
    return kind.error();
  }
  program.kind = *kind;
  return program;
}

Result<ProgramMpi> mpiOf(const std::string& name, const std::vector<Recorder>& recorders) {
  Result<ProgramMpi> program = linkedMpi(foundInPath(name), recorders);
  if (!program || program->kind) {
    return program;
  }
  // PMI_RANK is set by MPICH's launcher, and by Slurm for both kinds; MPI_LOCALRANKID by the
  // former.
  const bool hydra =
      std::getenv("PMI_RANK") != nullptr && std::getenv("OMPI_COMM_WORLD_RANK") == nullptr &&
      (std::getenv("MPI_LOCALRANKID") != nullptr || std::getenv("SLURM_PROCID") == nullptr);
  program->kind = hydra ? MpiKind::Mpich : MpiKind::OpenMpi;
  return program;
}

}  // namespace pf::agent
