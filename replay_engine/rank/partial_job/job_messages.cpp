// SPDX-License-Identifier: MIT
// Messages of a rank that is replayed with few others (MPIWiz, 3.3).
#include <algorithm>
#include <cstdlib>

#include "replay_engine/rank/engine/contents.h"
#include "replay_engine/rank/engine/records.h"
#include "replay_engine/rank/partial_job/job_requests.h"
#include "replay_engine/rank/partial_job/outside.h"
#include "replay_engine/rank/payload/payload_writer.h"

namespace pf {

HandleMap<JobRequest> g_jobRequests;

void followRequest(MPI_Request handle, JobRequest entry) {
  static std::uint32_t next = 0;
  const LayerLock lock;
  entry.id = ++next;
  holdComm(entry.job);
  if (const JobRequest* const former = g_jobRequests.find(handle); former != nullptr) {
    releaseComm(former->job);
  }
  g_jobRequests.insert(handle, entry);
}

void restoreInside(const JobComm* job, int source, MPI_Status* status) {
  if (status == MPI_STATUS_IGNORE || status->MPI_SOURCE < 0) {
    return;
  }
  if (source >= 0) {
    status->MPI_SOURCE = source;
  } else if (job != nullptr && status->MPI_SOURCE < job->carrierSize) {  // else it was not filled
    status->MPI_SOURCE = job->fromCarrier[status->MPI_SOURCE];
  }
}

namespace {

HandleMap<JobRequest> g_jobMessages;  ///< of matched probes, from outside

/// A rank that MPI refuses, where the program's is none of its communicator's.
int carrierOr(const JobComm& job, int peer) {
  return job.isPeer(peer) ? job.carrierRank(peer) : peer < 0 ? peer : 1 << 28;
}

/// Whether the message of this peer is in the payload, or goes nowhere.
bool isOutside(const JobComm* job, int peer) {
  return job != nullptr && job->isPeer(peer) && !job->runs(peer);
}

// -- sends

/// The program's room for buffered sends is not used by those to outside: whether there was any, the recording says.
template <std::uint16_t call>
int failedForRoom([[maybe_unused]] MPI_Comm comm) {
  if constexpr (call == kCallBsend || call == kCallIbsend) {
    return failedAsRecorded(call, comm);
  } else {
    return MPI_SUCCESS;
  }
}

template <std::uint16_t call>
int blockingSend(const void* buffer, int count, MPI_Datatype type, int dest, int tag,
                 MPI_Comm comm) {
  const auto under = reinterpret_cast<decltype(&MPI_Send)>(g_under[call]);
  const JobComm* const job = partialComm(comm);
  if (isOutside(job, dest)) {
    const int failed = failedForRoom<call>(comm);
    return failed != MPI_SUCCESS ? failed
                                 // looks at the arguments
                                 : under(buffer, count, type, MPI_PROC_NULL, tag, comm);
  }
  return under(buffer, count, type, job != nullptr ? carrierOr(*job, dest) : dest, tag, comm);
}

/// A request that is done, of this process to itself: its handle is no other's.
int doneRequest(MPI_Request* request) {
  constexpr int tag = kFeederNothing;
  const int result = PF_UNDER(Irecv)(nullptr, 0, MPI_BYTE, 0, tag, feeder(), request);
  if (result == MPI_SUCCESS) {
    feed(nullptr, 0, tag);
    JobRequest entry{};
    entry.kind = JobRequestKind::ToOutside;
    followRequest(*request, entry);
  }
  return result;
}

template <std::uint16_t call>
int nonblockingSend(const void* buffer, int count, MPI_Datatype type, int dest, int tag,
                    MPI_Comm comm, MPI_Request* request) {
  const auto under = reinterpret_cast<decltype(&MPI_Isend)>(g_under[call]);
  const JobComm* const job = partialComm(comm);
  if (isOutside(job, dest)) {
    if (const int failed = failedForRoom<call>(comm); failed != MPI_SUCCESS) {
      return failed;
    }
    const int result = under(buffer, count, type, MPI_PROC_NULL, tag, comm, request);
    if (result != MPI_SUCCESS) {
      return result;
    }
    PF_UNDER(Wait)(request, MPI_STATUS_IGNORE);
    return doneRequest(request);
  }
  return under(buffer, count, type, job != nullptr ? carrierOr(*job, dest) : dest, tag, comm,
               request);
}

/// To a rank outside: a persistent one to nobody.
template <std::uint16_t call>
int persistentSend(const void* buffer, int count, MPI_Datatype type, int dest, int tag,
                   MPI_Comm comm, MPI_Request* request) {
  const auto under = reinterpret_cast<decltype(&MPI_Send_init)>(g_under[call]);
  const JobComm* const job = partialComm(comm);
  if (isOutside(job, dest)) {
    const int result = under(buffer, count, type, MPI_PROC_NULL, tag, comm, request);
    const bool derived = result == MPI_SUCCESS && type != MPI_DATATYPE_NULL &&
                         combinerOf(type) != MPI_COMBINER_NAMED;
    if (derived || (call == kCallBsend_init && result == MPI_SUCCESS)) {
      JobRequest entry{};
      entry.kind = JobRequestKind::ToOutside;
      entry.persistent = true;
      entry.buffered = call == kCallBsend_init;
      // The program may free the type, which each start looks at: Open MPI does not keep it for a request to nobody.
      entry.holdsType = derived && PF_UNDER(Send_init)(buffer, count, type, 0, kFeederNothing,
                                                       feeder(), &entry.holder) == MPI_SUCCESS;
      followRequest(*request, entry);
    }
    return result;
  }
  return under(buffer, count, type, job != nullptr ? carrierOr(*job, dest) : dest, tag, comm,
               request);
}

/// One of MPI_Startall is started like this, too.
int onStart(MPI_Request* request) {
  bool buffered = false;
  if (t_layer == 0) {
    const LayerLock lock;
    JobRequest* const entry = g_jobRequests.find(*request);
    buffered = entry != nullptr && entry->buffered;
    if (entry != nullptr) {
      entry->started = true;
    }
  }
  if (!buffered) {
    return PF_UNDER(Start)(request);
  }
  const int failed = failedAsRecorded(kCallStart, MPI_COMM_WORLD);
  return failed != MPI_SUCCESS ? failed : PF_UNDER(Start)(request);
}

// -- receives

void setStatus(MPI_Status* status, int source, int tag) {
  if (status != MPI_STATUS_IGNORE) {
    status->MPI_SOURCE = source;
    status->MPI_TAG = tag;
  }
}

int wantedTag(int tag) {
  return tag == MPI_ANY_TAG ? kAny : tag;
}

/// Receives what a rank outside has sent; MPI fills buffer and status.
int receiveOutside(std::uint16_t call, void* buffer, int count, MPI_Datatype type, int source,
                   int tag, MPI_Status* status) {
  const OutsideEntry entry = takeOutside(PayloadKind::Message, call, source, wantedTag(tag));
  MPI_Request request = MPI_REQUEST_NULL;
  constexpr int with = kFeederNow;
  int result = PF_UNDER(Irecv)(buffer, count, type, 0, with, feeder(), &request);
  if (result == MPI_SUCCESS) {
    // A message to oneself that is too long Open MPI takes for one that is not.
    const std::uint64_t room = bytesOf(Piece{buffer, count, type});
    feed(entry.content, std::min(entry.head->size, room), with);
    result = PF_UNDER(Wait)(&request, status);
    setStatus(status, entry.head->a, entry.head->b);
    result = result == MPI_SUCCESS && entry.head->size > room ? MPI_ERR_TRUNCATE : result;
  }
  return result;
}

/// The feeder's errors only return: the program's handler is called here.
int errorOf(MPI_Comm comm, int result) {
  if (result != MPI_SUCCESS) {
    PF_UNDER(Comm_call_errhandler)(comm, result);
  }
  return result;
}

int onRecv(void* buffer, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
           MPI_Status* status) {
  const JobComm* const job = partialComm(comm);
  if (isOutside(job, source)) {
    const int wrong =
        PF_UNDER(Recv)(buffer, count, type, MPI_PROC_NULL, tag, comm, MPI_STATUS_IGNORE);
    return wrong != MPI_SUCCESS
               ? wrong
               : errorOf(comm, receiveOutside(kCallRecv, buffer, count, type, source, tag, status));
  }
  if (job == nullptr) {
    return PF_UNDER(Recv)(buffer, count, type, source, tag, comm, status);
  }
  const int result =
      PF_UNDER(Recv)(buffer, count, type, carrierOr(*job, source), tag, comm, status);
  if (hasStatus(result)) {
    restoreInside(job, source, status);
  }
  return result;
}

void follow(MPI_Request request, JobRequestKind kind, JobComm* job, MPI_Comm comm, int source,
            int tag, int feedTag, bool persistent, std::uint64_t room = 0) {
  JobRequest entry{};
  entry.comm = comm;
  entry.room = room;
  entry.kind = kind;
  entry.persistent = persistent;
  entry.job = job;
  entry.source = source;
  entry.tag = tag;
  entry.feedTag = feedTag;
  followRequest(request, entry);
}

template <std::uint16_t call, bool persistent>
int postedReceive(void* buffer, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
                  MPI_Request* request) {
  const auto under = reinterpret_cast<decltype(&MPI_Irecv)>(g_under[call]);
  JobComm* const job = partialComm(comm);
  if (isOutside(job, source)) {
    int result = under(buffer, count, type, MPI_PROC_NULL, tag, comm, request);
    if (result != MPI_SUCCESS) {
      return result;
    }
    if (persistent) {
      PF_UNDER(Request_free)(request);
    } else {
      PF_UNDER(Wait)(request, MPI_STATUS_IGNORE);
    }
    const int with = feederTag();
    result = under(buffer, count, type, 0, with, feeder(), request);
    if (result == MPI_SUCCESS) {
      follow(*request, JobRequestKind::FromOutside, job, comm, source, tag, with, persistent,
             bytesOf(Piece{buffer, count, type}));
    }
    return errorOf(comm, result);
  }
  if (job == nullptr) {
    return under(buffer, count, type, source, tag, comm, request);
  }
  const int result = under(buffer, count, type, carrierOr(*job, source), tag, comm, request);
  if (result == MPI_SUCCESS && source != MPI_PROC_NULL) {
    follow(*request, JobRequestKind::FromInside, isWild(source) ? job : nullptr, comm, source, tag,
           0, persistent);
  }
  return result;
}

int onSendrecv(const void* sent, int sentCount, MPI_Datatype sentType, int dest, int sentTag,
               void* buffer, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
               MPI_Status* status) {
  const JobComm* const job = partialComm(comm);
  if (job == nullptr) {
    return PF_UNDER(Sendrecv)(sent, sentCount, sentType, dest, sentTag, buffer, count, type, source,
                              tag, comm, status);
  }
  const bool toOutside = isOutside(job, dest);
  const bool fromOutside = isOutside(job, source);
  const int to = toOutside ? MPI_PROC_NULL : carrierOr(*job, dest);
  if (!fromOutside) {
    const int result = PF_UNDER(Sendrecv)(sent, sentCount, sentType, to, sentTag, buffer, count,
                                          type, carrierOr(*job, source), tag, comm, status);
    if (hasStatus(result)) {
      restoreInside(job, source, status);
    }
    return result;
  }
  const int wrong = PF_UNDER(Sendrecv)(sent, sentCount, sentType, MPI_PROC_NULL, sentTag, buffer,
                                       count, type, MPI_PROC_NULL, tag, comm, MPI_STATUS_IGNORE);
  if (wrong != MPI_SUCCESS) {
    return wrong;
  }
  MPI_Request request = MPI_REQUEST_NULL;
  const int leaves = PF_UNDER(Isend)(sent, sentCount, sentType, to, sentTag, comm, &request);
  const int result = receiveOutside(kCallSendrecv, buffer, count, type, source, tag, status);
  if (leaves == MPI_SUCCESS) {
    PF_UNDER(Wait)(&request, MPI_STATUS_IGNORE);
  }
  return leaves != MPI_SUCCESS ? leaves : errorOf(comm, result);
}

int onSendrecv_replace(void* buffer, int count, MPI_Datatype type, int dest, int sentTag,
                       int source, int tag, MPI_Comm comm, MPI_Status* status) {
  const JobComm* const job = partialComm(comm);
  if (!isOutside(job, dest) && !isOutside(job, source)) {
    const int result = PF_UNDER(Sendrecv_replace)(
        buffer, count, type, job != nullptr ? carrierOr(*job, dest) : dest, sentTag,
        job != nullptr ? carrierOr(*job, source) : source, tag, comm, status);
    if (job != nullptr && hasStatus(result)) {
      restoreInside(job, source, status);
    }
    return result;
  }
  const int wrong = PF_UNDER(Sendrecv_replace)(buffer, count, type, MPI_PROC_NULL, sentTag,
                                               MPI_PROC_NULL, tag, comm, MPI_STATUS_IGNORE);
  if (wrong != MPI_SUCCESS) {
    return wrong;
  }
  std::uint64_t bytes = 0;
  unsigned char* const packed = packPiece({buffer, count, type}, &bytes);
  if (packed == nullptr) {
    outsideDiffers(kCallSendrecv_replace, kGroupCan, "2 GiB or more in place");
  }
  const int result = onSendrecv(packed, static_cast<int>(bytes), MPI_PACKED, dest, sentTag, buffer,
                                count, type, source, tag, comm, status);
  std::free(packed);
  return result;
}

// -- probes

/// The recorded status of a message from outside.
void seeOutside(std::uint16_t call, int source, int tag, MPI_Status* status) {
  const OutsideEntry entry = takeOutside(PayloadKind::Probe, call, source, wantedTag(tag));
  if (entry.head->size != sizeof(std::uint64_t)) {
    outsideDiffers(call, "the size of a message", "something else");
  }
  if (status != MPI_STATUS_IGNORE) {
    std::uint64_t bytes = 0;
    __builtin_memcpy(&bytes, entry.content, sizeof bytes);
    PF_UNDER(Status_set_elements_x)(status, MPI_BYTE, static_cast<MPI_Count>(bytes));
    PF_UNDER(Status_set_cancelled)(status, 0);
    setStatus(status, entry.head->a, entry.head->b);
  }
}

int onProbe(int source, int tag, MPI_Comm comm, MPI_Status* status) {
  const JobComm* const job = partialComm(comm);
  if (isOutside(job, source)) {
    const int wrong = PF_UNDER(Probe)(MPI_PROC_NULL, tag, comm, MPI_STATUS_IGNORE);
    if (wrong == MPI_SUCCESS) {
      seeOutside(kCallProbe, source, tag, status);
    }
    return wrong;
  }
  if (job == nullptr) {
    return PF_UNDER(Probe)(source, tag, comm, status);
  }
  const int result = PF_UNDER(Probe)(carrierOr(*job, source), tag, comm, status);
  if (result == MPI_SUCCESS) {
    restoreInside(job, source, status);
  }
  return result;
}

/// Only after the end of the recording: nothing comes from outside any more.
int onIprobe(int source, int tag, MPI_Comm comm, int* flag, MPI_Status* status) {
  const JobComm* const job = partialComm(comm);
  if (isOutside(job, source)) {
    const int wrong = PF_UNDER(Iprobe)(MPI_PROC_NULL, tag, comm, flag, MPI_STATUS_IGNORE);
    *flag = 0;
    return wrong;
  }
  if (job == nullptr) {
    return PF_UNDER(Iprobe)(source, tag, comm, flag, status);
  }
  const int result = PF_UNDER(Iprobe)(carrierOr(*job, source), tag, comm, flag, status);
  if (result == MPI_SUCCESS && *flag != 0) {
    restoreInside(job, source, status);
  }
  return result;
}

int onMprobe(int source, int tag, MPI_Comm comm, MPI_Message* message, MPI_Status* status) {
  JobComm* const job = partialComm(comm);
  if (isOutside(job, source)) {
    JobRequest entry{};
    entry.source = source;
    entry.tag = tag;
    constexpr int with = kFeederNow;
    PF_UNDER(Isend)(nullptr, 0, MPI_BYTE, 0, with, feeder(), &entry.holder);
    const int result = PF_UNDER(Mprobe)(0, with, feeder(), message, MPI_STATUS_IGNORE);
    MPI_Status own;
    MPI_Status* const seen = status != MPI_STATUS_IGNORE ? status : &own;
    seeOutside(kCallMprobe, source, tag, seen);
    entry.source = seen->MPI_SOURCE;
    entry.tag = seen->MPI_TAG;
    entry.job = job;
    entry.comm = comm;
    const LayerLock lock;
    holdComm(job);
    g_jobMessages.insert(*message, entry);
    return result;
  }
  if (job == nullptr) {
    return PF_UNDER(Mprobe)(source, tag, comm, message, status);
  }
  const int result = PF_UNDER(Mprobe)(carrierOr(*job, source), tag, comm, message, status);
  if (result == MPI_SUCCESS) {
    restoreInside(job, source, status);
  }
  if (result == MPI_SUCCESS && job->isPeer(source)) {
    JobRequest entry{};
    entry.kind = JobRequestKind::FromInside;
    entry.source = source;
    entry.comm = comm;
    const LayerLock lock;
    g_jobMessages.insert(*message, entry);
  }
  return result;
}

int onImprobe(int source, int tag, MPI_Comm comm, int* flag, MPI_Message* message,
              MPI_Status* status) {
  const JobComm* const job = partialComm(comm);
  if (isOutside(job, source)) {
    *flag = 0;
    return MPI_SUCCESS;
  }
  if (job == nullptr) {
    return PF_UNDER(Improbe)(source, tag, comm, flag, message, status);
  }
  const int result = PF_UNDER(Improbe)(carrierOr(*job, source), tag, comm, flag, message, status);
  if (result == MPI_SUCCESS && *flag != 0) {
    restoreInside(job, source, status);
  }
  return result;
}

void release(JobComm* job) {
  const LayerLock lock;
  releaseComm(job);
}

/// What is known of a matched message, which is then received: its communicator is the caller's to release. False: nothing.
bool takeMessageOf(MPI_Message message, JobRequest* entry) {
  if (t_layer != 0) {
    return false;
  }
  const LayerLock lock;
  const JobRequest* const found = g_jobMessages.find(message);
  if (found == nullptr) {
    return false;
  }
  *entry = *found;
  g_jobMessages.erase(message);
  return true;
}

/// The empty message that stands for a matched one from outside. Its send ends only now: in MPICH a message to oneself is its
/// send, and has the handle of the next one once that is freed.
void takeStandIn(MPI_Message* message, const JobRequest& entry) {
  PF_UNDER(Mrecv)(nullptr, 0, MPI_BYTE, message, MPI_STATUS_IGNORE);
  MPI_Request sent = entry.holder;
  PF_UNDER(Wait)(&sent, MPI_STATUS_IGNORE);
}

int onMrecv(void* buffer, int count, MPI_Datatype type, MPI_Message* message, MPI_Status* status) {
  JobRequest entry{};
  if (!takeMessageOf(*message, &entry)) {
    return PF_UNDER(Mrecv)(buffer, count, type, message, status);
  }
  if (entry.kind == JobRequestKind::FromInside) {
    const int result = PF_UNDER(Mrecv)(buffer, count, type, message, status);
    restoreInside(nullptr, entry.source, status);
    return result;
  }
  release(entry.job);
  takeStandIn(message, entry);
  return errorOf(handlerOf(entry.comm),
                 receiveOutside(kCallMrecv, buffer, count, type, entry.source, entry.tag, status));
}

int onImrecv(void* buffer, int count, MPI_Datatype type, MPI_Message* message,
             MPI_Request* request) {
  JobRequest entry{};
  if (!takeMessageOf(*message, &entry)) {
    return PF_UNDER(Imrecv)(buffer, count, type, message, request);
  }
  if (entry.kind == JobRequestKind::FromInside) {
    const int result = PF_UNDER(Imrecv)(buffer, count, type, message, request);
    if (result == MPI_SUCCESS) {
      follow(*request, JobRequestKind::FromInside, nullptr, entry.comm, entry.source, entry.tag, 0,
             false);
    }
    return result;
  }
  takeStandIn(message, entry);
  const int with = feederTag();
  const int result = PF_UNDER(Irecv)(buffer, count, type, 0, with, feeder(), request);
  if (result == MPI_SUCCESS) {
    follow(*request, JobRequestKind::FromOutside, entry.job, entry.comm, entry.source, entry.tag,
           with, false, bytesOf(Piece{buffer, count, type}));
  }
  release(entry.job);
  return errorOf(entry.comm, result);
}

}  // namespace

void putJobMessagesOver() {
  putOver(kCallSend, blockingSend<kCallSend>);
  putOver(kCallBsend, blockingSend<kCallBsend>);
  putOver(kCallSsend, blockingSend<kCallSsend>);
  putOver(kCallRsend, blockingSend<kCallRsend>);
  putOver(kCallIsend, nonblockingSend<kCallIsend>);
  putOver(kCallIbsend, nonblockingSend<kCallIbsend>);
  putOver(kCallIssend, nonblockingSend<kCallIssend>);
  putOver(kCallIrsend, nonblockingSend<kCallIrsend>);
  putOver(kCallSend_init, persistentSend<kCallSend_init>);
  putOver(kCallBsend_init, persistentSend<kCallBsend_init>);
  putOver(kCallSsend_init, persistentSend<kCallSsend_init>);
  putOver(kCallRsend_init, persistentSend<kCallRsend_init>);
  putOver(kCallStart, onStart);
  putOver(kCallRecv, onRecv);
  putOver(kCallIrecv, postedReceive<kCallIrecv, false>);
  putOver(kCallRecv_init, postedReceive<kCallRecv_init, true>);
  putOver(kCallSendrecv, onSendrecv);
  putOver(kCallSendrecv_replace, onSendrecv_replace);
  putOver(kCallProbe, onProbe);
  putOver(kCallIprobe, onIprobe);
  putOver(kCallMprobe, onMprobe);
  putOver(kCallImprobe, onImprobe);
  putOver(kCallMrecv, onMrecv);
  putOver(kCallImrecv, onImrecv);
}

}  // namespace pf
