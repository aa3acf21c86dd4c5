// SPDX-License-Identifier: MIT
// Completions of a rank that is replayed with few others. The engine asks for what was done in the recording, in its
// order; behind the recording's end nothing comes from outside any more.
#include <algorithm>
#include <cstdlib>

#include "replay_engine/rank/partial_job/job_requests.h"
#include "replay_engine/rank/partial_job/outside.h"

namespace pf {
namespace {

/// Gives MPI what it waits for.
void prepare(JobRequest& entry, std::uint16_t call) {
  if (entry.fed) {
    return;
  }
  entry.fed = true;
  switch (entry.kind) {
    case JobRequestKind::FromOutside: {
      const OutsideEntry message = takeOutside(PayloadKind::Message, call, entry.source,
                                               entry.tag == MPI_ANY_TAG ? kAny : entry.tag);
      entry.truncated = message.head->size > entry.room;
      feed(message.content, std::min(message.head->size, entry.room), entry.feedTag);
      entry.gotSource = message.head->a;
      entry.gotTag = message.head->b;
      break;
    }
    case JobRequestKind::Collective: {
      if (entry.pieceCount != 0) {
        const OutsideEntry brought = takeOutside(PayloadKind::Collective, call, entry.call, kAny);
        const unsigned char* at = brought.content;
        for (int i = 0; i < entry.pieceCount && at != nullptr; ++i) {
          at = fillPiece(entry.pieces[i].piece, at, brought.end());
        }
        if (at != brought.end()) {
          outsideDiffers(entry.call, "as much as is received", "another size");
        }
      }
      feed(nullptr, 0, entry.feedTag);
      break;
    }
    case JobRequestKind::FromInside:
    case JobRequestKind::ToOutside:
      break;
  }
}

void restore(const JobRequest& entry, MPI_Status* status) {
  if (status == MPI_STATUS_IGNORE) {
    return;
  }
  switch (entry.kind) {
    case JobRequestKind::FromOutside:
      if (entry.fed && status->MPI_SOURCE >= 0) {
        status->MPI_SOURCE = entry.gotSource;
        status->MPI_TAG = entry.gotTag;
      }
      break;
    case JobRequestKind::FromInside:
      restoreInside(entry.job, entry.source, status);
      break;
    case JobRequestKind::
        Collective:  // whose status says nothing (MPI 3.1, 5.12): as Open MPI has it
      if (entry.persistent && !entry.fed) {
        break;
      }
      status->MPI_SOURCE = 0;
      status->MPI_TAG = 0;
      break;
    case JobRequestKind::ToOutside:  // nor does that of a send (3.7.3)
      if (entry.persistent) {        // which MPI knows as one to nobody, or as not started
        break;
      }
      status->MPI_SOURCE = MPI_PROC_NULL;
      status->MPI_TAG = MPI_ANY_TAG;
      break;
  }
}

void letGo(MPI_Request handle, const JobRequest& entry) {
  if (entry.kind == JobRequestKind::FromOutside || entry.kind == JobRequestKind::Collective) {
    freeFeederTag(entry.feedTag);
  }
  if (entry.holdsType) {
    MPI_Request holder = entry.holder;
    PF_UNDER(Request_free)(&holder);
  }
  {
    const LayerLock lock;
    if (const JobRequest* const known = g_jobRequests.find(handle);
        known != nullptr && known->id == entry.id) {
      releaseComm(known->job);
      g_jobRequests.erase(handle);
    }
  }
  freePieces(entry.pieces, entry.pieceCount);
}

void finish(MPI_Request handle, const JobRequest& entry) {
  if (entry.persistent) {
    const LayerLock lock;
    if (JobRequest* const again = g_jobRequests.find(handle);
        again != nullptr && again->id == entry.id) {
      again->fed = false;
      again->started = false;
    }
    return;
  }
  letGo(handle, entry);
}

/// False: nothing is known of it.
bool followed(MPI_Request request, JobRequest* entry) {
  if (t_layer != 0 || request == MPI_REQUEST_NULL) {
    return false;
  }
  const LayerLock lock;
  const JobRequest* const found = g_jobRequests.find(request);
  if (found != nullptr) {
    *entry = *found;
  }
  return found != nullptr;
}

/// A persistent request that was not started is done at once, with nothing.
bool isActive(MPI_Request request, const JobRequest& entry) {
  if (!kLooksAreFree) {
    return entry.started;
  }
  int done = 0;
  MPI_Status status;
  PF_UNDER(Request_get_status)(request, &done, &status);
  return done == 0;
}

/// prepare(), where the request is under way; `entry` is then what is known of it.
void prepareActive(MPI_Request request, JobRequest& entry, std::uint16_t call) {
  if (entry.persistent && !isActive(request, entry)) {
    return;
  }
  prepare(entry, call);
  const LayerLock lock;
  if (JobRequest* const known = g_jobRequests.find(request);
      known != nullptr && known->id == entry.id) {
    *known = entry;
  }
}

/// A copy of what is known of each request of a call, and their communicators, which stay meanwhile.
class Known {
 public:
  Known(int count, const MPI_Request* requests) : m_count(count) {
    for (int i = 0; i < count; ++i) {
      if (JobRequest entry{}; followed(requests[i], &entry)) {
        add(i, requests[i], entry);
      }
    }
  }
  ~Known() {
    if (any()) {
      const LayerLock lock;
      std::for_each(m_entries, m_entries + m_size,
                    [](const Entry& each) { releaseComm(each.entry.job); });
    }
    std::free(m_entries);
  }
  Known(const Known&) = delete;
  Known& operator=(const Known&) = delete;

