// SPDX-License-Identifier: GPL-3.0-or-later
#include "replay_engine/agent/matched_receives.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <vector>

#include "replay_engine/base/unique_fd.h"

namespace pf::agent {
namespace {

constexpr std::uint32_t kMostRequests = 4096;  ///< looked at
constexpr std::uint32_t kLargestEntry = 256;
constexpr std::size_t kMapped = 8192;  ///< of the log

bool readMemory(pid_t pid, std::uint64_t address, void* value, std::size_t size) {
  const iovec to{value, size};
  // NOLINTNEXTLINE(performance-no-int-to-ptr): an address of another process
  const iovec from{reinterpret_cast<void*>(address), size};
  return ::process_vm_readv(pid, &to, 1, &from, 1, 0) == static_cast<ssize_t>(size);
}

/// What the rank says may be nonsense.
bool isUsable(const PageRequests& requests) {
  const std::array fields{
      std::uint64_t{requests.handle} + 8,   std::uint64_t{requests.post} + 4,
      std::uint64_t{requests.wild} + 4,     std::uint64_t{requests.isWild} + 1,
      std::uint64_t{requests.isActive} + 1, std::uint64_t{requests.isCancelled} + 1};
  return requests.entriesAt != 0 && requests.countAt != 0 && requests.stride <= kLargestEntry &&
         requests.matchedAt % alignof(MatchedReceives) == 0 &&
         std::uint64_t{requests.matchedAt} + sizeof(MatchedReceives) <= kMapped &&
         std::all_of(fields.begin(), fields.end(),
                     [&](std::uint64_t end) { return end <= requests.stride; });
}

template <typename T>
T valueAt(const unsigned char* at) {
  T value{};
  std::memcpy(&value, at, sizeof value);
  return value;
}

std::optional<MatchedReceive> matched(pid_t pid, const PageRequests& requests,
                                      const unsigned char* entry) {
  if (entry[requests.isWild] != 1 || entry[requests.isActive] != 1 ||
      entry[requests.isCancelled] != 0) {
    return std::nullopt;
  }
  std::array<std::int32_t, 2> status{-1, -1};
  const auto handle = valueAt<std::uint64_t>(entry + requests.handle);
  if (!readMemory(pid, handle + requests.status, status.data(), sizeof status) || status[0] < 0) {
    return std::nullopt;
  }
  return MatchedReceive{valueAt<std::uint32_t>(entry + requests.post),
                        valueAt<std::uint32_t>(entry + requests.wild), status[0], status[1]};
}

std::vector<MatchedReceive> matchedOf(pid_t pid, const PageRequests& requests) {
  std::vector<MatchedReceive> found;
  std::uint64_t entries = 0;
  std::uint32_t count = 0;
  if (!readMemory(pid, requests.countAt, &count, sizeof count) || count == 0 ||
      !readMemory(pid, requests.entriesAt, &entries, sizeof entries)) {
    return found;
  }
  count = std::min(count, kMostRequests);
  std::vector<unsigned char> table(std::size_t{count} * requests.stride);
  if (!readMemory(pid, entries, table.data(), table.size())) {
    return found;
  }
  for (std::uint32_t i = 0; i < count && found.size() < MatchedReceives::kMost; ++i) {
    if (auto receive = matched(pid, requests, table.data() + std::size_t{i} * requests.stride)) {
      found.push_back(*receive);
    }
  }
  return found;
}

void* mapBegin(const std::string& log) {
  const UniqueFd file(::open(log.c_str(), O_RDWR | O_NOFOLLOW | O_CLOEXEC));
  struct stat info {};
  if (!file.valid() || ::fstat(file.get(), &info) != 0 || !S_ISREG(info.st_mode) ||
      info.st_size < static_cast<off_t>(kMapped)) {
    return nullptr;
  }
  void* const mapped = ::mmap(nullptr, kMapped, PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
  return mapped == MAP_FAILED ? nullptr : mapped;
}

}  // namespace

MatchedLook::~MatchedLook() {
  if (m_mapped != nullptr) {
    ::munmap(m_mapped, kMapped);
  }
}

void MatchedLook::look(pid_t pid, const RankPage& page, const std::string& log) {
  const PageRequests requests = page.requests;
  const std::uint64_t serial = page.serial.load();
  const std::uint32_t call = page.inCall.load();
  if (call == 0 || !isUsable(requests)) {
    return;
  }
  const std::vector<MatchedReceive> found = matchedOf(pid, requests);
  if (found.empty() || page.serial.load() != serial || page.inCall.load() != call) {
    return;
  }
  if (m_mapped == nullptr) {
    m_mapped = mapBegin(log);
  }
  if (m_mapped == nullptr) {
    return;
  }
  auto* const matched =
      reinterpret_cast<MatchedReceives*>(static_cast<char*>(m_mapped) + requests.matchedAt);
  // None counts while they are written: the agent may be killed, too.
  matched->count.store(0, std::memory_order_release);
  std::copy(found.begin(), found.end(), matched->receives);
  const auto count = static_cast<std::uint32_t>(found.size());
  matched->count.store(count | std::uint64_t{~count} << 32, std::memory_order_release);
}

}  // namespace pf::agent
