// SPDX-License-Identifier: MIT
// Completions of a recording with groups: when the program is told that a receive or a collective is done, its contents
// are there (MPIWiz, 6.1.3).
#include <algorithm>
#include <cstdlib>

#include "replay_engine/rank/engine/records.h"
#include "replay_engine/rank/group_recording/keeping.h"
#include "replay_engine/rank/layer/not_alone.h"

namespace pf {
namespace {

void letGo(const KeptRequest& kept) {
  if (kept.pieces != nullptr) {
    freePieces(kept.pieces, kept.pieceCount);
  } else {
    letTypeGo(kept.piece.type);
  }
}

/// For other threads than the layer's.
bool isFollowed(int count, const MPI_Request* requests) {
  const LayerLock lock;
  return std::any_of(requests, requests + count, [](MPI_Request request) {
    const KeptRequest* const kept =
        request == MPI_REQUEST_NULL ? nullptr : g_keptRequests.find(request);
    return kept != nullptr && !kept->asked;
  });
}

/// Requests of one call that are followed, and statuses to ask MPI for.
class Followed {
 public:
  Followed(std::uint16_t call, int count, const MPI_Request* requests) : m_call(call) {
    if (t_layer != 0 || g_keptRequests.count() == 0) {
      return;
    }
    if (!isLayerThread()) [[unlikely]] {
      if (isFollowed(count, requests)) {
        mayBeTold(call);
      }
      return;
    }
    for (int i = 0; i < count; ++i) {
      KeptRequest* const kept =
          requests[i] == MPI_REQUEST_NULL ? nullptr : g_keptRequests.find(requests[i]);
      if (kept != nullptr) {
        add(i, requests[i], *kept);
        mark(*kept, true);
      }
    }
  }
  ~Followed() {
    for (int i = 0; g_layerThread != nullptr && i < m_count; ++i) {
      if (KeptRequest* const kept = g_keptRequests.find(m_entries[i].handle); kept != nullptr) {
        mark(*kept, false);
      }
    }
    if (m_entries != &m_one) {
      std::free(m_entries);
    }
    std::free(m_statuses);
  }
  Followed(const Followed&) = delete;
  Followed& operator=(const Followed&) = delete;

  [[nodiscard]] bool any() const { return m_count != 0; }

  MPI_Status* statuses(MPI_Status* given, int count) {
    if (!any() || given != MPI_STATUSES_IGNORE) {
      return given;
    }
    m_statuses = static_cast<MPI_Status*>(
        std::calloc(static_cast<std::size_t>(count) + 1, sizeof(MPI_Status)));
    if (m_statuses == nullptr) {
      std::abort();  // the program cannot go on without memory either
    }
    return m_statuses;
  }

  /// Request `index` of the call is done.
  void done(int index, const MPI_Status& status, int error) {
    for (int i = 0; i < m_count; ++i) {
      if (m_entries[i].index == index) {
        told(m_call, m_entries[i], status, error);
        return;
      }
    }
  }
  /// Those of a call that tells of all; `error`: what it returned.
  void allDone(const MPI_Status* statuses, int error) {
    for (int i = 0; i < m_count; ++i) {
      const MPI_Status& status = statuses[m_entries[i].index];
      const bool each = isError(error, MPI_ERR_IN_STATUS);
      const int own = each ? status.MPI_ERROR : error;
      if (!isError(own, MPI_ERR_PENDING)) {
        told(m_call, m_entries[i], status, own);
      }
    }
  }

  /// Its contents are there, and the request stays.
  static void seen(std::uint16_t call, KeptRequest& kept, const MPI_Status& status) {
    if (!kept.done && isUnderWay(kept)) {
      keep(call, kept, status, MPI_SUCCESS);
      kept.done = true;
    }
  }

 private:
  struct Entry {
    int index;
    MPI_Request handle;
    KeptRequest kept;
  };

  static void mark(KeptRequest& kept, bool asked) {
    if (g_layerThread != nullptr) {
      const LayerLock lock;
      kept.asked = asked;
    }
  }
  void add(int index, MPI_Request handle, const KeptRequest& kept) {
    if (m_count == m_room) {
      m_room *= 8;
      void* const grown = std::realloc(m_entries == &m_one ? nullptr : m_entries,
                                       static_cast<std::size_t>(m_room) * sizeof(Entry));
      if (grown == nullptr) {
        std::abort();  // the program cannot go on without memory either
      }
      if (m_entries == &m_one) {
        *static_cast<Entry*>(grown) = m_one;
      }
      m_entries = static_cast<Entry*>(grown);
    }
    m_entries[m_count++] = {index, handle, kept};
  }

