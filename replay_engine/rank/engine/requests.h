// SPDX-License-Identifier: MIT
// The requests that matter to the record: receives, synchronous sends, non-blocking collectives,
// persistent requests. Ordinary sends are not in it: Open MPI and MPICH give one shared handle to
// all that are done at once and to requests on MPI_PROC_NULL, so a handle alone names nothing.
#pragma once

#include <cstdint>

#include "replay_engine/execution/execution.h"
#include "replay_engine/rank/engine/mpi_header.h"

namespace pf {

struct ScheduleRoute;

enum class RequestKind : std::uint8_t {
  None,
  Receive,
  SynchronousSend,
  Collective,
  PersistentReceive,
  PersistentSend,
  PersistentCollective,
  RoutedMessage  ///< replay: MPI_Imrecv of a message that came routed
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

struct GivenAtStarts;

/// What a persistent collective does at each start.
struct PersistentPart {
  std::uint32_t number = 0;  ///< 1 + how-manieth of its communicator
  std::uint32_t starts = 0;
  CollectiveFlow flow = CollectiveFlow::None;
  int root = -1;  ///< in the communicator
  bool contributes = false;
  bool takes = false;
  GivenAtStarts* given = nullptr;  ///< where it may be asked for: gone when the request is freed
};

/// What only some requests have: persistent ones, those of MPI_Isendrecv, of collectives and assigned
/// receives where clocks are followed, and in a replay those that go routed.
struct RequestDetails {
  MPI_Request inner =
      MPI_REQUEST_NULL;  ///< replay: the receive that stands in for a persistent wildcard
  const ScheduleRoute* routed = nullptr;  ///< replay: the receive's message comes routed
  // arguments of a persistent request
  void* buffer = nullptr;
  int count = 0;
  MPI_Datatype datatype = MPI_DATATYPE_NULL;
  PersistentPart persistent;
  // of MPI_Isendrecv (send_halves.h)
  MPI_Request send = MPI_REQUEST_NULL;  ///< null: it is done
  void* sendCopy = nullptr;             ///< of what it sends, until it is
  // where clocks are followed
  CollectiveClock collective;
  std::uint32_t stream =
      0;  ///< receive by source and tag: 1 + index of its stream, its number there
  std::uint32_t streamNumber = 0;
  std::uint32_t commNumber = 0;
  RequestDetails* nextFree = nullptr;
};

/// There may be very many: the common ones are small.
struct Request {
  MPI_Request handle = MPI_REQUEST_NULL;
  MPI_Comm comm = MPI_COMM_NULL;
  RequestDetails* details = nullptr;  ///< the table's (Requests::detail()); gone with the entry
  std::uint32_t number = 0;           ///< post, send or collective number
  std::uint32_t wildNumber = 0;
  int peer = 0;
  int tag = 0;
  RequestKind kind = RequestKind::None;
  bool active = false;                 ///< persistent: started and not completed
  bool wild = false;                   ///< receive from MPI_ANY_SOURCE
  bool cancelled = false;              ///< MPI_Cancel was called on it
  bool observed = false;               ///< Request_get_status has told the application already
  bool exchange = false;               ///< of MPI_Isendrecv; without a kind: from MPI_PROC_NULL
  SendMode mode = SendMode::Standard;  ///< of a persistent send

  [[nodiscard]] MPI_Request inner() const {
    return details == nullptr ? MPI_REQUEST_NULL : details->inner;
  }
  [[nodiscard]] const ScheduleRoute* routed() const {
    return details == nullptr ? nullptr : details->routed;
  }
};
static_assert(sizeof(Request) <= 48);

inline bool isReceive(const Request& entry) {
  return entry.kind == RequestKind::Receive ||
         (entry.kind == RequestKind::PersistentReceive && entry.active);
}

inline bool isPersistent(const Request& entry) {
  return entry.kind == RequestKind::PersistentReceive ||
         entry.kind == RequestKind::PersistentSend ||
         entry.kind == RequestKind::PersistentCollective;
}

/// Whether MPI_Request_get_status may be asked of a request of the program that it does not ask of itself. `entry`: null of one that
/// is not in the table, which is none that is persistent.
inline bool mayBeLookedAt(const Request* entry) {
  return kLooksAreFree || entry == nullptr || !isPersistent(*entry);
}

/// Whether MPI has to tell the status of this request for the record.
inline bool needsStatus(const Request& entry) {
  return isReceive(entry) && (entry.wild || entry.tag == MPI_ANY_TAG || entry.cancelled);
}

/// The requests on a communicator that is freed.
enum class Retired : std::uint8_t { None, Some, Persistent };

/// In a row without holes, found by handle through an index (open addressing, linear probing). No
/// allocation but to double.
class Requests {
 public:
  /// The entry of `handle`, or null. Valid until the next insert or erase.
  Request* find(MPI_Request handle) {
    if (m_count == 0) {
      return nullptr;
    }
    for (std::uint32_t i = slotOf(handle); m_index[i] != 0; i = (i + 1) & m_mask) {
      if (Request& entry = m_entries[m_index[i] - 1]; entry.handle == handle) {
        return &entry;
      }
    }
    return nullptr;
  }
  /// Adds or replaces; without details.
  Request* insert(const Request& request);
  /// The details of an entry of this table, made if it has none. They stay where they are.
  RequestDetails& detail(Request& entry);
  /// With what it takes to start it.
  void insertPersistent(const Request& request, const void* buffer, int count,
                        MPI_Datatype datatype);
  void erase(MPI_Request handle);
  [[nodiscard]] std::uint32_t count() const { return m_count; }
  /// Those on `comm` are on `other` from now on, unless there are persistent ones among them.
  Retired retire(MPI_Comm comm, MPI_Comm other);
  /// All of them, in any order.
  [[nodiscard]] const Request* begin() const { return m_entries; }
  [[nodiscard]] const Request* end() const { return m_entries + m_count; }
  /// Where begin() and count() are kept, for who looks from outside.
  [[nodiscard]] const void* entriesInMemory() const { return &m_entries; }
  [[nodiscard]] const void* countInMemory() const { return &m_count; }

  /// Active persistent wildcards that a replay replaced by others: translation is needed while not
  /// 0.
  std::uint32_t substituted = 0;

 private:
  [[nodiscard]] std::uint32_t slotOf(MPI_Request handle) const {
    return static_cast<std::uint32_t>((bitsOf(handle) >> 4) * 0x9E3779B1U >> 7) & m_mask;
  }
  /// The slot in the index of the entry at `position`.
  [[nodiscard]] std::uint32_t slotAt(std::uint32_t position) const;
  void freeDetails(Request& entry);
  void grow();

  Request* m_entries = nullptr;
  std::uint32_t* m_index = nullptr;  ///< 1 + position in m_entries, 0: free
  std::uint32_t m_mask = 0;
  std::uint32_t m_count = 0;
  RequestDetails* m_freeDetails = nullptr;
};

/// Post numbers of receives from given sources, which have no other entry in a recording without
/// events. One store a receive: a slot a handle, and what a newer handle pushes out goes to a
/// table.
class PostNumbers {
 public:
  void note(MPI_Request handle, std::uint32_t post) {
    Slot& slot = slotOf(handle);
    if (slot.handle != handle && slot.handle != MPI_Request{}) [[unlikely]] {
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
    MPI_Request handle{};
    std::uint32_t post = 0;
  };
  Slot& slotOf(MPI_Request handle) { return m_slots[(bitsOf(handle) * 0x9E3779B97F4A7C15U) >> 56]; }
  Slot m_slots[256];
  Requests m_pushedOut;
};

}  // namespace pf
