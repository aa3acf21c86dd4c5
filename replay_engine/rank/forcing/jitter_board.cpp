// SPDX-License-Identifier: MIT
#include "replay_engine/rank/forcing/jitter_board.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "replay_engine/base/allocate_file.h"

namespace pf {

bool JitterBoard::open(const char* path, int rank, int size) {
  const std::size_t bytes = static_cast<std::size_t>(size) * sizeof(Line);
  const int fd = ::open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (fd < 0) {
    return false;
  }
  // Zeros are a board on which nobody has written: who comes first does not matter.
  void* mapped = allocateFile(fd, 0, bytes) != 0
                     ? MAP_FAILED
                     : mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  ::close(fd);
  if (mapped == MAP_FAILED) {
    return false;
  }
  madvise(mapped, bytes, MADV_DONTFORK);
  m_lines = static_cast<Line*>(mapped);
  m_rank = rank;
  m_size = size;
  m_lines[rank].pid.store(getpid(), std::memory_order_release);
  return true;
}

namespace {

/// Nanoseconds on a processor; 0 where that cannot be had.
std::uint64_t timeOf(std::int32_t pid) {
  char text[64];
  std::snprintf(text, sizeof text, "/proc/%d/schedstat", pid);
  const int fd = ::open(text, O_RDONLY | O_CLOEXEC);
  const ssize_t n = fd < 0 ? -1 : ::read(fd, text, sizeof text - 1);
  ::close(fd);
  text[n > 0 ? n : 0] = '\0';
  return std::strtoull(text, nullptr, 10);
}

constexpr std::uint64_t kLook = 20'000;  ///< nanoseconds: longer than one looks for a message

}  // namespace

void JitterBoard::noteTimes() {
  for (int rank = 0; rank < m_size && m_size <= kMostTimes; ++rank) {
    m_times[rank] = timeOf(m_lines[rank].pid.load(std::memory_order_acquire));
  }
}

bool JitterBoard::allHaveRun() const {
  for (int rank = 0; rank < m_size && m_size <= kMostTimes; ++rank) {
    const Line& line = m_lines[rank];
    const auto pace = static_cast<RankPace>(line.pace.load(std::memory_order_acquire));
    const bool waits = pace == RankPace::Waiting || pace == RankPace::Polling;
    if (rank != m_rank && waits && m_times[rank] != 0 &&
        timeOf(line.pid.load(std::memory_order_acquire)) < m_times[rank] + kLook) {
      return false;
    }
  }
  return true;
}

void JitterBoard::say(RankPace pace) {
  if (m_lines == nullptr) {
    return;
  }
  Line& own = m_lines[m_rank];
  const auto now = static_cast<std::uint32_t>(pace);
  if (own.pace.load(std::memory_order_relaxed) != now) {  // who polls does not move
    own.moves.fetch_add(1, std::memory_order_relaxed);
    own.pace.store(now, std::memory_order_release);
  }
}

void JitterBoard::setPriority(std::uint64_t priority) {
  if (m_lines != nullptr) {
    m_lines[m_rank].priority.store(priority, std::memory_order_release);
  }
}

bool JitterBoard::quiet(bool abovePriority) const {
  const std::uint64_t mine = m_lines[m_rank].priority.load(std::memory_order_relaxed);
  for (int rank = 0; rank < m_size; ++rank) {
    const Line& line = m_lines[rank];
    const auto pace = static_cast<RankPace>(line.pace.load(std::memory_order_acquire));
    if (rank == m_rank) {
      continue;
    }
    if (pace == RankPace::Absent) {  // with no priority yet
      if (m_absentRun) {
        return false;
      }
      continue;
    }
    const bool below = line.priority.load(std::memory_order_acquire) < mine;
    const bool runs = pace == RankPace::Running || pace == RankPace::Held;
    // Of those that pile up, the lowest goes on last, and sees what the others send then.
    const bool piles = pace == RankPace::Piling && !abovePriority;
    if ((runs && !(abovePriority && below)) || (piles && !below)) {
      return false;
    }
  }
  return true;
}

std::uint64_t JitterBoard::moved() const {
  std::uint64_t sum = 0;
  for (int rank = 0; rank < m_size; ++rank) {
    sum += m_lines[rank].moves.load(std::memory_order_relaxed);
  }
  return sum;
}

}  // namespace pf
