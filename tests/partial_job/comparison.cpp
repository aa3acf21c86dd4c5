// SPDX-License-Identifier: GPL-3.0-or-later
// comparison SEED OPERATIONS: exit status 1 and a line for each answer that is another one.
#include "tests/partial_job/comparison.h"

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "replay_engine/rank/engine/library_check.h"

namespace pf {

void* g_real[kCallCount];
MpiKind g_implementation = MpiKind::Other;

void* resolveReal(std::uint16_t call) {
  g_real[call] = dlsym(RTLD_DEFAULT, (std::string("P") + kCallNames[call]).c_str());
  return g_real[call];
}

void* resolveObject(const char* name) {
  return dlsym(RTLD_DEFAULT, name);
}

namespace test {
namespace {

int g_compared = 0;
int g_differences = 0;
constexpr int kMostTold = 20;

std::string text(const Ints& numbers) {
  std::string words;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (numbers[i] != kNotWritten) {
      words += " " + std::to_string(numbers[i]);
    }
  }
  return words;
}

int classOf(int error) {
  int errorClass = MPI_SUCCESS;
  PMPI_Error_class(error, &errorClass);
  return errorClass;
}

}  // namespace

void expectSame(const char* call, const Ints& arguments, const Answer& library,
                const Answer& ours) {
  ++g_compared;
  const int classes[] = {classOf(library.error), classOf(ours.error)};
  if (classes[0] == classes[1] && (classes[0] != MPI_SUCCESS || library.numbers == ours.numbers)) {
    return;
  }
  if (++g_differences <= kMostTold) {
    std::printf("rank %d of %d: %s(%s ): the library %d:%s, ours %d:%s\n", g_worldRank, g_worldSize,
                call, text(arguments).c_str(), classes[0], text(library.numbers).c_str(),
                classes[1], text(ours.numbers).c_str());
  }
}

void expectNumbers(const char* what, const Ints& arguments, const Ints& library, const Ints& ours) {
  expectSame(what, arguments, Answer{MPI_SUCCESS, library}, Answer{MPI_SUCCESS, ours});
}

}  // namespace test
}  // namespace pf

int main(int argc, char** argv) {
  using namespace pf::test;
  MPI_Init(&argc, &argv);
  char text[MPI_MAX_LIBRARY_VERSION_STRING] = {};
  int length = 0;
  PMPI_Get_library_version(text, &length);
  pf::g_implementation = pf::mpiVersionOf(text).kind;
  MPI_Comm_size(MPI_COMM_WORLD, &g_worldSize);
  MPI_Comm_rank(MPI_COMM_WORLD, &g_worldRank);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  const auto seed = static_cast<unsigned>(argc > 1 ? std::atoi(argv[1]) : 1);
  const int operations = argc > 2 ? std::atoi(argv[2]) : 2000;
  compareGroups(seed, operations);
  compareTopologies(seed, operations);
  int all[2] = {};
  const int own[2] = {g_compared, g_differences};
  MPI_Allreduce(own, all, 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (g_worldRank == 0) {
    std::printf("%d answers compared, %d differ\n", all[0], all[1]);
  }
  MPI_Finalize();
  return all[0] == 0 || all[1] != 0 ? 1 : 0;
}
