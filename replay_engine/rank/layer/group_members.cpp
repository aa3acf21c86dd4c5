// SPDX-License-Identifier: MIT
#include "replay_engine/rank/layer/group_members.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

namespace pf {

GroupMembers g_group;

namespace {

constexpr std::int32_t kMostRanks = 1 << 20;

/// The file's numbers, and how many; null on failure.
std::int32_t* numbersOf(const char* path, std::size_t* count) {
  const int fd = ::open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  struct stat info {};
  if (fd < 0 || fstat(fd, &info) != 0 || !S_ISREG(info.st_mode) || info.st_size < 12 ||
      info.st_size > (2 * kMostRanks + 2) * 4L) {
    if (fd >= 0) {
      ::close(fd);
    }
    return nullptr;
  }
  const auto size = static_cast<std::size_t>(info.st_size);
  auto* const numbers = static_cast<std::int32_t*>(std::malloc(size));
  const ssize_t got = numbers == nullptr ? -1 : ::read(fd, numbers, size);
  ::close(fd);
  if (got != static_cast<ssize_t>(size)) {
    std::free(numbers);
    return nullptr;
  }
  *count = size / sizeof(std::int32_t);
  return numbers;
}

}  // namespace

bool GroupMembers::read(const char* path) {
  std::size_t count = 0;
  std::int32_t* const numbers = numbersOf(path, &count);
  if (numbers == nullptr) {
    return false;
  }
  const std::int32_t size = numbers[0];
  const auto members = static_cast<std::size_t>(std::max(numbers[1], 0));
  auto* const places = size > 0 && size <= kMostRanks
                           ? static_cast<std::int32_t*>(
                                 std::malloc(static_cast<std::size_t>(size) * sizeof(std::int32_t)))
                           : nullptr;
  bool good = places != nullptr && numbers[1] > 0 && members <= count - 2;
  for (std::int32_t i = 0; good && i < size; ++i) {
    places[i] = -1;
  }
  for (std::size_t i = 2; good && i < count; ++i) {
    const bool first = i == 2 || i == 2 + members;
    good = numbers[i] >= 0 && numbers[i] < size && (first || numbers[i] > numbers[i - 1]);
    if (good && i < 2 + members) {
      places[numbers[i]] = static_cast<std::int32_t>(i - 2);
    }
  }
  const std::int32_t* const running = numbers + 2 + members;
  const std::int32_t* const end = numbers + count;
  for (std::size_t i = 0; good && running != end && i < members; ++i) {
    good = std::binary_search(running, end, numbers[2 + i]);
  }
  if (!good) {
    std::free(places);
    std::free(numbers);
    return false;
  }
  m_worldSize = size;
  m_count = static_cast<int>(members);
  m_members = numbers + 2;
  m_places = places;
  m_running = running;
  m_runningCount = static_cast<int>(end - running);
  return true;
}

int GroupMembers::runningPlace(int rank) const {
  const std::int32_t* const end = m_running + m_runningCount;
  const std::int32_t* const place = std::lower_bound(m_running, end, rank);
  return place != end && *place == rank ? static_cast<int>(place - m_running) : -1;
}

}  // namespace pf
