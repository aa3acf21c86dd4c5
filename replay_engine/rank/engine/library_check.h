// SPDX-License-Identifier: MIT
// Whether the MPI library that this process has loaded is the one that this recorder was built for.
#pragma once

#include <cstddef>

#include "replay_engine/base/mpi_version.h"

namespace pf {

/// Who made the loaded library, by what it says; Other before whyOtherLibrary().
extern MpiKind g_implementation;

/// Null, or in one sentence why calls of the loaded MPI library must not be recorded or replayed:
/// there are two of them, it has another binary interface, it is another library, of another
/// major version, or of a newer MPI standard than the recorder's header, which then lacks some of
/// its routines. Asks the library itself (MPI_Get_library_version, MPI_Get_version: MPI 3.1, 8.1.1).
const char* whyOtherLibrary();

/// What a trace says of its library, into the `size` bytes at `to`: the first line of what the library says of itself (`said`) and,
/// after whyOtherLibrary(), the version of the standard's binary interface where it has that (kAbiMark).
void putLibrary(char* to, std::size_t size, const char* said);
/// The same of a library that has version `abi`; Other: none.
void putLibrary(char* to, std::size_t size, const char* said, MpiVersion abi);

/// The file of the MPI library that is loaded, or "not there".
const char* loadedMpiFile();

/// To be called before MPI_Finalize: what the library unloads in it although a thread of its own may still run there (PMIx 4.2
/// under Open MPI 4.1, which crashes now and then for it) stays loaded.
void keepLoaded();

/// Ends this process with status 1, for the reason `why`. The first one of a session and host says
/// it, on standard error.
[[noreturn]] void endForOtherLibrary(const char* why);

}  // namespace pf
