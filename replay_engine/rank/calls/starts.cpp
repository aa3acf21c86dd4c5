// SPDX-License-Identifier: MIT
// Persistent receives, and what starts persistent requests.
#include "replay_engine/rank/calls/offered_requests.h"
#include "replay_engine/rank/calls/persistent_collectives.h"
#include "replay_engine/rank/calls/posted_receives.h"
#include "replay_engine/rank/engine/buffers.h"
#include "replay_engine/rank/engine/contents.h"
#include "replay_engine/rank/engine/wrapper_support.h"
#include "replay_engine/rank/forcing/shadow.h"

namespace pf {

int onRecv_init(const CallPlace&, void* buffer, int count, MPI_Datatype datatype, int source,
                int tag, MPI_Comm comm, MPI_Request* request) {
  const int result = PF_REAL(Recv_init)(buffer, count, datatype, source, tag, comm, request);
  if (result == MPI_SUCCESS && source != MPI_PROC_NULL) {
    const StateLock lock;
    Request entry;
    entry.handle = *request;
    entry.kind = RequestKind::PersistentReceive;
    entry.wild = isWild(source);
    entry.peer = source;
    entry.tag = tag;
    entry.comm = comm;
    g_engine.requests.insertPersistent(entry, buffer, count, datatype);
  }
  forgetSendHandle(*request, result);
  return result;
}

namespace {

/// Starts a persistent send whose message goes routed.
int startTagged(Request& entry, const SendRoute& to) {
  RequestDetails& details = g_engine.requests.detail(entry);
  const auto post = [&](auto call) {
    return call(details.buffer, details.count, details.datatype, to.peer, to.tag, to.comm,
                &details.inner);
  };
  int result = MPI_SUCCESS;
  switch (entry.mode) {
    case SendMode::Standard:
      result = post(PF_REAL(Isend));
      break;
    case SendMode::Buffered:
      result = post(PF_REAL(Ibsend));
      break;
    case SendMode::Synchronous:
      result = post(PF_REAL(Issend));
      break;
    case SendMode::Ready:
      result = post(PF_REAL(Irsend));
      break;
  }
  ++g_engine.requests.substituted;
  return errorOnShadow(entry.comm, result);
}

/// Gives a started persistent request its numbers. True: a replay has posted a stand-in for it.
bool startOne(Request& entry, const Contents& contents, int* result) {
  entry.active = true;
  entry.cancelled = false;
  if (entry.kind == RequestKind::PersistentSend) {
    entry.number = g_engine.sends++;
    sink().started(entry, contents);
    const SendRoute to = routeSend(entry.peer, entry.tag, entry.comm);
    if (to.routed) [[unlikely]] {
      *result = startTagged(entry, to);
    }
    return to.routed;
  }
  Posted posted;
  takeNumbers(entry.peer, posted);
  entry.number = posted.post;
  entry.wildNumber = posted.wildNumber;
  RequestDetails& details = g_engine.requests.detail(entry);
  details.routed = posted.routed;
  noteBuffer(posted.post, details.buffer, details.count, details.datatype);
  sink().started(entry, contents);
  if (!g_engine.replay ||
      (!entry.wild && posted.routed == nullptr && !g_engine.choices.wasCancelled(posted.post))) {
    return false;
  }
  *result = postReceive(posted, details.buffer, details.count, details.datatype, entry.tag,
                        entry.comm, &details.inner);
  ++g_engine.requests.substituted;
  return true;
}

/// What a persistent send that starts now sends.
Contents startedContents(const CallPlace& place, const Request& entry) {
  if (entry.kind != RequestKind::PersistentSend) {
    return {};
  }
  const RequestDetails& details = *entry.details;
  const Contents contents =
      contentsOf({details.buffer, details.count, details.datatype}, entry.peer, entry.comm);
  compareSent(place, contents,
              g_engine.contents ? checkOfSent(entry.comm, entry.peer, entry.tag) : 0);
  return contents;
}

void beginStart(const CallPlace& place) {
  beginEvent(place);
  sink().starts(place);
}

/// Starts `request`; its record follows the Start record.
int startAndLog(const CallPlace& place, MPI_Request* request) {
  Request* entry = g_engine.requests.find(*request);
  if (entry == nullptr) {
    return PF_REAL(Start)(request);
  }
  int result = MPI_SUCCESS;
  const Contents contents = startedContents(place, *entry);
  const bool standsIn = startOne(*entry, contents, &result);
  return standsIn ? result : PF_REAL(Start)(request);
}

}  // namespace

int onStart(const CallPlace& place, MPI_Request* request) {
  const StateLock lock;
  if (isPersistentCollective(*request)) {
    return startCollective(place, request);
  }
  beginStart(place);
  const int result = startAndLog(place, request);
  sink().publish();
  return result;
}

int onStartall(const CallPlace& place, int count, MPI_Request* requests) {
  const StateLock lock;
  int result = MPI_SUCCESS;
  int collectives = 0;
  for (int i = 0; i < count; ++i) {
    collectives += isPersistentCollective(requests[i]) ? 1 : 0;
  }
  if (collectives == 0 || collectives < count) {
    beginStart(place);
    for (int i = 0; i < count && result == MPI_SUCCESS; ++i) {
      result = collectives != 0 && isPersistentCollective(requests[i])
                   ? MPI_SUCCESS
                   : startAndLog(place, &requests[i]);
    }
    sink().publish();
  }
  // Each is an event of its own. MPI starts what is in the array in any order (MPI 4.0, 3.9).
  for (int i = 0; i < count && collectives != 0 && result == MPI_SUCCESS; ++i) {
    if (isPersistentCollective(requests[i])) {
      result = startCollective(place, &requests[i]);
    }
  }
  return result;
}

}  // namespace pf
