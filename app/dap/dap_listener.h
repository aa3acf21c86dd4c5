// SPDX-License-Identifier: GPL-3.0-or-later
// Where clients of the DAP server come from: standard input and output, or a port of this machine.
#pragma once

#include <functional>
#include <memory>

#include "replay_engine/base/result.h"
#include "replay_engine/base/unique_fd.h"

namespace pf::headless {

struct DapOptions {
  int port = -1;  ///< on 127.0.0.1; 0: any free one; -1: standard input and output
};

/// Serves until the end of input, or of the process (SIGTERM, SIGINT). Returns the exit status.
int serveDap(const DapOptions& options);

/// Listens on 127.0.0.1; `port` becomes the port that it is.
Result<UniqueFd> listenOn(int& port);
/// Whether the peer of this TCP connection on this machine belongs to our user: a port is open to
/// everybody here, and who debugs can start programs.
bool peerIsOurUser(int fd);

}  // namespace pf::headless
