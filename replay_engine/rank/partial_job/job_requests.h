// SPDX-License-Identifier: MIT
// Requests of a rank that is replayed with few others: what is to be done before MPI is asked for them, and after.
#pragma once

#include "replay_engine/rank/layer/collective_flow.h"
#include "replay_engine/rank/partial_job/job_comms.h"

namespace pf {

enum class JobRequestKind : std::uint8_t {
  FromOutside,  ///< a receive; MPI's request waits for what feed() sends to this process itself
  FromInside,   ///< a receive from a rank that runs: its status has that one's rank in the carrier
  Collective,   ///< with ranks outside: MPI's request waits for feed() of nothing
  ToOutside,    ///< a send, which is done: of feed() of nothing, too
};

struct JobRequest {
  JobRequestKind kind;
  bool persistent;
  bool started;      ///< persistent, and not told as complete since
  bool fed;          ///< MPI has been given what it waits for
  std::uint32_t id;  ///< of followRequest(): a handle that MPI has freed may soon be another one's
  std::uint16_t call;
  int source;  ///< peer in the program's communicator, or MPI_ANY_SOURCE
  int tag;     ///< the program's
  int feedTag;
  JobComm*
      job;  ///< FromInside, of any source; FromOutside: of `comm`, whose error handler is called
  MPI_Comm comm;
  std::uint64_t room;  ///< FromOutside: bytes that it may bring
  bool truncated;      ///< and once fed: the message has more
  PeerPiece* pieces;   ///< Collective: what it fills; they are the request's
  int pieceCount;
  int gotSource;  ///< once fed: of the status
  int gotTag;
  bool buffered;       ///< ToOutside: of MPI_Bsend_init
  bool holdsType;      ///< ToOutside: by `holder`, which is never started
  MPI_Request holder;  ///< of a matched message: what it was sent by
};

/// Any thread writes it (with LayerLock): a receive from a rank that runs may be any thread's.
extern HandleMap<JobRequest> g_jobRequests;
void followRequest(MPI_Request handle, JobRequest entry);

/// Whose error handler the program's call calls for a request, or a matched message, of `comm`.
inline MPI_Comm handlerOf(MPI_Comm comm) {
  return asOpenMpi() || (kLoneHasItsHandler && isInLoneCompletion()) ? comm : MPI_COMM_WORLD;
}

/// Makes the status of a receive from a rank that runs the program's.
void restoreInside(const JobComm* job, int source, MPI_Status* status);

void putJobMessagesOver();
void putJobCompletionsOver();
void putJobCollectivesOver();

}  // namespace pf