  static void keep(std::uint16_t call, const KeptRequest& kept, const MPI_Status& status,
                   int error) {
    if (kept.pieces != nullptr) {
      keepPieces(call, *kept.members, kept.call, kept.pieces, kept.pieces + kept.pieceCount, true,
                 kept.type);
      return;
    }
    int cancelled = 0;
    PF_UNDER(Test_cancelled)(&status, &cancelled);
    if (cancelled == 0) {
      keepMessage(call, *kept.members, kept.piece, status, error, kept.type);
    }
  }

  static void told(std::uint16_t call, const Entry& entry, const MPI_Status& status, int error) {
    if (!entry.kept.done && isUnderWay(entry.kept)) {
      keep(call, entry.kept, status, error);
    }
    const LayerLock lock;
    if (entry.kept.persistent) {
      if (KeptRequest* const again = g_keptRequests.find(entry.handle); again != nullptr) {
        again->done = false;
        again->started = false;
      }
      return;
    }
    letGo(entry.kept);
    g_keptRequests.erase(entry.handle);
  }

  std::uint16_t m_call;
  Entry m_one{};
  Entry* m_entries = &m_one;
  int m_count = 0;
  int m_room = 1;
  MPI_Status* m_statuses = nullptr;
};

/// Where a call completes one request: its status, if any is followed.
class OneStatus {
 public:
  OneStatus(const Followed& followed, MPI_Status* given)
      : m_use(followed.any() && given == MPI_STATUS_IGNORE ? &m_own : given) {}
  // NOLINTNEXTLINE(google-explicit-constructor): it is the argument
  operator MPI_Status*() { return m_use; }
  const MPI_Status& value() { return *m_use; }

