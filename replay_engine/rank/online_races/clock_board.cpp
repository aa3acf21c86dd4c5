// SPDX-License-Identifier: MIT
#include "replay_engine/rank/online_races/clock_board.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>

#include "replay_engine/base/allocate_file.h"
#include "replay_engine/rank/online_races/flat_table.h"

namespace pf::online {
namespace {

/// Small rings where there are many: each takes memory once it has been gone round.
std::uint32_t slotsFor(int size) {
  return size <= 32 ? 1024 : size <= 256 ? 256 : 64;
}

constexpr std::size_t kWhole = std::size_t{256} << 20;  ///< bytes, more than of 64 ranks

std::uint64_t entryKey(std::uint64_t comm, std::uint32_t ordinal) {
  return scramble(comm * 0x9E3779B97F4A7C15U + ordinal);
}

/// Several communicators in turn, and the last collectives of each, find room.
std::uint32_t entryOf(std::uint64_t comm, std::uint32_t ordinal) {
  const auto row = static_cast<std::uint32_t>(scramble(comm) >> 40) % (ClockBoard::kEntries / 64);
  return row * 64 + ordinal % 64;
}

}  // namespace

ClockBoard::~ClockBoard() {
  if (m_memory != nullptr) {
    munmap(m_memory, m_bytes);
  }
  std::free(m_clock);
  std::free(m_read);
  std::free(m_ends);
}

bool ClockBoard::open(const char* path, int rank, int size) {
  m_rank = rank;
  m_size = size;
  m_slots = slotsFor(size);
  const auto ranks = static_cast<std::size_t>(size);
  m_bytes = sizeof(Header) + ranks * sizeof(History) + ranks * ranks * ringSize();
  const int fd = ::open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (fd < 0) {
    return false;
  }
  // Zeros are a board on which nobody has written: who comes first does not matter. Large ones have
  // holes: most pairs of ranks never talk.
  const int error = m_bytes <= kWhole ? allocateFile(fd, 0, m_bytes) : extendFile(fd, m_bytes);
  void* mapped = error != 0 ? MAP_FAILED
                            : mmap(nullptr, m_bytes, PROT_READ | PROT_WRITE,
                                   MAP_SHARED | MAP_NORESERVE, fd, 0);
  ::close(fd);
  m_clock = static_cast<std::uint32_t*>(
      std::calloc(std::max(ranks, std::size_t{kInline}), sizeof(std::uint32_t)));
  m_read = static_cast<std::uint64_t*>(std::calloc(ranks, sizeof(std::uint64_t)));
  m_ends = static_cast<Ends*>(std::calloc(ranks, sizeof(Ends)));
  if (error != 0) {
    errno = error;
    return false;
  }
  if (mapped == MAP_FAILED || m_clock == nullptr || m_read == nullptr || m_ends == nullptr) {
    return false;
  }
  madvise(mapped, m_bytes, MADV_DONTFORK);
  m_memory = static_cast<unsigned char*>(mapped);
  m_header = reinterpret_cast<Header*>(m_memory);
  m_own = historyOf(rank);
  for (int peer = 0; peer < size; ++peer) {
    m_ends[peer].out = ring(rank, peer);
    m_ends[peer].in = ring(peer, rank);
  }
  return true;
}

ClockBoard::Ring* ClockBoard::ring(int from, int to) {
  const std::size_t rings = sizeof(Header) + static_cast<std::size_t>(m_size) * sizeof(History);
  const std::size_t pair = static_cast<std::size_t>(to) * static_cast<std::size_t>(m_size) +
                           static_cast<std::size_t>(from);
  return reinterpret_cast<Ring*>(m_memory + rings + pair * ringSize());
}

bool ClockBoard::publishElsewhere(int to, std::uint64_t stream, std::uint32_t message) {
  if (isRemote(to)) {
    ClockRecord record{};
    fill(record, to, stream, message);
    record.clock[0] = m_size <= kInline ? record.clock[0] : m_clock[m_rank];
    return m_remote->publish(to, record);
  }
  Ends& ends = m_ends[to];
  ends.droppedSeen = ends.out->dropped.load(std::memory_order_acquire);
  if (ends.written - ends.droppedSeen == m_slots) {
    return false;
  }
  putOut(ends, to, stream, message);
  return true;
}

void ClockBoard::learnHistory(int from, std::uint64_t epoch) {
  std::uint64_t& at = m_read[from];
  History& history = *historyOf(from);
  while (at < epoch) {
    const std::uint64_t length = history.length.load(std::memory_order_acquire);
    if (length - at > kHistory - kSlack) {  // gone round: what is gone stays unknown
      at = length - kHistory + 2 * std::uint64_t{kSlack};
      continue;
    }
    const std::uint64_t change = history.changes[at % kHistory].load(std::memory_order_acquire);
    if (history.length.load(std::memory_order_acquire) - at > kHistory - 1) {
      continue;  // written over while it was read
    }
    ++at;
    if (const auto rank = static_cast<int>(change >> 32); rank < m_size) {
      learnOne(rank, static_cast<std::uint32_t>(change));
    }
  }
}

void ClockBoard::contribute(std::uint64_t comm, std::uint32_t ordinal) {
  if (m_epoch == 0) {
    return;  // nothing to know; no entry says so as well
  }
  Entry& entry = m_own->entries[entryOf(comm, ordinal)];
  entry.key.store(0, std::memory_order_relaxed);
  entry.epoch.store(m_epoch, std::memory_order_release);
  for (int rank = 0; m_size <= kInline && rank < m_size; ++rank) {
    entry.clock[rank].store(m_clock[rank], std::memory_order_release);
  }
  entry.key.store(entryKey(comm, ordinal), std::memory_order_release);
}

void ClockBoard::learnContribution(int rank, std::uint64_t comm, std::uint32_t ordinal) {
  if (isRemote(rank)) {
    return;
  }
  const Entry& entry = historyOf(rank)->entries[entryOf(comm, ordinal)];
  const std::uint64_t key = entryKey(comm, ordinal);
  if (entry.key.load(std::memory_order_acquire) != key) {
    return;
  }
  ClockRecord record{};
  record.epoch = entry.epoch.load(std::memory_order_acquire);
  for (int of = 0; m_size <= kInline && of < m_size; ++of) {
    record.clock[of] = entry.clock[of].load(std::memory_order_acquire);
  }
  if (entry.key.load(std::memory_order_acquire) == key) {
    learn(rank, record);
  }
}

}  // namespace pf::online
