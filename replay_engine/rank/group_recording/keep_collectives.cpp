// SPDX-License-Identifier: MIT
// Collectives of a recording with groups (MPIWiz, 3.2).
#include "replay_engine/rank/group_recording/keeping.h"
#include "replay_engine/rank/layer/call_arguments.h"
#include "replay_engine/rank/layer/large_names.h"
#include "replay_engine/rank/layer/persistent_names.h"

namespace pf {
namespace {

/// Of the routine `call`, which blocks, and whose flow `flowOf` describes.
template <std::uint16_t call, auto flowOf, typename Routine>
struct Kept;
template <std::uint16_t call, auto flowOf, typename... Argument>
struct Kept<call, flowOf, int (*)(Argument...)> {
  static int run(Argument... argument) {
    const auto under = reinterpret_cast<int (*)(Argument...)>(g_under[call]);
    const CollectiveArguments<Behind::Nothing, Argument...> arguments(argument...);
    if (isKnownWhole(arguments.comm())) {
      return under(argument...);
    }
    const MemberView* const members = t_layer == 0 ? mixedComm(arguments.comm()) : nullptr;
    if (members == nullptr || !mayBeTold(call)) {
      return under(argument...);
    }
    const InLayer inside;
    const int result = under(argument...);
    if (result == MPI_SUCCESS) {
      CollectiveFlowOf flow;
      arguments.describe(flow, flowOf);
      keepPieces(call, *members, call, flow.takes.begin(), flow.takes.end(), false,
                 typeNumber(flow.takes.begin(), flow.takes.end()));
    } else {
      keepFailure(call, result);
    }
    return result;
  }
};

/// Of one that does not block, or is made to be started: all that it, or each start, brings is kept when the program is told that
/// it is done.
template <std::uint16_t call, auto flowOf, Behind behind, typename Routine>
struct KeptLater;
template <std::uint16_t call, auto flowOf, Behind behind, typename... Argument>
struct KeptLater<call, flowOf, behind, int (*)(Argument...)> {
  static int run(Argument... argument) {
    const auto under = reinterpret_cast<int (*)(Argument...)>(g_under[call]);
    const CollectiveArguments<behind, Argument...> arguments(argument...);
    const MemberView* const members = t_layer == 0 ? mixedComm(arguments.comm()) : nullptr;
    if (members == nullptr || !mayBeTold(call)) {
      return under(argument...);
    }
    const InLayer inside;
    const int result = under(argument...);
    if (result == MPI_SUCCESS) {
      CollectiveFlowOf flow;
      arguments.describe(flow, flowOf);
      KeptRequest kept{};
      kept.members = members;
      kept.call = call;
      kept.persistent = behind == Behind::InfoAndRequest;
      kept.type = typeNumber(flow.takes.begin(), flow.takes.end());
      kept.pieces = flow.takes.take(&kept.pieceCount);
      if (kept.pieces != nullptr) {
        const LayerLock lock;
        g_keptRequests.insert(*arguments.request(), kept);
      }
    } else {
      keepFailure(call, result);
    }
    return result;
  }
};

}  // namespace

void putCollectivesOver() {
#define PF_KEEP(Name) \
  putOver(kCall##Name, Kept<kCall##Name, flowOf##Name<int, int>, decltype(&MPI_##Name)>::run)
  PF_KEEP(Bcast);
  PF_KEEP(Gather);
  PF_KEEP(Gatherv);
  PF_KEEP(Scatter);
  PF_KEEP(Scatterv);
  PF_KEEP(Allgather);
  PF_KEEP(Allgatherv);
  PF_KEEP(Alltoall);
  PF_KEEP(Alltoallv);
  PF_KEEP(Alltoallw);
  PF_KEEP(Reduce);
  PF_KEEP(Allreduce);
  PF_KEEP(Reduce_scatter);
  PF_KEEP(Reduce_scatter_block);
  PF_KEEP(Scan);
  PF_KEEP(Exscan);
  PF_KEEP(Neighbor_allgather);
  PF_KEEP(Neighbor_allgatherv);
  PF_KEEP(Neighbor_alltoall);
  PF_KEEP(Neighbor_alltoallv);
  PF_KEEP(Neighbor_alltoallw);
#undef PF_KEEP
#define PF_KEEP(Name, Blocking)                                                            \
  putOver(kCall##Name, KeptLater<kCall##Name, flowOf##Blocking<int, int>, Behind::Request, \
                                 decltype(&MPI_##Name)>::run)
  PF_KEEP(Ibcast, Bcast);
  PF_KEEP(Igather, Gather);
  PF_KEEP(Igatherv, Gatherv);
  PF_KEEP(Iscatter, Scatter);
  PF_KEEP(Iscatterv, Scatterv);
  PF_KEEP(Iallgather, Allgather);
  PF_KEEP(Iallgatherv, Allgatherv);
  PF_KEEP(Ialltoall, Alltoall);
  PF_KEEP(Ialltoallv, Alltoallv);
  PF_KEEP(Ialltoallw, Alltoallw);
  PF_KEEP(Ireduce, Reduce);
  PF_KEEP(Iallreduce, Allreduce);
  PF_KEEP(Ireduce_scatter, Reduce_scatter);
  PF_KEEP(Ireduce_scatter_block, Reduce_scatter_block);
  PF_KEEP(Iscan, Scan);
  PF_KEEP(Iexscan, Exscan);
  PF_KEEP(Ineighbor_allgather, Neighbor_allgather);
  PF_KEEP(Ineighbor_allgatherv, Neighbor_allgatherv);
  PF_KEEP(Ineighbor_alltoall, Neighbor_alltoall);
  PF_KEEP(Ineighbor_alltoallv, Neighbor_alltoallv);
  PF_KEEP(Ineighbor_alltoallw, Neighbor_alltoallw);
#undef PF_KEEP
#define PF_KEEP(Name)                                                                   \
  putOver(kCall##Name##_init,                                                           \
          KeptLater<kCall##Name##_init, flowOf##Name<int, int>, Behind::InfoAndRequest, \
                    decltype(&PF_INIT_OF(Name))>::run);
  PF_WITH_INIT(PF_KEEP)
#undef PF_KEEP
#define PF_KEEP(Name, Posted)                                                                    \
  putOver(                                                                                       \
      kCall##Name##_c,                                                                           \
      Kept<kCall##Name##_c, flowOf##Name<MPI_Count, MPI_Aint>, decltype(&MPI_##Name##_c)>::run); \
  putOver(kCall##Posted##_c, KeptLater<kCall##Posted##_c, flowOf##Name<MPI_Count, MPI_Aint>,     \
                                       Behind::Request, decltype(&MPI_##Posted##_c)>::run);      \
  putOver(kCall##Name##_init_c,                                                                  \
          KeptLater<kCall##Name##_init_c, flowOf##Name<MPI_Count, MPI_Aint>,                     \
                    Behind::InfoAndRequest, decltype(&MPI_##Name##_init_c)>::run);
  PF_WITH_LARGE(PF_KEEP)
#undef PF_KEEP
}

}  // namespace pf
