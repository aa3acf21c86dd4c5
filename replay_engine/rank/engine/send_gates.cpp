// SPDX-License-Identifier: MIT
#include "replay_engine/rank/engine/send_gates.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstring>
#include <ctime>

#include "replay_engine/rank/engine/engine.h"
#include "replay_engine/rank/engine/rank_link.h"
#include "replay_engine/rank/engine/real_calls.h"
#include "replay_engine/steering/send_gates.h"

namespace pf {
namespace {

constexpr int kSpins = 100;
constexpr std::int64_t kPatience = 10;  ///< seconds in which no rank moves

const Gate* g_gates = nullptr;
const Gate* g_gate = nullptr;  ///< the next one
const Gate* g_end = nullptr;
unsigned char* g_board = nullptr;
int g_rank = 0;
int g_size = 0;

std::atomic<std::uint64_t>& progressOf(int rank) {
  return *reinterpret_cast<std::atomic<std::uint64_t>*>(g_board + static_cast<std::size_t>(rank) *
                                                                      kGateStride);
}

void* mapFile(const char* path, bool write, std::size_t* size) {
  const int fd = ::open(path, (write ? O_RDWR : O_RDONLY) | O_CLOEXEC | O_NOFOLLOW);
  struct stat info {};
  void* mapped = MAP_FAILED;
  if (fd >= 0 && fstat(fd, &info) == 0 && info.st_size > 0) {
    *size = static_cast<std::size_t>(info.st_size);
    mapped = mmap(nullptr, *size, write ? PROT_READ | PROT_WRITE : PROT_READ, MAP_SHARED, fd, 0);
  }
  if (fd >= 0) {
    ::close(fd);
  }
  return mapped == MAP_FAILED ? nullptr : mapped;
}

/// How far all have come together.
std::uint64_t movedSoFar() {
  std::uint64_t sum = 0;
  for (int rank = 0; rank < g_size; ++rank) {
    sum += progressOf(rank).load(std::memory_order_relaxed);
  }
  return sum;
}

std::int64_t secondsNow() {
  timespec now{};
  syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &now);  // no value of the program's
  return now.tv_sec;
}

/// MPI goes on meanwhile: others may be in the middle of messages of this rank.
void letMpiWork() {
  int seen = 0;
  PF_REAL(Iprobe)(MPI_ANY_SOURCE, MPI_ANY_TAG, g_engine.nowhere, &seen, MPI_STATUS_IGNORE);
}

void waitFor(const Gate& gate) {
  const std::atomic<std::uint64_t>& progress = progressOf(gate.rank);
  std::uint64_t moved = 0;
  std::int64_t since = secondsNow();
  for (int i = 0; progress.load(std::memory_order_acquire) < gate.progress; ++i) {
    letMpiWork();
    if (i < kSpins) {
      sched_yield();
      continue;
    }
    const timespec pause{0, i < 10 * kSpins ? 50'000 : 500'000};
    nanosleep(&pause, nullptr);
    if (const std::uint64_t now = movedSoFar(); now != moved) {
      moved = now;
      since = secondsNow();
    } else if (secondsNow() - since > kPatience) {
      char text[200];
      std::snprintf(text, sizeof text,
                    "event %llu sends before rank %d is ready for it: no rank could go on",
                    static_cast<unsigned long long>(gate.event), gate.rank);
      sayOfRank(text);
      return;
    }
  }
}

}  // namespace

const char* openSendGates(const char* schedulePath, int rank, int size) {
  char path[2100];
  std::snprintf(path, sizeof path, "%s.gates", schedulePath);
  struct stat info {};
  std::size_t bytes = 0;
  const bool none = stat(path, &info) == 0 && info.st_size == 0;
  if (!none) {
    g_gates = g_gate = static_cast<const Gate*>(mapFile(path, false, &bytes));
    g_end = g_gate + bytes / sizeof(Gate);
  }
  std::snprintf(path, sizeof path, "%s", schedulePath);
  if (char* slash = std::strrchr(path, '/'); slash != nullptr) {
    std::snprintf(slash, sizeof path - static_cast<std::size_t>(slash - path), "/gates");
  }
  g_board = static_cast<unsigned char*>(mapFile(path, true, &bytes));
  if ((g_gate == nullptr && !none) || g_board == nullptr ||
      bytes < static_cast<std::size_t>(size) * kGateStride) {
    return "the gates of this rank cannot be read: are all ranks on one host?";
  }
  madvise(g_board, bytes, MADV_DONTFORK);
  g_rank = rank;
  g_size = size;
  g_engine.gated = true;
  return nullptr;
}

void passSendGates(std::uint64_t serial) {
  tellDone(serial - 1);
  const Gate* const before = g_gate;
  while (g_gate != g_end && g_gate->event < serial) {
    ++g_gate;
  }
  for (; g_gate != g_end && g_gate->event == serial; ++g_gate) {
    if (g_gate->rank >= 0 && g_gate->rank < g_size) {
      waitFor(*g_gate);
    }
  }
  if (leftPiece(reinterpret_cast<const unsigned char*>(before),
                reinterpret_cast<const unsigned char*>(g_gate))) [[unlikely]] {
    madvise(const_cast<Gate*>(g_gates), static_cast<std::size_t>(g_end - g_gates) * sizeof(Gate),
            MADV_DONTNEED);
  }
  progressOf(g_rank).store(2 * serial - 1, std::memory_order_release);
}

void tellDone(std::uint64_t serial) {
  std::atomic<std::uint64_t>& mine = progressOf(g_rank);
  if (mine.load(std::memory_order_relaxed) < 2 * serial) {
    mine.store(2 * serial, std::memory_order_release);
  }
}

}  // namespace pf
