// SPDX-License-Identifier: MIT
// The line of Python that a call of MPI is made from: that of the thread's innermost frame, behind the extension module
// (mpi4py's, petsc4py's) whose code makes the call.
#pragma once

#include <cstdint>

#include "replay_engine/cpython/code_place.h"
#include "replay_engine/protocol/rank_page.h"

namespace pf {

/// Looks for CPython in this process, at MPI_Init; again has no effect.
void findPython();

/// For whoever asks a rank that does not get on. Empty fields: no Python that is known. By the thread of MPI_Init.
void sayPython(RankPage& page);

/// Of this thread. Some five loads, and a call of CPython's that reads a variable of the thread. The interpreter's lock (GIL)
/// is not needed: who stands in a frame keeps it.
cpython::Instruction pythonCaller();

/// Differs between callers; the same code that lies where another one lay before is another caller. 0: none.
std::uint64_t identityOf(const cpython::Instruction& caller);

/// File, function and line of the caller, which this thread is just now; of an import statement, where it is in its
/// machinery. Null: they cannot be read. Good until the next call; the caller has the state's lock.
const cpython::CodePlace* describe(const cpython::Instruction& caller);

}  // namespace pf
