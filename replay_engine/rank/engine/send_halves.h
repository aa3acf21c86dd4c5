// SPDX-License-Identifier: MIT
// MPI_Isendrecv (MPI 4.0, 3.10): one request for a receive and a send. To MPI they are two here, and the program has that
// of the receive. It is done when both are: what ends requests asks for the send first, and then for the receive as for
// any other. (MPICH 4.0's own says nothing of the message that was received, so that it cannot be recorded.)
#pragma once

#include "replay_engine/rank/engine/requests.h"

namespace pf {

/// What MPI says of a send with these arguments, which is not made. To be asked before the receive is posted: what that
/// takes nothing brings back.
int checkSendHalf(const void* buffer, int count, MPI_Datatype type, int dest, int tag,
                  MPI_Comm comm);
/// The receive's request stands for `send`, too. `copy`: of what is sent, or null; freed when that has left. The engine's
/// lock is held.
void keepSendHalf(Request& receive, MPI_Request send, void* copy);
/// What is left of the send of this entry; MPI_REQUEST_NULL: nothing, or it has none.
inline MPI_Request sendHalfOf(const Request& entry) {
  return entry.exchange && entry.details != nullptr ? entry.details->send : MPI_REQUEST_NULL;
}
/// Whether nothing is left of the send of `request`, whatever that is. Asks MPI, and does not wait.
bool isSendHalfDone(MPI_Request request);
/// Waits until nothing is; result as of MPI_Wait. Not under the engine's lock.
int awaitSendHalf(MPI_Request request);
/// MPI has ended it.
void sendHalfEnded(MPI_Request request);
/// `request` is freed: the send goes on. The engine's lock is held.
void letSendHalfGo(MPI_Request request);
/// What was kept for such sends goes where they are done. The engine's lock is held.
void endLeftSends();
/// MPI ends: the rest is MPI's.
void letLeftSendsGo();

}  // namespace pf
