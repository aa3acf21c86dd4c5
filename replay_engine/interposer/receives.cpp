// Receives, blocking, non-blocking and persistent, and what starts persistent requests.
#include "clocks.h"
#include "light.h"
#include "request_batch.h"

#include <cstdlib>
#include <cstring>

namespace pf {
int forcedSource(int source, std::uint32_t wildNumber) {
  if (!g_engine.replay) {
    return source;
  }
  const std::int32_t pin = g_engine.choices.pin(wildNumber);
  return pin == kPinUnknown ? source : pin;
}

void logWild(std::uint32_t wildNumber, int source) {
  if (!g_engine.record || g_engine.events) {
    return;
  }
  if (wildNumber == g_engine.wildLogged && source >= 0 && source < kNextWild) [[likely]] {
    g_engine.log.add(static_cast<unsigned char>(kNextWild | source));
  } else {
    unsigned char* p = putKind(g_engine.log.reserve(), RecordKind::Wild);
    p = putVarint(p, wildNumber);
    g_engine.log.commit(putShifted(p, source, 1));
  }
  g_engine.wildLogged = wildNumber + 1;
  g_engine.log.publish();
}

int lightWildRecv(void* buffer, int count, MPI_Datatype datatype, int tag, MPI_Comm comm,
                  MPI_Status* status) {
  ++g_engine.posts;
  const std::uint32_t wildNumber = g_engine.wildPosts++;
  MPI_Status& surviving = lightStatus(wildNumber, status);
  const int result = PF_KNOWN(Recv)(buffer, count, datatype, MPI_ANY_SOURCE, tag, comm, &surviving);
  if (status != MPI_STATUS_IGNORE) {
    copyStatus(status, surviving);
  }
  if (hasStatus(result)) {
    logWild(wildNumber, surviving.MPI_SOURCE);
    if (clocked()) {
      clockTaken({g_engine.posts - 1, true, wildNumber, comm, tag == MPI_ANY_TAG ? -1 : tag,
                  surviving.MPI_SOURCE, tag == MPI_ANY_TAG ? surviving.MPI_TAG : tag});
    }
  }
  return result;
}

int clockedRecv(void* buffer, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
                MPI_Status* status) {
  const std::uint32_t post = g_engine.posts++;
  MPI_Status own;
  MPI_Status* use = tag == MPI_ANY_TAG && status == MPI_STATUS_IGNORE ? &own : status;
  const int result = PF_KNOWN(Recv)(buffer, count, datatype, source, tag, comm, use);
  if (tag != MPI_ANY_TAG && result == MPI_SUCCESS) {
    clockReceived(post, comm, source, tag);
  } else if (hasStatus(result)) {
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

namespace {

/// What a receive was asked for, and the numbers that it got.
struct Posted {
  std::uint32_t post = 0;
  std::uint32_t wildNumber = 0;
  bool wild = false;
  int source = 0;  ///< to give to MPI
};

Posted takeNumbers(int source) {
  Posted posted;
  posted.post = g_engine.posts++;
  posted.wild = isWild(source);
  posted.source = source;
  if (posted.wild) {
    posted.wildNumber = g_engine.wildPosts++;
    posted.source = forcedSource(source, posted.wildNumber);
  }
  return posted;
}

void logReceive(const CallPlace& place, MPI_Comm comm, int source, int tag,
                const MPI_Status* status) {
  const std::uint32_t site = siteNumber(place);
  const std::uint32_t number = g_engine.comms.number(comm);
  unsigned char* p = putKind(g_engine.log.reserve(), RecordKind::Receive);
  p = putVarint(p, site);
  p = putVarint(p, number);
  p = putShifted(p, source, 1);
  p = putShifted(p, tag, 1);
  p = putShifted(p, status != nullptr ? status->MPI_SOURCE : -1, 1);
  p = putShifted(p, status != nullptr ? status->MPI_TAG : -1, 1);
  g_engine.log.commit(p);
  g_engine.log.publish();
}

/// Posts a receive whose source may be forced, or that must never match.
int postReceive(const Posted& posted, void* buffer, int count, MPI_Datatype datatype, int tag,
                MPI_Comm comm, MPI_Request* request) {
  if (g_engine.replay && g_engine.choices.wasCancelled(posted.post)) {
    return PF_REAL(Irecv)(buffer, count, datatype, 0, 0, g_engine.nowhere, request);
  }
  return PF_REAL(Irecv)(buffer, count, datatype, posted.source, tag, comm, request);
}

void logPost(const CallPlace& place, int source, int tag, MPI_Comm comm) {
  const std::uint32_t site = siteNumber(place);
  const std::uint32_t number = g_engine.comms.number(comm);
  unsigned char* p = putKind(g_engine.log.reserve(), RecordKind::Post);
  p = putVarint(p, site);
  p = putVarint(p, number);
  p = putShifted(p, source, 1);
  g_engine.log.commit(putShifted(p, tag, 1));
  g_engine.log.publish();
}

/// The end of a blocking receive whose post was an event of its own.
void endReceive(const CallPlace& place, const Posted& posted, int source, int tag,
                const MPI_Status* status, int result) {
  const StateLock lock;
  beginEvent(place);
  if (!g_engine.record) {
    return;
  }
  if (g_engine.events) {
    commitSite(RecordKind::Completion, place);
  }
  if (source != MPI_PROC_NULL) {
    Request entry;
    entry.kind = RequestKind::Receive;
    entry.wild = posted.wild;
    entry.number = posted.post;
    entry.wildNumber = posted.wildNumber;
    entry.peer = source;
    entry.tag = tag;
    logDoneReceive(entry, status, result);
  }
  g_engine.log.publish();
}

/// MPI_Recv where other threads may receive, too: what MPI's matching sees is its post.
int receiveOfThread(const CallPlace& place, void* buffer, int count, MPI_Datatype datatype,
                    int source, int tag, MPI_Comm comm, MPI_Status* status) {
  MPI_Request request = MPI_REQUEST_NULL;
  Posted posted;
  {
    const StateLock lock;
    beginEvent(place, comm, source, tag);
    posted = takeNumbers(source);
    if (g_engine.events) {
      logPost(place, source, tag, comm);
    }
    const int result = postReceive(posted, buffer, count, datatype, tag, comm, &request);
    if (result != MPI_SUCCESS) {
      return result;
    }
    g_engine.requests.erase(request);  // a handle that MPI uses again
  }
  MPI_Status own;
  MPI_Status* use = status != MPI_STATUS_IGNORE ? status : &own;
  const InCall inCall(place, RecordKind::Padding, comm, source, tag);
  const int result = PF_REAL(Wait)(&request, use);
  endReceive(place, posted, source, tag, use, result);
  return result;
}

/// What a blocking receive took, in a log without events. `status` counts where the receive did not
/// say all itself.
void logTaken(const Posted& posted, int source, int tag, MPI_Comm comm, const MPI_Status* status) {
  if (posted.wild) {
    logWild(posted.wildNumber, status->MPI_SOURCE);
  }
  if (clocked()) {
    clockTaken({posted.post, posted.wild, posted.wildNumber, comm, tag == MPI_ANY_TAG ? -1 : tag,
                posted.wild ? status->MPI_SOURCE : source,
                tag == MPI_ANY_TAG ? status->MPI_TAG : tag});
  }
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
      logLocal(place);
      return PF_REAL(Recv)(buffer, count, datatype, source, tag, comm, status);
    }
    beginEvent(place, comm, source, tag);
    posted = takeNumbers(source);
    if (g_engine.record && (posted.wild || tag == MPI_ANY_TAG)) {
      use = status != MPI_STATUS_IGNORE ? status : &own;
      if (MPI_Status* surviving = survivingStatuses(1); surviving != nullptr) {
        surviveAs(0, survivorNumber(posted.post, posted.wild, posted.wildNumber), *use);
        use = surviving;
      }
    }
  }
  const InCall inCall(place, RecordKind::Receive, comm, source, tag);
  const int result = PF_REAL(Recv)(buffer, count, datatype, posted.source, tag, comm, use);
  if (use != status && status != MPI_STATUS_IGNORE) {
    *status = *use;
  }
  if (g_engine.record) {
    const StateLock lock;
    const bool filled = hasStatus(result);
    if (g_engine.events) {
      MPI_Status known;
      known.MPI_SOURCE = source;
      known.MPI_TAG = tag;
      const bool asked = posted.wild || tag == MPI_ANY_TAG;
      logReceive(place, comm, source, tag, !filled ? nullptr : asked ? use : &known);
    } else if (filled) {
      logTaken(posted, source, tag, comm, use);
    }
    forgetStatuses();
  }
  return result;
}

int onIrecv(const CallPlace& place, void* buffer, int count, MPI_Datatype datatype, int source,
            int tag, MPI_Comm comm, MPI_Request* request) {
  const StateLock lock;
  if (!isMessage(source, comm)) {
    beginEvent(place);
    logLocal(place);
    return PF_REAL(Irecv)(buffer, count, datatype, source, tag, comm, request);
  }
  beginEvent(place, comm, source, tag);
  const Posted posted = takeNumbers(source);
  if (g_engine.events) {
    logPost(place, source, tag, comm);
  }
  const int result = postReceive(posted, buffer, count, datatype, tag, comm, request);
  if (result == MPI_SUCCESS) {
    Request entry;
    entry.handle = *request;
    entry.kind = RequestKind::Receive;
    entry.active = true;
    entry.wild = posted.wild;
    entry.number = posted.post;
    entry.wildNumber = posted.wildNumber;
    entry.peer = source;
    entry.tag = tag;
    entry.comm = comm;
    g_engine.requests.insert(entry);
    if (clocked()) {
      clockPost(posted.post, comm, source, tag, *request);
    }
  }
  return result;
}

int onRecv_init(const CallPlace&, void* buffer, int count, MPI_Datatype datatype, int source,
                int tag, MPI_Comm comm, MPI_Request* request) {
  const int result = PF_REAL(Recv_init)(buffer, count, datatype, source, tag, comm, request);
  if (result == MPI_SUCCESS && source != MPI_PROC_NULL) {
    const StateLock lock;
    Request entry;
    entry.handle = *request;
    entry.kind = RequestKind::PersistentReceive;
    entry.wild = isWild(source);
    entry.buffer = buffer;
    entry.count = count;
    entry.datatype = datatype;
    entry.peer = source;
    entry.tag = tag;
    entry.comm = comm;
    g_engine.requests.insert(entry);
  }
  return result;
}

namespace {

/// Gives a started persistent request its numbers. True: a replay has posted a stand-in for it.
bool startOne(Request& entry, int* result) {
  entry.active = true;
  entry.cancelled = false;
  if (entry.kind == RequestKind::PersistentSend) {
    entry.number = g_engine.sends++;
    if (clocked()) {
      clockSend(entry.comm, entry.peer, entry.tag);
    }
    return false;
  }
  const Posted posted = takeNumbers(entry.peer);
  entry.number = posted.post;
  entry.wildNumber = posted.wildNumber;
  if (clocked()) {
    clockPost(posted.post, entry.comm, entry.peer, entry.tag, entry.handle);
  }
  if (!g_engine.replay || (!entry.wild && !g_engine.choices.wasCancelled(posted.post))) {
    return false;
  }
  *result = postReceive(posted, entry.buffer, entry.count, entry.datatype, entry.tag, entry.comm,
                        &entry.inner);
  ++g_engine.requests.substituted;
  return true;
}

void logStarted(const Request& entry) {
  unsigned char* p = nullptr;
  const std::uint32_t number = g_engine.comms.number(entry.comm);
  if (entry.kind == RequestKind::PersistentSend) {
    p = putKind(g_engine.log.reserve(), RecordKind::SubSend);
    p = putVarint(p, entry.synchronous ? 1 : 0);
    p = putVarint(p, number);
    p = putVarint(p, static_cast<std::uint32_t>(entry.peer));
    p = putVarint(p, static_cast<std::uint32_t>(entry.tag));
    p = putVarint(p, bytesOf(entry.count, entry.datatype));
  } else {
    p = putKind(g_engine.log.reserve(), RecordKind::SubPost);
    p = putVarint(p, number);
    p = putShifted(p, entry.peer, 1);
    p = putShifted(p, entry.tag, 1);
  }
  g_engine.log.commit(p);
}

void beginStart(const CallPlace& place) {
  beginEvent(place);
  if (g_engine.events) {
    commitSite(RecordKind::Start, place);
  }
}

/// Starts `request`; its record follows the Start record.
int startAndLog(MPI_Request* request) {
  Request* entry = g_engine.requests.find(*request);
  if (entry == nullptr) {
    return PF_REAL(Start)(request);
  }
  int result = MPI_SUCCESS;
  const bool standsIn = startOne(*entry, &result);
  if (g_engine.events) {
    logStarted(*entry);
    g_engine.log.publish();
  }
  return standsIn ? result : PF_REAL(Start)(request);
}

}  // namespace

int onStart(const CallPlace& place, MPI_Request* request) {
  const StateLock lock;
  beginStart(place);
  const int result = startAndLog(request);
  if (g_engine.record) {
    g_engine.log.publish();
  }
  return result;
}

int onStartall(const CallPlace& place, int count, MPI_Request* requests) {
  const StateLock lock;
  beginStart(place);
  int result = MPI_SUCCESS;
  for (int i = 0; i < count && result == MPI_SUCCESS; ++i) {
    result = startAndLog(&requests[i]);
  }
  if (g_engine.record) {
    g_engine.log.publish();
  }
  return result;
}

namespace {

/// What the two halves of MPI_Sendrecv are asked for.
struct Exchange {
  std::uint64_t bytes;
  int dest;
  int sendTag;
  int source;
  int receiveTag;
  MPI_Comm comm;
};

std::uint64_t bytesForRecord(int count, MPI_Datatype datatype) {
  const StateLock lock;  // bytesOf() keeps what it knows
  return g_engine.events ? bytesOf(count, datatype) : 0;
}

void logExchange(const CallPlace& place, const Exchange& what) {
  commitSite(RecordKind::Start, place);
  const std::uint32_t number = g_engine.comms.number(what.comm);
  if (what.dest != MPI_PROC_NULL) {
    unsigned char* p = putVarint(putKind(g_engine.log.reserve(), RecordKind::SubSend), 0);
    p = putVarint(p, number);
    p = putVarint(p, static_cast<std::uint32_t>(what.dest));
    p = putVarint(p, static_cast<std::uint32_t>(what.sendTag));
    g_engine.log.commit(putVarint(p, what.bytes));
  }
  if (what.source != MPI_PROC_NULL) {
    unsigned char* p = putVarint(putKind(g_engine.log.reserve(), RecordKind::SubPost), number);
    p = putShifted(p, what.source, 1);
    g_engine.log.commit(putShifted(p, what.receiveTag, 1));
  }
  g_engine.log.publish();
}

/// MPI_Sendrecv where other threads may send and receive, too. `post(source, requests)` posts the
/// receive and the send.
template <typename Post>
int exchangeOfThread(const CallPlace& place, const Exchange& what, Post post, MPI_Status* status) {
  MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  MPI_Status taken;
  Posted posted;
  posted.source = what.source;
  {
    const StateLock lock;
    beginEvent(place);
    if (g_engine.events) {
      logExchange(place, what);
    }
    if (what.dest != MPI_PROC_NULL) {
      ++g_engine.sends;
    }
    if (what.source != MPI_PROC_NULL) {
      posted = takeNumbers(what.source);
    }
    const int result = post(posted.source, requests);
    if (result != MPI_SUCCESS) {
      return result;
    }
    g_engine.requests.erase(requests[0]);  // handles that MPI uses again
    g_engine.requests.erase(requests[1]);
  }
  const InCall inCall(place, RecordKind::Padding, what.comm, what.source, what.receiveTag);
  // Not by MPI_Waitall: with threads Open MPI 4.1.4 spins for ever in one that meets an error.
  const int received = PF_REAL(Wait)(&requests[0], &taken);
  const int sent = PF_REAL(Wait)(&requests[1], MPI_STATUS_IGNORE);
  if (status != MPI_STATUS_IGNORE) {
    const int before = status->MPI_ERROR;
    *status = taken;
    status->MPI_ERROR = before;
  }
  endReceive(place, posted, what.source, what.receiveTag, &taken, received);
  return received != MPI_SUCCESS ? received : sent;
}

/// Both forms of MPI_Sendrecv. `call(source, status)` does it.
template <typename RealCall>
int sendReceive(const CallPlace& place, RealCall call, std::uint64_t bytes, int dest, int sendTag,
                int source, int receiveTag, MPI_Comm comm, MPI_Status* status) {
  if (comm == MPI_COMM_NULL) {
    const StateLock lock;
    beginEvent(place);
    logLocal(place);
    return call(source, status);
  }
  Posted posted;
  posted.source = source;
  MPI_Status own;
  {
    const StateLock lock;
    beginEvent(place, comm, source, receiveTag);
    if (dest != MPI_PROC_NULL) {
      ++g_engine.sends;
      if (clocked()) {
        clockSend(comm, dest, sendTag);
      }
    }
    if (source != MPI_PROC_NULL) {
      posted = takeNumbers(source);
    }
  }
  MPI_Status* use = status != MPI_STATUS_IGNORE ? status : &own;
  int result = MPI_SUCCESS;
  {
    const InCall inCall(place, RecordKind::SendReceive, comm, source, receiveTag);
    result = call(posted.source, use);
  }
  if (!g_engine.record) {
    return result;
  }
  const StateLock lock;
  const bool filled = hasStatus(result) && source != MPI_PROC_NULL;
  if (g_engine.events) {
    const std::uint32_t site = siteNumber(place);
    const std::uint32_t number = g_engine.comms.number(comm);
    unsigned char* p = putKind(g_engine.log.reserve(), RecordKind::SendReceive);
    p = putVarint(p, site);
    p = putVarint(p, number);
    p = putVarint(p, dest == MPI_PROC_NULL ? 0 : static_cast<std::uint32_t>(dest) + 1);
    p = putVarint(p, static_cast<std::uint32_t>(sendTag));
    p = putVarint(p, bytes);
    p = putVarint(p, source == MPI_PROC_NULL ? 0 : static_cast<std::uint32_t>(source + 2));
    p = putShifted(p, receiveTag, 1);
    p = putShifted(p, filled ? use->MPI_SOURCE : -1, 1);
    p = putShifted(p, filled ? use->MPI_TAG : -1, 1);
    g_engine.log.commit(p);
    g_engine.log.publish();
  } else if (filled) {
    logTaken(posted, source, receiveTag, comm, use);
  }
  return result;
}

/// MPI_Sendrecv_replace sends a packed copy, as Open MPI does.
int replaceOfThread(const CallPlace& place, void* buffer, int count, MPI_Datatype datatype,
                    int dest, int sendTag, int source, int tag, MPI_Comm comm, MPI_Status* status) {
  int size = 0;
  int packed = 0;
  if (const int result = PF_REAL(Pack_size)(count, datatype, comm, &size); result != MPI_SUCCESS) {
    return result;
  }
  void* copy = std::malloc(static_cast<std::size_t>(size) + 1);
  int result = copy == nullptr ? MPI_ERR_NO_MEM
                               : PF_REAL(Pack)(buffer, count, datatype, copy, size, &packed, comm);
  if (result == MPI_SUCCESS) {
    const auto post = [&](int forced, MPI_Request* requests) {
      const int posted = PF_REAL(Irecv)(buffer, count, datatype, forced, tag, comm, &requests[0]);
      return posted != MPI_SUCCESS
                 ? posted
                 : PF_REAL(Isend)(copy, packed, MPI_PACKED, dest, sendTag, comm, &requests[1]);
    };
    const Exchange what{static_cast<std::uint64_t>(packed), dest, sendTag, source, tag, comm};
    result = exchangeOfThread(place, what, post, status);
  }
  std::free(copy);
  return result;
}

}  // namespace

int onSendrecv(const CallPlace& place, const void* sendBuffer, int sendCount, MPI_Datatype sendType,
               int dest, int sendTag, void* buffer, int count, MPI_Datatype datatype, int source,
               int tag, MPI_Comm comm, MPI_Status* status) {
  if (g_engine.threads && comm != MPI_COMM_NULL) [[unlikely]] {
    const auto post = [&](int forced, MPI_Request* requests) {
      const int result = PF_REAL(Irecv)(buffer, count, datatype, forced, tag, comm, &requests[0]);
      return result != MPI_SUCCESS ? result
                                   : PF_REAL(Isend)(sendBuffer, sendCount, sendType, dest, sendTag,
                                                    comm, &requests[1]);
    };
    const Exchange what{bytesForRecord(sendCount, sendType), dest, sendTag, source, tag, comm};
    return exchangeOfThread(place, what, post, status);
  }
  const auto call = [&](int forced, MPI_Status* use) {
    return PF_REAL(Sendrecv)(sendBuffer, sendCount, sendType, dest, sendTag, buffer, count,
                             datatype, forced, tag, comm, use);
  };
  return sendReceive(place, call, g_engine.events ? bytesOf(sendCount, sendType) : 0, dest, sendTag,
                     source, tag, comm, status);
}

int onSendrecv_replace(const CallPlace& place, void* buffer, int count, MPI_Datatype datatype,
                       int dest, int sendTag, int source, int tag, MPI_Comm comm,
                       MPI_Status* status) {
  if (g_engine.threads && comm != MPI_COMM_NULL) [[unlikely]] {
    return replaceOfThread(place, buffer, count, datatype, dest, sendTag, source, tag, comm,
                           status);
  }
  const auto call = [&](int forced, MPI_Status* use) {
    return PF_REAL(Sendrecv_replace)(buffer, count, datatype, dest, sendTag, forced, tag, comm,
                                     use);
  };
  return sendReceive(place, call, g_engine.events ? bytesOf(count, datatype) : 0, dest, sendTag,
                     source, tag, comm, status);
}

int onMrecv(const CallPlace& place, void* buffer, int count, MPI_Datatype datatype,
            MPI_Message* message, MPI_Status* status) {
  {
    const StateLock lock;
    beginEvent(place);
    logLocal(place);
  }
  const InCall inCall(place, RecordKind::Padding, MPI_COMM_NULL, -2, -1);
  return PF_REAL(Mrecv)(buffer, count, datatype, message, status);
}

int onImrecv(const CallPlace& place, void* buffer, int count, MPI_Datatype datatype,
             MPI_Message* message, MPI_Request* request) {
  const StateLock lock;
  beginEvent(place);
  logLocal(place);
  const int result = PF_REAL(Imrecv)(buffer, count, datatype, message, request);
  if (result == MPI_SUCCESS) {
    g_engine.requests.erase(*request);
  }
  return result;
}

}  // namespace pf
