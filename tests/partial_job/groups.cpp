// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <cstdlib>

#include "replay_engine/rank/partial_job/job_groups.h"
#include "tests/partial_job/comparison.h"

namespace pf::test {
namespace {

/// The same group of the library and of ours.
struct Pair {
  MPI_Group library = MPI_GROUP_NULL;
  MPI_Group ours = MPI_GROUP_NULL;
};

class Groups {
 public:
  explicit Groups(unsigned seed) : m_random(seed) {
    PMPI_Comm_group(MPI_COMM_WORLD, &m_world);
    begin();
  }
  ~Groups() {
    for (Pair& pair : m_pairs) {
      release(&pair);
    }
    PMPI_Group_free(&m_world);
  }

  void step() {
    switch (m_random.from(0, 9)) {
      case 0:
        ofTwo("union", PMPI_Group_union, PF_REAL(Group_union));
        break;
      case 1:
        ofTwo("intersection", PMPI_Group_intersection, PF_REAL(Group_intersection));
        break;
      case 2:
        ofTwo("difference", PMPI_Group_difference, PF_REAL(Group_difference));
        break;
      case 3:
        ofRanks("incl", PMPI_Group_incl, PF_REAL(Group_incl));
        break;
      case 4:
        ofRanks("excl", PMPI_Group_excl, PF_REAL(Group_excl));
        break;
      case 5:
        ofRanges("range_incl", PMPI_Group_range_incl, PF_REAL(Group_range_incl));
        break;
      case 6:
        ofRanges("range_excl", PMPI_Group_range_excl, PF_REAL(Group_range_excl));
        break;
      case 7:
        translate();
        break;
      case 8:
        compare();
        break;
      default:
        begin();
        break;
    }
    if (m_pairs.size() > 40) {
      const auto drop = m_pairs.begin() + m_random.from(1, 40);
      release(&*drop);
      m_pairs.erase(drop);
    }
  }

 private:
  /// From the ranks that the library's group has.
  void begin() {
    Pair pair;
    const Ints ranks = m_random.permutation(g_worldSize);
    PMPI_Group_incl(m_world, m_random.oneIn(10) ? 0 : m_random.from(1, g_worldSize), ranks.data(),
                    &pair.library);
    const Ints members = membersIn(pair.library);
    pair.ours = makeGroup(members.data(), sizeOf(members));
    keep(pair);
  }

  Ints membersIn(MPI_Group group) {
    int size = 0;
    PMPI_Group_size(group, &size);
    Ints ranks(static_cast<std::size_t>(size));
    for (int i = 0; i < size; ++i) {
      ranks[static_cast<std::size_t>(i)] = i;
    }
    Ints members(ranks.size());
    PMPI_Group_translate_ranks(group, size, ranks.data(), m_world, members.data());
    return members;
  }

  Pair& any() { return m_pairs[static_cast<std::size_t>(m_random.from(0, count() - 1))]; }
  int count() const { return static_cast<int>(m_pairs.size()); }

