// Threads that MPI starts for itself: nothing that they do is the program's.
#include "environment.h"
#include <pthread.h>

#include <cstdlib>

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
}  // namespace pf

using namespace pf;

PF_LIBC(int, pthread_create, pthread_t* thread, const pthread_attr_t* attributes,
        void* (*routine)(void*), void* argument) {
  auto* start = t_depth > 0 ? static_cast<Start*>(std::malloc(sizeof(Start))) : nullptr;
  if (start == nullptr) {
    return PF_NEXT(pthread_create)(thread, attributes, routine, argument);
  }
  *start = {routine, argument};
  const int error = PF_NEXT(pthread_create)(thread, attributes, runInside, start);
  if (error != 0) {
    std::free(start);
  }
  return error;
}
