// SPDX-License-Identifier: GPL-3.0-or-later
// Each rank cools its part of a rod, until the rod is cool enough. Then rank 0 tells all when it was.
#include <mpi.h>

#include <cstdio>
#include <vector>

class Part {
 public:
  explicit Part(int rank) : m_temperatures(8, 100.0 / (rank + 1)) {}

  // One step of time; the highest temperature that is left.
  double cool() {
    double highest = 0;
    for (double& temperature : m_temperatures) {
      temperature *= 0.5;
      if (temperature > highest) highest = temperature;
    }
    return highest;
  }

 private:
  std::vector<double> m_temperatures;
};

static int stepsUntilCool(Part& part) {
  int steps = 0;
  double here = 100;
  while (here > 10) {
    here = part.cool();
    ++steps;
    double everywhere = 0;
    MPI_Allreduce(&here, &everywhere, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  }
  return steps;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  Part part(rank);
  int steps = stepsUntilCool(part);
  MPI_Bcast(&steps, 1, MPI_INT, 0, MPI_COMM_WORLD);
  if (rank == 0) std::printf("cool after %d steps\n", steps);
  MPI_Finalize();
}
