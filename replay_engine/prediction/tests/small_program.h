// SPDX-License-Identifier: GPL-3.0-or-later
// Small single-path MPI programs, as text or by chance, and a run of one as a recorder would have recorded it.
//
//   0: send 1; send 1:7; ssend 1; isend 1     tag 0 where not given; also bsend. '#16': bytes, `send 1:7 #16`
//   1: recv *; recv 0:*; recv 0:7 #8          '#8': room for so many bytes
//   1: irecv * a; issend 0 b; wait a; waitall a b; waitany; waitsome (both: of all that is open)
//   1: probe *:*; recvprobed                  the receive names what the last probe saw
//   1: mprobe *; sendrecv 1 *; barrier; bcast 0; reduce 0; scan; ibarrier c; local
//   comm pair: 1 2                            then `send 2:0@pair`, `barrier @pair`
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "replay_engine/execution/execution.h"
#include "replay_engine/prediction/prediction.h"

namespace pf::prediction::test {

enum class Do : std::uint8_t {
  Local,
  Send,
  Bsend,
  Ssend,
  Isend,
  Issend,
  Recv,
  Irecv,
  Mprobe,
  Probe,
  RecvProbed,
  Sendrecv,
  Wait,
  Waitall,
  Waitany,
  Waitsome,
  Collective,
  Icollective,
};

struct Operation {
  Do what = Do::Local;
  Rank peer = kAnySource;  ///< destination or source
  Tag tag = 0;
  std::uint32_t comm = 0;
  Rank source = kAnySource;  ///< of Sendrecv
  Tag sourceTag = 0;
  std::string request;                ///< that it makes
  std::vector<std::string> requests;  ///< that it waits for
  CollectiveFlow flow = CollectiveFlow::None;
  Rank root = kUnknownRank;
  std::optional<std::uint64_t> bytes;  ///< sent, or room
};

struct Program {
  std::vector<std::vector<Operation>> ranks;
  std::vector<Communicator> communicators;
};

/// Throws std::runtime_error that quotes what it does not understand.
[[nodiscard]] Program parseProgram(std::string_view text);
[[nodiscard]] Program randomProgram(std::uint64_t seed);
[[nodiscard]] std::string toText(const Program& program);

}  // namespace pf::prediction::test
