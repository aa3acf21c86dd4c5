// SPDX-License-Identifier: MIT
// Errors of calls that MPI does not see.
#pragma once

#include "replay_engine/rank/engine/real_calls.h"

namespace pf {

/// Tells the error handler of the communicator, as the library would; returns `errorClass`.
inline int jobError(MPI_Comm comm, int errorClass) {
  if (worldHasErrors()) {
    // MPI_COMM_SELF and its duplicates have no handler if none was set. An error that is told like this would end the process.
    MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
    PF_REAL(Comm_get_errhandler)(comm, &handler);
    if (handler == MPI_ERRORS_ARE_FATAL) {
      comm = MPI_COMM_WORLD;
    } else if (handler != MPI_ERRHANDLER_NULL && handler != MPI_ERRORS_RETURN) {
      PF_REAL(Errhandler_free)(&handler);
    }
  }
  PF_REAL(Comm_call_errhandler)(comm, errorClass);
  return errorClass;
}

}  // namespace pf
