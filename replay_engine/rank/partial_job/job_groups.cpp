// SPDX-License-Identifier: MIT
#include "replay_engine/rank/partial_job/job_groups.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "replay_engine/rank/layer/under.h"
#include "replay_engine/rank/partial_job/job_errors.h"

namespace pf {
namespace {

// Where the libraries are not of one mind.
int nowhereToPutGroup() {
  return asOpenMpi() ? MPI_ERR_GROUP : MPI_ERR_ARG;
}
int wrongRange() {
  return asOpenMpi() ? MPI_ERR_RANK : MPI_ERR_ARG;
}
/// No ranks to translate, or a negative count.
int wrongTranslation() {
  return asOpenMpi() ? MPI_ERR_GROUP : MPI_ERR_ARG;
}
int tooManyExcluded() {
  return asOpenMpi() ? MPI_ERR_GROUP : MPI_ERR_RANK;
}
/// Any may be translated from it, or to it.
bool emptyHasAnyRank() {
  return asOpenMpi();
}

struct JobGroup {
  int size;
  int ownRank;                         ///< MPI_UNDEFINED: this process is not in it
  std::atomic<std::uint64_t*> sorted;  ///< world rank, rank; made when first looked in
  int world[1];                        ///< and `size - 1` more

  [[nodiscard]] int rankOf(int worldRank);
};

constexpr int kFewMembers = 16;

constexpr std::uint64_t memberKey(int worldRank, std::uint32_t rank) {
  return (std::uint64_t{static_cast<std::uint32_t>(worldRank)} << 32) | rank;
}

const std::uint64_t* sortedMembers(JobGroup& group) {
  std::uint64_t* known = group.sorted.load(std::memory_order_acquire);
  if (known != nullptr) {
    return known;
  }
  const auto size = static_cast<std::uint32_t>(group.size);
  auto* const made = static_cast<std::uint64_t*>(std::malloc(size * sizeof(std::uint64_t)));
  if (made == nullptr) {
    return nullptr;
  }
  for (std::uint32_t i = 0; i < size; ++i) {
    made[i] = memberKey(group.world[i], i);
  }
  std::sort(made, made + size);
  // Another thread may have been quicker.
  if (!group.sorted.compare_exchange_strong(known, made, std::memory_order_acq_rel)) {
    std::free(made);
    return known;
  }
  return made;
}

int JobGroup::rankOf(int worldRank) {
  if (worldRank >= 0 && worldRank < size && world[worldRank] == worldRank) {
    return worldRank;  // as in the group of MPI_COMM_WORLD
  }
  const std::uint64_t* sortedKeys = size > kFewMembers ? sortedMembers(*this) : nullptr;
  if (sortedKeys == nullptr) {
    const int* const found = std::find(world, world + size, worldRank);
    return found == world + size ? MPI_UNDEFINED : static_cast<int>(found - world);
  }
  const std::uint64_t* const end = sortedKeys + size;
  const std::uint64_t* const found = std::lower_bound(sortedKeys, end, memberKey(worldRank, 0));
  const bool is = found != end && (*found >> 32) == static_cast<std::uint32_t>(worldRank);
  return is ? static_cast<int>(*found & 0xFFFFFFFFU) : MPI_UNDEFINED;
}

// -- handles

/// How many there may be at a time. The table is memory that nobody has until it is used.
constexpr std::uint32_t kMostGroups = 1U << 18;
/// A place: 0 was never used; even, the address of a JobGroup; odd, free: behind it the number, from
/// 1, of the place that was freed before.
std::atomic<std::uintptr_t> g_groupPlaces[kMostGroups];
std::uint32_t g_usedGroupPlaces = 0;
std::uintptr_t g_freeGroupPlace = 0;  ///< the last one freed, from 1
std::atomic_flag g_groupPlacesBusy = ATOMIC_FLAG_INIT;
int g_ownWorldRank = MPI_UNDEFINED;
constexpr std::uint32_t kNoGroupPlace = ~0U;

class GroupPlacesLock {
 public:
  GroupPlacesLock() {
    while (g_groupPlacesBusy.test_and_set(std::memory_order_acquire)) {
    }
  }
  ~GroupPlacesLock() { g_groupPlacesBusy.clear(std::memory_order_release); }
  GroupPlacesLock(const GroupPlacesLock&) = delete;
  GroupPlacesLock& operator=(const GroupPlacesLock&) = delete;
};

MPI_Group groupAt(std::uint32_t place) {
  return keptGroup(g_groupPlaces, place);
}
std::uint32_t groupPlace(MPI_Group group) {
  const std::uint32_t place = placeOfGroup(g_groupPlaces, kMostGroups, group);
  return place < kMostGroups ? place : kNoGroupPlace;
}

bool isJobGroup(MPI_Group group) {
  return groupPlace(group) != kNoGroupPlace;
}

/// Null: not ours, or freed.
JobGroup* jobGroup(MPI_Group group) {
  const std::uint32_t place = groupPlace(group);
  const std::uintptr_t kept =
      place == kNoGroupPlace ? 0 : g_groupPlaces[place].load(std::memory_order_acquire);
  return (kept & 1U) == 0 ? reinterpret_cast<JobGroup*>(kept) : nullptr;
}

std::uint32_t keepGroup(JobGroup* group) {
  const GroupPlacesLock lock;
  std::uint32_t place = g_usedGroupPlaces;
  if (g_freeGroupPlace != 0) {
    place = static_cast<std::uint32_t>(g_freeGroupPlace - 1);
    g_freeGroupPlace = g_groupPlaces[place].load(std::memory_order_relaxed) >> 1;
  } else if (place < kMostGroups) {
    ++g_usedGroupPlaces;
  } else {
    return kNoGroupPlace;
  }
  g_groupPlaces[place].store(reinterpret_cast<std::uintptr_t>(group), std::memory_order_release);
  return place;
}

void dropGroup(MPI_Group group) {
  JobGroup* const known = jobGroup(group);
  const std::uint32_t place = groupPlace(group);
  {
    const GroupPlacesLock lock;
    g_groupPlaces[place].store((g_freeGroupPlace << 1) | 1U, std::memory_order_release);
    g_freeGroupPlace = std::uintptr_t{place} + 1;
  }
  std::free(known->sorted.load(std::memory_order_acquire));
  std::free(known);
}

// -- members

constexpr int kNoMembers[1] = {};

struct GroupRanks {
  bool known = false;         ///< ours, or MPI_GROUP_EMPTY
  JobGroup* group = nullptr;  ///< null: MPI_GROUP_EMPTY
  const int* world = kNoMembers;
  int size = 0;