 private:
  MPI_Status m_own;
  MPI_Status* m_use;
};

__attribute__((noinline)) int followWait(MPI_Request* request, MPI_Status* status) {
  Followed followed(kCallWait, 1, request);
  OneStatus use(followed, status);
  const int result = PF_UNDER(Wait)(request, use);
  if (followed.any()) {
    followed.done(0, use.value(), result);
  }
  return result;
}

int keepWait(MPI_Request* request, MPI_Status* status) {
  return g_keptRequests.count() == 0 ? PF_UNDER(Wait)(request, status)
                                     : followWait(request, status);
}

__attribute__((noinline)) int followWaitall(int count, MPI_Request* requests,
                                            MPI_Status* statuses) {
  Followed followed(kCallWaitall, count, requests);
  MPI_Status* const use = followed.statuses(statuses, count);
  const int result = PF_UNDER(Waitall)(count, requests, use);
  if (followed.any()) {
    followed.allDone(use, result);
  }
  return result;
}

int keepWaitall(int count, MPI_Request* requests, MPI_Status* statuses) {
  return g_keptRequests.count() == 0 ? PF_UNDER(Waitall)(count, requests, statuses)
                                     : followWaitall(count, requests, statuses);
}

__attribute__((noinline)) int followWaitany(int count, MPI_Request* requests, int* index,
                                            MPI_Status* status) {
  Followed followed(kCallWaitany, count, requests);
  OneStatus use(followed, status);
  const int result = PF_UNDER(Waitany)(count, requests, index, use);
  if (followed.any() && *index != MPI_UNDEFINED) {
    followed.done(*index, use.value(), result);
  }
  return result;
}

int keepWaitany(int count, MPI_Request* requests, int* index, MPI_Status* status) {
  return g_keptRequests.count() == 0 ? PF_UNDER(Waitany)(count, requests, index, status)
                                     : followWaitany(count, requests, index, status);
}

/// Those that MPI_Waitsome or MPI_Testsome has completed.
void someDone(Followed& followed, int result, int count, const int* indices,
              const MPI_Status* statuses) {
  for (int i = 0; followed.any() && count != MPI_UNDEFINED && i < count; ++i) {
    const bool each = isError(result, MPI_ERR_IN_STATUS);
    followed.done(indices[i], statuses[i], each ? statuses[i].MPI_ERROR : result);
  }
}

__attribute__((noinline)) int followWaitsome(int count, MPI_Request* requests, int* done,
                                             int* indices, MPI_Status* statuses) {
  Followed followed(kCallWaitsome, count, requests);
  MPI_Status* const use = followed.statuses(statuses, count);
  const int result = PF_UNDER(Waitsome)(count, requests, done, indices, use);
  someDone(followed, result, *done, indices, use);
  return result;
}

int keepWaitsome(int count, MPI_Request* requests, int* done, int* indices, MPI_Status* statuses) {
  return g_keptRequests.count() == 0 ? PF_UNDER(Waitsome)(count, requests, done, indices, statuses)
                                     : followWaitsome(count, requests, done, indices, statuses);
}

__attribute__((noinline)) int followTestsome(int count, MPI_Request* requests, int* done,
                                             int* indices, MPI_Status* statuses) {
  Followed followed(kCallTestsome, count, requests);
  MPI_Status* const use = followed.statuses(statuses, count);
  const int result = PF_UNDER(Testsome)(count, requests, done, indices, use);
  someDone(followed, result, *done, indices, use);
  return result;
}

int keepTestsome(int count, MPI_Request* requests, int* done, int* indices, MPI_Status* statuses) {
  return g_keptRequests.count() == 0 ? PF_UNDER(Testsome)(count, requests, done, indices, statuses)
                                     : followTestsome(count, requests, done, indices, statuses);
}

__attribute__((noinline)) int followTest(MPI_Request* request, int* flag, MPI_Status* status) {
  Followed followed(kCallTest, 1, request);
  OneStatus use(followed, status);
  const int result = PF_UNDER(Test)(request, flag, use);
  if (followed.any() && *flag != 0) {
    followed.done(0, use.value(), result);
  }
  return result;
}

int keepTest(MPI_Request* request, int* flag, MPI_Status* status) {
  return g_keptRequests.count() == 0 ? PF_UNDER(Test)(request, flag, status)
                                     : followTest(request, flag, status);
}

__attribute__((noinline)) int followTestall(int count, MPI_Request* requests, int* flag,
                                            MPI_Status* statuses) {
  Followed followed(kCallTestall, count, requests);
  MPI_Status* const use = followed.statuses(statuses, count);
  const int result = PF_UNDER(Testall)(count, requests, flag, use);
  if (followed.any() && *flag != 0) {
    followed.allDone(use, result);
  }
  return result;
}

int keepTestall(int count, MPI_Request* requests, int* flag, MPI_Status* statuses) {
  return g_keptRequests.count() == 0 ? PF_UNDER(Testall)(count, requests, flag, statuses)
                                     : followTestall(count, requests, flag, statuses);
}

__attribute__((noinline)) int followTestany(int count, MPI_Request* requests, int* index, int* flag,
                                            MPI_Status* status) {
  Followed followed(kCallTestany, count, requests);
  OneStatus use(followed, status);
  const int result = PF_UNDER(Testany)(count, requests, index, flag, use);
  if (followed.any() && *flag != 0 && *index != MPI_UNDEFINED) {
    followed.done(*index, use.value(), result);
  }
  return result;
}

int keepTestany(int count, MPI_Request* requests, int* index, int* flag, MPI_Status* status) {
  return g_keptRequests.count() == 0 ? PF_UNDER(Testany)(count, requests, index, flag, status)
                                     : followTestany(count, requests, index, flag, status);
}

int keepRequest_get_status(MPI_Request request, int* flag, MPI_Status* status) {
  KeptRequest* const kept = t_layer == 0 && (isLayerThread() || isFollowed(1, &request)) &&
                                    mayBeTold(kCallRequest_get_status)
                                ? g_keptRequests.find(request)
                                : nullptr;
  MPI_Status own;
  MPI_Status* const use = kept != nullptr && status == MPI_STATUS_IGNORE ? &own : status;
  const int result = PF_UNDER(Request_get_status)(request, flag, use);
  if (kept != nullptr && result == MPI_SUCCESS && *flag != 0) {
    Followed::seen(kCallRequest_get_status, *kept, *use);
  }
  return result;
}

/// Of several requests: each that was told by status `at(i)`, which may be one of ours.
class AskedFor {
 public:
  AskedFor(std::uint16_t call, int count, const MPI_Request* requests, MPI_Status* statuses)
      : m_call(call), m_requests(requests), m_statuses(statuses) {
    m_any = t_layer == 0 && g_keptRequests.count() != 0 &&
            (isLayerThread() || isFollowed(count, requests)) && mayBeTold(call);
    if (m_any && statuses == MPI_STATUSES_IGNORE) {
      m_statuses = m_own = static_cast<MPI_Status*>(
          std::calloc(static_cast<std::size_t>(count < 0 ? 0 : count) + 1, sizeof(MPI_Status)));
      if (m_own == nullptr) {
        std::abort();  // the program cannot go on without memory either
      }
    }
  }
  ~AskedFor() { std::free(m_own); }
  AskedFor(const AskedFor&) = delete;
  AskedFor& operator=(const AskedFor&) = delete;

