// SPDX-License-Identifier: MIT
// The requests of one completion call, and what the record says of those that are done.
#pragma once

#include <cstdlib>
#include <cstring>
#include <new>

#include "replay_engine/rank/clocks/clocks.h"
#include "replay_engine/rank/engine/records.h"
#include "replay_engine/rank/engine/send_halves.h"
#include "replay_engine/rank/engine/wrapper_support.h"
#include "replay_engine/rank/forcing/shadow.h"

namespace pf {

/// The entry of a request, if the record cares for it; null if not.
inline Request* entryOf(MPI_Request request) {
  Request* const entry = g_engine.requests.find(request);
  return entry == nullptr && followsClocks() ? clockPromote(request) : entry;
}

/// The application has been told that `entry` is done (a copy: the table may have changed since).
void completed(const Request& entry, const MPI_Status* status, int error);

/// The requests of one completion call: those that the record cares for, and the array to give to
/// MPI.
class Batch {
 public:
  Batch(int count, MPI_Request* requests) : m_requests(requests), m_count(count) {
    const StateLock lock;
    if (g_engine.requests.count() == 0 && !followsClocks()) {
      return;
    }
    for (int i = 0; i < count; ++i) {
      const Request* entry = requests[i] == MPI_REQUEST_NULL ? nullptr : entryOf(requests[i]);
      if (entry != nullptr) {
        add(i, *entry);
      }
    }
    if (g_engine.requests.substituted != 0) {
      translate();
    }
  }
  ~Batch() {
    if (!fewOnly()) {
      std::free(m_entries);
    }
    std::free(m_translated);
    std::free(m_statuses);
  }
  Batch(const Batch&) = delete;
  Batch& operator=(const Batch&) = delete;

  struct Entry {
    int index;
    Request request;  ///< a copy, whose details last as long as the table's entry
    MPI_Request inner;
    const ScheduleRoute* routed;
    MPI_Request send;  ///< offered in place of the request (offerSends())
  };

  /// What to hand to MPI.
  [[nodiscard]] MPI_Request* requests() {
    return m_translated != nullptr ? m_translated : m_requests;
  }
  /// After MPI changed requests(): the application's handles of what completed follow.
  void writeBack() {
    const Entry* next = begin();  // they are in the order of the array
    for (int i = 0; m_translated != nullptr && i < m_count; ++i) {
      const Entry* const entry = next != end() && next->index == i ? next++ : nullptr;
      if (entry == nullptr ||
          (entry->inner == MPI_REQUEST_NULL && entry->send == MPI_REQUEST_NULL)) {
        m_requests[i] = m_translated[i];
      }
    }
  }

  [[nodiscard]] bool anyCancelled() const { return m_cancelled; }

  // -- sends of MPI_Isendrecv (send_halves.h)

  /// Waits until nothing is left of that of request `index`, or of all; the error, if there is one.
  int awaitSend(int index) const;
  [[nodiscard]] int awaitSends() const;
  /// Whether nothing is left of any. Does not wait.
  [[nodiscard]] bool areSendsDone() const;
  /// Of requests that stay: those of which something is left are none in requests(). Whether there are any.
  [[nodiscard]] bool hideUnsent();
  /// Where MPI chooses: requests() has those that are left in place of what they are of.
  void offerSends();
  /// MPI has ended requests()[index]. True: it was a send; from now on what it is of stands there.
  bool endedSend(int index);
  /// The same of several; those that were none are left, and their number is returned.
  int withoutSends(int count, int* indices, MPI_Status* statuses);

