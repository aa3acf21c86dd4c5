// SPDX-License-Identifier: MIT
#pragma once

namespace pf {

/// How this run is recorded, once its agent has said so and its log is open: recorder() from now on.
void chooseRecorder();

}  // namespace pf
