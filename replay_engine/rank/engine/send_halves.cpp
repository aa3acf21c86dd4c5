// SPDX-License-Identifier: MIT
#include "replay_engine/rank/engine/send_halves.h"

#include <cstdlib>

#include "replay_engine/rank/engine/engine.h"
#include "replay_engine/rank/engine/real_calls.h"

namespace pf {
namespace {

/// Null: nothing is left of a send.
RequestDetails* withSend(MPI_Request request) {
  Request* const entry = request == MPI_REQUEST_NULL ? nullptr : g_engine.requests.find(request);
  return entry != nullptr && sendHalfOf(*entry) != MPI_REQUEST_NULL ? entry->details : nullptr;
}

/// A send whose request the program has freed, and what it sends, which lasts until it is done.
struct LeftSend {
  MPI_Request send;
  void* copy;
  LeftSend* next;
};
LeftSend* g_left = nullptr;

void dropSend(RequestDetails& details) {
  std::free(details.sendCopy);
  details.sendCopy = nullptr;
  details.send = MPI_REQUEST_NULL;
}

}  // namespace

int checkSendHalf(const void* buffer, int count, MPI_Datatype type, int dest, int tag,
                  MPI_Comm comm) {
  MPI_Request request = MPI_REQUEST_NULL;
  const int result = PF_REAL(Send_init)(buffer, count, type, dest, tag, comm, &request);
  if (result == MPI_SUCCESS) {
    PF_REAL(Request_free)(&request);
  }
  return result;
}

void keepSendHalf(Request& receive, MPI_Request send, void* copy) {
  RequestDetails& details = g_engine.requests.detail(receive);
  details.send = send;
  details.sendCopy = copy;
  isSendHalfDone(receive.handle);  // as most are
}

bool isSendHalfDone(MPI_Request request) {
  const StateLock lock;
  RequestDetails* const details = withSend(request);
  if (details == nullptr) {
    return true;
  }
  int done = 0;
  PF_REAL(Test)(&details->send, &done, MPI_STATUS_IGNORE);
  if (done != 0) {
    dropSend(*details);
  }
  return done != 0;
}

int awaitSendHalf(MPI_Request request) {
  MPI_Request send = MPI_REQUEST_NULL;
  void* copy = nullptr;
  {
    const StateLock lock;
    RequestDetails* const details = withSend(request);
    if (details == nullptr) {
      return MPI_SUCCESS;
    }
    send = details->send;
    copy = details->sendCopy;
    details->sendCopy = nullptr;
    dropSend(*details);
  }
  const int result = PF_REAL(Wait)(&send, MPI_STATUS_IGNORE);
  std::free(copy);
  return result;
}

void sendHalfEnded(MPI_Request request) {
  const StateLock lock;
  if (RequestDetails* const details = withSend(request); details != nullptr) {
    dropSend(*details);
  }
}

void letSendHalfGo(MPI_Request request) {
  if (RequestDetails* const details = withSend(request); details != nullptr) {
    LeftSend* const left = details->sendCopy == nullptr
                               ? nullptr
                               : static_cast<LeftSend*>(std::malloc(sizeof(LeftSend)));
    if (left != nullptr) {
      *left = {details->send, details->sendCopy, g_left};
      g_left = left;
    } else {
      PF_REAL(Request_free)(&details->send);
    }
    details->sendCopy = nullptr;  // it may still be read
    dropSend(*details);
  }
  endLeftSends();
}

void letLeftSendsGo() {
  endLeftSends();
  for (; g_left != nullptr; g_left = g_left->next) {
    PF_REAL(Request_free)(&g_left->send);
  }
}

void endLeftSends() {
  for (LeftSend** at = &g_left; *at != nullptr;) {
    LeftSend* const left = *at;
    int done = 0;
    PF_REAL(Test)(&left->send, &done, MPI_STATUS_IGNORE);
    if (done == 0) {
      at = &left->next;
      continue;
    }
    *at = left->next;
    std::free(left->copy);
    std::free(left);
  }
}

}  // namespace pf
