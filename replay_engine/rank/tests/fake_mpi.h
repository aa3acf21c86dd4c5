// SPDX-License-Identifier: GPL-3.0-or-later
// An MPI library for tests, behind the table of real calls (real_calls.h). It is one rank of a world
// whose other ranks are a script: which messages come, in which order and when, what collectives
// bring, which calls fail. Nothing else moves: no threads, no sockets, no progress of its own.
//
// Time is counted in ticks. A call that looks and finds nothing takes one (MPI_Test, MPI_Iprobe …); a
// call that waits takes as many as it needs. Who waits for what no script brings ends the process
// (kWaitsForEver), so that no test hangs.
//
// It does as Open MPI, also where its interface is the standard's (rank/gen/standard_abi.py): of several complete requests the lowest is told first; handles are used again
// at once, the last one first; sends that are done at once share one request; calls of one status
// leave its MPI_ERROR alone.
#pragma once

#include "mpi_calls.h"

#include <cstddef>
#include <cstdint>
#include <vector>

#include "replay_engine/rank/engine/mpi_header.h"

/// Whether mpi.h has MPI_Request_get_status_any and its like (MPI 4.1).
#define PF_HAS_STATUS_OF_MANY (MPI_VERSION > 4 || (MPI_VERSION == 4 && MPI_SUBVERSION >= 1))

namespace pf::fake {

/// Communicators, as scripts name them: those that the program makes are 1, 2 … in their order.
inline constexpr int kWorld = 0;
/// The n-th (from 0) that the interposer makes of all ranks before the program begins (shadow.h).
constexpr int shadow(int n) {
  return -1 - n;
}

/// A message of another rank: `count` ints, all of them `value`.
struct Arrival {
  int source = 0;  ///< rank of the communicator
  int tag = 0;
  int value = 0;
  int after = 0;  ///< ticks; of the same tick, in the order of the script
  int comm = kWorld;
  int count = 1;
};

/// The nth call of a routine, from 1, does nothing and returns `error`.
struct Failure {
  std::uint16_t call = 0;
  int nth = 1;
  int error = MPI_ERR_OTHER;
};

struct Script {
  int rank = 0;
  int size = 4;
  std::vector<Arrival> arrivals = {};
  std::vector<Failure> failures = {};
  std::vector<int> brought = {};  ///< what collectives bring of other ranks, one value each
  int answersAfter = 0;           ///< ticks until synchronous sends and posted collectives are done
  int leavesAfter = 0;            ///< ticks until the other sends are
  bool fatal = false;  ///< an error ends the process (kFatalError), as MPI_ERRORS_ARE_FATAL
  int threadLevel = MPI_THREAD_SINGLE;
  int highestTag = 32767;
};

/// A message that left for another rank.
struct Sent {
  std::uint16_t call = 0;
  int dest = 0;  ///< rank of the communicator
  int tag = 0;
  int comm = kWorld;  ///< as scripts name it
  std::size_t bytes = 0;
  int value = 0;  ///< the first int
};

// How the process ends where a script ends it.
inline constexpr int kWaitsForEver = 71;
inline constexpr int kFatalError = 72;
inline constexpr int kNotFaked = 73;  ///< a routine, or a use of one, that this library lacks
inline constexpr int kAborted = 74;

/// Fills the table of real calls, and begins the script.
void begin(const Script& script);
/// MPI_Init is done: time, calls and communicators count from here.
void programBegins();

/// MPI_Isendrecv of `count` ints, on MPI_COMM_WORLD, which its mpi.h does not declare: what the program has without us.
int isendrecv(const int* sent, int count, int dest, int sendTag, int* received, int source, int tag,
              MPI_Request* request);

/// What the interposer has asked of this library, and sent with it, since then.
int calls(std::uint16_t call);
const std::vector<Sent>& sent();
/// Errors that error handlers were told of, and the communicator of the last one.
int toldErrors();
int lastToldComm();

/// Where its requests have their status.
std::size_t placeOfStatus();

}  // namespace pf::fake