  [[nodiscard]] int rankOf(int worldRank) const {
    return group != nullptr ? group->rankOf(worldRank) : MPI_UNDEFINED;
  }
};

GroupRanks groupMembers(MPI_Group group) {
  if (JobGroup* const known = jobGroup(group); known != nullptr) {
    return {true, known, known->world, known->size};
  }
  return {group == MPI_GROUP_EMPTY};
}

int groupError(int errorClass) {
  return jobError(MPI_COMM_WORLD, errorClass);
}

/// Room for a choice of members, or a mark for each of them.
template <typename Value>
class GroupScratch {
 public:
  explicit GroupScratch(std::size_t count)
      : m_values(static_cast<Value*>(std::calloc(count + 1, sizeof(Value)))) {}
  ~GroupScratch() { std::free(m_values); }
  GroupScratch(const GroupScratch&) = delete;
  GroupScratch& operator=(const GroupScratch&) = delete;

  [[nodiscard]] bool lacks() const { return m_values == nullptr; }
  Value& operator[](int i) { return m_values[i]; }
  void add(Value value) { m_values[m_count++] = value; }
  [[nodiscard]] const Value* values() const { return m_values; }
  [[nodiscard]] int count() const { return m_count; }

 private:
  Value* m_values;
  int m_count = 0;
};

int giveGroup(const GroupScratch<int>& members, MPI_Group* made) {
  const MPI_Group group = makeGroup(members.values(), members.count());
  if (group == MPI_GROUP_NULL) {
    return groupError(MPI_ERR_NO_MEM);
  }
  *made = group;
  return MPI_SUCCESS;
}

// -- questions

int jobGroupSize(MPI_Group group, int* size) {
  if (!isJobGroup(group)) {
    return PF_UNDER(Group_size)(group, size);
  }
  const GroupRanks members = groupMembers(group);
  if (!members.known || size == nullptr) {
    return groupError(members.known ? MPI_ERR_ARG : MPI_ERR_GROUP);
  }
  *size = members.size;
  return MPI_SUCCESS;
}

int jobGroupRank(MPI_Group group, int* rank) {
  if (!isJobGroup(group)) {
    return PF_UNDER(Group_rank)(group, rank);
  }
  const GroupRanks members = groupMembers(group);
  if (!members.known || rank == nullptr) {
    return groupError(members.known ? MPI_ERR_ARG : MPI_ERR_GROUP);
  }
  *rank = members.group->ownRank;
  return MPI_SUCCESS;
}

int jobGroupTranslateRanks(MPI_Group from, int count, const int* ranks, MPI_Group to,
                           int* translated) {
  if (!isJobGroup(from) && !isJobGroup(to)) {
    return PF_UNDER(Group_translate_ranks)(from, count, ranks, to, translated);
  }
  const GroupRanks fromMembers = groupMembers(from);
  const GroupRanks toMembers = groupMembers(to);
  if (!fromMembers.known || !toMembers.known) {
    return groupError(MPI_ERR_GROUP);
  }
  if (count < 0 || (count > 0 && (ranks == nullptr || translated == nullptr))) {
    return groupError(wrongTranslation());
  }
  const bool looksAtRanks = !emptyHasAnyRank() || (fromMembers.size > 0 && toMembers.size > 0);
  for (int i = 0; looksAtRanks && i < count; ++i) {
    if (ranks[i] != MPI_PROC_NULL && (ranks[i] < 0 || ranks[i] >= fromMembers.size)) {
      return groupError(MPI_ERR_RANK);
    }
  }
  // In a group of nobody only MPICH from version 5 on looks for MPI_PROC_NULL.
  if (!looksAtRanks || toMembers.size == 0) {
    const bool looks = !asOpenMpi() && !asMpich4();
    std::transform(ranks, ranks + count, translated, [&](int rank) {
      return looks && rank == MPI_PROC_NULL ? MPI_PROC_NULL : MPI_UNDEFINED;
    });
    return MPI_SUCCESS;
  }
  for (int i = 0; i < count; ++i) {
    translated[i] =
        ranks[i] == MPI_PROC_NULL ? MPI_PROC_NULL : toMembers.rankOf(fromMembers.world[ranks[i]]);
  }
  return MPI_SUCCESS;
}

int jobGroupCompare(MPI_Group one, MPI_Group other, int* result) {
  if (!isJobGroup(one) && !isJobGroup(other)) {
    return PF_UNDER(Group_compare)(one, other, result);
  }
  const GroupRanks left = groupMembers(one);
  const GroupRanks right = groupMembers(other);
  if (!left.known || !right.known || result == nullptr) {
    return groupError(left.known && right.known ? MPI_ERR_ARG : MPI_ERR_GROUP);
  }
  if (left.size != right.size) {
    *result = MPI_UNEQUAL;
    return MPI_SUCCESS;
  }
  const bool same = std::equal(left.world, left.world + left.size, right.world);
  const bool similar = same || std::all_of(left.world, left.world + left.size, [&](int world) {
                         return right.rankOf(world) != MPI_UNDEFINED;
                       });
  *result = same ? MPI_IDENT : similar ? MPI_SIMILAR : MPI_UNEQUAL;
  return MPI_SUCCESS;
}

// -- of two groups

/// Those of `left` that are in `right`, or are not, and behind them those of `right` that are not in
/// `left`.
int combineGroups(MPI_Group one, MPI_Group other, MPI_Group* made, bool inBoth, bool inOneAlone,
                  bool inOtherAlone) {
  const GroupRanks left = groupMembers(one);
  const GroupRanks right = groupMembers(other);
  if (!left.known || !right.known) {
    return groupError(MPI_ERR_GROUP);
  }
  if (made == nullptr) {
    return groupError(nowhereToPutGroup());
  }
  GroupScratch<int> members(static_cast<std::size_t>(left.size) +
                            static_cast<std::size_t>(right.size));
  if (members.lacks()) {
    return groupError(MPI_ERR_NO_MEM);
  }
  for (int i = 0; i < left.size; ++i) {
    if (right.rankOf(left.world[i]) != MPI_UNDEFINED ? inBoth : inOneAlone) {
      members.add(left.world[i]);
    }
  }
  for (int i = 0; inOtherAlone && i < right.size; ++i) {
    if (left.rankOf(right.world[i]) == MPI_UNDEFINED) {
      members.add(right.world[i]);
    }
  }
  return giveGroup(members, made);
}

int jobGroupUnion(MPI_Group one, MPI_Group other, MPI_Group* made) {
  return isJobGroup(one) || isJobGroup(other) ? combineGroups(one, other, made, true, true, true)
                                              : PF_UNDER(Group_union)(one, other, made);
}

int jobGroupIntersection(MPI_Group one, MPI_Group other, MPI_Group* made) {
  return isJobGroup(one) || isJobGroup(other) ? combineGroups(one, other, made, true, false, false)
                                              : PF_UNDER(Group_intersection)(one, other, made);
}

int jobGroupDifference(MPI_Group one, MPI_Group other, MPI_Group* made) {
  return isJobGroup(one) || isJobGroup(other) ? combineGroups(one, other, made, false, true, false)
                                              : PF_UNDER(Group_difference)(one, other, made);
}

// -- of some ranks

/// Ranks of a group that the program has named, in its order and each once.
class NamedRanks {
 public:
  explicit NamedRanks(int size)
      : m_size(size),
        m_marks(static_cast<std::size_t>(size)),
        m_ranks(static_cast<std::size_t>(size)) {}
  [[nodiscard]] bool lacks() const { return m_marks.lacks() || m_ranks.lacks(); }
  /// False: no rank of the group, or named before.
  bool add(std::int64_t rank) {
    if (rank < 0 || rank >= m_size || m_marks[static_cast<int>(rank)] != 0) {
      return false;
    }
    m_marks[static_cast<int>(rank)] = 1;
    m_ranks.add(static_cast<int>(rank));
    return true;
  }
  /// Computed ranks alone have to be in the group, `last` need not be one of them.
  bool addRange(const int (&range)[3]) {
    const std::int64_t first = range[0];
    const std::int64_t last = range[1];
    const std::int64_t stride = range[2];
    if (first < 0 || last < 0 || stride == 0 || (first < last && stride < 0) ||
        (first > last && stride > 0)) {
      return false;
    }
    if (asOpenMpi() && last > m_size) {
      return false;
    }
    for (std::int64_t rank = first; stride > 0 ? rank <= last : rank >= last; rank += stride) {
      if (!add(rank)) {
        return false;
      }
    }
    return true;
  }
  /// A group of them, or of all others.
  int makeOf(const GroupRanks& members, bool others, MPI_Group* made) {
    GroupScratch<int> chosen(static_cast<std::size_t>(m_size));
    if (chosen.lacks()) {
      return groupError(MPI_ERR_NO_MEM);
    }
    for (int i = 0; i < (others ? m_size : m_ranks.count()); ++i) {
      if (!others) {
        chosen.add(members.world[m_ranks[i]]);
      } else if (m_marks[i] == 0) {
        chosen.add(members.world[i]);
      }
    }
    return giveGroup(chosen, made);
  }

