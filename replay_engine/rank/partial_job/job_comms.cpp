// SPDX-License-Identifier: MIT
#include "replay_engine/rank/partial_job/job_comms.h"

#include <algorithm>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <new>

#include "replay_engine/rank/engine/records.h"
#include "replay_engine/rank/layer/group_members.h"
#include "replay_engine/rank/layer/not_alone.h"
#include "replay_engine/rank/partial_job/job_groups.h"
#include "replay_engine/rank/partial_job/job_requests.h"
#include "replay_engine/rank/partial_job/job_topologies.h"
#include "replay_engine/rank/partial_job/outside.h"
#include "replay_engine/rank/partial_job/real_groups.h"

namespace pf {

void RankList::make(int size) {
  count = size;
  world = static_cast<int*>(std::calloc(static_cast<std::size_t>(size) + 1, sizeof(int)));
  if (world == nullptr) {
    std::abort();  // the program cannot go on without memory either
  }
}

void RankList::release() {
  std::free(world);
  world = nullptr;
  count = 0;
}

int RankList::find(int rank) const {
  int* const end = world + count;
  const int* const place = std::find(world, end, rank);
  return place != end ? static_cast<int>(place - world) : -1;
}

namespace {

HandleMap<JobComm*> g_comms;
MPI_Comm g_world{};  ///< of ours, over all ranks that run
int g_rank = 0;

JobComm* newComm() {
  auto* const made = new (std::nothrow) JobComm;
  if (made == nullptr) {
    std::abort();  // the program cannot go on without memory either
  }
  return made;
}

/// Ranks that run, of these.
int running(const RankList& ranks) {
  return static_cast<int>(std::count_if(ranks.world, ranks.world + ranks.count,
                                        [](int rank) { return g_group.has(rank); }));
}

int* ints(int count) {
  RankList list;
  list.make(count);
  return list.world;
}

/// The carrier of an inter-communicator: its ranks that run, of both groups, in the order of the world.
int placeInUnion(const JobComm& comm, int rank) {
  int place = 0;
  for (int i = 0; i < g_group.count(); ++i) {
    const int each = g_group.member(i);
    if (each == rank) {
      return place;
    }
    place += comm.local.find(each) >= 0 || comm.remote.find(each) >= 0 ? 1 : 0;
  }
  return -1;
}

/// What may be asked of it without MPI.
void describe(JobComm& comm) {
  if (comm.topology.kind == TopologyKind::None) {
    comm.topology = noTopology(comm.local.count, comm.local.find(g_rank));
  }
}

/// Where its peers are in a carrier of this group's ranks, in the communicator's order.
void place(JobComm& comm) {
  const RankList& peers = comm.peers();
  const int size = comm.inter ? running(comm.local) + running(comm.remote) : running(comm.local);
  comm.toCarrier = ints(peers.count);
  comm.carrierSize = size;
  comm.fromCarrier = ints(size);
  std::fill_n(comm.fromCarrier, size, -1);
  int next = 0;
  for (int i = 0; i < peers.count; ++i) {
    comm.toCarrier[i] = -1;
    if (g_group.has(peers.world[i])) {
      const int at = comm.inter ? placeInUnion(comm, peers.world[i]) : next++;
      comm.toCarrier[i] = at;
      if (at >= 0 && at < size) {
        comm.fromCarrier[at] = i;
      }
    }
  }
  describe(comm);
  comm.whole = !comm.inter && next == peers.count && comm.topology.kind == TopologyKind::None;
}

/// One that MPI made of such as are whole: its ranks are MPI's.
JobComm* lookAt(MPI_Comm comm) {
  JobComm* const made = newComm();
  const auto translate = [](MPI_Group group, RankList& list) {
    int size = 0;
    PF_UNDER(Group_size)(group, &size);
    list.make(size);
    recordedRanks(&group, size, list.world);
  };
  MPI_Group group = MPI_GROUP_NULL;
  PF_UNDER(Comm_group)(comm, &group);
  translate(group, made->local);
  int inter = 0;
  PF_UNDER(Comm_test_inter)(comm, &inter);
  if (inter != 0) {
    made->inter = true;
    PF_UNDER(Comm_remote_group)(comm, &group);
    translate(group, made->remote);
  }
  made->whole = true;
  return made;
}

/// What is known of it, if anything.
JobComm* known(MPI_Comm comm) {
  const LayerLock lock;
  JobComm** const entry = g_comms.find(comm);
  return entry != nullptr ? *entry : nullptr;
}

void destroy(JobComm* old) {
  old->local.release();
  old->remote.release();
  std::free(old->toCarrier);
  std::free(old->fromCarrier);
  freeTopology(&old->topology);
  delete old;
}

/// `old`: that it was. The handle may be that of another one by now.
void forget(MPI_Comm comm, JobComm* old) {
  MPI_Comm own = MPI_COMM_NULL;
  {
    const LayerLock lock;
    JobComm** const entry = g_comms.find(comm);
    if (entry == nullptr || *entry != old) {
      return;
    }
    g_comms.erase(comm);
    own = old->own;
    old->freed = true;
    if (old->users == 0) {
      destroy(old);
    }
  }
  if (own != MPI_COMM_NULL) {
    const InLayer inside;
    PF_UNDER(Comm_free)(&own);
  }
}

void keep(MPI_Comm handle, JobComm* comm) {
  forget(handle, known(handle));
  const LayerLock lock;
  g_comms.insert(handle, comm);
}

/// All ranks of it that run are here, and make the one for messages of ours: with the first collective call, they would wait
/// there for one another, where the program had none wait (a rank that gives to the root of an MPI_Gather).
void knowPlaced(MPI_Comm handle, JobComm* comm) {
  keep(handle, comm);
  if (!comm->whole && comm->carrierSize > 1) {
    ownComm(handle, *comm);
  }
}

void know(MPI_Comm handle, JobComm* comm) {
  place(*comm);
  knowPlaced(handle, comm);
}

RankList copyOf(const RankList& from) {
  RankList to;
  to.make(from.count);
  if (from.count != 0) {
    std::memcpy(to.world, from.world, static_cast<std::size_t>(from.count) * sizeof(int));
  }
  return to;
}

int* copyOfInts(const int* from, int count) {
  int* const to = ints(count);
  std::copy_n(from, count, to);
  return to;
}

JobComm* sameAs(const JobComm& from) {
  JobComm* const made = newComm();
  made->local = copyOf(from.local);
  made->remote = copyOf(from.remote);
  made->inter = from.inter;
  made->wide = from.wide;
  made->whole = from.whole;
  made->toCarrier = copyOfInts(from.toCarrier, from.peers().count);
  made->fromCarrier = copyOfInts(from.fromCarrier, from.carrierSize);
  made->carrierSize = from.carrierSize;
  copyTopology(from.topology, &made->topology);
  return made;
}

// -- what is asked of a communicator

int onSize(MPI_Comm comm, int* size) {
  JobComm* const job = partialComm(comm);
  if (job == nullptr) {
    return PF_UNDER(Comm_size)(comm, size);
  }
  *size = job->local.count;
  return MPI_SUCCESS;
}

int onRank(MPI_Comm comm, int* rank) {
  JobComm* const job = partialComm(comm);
  if (job == nullptr) {
    return PF_UNDER(Comm_rank)(comm, rank);
  }
  *rank = job->local.find(g_rank);
  return MPI_SUCCESS;
}

int onRemoteSize(MPI_Comm comm, int* size) {
  JobComm* const job = partialComm(comm);
  if (job == nullptr || !job->inter) {
    return PF_UNDER(Comm_remote_size)(comm, size);
  }
  *size = job->remote.count;
  return MPI_SUCCESS;
}

int onTestInter(MPI_Comm comm, int* flag) {
  JobComm* const job = partialComm(comm);
  if (job == nullptr) {
    return PF_UNDER(Comm_test_inter)(comm, flag);
  }
  *flag = job->inter ? 1 : 0;
  return MPI_SUCCESS;
}

/// Groups are ours, of each communicator: they may be compared.
int onGroup(MPI_Comm comm, MPI_Group* group) {
  JobComm* const job = t_layer == 0 ? jobComm(comm) : nullptr;
  if (job == nullptr) {
    return PF_UNDER(Comm_group)(comm, group);
  }
  *group = makeGroup(job->local.world, job->local.count);
  return MPI_SUCCESS;
}

int onRemoteGroup(MPI_Comm comm, MPI_Group* group) {
  JobComm* const job = t_layer == 0 ? jobComm(comm) : nullptr;
  if (job == nullptr || !job->inter) {
    return PF_UNDER(Comm_remote_group)(comm, group);
  }
  *group = makeGroup(job->remote.world, job->remote.count);
  return MPI_SUCCESS;
}

int compare(const RankList& a, const RankList& b) {
  if (a.count != b.count) {
    return MPI_UNEQUAL;
  }
  if (std::equal(a.world, a.world + a.count, b.world)) {
    return MPI_CONGRUENT;
  }
  return std::is_permutation(a.world, a.world + a.count, b.world) ? MPI_SIMILAR : MPI_UNEQUAL;
}

int onCompare(MPI_Comm a, MPI_Comm b, int* result) {
  JobComm* const first = t_layer == 0 ? jobComm(a) : nullptr;
  JobComm* const second = t_layer == 0 ? jobComm(b) : nullptr;
  if (first == nullptr || second == nullptr || (first->whole && second->whole)) {
    return PF_UNDER(Comm_compare)(a, b, result);
  }
  if (a == b) {
    *result = MPI_IDENT;
  } else if (first->inter != second->inter) {
    *result = MPI_UNEQUAL;
  } else {
    const int local = compare(first->local, second->local);
    const int remote = first->inter ? compare(first->remote, second->remote) : local;
    *result = local == MPI_UNEQUAL || remote == MPI_UNEQUAL   ? MPI_UNEQUAL
              : local == MPI_SIMILAR || remote == MPI_SIMILAR ? MPI_SIMILAR
                                                              : MPI_CONGRUENT;
  }
  return MPI_SUCCESS;
}

// -- constructors

/// MPI makes it by `duplicate()`. The copy functions of the program's attributes see the job: not as a call of MPI's own.
template <typename Duplicate>
int duplicated(MPI_Comm comm, MPI_Comm* made, Duplicate duplicate,
               void (*note)(MPI_Comm, JobComm*) = knowPlaced) {
  JobComm* const job = partialComm(comm);
  const int result = duplicate();
  if (job != nullptr && result == MPI_SUCCESS) {
    note(*made, sameAs(*job));
  }
  return result;
}

int onDup(MPI_Comm comm, MPI_Comm* made) {
  return duplicated(comm, made, [=] { return PF_UNDER(Comm_dup)(comm, made); });
}

int onDupWithInfo(MPI_Comm comm, MPI_Info info, MPI_Comm* made) {
  return duplicated(comm, made, [=] { return PF_UNDER(Comm_dup_with_info)(comm, info, made); });
}

/// It is not to be used yet, also not for messages of ours.
int onIdup(MPI_Comm comm, MPI_Comm* made, MPI_Request* request) {
  return duplicated(
      comm, made, [=] { return PF_UNDER(Comm_idup)(comm, made, request); }, keep);
}

/// A carrier of those ranks of `comm` that run and are in `in` (null: this one is in nothing), in the order of `in`.
int carry(MPI_Comm comm, const RankList* in, MPI_Comm* made) {
  const InLayer inside;
  int color = MPI_UNDEFINED;
  int key = 0;
  if (in != nullptr) {
    color = g_group.worldSize();
    for (int i = 0; i < in->count; ++i) {  // each group has one of its own
      color = g_group.has(in->world[i]) ? std::min(color, in->world[i]) : color;
    }
    key = in->find(g_rank);
  }
  return PF_UNDER(Comm_split)(comm, color, key, made);
}

/// The recording has said so.
[[noreturn]] void refuseOfInter(std::uint16_t call, MPI_Comm comm) {
  notAlone(outermostCall(call), comm);
  outsideDiffers(call, "what a group can do alone", "an inter-communicator with ranks outside");
}

int onCreate(MPI_Comm comm, MPI_Group group, MPI_Comm* made) {
  JobComm* const job = partialComm(comm);
  RankList ranks;
  const int* const members = membersOfGroup(group, &ranks.count);
  if (job == nullptr || members == nullptr) {
    const RealGroup real(group);
    return PF_UNDER(Comm_create)(comm, real.get(), made);
  }
  if (job->inter) {
    refuseOfInter(kCallComm_create, comm);
  }
  ranks.world = const_cast<int*>(members);
  const bool mine = ranks.find(g_rank) >= 0;
  const int result = carry(comm, mine ? &ranks : nullptr, made);
  if (result == MPI_SUCCESS && mine) {
    JobComm* const next = newComm();
    next->local = copyOf(ranks);
    know(*made, next);
  }
  return result;
}

int onCreateGroup(MPI_Comm comm, MPI_Group group, int tag, MPI_Comm* made) {
  RankList ranks;
  const int* const members = membersOfGroup(group, &ranks.count);
  if (t_layer != 0 || members == nullptr || ranks.count == 0) {
    return PF_UNDER(Comm_create_group)(comm, group, tag, made);
  }
  ranks.world = const_cast<int*>(members);
  int result = MPI_SUCCESS;
  {
    const InLayer inside;
    MPI_Group all = MPI_GROUP_NULL;
    MPI_Group real = MPI_GROUP_NULL;
    int* const places = ints(ranks.count);
    int count = 0;
    for (int i = 0; i < ranks.count; ++i) {
      if (g_group.has(members[i])) {
        places[count++] = g_group.runningPlace(members[i]);
      }
    }
    PF_UNDER(Comm_group)(MPI_COMM_WORLD, &all);
    PF_UNDER(Group_incl)(all, count, places, &real);
    result = PF_UNDER(Comm_create_group)(comm, real, tag, made);
    PF_UNDER(Group_free)(&real);
    PF_UNDER(Group_free)(&all);
    std::free(places);
  }
  if (result == MPI_SUCCESS && *made != MPI_COMM_NULL) {
    JobComm* const next = newComm();
    next->local = copyOf(ranks);
    know(*made, next);
  }
  return result;
}

/// The words that a recording kept of a communicator (../group_recording/keep_communicators.cpp).
class MadeComm {
 public:
  explicit MadeComm(std::uint16_t call) : m_call(call) {
    const OutsideEntry entry = takeOutside(PayloadKind::Communicator, call, call, kAny);
    m_at = reinterpret_cast<const int*>(entry.content);
    m_end = m_at + entry.head->size / sizeof(int);
    m_kind = word();
    if (m_kind != 0) {
      ranks(local);
    }
    if (m_kind == 2) {
      ranks(remote);
    }
    if (m_kind < 0 || m_kind > 2 || (m_kind != 0 && local.find(g_rank) < 0)) {
      wrong();
    }
  }
  ~MadeComm() {
    local.release();
    remote.release();
  }
  MadeComm(const MadeComm&) = delete;
  MadeComm& operator=(const MadeComm&) = delete;

