// SPDX-License-Identifier: MIT
// Races found while the program runs (record --mode races): the calls of MPI, told to the clocks
// and to the tracing algorithm of replay_engine/rank/online_races. All functions have no effect in other
// modes, but must not be called there in a rank's path: ask clocked() first.
//
// What is not followed, and so only makes more of a race (replay_engine/rank/online_races/clock_board.h): that a synchronous
// send has come back, the other group of an inter-communicator's collective as seen from one's own,
// ranks on other hosts.
#pragma once

#include <cstdint>

#include "replay_engine/rank/engine/engine.h"
#include "replay_engine/rank/engine/requests.h"
#include "replay_engine/rank/online_races/streams.h"

namespace pf {

struct CollectivePartOfRank;

inline bool followsClocks() {
  return g_engine.clocks != nullptr;
}

/// Joins the ranks of this host. Says in one line if it cannot, and records choices only then.
void startClocks();
/// Writes what the reduction of the trace needs: after the last event, before the log's end.
void logClocks();

/// A message did not leave, after clockSend() (rank_clocks.h). `dest` of `comm`.
void clockUnsend(MPI_Comm comm, int dest, int tag);

/// A receive was posted that will be observed complete by another call.
void clockPost(std::uint32_t post, MPI_Comm comm, int source, int tag, MPI_Request request);
/// Whether a receive by this source and tag could be posted by clockAssign() now: then it needs no
/// entry in the table of requests.
bool clockAssigns(int source, int tag);
void clockAssign(std::uint32_t post, MPI_Comm comm, int source, int tag, MPI_Request request);
/// The entry of a request that clockAssign() knows, in the table from now on; null if there is
/// none.
Request* clockPromote(MPI_Request request);
/// MPI_Cancel was called on it; the application has let its request go.
void clockCancel(const Request& entry);
void clockForget(const Request& entry);
/// A communicator goes away: its handle may name another one.
void clockForgetComm();

/// A message that a receive took, as observed by the application.
struct Taken {
  std::uint32_t post = 0;
  bool wild = false;
  std::uint32_t wildNumber = 0;
  MPI_Comm comm = MPI_COMM_NULL;
  int wantedTag = 0;
  int source = 0;
  int tag = 0;
  // of a receive that clockAssign() knew
  MPI_Request handle = MPI_REQUEST_NULL;
  std::uint32_t stream = 0;  ///< 1 + index
  std::uint32_t streamNumber = 0;
  std::uint32_t commNumber = 0;
};
void clockTaken(const Taken& taken);
/// By a blocking wildcard receive.
void clockWildcardReceive(std::uint32_t post, std::uint32_t wildNumber, MPI_Comm comm,
                          int wantedTag, int source, int tag);

/// The application is told that this receive is done: with a message from `source`, or (source < 0)
/// without one. Takes effect at clockObserved(): those of one call count in the order of posts.
void clockDone(const Request& entry, int source, int tag);
void clockObserved();
/// The assigned receives among the requests of a call, which MPI will set to null.
class NamedSourceBatch {
 public:
  static constexpr int kMost = 16;
  /// Whether `count` requests can be followed this way.
  [[nodiscard]] static bool follows(int count) { return count <= kMost || noneAssigned(); }
  NamedSourceBatch(int count, const MPI_Request* requests);
  /// All are done.
  void observed() const;

 private:
  [[nodiscard]] static bool noneAssigned();
  online::AssignedReceive m_receives[kMost];
  int m_count = 0;
};
/// MPI knows that they are done, but the application was not told.
void clockUnobserved();

/// A probe saw a message.
void clockProbed(bool wild, MPI_Comm comm, int wantedTag, int source, int tag);

/// Enters a collective; what to leave it with.
CollectiveClock clockEnter(const CollectivePartOfRank& entered);
void clockLeave(MPI_Comm comm, const CollectiveClock& part);

}  // namespace pf
