// SPDX-License-Identifier: MIT
#include "replay_engine/rank/partial_job/real_groups.h"

#include <algorithm>
#include <cstdlib>

#include "replay_engine/rank/layer/group_members.h"
#include "replay_engine/rank/layer/under.h"
#include "replay_engine/rank/partial_job/job_errors.h"
#include "replay_engine/rank/partial_job/job_groups.h"

namespace pf {
namespace {

class Ranks {
 public:
  explicit Ranks(int size)
      : m_ranks(
            static_cast<int*>(std::malloc((static_cast<std::size_t>(size) + 1) * sizeof(int)))) {
    if (m_ranks == nullptr) {
      std::abort();  // the program cannot go on without memory either
    }
  }
  ~Ranks() { std::free(m_ranks); }
  Ranks(const Ranks&) = delete;
  Ranks& operator=(const Ranks&) = delete;

  [[nodiscard]] int* get() { return m_ranks; }

 private:
  int* m_ranks;
};

/// The ranks that run, as MPI numbers them.
class AllThatRun {
 public:
  AllThatRun() { PF_UNDER(Comm_group)(MPI_COMM_WORLD, &m_group); }
  ~AllThatRun() { PF_UNDER(Group_free)(&m_group); }
  AllThatRun(const AllThatRun&) = delete;
  AllThatRun& operator=(const AllThatRun&) = delete;

  [[nodiscard]] MPI_Group get() const { return m_group; }

 private:
  MPI_Group m_group = MPI_GROUP_NULL;
};

}  // namespace

RealGroup::RealGroup(MPI_Group group) : m_real(group) {
  int size = 0;
  const int* const world = t_layer == 0 ? membersOfGroup(group, &size) : nullptr;
  if (world == nullptr || size == 0) {
    return;  // MPI_GROUP_EMPTY is MPI's
  }
  m_real = MPI_GROUP_NULL;
  if (!std::all_of(world, world + size, [](int rank) { return g_group.runningPlace(rank) >= 0; })) {
    return;
  }
  Ranks places(size);
  std::transform(world, world + size, places.get(),
                 [](int rank) { return g_group.runningPlace(rank); });
  const InLayer inside;
  const AllThatRun all;
  m_made = PF_UNDER(Group_incl)(all.get(), size, places.get(), &m_real) == MPI_SUCCESS;
}

RealGroup::~RealGroup() {
  if (m_made) {
    const InLayer inside;
    PF_UNDER(Group_free)(&m_real);
  }
}

void recordedRanks(MPI_Group* real, int size, int* ranks) {
  const InLayer inside;
  const AllThatRun all;
  Ranks own(size);
  for (int i = 0; i < size; ++i) {
    own.get()[i] = i;
  }
  PF_UNDER(Group_translate_ranks)(*real, size, own.get(), all.get(), ranks);
  std::transform(ranks, ranks + size, ranks, [](int running) {
    return running >= 0 && running < g_group.runningCount() ? g_group.running(running) : -1;
  });
  PF_UNDER(Group_free)(real);
}

namespace {

int onWinStart(MPI_Group group, int assertion, MPI_Win window) {
  const RealGroup real(group);
  return PF_UNDER(Win_start)(real.get(), assertion, window);
}

int onWinPost(MPI_Group group, int assertion, MPI_Win window) {
  const RealGroup real(group);
  return PF_UNDER(Win_post)(real.get(), assertion, window);
}

/// MPI answers with a group of its own: `ask`(). MPICH's files ask MPI_Comm_group() for it, which would give one of ours.
template <typename Ask>
int asOurs(MPI_Group* group, Ask ask) {
  if (t_layer != 0) {
    return ask();
  }
  int size = 0;
  {
    const InLayer inside;
    if (const int result = ask(); result != MPI_SUCCESS) {
      return result;
    }
    PF_UNDER(Group_size)(*group, &size);
  }
  Ranks world(size);
  recordedRanks(group, size, world.get());
  *group = makeGroup(world.get(), size);
  return *group != MPI_GROUP_NULL ? MPI_SUCCESS : jobError(MPI_COMM_WORLD, MPI_ERR_NO_MEM);
}

int onWinGetGroup(MPI_Win window, MPI_Group* group) {
  return asOurs(group, [=] { return PF_UNDER(Win_get_group)(window, group); });
}

int onFileGetGroup(MPI_File file, MPI_Group* group) {
  return asOurs(group, [=] { return PF_UNDER(File_get_group)(file, group); });
}

}  // namespace

void putGroupsOfWindowsOver() {
  putOver(kCallWin_start, onWinStart);
  putOver(kCallWin_post, onWinPost);
  putOver(kCallWin_get_group, onWinGetGroup);
  putOver(kCallFile_get_group, onFileGetGroup);
}

}  // namespace pf
