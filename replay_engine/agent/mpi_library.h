// SPDX-License-Identifier: GPL-3.0-or-later
// Which MPI library a program is for: each kind has its own interposer. What is not known is refused
// by its name and version, never taken for another: handles and constants of two libraries differ,
// and a recording with the wrong ones is wrong without a word.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "replay_engine/agent/loaded_libraries.h"
#include "replay_engine/agent/recorders.h"
#include "replay_engine/base/result.h"

namespace pf::agent {

/// Of a library that is called as one of the standard's binary interface, and does not say which version of that it has, as that of
/// MPICH 4.3: its handles and constants may be others.
inline constexpr const char* kEarlyAbi =
    "an early form of the MPI standard's binary interface, which does not say its version";
inline constexpr const char* kRemedyOfEarlyAbi =
    "Use a libmpi_abi of MPICH 5.0 or later, or of Open MPI 6.0 or later; or build the program "
    "with the "
    "library's other mpi.h.";

/// What the file says: the loader's list of a program, and what of it is of MPI.
struct LinkedMpi {
  std::vector<ListedLibrary> libraries;  ///< those that define PMPI_Init, each file once
  std::vector<ListedLibrary> tools;      ///< those that stand in for MPI_Init: tracing tools
};

/// Of a list of the loader's. A recorder of ours that is on it counts as neither.
[[nodiscard]] LinkedMpi mpiAmong(const std::vector<ListedLibrary>& listed);

/// What a program is for.
struct ProgramMpi {
  std::optional<MpiKind> kind;     ///< none: it does not say
  std::vector<std::string> tools;  ///< files of tracing tools that are loaded with it
};

/// The MPI library that the program `path` will load, by itself or through its own libraries; none
/// for scripts, and for programs that load MPI later (python3) or start another one (sh). An error,
/// for people, if photofinish has no recorder for it among `recorders`: another library or version,
/// two of them, one that is not found, one inside of the
/// program (static), or a program for another machine.
[[nodiscard]] Result<ProgramMpi> linkedMpi(const std::string& path,
                                           const std::vector<Recorder>& recorders);

/// The same of the program `name` as a shell finds it; where it does not say, the library whose
/// launcher has started this process, by the launcher's variables. In a rank the interposer compares
/// once more, with what is loaded by then (replay_engine/rank/engine/library_check.h).
[[nodiscard]] Result<ProgramMpi> mpiOf(const std::string& name,
                                       const std::vector<Recorder>& recorders);

}  // namespace pf::agent
