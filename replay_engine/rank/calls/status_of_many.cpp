// SPDX-License-Identifier: MIT
// MPI_Request_get_status_all, _any and _some (MPI 4.1, 3.7.6): as MPI_Testall and the like, but the requests stay. Their
// outcomes go to the streams of MPI_Request_get_status, MPI_Testany and MPI_Testsome.
#include "replay_engine/rank/calls/request_batch.h"
#include "replay_engine/rank/calls/told_outcomes.h"

namespace pf {
namespace {

/// Of libraries that lack it, no header says how it is called.
template <typename... Arguments>
int callReal(std::uint16_t call, Arguments... arguments) {
  return reinterpret_cast<int (*)(Arguments...)>(real(call))(arguments...);
}

/// What the program is told of request `index`, which stays.
void seeDone(const Batch& batch, int index, const MPI_Status* status, int result) {
  const Batch::Entry* const known = batch.find(index);
  Request* const entry = known != nullptr ? g_engine.requests.find(known->request.handle) : nullptr;
  if (entry != nullptr && !entry->observed && isReceive(*entry)) {
    sink().receiveDone(*entry, status, errorOf(result, status));
    entry->observed = true;
  }
}

bool isSent(const Batch& batch, int index) {
  const Batch::Entry* const known = batch.find(index);
  return known == nullptr || isSendHalfDone(known->request.handle);
}

/// A replay asks until MPI agrees with the recording: by the same call, as what that says of errors is the library's affair.
int lookUntilDone(Batch& batch, int index, MPI_Status* status) {
  int first = 0;
  int flag = 0;
  int result = MPI_SUCCESS;
  do {
    result = isSent(batch, index)
                 ? callReal(kCallRequest_get_status_any, 1,
                            static_cast<const MPI_Request*>(&batch.requests()[index]), &first,
                            &flag, status)
                 : MPI_SUCCESS;
  } while (flag == 0 && result == MPI_SUCCESS);
  restoreOne(batch, index, status, MPI_SUCCESS);
  return result;
}

/// The same of `count` requests at `indices`, one after the other.
int lookOneByOne(Batch& batch, int count, const int* indices, MPI_Status* statuses) {
  int result = MPI_SUCCESS;
  for (int i = 0; i < count; ++i) {
    int told = 0;
    int place = 0;
    int one = MPI_SUCCESS;
    do {
      one = isSent(batch, indices[i])
                ? callReal(kCallRequest_get_status_some, 1,
                           static_cast<const MPI_Request*>(&batch.requests()[indices[i]]), &told,
                           &place,
                           statuses != MPI_STATUSES_IGNORE ? &statuses[i] : MPI_STATUSES_IGNORE)
                : MPI_SUCCESS;
    } while (told == 0 && one == MPI_SUCCESS);
    result = one != MPI_SUCCESS ? one : result;
  }
  return result;
}

/// Whether a look at one of them changes it: a round that tells of some only would end these.
bool someMayNotBeLookedAt(const Batch& batch, int count, const int* indices) {
  for (int i = 0; i < count; ++i) {
    const Batch::Entry* const known = batch.find(indices[i]);
    if (!mayBeLookedAt(known != nullptr ? &known->request : nullptr)) {
      return true;
    }
  }
  return false;
}

/// The same of `count` requests at `indices`, in one call: MPI tells of an error once. `statuses` are in the order of the indices.
int lookUntilAllDone(Batch& batch, int count, const int* indices, MPI_Status* statuses) {
  if (someMayNotBeLookedAt(batch, count, indices)) {
    return lookOneByOne(batch, count, indices, statuses);
  }
  const auto size = static_cast<std::size_t>(count);
  auto* const asked = static_cast<MPI_Request*>(std::calloc(size, sizeof(MPI_Request)));
  auto* const places = static_cast<int*>(std::calloc(size, sizeof(int)));
  if (asked == nullptr || places == nullptr) {
    std::abort();
  }
  for (int i = 0; i < count; ++i) {
    asked[i] = batch.requests()[indices[i]];
    int done = 0;
    while (done == 0) {  // the call would tell of those that are done by then
      if (isSent(batch, indices[i]) &&
          PF_REAL(Request_get_status)(asked[i], &done, MPI_STATUS_IGNORE) != MPI_SUCCESS) {
        break;
      }
    }
  }
  int told = 0;
  int result = MPI_SUCCESS;
  do {
    result = callReal(kCallRequest_get_status_some, count, static_cast<const MPI_Request*>(asked),
                      &told, places, statuses);
  } while (told >= 0 && told < count &&
           (result == MPI_SUCCESS || isError(result, MPI_ERR_IN_STATUS)));
  std::free(asked);
  std::free(places);
  return result;
}

MPI_Status* statusSeen(MPI_Status* statuses, int i) {
  return statuses != MPI_STATUSES_IGNORE ? &statuses[i] : MPI_STATUS_IGNORE;
}

/// `told`: `count` indices that MPI or the recording says, in the order of `statuses`.
void seeSome(const CallPlace& place, const Batch& batch, int count, const int* told,
             const MPI_Status* statuses, int result) {
  const OfferedRequests none(0, nullptr);  // no request is given
  logSome(place, ChoiceKind::Testsome, count, told, none);
  for (int i = 0; count != MPI_UNDEFINED && i < count; ++i) {
    seeDone(batch, told[i], statuses != MPI_STATUSES_IGNORE ? &statuses[i] : nullptr, result);
  }
  sink().told();
}

/// What MPI_Testsome's stream says of a success.
int replaySeen(const CallPlace& place, Batch& batch, int incount, int* outcount, int* indices,
               MPI_Status* statuses) {
  const int count = static_cast<int>(g_engine.choices.payload(ChoiceKind::Testsome)) - 1;
  *outcount = count < 0 ? MPI_UNDEFINED : count;
  for (int i = 0; i < count; ++i) {
    if (i != 0 && i % 32 == 0) {
      g_engine.choices.next(ChoiceKind::Testsome);
    }
    indices[i] = static_cast<int>(g_engine.choices.payload(ChoiceKind::Testsome));
    if (indices[i] < 0 || indices[i] >= incount) {
      diverge(place, "a request array with the recorded index", "a shorter one");
    }
  }
  const int result = count > 0 ? lookUntilAllDone(batch, count, indices, statuses) : MPI_SUCCESS;
  for (int i = 0; i < count; ++i) {
    restoreOne(batch, indices[i], statusSeen(statuses, i), MPI_SUCCESS);
  }
  return result;
}

}  // namespace

int onRequest_get_status_all(const CallPlace& place, int count, const MPI_Request* requests,
                             int* flag, MPI_Status* statuses) {
  const NextChoice next = replayTest(place, ChoiceKind::GetStatus);
  if (next == NextChoice::FailedPoll) {
    *flag = 0;
    return MPI_SUCCESS;
  }
  Batch batch(count, const_cast<MPI_Request*>(requests));
  MPI_Status* const use = batch.statuses(statuses, false);
  int result = MPI_SUCCESS;
  do {
    *flag = 0;
    result = batch.areSendsDone()
                 ? callReal(kCallRequest_get_status_all, count,
                            static_cast<const MPI_Request*>(batch.requests()), flag, use)
                 : MPI_SUCCESS;
  } while (next == NextChoice::Hit && *flag == 0 && result == MPI_SUCCESS);
  for (int i = 0; *flag != 0 && use != MPI_STATUSES_IGNORE && i < count; ++i) {
    restoreOne(batch, i, &use[i], MPI_SUCCESS);
  }
  const StateLock lock;
  if (recordTest(place, ChoiceKind::GetStatus, next, *flag != 0)) {
    logTest(place, ChoiceKind::GetStatus);
    for (const Batch::Entry& each : batch) {
      seeDone(batch, each.index, use != MPI_STATUSES_IGNORE ? &use[each.index] : nullptr, result);
    }
    sink().told();
  }
  return result;
}

int onRequest_get_status_any(const CallPlace& place, int count, const MPI_Request* requests,
                             int* index, int* flag, MPI_Status* status) {
  const NextChoice next = replayTest(place, ChoiceKind::Testany);
  if (next == NextChoice::FailedPoll) {
    *flag = 0;
    *index = MPI_UNDEFINED;
    return MPI_SUCCESS;
  }
  Batch batch(count, const_cast<MPI_Request*>(requests));
  MPI_Status own;
  MPI_Status* const use = status != MPI_STATUS_IGNORE ? status : &own;
  const int recorded = next == NextChoice::Hit
                           ? static_cast<int>(g_engine.choices.payload(ChoiceKind::Testany)) - 1
                           : -1;
  int result = MPI_SUCCESS;
  if (recorded >= count) {
    diverge(place, "a request array with the recorded index", "a shorter one");
  } else if (next == NextChoice::Hit && recorded < 0) {  // none was active
    *index = MPI_UNDEFINED;
    result = PF_REAL(Request_get_status)(MPI_REQUEST_NULL, flag, use);
  } else if (recorded >= 0) {
    *index = recorded;
    *flag = 1;
    result = lookUntilDone(batch, recorded, use);
  } else {
    const bool hidden = batch.hideUnsent();
    *flag = 0;  // MPI need not set them where it fails
    *index = MPI_UNDEFINED;
    result = callReal(kCallRequest_get_status_any, count,
                      static_cast<const MPI_Request*>(batch.requests()), index, flag, use);
    if (*flag != 0 && *index == MPI_UNDEFINED && hidden) {
      *flag = 0;
    }
    if (*flag != 0 && *index != MPI_UNDEFINED) {
      restoreOne(batch, *index, use, MPI_SUCCESS);
    }
  }
  const StateLock lock;
  if (recordTest(place, ChoiceKind::Testany, next, *flag != 0)) {
    const OfferedRequests none(0, nullptr);  // no request is given
    logIndex(place, ChoiceKind::Testany, *index, none);
    if (*index != MPI_UNDEFINED) {
      seeDone(batch, *index, use, result);
    }
    sink().told();
  }
  return result;
}

int onRequest_get_status_some(const CallPlace& place, int incount, const MPI_Request* requests,
                              int* outcount, int* indices, MPI_Status* statuses) {
  const NextChoice next = replayTest(place, ChoiceKind::Testsome);
  if (next == NextChoice::FailedPoll) {
    *outcount = 0;
    return MPI_SUCCESS;
  }
  Batch batch(incount, const_cast<MPI_Request*>(requests));
  MPI_Status* const use = batch.statuses(statuses, false);
  int result = MPI_SUCCESS;
  if (next == NextChoice::Hit) {
    result = replaySeen(place, batch, incount, outcount, indices, use);
  } else {
    const bool hidden = batch.hideUnsent();
    *outcount = 0;
    result = callReal(kCallRequest_get_status_some, incount,
                      static_cast<const MPI_Request*>(batch.requests()), outcount, indices, use);
    if (*outcount == MPI_UNDEFINED && hidden) {
      *outcount = 0;
    }
    for (int i = 0; *outcount != MPI_UNDEFINED && i < *outcount; ++i) {
      restoreOne(batch, indices[i], statusSeen(use, i), MPI_SUCCESS);
    }
  }
  const StateLock lock;
  if (recordTest(place, ChoiceKind::Testsome, next, *outcount != 0)) {
    seeSome(place, batch, *outcount, indices, use, result);
  }
  return result;
}

}  // namespace pf
