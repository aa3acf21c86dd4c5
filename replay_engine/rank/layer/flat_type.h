// SPDX-License-Identifier: MIT
// The basic types that a datatype moves, in their order (MPI 3.1, 4.1: its type signature).
#pragma once

#include "replay_engine/log_format/payload_types.h"
#include "replay_engine/rank/engine/mpi_header.h"

namespace pf {

/// One round of it: n times a type is as that type. No runs: it is too complex, or MPI does not say.
PayloadType flatType(MPI_Datatype type);

}  // namespace pf
