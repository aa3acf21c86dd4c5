// SPDX-License-Identifier: MIT
// Groups where MPI itself is given one, or gives one: those of the program are ours (job_groups.h).
#pragma once

#include "replay_engine/rank/engine/mpi_header.h"

namespace pf {

/// A group of the program's as MPI is to be given it, while this is there. Of one that MPI has itself: that. Where a rank of it
/// does not run, MPI_GROUP_NULL: MPI has nothing that is made of such.
class RealGroup {
 public:
  explicit RealGroup(MPI_Group group);
  ~RealGroup();
  RealGroup(const RealGroup&) = delete;
  RealGroup& operator=(const RealGroup&) = delete;

  [[nodiscard]] MPI_Group get() const { return m_real; }

 private:
  MPI_Group m_real;
  bool m_made = false;
};

/// The ranks of a group of MPI's, which is freed, in the recorded MPI_COMM_WORLD; -1: none of it. `ranks` has room for `size`.
void recordedRanks(MPI_Group* real, int size, int* ranks);

/// Of windows and files: MPI_Win_start, MPI_Win_post, MPI_Win_get_group, MPI_File_get_group (MPI 3.1, 11.2.6, 11.5.2, 13.2.7).
void putGroupsOfWindowsOver();

}  // namespace pf
