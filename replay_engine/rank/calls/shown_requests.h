// SPDX-License-Identifier: MIT
// What the agent needs to see which receives have taken a message while the rank waits in a call
// (RankPage::requests).
#pragma once

namespace pf {

/// At MPI_Init, in a recording.
void showRequests();

}  // namespace pf