  [[nodiscard]] bool isMine() const { return m_kind != 0; }
  [[nodiscard]] bool isInter() const { return m_kind == 2; }
  [[nodiscard]] const int* rest(int* count) const {
    *count = static_cast<int>(m_end - m_at);
    return m_at;
  }
  [[noreturn]] void wrong() const {
    outsideDiffers(m_call, "a communicator as the trace has it", "damaged ranks of it");
  }

  RankList local;
  RankList remote;

 private:
  int word() {
    if (m_at == m_end) {
      wrong();
    }
    return *m_at++;
  }
  void ranks(RankList& list) {
    const int count = word();
    if (count < 0 || count > m_end - m_at) {
      wrong();
    }
    list.make(count);
    std::copy(m_at, m_at + count, list.world);
    m_at += count;
    RankList sorted;
    sorted.make(count);
    std::copy_n(list.world, count, sorted.world);
    std::sort(sorted.world, sorted.world + count);
    const bool good =
        std::adjacent_find(sorted.world, sorted.world + count) == sorted.world + count &&
        (count == 0 || (sorted.world[0] >= 0 && sorted.world[count - 1] < g_group.worldSize()));
    sorted.release();
    if (!good) {
      wrong();
    }
  }

  std::uint16_t m_call;
  const int* m_at = nullptr;
  const int* m_end = nullptr;
  int m_kind = 0;
};

/// Gives the carrier the topology itself, where all ranks of it run.
void carryTopology(MPI_Comm* carrier, const Topology& topology) {
  const InLayer inside;
  MPI_Comm with = MPI_COMM_NULL;
  const auto weightsOf = [](const int* weights) {
    return weights != nullptr ? weights : MPI_UNWEIGHTED;
  };
  int result = MPI_ERR_TOPOLOGY;
  switch (topology.kind) {
    case TopologyKind::None:
      break;
    case TopologyKind::Cartesian:
      result = PF_UNDER(Cart_create)(*carrier, topology.ndims, topology.dims, topology.periods, 0,
                                     &with);
      break;
    case TopologyKind::Graph:
      result =
          PF_UNDER(Graph_create)(*carrier, topology.size, topology.index, topology.edges, 0, &with);
      break;
    case TopologyKind::Distributed:
      result = PF_UNDER(Dist_graph_create_adjacent)(
          *carrier, topology.sourceCount, topology.sources, weightsOf(topology.sourceWeights),
          topology.destinationCount, topology.destinations, weightsOf(topology.destinationWeights),
          MPI_INFO_NULL, 0, &with);
      break;
  }
  if (result == MPI_SUCCESS) {
    MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
    PF_UNDER(Comm_get_errhandler)(*carrier, &handler);
    PF_UNDER(Comm_set_errhandler)(with, handler);
    PF_UNDER(Errhandler_free)(&handler);
    PF_UNDER(Comm_free)(carrier);
    *carrier = with;
  }
}

/// What `call` made of `comm` in the recording. `topology`: that it has.
int makeRecorded(MPI_Comm comm, const MadeComm& recorded, Topology topology, MPI_Comm* made) {
  const int result = carry(comm, recorded.isMine() ? &recorded.local : nullptr, made);
  if (result != MPI_SUCCESS || !recorded.isMine()) {
    freeTopology(&topology);
    return result;
  }
  int size = 0;
  PF_UNDER(Comm_size)(*made, &size);
  if (size != running(recorded.local)) {
    recorded.wrong();
  }
  if (topology.kind != TopologyKind::None && running(recorded.local) == recorded.local.count) {
    carryTopology(made, topology);
    freeTopology(&topology);
    topology = {};
  }
  JobComm* const next = newComm();
  next->local = copyOf(recorded.local);
  next->topology = topology;
  know(*made, next);
  return result;
}

int onSplit(MPI_Comm comm, int color, int key, MPI_Comm* made) {
  const JobComm* const job = partialComm(comm);
  if (job == nullptr) {
    return PF_UNDER(Comm_split)(comm, color, key, made);
  }
  if (job->inter) {
    refuseOfInter(kCallComm_split, comm);
  }
  const int failed = failedAsRecorded(kCallComm_split, comm);
  return failed != MPI_SUCCESS ? failed : makeRecorded(comm, MadeComm(kCallComm_split), {}, made);
}

int onSplitType(MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm* made) {
  return t_layer != 0 || jobComm(comm) == nullptr
             ? PF_UNDER(Comm_split_type)(comm, type, key, info, made)
             : makeRecorded(comm, MadeComm(kCallComm_split_type), {}, made);
}

int onCartCreate(MPI_Comm comm, int dimensions, const int* sizes, const int* periods, int reorder,
                 MPI_Comm* made) {
  const JobComm* const job = partialComm(comm);
  if (job == nullptr) {
    return PF_UNDER(Cart_create)(comm, dimensions, sizes, periods, reorder, made);
  }
  if (const int failed = failedAsRecorded(kCallCart_create, comm); failed != MPI_SUCCESS) {
    return failed;
  }
  const MadeComm recorded(kCallCart_create);
  Topology topology{};
  if (recorded.isMine() && makeCartesian(job->local.count, recorded.local.find(g_rank), dimensions,
                                         sizes, periods, &topology) != MPI_SUCCESS) {
    recorded.wrong();
  }
  return makeRecorded(comm, recorded, topology, made);
}

int onCartSub(MPI_Comm comm, const int* remain, MPI_Comm* made) {
  JobComm* const job = partialComm(comm);
  if (job == nullptr) {
    return PF_UNDER(Cart_sub)(comm, remain, made);
  }
  if (const int failed = failedAsRecorded(kCallCart_sub, comm); failed != MPI_SUCCESS) {
    return failed;
  }
  const MadeComm recorded(kCallCart_sub);
  Topology topology{};
  int color = 0;
  int rank = 0;
  if (recorded.isMine() &&
      (job->topology.kind != TopologyKind::Cartesian ||
       cartSub(job->topology, remain, &color, &rank, &topology) != MPI_SUCCESS)) {
    recorded.wrong();
  }
  return makeRecorded(comm, recorded, topology, made);
}

int onGraphCreate(MPI_Comm comm, int nodes, const int* index, const int* edges, int reorder,
                  MPI_Comm* made) {
  const JobComm* const job = partialComm(comm);
  if (job == nullptr) {
    return PF_UNDER(Graph_create)(comm, nodes, index, edges, reorder, made);
  }
  if (const int failed = failedAsRecorded(kCallGraph_create, comm); failed != MPI_SUCCESS) {
    return failed;
  }
  const MadeComm recorded(kCallGraph_create);
  Topology topology{};
  if (recorded.isMine() && makeGraph(job->local.count, recorded.local.find(g_rank),
                                     {nodes, index, edges}, &topology) != MPI_SUCCESS) {
    recorded.wrong();
  }
  return makeRecorded(comm, recorded, topology, made);
}

int makeDistributed(MPI_Comm comm, std::uint16_t call, MPI_Comm* made) {
  if (const int failed = failedAsRecorded(call, comm); failed != MPI_SUCCESS) {
    return failed;
  }
  const MadeComm recorded(call);
  int count = 0;
  const int* const words = recorded.rest(&count);
  Topology topology{};
  if (recorded.isMine() &&
      !topologyFromWords(words, static_cast<std::size_t>(count), recorded.local.count,
                         recorded.local.find(g_rank), &topology)) {
    recorded.wrong();
  }
  return makeRecorded(comm, recorded, topology, made);
}

int onDistGraph(MPI_Comm comm, int count, const int* nodes, const int* degrees, const int* targets,
                const int* weights, MPI_Info info, int reorder, MPI_Comm* made) {
  return partialComm(comm) == nullptr
             ? PF_UNDER(Dist_graph_create)(comm, count, nodes, degrees, targets, weights, info,
                                           reorder, made)
             : makeDistributed(comm, kCallDist_graph_create, made);
}

int onDistGraphAdjacent(MPI_Comm comm, int in, const int* sources, const int* sourceWeights,
                        int out, const int* targets, const int* weights, MPI_Info info, int reorder,
                        MPI_Comm* made) {
  return partialComm(comm) == nullptr
             ? PF_UNDER(Dist_graph_create_adjacent)(comm, in, sources, sourceWeights, out, targets,
                                                    weights, info, reorder, made)
             : makeDistributed(comm, kCallDist_graph_create_adjacent, made);
}

int onMerge(MPI_Comm comm, int high, MPI_Comm* made) {
  if (partialComm(comm) == nullptr) {
    return PF_UNDER(Intercomm_merge)(comm, high, made);
  }
  const int failed = failedAsRecorded(kCallIntercomm_merge, comm);
  return failed != MPI_SUCCESS ? failed
                               : makeRecorded(comm, MadeComm(kCallIntercomm_merge), {}, made);
}

/// Of two groups that run whole. What the bridge is, the leader alone says.
int connectWhole(MPI_Comm local, int leader, MPI_Comm bridge, int remoteLeader, int tag,
                 MPI_Comm* made) {
  const JobComm* const near = jobComm(local);
  const bool leads = near != nullptr && near->local.find(g_rank) == leader;
  const JobComm* const far = leads ? jobComm(bridge) : nullptr;
  const InLayer inside;
  return PF_UNDER(Intercomm_create)(
      local, near != nullptr && !near->whole ? near->carrierRank(leader) : leader, bridge,
      far != nullptr && !far->whole ? far->carrierRank(remoteLeader) : remoteLeader, tag, made);
}

int onIntercommCreate(MPI_Comm local, int leader, MPI_Comm bridge, int remoteLeader, int tag,
                      MPI_Comm* made) {
  if (t_layer != 0) {
    return PF_UNDER(Intercomm_create)(local, leader, bridge, remoteLeader, tag, made);
  }
  const MadeComm recorded(kCallIntercomm_create);
  if (!recorded.isInter()) {
    recorded.wrong();
  }
  if (running(recorded.local) == recorded.local.count &&
      running(recorded.remote) == recorded.remote.count) {
    return connectWhole(local, leader, bridge, remoteLeader, tag, made);
  }
  JobComm* const next = newComm();
  next->inter = true;
  next->local = copyOf(recorded.local);
  next->remote = copyOf(recorded.remote);
  int result = MPI_SUCCESS;
  {
    const InLayer inside;
    MPI_Group all = MPI_GROUP_NULL;
    MPI_Group both = MPI_GROUP_NULL;
    int* const places = ints(g_group.count());
    int count = 0;
    unsigned hash = 0;
    for (int i = 0; i < g_group.count(); ++i) {
      const int rank = g_group.member(i);
      if (next->local.find(rank) >= 0 || next->remote.find(rank) >= 0) {
        places[count++] = i;
        hash = hash * 31U + static_cast<unsigned>(rank);
      }
    }
    PF_UNDER(Comm_group)(g_world, &all);
    PF_UNDER(Group_incl)(all, count, places, &both);
    result = PF_UNDER(Comm_create_group)(g_world, both, static_cast<int>(hash % 32768U), made);
    PF_UNDER(Group_free)(&both);
    PF_UNDER(Group_free)(&all);
    std::free(places);
    MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
    PF_UNDER(Comm_get_errhandler)(local, &handler);
    PF_UNDER(Comm_set_errhandler)(*made, handler);
    PF_UNDER(Errhandler_free)(&handler);
  }
  know(*made, next);
  return result;
}

/// The program's callbacks for its attributes still see it.
int onFree(MPI_Comm* comm) {
  const MPI_Comm old = *comm;
  JobComm* const job = known(old);
  const int result = PF_UNDER(Comm_free)(comm);
  if (old != MPI_COMM_WORLD) {
    forget(old, job);
  }
  return result;
}

int onDisconnect(MPI_Comm* comm) {
  const MPI_Comm old = *comm;
  JobComm* const job = known(old);
  const int result = PF_UNDER(Comm_disconnect)(comm);
  forget(old, job);
  return result;
}

const Topology* topologyOf(MPI_Comm comm) {
  const JobComm* const job = partialComm(comm);
  return job != nullptr ? &job->topology : nullptr;
}

}  // namespace

JobComm* jobComm(MPI_Comm comm) {
  if (comm == MPI_COMM_NULL) {
    return nullptr;
  }
  const LayerLock lock;
  if (JobComm** const entry = g_comms.find(comm); entry != nullptr) {
    return *entry;
  }
  const InLayer inside;
  return g_comms.insert(comm, lookAt(comm));
}

void holdComm(JobComm* job) {
  if (job != nullptr) {
    ++job->users;
  }
}

void releaseComm(JobComm* job) {
  if (job != nullptr && --job->users == 0 && job->freed) {
    destroy(job);
  }
}

JobComm* partialComm(MPI_Comm comm) {
  JobComm* const job = t_layer == 0 ? jobComm(comm) : nullptr;
  return job != nullptr && !job->whole ? job : nullptr;
}

MPI_Comm ownComm(MPI_Comm comm, JobComm& job) {
  if (job.own == MPI_COMM_NULL) {
    const InLayer inside;
    int rank = 0;
    PF_UNDER(Comm_rank)(comm, &rank);
    PF_UNDER(Comm_split)(comm, g_group.member(0), rank, &job.own);
    PF_UNDER(Comm_set_errhandler)(job.own, MPI_ERRORS_RETURN);
  }
  return job.own;
}

void startComms() {
  const InLayer inside;
  int real = 0;
  PF_UNDER(Comm_rank)(MPI_COMM_WORLD, &real);
  g_rank = g_group.running(real);
  PF_UNDER(Comm_split)(MPI_COMM_WORLD, g_group.member(0), real, &g_world);
  JobComm* const world = newComm();
  world->local.make(g_group.worldSize());
  for (int i = 0; i < g_group.worldSize(); ++i) {
    world->local.world[i] = i;
  }
  place(*world);
  world->wide = g_group.runningCount() > g_group.count();
  if (world->wide) {
    std::free(world->fromCarrier);
    world->carrierSize = g_group.runningCount();
    world->fromCarrier = ints(world->carrierSize);
    for (int i = 0; i < world->carrierSize; ++i) {
      world->fromCarrier[i] = g_group.running(i);
    }
    for (int i = 0; i < g_group.count(); ++i) {
      world->toCarrier[g_group.member(i)] = g_group.runningPlace(g_group.member(i));
    }
  }
  knowPlaced(MPI_COMM_WORLD, world);
}

void putCommsOver() {
  installGroups(g_rank);
  putGroupsOfWindowsOver();
  installTopologies(topologyOf);
  putOver(kCallComm_size, onSize);
  putOver(kCallComm_rank, onRank);
  putOver(kCallComm_remote_size, onRemoteSize);
  putOver(kCallComm_test_inter, onTestInter);
  putOver(kCallComm_group, onGroup);
  putOver(kCallComm_remote_group, onRemoteGroup);
  putOver(kCallComm_compare, onCompare);
  putOver(kCallComm_dup, onDup);
  putOver(kCallComm_dup_with_info, onDupWithInfo);
  putOver(kCallComm_idup, onIdup);
  putOver(kCallComm_create, onCreate);
  putOver(kCallComm_create_group, onCreateGroup);
  putOver(kCallComm_split, onSplit);
  putOver(kCallComm_split_type, onSplitType);
  putOver(kCallCart_create, onCartCreate);
  putOver(kCallCart_sub, onCartSub);
  putOver(kCallGraph_create, onGraphCreate);
  putOver(kCallDist_graph_create, onDistGraph);
  putOver(kCallDist_graph_create_adjacent, onDistGraphAdjacent);
  putOver(kCallIntercomm_create, onIntercommCreate);
  putOver(kCallIntercomm_merge, onMerge);
  putOver(kCallComm_free, onFree);
  putOver(kCallComm_disconnect, onDisconnect);
}

}  // namespace pf
