// SPDX-License-Identifier: MIT
// Inside of the layer that keeps contents (contents_of_group.h).
#pragma once

#include "replay_engine/rank/layer/collective_flow.h"
#include "replay_engine/rank/layer/handle_map.h"
#include "replay_engine/rank/layer/known_inside.h"
#include "replay_engine/rank/layer/one_thread.h"
#include "replay_engine/rank/layer/under.h"
#include "replay_engine/rank/payload/payload_writer.h"

namespace pf {

/// Where the ranks of a communicator are; of an inter-communicator, those of both of its groups.
struct MemberView {
  int* world;       ///< of each peer
  int peers;        ///< the remote group's, of an inter-communicator
  bool hasOutside;  ///< some rank of it is not of this group
  bool* outside;    ///< then: of each peer

  [[nodiscard]] bool isOutside(int peer) const;
};

extern PayloadWriter g_payload;

/// The ranks of a group in MPI_COMM_WORLD.
void worldRanksOf(MPI_Group group, int size, int* world);
/// Of a communicator with ranks outside of the group, else null.
const MemberView* mixedComm(MPI_Comm comm);
/// It is freed, or is made where another one was.
void forgetComm(MPI_Comm comm);

/// What a request fills that may bring contents from outside.
struct KeptRequest {
  const MemberView* members;  ///< of a receive
  Piece piece;
  PeerPiece* pieces;  ///< of a collective; they are the entry's
  int pieceCount;
  std::uint16_t call;  ///< the collective
  bool persistent;
  bool started;  ///< persistent: and not told as complete since
  bool done;     ///< told by MPI_Request_get_status
  bool asked;  ///< a call of the layer's thread has it: its handle may already be another thread's
  std::uint16_t type;  ///< typeNumber()
};
/// The layer's thread writes it (with LayerLock), others look.
extern HandleMap<KeptRequest> g_keptRequests;

/// Of a datatype of contents that may come from outside: it is put into the payload the first time. Only of the program's own
/// handles, which it says are freed; 0: there are too many.
std::uint16_t typeNumber(MPI_Datatype type);
/// The same of pieces; 0: they are of several types.
std::uint16_t typeNumber(const PeerPiece* begin, const PeerPiece* end);

/// This receive has taken the message of `status`, as `call` tells. `type`: typeNumber().
void keepMessage(std::uint16_t call, const MemberView& members, const Piece& piece,
                 const MPI_Status& status, int error, std::uint16_t type);
/// The same of a receive that is not under way any more.
inline void keepMessage(std::uint16_t call, const MemberView& members, const Piece& piece,
                        const MPI_Status& status, int error) {
  keepMessage(call, members, piece, status, error, typeNumber(piece.type));
}
void keepProbe(const MemberView& members, const MPI_Status& status);
/// What of the pieces of the collective `call` came from outside, as the routine `told` tells; `all`: or from inside.
void keepPieces(std::uint16_t told, const MemberView& members, std::uint16_t call,
                const PeerPiece* begin, const PeerPiece* end, bool all, std::uint16_t type);
/// What brings something: not a persistent one that is not started.
inline bool isUnderWay(const KeptRequest& kept) {
  return !kept.persistent || kept.started;
}
/// A persistent request is freed.
void forgetBufferedSend(MPI_Request request);
/// `call`, which is with ranks outside, has failed.
void keepFailure(std::uint16_t call, int error);

void putDatatypesOver();
void putMessagesOver();
void putCompletionsOver();
void putCollectivesOver();
void putCommunicatorsOver();

/// `call` has failed, and returned MPI_SUCCESS: contents are kept up to it.
void keepUntoldFailure(std::uint16_t call);

/// A status for MPI to fill, which says whether it did: MPICH 5.0.2 returns MPI_SUCCESS where an error handler of the program's
/// was called. `wanted`: the program's, which stays as it is where MPI does not fill it.
class FilledStatus {
 public:
  explicit FilledStatus(MPI_Status* wanted) : m_use(wanted) {
    if (wanted == MPI_STATUS_IGNORE) {
      m_own = MPI_Status{};
      m_use = &m_own;
    }
    m_before = m_use->MPI_SOURCE;
    m_use->MPI_SOURCE = kStatusUntouched;
  }
  ~FilledStatus() {
    if (!isFilled()) {
      m_use->MPI_SOURCE = m_before;
    }
  }
  FilledStatus(const FilledStatus&) = delete;
  FilledStatus& operator=(const FilledStatus&) = delete;

  [[nodiscard]] MPI_Status* get() const { return m_use; }
  [[nodiscard]] bool isFilled() const { return m_use->MPI_SOURCE != kStatusUntouched; }

 private:
  MPI_Status m_own;
  MPI_Status* m_use;
  int m_before;
};

}  // namespace pf
