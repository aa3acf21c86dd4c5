// SPDX-License-Identifier: MIT
// Collectives on communicators of which few ranks run: messages between those (MPIWiz, Figure 2), and the payload.
#include <climits>
#include <cstdlib>

#include "replay_engine/rank/layer/call_arguments.h"
#include "replay_engine/rank/layer/group_members.h"
#include "replay_engine/rank/layer/large_names.h"
#include "replay_engine/rank/layer/persistent_names.h"
#include "replay_engine/rank/partial_job/job_requests.h"
#include "replay_engine/rank/partial_job/outside.h"

namespace pf {
namespace {

constexpr int kTag = 1;

/// Its count as an int, and of what: of one type that has them all where an int has no room for it.
class Counted {
 public:
  explicit Counted(const Piece& piece)
      : m_count(static_cast<int>(piece.count)), m_type(piece.type) {
#if defined(PF_HAS_LARGE_COUNTS)
    m_made = piece.count > INT_MAX &&
             PF_UNDER(Type_contiguous_c)(piece.count, piece.type, &m_type) == MPI_SUCCESS;
    if (m_made) {
      PF_UNDER(Type_commit)(&m_type);
      m_count = 1;
    }
#endif
  }
  ~Counted() {
    if (m_made) {
      PF_UNDER(Type_free)(&m_type);  // what is under way keeps it
    }
  }
  Counted(const Counted&) = delete;
  Counted& operator=(const Counted&) = delete;
  [[nodiscard]] int count() const {
    return m_count;
  }
  [[nodiscard]] MPI_Datatype type() const {
    return m_type;
  }

 private:
  int m_count;
  MPI_Datatype m_type;
  bool m_made = false;
};

/// The messages of one collective between ranks that run.
class Exchange {
 public:
  Exchange(std::uint16_t call, MPI_Comm own, int most)
      : m_call(call),
        m_own(own),
        m_requests(static_cast<MPI_Request*>(
            std::malloc((static_cast<std::size_t>(most) + 1) * sizeof(MPI_Request)))),
        m_packed(static_cast<unsigned char**>(
            std::calloc(static_cast<std::size_t>(most) + 1, sizeof(unsigned char*)))) {
    if (m_requests == nullptr || m_packed == nullptr) {
      std::abort();  // the program cannot go on without memory either
    }
  }
  ~Exchange() {
    for (int i = 0; i < m_count; ++i) {
      std::free(m_packed[i]);
    }
    std::free(m_packed);
    std::free(m_requests);
  }
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

  void give(const Piece& piece, int to, bool packed) {
    if (packed) {  // its place is about to be received into
      std::uint64_t bytes = 0;
      m_packed[m_count] = packPiece(piece, &bytes);
      if (m_packed[m_count] == nullptr) {
        outsideDiffers(m_call, kGroupCan, "2 GiB or more to one rank, in place");
      }
      PF_UNDER(Isend)
      (m_packed[m_count], static_cast<int>(bytes), MPI_PACKED, to, kTag, m_own,
       &m_requests[m_count]);
    } else {
      const Counted counted(piece);
      PF_UNDER(Isend)
      (piece.buffer, counted.count(), counted.type(), to, kTag, m_own, &m_requests[m_count]);
    }
    ++m_count;
  }
  void take(const Piece& piece, int from) {
    const Counted counted(piece);
    PF_UNDER(Irecv)
    (piece.buffer, counted.count(), counted.type(), from, kTag, m_own, &m_requests[m_count++]);
  }
  int wait() { return PF_UNDER(Waitall)(m_count, m_requests, MPI_STATUSES_IGNORE); }

