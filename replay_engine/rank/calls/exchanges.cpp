// SPDX-License-Identifier: MIT
// MPI_Sendrecv and MPI_Sendrecv_replace.
#include <cstdlib>
#include <cstring>

#include "replay_engine/rank/calls/posted_receives.h"
#include "replay_engine/rank/engine/buffers.h"
#include "replay_engine/rank/engine/contents.h"
#include "replay_engine/rank/engine/packing.h"
#include "replay_engine/rank/engine/wrapper_support.h"
#include "replay_engine/rank/forcing/shadow.h"

namespace pf {

namespace {

/// What the two halves of MPI_Sendrecv are asked for.
struct Exchange : ExchangeEnvelopes {
  Data sent;
  const void* buffer;  ///< of the receive
  int count;
  MPI_Datatype datatype;
};

Contents contentsToSend(const Data& data, int dest, MPI_Comm comm) {
  return isMessage(dest, comm) ? contentsOf(data, dest, comm) : Contents{};
}

/// Posts the receive of an exchange, and then its send, as two requests.
int postExchange(const ShadowExchange& what, const ProbeRoute& from, const SendRoute& to,
                 MPI_Request* requests) {
  const int received = PF_REAL(Irecv)(what.buffer, what.count, what.datatype, from.source, from.tag,
                                      from.comm, &requests[0]);
  return received != MPI_SUCCESS ? received
                                 : PF_REAL(Isend)(what.sendBuffer, what.sendCount, what.sendType,
                                                  to.peer, to.tag, to.comm, &requests[1]);
}

/// MPI_Sendrecv where other threads may send and receive, too. `post(from, to, requests)` posts the
/// receive and the send.
template <typename Post>
int exchangeOfThread(const CallPlace& place, const Exchange& what, Post post, MPI_Status* status) {
  MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  MPI_Status taken;
  Posted posted;
  posted.source = what.source;
  bool sendRouted = false;
  {
    const StateLock lock;
    beginEvent(place);
    const Contents sent = contentsToSend(what.sent, what.dest, what.comm);
    sink().exchangePosts(place, what, sent);
    if (what.dest != MPI_PROC_NULL) {
      compareSent(place, sent,
                  g_engine.contents ? checkOfSent(what.comm, what.dest, what.sendTag) : 0);
      ++g_engine.sends;
    }
    if (what.source != MPI_PROC_NULL) {
      takeNumbers(what.source, posted);
      noteBuffer(posted.post, what.buffer, what.count, what.datatype);
    }
    const SendRoute to = routeSend(what.dest, what.sendTag, what.comm);
    const ProbeRoute from = posted.routed != nullptr
                                ? shadowOf(*posted.routed)
                                : ProbeRoute{posted.source, what.receiveTag, what.comm};
    const int result = post(from, to, requests);
    if (result != MPI_SUCCESS) {
      const bool sendFailed = requests[0] != MPI_REQUEST_NULL;
      if (sendFailed) {  // the receive must not take a later message
        PF_REAL(Cancel)(&requests[0]);
        PF_REAL(Request_free)(&requests[0]);
      }
      takeBack(to);
      const bool onShadow = sendFailed ? to.routed : posted.routed != nullptr;
      return onShadow ? errorOnShadow(what.comm, result) : result;
    }
    sendRouted = to.routed;
    g_engine.requests.erase(requests[0]);  // handles that MPI uses again
    g_engine.requests.erase(requests[1]);
    if (what.source != MPI_PROC_NULL) {
      sink().posted(posted.post, {what.comm, what.source, what.receiveTag}, requests[0]);
    }
  }
  const InCall inCall(place, RecordKind::Padding, what.comm, what.source, what.receiveTag);
  // Not by MPI_Waitall: with threads Open MPI 4.1.4 spins for ever in one that meets an error.
  const int received = PF_REAL(Wait)(&requests[0], &taken);
  const int sent = PF_REAL(Wait)(&requests[1], MPI_STATUS_IGNORE);
  restoreStatus(&taken, posted.routed);
  if (status != MPI_STATUS_IGNORE) {
    const int before = status->MPI_ERROR;
    *status = taken;
    status->MPI_ERROR = before;
  }
  endReceive(place, posted, {what.comm, what.source, what.receiveTag}, &taken, received);
  if (received != MPI_SUCCESS) {
    return posted.routed != nullptr ? errorOnShadow(what.comm, received) : received;
  }
  return sendRouted ? errorOnShadow(what.comm, sent) : sent;
}

/// Both forms of MPI_Sendrecv. `call(source, status)` does it, `split(route, tag, status)` where a
/// half of it goes routed.
template <typename RealCall, typename Split>
int sendReceive(const CallPlace& place, RealCall call, Split split, const Contents& sent, int dest,
                int sendTag, int source, int receiveTag, MPI_Comm comm, MPI_Status* status) {
  if (comm == MPI_COMM_NULL) {
    const StateLock lock;
    beginEvent(place);
    sink().local(place);
    return call(source, status);
  }
  const ExchangeEnvelopes envelopes{comm, dest, sendTag, source, receiveTag};
  Posted posted;
  posted.source = source;
  MPI_Status own;
  {
    const StateLock lock;
    beginEvent(place, comm, source, receiveTag);
    if (dest != MPI_PROC_NULL) {
      compareSent(place, sent, g_engine.contents ? checkOfSent(comm, dest, sendTag) : 0);
      ++g_engine.sends;
    }
    sink().exchanges(envelopes);
    if (source != MPI_PROC_NULL) {
      takeNumbers(source, posted);
      if (g_engine.jitter) [[unlikely]] {
        posted.source = jitteredSource(posted.source, receiveTag, comm);
      }
    }
  }
  MPI_Status* use = status != MPI_STATUS_IGNORE ? status : &own;
  int result = MPI_SUCCESS;
  {
    const InCall inCall(place, RecordKind::SendReceive, comm, source, receiveTag);
    const SendRoute to = routeSend(dest, sendTag, comm);
    result =
        to.routed || posted.routed != nullptr ? split(to, posted, use) : call(posted.source, use);
  }
  const StateLock lock;
  const bool filled = hasStatus(result) && source != MPI_PROC_NULL;
  sink().exchanged(place, posted, envelopes, sent, filled ? use : nullptr);
  return result;
}

/// MPI_Sendrecv_replace in parts: `rest(copy, bytes)` goes on with a packed copy of what to send,
/// as Open MPI does.
template <typename Rest>
int withPackedCopy(const void* buffer, int count, MPI_Datatype datatype, MPI_Comm comm, Rest rest) {
  int size = 0;
  int packed = 0;
  if (const int result = PF_REAL(Pack_size)(count, datatype, comm, &size); result != MPI_SUCCESS) {
    return result;
  }
  void* copy = std::malloc(static_cast<std::size_t>(size) + 1);
  int result = copy == nullptr ? MPI_ERR_NO_MEM
                               : packElements(buffer, count, datatype, copy, size, &packed, comm);
  if (result == MPI_SUCCESS) {
    result = rest(copy, packed);
  }
  std::free(copy);
  return result;
}

int replaceOfThread(const CallPlace& place, void* buffer, int count, MPI_Datatype datatype,
                    int dest, int sendTag, int source, int tag, MPI_Comm comm, MPI_Status* status) {
  return withPackedCopy(buffer, count, datatype, comm, [&](const void* copy, int packed) {
    const auto post = [&](const ProbeRoute& from, const SendRoute& to, MPI_Request* requests) {
      return postExchange({copy, packed, MPI_PACKED, buffer, count, datatype, source, tag, comm},
                          from, to, requests);
    };
    const Exchange what{
        {comm, dest, sendTag, source, tag}, {copy, packed, MPI_PACKED}, buffer, count, datatype};
    return exchangeOfThread(place, what, post, status);
  });
}

}  // namespace

int onSendrecv(const CallPlace& place, const void* sendBuffer, int sendCount, MPI_Datatype sendType,
               int dest, int sendTag, void* buffer, int count, MPI_Datatype datatype, int source,
               int tag, MPI_Comm comm, MPI_Status* status) {
  if (g_engine.threads && comm != MPI_COMM_NULL) [[unlikely]] {
    const auto post = [&](const ProbeRoute& from, const SendRoute& to, MPI_Request* requests) {
      return postExchange(
          {sendBuffer, sendCount, sendType, buffer, count, datatype, source, tag, comm}, from, to,
          requests);
    };
    const Exchange what{{comm, dest, sendTag, source, tag},
                        {sendBuffer, sendCount, sendType},
                        buffer,
                        count,
                        datatype};
    return exchangeOfThread(place, what, post, status);
  }
  if (source != MPI_PROC_NULL) {
    noteBuffer(g_engine.posts, buffer, count, datatype);
  }
  const auto call = [&](int forced, MPI_Status* use) {
    return PF_REAL(Sendrecv)(sendBuffer, sendCount, sendType, dest, sendTag, buffer, count,
                             datatype, forced, tag, comm, use);
  };
  const auto split = [&](const SendRoute& to, const Posted& posted, MPI_Status* use) {
    return exchangeTagged(
        {sendBuffer, sendCount, sendType, buffer, count, datatype, posted.source, tag, comm}, to,
        posted.routed, use);
  };
  return sendReceive(place, call, split,
                     contentsToSend({sendBuffer, sendCount, sendType}, dest, comm), dest, sendTag,
                     source, tag, comm, status);
}

int onSendrecv_replace(const CallPlace& place, void* buffer, int count, MPI_Datatype datatype,
                       int dest, int sendTag, int source, int tag, MPI_Comm comm,
                       MPI_Status* status) {
  if (g_engine.threads && comm != MPI_COMM_NULL) [[unlikely]] {
    return replaceOfThread(place, buffer, count, datatype, dest, sendTag, source, tag, comm,
                           status);
  }
  if (source != MPI_PROC_NULL) {
    noteBuffer(g_engine.posts, buffer, count, datatype);
  }
  const auto call = [&](int forced, MPI_Status* use) {
    return PF_REAL(Sendrecv_replace)(buffer, count, datatype, dest, sendTag, forced, tag, comm,
                                     use);
  };
  const auto split = [&](const SendRoute& to, const Posted& posted, MPI_Status* use) {
    return withPackedCopy(buffer, count, datatype, comm, [&](const void* copy, int packed) {
      return exchangeTagged(
          {copy, packed, MPI_PACKED, buffer, count, datatype, posted.source, tag, comm}, to,
          posted.routed, use);
    });
  };
  return sendReceive(place, call, split, contentsToSend({buffer, count, datatype}, dest, comm),
                     dest, sendTag, source, tag, comm, status);
}

}  // namespace pf
