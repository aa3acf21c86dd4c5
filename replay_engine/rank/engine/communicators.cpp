// SPDX-License-Identifier: MIT
#include "replay_engine/rank/engine/communicators.h"

#include <cstdlib>
#include <cstring>

#include "replay_engine/base/page_marks.h"
#include "replay_engine/rank/engine/engine.h"
#include "replay_engine/rank/engine/real_calls.h"

namespace pf {
namespace {

std::uint64_t mix(std::uint64_t hash, std::uint64_t value) {
  hash ^= value + 0x9E3779B97F4A7C15ULL + (hash << 6) + (hash >> 2);
  return hash * 0xBF58476D1CE4E5B9ULL;
}

/// LaunchContext ranks of a group, in memory that stays.
int* worldRanks(MPI_Group group, int* size) {
  PF_REAL(Group_size)(group, size);
  auto* own = static_cast<int*>(std::malloc(sizeof(int) * static_cast<std::size_t>(*size + 1)));
  auto* world = static_cast<int*>(std::malloc(sizeof(int) * static_cast<std::size_t>(*size + 1)));
  for (int i = 0; i < *size; ++i) {
    own[i] = i;
  }
  MPI_Group all = MPI_GROUP_NULL;
  PF_REAL(Comm_group)(MPI_COMM_WORLD, &all);
  PF_REAL(Group_translate_ranks)(group, *size, own, all, world);
  for (int i = 0; i < *size; ++i) {
    if (world[i] < 0) {  // of another job
      world[i] = -1;     // the log says -1, too
      g_engine.page->claimed.fetch_or(kMetOtherJobs, std::memory_order_relaxed);
    }
  }
  PF_REAL(Group_free)(&all);
  std::free(own);
  return world;
}

void logMembers(const int* members, int size) {
  for (int first = 0; first < size; first += 32) {
    const int n = size - first < 32 ? size - first : 32;
    unsigned char* p =
        putRecord<RecordKind::CommMembers>(g_engine.log.reserve(), {static_cast<std::uint32_t>(n)});
    for (int i = 0; i < n; ++i) {
      p = putVarint(p, static_cast<std::uint32_t>(members[first + i] + 1));
    }
    g_engine.log.commit(p);
  }
}

}  // namespace

void Communicators::start() {
  add(MPI_COMM_WORLD, 0, kCallInit, MPI_COMM_WORLD);
  int rank = 0;
  PF_REAL(Comm_rank)(MPI_COMM_WORLD, &rank);
  add(MPI_COMM_SELF, mix(1, static_cast<std::uint64_t>(rank)), kCallInit, MPI_COMM_SELF);
  m_world = m_known[slotOf(MPI_COMM_WORLD)];
  m_last = m_world;
}

std::uint32_t Communicators::slotOf(MPI_Comm comm) const {
  auto i = static_cast<std::uint32_t>((bitsOf(comm) >> 4) * 0x9E3779B1U >> 7) & (m_capacity - 1);
  while (m_known[i] != nullptr && m_known[i]->handle != comm) {
    i = (i + 1) & (m_capacity - 1);
  }
  return i;
}

void Communicators::insert(KnownCommunicator* known) {
  if ((m_count + 1) * 2 > m_capacity) {
    KnownCommunicator** const old = m_known;
    const std::uint32_t size = m_capacity;
    m_capacity = size == 0 ? 64 : size * 2;
    m_known = static_cast<KnownCommunicator**>(std::calloc(m_capacity, sizeof(KnownCommunicator*)));
    for (std::uint32_t i = 0; i < size; ++i) {
      if (old[i] != nullptr) {
        m_known[slotOf(old[i]->handle)] = old[i];
      }
    }
    std::free(old);
  }
  KnownCommunicator*& slot = m_known[slotOf(known->handle)];
  if (slot != nullptr) {  // a handle that MPI uses again, though its end was not seen
    std::free(const_cast<int*>(slot->world));
    std::free(slot);
    --m_count;
    sink().communicatorFreed();
  }
  slot = known;
  ++m_count;
}

KnownCommunicator& Communicators::lookUp(MPI_Comm comm) {
  if (KnownCommunicator* known = m_known[slotOf(comm)]; known != nullptr) {
    m_last = known;
    return *m_last;
  }
  // Made where it was not seen (a spawned job's parent, a library's own): known by its group alone.
  return add(comm, 0x5EEDULL, kCallComm_group, comm);
}

std::uint32_t Communicators::occurrence(std::uint64_t key) {
  for (std::uint32_t i = 0; i < m_groupKeyCount; ++i) {
    if (m_groupKeys[i].key == key) {
      return ++m_groupKeys[i].times;
    }
  }
  m_groupKeys =
      static_cast<GroupKey*>(std::realloc(m_groupKeys, (m_groupKeyCount + 1) * sizeof(GroupKey)));
  m_groupKeys[m_groupKeyCount++] = GroupKey{key, 1};
  return 1;
}

KnownCommunicator& Communicators::add(MPI_Comm comm, std::uint64_t key, std::uint16_t call,
                                      MPI_Comm groupOf) {
  int inter = 0;
  PF_REAL(Comm_test_inter)(groupOf, &inter);
  MPI_Group local = MPI_GROUP_NULL;
  PF_REAL(Comm_group)(groupOf, &local);
  int localSize = 0;
  int* members = worldRanks(local, &localSize);
  PF_REAL(Group_free)(&local);
  int remoteSize = 0;
  int* remote = nullptr;
  if (inter != 0) {
    MPI_Group group = MPI_GROUP_NULL;
    PF_REAL(Comm_remote_group)(groupOf, &group);
    remote = worldRanks(group, &remoteSize);
    PF_REAL(Group_free)(&group);
  }
  if (key != 0) {
    // Both sides of an inter-communicator hash the same: the group with the lower first rank first.
    const bool swap = inter != 0 && remoteSize > 0 && localSize > 0 && remote[0] < members[0];
    for (int i = 0; i < (swap ? remoteSize : localSize); ++i) {
      key = mix(key, static_cast<std::uint32_t>((swap ? remote : members)[i]));
    }
    for (int i = 0; i < (swap ? localSize : remoteSize); ++i) {
      key = mix(key, 0x100000000ULL | static_cast<std::uint32_t>((swap ? members : remote)[i]));
    }
    key |= 1U;
    if (call == kCallIntercomm_create || call == kCallComm_create_group ||
        call == kCallComm_group) {
      key = mix(key, occurrence(key)) | 1U;
    }
  }
  if (g_engine.log.isOpen()) {
    g_engine.log.put<RecordKind::Comm>({key, call, static_cast<std::uint32_t>(inter),
                                        static_cast<std::uint32_t>(localSize),
                                        static_cast<std::uint32_t>(remoteSize)});
    logMembers(members, localSize);
    logMembers(remote, remoteSize);
    g_engine.log.publish();
  }
  auto* known = static_cast<KnownCommunicator*>(std::calloc(1, sizeof(KnownCommunicator)));
  known->handle = comm;
  known->number = m_numbers++;
  known->key = key;
  known->world = inter != 0 ? remote : members;
  known->peers = inter != 0 ? remoteSize : localSize;
  if (inter != 0) {
    std::free(members);
  }
  insert(known);
  m_last = known;
  return *known;
}

void Communicators::made(MPI_Comm parent, MPI_Comm comm, std::uint16_t call, bool sameGroup) {
  KnownCommunicator& from = of(parent);
  if (call == kCallIntercomm_create || call == kCallComm_create_group) {
    // Not every rank of the parent takes part, or each side has a parent of its own: the groups and
    // how often name it.
    if (comm != MPI_COMM_NULL) {
      add(comm, (call == kCallIntercomm_create ? call : mix(from.key, call)) | 1U, call, comm);
    }
    return;
  }
  const std::uint64_t key = mix(mix(from.key | 2U, call), ++from.made);
  if (comm != MPI_COMM_NULL) {
    add(comm, key | 1U, call, sameGroup ? parent : comm);
  }
}

void Communicators::freed(MPI_Comm comm) {
  const std::uint32_t hole = slotOf(comm);
  if (m_known[hole] == nullptr || comm == MPI_COMM_WORLD || comm == MPI_COMM_SELF) {
    return;
  }
  KnownCommunicator* const known = m_known[hole];
  const MPI_Comm other = retiredComm(m_retired + 1, known);
  switch (g_engine.requests.retire(comm, other)) {
    case Retired::None:
      std::free(const_cast<int*>(known->world));
      remove(hole);
      std::free(known);
      return;
    case Retired::Some:
      remove(hole);
      ++m_retired;
      known->handle = other;
      known->retired = true;
      insert(known);
      return;
    case Retired::Persistent:  // it lives as long as they do
      return;
  }
}

void Communicators::remove(std::uint32_t hole) {
  m_known[hole] = nullptr;
  --m_count;
  m_last = m_world;
  // What was pushed behind the hole moves up, so that every probe sequence is whole.
  for (std::uint32_t i = (hole + 1) & (m_capacity - 1); m_known[i] != nullptr;
       i = (i + 1) & (m_capacity - 1)) {
    KnownCommunicator* const moved = m_known[i];
    m_known[i] = nullptr;
    m_known[slotOf(moved->handle)] = moved;
  }
}

}  // namespace pf
