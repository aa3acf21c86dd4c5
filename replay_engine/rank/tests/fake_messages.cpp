// SPDX-License-Identifier: GPL-3.0-or-later
// Sends, receives and probes of the fake MPI library.
#include <cstring>
#include <utility>

#include "replay_engine/rank/tests/fake_objects.h"

namespace pf::fake {
namespace {

using Kind = RequestObject::Kind;

/// Is done already: shared by all requests that there is nothing to wait for.
RequestObject& doneAtOnce() {
  static RequestObject request = [] {
    RequestObject made;
    made.kind = Kind::Send;
    made.done = true;
    return made;
  }();
  return request;
}

RequestObject& ofProcNull() {
  static RequestObject request = [] {
    RequestObject made;
    made.done = true;
    made.status.MPI_SOURCE = MPI_PROC_NULL;
    return made;
  }();
  return request;
}

bool isRank(int dest, MPI_Comm comm) {
  return dest == MPI_PROC_NULL ||
         (dest >= 0 && dest < static_cast<int>(objectOf(comm).world.size()));
}

/// The message leaves; one to this rank itself is there.
void leave(std::uint16_t call, const void* buffer, int count, MPI_Datatype type, int dest, int tag,
           MPI_Comm comm) {
  if (dest == MPI_PROC_NULL) {
    return;
  }
  Message message{dest, tag, comm, packed(buffer, count, type)};
  int rank = 0;
  fakeComm_rank(comm, &rank);
  if (dest == rank) {
    deliver(std::move(message));
    return;
  }
  Sent sent{call, dest, tag, objectOf(comm).number, message.bytes.size(), 0};
  std::memcpy(&sent.value, message.bytes.data(), std::min(message.bytes.size(), sizeof sent.value));
  g_library.sent.push_back(sent);
}

/// A synchronous send, or a collective, that others answer; or a send that takes its time.
void pendOnTime(RequestObject& request, int after = g_library.script.answersAfter) {
  request.pendsOnTime = true;
  request.doneAt = g_library.now + after;
  request.done = request.doneAt <= g_library.now;
}

int postSend(std::uint16_t call, bool synchronous, const void* buffer, int count, MPI_Datatype type,
             int dest, int tag, MPI_Comm comm, MPI_Request* request) {
  if (!isRank(dest, comm)) {
    return onError(MPI_ERR_RANK);
  }
  leave(call, buffer, count, type, dest, tag, comm);
  const int after = synchronous ? g_library.script.answersAfter : g_library.script.leavesAfter;
  if ((!synchronous && after == 0) || dest == MPI_PROC_NULL) {
    *request = &doneAtOnce();
    return MPI_SUCCESS;
  }
  *request = newRequest();
  (*request)->kind = Kind::Send;
  pendOnTime(**request, after);
  return MPI_SUCCESS;
}

int initSend(std::uint16_t call, const void* buffer, int count, MPI_Datatype type, int dest,
             int tag, MPI_Comm comm, MPI_Request* request) {
  if (!isRank(dest, comm)) {
    return onError(MPI_ERR_RANK);
  }
  *request = newRequest();
  RequestObject& made = **request;
  made.kind = Kind::Send;
  made.call = call;
  made.persistent = true;
  made.active = false;
  made.source = dest;
  made.tag = tag;
  made.comm = comm;
  made.buffer = static_cast<unsigned char*>(const_cast<void*>(buffer));
  made.room = bytesOf(count, type);
  return MPI_SUCCESS;
}

void prepareReceive(RequestObject& request, void* buffer, int count, MPI_Datatype type, int source,
                    int tag, MPI_Comm comm) {
  if (objectOf(type).of != nullptr && objectOf(type).stride != objectOf(type).blockLength) {
    notFaked("receive into a type with gaps");
  }
  request.kind = Kind::Receive;
  request.source = source;
  request.tag = tag;
  request.comm = comm;
  request.buffer = static_cast<unsigned char*>(buffer);
  request.room = bytesOf(count, type);
}

void tellNobody(MPI_Status* status) {
  if (status != MPI_STATUS_IGNORE) {
    status->MPI_SOURCE = MPI_PROC_NULL;
    status->MPI_TAG = MPI_ANY_TAG;
    cancelledIn(*status) = 0;
    setBytes(*status, 0);
  }
}

void tell(MPI_Status* status, const Message& message) {
  if (status != MPI_STATUS_IGNORE) {
    status->MPI_SOURCE = message.source;
    status->MPI_TAG = message.tag;
    cancelledIn(*status) = 0;
    setBytes(*status, message.bytes.size());
  }
}

}  // namespace

// -- sends

#define PF_FAKE_SEND(Name)                                                                 \
  int fake##Name(const void* buffer, int count, MPI_Datatype type, int dest, int tag,      \
                 MPI_Comm comm) {                                                          \
    MPI_Request request = nullptr;                                                         \
    postSend(kCall##Name, kCall##Name == kCallSsend, buffer, count, type, dest, tag, comm, \
             &request);                                                                    \
    return fakeWait(&request, MPI_STATUS_IGNORE);                                          \
  }