  [[nodiscard]] bool any() const { return m_size != 0; }
  void prepareAll(std::uint16_t call) {
    for (int i = 0; i < m_size; ++i) {
      if (JobRequest entry{}; followed(m_entries[i].handle, &entry)) {
        prepareActive(m_entries[i].handle, entry, call);
        m_entries[i].entry = entry;
      }
    }
  }
  /// `now`: the program's array, where those that are done are null.
  void restoreAll(const MPI_Request* now, MPI_Status* statuses) {
    for (int i = 0; i < m_size; ++i) {
      const Entry& each = m_entries[i];
      if (each.entry.persistent || now[each.index] == MPI_REQUEST_NULL) {
        restoreOne(each,
                   statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : &statuses[each.index]);
      }
    }
  }
  /// What the call returns, and calls the error handler, if a message was longer than its receive. `statuses`: of all
  /// requests; or null.
  int tellTruncated(int result, MPI_Status* statuses, bool all) {
    const Entry* const first = std::find_if(m_entries, m_entries + m_size, [](const Entry& each) {
      return each.entry.fed && each.entry.truncated;
    });
    if (result != MPI_SUCCESS || first == m_entries + m_size) {
      return result;
    }
    for (int i = 0; all && statuses != nullptr && i < m_count; ++i) {
      statuses[i].MPI_ERROR = MPI_SUCCESS;
    }
    for (const Entry* each = first; all && statuses != nullptr && each != m_entries + m_size;
         ++each) {
      if (each->entry.fed && each->entry.truncated) {
        statuses[each->index].MPI_ERROR = MPI_ERR_TRUNCATE;
      }
    }
    if (!first->entry.job->freed) {
      PF_UNDER(Comm_call_errhandler)(handlerOf(first->entry.comm), MPI_ERR_TRUNCATE);
    }
    return all ? MPI_ERR_IN_STATUS : MPI_ERR_TRUNCATE;
  }
  void restoreOne(int index, MPI_Status* status) {
    for (int i = 0; i < m_size; ++i) {
      if (m_entries[i].index == index) {
        restoreOne(m_entries[i], status);
      }
    }
  }

