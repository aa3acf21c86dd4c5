// SPDX-License-Identifier: GPL-3.0-or-later
// What the response to 'initialize' promises. Pure.
#pragma once

#include "app/dap/wire/dap_messages.h"

namespace pf::headless {

/// The filter of exceptions for MPI calls that fail.
inline constexpr const char* kMpiErrorFilter = "mpi";

[[nodiscard]] Json capabilities();

}  // namespace pf::headless
