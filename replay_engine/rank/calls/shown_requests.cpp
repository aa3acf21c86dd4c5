// SPDX-License-Identifier: MIT
#include "replay_engine/rank/calls/shown_requests.h"

#include <link.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cstddef>
#include <cstring>

#include "replay_engine/rank/engine/engine.h"
#include "replay_engine/rank/engine/real_calls.h"

namespace pf {
namespace {

constexpr std::size_t kLookedThrough = 256;  ///< bytes of MPI's request
constexpr std::size_t kWords = kLookedThrough / sizeof(std::int32_t);
constexpr int kOurTag = 0x5A3B;

/// A part of MPI's request, as it lies there.
struct Words {
  std::int32_t word[kWords];

  [[nodiscard]] bool read(std::uint64_t address) {
    // By the kernel: what lies behind the request may not be there.
    const iovec to{word, sizeof word};
    const iovec from{reinterpret_cast<void*>(address), sizeof word};
    return process_vm_readv(getpid(), &to, 1, &from, 1, 0) == static_cast<ssize_t>(sizeof word);
  }
  [[nodiscard]] std::uint64_t pair(std::size_t i) const {
    std::uint64_t value = 0;
    std::memcpy(&value, word + i, sizeof value);
    return value;
  }
};

/// A receive of a message from and to this rank: a request before and after it has taken one.
class OwnMessage {
 public:
  OwnMessage() {
    // By source: a replay asks for the recorded one, and must not take it for the message's.
    m_posted =
        PF_REAL(Irecv)(&m_number, 1, MPI_INT, 0, kOurTag, MPI_COMM_SELF, &m_request) == MPI_SUCCESS;
  }
  ~OwnMessage() {
    if (m_posted) {
      complete();
      PF_REAL(Wait)(&m_request, MPI_STATUS_IGNORE);
    }
  }
  OwnMessage(const OwnMessage&) = delete;
  OwnMessage& operator=(const OwnMessage&) = delete;

  [[nodiscard]] bool posted() const { return m_posted; }
  [[nodiscard]] MPI_Request request() const { return m_request; }
  void complete() {
    if (m_sent) {
      return;
    }
    m_sent = true;
    const int sent = 0;
    int done = 0;
    PF_REAL(Send)(&sent, 1, MPI_INT, 0, kOurTag, MPI_COMM_SELF);
    while (done == 0 &&
           PF_REAL(Request_get_status)(m_request, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS) {
    }
  }

 private:
  int m_number = 0;
  bool m_posted = false;
  bool m_sent = false;
  MPI_Request m_request = MPI_REQUEST_NULL;
};

/// Where in its requests MPI has the status: mpi.h does not say it.
std::uint32_t placeOfStatus(const Words& before, const Words& after, bool marked) {
  static_assert(offsetof(MPI_Status, MPI_TAG) ==
                offsetof(MPI_Status, MPI_SOURCE) + sizeof(std::int32_t));
  for (std::size_t i = 1; i + 1 < kWords; ++i) {
    if (after.word[i] == 0 && after.word[i + 1] == kOurTag && before.word[i + 1] != kOurTag &&
        (!marked || before.word[i] < 0)) {
      return static_cast<std::uint32_t>(i * sizeof(std::int32_t));
    }
  }
  return 0;
}

/// Where in its requests MPI counts what is left to do: the number, and a pointer to it before that.
bool placeOfCounter(std::uint64_t object, const Words& before, const Words& after,
                    PageRequestObjects& objects) {
  for (std::size_t i = 0; i + 1 < kWords; i += 2) {
    const std::uint64_t at = before.pair(i) - object;
    const std::uint64_t word = at / sizeof(std::int32_t);
    if (before.pair(i) > object && at % sizeof(std::int32_t) == 0 && word < kWords &&
        before.word[word] != 0 && after.word[word] == 0) {
      objects.counter = static_cast<std::uint32_t>(i * sizeof(std::int32_t));
      objects.ownCounter = static_cast<std::uint32_t>(at);
      return true;
    }
  }
  return false;
}

/// A writable part of the MPI library.
struct Segment {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;

