// SPDX-License-Identifier: GPL-3.0-or-later
// The same random calls to an MPI library and to replay_engine/rank/partial_job, and whether both
// answer alike. PMPI_… is the library, PF_REAL(…) ours.
#pragma once

#include "mpi_calls.h"

#include <random>
#include <vector>

#include "replay_engine/rank/engine/mpi_header.h"
#include "replay_engine/rank/engine/real_calls.h"

namespace pf::test {

using Ints = std::vector<int>;

class Random {
 public:
  explicit Random(unsigned seed) : m_engine(seed) {}
  /// From `low` to `high`, both included.
  int from(int low, int high) {
    return low + static_cast<int>(m_engine() % static_cast<unsigned>(high - low + 1));
  }
  bool oneIn(int n) { return from(1, n) == 1; }
  /// Each number from 0 on, in some order.
  Ints permutation(int count) {
    Ints numbers;
    for (int i = 0; i < count; ++i) {
      numbers.insert(numbers.begin() + from(0, i), i);
    }
    return numbers;
  }
  Ints some(int count, int low, int high) {
    Ints numbers(static_cast<std::size_t>(count));
    for (int& number : numbers) {
      number = from(low, high);
    }
    return numbers;
  }

 private:
  std::mt19937 m_engine;
};

/// What is in the place of a number before a call.
inline constexpr int kNotWritten = -77;

inline int sizeOf(const Ints& numbers) {
  return static_cast<int>(numbers.size());
}

/// What a call has returned, and what it has written.
struct Answer {
  int error = MPI_SUCCESS;
  Ints numbers = {};
};

/// Errors are compared by their classes, numbers where there was none.
void expectSame(const char* call, const Ints& arguments, const Answer& library, const Answer& ours);
void expectNumbers(const char* what, const Ints& arguments, const Ints& library, const Ints& ours);

inline int g_worldSize = 0;
inline int g_worldRank = 0;

void compareGroups(unsigned seed, int operations);
void compareTopologies(unsigned seed, int operations);

}  // namespace pf::test
