// Races found while the program runs (record --mode races): the calls of MPI, told to the clocks
// and to the tracing algorithm of replay_engine/online. All functions have no effect in other
// modes, but must not be called there in a rank's path: ask clocked() first.
//
// What is not followed, and so only makes more of a race (online/clock_board.h): that a synchronous
// send has come back, the other group of an inter-communicator's collective as seen from one's own,
// ranks on other hosts.
#pragma once

#include "engine.h"
#include "requests.h"

#include <cstdint>

namespace pf {

inline bool clocked() {
  return g_engine.clocks != nullptr;
}

/// Joins the ranks of this host. Says in one line if it cannot, and records choices only then.
void startClocks();
/// Writes what the reduction of the trace needs: after the last event, before the log's end.
void logClocks();

/// A message is about to leave; and it did not. `dest` of `comm`.
void clockSend(MPI_Comm comm, int dest, int tag);
void clockUnsend(MPI_Comm comm, int dest, int tag);

/// A receive was posted that will be observed complete by another call. `ask` in a form that MPI
/// can be asked with later on.
void clockPost(std::uint32_t post, MPI_Comm comm, int source, int tag, MPI_Request ask);
/// MPI_Cancel was called on it; the application has let its request go.
void clockCancel(std::uint32_t post);
void clockForget(std::uint32_t post);

/// A message that a receive took, as observed by the application.
struct Taken {
  std::uint32_t post = 0;
  bool wild = false;
  std::uint32_t wildNumber = 0;
  MPI_Comm comm = MPI_COMM_NULL;
  int wantedTag = 0;
  int source = 0;
  int tag = 0;
};
void clockTaken(const Taken& taken);

/// The application is told that this receive is done: with a message from `source`, or (source < 0)
/// without one. Takes effect at clockObserved(): those of one call count in the order of posts.
void clockDone(const Request& entry, int source, int tag);
void clockObserved();
/// MPI knows that they are done, but the application was not told.
void clockUnobserved();

/// A probe saw a message.
void clockProbed(bool wild, MPI_Comm comm, int wantedTag, int source, int tag);

/// Enters a collective; what to leave it with.
CollectiveClock clockEnter(MPI_Comm comm, CollectiveFlow flow, int root, bool contributes,
                           bool takes);
void clockLeave(MPI_Comm comm, const CollectiveClock& part);

}  // namespace pf
