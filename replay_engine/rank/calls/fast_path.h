// SPDX-License-Identifier: MIT
// The path of a rank that is recorded without events, without jitter and by one thread: what the
// common calls do then, inlined into their wrappers. It keeps the same books as the handlers do, so
// that a call with more to it (a wildcard Irecv, a table entry to complete) goes to its handler.
#pragma once

#include "replay_engine/rank/clocks/rank_clocks.h"
#include "replay_engine/rank/engine/records.h"
#include "replay_engine/rank/engine/wrapper_support.h"
#include "replay_engine/rank/layer/known_inside.h"
#include "replay_engine/rank/layer/under.h"

namespace pf {

inline bool fast() {
  return g_rankOnly.fast && t_depth == 0;
}

/// Not of a message that may leave the group: what it holds is recorded.
inline bool fastTo(int dest, MPI_Comm comm) {
  return fast() && (!g_rankOnly.grouped || isKnownInside(dest, comm));
}
/// Not of a collective that may go beyond the group.
inline bool fastCollective(MPI_Comm comm) {
  return fast() && !followsClocks() && (!g_rankOnly.grouped || isKnownWhole(comm));
}

/// isMessage() with handles that are known there.
inline bool fastMessage(int peer, MPI_Comm comm) {
  return peer != MPI_PROC_NULL && comm != g_engine.noComm;
}

/// An event that does not block, until the end of the scope.
class FastEvent {
 public:
  __attribute__((always_inline)) FastEvent() : FastEvent(*g_engine.page, g_engine.log.header()) {}
  /// The same with what is at hand: atomic stores keep the compiler from remembering it.
  __attribute__((always_inline)) FastEvent(RankPage& page, LogHeader& header) {
    ++t_depth;
    t_outermost = __builtin_frame_address(0);
    const std::uint64_t serial = ++g_engine.serial;
    page.serial.store(serial, std::memory_order_relaxed);
    header.serial.store(serial, std::memory_order_relaxed);
  }
  ~FastEvent() { --t_depth; }
  FastEvent(const FastEvent&) = delete;
  FastEvent& operator=(const FastEvent&) = delete;
};

/// An event that may block: the page and the log say where the rank is.
class FastCall : FastEvent {
 public:
  __attribute__((always_inline)) FastCall(std::uint16_t call, MPI_Comm comm, int peer, int tag)
      : FastCall(*g_engine.page, g_engine.log.header(), call, comm, peer, tag) {}
  __attribute__((always_inline))
  FastCall(RankPage& page, LogHeader& header, std::uint16_t call, MPI_Comm comm, int peer, int tag)
      : FastEvent(page, header) {
    if (comm != g_engine.world && peer >= 0) [[unlikely]] {
      peer = g_engine.comms.worldRank(comm, peer);
    }
    page.waitPeer.store(reportedPeer(peer), std::memory_order_relaxed);
    page.waitTag.store(reportedTag(tag), std::memory_order_relaxed);
    page.inCall.store(1U + call, std::memory_order_relaxed);
    header.inside.store(1U + call, std::memory_order_relaxed);
  }
  explicit FastCall(std::uint16_t call) : FastCall(call, g_engine.world, kNoPeer, -1) {}
  /// A collective; `forAll`: of which this rank gets out once all ranks of `comm` are in it.
  FastCall(std::uint16_t call, MPI_Comm comm, bool forAll) : FastCall(call) {
    if (forAll && comm == g_engine.world) {
      g_engine.page->waitPeer.store(kWaitsForAll, std::memory_order_relaxed);
    }
  }
  ~FastCall() {
    g_engine.page->inCall.store(0, std::memory_order_relaxed);
    g_engine.log.header().inside.store(0, std::memory_order_relaxed);
  }
  FastCall(const FastCall&) = delete;
  FastCall& operator=(const FastCall&) = delete;
};

template <typename RealCall>
inline int fastSend(std::uint16_t callNumber, RealCall call, const void* buffer, int count,
                    MPI_Datatype datatype, int dest, int tag, MPI_Comm comm) {
  const FastCall event(callNumber, comm, dest, tag);
  const bool message = fastMessage(dest, comm);
  g_engine.sends += message ? 1U : 0U;
  const bool clockFollows = followsClocks() && message;
  if (clockFollows) {
    clockFastSend(comm, dest, tag);
  }
  const int result = call(buffer, count, datatype, dest, tag, comm);
  if (result != MPI_SUCCESS && clockFollows) [[unlikely]] {
    clockUnsend(comm, dest, tag);
  }
  return result;
}

/// A non-blocking send of a message where there is more to it.
template <typename RealCall>
__attribute__((noinline)) int followedIsend(RealCall call, const void* buffer, int count,
                                            MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
                                            MPI_Request* request) {
  if (followsClocks()) {
    clockSend(comm, dest, tag);
  }
  const int result = call(buffer, count, datatype, dest, tag, comm, request);
  if (result != MPI_SUCCESS) [[unlikely]] {
    if (followsClocks()) {
      clockUnsend(comm, dest, tag);
    }
  } else if (g_engine.requests.count() != 0) {
    g_engine.requests.erase(*request);  // a handle that MPI uses again
  }
  return result;
}

template <typename RealCall>
inline int fastIsend(RealCall call, const void* buffer, int count, MPI_Datatype datatype, int dest,
                     int tag, MPI_Comm comm, MPI_Request* request) {
  const FastEvent event;
  const bool message = fastMessage(dest, comm);
  g_engine.sends += message ? 1U : 0U;
  if (message && (followsClocks() || g_engine.requests.count() != 0)) {
    return followedIsend(call, buffer, count, datatype, dest, tag, comm, request);
  }
  return call(buffer, count, datatype, dest, tag, comm, request);
}

/// The status in the log's header, for a wildcard receive that a fatal error handler may end.
inline MPI_Status& fastStatus(LogHeader& header, std::uint32_t wildNumber,
                              const MPI_Status* wanted) {
  MPI_Status& status = reinterpret_cast<MPI_Status*>(header.status)[0];
  status.MPI_SOURCE = kStatusUntouched;
  status.MPI_ERROR = wanted != MPI_STATUS_IGNORE ? wanted->MPI_ERROR : 0;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  header.posts[0] = wildNumber;
  header.begun.statuses = 1;
  return status;
}

/// From MPI_ANY_SOURCE. An event of its own, with MPI_Recv's arguments, so that it can be jumped
/// to.
int fastWildRecv(void* buffer, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
                 MPI_Status* status);
int receiveWithClocks(void* buffer, int count, MPI_Datatype datatype, int source, int tag,
                      MPI_Comm comm, MPI_Status* status);

inline int fastRecv(void* buffer, int count, MPI_Datatype datatype, int source, int tag,
                    MPI_Comm comm, MPI_Status* status) {
  if (isWild(source) && comm != g_engine.noComm) {
    return fastWildRecv(buffer, count, datatype, source, tag, comm, status);
  }
  const FastCall event(kCallRecv, comm, source, tag);
  const bool message = fastMessage(source, comm);
  if (followsClocks() && message) {
    return receiveWithClocks(buffer, count, datatype, source, tag, comm, status);
  }
  g_engine.posts += message ? 1U : 0U;
  if (g_rankOnly.grouped && isKnownInside(source, comm)) {  // not by the layer, which looks again
    return PF_UNDER(Recv)(buffer, count, datatype, source, tag, comm, status);
  }
  return PF_KNOWN(Recv)(buffer, count, datatype, source, tag, comm, status);
}

/// Not those that need an entry in the table of requests.
inline bool fastReceive(int source, int tag) {
  return fast() && !isWild(source) && (!followsClocks() || clockAssigns(source, tag));
}

/// Of a receive from a given source only the post number is kept, for MPI_Cancel.
inline int fastIrecv(void* buffer, int count, MPI_Datatype datatype, int source, int tag,
                     MPI_Comm comm, MPI_Request* request) {
  const FastEvent event;
  const int result = PF_KNOWN(Irecv)(buffer, count, datatype, source, tag, comm, request);
  if (fastMessage(source, comm)) {
    const std::uint32_t post = g_engine.posts++;
    if (result == MPI_SUCCESS && followsClocks()) {
      clockAssign(post, comm, source, tag, *request);
    } else if (result == MPI_SUCCESS) {
      g_engine.postNumbers.note(*request, post);
    }
  }
  return result;
}

/// Whether the outcome of a completion that reports all of its requests needs no look at them.
inline bool fastCompletion(int count) {
  return fast() && g_engine.requests.count() == 0 &&
         (!followsClocks() || NamedSourceBatch::follows(count));
}

/// `call` has failed: which of its requests it has left pending, if it is one that does.
void fastFailed(std::uint16_t call, int count, const MPI_Request* requests, int result);

template <typename RealCall>
__attribute__((noinline)) int waitWithClocks(int count, const MPI_Request* requests,
                                             RealCall call) {
  NamedSourceBatch batch(count, requests);
  const int result = call();
  if (result == MPI_SUCCESS) {
    batch.observed();
  }
  return result;
}

/// MPI_Wait and MPI_Waitall then. `call(...)` does it.
template <typename RealCall>
inline int fastWait(std::uint16_t callNumber, int count, MPI_Request* requests, RealCall call) {
  const FastCall event(callNumber);
  const int result = !followsClocks() ? call() : waitWithClocks(count, requests, call);
  if (result != MPI_SUCCESS) [[unlikely]] {
    fastFailed(callNumber, count, requests, result);
  }
  return result;
}

}  // namespace pf
