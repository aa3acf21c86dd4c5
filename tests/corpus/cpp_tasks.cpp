// SPDX-License-Identifier: GPL-3.0-or-later
// Results of different lengths, probed with a wildcard, collected in a container of the C++ library.
#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include <mpi.h>

namespace {

constexpr int kTag = 4;

struct Result {
  int source;
  std::string text;
};

Result takeNext() {
  MPI_Status status;
  int length = 0;
  MPI_Probe(MPI_ANY_SOURCE, kTag, MPI_COMM_WORLD, &status);
  MPI_Get_count(&status, MPI_CHAR, &length);
  std::string text(static_cast<std::size_t>(length), '\0');
  MPI_Recv(text.data(), length, MPI_CHAR, status.MPI_SOURCE, kTag, MPI_COMM_WORLD,
           MPI_STATUS_IGNORE);
  return {status.MPI_SOURCE, text};
}

}  // namespace

int main(int argc, char** argv) {
  int rank = 0;
  int size = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (rank == 0) {
    std::vector<Result> results;
    for (int i = 1; i < size; ++i)
      results.push_back(takeNext());
    std::string line;
    for (const Result& result : results)
      line += " " + std::to_string(result.source) + "=" + result.text;
    const auto longest = std::max_element(
        results.begin(), results.end(),
        [](const Result& a, const Result& b) { return a.text.size() < b.text.size(); });
    std::printf("rank 0:%s longest %s\n", line.c_str(), longest->text.c_str());
  } else {
    const std::string text(static_cast<std::size_t>(2 + rank), static_cast<char>('a' + rank));
    MPI_Send(text.data(), static_cast<int>(text.size()), MPI_CHAR, 0, kTag, MPI_COMM_WORLD);
  }
  MPI_Finalize();
  return 0;
}
