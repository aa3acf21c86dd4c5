// The requests that matter to the record: receives, synchronous sends, non-blocking collectives,
// persistent requests. Ordinary sends are not in it: Open MPI gives one shared handle to all small
// ones and to requests on MPI_PROC_NULL, so a handle alone names nothing.
#pragma once

#include "mpi_header.h"

#include <cstdint>

#include "core/execution.h"

namespace pf {

struct ScheduleTag;

enum class RequestKind : std::uint8_t {
  None,
  Receive,
  SynchronousSend,
  Collective,
  PersistentReceive,
  PersistentSend,
  TaggedMessage  ///< replay: MPI_Imrecv of a message that came tagged
};

/// How a persistent send is started.
enum class SendMode : std::uint8_t { Standard, Buffered, Synchronous, Ready };

/// A rank's part in a collective, where clocks are followed (clocks.h).
struct CollectiveClock {
  std::uint64_t comm = 0;  ///< key
  std::uint32_t ordinal = 0;
  CollectiveFlow flow = CollectiveFlow::None;
  int root = -1;  ///< in the communicator
  bool takes = false;
};

struct Request {
  MPI_Request handle = MPI_REQUEST_NULL;
  RequestKind kind = RequestKind::None;
  bool active = false;       ///< persistent: started and not completed
  bool wild = false;         ///< receive from MPI_ANY_SOURCE
  bool cancelled = false;    ///< MPI_Cancel was called on it
  bool observed = false;     ///< Request_get_status has told the application already
  SendMode mode = SendMode::Standard;  ///< of a persistent send
  std::uint32_t number = 0;  ///< post, send or collective number
  std::uint32_t wildNumber = 0;
  MPI_Request inner =
      MPI_REQUEST_NULL;  ///< replay: the receive that stands in for a persistent wildcard
  const ScheduleTag* tagged = nullptr;  ///< replay: the receive's message comes tagged
  // arguments of a persistent request
  void* buffer = nullptr;
  int count = 0;
  MPI_Datatype datatype = MPI_DATATYPE_NULL;
  int peer = 0;
  int tag = 0;
  MPI_Comm comm = MPI_COMM_NULL;
  // where clocks are followed
  CollectiveClock collective;
  std::uint32_t stream =
      0;  ///< receive by source and tag: 1 + index of its stream, its number there
  std::uint32_t streamNumber = 0;
  std::uint32_t commNumber = 0;
};

/// Open addressing by handle, linear probing, no allocation but to double.
class Requests {
 public:
  /// The entry of `handle`, or null. Valid until the next insert or erase.
  Request* find(MPI_Request handle) {
    if (m_count == 0) {
      return nullptr;
    }
    for (std::uint32_t i = slotOf(handle);; i = (i + 1) & m_mask) {
      if (m_slots[i].kind == RequestKind::None) {
        return nullptr;
      }
      if (m_slots[i].handle == handle) {
        return &m_slots[i];
      }
    }
  }
  /// Adds or replaces.
  Request* insert(const Request& request);
  void erase(MPI_Request handle);
  [[nodiscard]] std::uint32_t count() const { return m_count; }
  [[nodiscard]] std::uint32_t capacity() const { return m_slots == nullptr ? 0 : m_mask + 1; }
  [[nodiscard]] Request& at(std::uint32_t slot) { return m_slots[slot]; }

  /// Active persistent wildcards that a replay replaced by others: translation is needed while not
  /// 0.
  std::uint32_t substituted = 0;

 private:
  [[nodiscard]] std::uint32_t slotOf(MPI_Request handle) const {
    const auto bits = reinterpret_cast<std::uintptr_t>(handle);
    return static_cast<std::uint32_t>((bits >> 4) * 0x9E3779B1U >> 7) & m_mask;
  }
  void grow();

  Request* m_slots = nullptr;
  std::uint32_t m_mask = 0;
  std::uint32_t m_count = 0;
};

/// Post numbers of receives from given sources, which have no other entry in a recording without
/// events. One store a receive: a slot a handle, and what a newer handle pushes out goes to a
/// table.
class PostNumbers {
 public:
  void note(MPI_Request handle, std::uint32_t post) {
    Slot& slot = slotOf(handle);
    if (slot.handle != handle && slot.handle != nullptr) [[unlikely]] {
      pushOut(slot.handle, slot.post);
    }
    slot.handle = handle;
    slot.post = post;
  }
  /// The number of the last receive that was posted with this handle. False: there was none.
  bool find(MPI_Request handle, std::uint32_t* post);

 private:
  void pushOut(MPI_Request handle, std::uint32_t post);

  struct Slot {
    MPI_Request handle = nullptr;
    std::uint32_t post = 0;
  };
  Slot& slotOf(MPI_Request handle) {
    return m_slots[(reinterpret_cast<std::uintptr_t>(handle) * 0x9E3779B97F4A7C15U) >> 56];
  }
  Slot m_slots[256];
  Requests m_pushedOut;
};

}  // namespace pf
