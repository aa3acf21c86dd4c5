// SPDX-License-Identifier: GPL-3.0-or-later
// Requests of the fake MPI library, and how they end.
#include <algorithm>

#include "replay_engine/rank/tests/fake_objects.h"

namespace pf::fake {
namespace {

bool isActive(MPI_Request request) {
  return request != MPI_REQUEST_NULL && request->active;
}

/// As of a request that there is nothing to wait for.
void tellEmpty(MPI_Status* status) {
  if (status != MPI_STATUS_IGNORE) {
    const int before = status->MPI_ERROR;
    *status = emptyStatus(before);
  }
}

/// Copies what a request has come to. `withError`: into one status of several.
void tell(MPI_Status* status, const RequestObject& request, bool withError) {
  if (status != MPI_STATUS_IGNORE) {
    const int before = status->MPI_ERROR;
    *status = request.status;
    status->MPI_ERROR = withError ? request.status.MPI_ERROR : before;
  }
}

/// Ends a request that is done; its error.
int complete(MPI_Request* request, MPI_Status* status, bool withError) {
  RequestObject& done = **request;
  const int error = done.status.MPI_ERROR;
  tell(status, done, withError);
  if (done.persistent) {
    done.active = false;
  } else {
    freeRequest(request);
  }
  return error;
}

/// The first active request that is done. `any`: whether any is active.
int firstDone(int count, const MPI_Request* requests, bool* any) {
  for (int i = 0; i < count; ++i) {
    *any = *any || isActive(requests[i]);
    if (isActive(requests[i]) && requests[i]->done) {
      return i;
    }
  }
  return -1;
}

MPI_Status* at(MPI_Status* statuses, int index) {
  return statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : &statuses[index];
}

/// Ends all that are done, and says of which; their error.
int completeSome(int count, MPI_Request* requests, int* outcount, int* indices,
                 MPI_Status* statuses) {
  *outcount = 0;
  bool failed = false;
  for (int i = 0; i < count; ++i) {
    if (isActive(requests[i]) && requests[i]->done) {
      indices[*outcount] = i;
      failed = complete(&requests[i], at(statuses, *outcount), true) != MPI_SUCCESS || failed;
      ++*outcount;
    }
  }
  return onError(failed ? MPI_ERR_IN_STATUS : MPI_SUCCESS);
}

/// Ends all that are done; the others are told to be pending.
int completeAll(int count, MPI_Request* requests, MPI_Status* statuses) {
  bool failed = false;
  for (int i = 0; i < count; ++i) {
    MPI_Status* const status = at(statuses, i);
    if (!isActive(requests[i])) {
      tellEmpty(status);
      if (status != MPI_STATUS_IGNORE) {
        status->MPI_ERROR = MPI_SUCCESS;
      }
    } else if (requests[i]->done) {
      failed = complete(&requests[i], status, true) != MPI_SUCCESS || failed;
    } else if (status != MPI_STATUS_IGNORE) {
      status->MPI_ERROR = MPI_ERR_PENDING;
    }
  }
  return onError(failed ? MPI_ERR_IN_STATUS : MPI_SUCCESS);
}

bool allDone(int count, const MPI_Request* requests) {
  return std::all_of(requests, requests + count,
                     [](MPI_Request each) { return !isActive(each) || each->done; });
}

bool anyFailed(int count, const MPI_Request* requests) {
  return std::any_of(requests, requests + count, [](MPI_Request each) {
    return isActive(each) && each->done && each->status.MPI_ERROR != MPI_SUCCESS;
  });
}

}  // namespace

MPI_Request newRequest() {
  if (g_library.freeRequests.empty()) {
    g_library.requests.push_back(std::make_unique<RequestObject>());
    return g_library.requests.back().get();
  }
  MPI_Request const again = g_library.freeRequests.back();
  g_library.freeRequests.pop_back();
  *again = {};
  return again;
}

void freeRequest(MPI_Request* request) {
  const bool owned = std::any_of(g_library.requests.begin(), g_library.requests.end(),
                                 [&](const auto& each) { return each.get() == *request; });
  if (owned) {
    g_library.freeRequests.push_back(*request);
  }
  *request = MPI_REQUEST_NULL;
}

int fakeWait(MPI_Request* request, MPI_Status* status) {
  if (!isActive(*request)) {
    tellEmpty(status);
    return MPI_SUCCESS;
  }
  waitUntil("MPI_Wait", [&] { return (*request)->done; });
  return onError(complete(request, status, false));
}

int fakeTest(MPI_Request* request, int* flag, MPI_Status* status) {
  *flag = !isActive(*request) || (*request)->done ? 1 : 0;
  if (*flag == 0) {
    tick("MPI_Test");
    return MPI_SUCCESS;
  }
  return fakeWait(request, status);
}

int fakeWaitany(int count, MPI_Request* requests, int* index, MPI_Status* status) {
  bool any = false;
  int found = -1;
  waitUntil("MPI_Waitany", [&] {
    found = firstDone(count, requests, &any);
    return found >= 0 || !any;
  });
  *index = found >= 0 ? found : MPI_UNDEFINED;
  if (found < 0) {
    tellEmpty(status);
    return MPI_SUCCESS;
  }
  return onError(complete(&requests[found], status, false));
}

int fakeTestany(int count, MPI_Request* requests, int* index, int* flag, MPI_Status* status) {
  bool any = false;
  const int found = firstDone(count, requests, &any);
  *flag = found >= 0 || !any ? 1 : 0;
  *index = MPI_UNDEFINED;
  if (*flag == 0) {
    tick("MPI_Testany");
    return MPI_SUCCESS;
  }
  return fakeWaitany(count, requests, index, status);
}

int fakeTestsome(int count, MPI_Request* requests, int* outcount, int* indices,
                 MPI_Status* statuses) {
  bool any = false;
  const int found = firstDone(count, requests, &any);
  *outcount = any ? 0 : MPI_UNDEFINED;
  if (found < 0) {
    if (any) {
      tick("MPI_Testsome");
    }
    return MPI_SUCCESS;
  }
  return completeSome(count, requests, outcount, indices, statuses);
}

int fakeWaitsome(int count, MPI_Request* requests, int* outcount, int* indices,
                 MPI_Status* statuses) {
  bool any = false;
  waitUntil("MPI_Waitsome", [&] { return firstDone(count, requests, &any) >= 0 || !any; });
  return fakeTestsome(count, requests, outcount, indices, statuses);
}

int fakeWaitall(int count, MPI_Request* requests, MPI_Status* statuses) {
  waitUntil("MPI_Waitall", [&] { return allDone(count, requests) || anyFailed(count, requests); });
  return completeAll(count, requests, statuses);
}

int fakeTestall(int count, MPI_Request* requests, int* flag, MPI_Status* statuses) {
  *flag = allDone(count, requests) ? 1 : 0;
  if (*flag == 0) {
    tick("MPI_Testall");
    return MPI_SUCCESS;
  }
  return completeAll(count, requests, statuses);
}

int fakeRequest_get_status(MPI_Request request, int* flag, MPI_Status* status) {
  *flag = !isActive(request) || request->done ? 1 : 0;
  if (*flag == 0) {
    tick("MPI_Request_get_status");
  } else if (!isActive(request)) {
    tellEmpty(status);
  } else {
    tell(status, *request, false);
  }
  return MPI_SUCCESS;
}

int fakeRequest_get_status_all(int count, const MPI_Request* requests, int* flag,
                               MPI_Status* statuses) {
  *flag = allDone(count, requests) ? 1 : 0;
  if (*flag == 0) {
    tick("MPI_Request_get_status_all");
  }
  for (int i = 0; *flag != 0 && i < count; ++i) {
    int one = 0;
    fakeRequest_get_status(requests[i], &one, at(statuses, i));
  }
  return MPI_SUCCESS;
}

int fakeRequest_get_status_any(int count, const MPI_Request* requests, int* index, int* flag,
                               MPI_Status* status) {
  bool any = false;
  const int found = firstDone(count, requests, &any);
  *flag = found >= 0 || !any ? 1 : 0;
  *index = found >= 0 ? found : MPI_UNDEFINED;
  if (found >= 0) {
    tell(status, *requests[found], false);
  } else if (any) {
    tick("MPI_Request_get_status_any");
  } else {
    tellEmpty(status);
  }
  return MPI_SUCCESS;
}

int fakeRequest_get_status_some(int count, const MPI_Request* requests, int* outcount, int* indices,
                                MPI_Status* statuses) {
  bool any = false;
  *outcount = 0;
  for (int i = 0; i < count; ++i) {
    any = any || isActive(requests[i]);
    if (isActive(requests[i]) && requests[i]->done) {
      indices[*outcount] = i;
      tell(at(statuses, *outcount), *requests[i], false);
      ++*outcount;
    }
  }
  if (!any) {
    *outcount = MPI_UNDEFINED;
  } else if (*outcount == 0) {
    tick("MPI_Request_get_status_some");
  }
  return MPI_SUCCESS;
}

int fakeRequest_free(MPI_Request* request) {
  if (isActive(*request) && !(*request)->done) {
    (*request)->forgotten = true;
    *request = MPI_REQUEST_NULL;
    return MPI_SUCCESS;
  }
  freeRequest(request);
  return MPI_SUCCESS;
}

int fakeCancel(MPI_Request* request) {
  auto& posted = g_library.posted;
  const auto found = std::find(posted.begin(), posted.end(), *request);
  if (found != posted.end()) {
    posted.erase(found);
    (*request)->done = true;
    cancelledIn((*request)->status) = 1;
  }
  return MPI_SUCCESS;
}

int fakeTest_cancelled(const MPI_Status* status, int* flag) {
  MPI_Status copy = *status;
  *flag = cancelledIn(copy);
  return MPI_SUCCESS;
}

int fakeGet_count(const MPI_Status* status, MPI_Datatype type, int* count) {
  *count = static_cast<int>(bytesIn(*status)) / objectOf(type).size;
  return MPI_SUCCESS;
}

int fakeGet_elements_x(const MPI_Status* status, MPI_Datatype /*of one element*/,
                       MPI_Count* count) {
  *count = static_cast<MPI_Count>(bytesIn(*status));
  return MPI_SUCCESS;
}

}  // namespace pf::fake
