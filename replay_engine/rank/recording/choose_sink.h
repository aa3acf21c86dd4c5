// SPDX-License-Identifier: MIT
#pragma once

namespace pf {

/// How this run is recorded, once its agent has said so and its log is open: sink() from now on.
void chooseSink();

}  // namespace pf
