// SPDX-License-Identifier: MIT
// Completion calls: which requests are done, and in which order the application is told.
//
// A recording asks MPI and files the outcome. A replay knows the outcome: a failed test returns at
// once, a success waits for just the requests that were done then.
#include <optional>

#include "replay_engine/rank/calls/failed_completions.h"
#include "replay_engine/rank/calls/offered_requests.h"
#include "replay_engine/rank/calls/persistent_collectives.h"
#include "replay_engine/rank/calls/told_outcomes.h"
#include "replay_engine/rank/layer/not_alone.h"

namespace pf {
namespace {

/// With several threads, an event that blocks is filed when it is done: the order of the events is
/// that in which they were.
void beginCompletion(const CallPlace& place) {
  if (!g_engine.threads) {
    beginEvent(place);
  }
}
void endCompletion(const CallPlace& place) {
  if (g_engine.threads) [[unlikely]] {
    beginEvent(place);
  }
}

/// As the program's call does it of request `index`: which error handler is called may be another one where it has several.
int waitForOne(const CallPlace& place, Batch& batch, int index, MPI_Status* status) {
  const int sent = batch.awaitSend(index);
  int none = 0;
  const bool lone = place.call == kCallWait || place.call == kCallTest;
  const int result = kLoneHasItsHandler && !asOpenMpi() && !lone
                         ? PF_REAL(Waitany)(1, &batch.requests()[index], &none, status)
                         : PF_REAL(Wait)(&batch.requests()[index], status);
  return result != MPI_SUCCESS ? result : sent;
}

/// The same; files its completion, where the caller has filed the event.
int waitFor(const CallPlace& place, Batch& batch, MPI_Request* requests, int index,
            MPI_Status* status) {
  MPI_Status own;
  MPI_Status* use = status != MPI_STATUS_IGNORE ? status : &own;
  const int result = restoreOne(batch, index, use, waitForOne(place, batch, index, use));
  const Batch::Entry* entry = batch.find(index);
  if (entry == nullptr || entry->inner == MPI_REQUEST_NULL) {
    requests[index] = batch.requests()[index];
  }
  fileOne(batch, index, use, result);
  return result;
}

/// Whom a call that ends requests waits for, if they are receives of messages of one rank.
void sayAwaited(int count, const MPI_Request* requests) {
  const Request* last = nullptr;
  int peer = kNoPeer;
  for (int i = 0; i < count && !g_engine.threads; ++i) {
    if (requests[i] == MPI_REQUEST_NULL) {
      continue;
    }
    const Request* request = g_engine.requests.find(requests[i]);
    if (request == nullptr || !isReceive(*request) || request->comm == MPI_COMM_NULL ||
        sendHalfOf(*request) != MPI_REQUEST_NULL) {
      return;
    }
    const int source =
        request->wild ? forcedSource(request->peer, request->wildNumber) : request->peer;
    if (last != nullptr && (source != peer || request->comm != last->comm)) {
      return;
    }
    last = request;
    peer = source;
  }
  if (last != nullptr) {
    sayPeer(last->comm, peer, count == 1 ? last->tag : -1);
  }
}

void copyStatuses(MPI_Status* to, const MPI_Status* from, int count) {
  if (to != MPI_STATUSES_IGNORE && to != from && from != MPI_STATUSES_IGNORE) {
    copyWritten(to, from, count);
  }
}

}  // namespace

void logIndex(const CallPlace& place, ChoiceKind kind, int index, const OfferedRequests& offered) {
  sink().chose(kind, {index == MPI_UNDEFINED ? 0U : static_cast<std::uint32_t>(index) + 1});
  sink().completes(place);
  offered.log(Gives::One, index == MPI_UNDEFINED ? 0 : 1, &index);
}

void logSome(const CallPlace& place, ChoiceKind kind, int count, const int* indices,
             const OfferedRequests& offered) {
  sink().choseSome(kind, count, indices);
  sink().completes(place);
  offered.log(Gives::Some, count == MPI_UNDEFINED ? 0 : count, indices);
}

NextChoice replayTest(const CallPlace& place, ChoiceKind kind) {
  const StateLock lock;
  const NextChoice next = g_engine.choices.next(kind);
  if (next == NextChoice::Hit) {
    beginCompletion(place);
  } else if (next == NextChoice::FailedPoll) {
    sink().missed(kind);
  }
  return next;
}

bool recordTest(const CallPlace& place, ChoiceKind kind, NextChoice next, bool success) {
  if (next == NextChoice::Hit) {
    endCompletion(place);
    return true;
  }
  if (!success) {
    sink().missed(kind);
    return false;
  }
  beginEvent(place);
  return true;
}

void logTest(const CallPlace& place, ChoiceKind kind) {
  sink().chose(kind, {});
  sink().completes(place);
}

int onWait(const CallPlace& place, MPI_Request* request, MPI_Status* status) {
  return onWaitall(place, 1, request, status);
}

int onWaitall(const CallPlace& place, int count, MPI_Request* requests, MPI_Status* statuses) {
  const CompletionName name;
  beginCompletion(place);
  InCall inCall(place, RecordKind::Completion, MPI_COMM_NULL, kNoPeer, -1);
  sayAwaited(count, requests);
  Batch batch(count, requests);
  MPI_Status* use = batch.statuses(statuses, true);
  const bool one = place.call == kCallWait;
  const std::uint64_t key = name.key();
  const int result = one ? restoreOne(batch, 0, use, waitForOne(place, batch, 0, use))
                         : restoreAll(batch, use, waitForAll(place, key, batch, count, use));
  batch.writeBack();
  copyStatuses(statuses, use, count);
  const StateLock lock;
  endCompletion(place);
  sink().completes(place);
  if (result != MPI_SUCCESS && !one) [[unlikely]] {
    logUnfinished(key, result, batch, count, use);
  }
  fileAll(batch, result, use);
  sink().told();
  inCall.endOfThread();
  return result;
}

int onWaitany(const CallPlace& place, int count, MPI_Request* requests, int* index,
              MPI_Status* status) {
  NextChoice next = NextChoice::Live;
  {
    const StateLock lock;
    beginCompletion(place);
    next = g_engine.choices.next(ChoiceKind::Waitany);
  }
  InCall inCall(place, RecordKind::Completion, MPI_COMM_NULL, kNoPeer, -1);
  sayAwaited(count, requests);
  const OfferedRequests offered(count, requests);
  Batch batch(count, requests);
  const int recorded = next == NextChoice::Hit
                           ? static_cast<int>(g_engine.choices.payload(ChoiceKind::Waitany)) - 1
                       : g_engine.jitter ? jitteredIndex(count, requests)
                                         : -1;
  MPI_Status own;
  MPI_Status* use = status != MPI_STATUS_IGNORE ? status : &own;
  int result = MPI_SUCCESS;
  if (recorded >= 0 && recorded < count) {
    *index = recorded;
    result = waitForOne(place, batch, recorded, use);
  } else {
    batch.offerSends();
    do {
      result = PF_REAL(Waitany)(count, batch.requests(), index, use);
    } while (*index != MPI_UNDEFINED && batch.endedSend(*index) && result == MPI_SUCCESS);
  }
  batch.writeBack();
  result = restoreOne(batch, *index, use, result);
  const StateLock lock;
  endCompletion(place);
  logIndex(place, ChoiceKind::Waitany, *index, offered);
  if (*index != MPI_UNDEFINED) {
    fileOne(batch, *index, use, result);
  }
  sink().told();
  inCall.endOfThread();
  return result;
}

namespace {

/// Of a call that completed `indices` in a recording by several threads: waits for all of them
/// before it is this thread's turn.
int replaySomeOfThread(const CallPlace& place, ChoiceKind kind, Batch& batch, MPI_Request* requests,
                       int count, const int* indices, MPI_Status* statuses) {
  int result = MPI_SUCCESS;
  auto* seen = static_cast<MPI_Status*>(
      std::calloc(static_cast<std::size_t>(count < 0 ? 1 : count + 1), sizeof(MPI_Status)));
  for (int i = 0; i < count; ++i) {
    const int one =
        restoreOne(batch, indices[i], &seen[i], waitForOne(place, batch, indices[i], &seen[i]));
    const Batch::Entry* entry = batch.find(indices[i]);
    if (entry == nullptr || entry->inner == MPI_REQUEST_NULL) {
      requests[indices[i]] = batch.requests()[indices[i]];
    }
    seen[i].MPI_ERROR = one;
    result = one != MPI_SUCCESS ? MPI_ERR_IN_STATUS : result;
  }
  {
    const StateLock lock;
    beginEvent(place);
    sink().choseSome(kind, count, indices);
    sink().completes(place);
    for (int i = 0; i < count; ++i) {
      fileOne(batch, indices[i], &seen[i], seen[i].MPI_ERROR);
    }
    sink().told();
  }
  copyStatuses(statuses, seen, count < 0 ? 0 : count);
  std::free(seen);
  return result;
}

/// Replays a Testsome or Waitsome that completed something.
int replaySome(const CallPlace& place, ChoiceKind kind, int incount, MPI_Request* requests,
               int* outcount, int* indices, MPI_Status* statuses) {
  const OfferedRequests offered(incount, requests);
  Batch batch(incount, requests);
  const int count = static_cast<int>(g_engine.choices.payload(kind)) - 1;
  *outcount = count < 0 ? MPI_UNDEFINED : count;
  int result = MPI_SUCCESS;
  for (int i = 0; i < count; ++i) {
    if (i != 0 && i % 32 == 0) {
      g_engine.choices.next(kind);
    }
    indices[i] = static_cast<int>(g_engine.choices.payload(kind));
    if (g_engine.threads && (indices[i] < 0 || indices[i] >= incount)) {
      diverge(place, "a request array with the recorded index", "a shorter one");
    }
  }
  if (g_engine.threads) [[unlikely]] {
    return replaySomeOfThread(place, kind, batch, requests, *outcount, indices, statuses);
  }
  const StateLock lock;
  logSome(place, kind, *outcount, indices, offered);
  for (int i = 0; i < count; ++i) {
    if (indices[i] < 0 || indices[i] >= incount) {
      diverge(place, "a request array with the recorded index", "a shorter one");
    }
    MPI_Status* status = statuses != MPI_STATUSES_IGNORE ? &statuses[i] : MPI_STATUS_IGNORE;
    const int one = waitFor(place, batch, requests, indices[i], status);
    if (status != MPI_STATUS_IGNORE) {
      status->MPI_ERROR = one;
    }
    if (one != MPI_SUCCESS) {
      result = MPI_ERR_IN_STATUS;
    }
  }
  sink().told();
  return result;
}

template <typename RealCall>
int recordSome(const CallPlace& place, ChoiceKind kind, RealCall call, int incount,
               MPI_Request* requests, int* outcount, int* indices, MPI_Status* statuses) {
  const OfferedRequests offered(incount, requests);
  Batch batch(incount, requests);
  MPI_Status* use = batch.statuses(statuses, false);
  batch.offerSends();
  int result = MPI_SUCCESS;
  bool onlySends = false;
  do {
    *outcount = 0;  // a call that fails otherwise need not say how many
    result = call(incount, batch.requests(), outcount, indices, use);
    const int told = *outcount == MPI_UNDEFINED ? 0 : *outcount;
    const int left = batch.withoutSends(told, indices, use);
    onlySends = told != 0 && left == 0;
    *outcount = told != 0 ? left : *outcount;
  } while (onlySends && result == MPI_SUCCESS);
  batch.writeBack();
  restoreSome(batch, *outcount == MPI_UNDEFINED ? 0 : *outcount, indices, use, result);
  const StateLock lock;
  if (*outcount == 0) {
    sink().missed(kind);
    return result;
  }
  if (kind == ChoiceKind::Testsome) {
    beginEvent(place);
  } else {
    endCompletion(place);
  }
  logSome(place, kind, *outcount, indices, offered);
  for (int i = 0; *outcount != MPI_UNDEFINED && i < *outcount; ++i) {
    const MPI_Status* status = use != MPI_STATUSES_IGNORE ? &use[i] : nullptr;
    fileOne(batch, indices[i], status, errorOf(result, status));
  }
  sink().told();
  return result;
}

}  // namespace

int onWaitsome(const CallPlace& place, int incount, MPI_Request* requests, int* outcount,
               int* indices, MPI_Status* statuses) {
  NextChoice next = NextChoice::Live;
  {
    const StateLock lock;
    beginCompletion(place);
    next = g_engine.choices.next(ChoiceKind::Waitsome);
  }
  const InCall inCall(place, RecordKind::Completion, MPI_COMM_NULL, kNoPeer, -1);
  sayAwaited(incount, requests);
  if (next == NextChoice::Hit) {
    return replaySome(place, ChoiceKind::Waitsome, incount, requests, outcount, indices, statuses);
  }
  return recordSome(place, ChoiceKind::Waitsome, PF_REAL(Waitsome), incount, requests, outcount,
                    indices, statuses);
}

int onTestsome(const CallPlace& place, int incount, MPI_Request* requests, int* outcount,
               int* indices, MPI_Status* statuses) {
  const NextChoice next = replayTest(place, ChoiceKind::Testsome);
  if (next == NextChoice::FailedPoll) {
    *outcount = 0;
    return MPI_SUCCESS;
  }
  if (next == NextChoice::Hit) {
    const InCall inCall(place, RecordKind::Completion, MPI_COMM_NULL, kNoPeer, -1);
    return replaySome(place, ChoiceKind::Testsome, incount, requests, outcount, indices, statuses);
  }
  return recordSome(place, ChoiceKind::Testsome, PF_REAL(Testsome), incount, requests, outcount,
                    indices, statuses);
}

int onTest(const CallPlace& place, MPI_Request* request, int* flag, MPI_Status* status) {
  const NextChoice next = replayTest(place, ChoiceKind::Test);
  if (next == NextChoice::FailedPoll) {
    *flag = 0;
    return MPI_SUCCESS;
  }
  Batch batch(1, request);
  MPI_Status own;
  MPI_Status* use = status != MPI_STATUS_IGNORE ? status : &own;
  int result = MPI_SUCCESS;
  if (next == NextChoice::Hit) {
    const InCall inCall(place, RecordKind::Completion, MPI_COMM_NULL, kNoPeer, -1);
    *flag = 1;
    result = waitForOne(place, batch, 0, use);
  } else if (!batch.areSendsDone()) {
    *flag = 0;
  } else {
    result = PF_REAL(Test)(batch.requests(), flag, use);
  }
  batch.writeBack();
  result = restoreOne(batch, *flag != 0 || result != MPI_SUCCESS ? 0 : -1, use, result);
  const StateLock lock;
  if (recordTest(place, ChoiceKind::Test, next, *flag != 0)) {
    logTest(place, ChoiceKind::Test);
    fileOne(batch, 0, use, result);
    sink().told();
  }
  return result;
}

int onTestall(const CallPlace& place, int count, MPI_Request* requests, int* flag,
              MPI_Status* statuses) {
  const CompletionName name;
  const NextChoice next = replayTest(place, ChoiceKind::Testall);
  if (next == NextChoice::FailedPoll) {
    *flag = 0;
    return MPI_SUCCESS;
  }
  Batch batch(count, requests);
  MPI_Status* use = batch.statuses(statuses, false);
  int result = MPI_SUCCESS;
  if (next == NextChoice::Hit) {
    const InCall inCall(place, RecordKind::Completion, MPI_COMM_NULL, kNoPeer, -1);
    *flag = 1;
    result = waitForAll(place, name.key(), batch, count, use);
  } else if (!batch.areSendsDone()) {
    *flag = 0;
  } else {
    result = PF_REAL(Testall)(count, batch.requests(), flag, use);
  }
  batch.writeBack();
  restoreAll(batch, *flag != 0 || result != MPI_SUCCESS ? use : MPI_STATUSES_IGNORE, result);
  const StateLock lock;
  if (recordTest(place, ChoiceKind::Testall, next, *flag != 0)) {
    logTest(place, ChoiceKind::Testall);
    logUnfinished(name.key(), result, batch, count, use);
    fileAll(batch, result, use);
    sink().told();
  }
  return result;
}

int onTestany(const CallPlace& place, int count, MPI_Request* requests, int* index, int* flag,
              MPI_Status* status) {
  const NextChoice next = replayTest(place, ChoiceKind::Testany);
  if (next == NextChoice::FailedPoll) {
    *flag = 0;
    *index = MPI_UNDEFINED;
    return MPI_SUCCESS;
  }
  const OfferedRequests offered(count, requests);
  Batch batch(count, requests);
  MPI_Status own;
  MPI_Status* use = status != MPI_STATUS_IGNORE ? status : &own;
  const int recorded = next == NextChoice::Hit
                           ? static_cast<int>(g_engine.choices.payload(ChoiceKind::Testany)) - 1
                       : g_engine.jitter ? jitteredIndex(count, requests)
                                         : -1;
  int result = MPI_SUCCESS;
  if (recorded >= 0 && recorded < count) {
    std::optional<InCall> inCall;  // not of a choice that is complete, whose event has not begun
    if (next == NextChoice::Hit) {
      inCall.emplace(place, RecordKind::Completion, MPI_COMM_NULL, kNoPeer, -1);
    }
    *index = recorded;
    *flag = 1;
    result = waitForOne(place, batch, recorded, use);
  } else {
    batch.offerSends();
    do {
      result = PF_REAL(Testany)(count, batch.requests(), index, flag, use);
    } while (*flag != 0 && *index != MPI_UNDEFINED && batch.endedSend(*index) &&
             result == MPI_SUCCESS);
  }
  batch.writeBack();
  result = restoreOne(batch, *flag != 0 ? *index : -1, use, result);
  const StateLock lock;
  if (recordTest(place, ChoiceKind::Testany, next, *flag != 0)) {
    logIndex(place, ChoiceKind::Testany, *index, offered);
    if (*index != MPI_UNDEFINED) {
      fileOne(batch, *index, use, result);
    }
    sink().told();
  }
  return result;
}

int onRequest_get_status(const CallPlace& place, MPI_Request request, int* flag,
                         MPI_Status* status) {
  const NextChoice next = replayTest(place, ChoiceKind::GetStatus);
  if (next == NextChoice::FailedPoll) {
    *flag = 0;
    return MPI_SUCCESS;
  }
  Batch batch(1, &request);
  MPI_Status own;
  MPI_Status* use = status != MPI_STATUS_IGNORE ? status : &own;
  int result = MPI_SUCCESS;
  do {  // a replay asks until MPI agrees with the recording
    *flag = 0;
    result = batch.areSendsDone() ? PF_REAL(Request_get_status)(batch.requests()[0], flag, use)
                                  : MPI_SUCCESS;
  } while (next == NextChoice::Hit && *flag == 0 && result == MPI_SUCCESS);
  restoreOne(batch, *flag != 0 ? 0 : -1, use, MPI_SUCCESS);
  const StateLock lock;
  if (recordTest(place, ChoiceKind::GetStatus, next, *flag != 0)) {
    logTest(place, ChoiceKind::GetStatus);
    Request* entry = g_engine.requests.find(request);
    if (entry != nullptr && !entry->observed && isReceive(*entry)) {
      sink().receiveDone(*entry, use, result);
      entry->observed = true;
    }
    sink().told();
  }
  return result;
}

namespace {

/// Whether a replay gives this receive a message, so that it is not cancelled: it was not in the recording, or, behind what is forced as a whole,
/// its message is.
bool isGivenMessage(const Request& entry) {
  const bool forced =
      !g_engine.live || (entry.wild && g_engine.choices.pin(entry.wildNumber) != kPinUnknown);
  return g_engine.replay && forced && !g_engine.choices.wasCancelled(entry.number);
}

}  // namespace

int onCancel(const CallPlace& place, MPI_Request* request) {
  const StateLock lock;
  // An event: from here on the receive may match nothing, which the race rules and the pairing need
  // to know.
  beginEvent(place);
  sink().local(place);
  Request* entry = entryOf(*request);
  if (std::uint32_t post = 0; entry == nullptr && g_engine.postNumbers.find(*request, &post)) {
    Request known;
    known.handle = *request;
    known.kind = RequestKind::Receive;
    known.number = post;
    entry = g_engine.requests.insert(known);
  }
  if (entry != nullptr && entry->exchange) {  // as MPI has it, which knows one request here
    PF_REAL(Comm_call_errhandler)(MPI_COMM_WORLD, MPI_ERR_REQUEST);
    return MPI_ERR_REQUEST;
  }
  if (entry == nullptr || !isReceive(*entry)) {
    return PF_REAL(Cancel)(request);
  }
  entry->cancelled = true;
  if (isGivenMessage(*entry)) {
    return MPI_SUCCESS;  // its message comes first
  }
  const int result =
      PF_REAL(Cancel)(entry->inner() != MPI_REQUEST_NULL ? &entry->details->inner : request);
  sink().cancelled(*entry);
  return result;
}

int onRequest_free(const CallPlace& place, MPI_Request* request) {
  const StateLock lock;
  letRequestGo(place, *request);
  letSendHalfGo(*request);
  Request* entry = entryOf(*request);
  if (g_engine.record && entry != nullptr && entry->kind == RequestKind::Receive &&
      (entry->wild || entry->cancelled)) {
    // Which message it takes, if any, decides about the receives behind it: what is not decided yet
    // stays ours until MPI_Finalize can log it.
    MPI_Status status;
    int done = 0;
    int result = MPI_SUCCESS;
    {
      const InLayer look;
      result = PF_REAL(Request_get_status)(*request, &done, &status);
    }
    if (done == 0) {
      *request = MPI_REQUEST_NULL;
      return MPI_SUCCESS;
    }
    restoreStatus(&status, entry->routed());
    sink().receiveDone(*entry, &status, result);
    sink().told();
  } else if (entry != nullptr && entry->kind == RequestKind::Receive) {
    sink().letGo(*entry);
  }
  if (entry != nullptr && entry->inner() != MPI_REQUEST_NULL) {
    --g_engine.requests.substituted;
    PF_REAL(Request_free)(&entry->details->inner);
  }
  if (entry != nullptr) {
    forgetGiven(*entry);
  }
  g_engine.requests.erase(*request);
  return PF_REAL(Request_free)(request);
}

}  // namespace pf
