// SPDX-License-Identifier: GPL-3.0-or-later
// Which MPI call has failed with what, of a rank that GDB has stopped where its MPI library begins to handle an error
// (MPI-4.0, section 9.3: an error handler is invoked).
#pragma once

#include <functional>

#include <QString>

#include "mi_bridge/fleet.h"

namespace pf::session {

/// `answered` hears "MPI_Recv: MPI_ERR_TRUNCATE"; nothing where GDB cannot tell, or the rank's GDB goes.
void askMpiError(mi::Fleet& fleet, int rank, std::function<void(const QString&)> answered);

}  // namespace pf::session