  void keep(const Pair& pair) {
    int size = 0;
    const int* const members = membersOfGroup(pair.ours, &size);
    int sizes[2] = {};
    int ranks[2] = {};
    PMPI_Group_size(pair.library, &sizes[0]);
    PF_REAL(Group_size)(pair.ours, &sizes[1]);
    PMPI_Group_rank(pair.library, &ranks[0]);
    PF_REAL(Group_rank)(pair.ours, &ranks[1]);
    expectNumbers("members", {}, membersIn(pair.library), Ints(members, members + size));
    expectNumbers("size, rank, whether empty", {},
                  {sizes[0], ranks[0], pair.library == MPI_GROUP_EMPTY},
                  {sizes[1], ranks[1], pair.ours == MPI_GROUP_EMPTY});
#define PF_EXPECT_NUMBER(To, From) \
  expectNumbers(#From, {}, Ints{1}, {PF_REAL(From)(PF_REAL(To)(pair.ours)) == pair.ours});
    PF_GROUP_NUMBERS(PF_EXPECT_NUMBER)
    m_pairs.push_back(pair);
  }

  static void release(Pair* pair) {
    expectSame("free", {}, {PMPI_Group_free(&pair->library), {pair->library == MPI_GROUP_NULL}},
               {PF_REAL(Group_free)(&pair->ours), {pair->ours == MPI_GROUP_NULL}});
  }

  void keepIfMade(const char* call, const Ints& arguments, int libraryError, int oursError,
                  const Pair& made) {
    expectSame(call, arguments, {libraryError}, {oursError});
    if (libraryError == MPI_SUCCESS && oursError == MPI_SUCCESS) {
      keep(made);
    }
  }

  template <typename Library, typename Ours>
  void ofTwo(const char* call, Library library, Ours ours) {
    const Pair one = any();
    const Pair other = any();
    Pair made;
    const int errors[] = {library(one.library, other.library, &made.library),
                          ours(one.ours, other.ours, &made.ours)};
    keepIfMade(call, {}, errors[0], errors[1], made);
  }

  template <typename Library, typename Ours>
  void ofRanks(const char* call, Library library, Ours ours) {
    const Pair of = any();
    int size = 0;
    PMPI_Group_size(of.library, &size);
    Ints ranks = m_random.permutation(size);
    ranks.resize(static_cast<std::size_t>(m_random.from(0, size)));
    if (!ranks.empty() && m_random.oneIn(8)) {  // a wrong one
      ranks.back() = m_random.oneIn(2) ? size : -1;
    }
    const auto left = static_cast<std::size_t>(size) - ranks.size();
    if (ranks.empty() || left > 0) {  // Open MPI looks at no rank if all are excluded
      Pair made;
      const int errors[] = {library(of.library, sizeOf(ranks), ranks.data(), &made.library),
                            ours(of.ours, sizeOf(ranks), ranks.data(), &made.ours)};
      keepIfMade(call, ranks, errors[0], errors[1], made);
    }
  }

  /// Open MPI takes the rank behind the last one, and what lies there in its memory.
  static bool beyond(const int (&range)[3], int size) {
    const bool up = range[0] <= range[1];
    const int stride = range[0] == range[1] ? size + 1 : range[2];
    if (stride == 0 || up != (stride > 0)) {
      return false;
    }
    for (int rank = range[0]; up ? rank <= range[1] : rank >= range[1]; rank += stride) {
      if (rank >= size) {
        return true;
      }
    }
    return false;
  }

  template <typename Library, typename Ours>
  void ofRanges(const char* call, Library library, Ours ours) {
    const Pair of = any();
    int size = 0;
    PMPI_Group_size(of.library, &size);
    int ranges[3][3] = {};
    const int used = m_random.from(0, 3);
    Ints arguments{size, used};
    for (auto& range : ranges) {
      range[0] = m_random.from(m_random.oneIn(10) ? -1 : 0, std::max(size, 1));
      range[1] = m_random.from(m_random.oneIn(10) ? -1 : 0, std::max(size, 1) + 1);
      range[2] = m_random.from(1, 4) * (range[0] > range[1] ? -1 : 1);
      range[2] = m_random.oneIn(10) ? m_random.from(-1, 1) : range[2];
      arguments.insert(arguments.end(), range, range + 3);
    }
    if (asOpenMpi() && std::any_of(ranges, ranges + used,
                                   [size](const int(&range)[3]) { return beyond(range, size); })) {
      return;
    }
    Pair made;
    const int errors[] = {library(of.library, used, ranges, &made.library),
                          ours(of.ours, used, ranges, &made.ours)};
    keepIfMade(call, arguments, errors[0], errors[1], made);
  }

  void translate() {
    const Pair from = any();
    const Pair to = any();
    int size = 0;
    PMPI_Group_size(from.library, &size);
    Ints ranks = m_random.some(m_random.from(0, 9), 0, size - 1 + (size == 0 ? 1 : 0));
    for (int& rank : ranks) {
      // Open MPI looks in its memory for any number.
      rank = m_random.oneIn(5) || size == 0       ? MPI_PROC_NULL
             : !asOpenMpi() && m_random.oneIn(20) ? m_random.from(0, 1) * (size + 5) - 5
                                                  : rank;
    }
    Answer answers[] = {{0, Ints(ranks.size())}, {0, Ints(ranks.size())}};
    answers[0].error = PMPI_Group_translate_ranks(from.library, sizeOf(ranks), ranks.data(),
                                                  to.library, answers[0].numbers.data());
    answers[1].error = PF_REAL(Group_translate_ranks)(from.ours, sizeOf(ranks), ranks.data(),
                                                      to.ours, answers[1].numbers.data());
    expectSame("translate_ranks", ranks, answers[0], answers[1]);
  }

  void compare() {
    const Pair one = any();
    const Pair other = any();
    Answer answers[] = {{0, Ints(1)}, {0, Ints(1)}};
    answers[0].error = PMPI_Group_compare(one.library, other.library, answers[0].numbers.data());
    answers[1].error = PF_REAL(Group_compare)(one.ours, other.ours, answers[1].numbers.data());
    expectSame("compare", {}, answers[0], answers[1]);
  }

  Random m_random;
  MPI_Group m_world = MPI_GROUP_NULL;
  std::vector<Pair> m_pairs;
};

}  // namespace

void compareGroups(unsigned seed, int operations) {
  installGroups(g_worldRank);
  Groups groups(seed * 1000 + static_cast<unsigned>(g_worldRank));
  for (int i = 0; i < operations; ++i) {
    groups.step();
  }
}

}  // namespace pf::test