  [[nodiscard]] MPI_Status* statuses() const { return m_statuses; }
  void told(int index, int status) const {
    KeptRequest* const kept = m_any && m_requests[index] != MPI_REQUEST_NULL
                                  ? g_keptRequests.find(m_requests[index])
                                  : nullptr;
    if (kept != nullptr) {
      Followed::seen(m_call, *kept, m_statuses[status]);
    }
  }

 private:
  std::uint16_t m_call;
  const MPI_Request* m_requests;
  MPI_Status* m_statuses;
  MPI_Status* m_own = nullptr;
  bool m_any = false;
};

template <typename... Arguments>
int underOf(std::uint16_t call, Arguments... arguments) {
  return reinterpret_cast<int (*)(Arguments...)>(g_under[call])(arguments...);
}

int keepRequest_get_status_all(int count, const MPI_Request* requests, int* flag,
                               MPI_Status* statuses) {
  const AskedFor looked(kCallRequest_get_status_all, count, requests, statuses);
  const int result = underOf(kCallRequest_get_status_all, count, requests, flag, looked.statuses());
  for (int i = 0; result == MPI_SUCCESS && *flag != 0 && i < count; ++i) {
    looked.told(i, i);
  }
  return result;
}

int keepRequest_get_status_any(int count, const MPI_Request* requests, int* index, int* flag,
                               MPI_Status* status) {
  MPI_Status own;
  MPI_Status* const use = status == MPI_STATUS_IGNORE ? &own : status;
  const AskedFor looked(kCallRequest_get_status_any, count, requests, use);
  const int result = underOf(kCallRequest_get_status_any, count, requests, index, flag, use);
  if (result == MPI_SUCCESS && *flag != 0 && *index != MPI_UNDEFINED) {
    looked.told(*index, 0);
  }
  return result;
}

int keepRequest_get_status_some(int count, const MPI_Request* requests, int* done, int* indices,
                                MPI_Status* statuses) {
  const AskedFor looked(kCallRequest_get_status_some, count, requests, statuses);
  const int result =
      underOf(kCallRequest_get_status_some, count, requests, done, indices, looked.statuses());
  for (int i = 0; result == MPI_SUCCESS && *done != MPI_UNDEFINED && i < *done; ++i) {
    looked.told(indices[i], i);
  }
  return result;
}

void forgetRequest(MPI_Request request) {
  if (!isLayerThread()) {
    return;
  }
  const LayerLock lock;
  if (const KeptRequest* const kept = g_keptRequests.find(request); kept != nullptr) {
    letGo(*kept);
    g_keptRequests.erase(request);
  }
}

int keepRequest_free(MPI_Request* request) {
  forgetRequest(*request);
  forgetBufferedSend(*request);
  return PF_UNDER(Request_free)(request);
}

/// What it will bring, or has brought without a word, is in no entry.
void letRequestGoOn(const CallPlace& place, MPI_Request request) {
  if (!isLayerThread()) {
    if (isFollowed(1, &request)) {
      notAlone(place);
    }
    return;
  }
  const KeptRequest* const kept = g_keptRequests.find(request);
  if (kept == nullptr) {
    return;
  }
  if (!kept->done && isUnderWay(*kept)) {
    notAlone(place);
  }
  forgetRequest(request);
}

}  // namespace

void putCompletionsOver() {
  putOver(kCallWait, keepWait);
  putOver(kCallWaitall, keepWaitall);
  putOver(kCallWaitany, keepWaitany);
  putOver(kCallWaitsome, keepWaitsome);
  putOver(kCallTest, keepTest);
  putOver(kCallTestall, keepTestall);
  putOver(kCallTestany, keepTestany);
  putOver(kCallTestsome, keepTestsome);
  putOver(kCallRequest_get_status, keepRequest_get_status);
  putOver(kCallRequest_get_status_all, keepRequest_get_status_all);
  putOver(kCallRequest_get_status_any, keepRequest_get_status_any);
  putOver(kCallRequest_get_status_some, keepRequest_get_status_some);
  putOver(kCallRequest_free, keepRequest_free);
  g_letGo = letRequestGoOn;
}

}  // namespace pf
