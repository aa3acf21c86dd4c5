// SPDX-License-Identifier: MIT
// The MPI library's own routines: PF_REAL(Recv)(…). Looked up at first use, because a program may
// call MPI before our constructors ran (libmpi_cxx), or load it after start (mpi4py).
#pragma once

#include "mpi_calls.h"

#include <atomic>
#include <cstdint>

#include "replay_engine/rank/engine/mpi_header.h"

namespace pf {

extern void* g_real[kCallCount];
/// The routines of this MPI library that we have wrappers for.
extern const std::uint16_t kWrapped[];
extern const std::uint16_t kWrappedCount;
/// So many of them, the first ones, are in mpi.h; the others are in mpi-ext.h, and a library may be built without them.
extern const std::uint16_t kDeclaredCount;
/// Finds PMPI_X behind us; ends the process with a clear line if there is none (no MPI library at
/// all).
void* resolveReal(std::uint16_t call);
/// Finds another routine behind us, and keeps it in `known`.
void* resolveNext(const char* name, std::atomic<void*>& known);
/// Finds all of them. False: the MPI library does not have every one.
bool resolveAll();

inline void* real(std::uint16_t call) {
  void* found = g_real[call];
  return found != nullptr ? found : resolveReal(call);
}

/// How often this thread has asked MPI for itself: what lies between the engine and MPI (replay_engine/rank/layer) lets
/// that pass, be it a layer's own call, one of MPI's in it, or a look of the engine's that the program knows nothing of.
inline __thread int t_layer __attribute__((tls_model("initial-exec"))) = 0;

class InLayer {
 public:
  InLayer() { ++t_layer; }
  ~InLayer() { --t_layer; }
  InLayer(const InLayer&) = delete;
  InLayer& operator=(const InLayer&) = delete;
};

}  // namespace pf

/// The same where resolveAll() has found them.
#define PF_KNOWN(name) (reinterpret_cast<decltype(&MPI_##name)>(::pf::g_real[::pf::kCall##name]))
#define PF_REAL(name) (reinterpret_cast<decltype(&MPI_##name)>(::pf::real(::pf::kCall##name)))
