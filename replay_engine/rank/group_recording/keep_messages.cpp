// SPDX-License-Identifier: MIT
// Receives and probes of a recording with groups (MPIWiz, 6.1.1 to 6.1.3).
#include "replay_engine/rank/engine/records.h"
#include "replay_engine/rank/group_recording/keeping.h"

namespace pf {
namespace {

HandleMap<const MemberView*> g_messages;  ///< of matched probes

/// Whether `call` from `source` may bring contents from outside; null if not.
const MemberView* mayBring(std::uint16_t call, int source, MPI_Comm comm) {
  if (t_layer != 0 || source == MPI_PROC_NULL) {
    return nullptr;
  }
  const MemberView* const members = mixedComm(comm);
  return members != nullptr && (isWild(source) || members->isOutside(source)) && mayBeTold(call)
             ? members
             : nullptr;
}

/// keepMessage() of a call that has received itself.
void keepTaken(std::uint16_t call, const MemberView& members, const Piece& piece,
               const FilledStatus& filled, int result) {
  if (result == MPI_SUCCESS && !filled.isFilled()) {
    keepUntoldFailure(call);
  } else {
    keepMessage(call, members, piece, *filled.get(), result);
  }
}

__attribute__((noinline)) int lookAtRecv(void* buffer, int count, MPI_Datatype type, int source,
                                         int tag, MPI_Comm comm, MPI_Status* status) {
  const MemberView* const members = mayBring(kCallRecv, source, comm);
  if (members == nullptr) {
    return PF_UNDER(Recv)(buffer, count, type, source, tag, comm, status);
  }
  const InLayer inside;
  const FilledStatus filled(status);
  MPI_Status* const use = filled.get();
  const int result = PF_UNDER(Recv)(buffer, count, type, source, tag, comm, use);
  keepTaken(kCallRecv, *members, {buffer, count, type}, filled, result);
  return result;
}

/// From anybody, of a communicator that is known to have ranks outside: most messages are of the group all the same.
int takeFromAnybody(void* buffer, int count, MPI_Datatype type, int tag, MPI_Comm comm,
                    MPI_Status* status) {
  const LastAsked asked = g_lastAsked;
  const InLayer inside;
  const FilledStatus filled(status);
  MPI_Status* const use = filled.get();
  const int result = PF_UNDER(Recv)(buffer, count, type, MPI_ANY_SOURCE, tag, comm, use);
  if (result != MPI_SUCCESS || asked.isOutside(use->MPI_SOURCE)) {
    keepTaken(kCallRecv, *mixedComm(comm), {buffer, count, type}, filled, result);
  }
  return result;
}

int keepRecv(void* buffer, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
             MPI_Status* status) {
  if (isKnownInside(source, comm)) {
    return PF_UNDER(Recv)(buffer, count, type, source, tag, comm, status);
  }
  return isWild(source) && comm == g_lastAsked.comm && t_layer == 0
             ? takeFromAnybody(buffer, count, type, tag, comm, status)
             : lookAtRecv(buffer, count, type, source, tag, comm, status);
}

__attribute__((noinline)) int lookAtSendrecv(const void* sent, int sentCount, MPI_Datatype sentType,
                                             int dest, int sentTag, void* buffer, int count,
                                             MPI_Datatype type, int source, int tag, MPI_Comm comm,
                                             MPI_Status* status) {
  const MemberView* const members = mayBring(kCallSendrecv, source, comm);
  if (members == nullptr) {
    return PF_UNDER(Sendrecv)(sent, sentCount, sentType, dest, sentTag, buffer, count, type, source,
                              tag, comm, status);
  }
  const InLayer inside;
  const FilledStatus filled(status);
  MPI_Status* const use = filled.get();
  const int result = PF_UNDER(Sendrecv)(sent, sentCount, sentType, dest, sentTag, buffer, count,
                                        type, source, tag, comm, use);
  keepTaken(kCallSendrecv, *members, {buffer, count, type}, filled, result);
  return result;
}

int keepSendrecv(const void* sent, int sentCount, MPI_Datatype sentType, int dest, int sentTag,
                 void* buffer, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
                 MPI_Status* status) {
  return isKnownInside(source, comm)
             ? PF_UNDER(Sendrecv)(sent, sentCount, sentType, dest, sentTag, buffer, count, type,
                                  source, tag, comm, status)
             : lookAtSendrecv(sent, sentCount, sentType, dest, sentTag, buffer, count, type, source,
                              tag, comm, status);
}

__attribute__((noinline)) int lookAtSendrecv_replace(void* buffer, int count, MPI_Datatype type,
                                                     int dest, int sentTag, int source, int tag,
                                                     MPI_Comm comm, MPI_Status* status) {
  const MemberView* const members = mayBring(kCallSendrecv_replace, source, comm);
  if (members == nullptr) {
    return PF_UNDER(Sendrecv_replace)(buffer, count, type, dest, sentTag, source, tag, comm,
                                      status);
  }
  const InLayer inside;
  const FilledStatus filled(status);
  MPI_Status* const use = filled.get();
  const int result =
      PF_UNDER(Sendrecv_replace)(buffer, count, type, dest, sentTag, source, tag, comm, use);
  keepTaken(kCallSendrecv_replace, *members, {buffer, count, type}, filled, result);
  return result;
}

int keepSendrecv_replace(void* buffer, int count, MPI_Datatype type, int dest, int sentTag,
                         int source, int tag, MPI_Comm comm, MPI_Status* status) {
  return isKnownInside(source, comm)
             ? PF_UNDER(Sendrecv_replace)(buffer, count, type, dest, sentTag, source, tag, comm,
                                          status)
             : lookAtSendrecv_replace(buffer, count, type, dest, sentTag, source, tag, comm,
                                      status);
}

void follow(MPI_Request request, const MemberView* members, const Piece& piece, bool persistent) {
  KeptRequest kept{};
  kept.members = members;
  kept.piece = {piece.buffer, piece.count, keepType(piece.type)};
  kept.persistent = persistent;
  kept.type = typeNumber(piece.type);
  const LayerLock lock;
  g_keptRequests.insert(request, kept);
}

/// `call` has made this request, or has failed. `request`: the program's, which is left as it is then.
void followMade(std::uint16_t call, int result, MPI_Request made, MPI_Request* request,
                const MemberView* members, const Piece& piece, bool persistent) {
  if (made != MPI_REQUEST_NULL) {
    *request = made;
    if (result == MPI_SUCCESS) {
      follow(made, members, piece, persistent);
    }
  } else if (result == MPI_SUCCESS) {
    keepUntoldFailure(call);
  }
}

__attribute__((noinline)) int lookAtIrecv(void* buffer, int count, MPI_Datatype type, int source,
                                          int tag, MPI_Comm comm, MPI_Request* request) {
  const MemberView* const members = mayBring(kCallIrecv, source, comm);
  if (members == nullptr) {
    return PF_UNDER(Irecv)(buffer, count, type, source, tag, comm, request);
  }
  MPI_Request made = MPI_REQUEST_NULL;
  const int result = PF_UNDER(Irecv)(buffer, count, type, source, tag, comm, &made);
  followMade(kCallIrecv, result, made, request, members, {buffer, count, type}, false);
  return result;
}

int keepIrecv(void* buffer, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
              MPI_Request* request) {
  return isKnownInside(source, comm)
             ? PF_UNDER(Irecv)(buffer, count, type, source, tag, comm, request)
             : lookAtIrecv(buffer, count, type, source, tag, comm, request);
}

__attribute__((noinline)) int lookAtRecv_init(void* buffer, int count, MPI_Datatype type,
                                              int source, int tag, MPI_Comm comm,
                                              MPI_Request* request) {
  const MemberView* const members = mayBring(kCallRecv_init, source, comm);
  if (members == nullptr) {
    return PF_UNDER(Recv_init)(buffer, count, type, source, tag, comm, request);
  }
  MPI_Request made = MPI_REQUEST_NULL;
  const int result = PF_UNDER(Recv_init)(buffer, count, type, source, tag, comm, &made);
  followMade(kCallRecv_init, result, made, request, members, {buffer, count, type}, true);
  return result;
}

int keepRecv_init(void* buffer, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
                  MPI_Request* request) {
  return isKnownInside(source, comm)
             ? PF_UNDER(Recv_init)(buffer, count, type, source, tag, comm, request)
             : lookAtRecv_init(buffer, count, type, source, tag, comm, request);
}

// -- sends whose room is the program's (MPI 3.1, 3.6): a replay that sends nothing to outside would not see that there is none

template <std::uint16_t call, typename Routine>
struct KeptBufferedSend;
template <std::uint16_t call, typename... Request>
struct KeptBufferedSend<call,
                        int (*)(const void*, int, MPI_Datatype, int, int, MPI_Comm, Request...)> {
  static int run(const void* buffer, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm,
                 Request... request) {
    const auto under =
        reinterpret_cast<int (*)(const void*, int, MPI_Datatype, int, int, MPI_Comm, Request...)>(
            g_under[call]);
    const int result = under(buffer, count, type, dest, tag, comm, request...);
    if (result != MPI_SUCCESS && t_layer == 0) [[unlikely]] {
      const MemberView* const members = mixedComm(comm);
      if (members != nullptr && dest >= 0 && dest < members->peers && members->isOutside(dest) &&
          mayBeTold(call)) {
        keepFailure(call, result);
      }
    }
    return result;
  }
};

/// Requests of MPI_Bsend_init to outside.
HandleMap<bool> g_bufferedSends;

int keepBsend_init(const void* buffer, int count, MPI_Datatype type, int dest, int tag,
                   MPI_Comm comm, MPI_Request* request) {
  const int result = PF_UNDER(Bsend_init)(buffer, count, type, dest, tag, comm, request);
  if (result == MPI_SUCCESS && t_layer == 0) {
    const MemberView* const members = mixedComm(comm);
    if (members != nullptr && dest >= 0 && members->isOutside(dest)) {
      const LayerLock lock;
      g_bufferedSends.insert(*request, true);
    }
  }
  return result;
}

}  // namespace

void forgetBufferedSend(MPI_Request request) {
  const LayerLock lock;
  g_bufferedSends.erase(request);
}

namespace {

int keepStart(MPI_Request* request) {
  const MPI_Request started = *request;
  const int result = PF_UNDER(Start)(request);
  if (result == MPI_SUCCESS && t_layer == 0) {
    const LayerLock lock;
    if (KeptRequest* const kept = g_keptRequests.find(started); kept != nullptr) {
      kept->started = true;
    }
  } else if (t_layer == 0) {
    bool toOutside = false;
    {
      const LayerLock lock;
      toOutside = g_bufferedSends.find(started) != nullptr;
    }
    if (toOutside && mayBeTold(kCallStart)) {
      keepFailure(kCallStart, result);
    }
  }
  return result;
}

// -- probes

void keepSeen(std::uint16_t call, const MemberView& members, const FilledStatus& filled) {
  if (filled.isFilled()) {
    keepProbe(members, *filled.get());
  } else {
    keepUntoldFailure(call);
  }
}

int keepProbe_(int source, int tag, MPI_Comm comm, MPI_Status* status) {
  const MemberView* const members = mayBring(kCallProbe, source, comm);
  const FilledStatus filled(status);
  MPI_Status* const use = filled.get();
  const int result = PF_UNDER(Probe)(source, tag, comm, use);
  if (members != nullptr && result == MPI_SUCCESS) {
    keepSeen(kCallProbe, *members, filled);
  }
  return result;
}

int keepIprobe(int source, int tag, MPI_Comm comm, int* flag, MPI_Status* status) {
  const MemberView* const members = mayBring(kCallIprobe, source, comm);
  const FilledStatus filled(status);
  MPI_Status* const use = filled.get();
  const int result = PF_UNDER(Iprobe)(source, tag, comm, flag, use);
  if (members != nullptr && result == MPI_SUCCESS && *flag != 0) {
    keepSeen(kCallIprobe, *members, filled);
  }
  return result;
}

void matched(std::uint16_t call, const MemberView* members, MPI_Message message,
             const FilledStatus& filled) {
  if (members != nullptr) {
    const MPI_Status& status = *filled.get();
    keepSeen(call, *members, filled);
    if (status.MPI_SOURCE >= 0 && members->isOutside(status.MPI_SOURCE)) {
      const LayerLock lock;
      g_messages.insert(message, members);
    }
  }
}

int keepMprobe(int source, int tag, MPI_Comm comm, MPI_Message* message, MPI_Status* status) {
  const MemberView* const members = mayBring(kCallMprobe, source, comm);
  const FilledStatus filled(status);
  MPI_Status* const use = filled.get();
  const int result = PF_UNDER(Mprobe)(source, tag, comm, message, use);
  if (result == MPI_SUCCESS) {
    matched(kCallMprobe, members, *message, filled);
  }
  return result;
}

int keepImprobe(int source, int tag, MPI_Comm comm, int* flag, MPI_Message* message,
                MPI_Status* status) {
  const MemberView* const members = mayBring(kCallImprobe, source, comm);
  const FilledStatus filled(status);
  MPI_Status* const use = filled.get();
  const int result = PF_UNDER(Improbe)(source, tag, comm, flag, message, use);
  if (result == MPI_SUCCESS && *flag != 0) {
    matched(kCallImprobe, members, *message, filled);
  }
  return result;
}

/// Whose message it is, which is then received.
const MemberView* taken(std::uint16_t call, MPI_Message message) {
  if (t_layer != 0) {
    return nullptr;
  }
  const MemberView* members = nullptr;
  {
    const LayerLock lock;
    const MemberView** const found = g_messages.find(message);
    if (found == nullptr) {
      return nullptr;
    }
    members = *found;
    g_messages.erase(message);
  }
  return mayBeTold(call) ? members : nullptr;
}

int keepMrecv(void* buffer, int count, MPI_Datatype type, MPI_Message* message,
              MPI_Status* status) {
  const MemberView* const members = taken(kCallMrecv, *message);
  const FilledStatus filled(status);
  MPI_Status* const use = filled.get();
  const int result = PF_UNDER(Mrecv)(buffer, count, type, message, use);
  if (members != nullptr) {
    keepTaken(kCallMrecv, *members, {buffer, count, type}, filled, result);
  }
  return result;
}

int keepImrecv(void* buffer, int count, MPI_Datatype type, MPI_Message* message,
               MPI_Request* request) {
  const MemberView* const members = taken(kCallImrecv, *message);
  if (members == nullptr) {
    return PF_UNDER(Imrecv)(buffer, count, type, message, request);
  }
  MPI_Request made = MPI_REQUEST_NULL;
  const int result = PF_UNDER(Imrecv)(buffer, count, type, message, &made);
  followMade(kCallImrecv, result, made, request, members, {buffer, count, type}, false);
  return result;
}

}  // namespace

void putMessagesOver() {
  putOver(kCallRecv, keepRecv);
  putOver(kCallSendrecv, keepSendrecv);
  putOver(kCallSendrecv_replace, keepSendrecv_replace);
  putOver(kCallIrecv, keepIrecv);
  putOver(kCallRecv_init, keepRecv_init);
  putOver(kCallBsend, KeptBufferedSend<kCallBsend, decltype(&MPI_Bsend)>::run);
  putOver(kCallIbsend, KeptBufferedSend<kCallIbsend, decltype(&MPI_Ibsend)>::run);
  putOver(kCallBsend_init, keepBsend_init);
  putOver(kCallStart, keepStart);
  putOver(kCallProbe, keepProbe_);
  putOver(kCallIprobe, keepIprobe);
  putOver(kCallMprobe, keepMprobe);
  putOver(kCallImprobe, keepImprobe);
  putOver(kCallMrecv, keepMrecv);
  putOver(kCallImrecv, keepImrecv);
}

}  // namespace pf
