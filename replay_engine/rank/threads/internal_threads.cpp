// SPDX-License-Identifier: MIT
// Threads that MPI starts for itself: nothing that they do is the program's.
#include <cstdlib>

#include "replay_engine/rank/inputs/system_values.h"

namespace pf {
namespace {

struct Start {
  void* (*routine)(void*);
  void* argument;
};

void* runInside(void* given) {
  const Start start = *static_cast<Start*>(given);
  std::free(given);
  t_depth = 1;
  t_outermost = kNeverLeft;
  return start.routine(start.argument);
}

}  // namespace

int createInternalThread(CreateThread create, pthread_t* thread, const pthread_attr_t* attributes,
                         void* (*routine)(void*), void* argument) {
  auto* start = static_cast<Start*>(std::malloc(sizeof(Start)));
  if (start == nullptr) {
    return create(thread, attributes, routine, argument);
  }
  *start = {routine, argument};
  const int error = create(thread, attributes, runInside, start);
  if (error != 0) {
    std::free(start);
  }
  return error;
}

}  // namespace pf
