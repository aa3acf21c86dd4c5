// SPDX-License-Identifier: MIT
// Receives, blocking and non-blocking.
#include <cstdlib>
#include <cstring>

#include "replay_engine/rank/calls/fast_path.h"
#include "replay_engine/rank/calls/posted_receives.h"
#include "replay_engine/rank/calls/request_batch.h"
#include "replay_engine/rank/clocks/clocks.h"
#include "replay_engine/rank/engine/buffers.h"
#include "replay_engine/rank/engine/lanes.h"
#include "replay_engine/rank/forcing/shadow.h"
#include "replay_engine/rank/recording/choice_sink.h"

namespace pf {

int forcedSource(int source, std::uint32_t wildNumber) {
  const std::int32_t pin = g_engine.choices.pin(wildNumber);
  return pin == kPinUnknown ? source : pin;
}

int fastWildRecv(void* buffer, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
                 MPI_Status* status) {
  LogHeader& header = g_engine.log.header();
  const FastCall event(*g_engine.page, header, kCallRecv, comm, source, tag);
  ++g_engine.posts;
  const std::uint32_t wildNumber = g_engine.wildPosts++;
  MPI_Status& surviving = fastStatus(header, wildNumber, status);
  const int result = PF_KNOWN(Recv)(buffer, count, datatype, MPI_ANY_SOURCE, tag, comm, &surviving);
  if (status != MPI_STATUS_IGNORE && surviving.MPI_SOURCE != kStatusUntouched) {
    copyStatus(status, surviving);
  }
  if (hasStatus(result)) {
    logWild(wildNumber, surviving.MPI_SOURCE);
    if (followsClocks()) {
      clockWildcardReceive(g_engine.posts - 1, wildNumber, comm, tag == MPI_ANY_TAG ? -1 : tag,
                           surviving.MPI_SOURCE, tag == MPI_ANY_TAG ? surviving.MPI_TAG : tag);
    }
  }
  return result;
}

int receiveWithClocks(void* buffer, int count, MPI_Datatype datatype, int source, int tag,
                      MPI_Comm comm, MPI_Status* status) {
  const std::uint32_t post = g_engine.posts++;
  MPI_Status own;
  MPI_Status* use = tag == MPI_ANY_TAG && status == MPI_STATUS_IGNORE ? &own : status;
  const int result = PF_KNOWN(Recv)(buffer, count, datatype, source, tag, comm, use);
  if (hasStatus(result)) {
    clockTaken({post, false, 0, comm, tag == MPI_ANY_TAG ? -1 : tag, source,
                tag == MPI_ANY_TAG ? use->MPI_TAG : tag});
  }
  return result;
}

MPI_Status* survivingStatuses(int count) {
  static_assert(sizeof(MPI_Status) <= kStatusSize);
  if (!g_engine.record || g_engine.threads || count > static_cast<int>(kStatusSlots)) {
    return nullptr;
  }
  return reinterpret_cast<MPI_Status*>(g_engine.log.header().status);
}

void surviveAs(std::uint32_t slot, std::uint32_t number, const MPI_Status& before) {
  LogHeader& header = g_engine.log.header();
  MPI_Status& status = reinterpret_cast<MPI_Status*>(header.status)[slot];
  status = before;
  status.MPI_SOURCE = kStatusUntouched;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  header.posts[slot] = number;
  header.begun.statuses = slot + 1;
}

void takeNumbers(int source, Posted& posted) {
  posted.post = g_engine.posts++;
  posted.wild = isWild(source);
  posted.source = source;
  if (posted.wild) {
    posted.wildNumber = g_engine.wildPosts++;
    posted.source = forcedSource(source, posted.wildNumber);
  }
  posted.routed = routeOfPost(posted.post);
}

int postReceive(const Posted& posted, void* buffer, int count, MPI_Datatype datatype, int tag,
                MPI_Comm comm, MPI_Request* request) {
  if (g_engine.choices.wasCancelled(posted.post)) {
    return PF_REAL(Irecv)(buffer, count, datatype, 0, 0, g_engine.nowhere, request);
  }
  if (posted.routed != nullptr) [[unlikely]] {
    const ProbeRoute from = shadowOf(*posted.routed);
    const int result =
        PF_REAL(Irecv)(buffer, count, datatype, from.source, from.tag, from.comm, request);
    return errorOnShadow(comm, result);
  }
  return PF_REAL(Irecv)(buffer, count, datatype, posted.source, tag, comm, request);
}

namespace {

Request entryOfReceive(const Posted& posted, Envelope envelope) {
  Request entry;
  entry.kind = RequestKind::Receive;
  entry.wild = posted.wild;
  entry.number = posted.post;
  entry.wildNumber = posted.wildNumber;
  entry.peer = envelope.peer;
  entry.tag = envelope.tag;
  entry.comm = envelope.comm;
  return entry;
}

}  // namespace

Request* fileReceive(const Posted& posted, Envelope envelope, MPI_Request request) {
  Request entry = entryOfReceive(posted, envelope);
  entry.handle = request;
  // What it takes here nobody is to believe that it took in the recording.
  entry.active = !g_engine.replay || g_engine.live || !isWild(posted.source);
  Request* const inserted = g_engine.requests.insert(entry);
  if (posted.routed != nullptr) [[unlikely]] {
    g_engine.requests.detail(*inserted).routed = posted.routed;
  }
  sink().posted(posted.post, envelope, request);
  return inserted;
}

void endReceive(const CallPlace& place, const Posted& posted, Envelope envelope,
                const MPI_Status* status, int result) {
  const StateLock lock;
  beginEvent(place);
  sink().completes(place);
  if (envelope.peer != MPI_PROC_NULL) {
    sink().receiveDone(entryOfReceive(posted, envelope), status, result);
  }
  sink().told();
}

namespace {

/// MPI_Recv where other threads may receive, too: what MPI's matching sees is its post.
int receiveOfThread(const CallPlace& place, void* buffer, int count, MPI_Datatype datatype,
                    int source, int tag, MPI_Comm comm, MPI_Status* status) {
  MPI_Request request = MPI_REQUEST_NULL;
  Posted posted;
  {
    const StateLock lock;
    beginEvent(place, comm, source, tag);
    takeNumbers(source, posted);
    noteBuffer(posted.post, buffer, count, datatype);
    sink().posts(place, {comm, source, tag});
    const int result = postReceive(posted, buffer, count, datatype, tag, comm, &request);
    if (result != MPI_SUCCESS) {
      return result;
    }
    g_engine.requests.erase(request);  // a handle that MPI uses again
    sink().posted(posted.post, {comm, source, tag}, request);
    enterCall(place, comm, source, tag);
  }
  MPI_Status own;
  MPI_Status* use = status != MPI_STATUS_IGNORE ? status : &own;
  const int result = PF_REAL(Wait)(&request, use);
  restoreStatus(use, posted.routed);
  {
    const StateLock lock;
    endReceive(place, posted, {comm, source, tag}, use, result);
    leaveCall();
  }
  return posted.routed != nullptr ? errorOnShadow(comm, result) : result;
}

}  // namespace

int onRecv(const CallPlace& place, void* buffer, int count, MPI_Datatype datatype, int source,
           int tag, MPI_Comm comm, MPI_Status* status) {
  if (g_engine.threads && isMessage(source, comm)) [[unlikely]] {
    return receiveOfThread(place, buffer, count, datatype, source, tag, comm, status);
  }
  Posted posted;
  MPI_Status own;
  MPI_Status* use = status;
  {
    const StateLock lock;
    if (!isMessage(source, comm)) {
      beginEvent(place);
      sink().local(place);
      return PF_REAL(Recv)(buffer, count, datatype, source, tag, comm, status);
    }
    beginEvent(place, comm, source, tag);
    takeNumbers(source, posted);
    noteBuffer(posted.post, buffer, count, datatype);
    if (g_engine.jitter) [[unlikely]] {
      posted.source = jitteredSource(posted.source, tag, comm);
    }
    if (g_engine.record && (posted.wild || tag == MPI_ANY_TAG)) {
      use = status != MPI_STATUS_IGNORE ? status : &own;
      if (MPI_Status* surviving = survivingStatuses(1); surviving != nullptr) {
        surviveAs(0, survivorNumber(posted.post, posted.wild, posted.wildNumber), *use);
        use = surviving;
      }
    }
  }
  const InCall inCall(place, RecordKind::Receive, comm, source, tag);
  if (posted.source != source) {
    sayPeer(comm, posted.source, tag);
  }
  const int result = posted.routed != nullptr
                         ? receiveRouted(*posted.routed, buffer, count, datatype, comm, use)
                         : PF_REAL(Recv)(buffer, count, datatype, posted.source, tag, comm, use);
  if (use != status && status != MPI_STATUS_IGNORE && use->MPI_SOURCE != kStatusUntouched) {
    *status = *use;
  }
  if (g_engine.record) {
    const StateLock lock;
    MPI_Status taken;
    const bool asked = posted.wild || tag == MPI_ANY_TAG;
    taken.MPI_SOURCE = asked ? use->MPI_SOURCE : source;
    taken.MPI_TAG = asked ? use->MPI_TAG : tag;
    sink().received(place, posted, {comm, source, tag}, hasStatus(result) ? &taken : nullptr);
    forgetStatuses();
  }
  return result;
}

int onIrecv(const CallPlace& place, void* buffer, int count, MPI_Datatype datatype, int source,
            int tag, MPI_Comm comm, MPI_Request* request) {
  const StateLock lock;
  if (!isMessage(source, comm)) {
    beginEvent(place);
    sink().local(place);
    return PF_REAL(Irecv)(buffer, count, datatype, source, tag, comm, request);
  }
  beginEvent(place, comm, source, tag);
  Posted posted;
  takeNumbers(source, posted);
  noteBuffer(posted.post, buffer, count, datatype);
  if (g_engine.jitter) [[unlikely]] {
    posted.source = jitteredSource(posted.source, tag, comm);
  }
  sink().posts(place, {comm, source, tag});
  const int result = postReceive(posted, buffer, count, datatype, tag, comm, request);
  if (result == MPI_SUCCESS) {
    fileReceive(posted, {comm, source, tag}, *request);
  }
  return result;
}

int onMrecv(const CallPlace& place, void* buffer, int count, MPI_Datatype datatype,
            MPI_Message* message, MPI_Status* status) {
  KeptMessage kept;
  {
    const StateLock lock;
    beginEvent(place);
    noteBuffer(kNoPost, buffer, count, datatype);
    sink().local(place);
    kept = takeMessage(*message);
  }
  const InCall inCall(place, RecordKind::Padding, MPI_COMM_NULL, kNoPeer, -1);
  const int result = PF_REAL(Mrecv)(buffer, count, datatype, message, status);
  restoreStatus(status, kept.tag);
  return kept.tag != nullptr ? errorOnShadow(kept.comm, result) : result;
}

int onImrecv(const CallPlace& place, void* buffer, int count, MPI_Datatype datatype,
             MPI_Message* message, MPI_Request* request) {
  const StateLock lock;
  beginEvent(place);
  noteBuffer(kNoPost, buffer, count, datatype);
  sink().local(place);
  const KeptMessage kept = takeMessage(*message);
  const int result = PF_REAL(Imrecv)(buffer, count, datatype, message, request);
  if (result == MPI_SUCCESS) {
    g_engine.requests.erase(*request);
  }
  if (kept.tag == nullptr) {
    return result;
  }
  if (result == MPI_SUCCESS) {
    Request entry;
    entry.handle = *request;
    entry.kind = RequestKind::RoutedMessage;
    entry.comm = kept.comm;
    g_engine.requests.detail(*g_engine.requests.insert(entry)).routed = kept.tag;
  }
  return errorOnShadow(kept.comm, result);
}

}  // namespace pf
