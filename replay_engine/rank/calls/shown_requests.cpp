// SPDX-License-Identifier: MIT
#include "replay_engine/rank/calls/shown_requests.h"

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

bool copyOf(MPI_Request request, std::int32_t (&words)[kWords]) {
  // By the kernel: what lies behind the request may not be there.
  const iovec to{words, sizeof words};
  const iovec from{pointerOf(request), sizeof words};
  return process_vm_readv(getpid(), &to, 1, &from, 1, 0) == static_cast<ssize_t>(sizeof words);
}

/// Where in its requests MPI has the status: found by a message to oneself, as mpi.h does not say
/// it. 0: not found.
std::uint32_t placeOfStatus() {
  static_assert(offsetof(MPI_Status, MPI_TAG) ==
                    offsetof(MPI_Status, MPI_SOURCE) + sizeof(std::int32_t) ||
                !kRequestsAreObjects);
  int number = 0;
  std::int32_t before[kWords];
  std::int32_t after[kWords];
  MPI_Request request = MPI_REQUEST_NULL;
  // By source: a replay asks for the recorded one, and must not take it for the message's.
  if (PF_REAL(Irecv)(&number, 1, MPI_INT, 0, kOurTag, MPI_COMM_SELF, &request) != MPI_SUCCESS) {
    return 0;
  }
  const int sent = number;
  bool seen = copyOf(request, before);
  int done = 0;
  PF_REAL(Send)(&sent, 1, MPI_INT, 0, kOurTag, MPI_COMM_SELF);
  while (done == 0 &&
         PF_REAL(Request_get_status)(request, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS) {
  }
  seen = seen && copyOf(request, after);
  PF_REAL(Wait)(&request, MPI_STATUS_IGNORE);
  for (std::size_t i = 0; seen && i + 1 < kWords; ++i) {
    if (after[i] == 0 && after[i + 1] == kOurTag && before[i] < 0 && before[i + 1] != kOurTag) {
      return static_cast<std::uint32_t>(i * sizeof(std::int32_t));
    }
  }
  return 0;
}

}  // namespace

void showRequests() {
  if (!kRequestsAreObjects) {
    return;
  }
  PageRequests& shown = g_engine.page->requests;
  shown = {};
  shown.status = placeOfStatus();
  if (shown.status == 0) {
    return;
  }
  shown.stride = sizeof(Request);
  shown.handle = offsetof(Request, handle);
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
