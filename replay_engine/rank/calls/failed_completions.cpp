// SPDX-License-Identifier: MIT
#include "replay_engine/rank/calls/failed_completions.h"

#include <cstdlib>

#include "replay_engine/rank/calls/fast_path.h"
#include "replay_engine/rank/engine/lanes.h"

namespace pf {

CompletionName::CompletionName() {
  if (g_engine.threads) [[unlikely]] {
    const Lane& lane = myLane();
    m_ofThread = completionKey(lane.number, lane.events);
  }
}

std::uint64_t CompletionName::key() const {
  return m_ofThread != 0 ? m_ofThread : completionKey(g_engine.serial);
}

bool isUnfinished(int result, MPI_Request request, const MPI_Status* status, bool persistent) {
  if (!isError(result, MPI_ERR_IN_STATUS) || request == MPI_REQUEST_NULL) {
    return false;
  }
  if (status != nullptr) {
    return isError(status->MPI_ERROR, MPI_ERR_PENDING);
  }
  int done = 0;
  const InLayer look;
  return !persistent ||
         (PF_REAL(Request_get_status)(request, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS &&
          done == 0);
}

namespace {

/// `unfinished(i)`: whether request i is.
template <typename Predicate>
void logIndicesOf(std::uint64_t key, int count, Predicate unfinished) {
  int next = 0;
  do {
    unsigned char indices[kMostUnfinished * 5];
    unsigned char* end = indices;
    std::uint32_t n = 0;
    for (; next < count && n < kMostUnfinished; ++next) {
      if (unfinished(next)) {
        end = putVarint(end, static_cast<std::uint32_t>(next));
        ++n;
      }
    }
    unsigned char* const p = putRecord<RecordKind::Unfinished>(g_engine.log.reserve(), {key, n});
    std::memcpy(p, indices, static_cast<std::size_t>(end - indices));
    g_engine.log.commit(p + (end - indices));
  } while (next < count);
}

}  // namespace

void logUnfinished(std::uint64_t key, int result, Batch& batch, int count,
                   const MPI_Status* statuses) {
  if (!g_engine.record || !isError(result, MPI_ERR_IN_STATUS)) {
    return;
  }
  logIndicesOf(key, count, [&](int i) {
    const Batch::Entry* const entry = batch.find(i);
    return isUnfinished(result, batch.requests()[i],
                        statuses != MPI_STATUSES_IGNORE ? &statuses[i] : nullptr,
                        entry != nullptr && isPersistent(entry->request));
  });
}

void fastFailed(std::uint16_t call, int count, const MPI_Request* requests, int result) {
  if (call != kCallWaitall || !isError(result, MPI_ERR_IN_STATUS)) {
    return;
  }
  logIndicesOf(completionKey(g_engine.serial), count,
               [&](int i) { return requests[i] != MPI_REQUEST_NULL; });
  g_engine.log.publish();
}

namespace {

/// The requests of a call that are completed, in a row, and their statuses.
struct Finished {
  int* indices;
  MPI_Request* requests;
  MPI_Status* statuses;
  int count = 0;

  explicit Finished(int most)
      : indices(room<int>(most)),
        requests(room<MPI_Request>(most)),
        statuses(room<MPI_Status>(most)) {}
  ~Finished() {
    std::free(indices);
    std::free(requests);
    std::free(statuses);
  }
  Finished(const Finished&) = delete;
  Finished& operator=(const Finished&) = delete;

 private:
  template <typename T>
  static T* room(int most) {
    void* const made = std::calloc(static_cast<std::size_t>(most) + 1, sizeof(T));
    if (made == nullptr) {
      std::abort();  // the program cannot go on without memory either
    }
    return static_cast<T*>(made);
  }
};

/// MPI gives up at the first request that has failed: first all are to be there.
void awaitEach(int count, const MPI_Request* requests) {
  for (int i = 0; i < count; ++i) {
    const bool asked =
        requests[i] != MPI_REQUEST_NULL && mayBeLookedAt(g_engine.requests.find(requests[i]));
    int done = asked ? 0 : 1;
    while (done == 0 &&
           PF_REAL(Request_get_status)(requests[i], &done, MPI_STATUS_IGNORE) == MPI_SUCCESS) {
    }
  }
}

int completeAsThen(const CallPlace& place, const ScheduleFailed& then, Batch& batch, int count,
                   MPI_Status* statuses) {
  MPI_Request* const requests = batch.requests();
  const std::uint32_t* const unfinished = g_engine.choices.unfinished(then);
  const bool wanted = statuses != MPI_STATUSES_IGNORE;
  Finished finished(count);
  std::uint32_t next = 0;
  for (int i = 0; i < count; ++i) {
    if (next < then.count && unfinished[next] == static_cast<std::uint32_t>(i)) {
      ++next;
      if (wanted) {
        statuses[i].MPI_ERROR = MPI_ERR_PENDING;
      }
      continue;
    }
    batch.awaitSend(i);
    finished.indices[finished.count] = i;
    finished.requests[finished.count] = requests[i];
    if (wanted) {
      finished.statuses[finished.count] = statuses[i];
    }
    ++finished.count;
  }
  if (next != then.count) {
    diverge(place, "a request array with the recorded index", "a shorter one");
  }
  awaitEach(finished.count, finished.requests);
  const int result = PF_REAL(Waitall)(finished.count, finished.requests,
                                      wanted ? finished.statuses : MPI_STATUSES_IGNORE);
  for (int i = 0; i < finished.count; ++i) {
    requests[finished.indices[i]] = finished.requests[i];
    if (wanted) {
      statuses[finished.indices[i]] = finished.statuses[i];
    }
  }
  return result;
}

}  // namespace

int waitForAll(const CallPlace& place, std::uint64_t key, Batch& batch, int count,
               MPI_Status* statuses) {
  const ScheduleFailed* const then = g_engine.choices.failed(key);
  if (then != nullptr) [[unlikely]] {
    return completeAsThen(place, *then, batch, count, statuses);
  }
  const int sent = batch.awaitSends();
  const int result = PF_REAL(Waitall)(count, batch.requests(), statuses);
  return result != MPI_SUCCESS ? result : sent;
}

void copyWritten(MPI_Status* to, const MPI_Status* from, int count) {
  for (int i = 0; i < count; ++i) {
    const int source = to[i].MPI_SOURCE;
    to[i] = from[i];
    if (from[i].MPI_SOURCE == kStatusUntouched) {
      to[i].MPI_SOURCE = source;
    }
  }
}

}  // namespace pf
