#include "requests.h"

#include <cstdlib>

namespace pf {

void Requests::grow() {
  const std::uint32_t oldSize = capacity();
  Request* old = m_slots;
  const std::uint32_t size = oldSize == 0 ? 256 : oldSize * 2;
  auto* fresh = static_cast<Request*>(std::malloc(size * sizeof(Request)));
  if (fresh == nullptr) {
    std::abort();  // the program cannot go on without memory either
  }
  for (std::uint32_t i = 0; i < size; ++i) {
    fresh[i] = Request{};
  }
  m_slots = fresh;
  m_mask = size - 1;
  m_count = 0;
  for (std::uint32_t i = 0; i < oldSize; ++i) {
    if (old[i].kind != RequestKind::None) {
      insert(old[i]);
    }
  }
  std::free(old);
}

Request* Requests::insert(const Request& request) {
  if (m_slots == nullptr || m_count * 2 > m_mask) {
    grow();
  }
  std::uint32_t i = slotOf(request.handle);
  while (m_slots[i].kind != RequestKind::None && m_slots[i].handle != request.handle) {
    i = (i + 1) & m_mask;
  }
  if (m_slots[i].kind == RequestKind::None) {
    ++m_count;
  }
  m_slots[i] = request;
  return &m_slots[i];
}

void Requests::erase(MPI_Request handle) {
  Request* found = find(handle);
  if (found == nullptr) {
    return;
  }
  // Backward-shift deletion keeps every probe sequence whole.
  auto hole = static_cast<std::uint32_t>(found - m_slots);
  for (std::uint32_t next = (hole + 1) & m_mask; m_slots[next].kind != RequestKind::None;
       next = (next + 1) & m_mask) {
    const std::uint32_t home = slotOf(m_slots[next].handle);
    if (((next - home) & m_mask) >= ((next - hole) & m_mask)) {
      m_slots[hole] = m_slots[next];
      hole = next;
    }
  }
  m_slots[hole] = Request{};
  --m_count;
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
