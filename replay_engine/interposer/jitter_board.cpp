#include "jitter_board.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/allocate_file.h"

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
    const bool runs = pace == RankPace::Running || pace == RankPace::Held;
    if (runs && !(abovePriority && line.priority.load(std::memory_order_acquire) < mine)) {
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
