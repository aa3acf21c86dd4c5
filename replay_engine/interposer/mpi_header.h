// <mpi.h>, with the predefined handles of Open MPI (objects of its library) looked up at first use:
// to refer to them would keep us from being loaded into processes without MPI, which get the
// preload as well (sh, or python3 before it imports mpi4py).
#pragma once

#include <mpi.h>

namespace pf {
/// The object `name` of the MPI library; ends the process with a clear line if there is none.
void* resolveObject(const char* name);
}  // namespace pf

#ifdef OMPI_PREDEFINED_GLOBAL
#undef OMPI_PREDEFINED_GLOBAL
#define OMPI_PREDEFINED_GLOBAL(type, global)                 \
  (static_cast<type>([]() -> void* {                         \
    static void* known = nullptr; /* several threads ask */  \
    void* found = __atomic_load_n(&known, __ATOMIC_RELAXED); \
    if (found == nullptr) [[unlikely]] {                     \
      found = ::pf::resolveObject(#global);                  \
      __atomic_store_n(&known, found, __ATOMIC_RELAXED);     \
    }                                                        \
    return found;                                            \
  }()))
#endif
