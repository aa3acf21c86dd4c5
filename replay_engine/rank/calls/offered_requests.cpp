// SPDX-License-Identifier: MIT
#include "replay_engine/rank/calls/offered_requests.h"

#include <cstdlib>
#include <cstring>

#include "replay_engine/rank/engine/lanes.h"
#include "replay_engine/rank/engine/requests.h"
#include "replay_engine/rank/engine/send_halves.h"

namespace pf {
namespace {

/// False: it is inactive.
bool isOffered(MPI_Request handle, OfferedRequest& offered) {
  const Request* const entry = g_engine.requests.find(handle);
  if (entry == nullptr) {
    std::uint32_t isSend = 0;
    offered.kind = g_engine.sendHandles.find(handle, &isSend) && isSend != 0 ? OfferedKind::Send
                                                                             : OfferedKind::Other;
    return true;
  }
  offered.number = entry->number;
  switch (entry->kind) {
    case RequestKind::Receive:
    case RequestKind::PersistentReceive:
      offered.kind =
          !entry->exchange || isSendHalfDone(handle) ? OfferedKind::Receive : OfferedKind::Other;
      return isReceive(*entry);
    case RequestKind::SynchronousSend:
      offered.kind = OfferedKind::SynchronousSend;
      return true;
    case RequestKind::PersistentSend:
      offered.kind =
          entry->mode == SendMode::Synchronous ? OfferedKind::SynchronousSend : OfferedKind::Send;
      return entry->active;
    case RequestKind::Collective:
      offered.kind = OfferedKind::Collective;
      return true;
    case RequestKind::PersistentCollective:
      offered.kind = OfferedKind::Collective;
      return entry->active;
    case RequestKind::None:
    case RequestKind::RoutedMessage:
      break;
  }
  offered.kind = OfferedKind::Other;
  return true;
}

}  // namespace

OfferedRequests::OfferedRequests(int count, const MPI_Request* requests) {
  if (!g_engine.offers || count <= 0) [[likely]] {
    return;
  }
  m_offered = static_cast<OfferedRequest*>(
      std::calloc(static_cast<std::size_t>(count), sizeof(OfferedRequest)));
  if (m_offered == nullptr) {
    std::abort();
  }
  const StateLock lock;
  for (int i = 0; i < count; ++i) {
    OfferedRequest& offered = m_offered[m_count];
    offered.index = static_cast<std::uint32_t>(i);
    m_count += requests[i] != MPI_REQUEST_NULL && isOffered(requests[i], offered) ? 1 : 0;
  }
}

OfferedRequests::~OfferedRequests() {
  std::free(m_offered);
}

void OfferedRequests::log(Gives gives, int count, const int* indices) const {
  for (int i = 0; i < count && m_offered != nullptr; ++i) {
    for (int k = 0; k < m_count; ++k) {
      m_offered[k].given |= m_offered[k].index == static_cast<std::uint32_t>(indices[i]);
    }
  }
  std::uint32_t before = 0;
  for (int first = 0; first < m_count; first += static_cast<int>(kMostOffered)) {
    const int end = first + static_cast<int>(kMostOffered) < m_count
                        ? first + static_cast<int>(kMostOffered)
                        : m_count;
    unsigned char* p = putRecord<RecordKind::Offered>(
        g_engine.log.reserve(),
        {gives == Gives::Some ? 1U : 0U, static_cast<std::uint32_t>(end - first)});
    for (int k = first; k < end; ++k) {
      const OfferedRequest& offered = m_offered[k];
      p = putVarint(p, offered.index - before);
      p = putVarint(p, std::uint64_t{offered.number} << 4 | (offered.given ? 8U : 0U) |
                           static_cast<std::uint64_t>(offered.kind));
      before = offered.index;
    }
    g_engine.log.commit(p);
  }
}

}  // namespace pf