 private:
  struct Entry {
    int index;
    MPI_Request handle;
    JobRequest entry;
  };

  static void restoreOne(const Entry& each, MPI_Status* status) {
    restore(each.entry, status);
    finish(each.handle, each.entry);
  }
  void add(int index, MPI_Request handle, const JobRequest& entry) {
    if (m_entries == nullptr) {
      m_entries =
          static_cast<Entry*>(std::malloc((static_cast<std::size_t>(m_count) + 1) * sizeof(Entry)));
      if (m_entries == nullptr) {
        std::abort();  // the program cannot go on without memory either
      }
    }
    const LayerLock lock;
    holdComm(entry.job);
    m_entries[m_size++] = {index, handle, entry};
  }

  Entry* m_entries = nullptr;
  int m_count;
  int m_size = 0;
};

int onWait(MPI_Request* request, MPI_Status* status) {
  Known known(1, request);
  known.prepareAll(kCallWait);
  const int result = PF_UNDER(Wait)(request, status);
  known.restoreOne(0, status);
  return known.tellTruncated(result, nullptr, false);
}

int onWaitall(int count, MPI_Request* requests, MPI_Status* statuses) {
  Known known(count, requests);
  known.prepareAll(kCallWaitall);
  const int result = PF_UNDER(Waitall)(count, requests, statuses);
  known.restoreAll(requests, statuses);
  return known.tellTruncated(result, statuses == MPI_STATUSES_IGNORE ? nullptr : statuses, true);
}

int onWaitany(int count, MPI_Request* requests, int* index, MPI_Status* status) {
  Known known(count, requests);
  if (count == 1) {  // as MPI_Wait, where the engine knows which request it is
    known.prepareAll(kCallWaitany);
  }
  const int result = PF_UNDER(Waitany)(count, requests, index, status);
  if (*index != MPI_UNDEFINED) {
    known.restoreOne(*index, status);
  }
  return count == 1 ? known.tellTruncated(result, nullptr, false) : result;
}

void someDone(Known& known, int count, const int* indices, MPI_Status* statuses) {
  for (int i = 0; count != MPI_UNDEFINED && i < count; ++i) {
    known.restoreOne(indices[i],
                     statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : &statuses[i]);
  }
}

int onWaitsome(int count, MPI_Request* requests, int* done, int* indices, MPI_Status* statuses) {
  Known known(count, requests);
  const int result = PF_UNDER(Waitsome)(count, requests, done, indices, statuses);
  someDone(known, *done, indices, statuses);
  return result;
}

int onTestsome(int count, MPI_Request* requests, int* done, int* indices, MPI_Status* statuses) {
  Known known(count, requests);
  const int result = PF_UNDER(Testsome)(count, requests, done, indices, statuses);
  someDone(known, *done, indices, statuses);
  return result;
}

int onTest(MPI_Request* request, int* flag, MPI_Status* status) {
  Known known(1, request);
  const int result = PF_UNDER(Test)(request, flag, status);
  if (*flag != 0) {
    known.restoreOne(0, status);
  }
  return result;
}

int onTestall(int count, MPI_Request* requests, int* flag, MPI_Status* statuses) {
  Known known(count, requests);
  const int result = PF_UNDER(Testall)(count, requests, flag, statuses);
  if (*flag != 0) {
    known.restoreAll(requests, statuses);
  }
  return result;
}

int onTestany(int count, MPI_Request* requests, int* index, int* flag, MPI_Status* status) {
  Known known(count, requests);
  const int result = PF_UNDER(Testany)(count, requests, index, flag, status);
  if (*flag != 0 && *index != MPI_UNDEFINED) {
    known.restoreOne(*index, status);
  }
  return result;
}

/// The engine asks until MPI agrees with the recording.
int onRequest_get_status(MPI_Request request, int* flag, MPI_Status* status) {
  JobRequest entry{};
  const bool known = followed(request, &entry);
  if (known) {
    prepareActive(request, entry, kCallRequest_get_status);
  }
  const int result = PF_UNDER(Request_get_status)(request, flag, status);
  if (known && *flag != 0) {
    restore(entry, status);
  }
  return result;
}

/// Each of several, in turn: one that is not active, and so is done with nothing, is not told of but by `all`.
bool isLookedAt(MPI_Request request) {
  JobRequest entry{};
  return request != MPI_REQUEST_NULL &&
         (!followed(request, &entry) || !entry.persistent || entry.started);
}

int onRequest_get_status_all(int count, const MPI_Request* requests, int* flag,
                             MPI_Status* statuses) {
  *flag = 1;
  int result = MPI_SUCCESS;
  for (int i = 0; i < count && *flag != 0 && result == MPI_SUCCESS; ++i) {
    result = onRequest_get_status(
        requests[i], flag, statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : &statuses[i]);
  }
  return result;
}

int onRequest_get_status_any(int count, const MPI_Request* requests, int* index, int* flag,
                             MPI_Status* status) {
  *index = MPI_UNDEFINED;
  *flag = 1;
  for (int i = 0; i < count; ++i) {
    if (!isLookedAt(requests[i])) {
      continue;
    }
    const int result = onRequest_get_status(requests[i], flag, status);
    if (*flag != 0 || result != MPI_SUCCESS) {
      *index = i;
      return result;
    }
  }
  if (*flag != 0) {  // none is active: an empty status
    return PF_UNDER(Request_get_status)(MPI_REQUEST_NULL, flag, status);
  }
  return MPI_SUCCESS;
}

int onRequest_get_status_some(int count, const MPI_Request* requests, int* done, int* indices,
                              MPI_Status* statuses) {
  bool any = false;
  *done = 0;
  for (int i = 0; i < count; ++i) {
    if (!isLookedAt(requests[i])) {
      continue;
    }
    any = true;
    int flag = 0;
    const int result = onRequest_get_status(
        requests[i], &flag, statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : &statuses[*done]);
    if (result != MPI_SUCCESS) {
      return result;
    }
    if (flag != 0) {
      indices[(*done)++] = i;
    }
  }
  *done = any ? *done : MPI_UNDEFINED;
  return MPI_SUCCESS;
}

int onRequest_free(MPI_Request* request) {
  if (JobRequest entry{}; followed(*request, &entry)) {
    letGo(*request, entry);
  }
  return PF_UNDER(Request_free)(request);
}

/// Of one that the program lets go before it is told: nothing says what it brings, and when. A recording has ended there, too.
void letJobRequestGoOn(const CallPlace& place, MPI_Request request) {
  JobRequest entry{};
  if (!followed(request, &entry) || entry.fed) {
    return;
  }
  const bool mayBring = entry.kind == JobRequestKind::FromOutside ||
                        (entry.kind == JobRequestKind::Collective && entry.pieceCount != 0) ||
                        (entry.kind == JobRequestKind::FromInside && isWild(entry.source));
  if (mayBring && (!entry.persistent || isActive(request, entry))) {
    notAlone(place);
  }
}

}  // namespace

void putJobCompletionsOver() {
  putOver(kCallWait, onWait);
  putOver(kCallWaitall, onWaitall);
  putOver(kCallWaitany, onWaitany);
  putOver(kCallWaitsome, onWaitsome);
  putOver(kCallTest, onTest);
  putOver(kCallTestall, onTestall);
  putOver(kCallTestany, onTestany);
  putOver(kCallTestsome, onTestsome);
  putOver(kCallRequest_get_status, onRequest_get_status);
  putOver(kCallRequest_get_status_all, onRequest_get_status_all);
  putOver(kCallRequest_get_status_any, onRequest_get_status_any);
  putOver(kCallRequest_get_status_some, onRequest_get_status_some);
  putOver(kCallRequest_free, onRequest_free);
  g_letGo = letJobRequestGoOn;
}

}  // namespace pf