 private:
  std::uint16_t m_call;
  MPI_Comm m_own;
  MPI_Request* m_requests;
  unsigned char** m_packed;
  int m_count = 0;
};

/// Of no bytes: MPI waits for nobody's, not even at the root.
bool isEmpty(const Piece& piece) {
  MPI_Count size = 0;
  return piece.count == 0 || (PF_UNDER(Type_size_x)(piece.type, &size) == MPI_SUCCESS && size == 0);
}

int exchange(std::uint16_t call, MPI_Comm comm, JobComm& job, const CollectiveFlowOf& flow) {
  const MPI_Comm own = ownComm(comm, job);
  const auto count = [](const PieceList& list) {
    return static_cast<int>(list.end() - list.begin());
  };
  Exchange messages(call, own, count(flow.takes) + count(flow.gives));
  bool outside = false;
  for (const PeerPiece& each :
       flow.gives) {  // first: what is given in place is copied before it is received into
    if (const int to = job.placeInOwn(each.peer); to >= 0 && !isEmpty(each.piece)) {
      messages.give(each.piece, to, flow.inPlace);
    }
  }
  for (const PeerPiece& each : flow.takes) {
    if (const int from = job.placeInOwn(each.peer); from >= 0) {
      if (!isEmpty(each.piece)) {
        messages.take(each.piece, from);
      }
    } else {
      outside = true;
    }
  }
  const int result = messages.wait();
  if (!outside) {
    return result;
  }
  const OutsideEntry brought = takeOutside(PayloadKind::Collective, call, call, kAny);
  const unsigned char* at = brought.content;
  for (const PeerPiece& each : flow.takes) {
    if (at != nullptr && job.placeInOwn(each.peer) < 0) {
      at = fillPiece(each.piece, at, brought.end());
    }
  }
  if (at != brought.end()) {
    outsideDiffers(call, "as much as is received", "another size");
  }
  return result;
}

template <std::uint16_t call, auto flowOf, typename Routine>
struct Played;
template <std::uint16_t call, auto flowOf, typename... Argument>
struct Played<call, flowOf, int (*)(Argument...)> {
  static int run(Argument... argument) {
    const CollectiveArguments<Behind::Nothing, Argument...> arguments(argument...);
    JobComm* const job = partialComm(arguments.comm());
    if (job == nullptr) {
      return reinterpret_cast<int (*)(Argument...)>(g_under[call])(argument...);
    }
    if (const int failed = failedAsRecorded(call, arguments.comm()); failed != MPI_SUCCESS) {
      return failed;
    }
    CollectiveFlowOf flow;
    arguments.describe(flow, flowOf);
    return exchange(call, arguments.comm(), *job, flow);
  }
};

/// Of one that does not block, or is made to be started: a receive stands for it. All that it, or each start, brings is in the
/// payload, when the program is told that it is done.
template <std::uint16_t call, auto flowOf, Behind behind, typename Routine>
struct PlayedLater;
template <std::uint16_t call, auto flowOf, Behind behind, typename... Argument>
struct PlayedLater<call, flowOf, behind, int (*)(Argument...)> {
  static int run(Argument... argument) {
    const CollectiveArguments<behind, Argument...> arguments(argument...);
    if (partialComm(arguments.comm()) == nullptr) {
      return reinterpret_cast<int (*)(Argument...)>(g_under[call])(argument...);
    }
    if (const int failed = failedAsRecorded(call, arguments.comm()); failed != MPI_SUCCESS) {
      return failed;
    }
    CollectiveFlowOf flow;
    arguments.describe(flow, flowOf);
    JobRequest entry{};
    entry.kind = JobRequestKind::Collective;
    entry.persistent = behind == Behind::InfoAndRequest;
    entry.call = call;
    entry.pieces = flow.takes.take(&entry.pieceCount);
    entry.feedTag = feederTag();
    const auto post = entry.persistent ? PF_UNDER(Recv_init) : PF_UNDER(Irecv);
    const int result = post(nullptr, 0, MPI_BYTE, 0, entry.feedTag, feeder(), arguments.request());
    if (result == MPI_SUCCESS) {
      followRequest(*arguments.request(), entry);
    }
    return result;
  }
};

int onBarrier(MPI_Comm comm) {
  JobComm* const job = partialComm(comm);
  return PF_UNDER(Barrier)(job == nullptr ? comm : ownComm(comm, *job));
}

}  // namespace

void putJobCollectivesOver() {
#define PF_PLAY(Name) \
  putOver(kCall##Name, Played<kCall##Name, flowOf##Name<int, int>, decltype(&MPI_##Name)>::run)
  PF_PLAY(Bcast);
  PF_PLAY(Gather);
  PF_PLAY(Gatherv);
  PF_PLAY(Scatter);
  PF_PLAY(Scatterv);
  PF_PLAY(Allgather);
  PF_PLAY(Allgatherv);
  PF_PLAY(Alltoall);
  PF_PLAY(Alltoallv);
  PF_PLAY(Alltoallw);
  PF_PLAY(Reduce);
  PF_PLAY(Allreduce);
  PF_PLAY(Reduce_scatter);
  PF_PLAY(Reduce_scatter_block);
  PF_PLAY(Scan);
  PF_PLAY(Exscan);
  PF_PLAY(Neighbor_allgather);
  PF_PLAY(Neighbor_allgatherv);
  PF_PLAY(Neighbor_alltoall);
  PF_PLAY(Neighbor_alltoallv);
  PF_PLAY(Neighbor_alltoallw);
#undef PF_PLAY
#define PF_PLAY(Name, Blocking)                                                              \
  putOver(kCall##Name, PlayedLater<kCall##Name, flowOf##Blocking<int, int>, Behind::Request, \
                                   decltype(&MPI_##Name)>::run)
  PF_PLAY(Ibarrier, Barrier);
  PF_PLAY(Ibcast, Bcast);
  PF_PLAY(Igather, Gather);
  PF_PLAY(Igatherv, Gatherv);
  PF_PLAY(Iscatter, Scatter);
  PF_PLAY(Iscatterv, Scatterv);
  PF_PLAY(Iallgather, Allgather);
  PF_PLAY(Iallgatherv, Allgatherv);
  PF_PLAY(Ialltoall, Alltoall);
  PF_PLAY(Ialltoallv, Alltoallv);
  PF_PLAY(Ialltoallw, Alltoallw);
  PF_PLAY(Ireduce, Reduce);
  PF_PLAY(Iallreduce, Allreduce);
  PF_PLAY(Ireduce_scatter, Reduce_scatter);
  PF_PLAY(Ireduce_scatter_block, Reduce_scatter_block);
  PF_PLAY(Iscan, Scan);
  PF_PLAY(Iexscan, Exscan);
  PF_PLAY(Ineighbor_allgather, Neighbor_allgather);
  PF_PLAY(Ineighbor_allgatherv, Neighbor_allgatherv);
  PF_PLAY(Ineighbor_alltoall, Neighbor_alltoall);
  PF_PLAY(Ineighbor_alltoallv, Neighbor_alltoallv);
  PF_PLAY(Ineighbor_alltoallw, Neighbor_alltoallw);
#undef PF_PLAY
#define PF_PLAY(Name)                                                                     \
  putOver(kCall##Name##_init,                                                             \
          PlayedLater<kCall##Name##_init, flowOf##Name<int, int>, Behind::InfoAndRequest, \
                      decltype(&PF_INIT_OF(Name))>::run);
  PF_WITH_INIT(PF_PLAY)
#if defined(PF_INIT_OF)
  PF_PLAY(Barrier)
#endif
#undef PF_PLAY
#define PF_PLAY(Name, Posted)                                                                      \
  putOver(                                                                                         \
      kCall##Name##_c,                                                                             \
      Played<kCall##Name##_c, flowOf##Name<MPI_Count, MPI_Aint>, decltype(&MPI_##Name##_c)>::run); \
  putOver(kCall##Posted##_c, PlayedLater<kCall##Posted##_c, flowOf##Name<MPI_Count, MPI_Aint>,     \
                                         Behind::Request, decltype(&MPI_##Posted##_c)>::run);      \
  putOver(kCall##Name##_init_c,                                                                    \
          PlayedLater<kCall##Name##_init_c, flowOf##Name<MPI_Count, MPI_Aint>,                     \
                      Behind::InfoAndRequest, decltype(&MPI_##Name##_init_c)>::run);
  PF_WITH_LARGE(PF_PLAY)
#undef PF_PLAY
  putOver(kCallBarrier, onBarrier);
}

}  // namespace pf
