// SPDX-License-Identifier: GPL-3.0-or-later
// A tiny language to write executions in tests. One line per rank; events are separated by ';'.
//
//   0: send 1; send 1:7              MPI_Send to 1 with tag 0; with tag 7. Also ssend.
//   1: recv * = 0; recv *:* = 0:7    what was asked for = source:tag that came. Tag 0 where not
//                                    given, '*' is a wildcard. `recv 0` is `recv 0 = 0`. Also
//                                    mprobe, probe.
//   2: irecv * a; wait a = 0         a names the request; `wait a = 0, b, c` is one Waitall.
//      issend 1 s; wait s            Never waited for = pending. `wait a cancelled`.
//   3: sendrecv 1 * = 2              one event: sends to 1, receives from 2
//   4: barrier; bcast 0; reduce 0; scan; allreduce -give; allreduce -take; ibarrier b; ibcast 0 b
//   5: local; cancel                 an event without effect; an MPI_Cancel of whatever is posted
//      isend 1 & irecv * a           '&' joins calls into one event (Startall)
//   comm pair: 1 2                   then `send 2:0@pair`, `recv *@pair = 1`, `barrier @pair`
//   comm inter: 0 1 | 2 3
//
// A rank may go on in a further line. There are as many ranks as the highest one that has a line.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "replay_engine/races/races.h"

namespace pf::test {

/// With matchMessages() done. Throws std::runtime_error that quotes what it does not understand.
Execution parseExecution(std::string_view text);

/// "2@1: 0@1 | 1@1": rank 2's receive posted at its event 1 took the first, could have taken the
/// second. A probe's line starts with "probe ". One line per race.
std::string toText(const Execution& execution, const std::vector<Race>& races);

/// "0@1": rank and serial of the send; "-" for none.
std::string messageText(const Execution& execution, std::uint32_t message);

}  // namespace pf::test
