// SPDX-License-Identifier: MIT
// Sends, blocking, non-blocking and persistent.
#include "replay_engine/rank/calls/offered_requests.h"
#include "replay_engine/rank/engine/contents.h"
#include "replay_engine/rank/engine/lanes.h"
#include "replay_engine/rank/engine/records.h"
#include "replay_engine/rank/engine/wrapper_support.h"
#include "replay_engine/rank/forcing/shadow.h"

namespace pf {
namespace {

int failedOnRoute(const SendRoute& to, MPI_Comm comm, int result) {
  takeBack(to);
  return to.routed ? errorOnShadow(comm, result) : result;
}

/// Begins a send's event. The record is written before the message leaves: no receiver's record can
/// then name a message that its sender's record does not have.
std::uint32_t beginSend(const CallPlace& place, RecordKind kind, const Data& data, int dest,
                        int tag, MPI_Comm comm) {
  const StateLock lock;
  if (!isMessage(dest, comm)) {
    beginEvent(place);
    sink().local(place);
    return 0;
  }
  beginEvent(place, comm, dest, tag);
  const Contents contents = contentsOf(data, dest, comm);
  sink().sends(place, kind, {comm, dest, tag}, contents);
  compareSent(place, contents, 0);
  return g_engine.sends++;
}

/// A blocking send where other threads may send, too: what is ordered is its begin.
template <typename RealPost>
int sendOfThread(const CallPlace& place, RecordKind kind, RealPost post, const void* buffer,
                 int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm) {
  MPI_Request request = MPI_REQUEST_NULL;
  std::uint32_t number = 0;
  const bool synchronous = kind == RecordKind::SendSync;
  bool routed = false;
  {
    const StateLock lock;
    number = beginSend(place, synchronous ? RecordKind::SendSyncPosted : kind,
                       {buffer, count, datatype}, dest, tag, comm);
    const SendRoute to = routeSend(dest, tag, comm);
    const int result = post(buffer, count, datatype, to.peer, to.tag, to.comm, &request);
    if (result != MPI_SUCCESS && isMessage(dest, comm)) [[unlikely]] {
      sink().sendFailed({comm, dest, tag});
      return failedOnRoute(to, comm, result);
    }
    if (result != MPI_SUCCESS || request == MPI_REQUEST_NULL) {
      return result;
    }
    g_engine.requests.erase(request);  // a handle that MPI uses again
    enterCall(place, comm, dest, tag);
    routed = to.routed;
  }
  const int result = PF_REAL(Wait)(&request, MPI_STATUS_IGNORE);
  const StateLock lock;
  if (synchronous && isMessage(dest, comm)) {
    beginEvent(place);
    sink().synchronousDone(place, number);
  }
  leaveCall();
  return routed ? errorOnShadow(comm, result) : result;
}

template <typename RealCall, typename RealPost>
int blockingSend(const CallPlace& place, RecordKind kind, RealCall call, RealPost post,
                 const void* buffer, int count, MPI_Datatype datatype, int dest, int tag,
                 MPI_Comm comm) {
  if (g_engine.threads) [[unlikely]] {
    return sendOfThread(place, kind, post, buffer, count, datatype, dest, tag, comm);
  }
  beginSend(place, kind, {buffer, count, datatype}, dest, tag, comm);
  const InCall inCall(place, RecordKind::Padding, comm, dest, tag);
  const SendRoute to = routeSend(dest, tag, comm);
  const int result = call(buffer, count, datatype, to.peer, to.tag, to.comm);
  if (result != MPI_SUCCESS && isMessage(dest, comm)) [[unlikely]] {
    const StateLock lock;
    sink().sendFailed({comm, dest, tag});
    return failedOnRoute(to, comm, result);
  }
  return result;
}

template <typename RealCall>
int nonblockingSend(const CallPlace& place, RecordKind kind, RealCall call, const void* buffer,
                    int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
                    MPI_Request* request) {
  const StateLock lock;
  const std::uint32_t number = beginSend(place, kind, {buffer, count, datatype}, dest, tag, comm);
  const SendRoute to = routeSend(dest, tag, comm);
  const int result = call(buffer, count, datatype, to.peer, to.tag, to.comm, request);
  if (!isMessage(dest, comm)) {
    noteSendHandle(*request, result);
    return result;
  }
  if (result != MPI_SUCCESS) [[unlikely]] {
    sink().sendFailed({comm, dest, tag});
    return failedOnRoute(to, comm, result);
  }
  if (kind == RecordKind::Send) {
    noteSendHandle(*request, result);
  }
  if (g_engine.requests.count() != 0) {
    g_engine.requests.erase(*request);  // a handle that MPI uses again
  }
  if (kind == RecordKind::SendSyncPosted) {
    sink().synchronousPosted(*request, number);
  }
  return result;
}

template <typename RealCall>
int persistentSend(RealCall call, SendMode mode, const void* buffer, int count,
                   MPI_Datatype datatype, int dest, int tag, MPI_Comm comm, MPI_Request* request) {
  const int result = call(buffer, count, datatype, dest, tag, comm, request);
  if (result == MPI_SUCCESS && dest != MPI_PROC_NULL) {
    const StateLock lock;
    Request entry;
    entry.handle = *request;
    entry.kind = RequestKind::PersistentSend;
    entry.mode = mode;
    entry.peer = dest;
    entry.tag = tag;
    entry.comm = comm;
    g_engine.requests.insertPersistent(entry, buffer, count, datatype);
  }
  forgetSendHandle(*request, result);
  return result;
}

}  // namespace

#define PF_SEND(Name, kind, Post)                                                             \
  int on##Name(const CallPlace& place, const void* buffer, int count, MPI_Datatype datatype,  \
               int dest, int tag, MPI_Comm comm) {                                            \
    return blockingSend(place, RecordKind::kind, PF_REAL(Name), PF_REAL(Post), buffer, count, \
                        datatype, dest, tag, comm);                                           \
  }
PF_SEND(Send, Send, Isend)
PF_SEND(Bsend, Send, Ibsend)
PF_SEND(Ssend, SendSync, Issend)
PF_SEND(Rsend, Send, Irsend)
#undef PF_SEND

#define PF_SEND(Name, kind)                                                                       \
  int on##Name(const CallPlace& place, const void* buffer, int count, MPI_Datatype datatype,      \
               int dest, int tag, MPI_Comm comm, MPI_Request* request) {                          \
    return nonblockingSend(place, RecordKind::kind, PF_REAL(Name), buffer, count, datatype, dest, \
                           tag, comm, request);                                                   \
  }
PF_SEND(Isend, Send)
PF_SEND(Ibsend, Send)
PF_SEND(Issend, SendSyncPosted)
PF_SEND(Irsend, Send)
#undef PF_SEND

#define PF_SEND(Name, mode)                                                                        \
  int on##Name(const CallPlace&, const void* buffer, int count, MPI_Datatype datatype, int dest,   \
               int tag, MPI_Comm comm, MPI_Request* request) {                                     \
    return persistentSend(PF_REAL(Name), SendMode::mode, buffer, count, datatype, dest, tag, comm, \
                          request);                                                                \
  }
PF_SEND(Send_init, Standard)
PF_SEND(Bsend_init, Buffered)
PF_SEND(Ssend_init, Synchronous)
PF_SEND(Rsend_init, Ready)
#undef PF_SEND

}  // namespace pf
