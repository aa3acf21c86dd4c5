// SPDX-License-Identifier: MIT
// The communicator of a recording with groups that was looked up last, where only one thread does so: most messages are
// known to stay in the group by a look at this.
#pragma once

#include "replay_engine/rank/engine/mpi_header.h"

namespace pf {

struct LastAsked {
  MPI_Comm comm;
  const bool* outside;  ///< of each peer; null: none is
  int peers;

  [[nodiscard]] bool isOutside(int peer) const {
    return outside != nullptr &&
           (static_cast<unsigned>(peer) >= static_cast<unsigned>(peers) || outside[peer]);
  }
};
inline LastAsked g_lastAsked{MPI_Comm{}, nullptr, 0};

inline bool isKnownInside(int peer, MPI_Comm comm) {
  return comm == g_lastAsked.comm && !g_lastAsked.isOutside(peer);
}
inline bool isKnownWhole(MPI_Comm comm) {
  return comm == g_lastAsked.comm && g_lastAsked.outside == nullptr;
}

}  // namespace pf
