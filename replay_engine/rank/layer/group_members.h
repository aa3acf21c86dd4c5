// SPDX-License-Identifier: MIT
// Which ranks are of this rank's group (MPIWiz, 3.2), and which run at all in a replay of few: from a file that the agent
// makes beside the log, or the daemon beside the schedule.
#pragma once

#include <cstdint>

namespace pf {

inline constexpr const char* kGroupSuffix = ".group";
inline constexpr const char* kPayloadSuffix = ".payload";

class GroupMembers {
 public:
  /// int32 numbers: how many ranks the job has, and the group; the group's, ascending; those that run, ascending, the
  /// group's among them (of a recording: none). False: there is no such file, or it cannot be.
  bool read(const char* path);

  [[nodiscard]] int worldSize() const { return m_worldSize; }
  [[nodiscard]] int count() const { return m_count; }
  [[nodiscard]] int member(int i) const { return m_members[i]; }
  /// Place of a rank of MPI_COMM_WORLD among them, or -1.
  [[nodiscard]] int placeOf(int rank) const {
    return rank >= 0 && rank < m_worldSize ? m_places[rank] : -1;
  }
  [[nodiscard]] bool has(int rank) const { return placeOf(rank) >= 0; }

  [[nodiscard]] int runningCount() const { return m_runningCount; }
  [[nodiscard]] int running(int i) const { return m_running[i]; }
  /// Place of a rank that runs among those that do, or -1.
  [[nodiscard]] int runningPlace(int rank) const;

 private:
  int m_worldSize = 0;
  int m_count = 0;
  int m_runningCount = 0;
  const std::int32_t* m_members = nullptr;
  const std::int32_t* m_running = nullptr;
  std::int32_t* m_places = nullptr;  ///< by rank
};

extern GroupMembers g_group;

}  // namespace pf
