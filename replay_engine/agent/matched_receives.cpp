// SPDX-License-Identifier: GPL-3.0-or-later
#include "replay_engine/agent/matched_receives.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <vector>

#include "replay_engine/agent/read_context.h"
#include "replay_engine/base/unique_fd.h"

namespace pf::agent {
namespace {

constexpr std::uint32_t kMostRequests = 4096;  ///< looked at
constexpr std::uint32_t kLargestEntry = 256;
constexpr std::size_t kMapped = 8192;  ///< of the log

/// What the rank says may be nonsense.
bool isUsable(const PageRequests& requests) {
  const std::array fields{std::uint64_t{requests.handle} + requests.handleBytes,
                          std::uint64_t{requests.details} + 8,
                          std::uint64_t{requests.post} + 4,
                          std::uint64_t{requests.wild} + 4,
                          std::uint64_t{requests.isWild} + 1,
                          std::uint64_t{requests.isActive} + 1,
                          std::uint64_t{requests.isCancelled} + 1};
  return requests.entriesAt != 0 && requests.countAt != 0 && requests.stride <= kLargestEntry &&
         (requests.handleBytes == 4 || requests.handleBytes == 8) &&
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

template <typename T>
std::optional<T> valueOf(pid_t pid, std::uint64_t address) {
  T value{};
  if (!readMemory(pid, address, &value, sizeof value)) {
    return std::nullopt;
  }
  return value;
}

/// The object that a numbered handle stands for: kind (2 bits: 2 of the first row, 3 of a block), kind of object (4), then
/// an index, or block (14) and index in it (12) (MPICH, src/include/mpir_objects.h). Others than the first pool of requests
/// have blocks of so high numbers that they are none here.
std::optional<std::uint64_t> objectOf(pid_t pid, const PageRequestObjects& objects,
                                      std::uint32_t handle) {
  std::uint64_t object = 0;
  if (handle >> 30 == 2) {
    object = objects.firstAt + std::uint64_t{handle & 0x3FFFFFFU} * objects.size;
  } else {
    const auto blocks = valueOf<std::uint64_t>(pid, objects.blocksAt);
    const auto block =
        blocks && *blocks != 0
            ? valueOf<std::uint64_t>(pid, *blocks + std::uint64_t{handle >> 12 & 0x3FFFU} * 8)
            : std::nullopt;
    if (!block) {
      return std::nullopt;
    }
    object = *block + std::uint64_t{handle & 0xFFFU} * objects.size;
  }
  const auto own = valueOf<std::uint32_t>(pid, object);
  return own == handle ? std::optional(object) : std::nullopt;
}

/// The handle of the receive: a replay has another one than the program where it is persistent.
std::optional<std::uint64_t> handleOf(pid_t pid, const PageRequests& requests,
                                      const unsigned char* entry) {
  std::uint64_t handle = 0;
  std::memcpy(&handle, entry + requests.handle, requests.handleBytes);
  const auto details = valueAt<std::uint64_t>(entry + requests.details);
  if (details == 0) {
    return handle;
  }
  std::uint64_t inner = 0;
  if (!readMemory(pid, details + requests.inner, &inner, requests.handleBytes)) {
    return std::nullopt;
  }
  return inner == requests.none ? handle : inner;
}

/// Where the status of a request is, or 0 while it has none; nullopt: that cannot be seen.
std::optional<std::uint64_t> statusOf(pid_t pid, const PageRequests& requests,
                                      const unsigned char* entry) {
  if (requests.status == 0) {
    return std::nullopt;
  }
  const auto handle = handleOf(pid, requests, entry);
  if (!handle) {
    return std::nullopt;
  }
  if (requests.objects.size == 0) {
    return *handle + requests.status;
  }
  const auto object = objectOf(pid, requests.objects, static_cast<std::uint32_t>(*handle));
  const auto counter =
      object ? valueOf<std::uint64_t>(pid, *object + requests.objects.counter) : std::nullopt;
  const auto left = counter ? valueOf<std::uint32_t>(pid, *counter) : std::nullopt;
  if (!left) {
    return std::nullopt;
  }
  // The counter of a persistent request is that of the receive which it has started.
  return *left != 0 ? 0 : *counter - requests.objects.ownCounter + requests.status;
}

/// What was seen of the pending receives.
struct Seen {
  std::vector<MatchedReceive> matched;
  std::uint32_t unseen = 0;
};

void lookAt(pid_t pid, const PageRequests& requests, const unsigned char* entry, Seen& seen) {
  if (entry[requests.isWild] != 1 || entry[requests.isActive] != 1 ||
      entry[requests.isCancelled] != 0) {
    return;
  }
  const auto at = statusOf(pid, requests, entry);
  if (at == 0U) {
    return;
  }
  const auto status = at ? valueOf<std::array<std::int32_t, 2>>(pid, *at) : std::nullopt;
  if (!status || seen.matched.size() == MatchedReceives::kMost) {
    ++seen.unseen;
  } else if ((*status)[0] >= 0) {
    seen.matched.push_back({valueAt<std::uint32_t>(entry + requests.post),
                            valueAt<std::uint32_t>(entry + requests.wild), (*status)[0],
                            (*status)[1]});
  }
}

/// nullopt: the rank's memory cannot be read, or not any more: it is gone.
std::optional<Seen> seenOf(pid_t pid, const PageRequests& requests) {
  Seen seen;
  const auto all = valueOf<std::uint32_t>(pid, requests.countAt);
  const auto entries = valueOf<std::uint64_t>(pid, requests.entriesAt);
  if (!all || !entries) {
    return std::nullopt;
  }
  if (*all == 0) {
    return seen;
  }
  const std::uint32_t count = std::min(*all, kMostRequests);
  std::vector<unsigned char> table(std::size_t{count} * requests.stride);
  if (!readMemory(pid, *entries, table.data(), table.size())) {
    return std::nullopt;
  }
  for (std::uint32_t i = 0; i < count; ++i) {
    lookAt(pid, requests, table.data() + std::size_t{i} * requests.stride, seen);
  }
  seen.unseen += *all - count;  // they may be receives
  return valueOf<std::uint32_t>(pid, requests.countAt) ? std::optional(seen) : std::nullopt;
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
  const std::optional<Seen> looked = seenOf(pid, requests);
  if (!looked) {
    return;  // what was seen before stays
  }
  const Seen& seen = *looked;
  const bool nothing = seen.matched.empty() && seen.unseen == 0;
  if ((nothing && m_mapped == nullptr) || page.serial.load() != serial ||
      page.inCall.load() != call) {
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
  std::copy(seen.matched.begin(), seen.matched.end(), matched->receives);
  matched->unseen.store(MatchedReceives::sealed(seen.unseen), std::memory_order_release);
  matched->count.store(MatchedReceives::sealed(static_cast<std::uint32_t>(seen.matched.size())),
                       std::memory_order_release);
}

}  // namespace pf::agent
