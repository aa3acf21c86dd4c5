// SPDX-License-Identifier: MIT
// Numbers of communicators in the log, and a key for each that is equal on every rank without
// communication: a hash of the parent's key, the how-manieth construction on the parent it was, and
// the group.
#pragma once

#include <cstdint>

#include "replay_engine/execution/execution.h"
#include "replay_engine/rank/engine/mpi_header.h"

namespace pf {

struct CallPlace;

struct KnownCommunicator {
  MPI_Comm handle = MPI_COMM_NULL;
  std::uint32_t number = 0;  ///< in the log
  std::uint64_t key = 0;
  std::uint32_t made = 0;         ///< communicators constructed from it
  std::uint32_t collectives = 0;  ///< entered on it, where clocks are followed
  std::uint32_t persistent = 0;   ///< persistent collectives made on it
  const int* world = nullptr;  ///< world rank of each peer (remote group of an inter-communicator)
  int peers = 0;
  bool retired = false;  ///< freed while requests were under way, which know it by a handle of ours
};

class Communicators {
 public:
  /// Makes MPI_COMM_WORLD (0) and MPI_COMM_SELF (1) known.
  void start();
  /// The entry; one that was never seen constructed gets its own from its group.
  KnownCommunicator& of(MPI_Comm comm) {
    if (m_last->handle == comm) {
      return *m_last;
    }
    return lookUp(comm);
  }
  std::uint32_t number(MPI_Comm comm) { return of(comm).number; }
  /// LaunchContext rank of `peer` in `comm`, kUnknownRank if it has none; MPI_ANY_SOURCE is kAnySource.
  int worldRank(MPI_Comm comm, int peer) {
    if (peer < 0 || comm == MPI_COMM_NULL) {
      return peer == MPI_ANY_SOURCE ? kAnySource : kUnknownRank;
    }
    const KnownCommunicator& known = of(comm);
    return peer < known.peers ? known.world[peer] : kUnknownRank;
  }
  /// `comm` was made from `parent` by call number `call`. `sameGroup`: as the parent's (idup: not
  /// usable yet).
  void made(MPI_Comm parent, MPI_Comm comm, std::uint16_t call, bool sameGroup);
  /// The application frees it. Requests under way on it have another handle from then on: MPI may
  /// give this one to a new communicator as soon as they are done, before they are waited for.
  void freed(MPI_Comm comm);

 private:
  KnownCommunicator& lookUp(MPI_Comm comm);
  void remove(std::uint32_t slot);
  KnownCommunicator& add(MPI_Comm comm, std::uint64_t key, std::uint16_t call, MPI_Comm groupOf);

  /// How many communicators of this key, which its group alone decides, there are by now.
  std::uint32_t occurrence(std::uint64_t key);

  struct GroupKey {
    std::uint64_t key;
    std::uint32_t times;
  };
  GroupKey* m_groupKeys = nullptr;
  std::uint32_t m_groupKeyCount = 0;
  /// Place of `comm` in the table, or the empty one that it would get.
  [[nodiscard]] std::uint32_t slotOf(MPI_Comm comm) const;
  void insert(KnownCommunicator* known);

  KnownCommunicator** m_known = nullptr;  ///< open addressing by handle, linear probing
  std::uint32_t m_count = 0;
  std::uint32_t m_capacity = 0;  ///< a power of two
  KnownCommunicator* m_world = nullptr;
  std::uint32_t m_numbers = 0;
  std::uint32_t m_retired = 0;
  KnownCommunicator* m_last = nullptr;
};

}  // namespace pf
