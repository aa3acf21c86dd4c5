// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cstdlib>

#include "replay_engine/rank/engine/contents.h"
#include "replay_engine/rank/engine/given.h"
#include "replay_engine/rank/engine/records.h"
#include "replay_engine/rank/engine/wrapper_support.h"
#include "replay_engine/rank/layer/group_members.h"

namespace pf {
namespace {

/// `number`: of a non-blocking collective. What `clock` gives to others is what the rank knows at
/// this event.
const CallPlace& begin(const CallPlace& place, RecordKind kind, MPI_Comm comm, CollectiveFlow flow,
                       int root, bool contributes, bool takes, const Contents& given,
                       std::uint32_t* number, CollectiveClock* clock) {
  const StateLock lock;
  // MPI will refuse it; or only some ranks of `comm` take part, and nobody knows in which.
  if (comm == MPI_COMM_NULL || place.call == kCallComm_create_group) {
    beginEvent(place);
    sink().local(place);
    return place;
  }
  if (isInter(comm)) {
    flow = CollectiveFlow::
        None;  // a rank hears of the other group only, and no record says which is whose
  }
  beginEvent(place, comm, root >= 0 ? root : kNoPeer, 0);
  if (kind == RecordKind::CollectivePost) {
    *number = g_engine.postedCollectives++;
  }
  *clock = sink().enters(place, kind, {comm, flow, root, contributes, takes}, given);
  compareGiven(place, given);
  return place;
}

}  // namespace

CollectiveEvent::CollectiveEvent(const CallPlace& place, MPI_Comm comm, CollectiveFlow flow,
                                 int root, bool contributes, bool takes, const Contents& given)
    : m_endsLater(g_engine.threads && comm != MPI_COMM_NULL &&
                  place.call != kCallComm_create_group),
      m_place(begin(place, m_endsLater ? RecordKind::CollectivePost : RecordKind::Collective, comm,
                    flow, root, contributes, takes, given, &m_number, &m_clock)),
      m_comm(comm),
      m_inCall(place, RecordKind::Padding, comm, kNoPeer, -1) {}

void CollectiveEvent::waitsForRoot(int root) {
  sayPeer(m_comm, root, -1);
}

void CollectiveEvent::waitsForAll() {
  if (!g_engine.threads && m_comm == MPI_COMM_WORLD) {
    g_engine.page->waitPeer.store(kWaitsForAll, std::memory_order_relaxed);
  }
}

CollectiveEvent::~CollectiveEvent() {
  const StateLock lock;
  if (m_endsLater) [[unlikely]] {
    beginEvent(m_place);
  }
  if (m_comm != MPI_COMM_NULL) {
    sink().leaves(m_comm, m_clock);
  }
  if (m_endsLater) [[unlikely]] {
    sink().collectiveDone(m_place, m_number);
  }
}

namespace {

/// Where the recording had ranks with several threads, the ranks of a new communicator meet before
/// MPI makes it. The numbers of communicators are one resource: Open MPI lets a thread that makes
/// one wait, in the middle of it, for another that does so on an older communicator. In the
/// recording that one came later, or its partners were there; in a replay they may be waiting for
/// their turn, behind the first thread's. So nobody is in the middle of it alone.
bool meets() {
  return g_engine.choices.isOpen() && g_engine.choices.header().threads != 0;
}

/// Whether all of `comm` are ranks of this replay; its group, to meet by MPI_Barrier.
bool isOurs(MPI_Comm comm) {
  int inter = 1;
  if (comm == MPI_COMM_NULL || PF_REAL(Comm_test_inter)(comm, &inter) != MPI_SUCCESS ||
      inter != 0) {
    return false;
  }
  const StateLock lock;
  const KnownCommunicator& known = g_engine.comms.of(comm);
  for (int i = 0; i < known.peers; ++i) {
    if (known.world[i] < 0) {
      return false;
    }
  }
  return true;
}

/// In a replay of few ranks, the others are not met.
bool isHere(int worldRank) {
  return (g_engine.page->launchMode & kReplayGroup) == 0 || g_group.has(worldRank);
}

/// A barrier of the ranks of `group`, on a communicator of ours: each tells another that it is
/// there, and what it has heard (Hensgen, Finkel and Manber, 1988).
void meet(MPI_Group group, int tag) {
  int size = 0;
  int rank = MPI_UNDEFINED;
  if (group == MPI_GROUP_NULL || PF_REAL(Group_size)(group, &size) != MPI_SUCCESS ||
      PF_REAL(Group_rank)(group, &rank) != MPI_SUCCESS || rank == MPI_UNDEFINED) {
    return;
  }
  auto* const world =
      static_cast<int*>(std::malloc(2 * static_cast<std::size_t>(size) * sizeof(int)));
  if (world == nullptr) {
    std::abort();  // the program cannot go on without memory either
  }
  int* const own = world + size;
  for (int i = 0; i < size; ++i) {
    own[i] = i;
  }
  MPI_Group all = MPI_GROUP_NULL;
  PF_REAL(Comm_group)(g_engine.meeting, &all);
  PF_REAL(Group_translate_ranks)(group, size, own, all, world);
  PF_REAL(Group_free)(&all);
  const int mine = world[rank];
  int* const end = std::remove_if(world, world + size, [](int each) { return !isHere(each); });
  const int count = static_cast<int>(end - world);
  const int place = static_cast<int>(std::find(world, end, mine) - world);
  for (int distance = 1; distance < count && std::find(world, end, MPI_UNDEFINED) == end;
       distance *= 2) {
    PF_REAL(Sendrecv)
    (nullptr, 0, MPI_BYTE, world[(place + distance) % count], tag, nullptr, 0, MPI_BYTE,
     world[(place - distance + count) % count], tag, g_engine.meeting, MPI_STATUS_IGNORE);
  }
  std::free(world);
}

}  // namespace

void CollectiveEvent::makes() {
  if (meets() && isOurs(m_comm)) [[unlikely]] {
    PF_REAL(Barrier)(m_comm);
  }
}

void CollectiveEvent::makes(MPI_Group group, int tag) {
  if (meets() && isOurs(m_comm)) [[unlikely]] {
    std::uint64_t key = 0;
    {
      const StateLock lock;
      key = g_engine.comms.of(m_comm).key;
    }
    constexpr std::uint32_t kTags = 32768;  // MPI_TAG_UB is at least 32767
    meet(group, static_cast<int>(
                    (key ^ std::uint32_t{static_cast<std::uint32_t>(tag) * 0x9E3779B9U}) % kTags));
  }
}

void CollectiveEvent::made(int result, const MPI_Comm* comm) {
  if (result == MPI_SUCCESS) {
    const StateLock lock;
    g_engine.comms.made(m_comm, *comm, m_place.call, false);
  }
}

PostedCollective::PostedCollective(const CallPlace& place, MPI_Comm comm, CollectiveFlow flow,
                                   int root, bool contributes, bool takes, const Contents& given)
    : m_place(begin(place, RecordKind::CollectivePost, comm, flow, root, contributes, takes, given,
                    &m_number, &m_clock)),
      m_comm(comm) {}

void PostedCollective::made(int result, const MPI_Comm* comm) {
  if (result == MPI_SUCCESS) {
    const StateLock lock;
    g_engine.comms.made(m_comm, *comm, m_place.call, true);
  }
}

void PostedCollective::posted(int result, const MPI_Request* request) {
  if (result == MPI_SUCCESS) {
    const StateLock lock;
    sink().collectivePosted(*request, m_number, m_comm, m_clock);
  }
}

DestructorEvent::DestructorEvent(const CallPlace& place, const MPI_Comm* comm) {
  const StateLock lock;
  if (comm != nullptr && *comm != MPI_COMM_NULL) {
    beginEvent(place);
    sink().local(place);
    g_engine.comms.freed(*comm);
    sink().communicatorFreed();
  }
}

}  // namespace pf
