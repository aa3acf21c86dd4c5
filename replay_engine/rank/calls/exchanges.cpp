// SPDX-License-Identifier: MIT
// MPI_Sendrecv, MPI_Isendrecv (MPI 4.0, 3.10) and their forms that replace.
#include <climits>
#include <cstdlib>
#include <cstring>

#include "replay_engine/rank/calls/offered_requests.h"
#include "replay_engine/rank/calls/posted_receives.h"
#include "replay_engine/rank/engine/buffers.h"
#include "replay_engine/rank/engine/contents.h"
#include "replay_engine/rank/engine/packing.h"
#include "replay_engine/rank/engine/send_halves.h"
#include "replay_engine/rank/engine/wrapper_support.h"
#include "replay_engine/rank/forcing/shadow.h"

namespace pf {

namespace {

/// What the two halves of MPI_Sendrecv are asked for.
struct Exchange : ExchangeEnvelopes {
  Data given;    ///< to send
  Data sent;     ///< that, or a copy
  void* buffer;  ///< of the receive
  int count;
  MPI_Datatype datatype;
};

Contents contentsToSend(const Data& data, int dest, MPI_Comm comm) {
  return isMessage(dest, comm) ? contentsOf(data, dest, comm) : Contents{};
}

struct PostedExchange {
  MPI_Request receive = MPI_REQUEST_NULL;
  MPI_Request send = MPI_REQUEST_NULL;
  Posted posted;
  bool sendRouted = false;
};

/// Begins the event of an exchange, and posts its receive, and then its send, as two requests. The engine's lock is held.
int postExchange(const CallPlace& place, const Exchange& what, PostedExchange& made) {
  Posted& posted = made.posted;
  posted.source = what.source;
  if (what.source == MPI_PROC_NULL) {
    beginEvent(place);
  } else {
    beginEvent(place, what.comm, what.source, what.receiveTag);
  }
  const Contents sent = contentsToSend(what.given, what.dest, what.comm);
  sink().exchangePosts(place, what, sent);
  if (what.dest != MPI_PROC_NULL) {
    compareSent(place, sent,
                g_engine.contents ? checkOfSent(what.comm, what.dest, what.sendTag) : 0);
    ++g_engine.sends;
  }
  if (what.source != MPI_PROC_NULL) {
    takeNumbers(what.source, posted);
    noteBuffer(posted.post, what.buffer, what.count, what.datatype);
    if (g_engine.jitter) [[unlikely]] {
      posted.source = jitteredSource(posted.source, what.receiveTag, what.comm);
    }
  }
  const SendRoute to = routeSend(what.dest, what.sendTag, what.comm);
  const ProbeRoute from = posted.routed != nullptr
                              ? shadowOf(*posted.routed)
                              : ProbeRoute{posted.source, what.receiveTag, what.comm};
  const int checked =
      checkSendHalf(what.sent.buffer, what.sent.count, what.sent.type, to.peer, to.tag, to.comm);
  int result = checked != MPI_SUCCESS
                   ? checked
                   : PF_REAL(Irecv)(what.buffer, what.count, what.datatype, from.source, from.tag,
                                    from.comm, &made.receive);
  const bool isPosted = result == MPI_SUCCESS;
  if (isPosted) {
    result = PF_REAL(Isend)(what.sent.buffer, what.sent.count, what.sent.type, to.peer, to.tag,
                            to.comm, &made.send);
  }
  if (result != MPI_SUCCESS) {
    if (isPosted) {  // the receive must not take a later message
      PF_REAL(Cancel)(&made.receive);
      PF_REAL(Request_free)(&made.receive);
    }
    if (what.dest != MPI_PROC_NULL) {
      sink().sendFailed({what.comm, what.dest, what.sendTag});
    }
    takeBack(to);
    const bool ofSend = isPosted || checked != MPI_SUCCESS;
    const bool onShadow = ofSend ? to.routed : posted.routed != nullptr;
    return onShadow ? errorOnShadow(what.comm, result) : result;
  }
  made.sendRouted = to.routed;
  g_engine.requests.erase(made.receive);  // handles that MPI uses again
  g_engine.requests.erase(made.send);
  return MPI_SUCCESS;
}

/// MPI_Sendrecv where other threads may send and receive, too.
int exchangeOfThread(const CallPlace& place, const Exchange& what, MPI_Status* status) {
  PostedExchange made;
  const Posted& posted = made.posted;
  {
    const StateLock lock;
    if (const int result = postExchange(place, what, made); result != MPI_SUCCESS) {
      return result;
    }
    if (what.source != MPI_PROC_NULL) {
      sink().posted(posted.post, {what.comm, what.source, what.receiveTag}, made.receive);
    }
  }
  MPI_Status taken;
  const InCall inCall(place, RecordKind::Padding, what.comm, what.source, what.receiveTag);
  // Not by MPI_Waitall: with threads Open MPI 4.1.4 spins for ever in one that meets an error.
  const int received = PF_REAL(Wait)(&made.receive, &taken);
  const int sent = PF_REAL(Wait)(&made.send, MPI_STATUS_IGNORE);
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
  return made.sendRouted ? errorOnShadow(what.comm, sent) : sent;
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

/// A copy of what a call sends from where it receives.
struct Copy {
  void* memory = nullptr;  ///< of malloc(); null: there is none, and `result` says why
  Data data{};
  int result = MPI_SUCCESS;
};

/// Bytes of one element. False: MPI refuses to say.
bool sizeOfOne(MPI_Datatype type, MPI_Count* size) {
  return type != MPI_DATATYPE_NULL && PF_REAL(Type_size_x)(type, size) == MPI_SUCCESS;
}

/// Whether the elements, of `size` bytes, lie one behind the other without gaps: where, from the buffer on.
bool isDense(const Data& data, MPI_Count size, MPI_Aint* begin) {
  MPI_Aint lower = 0;
  MPI_Aint extent = 0;
  MPI_Aint bytes = 0;
  return data.count >= 0 && PF_REAL(Type_get_extent)(data.type, &lower, &extent) == MPI_SUCCESS &&
         PF_REAL(Type_get_true_extent)(data.type, begin, &bytes) == MPI_SUCCESS && size == bytes &&
         (data.count <= 1 || extent == bytes);
}

Copy makeCopy(const Data& data, MPI_Comm comm) {
  Copy copy;
  MPI_Count size = 0;
  MPI_Aint begin = 0;
  const bool sized = sizeOfOne(data.type, &size);
  if (sized && isDense(data, size, &begin)) {
    const auto bytes = static_cast<std::size_t>(size) * static_cast<std::size_t>(data.count);
    const auto from = reinterpret_cast<std::uintptr_t>(data.buffer);
    const auto shift = static_cast<std::uintptr_t>(begin);
    copy.memory = std::malloc(bytes + 1);
    if (copy.memory != nullptr && bytes != 0) {
      std::memcpy(copy.memory, reinterpret_cast<const void*>(from + shift), bytes);
    }
    copy.data = {
        reinterpret_cast<const void*>(reinterpret_cast<std::uintptr_t>(copy.memory) - shift),
        data.count, data.type};
    copy.result = copy.memory == nullptr ? MPI_ERR_NO_MEM : MPI_SUCCESS;
    return copy;
  }
  int room = 0;
  int packed = 0;
  if (sized && data.count > 0 && size > INT_MAX / data.count) {
    copy.result = MPI_ERR_COUNT;  // with gaps, and more than MPI_Pack can
    PF_REAL(Comm_call_errhandler)(comm, copy.result);
    return copy;
  }
  copy.result = PF_REAL(Pack_size)(data.count, data.type, comm, &room);
  if (copy.result != MPI_SUCCESS) {
    return copy;
  }
  copy.memory = std::malloc(static_cast<std::size_t>(room) + 1);
  copy.result = copy.memory == nullptr ? MPI_ERR_NO_MEM
                                       : packElements(data.buffer, data.count, data.type,
                                                      copy.memory, room, &packed, comm);
  if (copy.result != MPI_SUCCESS) {
    std::free(copy.memory);
    copy.memory = nullptr;
  }
  copy.data = {copy.memory, packed, MPI_PACKED};
  return copy;
}

/// MPI_Sendrecv_replace in parts, as Open MPI does it: `rest(data)` goes on with a copy of what to send.
template <typename Rest>
int withCopy(const Data& data, MPI_Comm comm, Rest rest) {
  const Copy copy = makeCopy(data, comm);
  const int result = copy.memory != nullptr ? rest(copy.data) : copy.result;
  std::free(copy.memory);
  return result;
}

int nobodysStatus(void*, MPI_Status* status) {
  PF_REAL(Status_set_elements)(status, MPI_BYTE, 0);
  PF_REAL(Status_set_cancelled)(status, 0);
  status->MPI_SOURCE = MPI_PROC_NULL;
  status->MPI_TAG = MPI_ANY_TAG;
  return MPI_SUCCESS;
}
int nothingToFree(void*) {
  return MPI_SUCCESS;
}
int nothingToCancel(void*, int) {
  return MPI_SUCCESS;
}

/// A request as of a receive from MPI_PROC_NULL, whose handle, other than those of MPI, no other has.
Request* fileReceiveFromNobody(MPI_Comm comm, MPI_Request* request) {
  PF_REAL(Grequest_start)(nobodysStatus, nothingToFree, nothingToCancel, nullptr, request);
  PF_REAL(Grequest_complete)(*request);
  Request entry;
  entry.handle = *request;
  entry.comm = comm;
  return g_engine.requests.insert(entry);
}

/// MPI_Isendrecv. `copy`: what is sent lies in it; or null.
int exchangeByRequest(const CallPlace& place, const Exchange& what, void* copy,
                      MPI_Request* request) {
  const StateLock lock;
  if (what.comm == MPI_COMM_NULL) {  // MPI refuses it
    beginEvent(place);
    sink().local(place);
    return PF_REAL(Irecv)(what.buffer, what.count, what.datatype, what.source, what.receiveTag,
                          what.comm, request);
  }
  endLeftSends();
  PostedExchange made;
  if (const int result = postExchange(place, what, made); result != MPI_SUCCESS) {
    std::free(copy);
    return result;
  }
  Request* entry = nullptr;
  if (what.source == MPI_PROC_NULL) {
    PF_REAL(Wait)(&made.receive, MPI_STATUS_IGNORE);  // it is done
    entry = fileReceiveFromNobody(what.comm, request);
  } else {
    *request = made.receive;
    entry = fileReceive(made.posted, {what.comm, what.source, what.receiveTag}, made.receive);
  }
  entry->exchange = true;
  if (what.dest == MPI_PROC_NULL) {
    PF_REAL(Wait)(&made.send, MPI_STATUS_IGNORE);  // it is done
  } else {
    keepSendHalf(*entry, made.send, copy);
  }
  return MPI_SUCCESS;
}

}  // namespace

int onSendrecv(const CallPlace& place, const void* sendBuffer, int sendCount, MPI_Datatype sendType,
               int dest, int sendTag, void* buffer, int count, MPI_Datatype datatype, int source,
               int tag, MPI_Comm comm, MPI_Status* status) {
  const Data sent{sendBuffer, sendCount, sendType};
  if (g_engine.threads && comm != MPI_COMM_NULL) [[unlikely]] {
    const Exchange what{{comm, dest, sendTag, source, tag}, sent, sent, buffer, count, datatype};
    return exchangeOfThread(place, what, status);
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
  return sendReceive(place, call, split, contentsToSend(sent, dest, comm), dest, sendTag, source,
                     tag, comm, status);
}

int onSendrecv_replace(const CallPlace& place, void* buffer, int count, MPI_Datatype datatype,
                       int dest, int sendTag, int source, int tag, MPI_Comm comm,
                       MPI_Status* status) {
  const Data sent{buffer, count, datatype};
  if (g_engine.threads && comm != MPI_COMM_NULL) [[unlikely]] {
    return withCopy(sent, comm, [&](const Data& copy) {
      const Exchange what{{comm, dest, sendTag, source, tag}, sent, copy, buffer, count, datatype};
      return exchangeOfThread(place, what, status);
    });
  }
  if (source != MPI_PROC_NULL) {
    noteBuffer(g_engine.posts, buffer, count, datatype);
  }
  const auto call = [&](int forced, MPI_Status* use) {
    return PF_REAL(Sendrecv_replace)(buffer, count, datatype, dest, sendTag, forced, tag, comm,
                                     use);
  };
  const auto split = [&](const SendRoute& to, const Posted& posted, MPI_Status* use) {
    return withCopy(sent, comm, [&](const Data& copy) {
      return exchangeTagged(
          {copy.buffer, copy.count, copy.type, buffer, count, datatype, posted.source, tag, comm},
          to, posted.routed, use);
    });
  };
  return sendReceive(place, call, split, contentsToSend(sent, dest, comm), dest, sendTag, source,
                     tag, comm, status);
}

int onIsendrecv(const CallPlace& place, const void* sendBuffer, int sendCount,
                MPI_Datatype sendType, int dest, int sendTag, void* buffer, int count,
                MPI_Datatype datatype, int source, int tag, MPI_Comm comm, MPI_Request* request) {
  const Exchange what{{comm, dest, sendTag, source, tag},
                      {sendBuffer, sendCount, sendType},
                      {sendBuffer, sendCount, sendType},
                      buffer,
                      count,
                      datatype};
  return exchangeByRequest(place, what, nullptr, request);
}

int onIsendrecv_replace(const CallPlace& place, void* buffer, int count, MPI_Datatype datatype,
                        int dest, int sendTag, int source, int tag, MPI_Comm comm,
                        MPI_Request* request) {
  const Data given{buffer, count, datatype};
  Exchange what{{comm, dest, sendTag, source, tag}, given, given, buffer, count, datatype};
  Copy copy;
  if (isMessage(dest, comm) && source != MPI_PROC_NULL) {
    copy = makeCopy(what.sent, comm);
    if (copy.memory == nullptr) {
      return copy.result;
    }
    what.sent = copy.data;
  }
  return exchangeByRequest(place, what, copy.memory, request);
}

}  // namespace pf