 private:
  int m_size;
  GroupScratch<char> m_marks;
  GroupScratch<int> m_ranks;
};

/// What is wrong before one looks at the ranks; MPI_SUCCESS: nothing.
int choiceError(const GroupRanks& members, int count, bool named, MPI_Group* made) {
  return !members.known        ? MPI_ERR_GROUP
         : made == nullptr     ? nowhereToPutGroup()
         : count < 0           ? MPI_ERR_ARG
         : count > 0 && !named ? MPI_ERR_ARG
                               : MPI_SUCCESS;
}

int chooseRanks(MPI_Group group, int count, const int* ranks, bool others, MPI_Group* made) {
  const GroupRanks members = groupMembers(group);
  if (const int error = choiceError(members, count, ranks != nullptr, made); error != MPI_SUCCESS) {
    return groupError(error);
  }
  if (count > members.size) {
    return groupError(others ? tooManyExcluded() : MPI_ERR_RANK);
  }
  NamedRanks named(members.size);
  if (named.lacks()) {
    return groupError(MPI_ERR_NO_MEM);
  }
  for (int i = 0; i < count; ++i) {
    if (!named.add(ranks[i])) {
      return groupError(MPI_ERR_RANK);
    }
  }
  return named.makeOf(members, others, made);
}

int chooseRanges(MPI_Group group, int count, int (*ranges)[3], bool others, MPI_Group* made) {
  const GroupRanks members = groupMembers(group);
  if (const int error = choiceError(members, count, ranges != nullptr, made);
      error != MPI_SUCCESS) {
    return groupError(error);
  }
  NamedRanks named(members.size);
  if (named.lacks()) {
    return groupError(MPI_ERR_NO_MEM);
  }
  for (int i = 0; i < count; ++i) {
    if (!named.addRange(ranges[i])) {
      return groupError(wrongRange());
    }
  }
  return named.makeOf(members, others, made);
}

int jobGroupIncl(MPI_Group group, int count, const int* ranks, MPI_Group* made) {
  return isJobGroup(group) ? chooseRanks(group, count, ranks, false, made)
                           : PF_UNDER(Group_incl)(group, count, ranks, made);
}

int jobGroupExcl(MPI_Group group, int count, const int* ranks, MPI_Group* made) {
  return isJobGroup(group) ? chooseRanks(group, count, ranks, true, made)
                           : PF_UNDER(Group_excl)(group, count, ranks, made);
}

int jobGroupRangeIncl(MPI_Group group, int count, int (*ranges)[3], MPI_Group* made) {
  return isJobGroup(group) ? chooseRanges(group, count, ranges, false, made)
                           : PF_UNDER(Group_range_incl)(group, count, ranges, made);
}

int jobGroupRangeExcl(MPI_Group group, int count, int (*ranges)[3], MPI_Group* made) {
  return isJobGroup(group) ? chooseRanges(group, count, ranges, true, made)
                           : PF_UNDER(Group_range_excl)(group, count, ranges, made);
}

// -- end, and Fortran

/// MPI_GROUP_EMPTY does not go on to the library: Open MPI counts those that it has given, and ours
/// it has not.
int jobGroupFree(MPI_Group* group) {
  if (group == nullptr || (!isJobGroup(*group) && *group != MPI_GROUP_EMPTY)) {
    return PF_UNDER(Group_free)(group);
  }
  if (!groupMembers(*group).known) {
    return groupError(MPI_ERR_GROUP);
  }
  if (isJobGroup(*group)) {
    dropGroup(*group);
  }
  *group = MPI_GROUP_NULL;
  return MPI_SUCCESS;
}

/// Behind all that the library counts.
[[maybe_unused]] constexpr int kFirstGroupNumber = 1 << 28;

#define PF_NUMBER_OF_GROUP(To, From)                                                              \
  int jobGroupNumber(MPI_Group group) {                                                           \
    return jobGroup(group) != nullptr ? kFirstGroupNumber + static_cast<int>(groupPlace(group))   \
                                      : PF_UNDER(To)(isJobGroup(group) ? MPI_GROUP_NULL : group); \
  }                                                                                               \
  MPI_Group jobGroupOfNumber(int number) {                                                        \
    if (number >= kFirstGroupNumber &&                                                            \
        static_cast<std::uint32_t>(number - kFirstGroupNumber) < kMostGroups) {                   \
      const MPI_Group group = groupAt(static_cast<std::uint32_t>(number - kFirstGroupNumber));    \
      if (jobGroup(group) != nullptr) {                                                           \
        return group;                                                                             \
      }                                                                                           \
    }                                                                                             \
    return PF_UNDER(From)(number);                                                                \
  }
PF_GROUP_NUMBERS(PF_NUMBER_OF_GROUP)

}  // namespace

MPI_Group makeGroup(const int* worldRanks, int size) {
  if (size == 0) {
    return MPI_GROUP_EMPTY;
  }
  if (size < 0 || worldRanks == nullptr) {
    return MPI_GROUP_NULL;
  }
  const auto bytes = static_cast<std::size_t>(size) * sizeof(int);
  void* const room = std::calloc(1, sizeof(JobGroup) + bytes);
  if (room == nullptr) {
    return MPI_GROUP_NULL;
  }
  auto* const group = static_cast<JobGroup*>(room);
  group->size = size;
  std::memcpy(group->world, worldRanks, bytes);
  const int* const own = std::find(worldRanks, worldRanks + size, g_ownWorldRank);
  group->ownRank = own == worldRanks + size ? MPI_UNDEFINED : static_cast<int>(own - worldRanks);
  const std::uint32_t place = keepGroup(group);
  if (place == kNoGroupPlace) {
    std::free(room);
    return MPI_GROUP_NULL;
  }
  return groupAt(place);
}

const int* membersOfGroup(MPI_Group group, int* size) {
  const GroupRanks members = groupMembers(group);
  *size = members.size;
  return members.known ? members.world : nullptr;
}

void installGroups(int ownWorldRank) {
  g_ownWorldRank = ownWorldRank;
  PF_PUT_OVER(Group_size, jobGroupSize);
  PF_PUT_OVER(Group_rank, jobGroupRank);
  PF_PUT_OVER(Group_translate_ranks, jobGroupTranslateRanks);
  PF_PUT_OVER(Group_compare, jobGroupCompare);
  PF_PUT_OVER(Group_union, jobGroupUnion);
  PF_PUT_OVER(Group_intersection, jobGroupIntersection);
  PF_PUT_OVER(Group_difference, jobGroupDifference);
  PF_PUT_OVER(Group_incl, jobGroupIncl);
  PF_PUT_OVER(Group_excl, jobGroupExcl);
  PF_PUT_OVER(Group_range_incl, jobGroupRangeIncl);
  PF_PUT_OVER(Group_range_excl, jobGroupRangeExcl);
  PF_PUT_OVER(Group_free, jobGroupFree);
#define PF_PUT_NUMBERS_OVER(To, From) \
  PF_PUT_OVER(To, jobGroupNumber);    \
  PF_PUT_OVER(From, jobGroupOfNumber);
  PF_GROUP_NUMBERS(PF_PUT_NUMBERS_OVER)
}

}  // namespace pf
