// SPDX-License-Identifier: GPL-3.0-or-later
// What can be seen of a program from outside, in /proc: what it was started with, the files that
// its code is in, and where on its stack the application called MPI.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "replay_engine/protocol/messages.h"
#include "replay_engine/protocol/program_context.h"

namespace pf::agent {

/// A piece of a file in a process's memory.
struct Mapping {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::uint64_t offset = 0;  ///< in the file
  bool code = false;
  std::string path;
};
/// Those of files, by address; none if the process cannot be looked at.
[[nodiscard]] std::vector<Mapping> mappingsOf(pid_t pid);

/// Copies `size` bytes of its memory; false: not all of them can be read, and `to` holds anything.
[[nodiscard]] bool readMemory(pid_t pid, std::uint64_t address, void* to, std::size_t size);

/// The facts of a process that has just come out of MPI_Init; none if it cannot be looked at.
/// `variables`: names to look at besides
/// those that always matter.
[[nodiscard]] protocol::LaunchContext contextOf(pid_t pid,
                                                const std::vector<std::string>& variables);

/// Where `address` is in its file; an empty module if that is not known.
[[nodiscard]] protocol::CodePlace placeOf(const std::vector<Mapping>& mappings,
                                          std::uint64_t address);

/// Where the application made the MPI call that its rank is in (the outermost one), read from its
/// stack while it runs; an empty module if that cannot be told.
[[nodiscard]] protocol::CodePlace callPlaceOf(pid_t pid, const RankPage& page);

}  // namespace pf::agent