PF_FAKE_SEND(Send)
PF_FAKE_SEND(Bsend)
PF_FAKE_SEND(Ssend)
PF_FAKE_SEND(Rsend)
#undef PF_FAKE_SEND

#define PF_FAKE_SEND(Name)                                                                         \
  int fake##Name(const void* buffer, int count, MPI_Datatype type, int dest, int tag,              \
                 MPI_Comm comm, MPI_Request* request) {                                            \
    return postSend(kCall##Name, kCall##Name == kCallIssend, buffer, count, type, dest, tag, comm, \
                    request);                                                                      \
  }
PF_FAKE_SEND(Isend)
PF_FAKE_SEND(Ibsend)
PF_FAKE_SEND(Issend)
PF_FAKE_SEND(Irsend)
#undef PF_FAKE_SEND

#define PF_FAKE_SEND(Name)                                                            \
  int fake##Name(const void* buffer, int count, MPI_Datatype type, int dest, int tag, \
                 MPI_Comm comm, MPI_Request* request) {                               \
    return initSend(kCall##Name, buffer, count, type, dest, tag, comm, request);      \
  }
PF_FAKE_SEND(Send_init)
PF_FAKE_SEND(Bsend_init)
PF_FAKE_SEND(Ssend_init)
PF_FAKE_SEND(Rsend_init)
#undef PF_FAKE_SEND

// -- receives

int fakeIrecv(void* buffer, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
              MPI_Request* request) {
  if (source == MPI_PROC_NULL) {
    *request = &ofProcNull();
    return MPI_SUCCESS;
  }
  *request = newRequest();
  prepareReceive(**request, buffer, count, type, source, tag, comm);
  post(**request);
  return MPI_SUCCESS;
}

int fakeRecv(void* buffer, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
             MPI_Status* status) {
  MPI_Request request = nullptr;
  fakeIrecv(buffer, count, type, source, tag, comm, &request);
  waitUntil("MPI_Recv", [&] { return request->done; });
  return fakeWait(&request, status);
}

int fakeRecv_init(void* buffer, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
                  MPI_Request* request) {
  *request = newRequest();
  prepareReceive(**request, buffer, count, type, source, tag, comm);
  (*request)->persistent = true;
  (*request)->active = false;
  return MPI_SUCCESS;
}

int fakeStart(MPI_Request* request) {
  RequestObject& started = **request;
  started.active = true;
  started.done = false;
  started.pendsOnTime = false;
  started.filled = false;
  started.status = emptyStatus(MPI_SUCCESS);
  if (started.source == MPI_PROC_NULL) {
    started.done = true;
    started.status.MPI_SOURCE = MPI_PROC_NULL;
  } else if (started.kind == Kind::Receive) {
    post(started);
  } else {
    leave(started.call, started.buffer, static_cast<int>(started.room), MPI_BYTE, started.source,
          started.tag, started.comm);
    started.done = true;
    if (started.call == kCallSsend_init) {
      pendOnTime(started);
    }
  }
  return MPI_SUCCESS;
}

int fakeStartall(int count, MPI_Request* requests) {
  for (int i = 0; i < count; ++i) {
    fakeStart(&requests[i]);
  }
  return MPI_SUCCESS;
}

int fakeGrequest_start(MPI_Grequest_query_function* query, MPI_Grequest_free_function* /*free*/,
                       MPI_Grequest_cancel_function* /*cancel*/, void* /*state*/,
                       MPI_Request* request) {
  *request = newRequest();
  (*request)->query = query;
  return MPI_SUCCESS;
}

int fakeGrequest_complete(MPI_Request request) {
  setBytes(request->status, 77);  // not what anyone has said
  request->query(nullptr, &request->status);
  request->done = true;
  return MPI_SUCCESS;
}

int fakeStatus_set_elements(MPI_Status* status, MPI_Datatype type, int count) {
  setBytes(*status, bytesOf(count, type));
  return MPI_SUCCESS;
}

int fakeStatus_set_cancelled(MPI_Status* status, int flag) {
  cancelledIn(*status) = flag;
  return MPI_SUCCESS;
}

int fakeSendrecv(const void* sendBuffer, int sendCount, MPI_Datatype sendType, int dest,
                 int sendTag, void* buffer, int count, MPI_Datatype type, int source, int tag,
                 MPI_Comm comm, MPI_Status* status) {
  MPI_Request request = nullptr;
  fakeIrecv(buffer, count, type, source, tag, comm, &request);
  leave(kCallSendrecv, sendBuffer, sendCount, sendType, dest, sendTag, comm);
  waitUntil("MPI_Sendrecv", [&] { return request->done; });
  return fakeWait(&request, status);
}

int fakeSendrecv_replace(void* buffer, int count, MPI_Datatype type, int dest, int sendTag,
                         int source, int tag, MPI_Comm comm, MPI_Status* status) {
  const std::vector<unsigned char> copy = packed(buffer, count, type);
  return fakeSendrecv(copy.data(), static_cast<int>(copy.size()), MPI_BYTE, dest, sendTag, buffer,
                      count, type, source, tag, comm, status);
}

int isendrecv(const int* sent, int count, int dest, int sendTag, int* received, int source, int tag,
              MPI_Request* request) {
  arrive();
  if (source == MPI_PROC_NULL && dest != MPI_PROC_NULL) {
    *request = newRequest();
    (*request)->status.MPI_SOURCE = MPI_PROC_NULL;
    (*request)->filled = true;
    (*request)->done = true;
  } else {
    fakeIrecv(received, count, MPI_INT, source, tag, MPI_COMM_WORLD, request);
  }
  if (dest == MPI_PROC_NULL) {
    return MPI_SUCCESS;
  }
  leave(kCallIsend, sent, count, MPI_INT, dest, sendTag, MPI_COMM_WORLD);
  RequestObject& made = **request;
  made.sendDoneAt = g_library.now + g_library.script.leavesAfter;
  made.done = made.done && made.sendDoneAt <= g_library.now;
  return MPI_SUCCESS;
}

// -- probes

namespace {

/// What Open MPI says of arguments that name no message.
int errorOf(int source, int tag, MPI_Comm comm) {
  if (source != MPI_ANY_SOURCE && source != MPI_PROC_NULL &&
      (source < 0 || source >= static_cast<int>(objectOf(comm).world.size()))) {
    return onError(MPI_ERR_RANK);
  }
  return onError(tag < 0 && tag != MPI_ANY_TAG ? MPI_ERR_TAG : MPI_SUCCESS);
}

}  // namespace

int fakeIprobe(int source, int tag, MPI_Comm comm, int* flag, MPI_Status* status) {
  if (const int error = errorOf(source, tag, comm); error != MPI_SUCCESS) {
    return error;
  }
  *flag = 1;
  if (source == MPI_PROC_NULL) {
    tellNobody(status);
    return MPI_SUCCESS;
  }
  const auto found = lookFor(source, tag, comm);
  if (found == g_library.unexpected.end()) {
    *flag = 0;
    tick("MPI_Iprobe");
    return MPI_SUCCESS;
  }
  tell(status, *found);
  return MPI_SUCCESS;
}

int fakeProbe(int source, int tag, MPI_Comm comm, MPI_Status* status) {
  int found = 0;
  int error = MPI_SUCCESS;
  while (found == 0 && error == MPI_SUCCESS) {
    error = fakeIprobe(source, tag, comm, &found, status);
  }
  return error;
}

int fakeImprobe(int source, int tag, MPI_Comm comm, int* flag, MPI_Message* message,
                MPI_Status* status) {
  if (const int error = fakeIprobe(source, tag, comm, flag, status); error != MPI_SUCCESS) {
    return error;
  }
  *message = MPI_MESSAGE_NULL;
  if (*flag != 0 && source == MPI_PROC_NULL) {
    *message = MPI_MESSAGE_NO_PROC;
  } else if (*flag != 0) {
    const auto found = lookFor(source, tag, comm);
    *message = new MessageObject{std::move(*found)};
    g_library.unexpected.erase(found);
  }
  return MPI_SUCCESS;
}

int fakeMprobe(int source, int tag, MPI_Comm comm, MPI_Message* message, MPI_Status* status) {
  int found = 0;
  int error = MPI_SUCCESS;
  while (found == 0 && error == MPI_SUCCESS) {
    error = fakeImprobe(source, tag, comm, &found, message, status);
  }
  return error;
}

int fakeImrecv(void* buffer, int count, MPI_Datatype type, MPI_Message* message,
               MPI_Request* request) {
  if (*message == MPI_MESSAGE_NO_PROC) {
    *message = MPI_MESSAGE_NULL;
    *request = &ofProcNull();
    return MPI_SUCCESS;
  }
  *request = newRequest();
  Message& taken = (*message)->message;
  prepareReceive(**request, buffer, count, type, taken.source, taken.tag, taken.comm);
  g_library.unexpected.push_front(std::move(taken));  // the next that matches, so this one is taken
  post(**request);
  delete *message;
  *message = MPI_MESSAGE_NULL;
  return MPI_SUCCESS;
}

int fakeMrecv(void* buffer, int count, MPI_Datatype type, MPI_Message* message,
              MPI_Status* status) {
  MPI_Request request = nullptr;
  fakeImrecv(buffer, count, type, message, &request);
  return fakeWait(&request, status);
}

// -- collectives, which bring what the script says

namespace {

int nextBrought() {
  Library& own = g_library;
  if (own.broughtSoFar == own.script.brought.size()) {
    notFaked("more values for collectives: Script::brought");
  }
  return own.script.brought[own.broughtSoFar++];
}

void bring(void* buffer, int count, MPI_Datatype type) {
  if (count > 0) {
    const int value = nextBrought();
    std::memcpy(buffer, &value, std::min(bytesOf(count, type), sizeof value));
  }
}

bool isRoot(int root, MPI_Comm comm) {
  int rank = 0;
  fakeComm_rank(comm, &rank);
  return rank == root;
}

int postCollective(MPI_Request* request) {
  *request = newRequest();
  (*request)->kind = Kind::Collective;
  pendOnTime(**request);
  return MPI_SUCCESS;
}

}  // namespace

int fakeBarrier(MPI_Comm /*comm*/) {
  return MPI_SUCCESS;
}

int fakeBcast(void* buffer, int count, MPI_Datatype type, int root, MPI_Comm comm) {
  if (!isRoot(root, comm)) {
    bring(buffer, count, type);
  }
  return MPI_SUCCESS;
}

int fakeReduce(const void* /*from*/, void* to, int count, MPI_Datatype type, MPI_Op /*op*/,
               int root, MPI_Comm comm) {
  if (isRoot(root, comm)) {
    bring(to, count, type);
  }
  return MPI_SUCCESS;
}

int fakeAllreduce(const void* from, void* to, int count, MPI_Datatype type, MPI_Op /*op*/,
                  MPI_Comm /*comm*/) {
  if (!g_library.programBegan) {  // the interposer's own: all ranks say the same
    std::memcpy(to, from, bytesOf(count, type));
  } else {
    bring(to, count, type);
  }
  return MPI_SUCCESS;
}

int fakeAllgather(const void* /*from*/, int /*fromCount*/, MPI_Datatype /*fromType*/, void* to,
                  int count, MPI_Datatype type, MPI_Comm /*comm*/) {
  bring(to, count, type);
  return MPI_SUCCESS;
}

int fakeIbarrier(MPI_Comm /*comm*/, MPI_Request* request) {
  return postCollective(request);
}

int fakeIallreduce(const void* /*from*/, void* to, int count, MPI_Datatype type, MPI_Op /*op*/,
                   MPI_Comm /*comm*/, MPI_Request* request) {
  bring(to, count, type);
  return postCollective(request);
}

}  // namespace pf::fake
