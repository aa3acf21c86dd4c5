// SPDX-License-Identifier: MIT
// Which ranks of this host run, wait or are held back: in memory that they share, for recordings
// with jitter. A rank that is held until all others wait has been late for as long as it can
// matter.
#pragma once

#include <atomic>
#include <cstdint>

namespace pf {

enum class RankPace : std::uint32_t {
  Absent,   ///< has not come out of MPI_Init, or is on another host
  Running,  ///< computes, or is in a call that does not block
  Waiting,  ///< in a call that may block
  Polling,  ///< its last test or probe failed
  Piling,   ///< has a message, and waits for more before it takes one
  Held,     ///< before a call that others may wait for
  Gone,     ///< in MPI_Finalize
};

class JitterBoard {
 public:
  /// Shares `path` with the other ranks. False: it cannot be had; nobody is held by it then.
  bool open(const char* path, int rank, int size);
  [[nodiscard]] bool isOpen() const { return m_lines != nullptr; }

  void say(RankPace pace);
  /// The highest of those that could go on goes on first.
  void setPriority(std::uint64_t priority);
  /// No other rank is running or about to. `abovePriority`: of those with a higher priority than
  /// this one; false: of all.
  [[nodiscard]] bool quiet(bool abovePriority) const;
  /// Notes how much processor time each rank has had. On a machine that is busy, one that waits may
  /// have its message and not have been able to look.
  void noteTimes();
  /// All that wait have run since noteTimes(), so that they have looked.
  [[nodiscard]] bool allHaveRun() const;
  /// Changes whenever a rank begins or ends a call.
  [[nodiscard]] std::uint64_t moved() const;
  /// Ranks that are absent by now do not come.
  void expectNoMore() { m_absentRun = false; }

 private:
  struct alignas(64) Line {
    std::atomic<std::uint32_t> pace;
    std::atomic<std::uint32_t> moves;
    std::atomic<std::uint64_t> priority;
    std::atomic<std::int32_t> pid;
  };

  static constexpr int kMostTimes = 256;

  Line* m_lines = nullptr;
  std::uint64_t m_times[kMostTimes] = {};
  int m_rank = 0;
  int m_size = 0;
  bool m_absentRun = true;
};

}  // namespace pf
