// SPDX-License-Identifier: MIT
// What a rank gives to others: how many bytes, and a digest of them (XXH3, 64 bits). Only the bytes that the datatype moves
// count, never its gaps. Recorded with events; a replay of such a record compares. Another size is a divergence; other
// contents are told, and the rank goes on: the program's results tell more than a rank that stands still.
//
// What is received is not looked at: each message that a rank gets has been given by a rank, from the recorded source,
// and results of reductions may depend on an order that is MPI's to choose.
//
// Addresses are other ones in each run, and right programs send them (in structures, in bytes that they never set). So a
// word that looks like one of a program, a library, a heap or a stack counts as an address, whichever it is.
#pragma once

#include <cstddef>
#include <cstdint>

#include "replay_engine/rank/engine/engine.h"
#include "replay_engine/rank/engine/mpi_header.h"

namespace pf {

/// Arguments of a call that name what is sent.
struct Data {
  const void* buffer;
  int count;
  MPI_Datatype type;
};

struct Contents {
  bool known = false;  ///< the size is
  bool digested = false;
  std::uint32_t operation = 0;  ///< of a reduction: 1 + which one
  std::uint64_t bytes = 0;
  std::uint64_t digest = 0;
};

/// How a type was made (MPI_COMBINER_...); -1: MPI does not say.
int combinerOf(MPI_Datatype type);

/// Is told of pieces in the place of their being looked at.
struct TakesPieces {
  /// `seen`: they are in this rank's memory.
  void (*take)(TakesPieces& self, const void* buffer, long long count, MPI_Datatype type,
               bool seen);
};
/// Of this thread: null, or who is told what given…() (given.h) would look at.
inline thread_local TakesPieces* t_takesPieces __attribute__((tls_model("initial-exec"))) = nullptr;

/// Takes pieces one after another. Under the engine's lock.
class Digester {
 public:
  Digester();
  void add(const void* buffer, long long count, MPI_Datatype type);
  /// Counts, but is not in this rank's memory.
  void addUnseen(long long count, MPI_Datatype type);
  [[nodiscard]] Contents contents() const;

 private:
  void addPacked(const unsigned char* buffer, long long count, MPI_Datatype type);
  void addBytes(const unsigned char* bytes, std::size_t size);
  /// Of long double.
  void addNumbers(const unsigned char* numbers, std::size_t size);

  bool m_digested = true;
  std::uint64_t m_bytes = 0;
  alignas(64) unsigned char m_state[640];
};

/// Of a message, whoever asks. Under the engine's lock.
Contents digestOf(const Data& data);
/// The same, and nothing (but a size of 0) where nobody asks.
Contents contentsOf(const Data& data);
/// In bytes; 0: MPI will refuse it, or it has none.
std::uint64_t sizeOfType(MPI_Datatype type);
/// Of the next message that this rank sends, to `dest`: in a recording with groups, or in a replay of one, it may be
/// asked for though others are not.
inline Contents contentsOf(const Data& data, int dest, MPI_Comm comm);
/// Whether what this rank gives to a collective on `comm` is asked for. Before its event begins.
bool asksForGiven(MPI_Comm comm);

/// Whether what is given to collectives may be asked for, so that a persistent one has to know it.
bool mayAskForGiven();

/// Of a recording with groups, without events: whether what goes to `dest` (null: in a collective, to all) leaves the group.
inline bool (*g_leavesGroup)(MPI_Comm comm, const int* dest) = nullptr;
/// A replay that has messages to compare with that left the group of the recording.
inline bool g_comparesOutgoing = false;

/// Before the next message leaves: records what it holds, where it leaves the group, and compares it with that of the
/// recording. `check`: sentCheck(), or 0 where beginEvent() has compared all else.
inline void compareSent(const CallPlace& place, const Contents& contents, std::uint32_t check);
/// sentCheck() of a message of this rank.
std::uint32_t checkOfSent(MPI_Comm comm, int dest, int tag);
/// The same of what this rank gives to the collective whose event has begun.
void compareGiven(const CallPlace& place, const Contents& given);

/// In a replay: whether its schedule has something to compare with; gets ready to.
bool startContents();

/// What follows is inline so that a message costs three flags where nobody asks.
inline bool mayAskForSent() {
  return g_engine.contents || g_comparesOutgoing || g_leavesGroup != nullptr;
}
Contents contentsAsked(const Data& data, int dest, MPI_Comm comm);
void compareAsked(const CallPlace& place, const Contents& contents, std::uint32_t check);

inline Contents contentsOf(const Data& data, int dest, MPI_Comm comm) {
  return mayAskForSent() ? contentsAsked(data, dest, comm) : Contents{};
}

inline void compareSent(const CallPlace& place, const Contents& contents, std::uint32_t check) {
  if (mayAskForSent()) {
    compareAsked(place, contents, check);
  }
}

}  // namespace pf
