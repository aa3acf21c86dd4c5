// SPDX-License-Identifier: GPL-3.0-or-later
// MPI libraries, the recorders for them, and their launchers.
#pragma once

#include <string>
#include <vector>

#include "app/doctor/check.h"
#include "replay_engine/agent/recorders.h"

namespace pf::app {

/// A recorder or an MPI library: works if what it says is known.
[[nodiscard]] Check recorderCheck(const agent::Recorder& recorder);
/// An MPI library of the file `path` that says `version` (MPI_Get_library_version; may be empty).
[[nodiscard]] Check libraryCheck(const std::string& path, const std::string& version,
                                 const std::vector<agent::Recorder>& recorders);
/// A launcher, by the first lines that `--version` makes it say.
[[nodiscard]] Check launcherCheck(const std::string& path, const std::string& said);

/// Where MPI libraries are looked for: LD_LIBRARY_PATH, beside each launcher of the search path, and
/// where the system has its libraries, with the folders of Open MPI and MPICH in these.
[[nodiscard]] std::vector<std::string> libraryDirectories(
    const std::vector<std::string>& launchers);

/// All of them, and one check more, needed, whether any library, its recorder and a launcher go
/// together. Loads each library in a process of its own, and starts each launcher with --version.
[[nodiscard]] Checks mpiChecks(const std::string& programs);

}  // namespace pf::app
