// SPDX-License-Identifier: MIT
#include "replay_engine/rank/calls/request_batch.h"

#include "replay_engine/rank/calls/failed_completions.h"

namespace pf {

int Batch::awaitSend(int index) const {
  const Entry* const entry = m_sends ? find(index) : nullptr;
  return entry != nullptr && entry->request.exchange ? awaitSendHalf(entry->request.handle)
                                                     : MPI_SUCCESS;
}

int Batch::awaitSends() const {
  int result = MPI_SUCCESS;
  for (std::uint32_t i = 0; m_sends && i < m_size; ++i) {
    const int one = awaitSendHalf(m_entries[i].request.handle);
    result = result != MPI_SUCCESS ? result : one;
  }
  return result;
}

bool Batch::areSendsDone() const {
  bool all = true;
  for (std::uint32_t i = 0; m_sends && i < m_size; ++i) {
    all = isSendHalfDone(m_entries[i].request.handle) && all;  // each goes on by being asked for
  }
  return all;
}

bool Batch::hideUnsent() {
  bool any = false;
  for (std::uint32_t i = 0; m_sends && i < m_size; ++i) {
    if (!isSendHalfDone(m_entries[i].request.handle)) {
      copyRequests();
      m_translated[m_entries[i].index] = MPI_REQUEST_NULL;
      any = true;
    }
  }
  return any;
}

void Batch::offerSends() {
  if (!m_sends) [[likely]] {
    return;
  }
  const StateLock lock;
  for (std::uint32_t i = 0; i < m_size; ++i) {
    Entry& entry = m_entries[i];
    const Request* const now = g_engine.requests.find(entry.request.handle);
    entry.send = now == nullptr ? MPI_REQUEST_NULL : sendHalfOf(*now);
    if (entry.send != MPI_REQUEST_NULL) {
      copyRequests();
      m_translated[entry.index] = entry.send;
    }
  }
}

bool Batch::endedSend(int index) {
  for (std::uint32_t i = 0; m_sends && i < m_size; ++i) {
    Entry& entry = m_entries[i];
    if (entry.index == index && entry.send != MPI_REQUEST_NULL) {
      entry.send = MPI_REQUEST_NULL;
      m_translated[index] = entry.request.handle;
      sendHalfEnded(entry.request.handle);
      return true;
    }
  }
  return false;
}

int Batch::withoutSends(int count, int* indices, MPI_Status* statuses) {
  if (!m_sends) [[likely]] {
    return count;
  }
  int left = 0;
  for (int i = 0; i < count; ++i) {
    if (endedSend(indices[i])) {
      continue;
    }
    indices[left] = indices[i];
    if (statuses != MPI_STATUSES_IGNORE && left != i) {
      statuses[left] = statuses[i];
    }
    ++left;
  }
  return left;
}

void completed(const Request& entry, const MPI_Status* status, int error) {
  if (!entry.observed) {
    sink().requestDone(entry, status, error);
  }
  if (!isPersistent(entry)) {
    // Another thread may have been given the handle since.
    const Request* now = g_engine.requests.find(entry.handle);
    if (now != nullptr && now->kind == entry.kind && now->number == entry.number) {
      g_engine.requests.erase(entry.handle);
    }
    return;
  }
  Request* persistent = g_engine.requests.find(entry.handle);
  if (persistent != nullptr) {
    persistent->active = false;
    persistent->observed = false;
    RequestDetails& details = g_engine.requests.detail(*persistent);
    details.routed = nullptr;
    if (details.inner != MPI_REQUEST_NULL) {
      details.inner = MPI_REQUEST_NULL;
      --g_engine.requests.substituted;
    }
  }
}

void fileOne(const Batch& batch, int index, const MPI_Status* status, int error) {
  if (const Batch::Entry* entry = batch.find(index); entry != nullptr) {
    completed(entry->request, status, error);
  }
}

void fileAll(Batch& batch, int result, const MPI_Status* statuses) {
  for (const Batch::Entry& entry : batch) {
    const MPI_Status* status = statuses != MPI_STATUSES_IGNORE ? &statuses[entry.index] : nullptr;
    if (isUnfinished(result, batch.requests()[entry.index], status, isPersistent(entry.request))) {
      continue;
    }
    const int error = errorOf(result, status);
    // Which of them failed nobody has asked: a message that is too long is taken all the same.
    completed(entry.request, status, isError(error, MPI_ERR_IN_STATUS) ? MPI_SUCCESS : error);
  }
}

namespace {

/// Whether the request is on a shadow, where errors only return.
bool isOnShadow(const Batch::Entry& entry) {
  return entry.routed != nullptr ||
         (entry.request.kind == RequestKind::PersistentSend && entry.inner != MPI_REQUEST_NULL);
}

/// What the status of a receive that was cancelled says but for that is nothing (MPI 4.0, 3.8.4). MPICH leaves there what an
/// earlier request has left, other values in each replay; here it is always the same, as Open MPI has it.
void sayNothing(const Batch::Entry* entry, MPI_Status* status) {
  int cancelled = 0;
  if (entry == nullptr || !entry->request.cancelled || status == MPI_STATUS_IGNORE ||
      PF_REAL(Test_cancelled)(status, &cancelled) != MPI_SUCCESS || cancelled == 0) {
    return;
  }
  status->MPI_SOURCE = MPI_ANY_SOURCE;
  status->MPI_TAG = MPI_ANY_TAG;
  PF_REAL(Status_set_elements)(status, MPI_BYTE, 0);
}

/// Of a call with several requests: each status has its own error where some failed.
bool endedWell(int result, const MPI_Status& status) {
  return result == MPI_SUCCESS ||
         (isError(result, MPI_ERR_IN_STATUS) && status.MPI_ERROR == MPI_SUCCESS);
}

}  // namespace

int restoreOne(const Batch& batch, int index, MPI_Status* status, int result) {
  if (batch.anyCancelled() && result == MPI_SUCCESS) [[unlikely]] {
    sayNothing(batch.find(index), status);
  }
  if (g_engine.routes == nullptr) [[likely]] {
    return result;
  }
  const Batch::Entry* const entry = batch.find(index);
  if (entry == nullptr || !isOnShadow(*entry)) {
    return result;
  }
  restoreStatus(status, entry->routed);
  return errorOnShadow(entry->request.comm, result);
}

int restoreSome(const Batch& batch, int count, const int* indices, MPI_Status* statuses,
                int result) {
  for (int i = 0; batch.anyCancelled() && statuses != MPI_STATUSES_IGNORE && i < count; ++i) {
    if (endedWell(result, statuses[i])) {
      sayNothing(batch.find(indices[i]), &statuses[i]);
    }
  }
  if (g_engine.routes == nullptr) [[likely]] {
    return result;
  }
  bool told = false;
  for (int i = 0; i < count; ++i) {
    const Batch::Entry* const entry = batch.find(indices[i]);
    if (entry == nullptr || !isOnShadow(*entry)) {
      continue;
    }
    MPI_Status* const status = statuses != MPI_STATUSES_IGNORE ? &statuses[i] : MPI_STATUS_IGNORE;
    restoreStatus(status, entry->routed);
    const bool failed =
        result != MPI_SUCCESS &&
        (status == MPI_STATUS_IGNORE ||
         (status->MPI_ERROR != MPI_SUCCESS && !isError(status->MPI_ERROR, MPI_ERR_PENDING)));
    if (failed && !told) {
      told = true;
      errorOnShadow(entry->request.comm, result);
    }
  }
  return result;
}

int restoreAll(const Batch& batch, MPI_Status* statuses, int result) {
  if (batch.anyCancelled() && statuses != MPI_STATUSES_IGNORE) [[unlikely]] {
    for (const Batch::Entry& entry : batch) {
      if (endedWell(result, statuses[entry.index])) {
        sayNothing(&entry, &statuses[entry.index]);
      }
    }
  }
  if (g_engine.routes == nullptr) [[likely]] {
    return result;
  }
  bool told = false;
  for (const Batch::Entry& entry : batch) {
    MPI_Status* const status =
        statuses != MPI_STATUSES_IGNORE ? &statuses[entry.index] : MPI_STATUS_IGNORE;
    const bool failed =
        isOnShadow(entry) && result != MPI_SUCCESS &&
        (status == MPI_STATUS_IGNORE ||
         (status->MPI_ERROR != MPI_SUCCESS && !isError(status->MPI_ERROR, MPI_ERR_PENDING)));
    restoreStatus(status, entry.routed);
    if (failed && !told) {
      told = true;
      errorOnShadow(entry.request.comm, result);
    }
  }
  return result;
}

}  // namespace pf