  [[nodiscard]] const Entry* find(int index) const {
    for (std::uint32_t i = 0; i < m_size; ++i) {
      if (m_entries[i].index == index) {
        return &m_entries[i];
      }
    }
    return nullptr;
  }
  [[nodiscard]] const Entry* begin() const { return m_entries; }
  [[nodiscard]] const Entry* end() const { return m_entries + m_size; }
  [[nodiscard]] bool needsStatuses() const {
    if (g_engine.record) {
      for (const Entry& entry : *this) {
        if (needsStatus(entry.request)) {
          return true;
        }
      }
    }
    return false;
  }
  /// Statuses for MPI to fill: the application's, or our own where it wants none and the record
  /// needs them.
  MPI_Status* statuses(MPI_Status* wanted, bool byIndex) {
    if (!needsStatuses()) {
      return wanted;
    }
    MPI_Status* use = wanted;
    if (use == MPI_STATUSES_IGNORE) {
      use = m_statuses = static_cast<MPI_Status*>(
          std::calloc(static_cast<std::size_t>(m_count), sizeof(MPI_Status)));
    }
    MPI_Status* surviving = byIndex ? survivingStatuses(m_count) : nullptr;
    if (surviving == nullptr) {
      return use;
    }
    for (int i = 0; i < m_count; ++i) {
      surviveAs(static_cast<std::uint32_t>(i), kNone, use[i]);
    }
    for (const Entry& entry : *this) {
      if (isReceive(entry.request)) {
        g_engine.log.header().posts[entry.index] =
            survivorNumber(entry.request.number, entry.request.wild, entry.request.wildNumber);
      }
    }
    return surviving;
  }

 private:
  [[nodiscard]] bool fewOnly() const {
    return static_cast<const void*>(m_entries) == static_cast<const void*>(m_few);
  }
  void add(int index, const Request& request) {
    if (m_size == m_room) {
      m_room *= 4;
      auto* more = static_cast<Entry*>(std::malloc(sizeof(Entry) * m_room));
      if (more == nullptr) {
        std::abort();
      }
      std::memcpy(static_cast<void*>(more), m_entries, sizeof(Entry) * m_size);
      if (!fewOnly()) {
        std::free(m_entries);
      }
      m_entries = more;
    }
    m_sends = m_sends || request.exchange;
    m_cancelled = m_cancelled || request.cancelled;
    new (&m_entries[m_size++])
        Entry{index, request, request.inner(), request.routed(), MPI_REQUEST_NULL};
  }
  void copyRequests() {
    if (m_translated != nullptr) {
      return;
    }
    const std::size_t bytes = sizeof(MPI_Request) * static_cast<std::size_t>(m_count);
    m_translated = static_cast<MPI_Request*>(std::malloc(bytes + 1));
    if (m_translated == nullptr) {
      std::abort();
    }
    std::memcpy(m_translated, m_requests, bytes);
  }
  void translate() {
    copyRequests();
    for (const Entry& entry : *this) {
      if (entry.inner != MPI_REQUEST_NULL) {
        m_translated[entry.index] = entry.inner;
      }
    }
  }

  static constexpr std::uint32_t kFew = 8;
  MPI_Request* m_requests;
  MPI_Request* m_translated = nullptr;
  MPI_Status* m_statuses = nullptr;
  int m_count;
  bool m_sends = false;      ///< some are of MPI_Isendrecv
  bool m_cancelled = false;  ///< MPI_Cancel was called on some
  std::uint32_t m_size = 0;
  std::uint32_t m_room = kFew;
  alignas(Entry) unsigned char m_few[kFew * sizeof(Entry)];  // not worth clearing for each call
  Entry* m_entries = reinterpret_cast<Entry*>(m_few);
};

/// Behind MPI: the statuses of receives that were cancelled; in a replay by shadow routes also those of what came routed, and the
/// error handlers.
/// `index`: of the request that `status` is of. What to return.
int restoreOne(const Batch& batch, int index, MPI_Status* status, int result);
int restoreAll(const Batch& batch, MPI_Status* statuses, int result);
/// `statuses` are of the requests at `indices`.
int restoreSome(const Batch& batch, int count, const int* indices, MPI_Status* statuses,
                int result);

/// Error of one request of a call that returned `result`.
inline int errorOf(int result, const MPI_Status* status) {
  return isError(result, MPI_ERR_IN_STATUS) && status != nullptr ? status->MPI_ERROR : result;
}
/// Files request `index` of the call as done, or all that are.
void fileOne(const Batch& batch, int index, const MPI_Status* status, int error);
void fileAll(Batch& batch, int result, const MPI_Status* statuses);

}  // namespace pf