  [[nodiscard]] bool has(std::uint64_t address, std::uint64_t size) const {
    return address >= begin && address <= end && size <= end - address;
  }
  template <typename T>
  [[nodiscard]] T at(std::uint64_t address) const {
    return *reinterpret_cast<const T*>(address);
  }
};

struct LookedFor {
  std::uint32_t handle;
  PageRequestObjects* objects;
  bool found = false;
};

/// Whether MPICH's MPIR_Request_mem has its pointer to the objects of the first handles at `at`. Before it are the size of
/// an object and the kind of them; at the begin, whether it is initialized, and the table of blocks
/// (src/include/mpir_objects.h of 3.4 to 5.0).
bool describesRequests(const Segment& segment, std::uint64_t at, LookedFor& looked) {
  constexpr std::uint64_t kBegins[] = {48, 40};  // from 4.0 on; before that
  constexpr std::uint64_t kSizes[] = {8, 4};     // to 4.2; from 4.3 on
  constexpr std::int32_t kOfRequests = 0xB;
  const auto first = segment.at<std::uint64_t>(at);
  const std::uint32_t index = looked.handle & 0x3FFFFFFU;
  for (const std::uint64_t sizeAt : kSizes) {
    const auto size = segment.at<std::int32_t>(at - sizeAt);
    if (size < 64 || size > 8192 || segment.at<std::int32_t>(at - sizeAt - 4) != kOfRequests) {
      continue;
    }
    const std::uint64_t object = first + std::uint64_t{index} * static_cast<std::uint32_t>(size);
    if (first % 8 != 0 || !segment.has(first, 8) || !segment.has(object, 8) ||
        segment.at<std::uint32_t>(object) != looked.handle) {
      continue;
    }
    for (const std::uint64_t begin : kBegins) {
      if (segment.at<std::int32_t>(at - begin + 8) == 1) {
        looked.objects->firstAt = first;
        looked.objects->blocksAt = at - begin + 16;
        looked.objects->size = static_cast<std::uint32_t>(size);
        return true;
      }
    }
  }
  return false;
}

int lookThroughModule(dl_phdr_info* module, std::size_t /*size*/, void* data) {
  LookedFor& looked = *static_cast<LookedFor*>(data);
  const auto code = reinterpret_cast<std::uint64_t>(PF_REAL(Irecv));
  bool isMpi = false;
  for (int i = 0; i < module->dlpi_phnum; ++i) {
    const ElfW(Phdr)& part = module->dlpi_phdr[i];
    const std::uint64_t begin = module->dlpi_addr + part.p_vaddr;
    isMpi = isMpi || (part.p_type == PT_LOAD && code >= begin && code - begin < part.p_memsz);
  }
  for (int i = 0; isMpi && i < module->dlpi_phnum && !looked.found; ++i) {
    const ElfW(Phdr)& part = module->dlpi_phdr[i];
    const std::uint64_t begin = module->dlpi_addr + part.p_vaddr;
    const Segment segment{begin, begin + part.p_memsz};
    if (part.p_type != PT_LOAD || (part.p_flags & (PF_R | PF_W)) != (PF_R | PF_W)) {
      continue;
    }
    for (std::uint64_t at = (begin + 48 + 7) & ~std::uint64_t{7};
         segment.has(at, 8) && !looked.found; at += 8) {
      looked.found = describesRequests(segment, at, looked);
    }
  }
  return isMpi ? 1 : 0;
}

/// How the agent comes to a request and its status.
void findRequests(PageRequests& shown) {
  OwnMessage message;
  if (!message.posted()) {
    return;
  }
  auto object = reinterpret_cast<std::uint64_t>(pointerOf(message.request()));
  if (!kRequestsAreObjects) {
    LookedFor looked{static_cast<std::uint32_t>(object >> 4), &shown.objects};
    if (looked.handle >> 30 != 2) {
      return;
    }
    dl_iterate_phdr(&lookThroughModule, &looked);
    if (!looked.found) {
      return;
    }
    object = shown.objects.firstAt + std::uint64_t{looked.handle & 0x3FFFFFFU} * shown.objects.size;
  }
  Words before;
  Words after;
  const bool first = before.read(object);
  message.complete();
  if (!first || !after.read(object)) {
    return;
  }
  if (kRequestsAreObjects || placeOfCounter(object, before, after, shown.objects)) {
    shown.status = placeOfStatus(before, after, kRequestsAreObjects);
  }
}

}  // namespace

void showRequests() {
  PageRequests& shown = g_engine.page->requests;
  shown = {};
  findRequests(shown);
  shown.stride = sizeof(Request);
  shown.handle = offsetof(Request, handle);
  shown.handleBytes = sizeof(MPI_Request);
  const MPI_Request none = MPI_REQUEST_NULL;
  std::memcpy(&shown.none, &none, sizeof none);
  shown.details = offsetof(Request, details);
  shown.inner = offsetof(RequestDetails, inner);
  shown.post = offsetof(Request, number);
  shown.wild = offsetof(Request, wildNumber);
  shown.isWild = offsetof(Request, wild);
  shown.isActive = offsetof(Request, active);
  shown.isCancelled = offsetof(Request, cancelled);
  shown.matchedAt = offsetof(LogHeader, matched);
  shown.countAt = reinterpret_cast<std::uint64_t>(g_engine.requests.countInMemory());
  shown.entriesAt = reinterpret_cast<std::uint64_t>(g_engine.requests.entriesInMemory());
}

}  // namespace pf
