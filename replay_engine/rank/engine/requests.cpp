// SPDX-License-Identifier: MIT
#include "replay_engine/rank/engine/requests.h"

#include <cstdlib>
#include <new>

namespace pf {
namespace {

/// Entries that an index of this size is for: two thirds are full then.
std::uint32_t roomFor(std::uint32_t slots) {
  return slots / 3 * 2;
}

}  // namespace

void Requests::grow() {
  const std::uint32_t size = m_index == nullptr ? 256 : (m_mask + 1) * 2;
  auto* entries = static_cast<Request*>(
      std::realloc(static_cast<void*>(m_entries), roomFor(size) * sizeof(Request)));
  auto* index = static_cast<std::uint32_t*>(std::calloc(size, sizeof(std::uint32_t)));
  if (entries == nullptr || index == nullptr) {
    std::abort();  // the program cannot go on without memory either
  }
  std::free(m_index);
  m_entries = entries;
  m_index = index;
  m_mask = size - 1;
  for (std::uint32_t position = 0; position < m_count; ++position) {
    std::uint32_t i = slotOf(m_entries[position].handle);
    while (m_index[i] != 0) {
      i = (i + 1) & m_mask;
    }
    m_index[i] = position + 1;
  }
}

Request* Requests::insert(const Request& request) {
  if (Request* const known = find(request.handle); known != nullptr) {
    freeDetails(*known);
    *known = request;
    return known;
  }
  if (m_index == nullptr || m_count == roomFor(m_mask + 1)) {
    grow();
  }
  std::uint32_t i = slotOf(request.handle);
  while (m_index[i] != 0) {
    i = (i + 1) & m_mask;
  }
  m_index[i] = m_count + 1;
  return new (&m_entries[m_count++]) Request(request);
}

RequestDetails& Requests::detail(Request& entry) {
  if (entry.details == nullptr) {
    if (m_freeDetails == nullptr) {
      constexpr std::size_t kAtOnce = 32;
      auto* const fresh =
          static_cast<RequestDetails*>(std::malloc(kAtOnce * sizeof(RequestDetails)));
      if (fresh == nullptr) {
        std::abort();  // the program cannot go on without memory either
      }
      for (std::size_t i = 0; i < kAtOnce; ++i) {
        fresh[i].nextFree = m_freeDetails;
        m_freeDetails = &fresh[i];
      }
    }
    entry.details = m_freeDetails;
    m_freeDetails = m_freeDetails->nextFree;
    new (entry.details) RequestDetails;
  }
  return *entry.details;
}

void Requests::insertPersistent(const Request& request, const void* buffer, int count,
                                MPI_Datatype datatype) {
  RequestDetails& details = detail(*insert(request));
  details.buffer = const_cast<void*>(buffer);
  details.count = count;
  details.datatype = datatype;
}

void Requests::freeDetails(Request& entry) {
  if (entry.details != nullptr) {
    entry.details->nextFree = m_freeDetails;
    m_freeDetails = entry.details;
    entry.details = nullptr;
  }
}

std::uint32_t Requests::slotAt(std::uint32_t position) const {
  std::uint32_t i = slotOf(m_entries[position].handle);
  while (m_index[i] != position + 1) {
    i = (i + 1) & m_mask;
  }
  return i;
}

void Requests::erase(MPI_Request handle) {
  Request* const found = find(handle);
  if (found == nullptr) {
    return;
  }
  freeDetails(*found);
  const auto position = static_cast<std::uint32_t>(found - m_entries);
  std::uint32_t hole = slotAt(position);
  // Backward-shift deletion keeps every probe sequence whole.
  for (std::uint32_t next = (hole + 1) & m_mask; m_index[next] != 0; next = (next + 1) & m_mask) {
    const std::uint32_t home = slotOf(m_entries[m_index[next] - 1].handle);
    if (((next - home) & m_mask) >= ((next - hole) & m_mask)) {
      m_index[hole] = m_index[next];
      hole = next;
    }
  }
  m_index[hole] = 0;
  if (const std::uint32_t last = --m_count; position != last) {  // fills the gap
    m_index[slotAt(last)] = position + 1;
    m_entries[position] = m_entries[last];
  }
}

Retired Requests::retire(MPI_Comm comm, MPI_Comm other) {
  auto found = Retired::None;
  for (std::uint32_t i = 0; i < m_count; ++i) {
    if (m_entries[i].comm != comm) {
      continue;
    }
    if (isPersistent(m_entries[i])) {
      return Retired::Persistent;
    }
    found = Retired::Some;
  }
  for (std::uint32_t i = 0; found == Retired::Some && i < m_count; ++i) {
    m_entries[i].comm = m_entries[i].comm == comm ? other : m_entries[i].comm;
  }
  return found;
}

void PostNumbers::pushOut(MPI_Request handle, std::uint32_t post) {
  Request entry;
  entry.handle = handle;
  entry.kind = RequestKind::Receive;
  entry.number = post;
  m_pushedOut.insert(entry);
}

bool PostNumbers::find(MPI_Request handle, std::uint32_t* post) {
  if (const Slot& slot = slotOf(handle); slot.handle == handle) {
    *post = slot.post;
    return true;
  }
  const Request* entry = m_pushedOut.find(handle);
  if (entry == nullptr) {
    return false;
  }
  *post = entry->number;
  return true;
}

}  // namespace pf
