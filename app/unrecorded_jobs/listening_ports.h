// SPDX-License-Identifier: GPL-3.0-or-later
// Which of some processes listens on which TCP port: Slurm's tasks are no children of srun, but
// know its port.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <vector>

namespace pf::app {

/// Ports of this host by the process that listens; of a socket that several have inherited, the
/// first in `processes`. Processes that may not be looked at (another user's) are left out. Source:
/// /proc/PID/fd, /proc/PID/net/tcp.
[[nodiscard]] std::map<std::uint16_t, pid_t> listeningPorts(const std::vector<pid_t>& processes);

}  // namespace pf::app
