// SPDX-License-Identifier: GPL-3.0-or-later
// The recorders that are there: one a kind of MPI library, beside the agent.
#pragma once

#include <string>
#include <vector>

#include "replay_engine/base/mpi_version.h"

namespace pf::agent {

struct Recorder {
  MpiKind kind = MpiKind::Other;
  std::string file;      ///< its path
  std::string builtFor;  ///< "Open MPI v4.1.4"; empty: it is not there, or does not say

  [[nodiscard]] MpiVersion version() const { return mpiVersionOf(builtFor); }
};

/// Of a `directory` with our programs: one entry for each kind that we can have a recorder for, in
/// the same order always, whether it is there or not.
[[nodiscard]] std::vector<Recorder> recordersIn(const std::string& directory);

/// "programs of Open MPI 4.1 (libmpi.so.40) and MPICH 4.0 (libmpich.so.12)": of those that are there.
[[nodiscard]] std::string supportedText(const std::vector<Recorder>& recorders);

/// "Open MPI", "MPICH", "the MPI standard's binary interface".
[[nodiscard]] const char* nameOf(MpiKind kind);

}  // namespace pf::agent
