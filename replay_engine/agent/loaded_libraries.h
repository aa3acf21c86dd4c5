// SPDX-License-Identifier: GPL-3.0-or-later
// The libraries that the loader would load for a program, by the loader itself.
#pragma once

#include <string>
#include <vector>

namespace pf::agent {

struct ListedLibrary {
  std::string name;  ///< as it is asked for: libmpi.so.40
  std::string path;  ///< empty: the loader does not find it

  friend bool operator==(const ListedLibrary&, const ListedLibrary&) = default;
};

/// Of the lines that ldd prints: "\tNAME => PATH (0x…)", "\tNAME => not found",
/// "\tPATH (0x…)".
[[nodiscard]] std::vector<ListedLibrary> librariesOfListing(const std::string& listing);

/// All of them, also those that LD_PRELOAD names and those that libraries ask for. Runs `loader`, the
/// program's own one, not the program; takes some 3 ms. Empty: that loader cannot say, or did not
/// within ten seconds.
[[nodiscard]] std::vector<ListedLibrary> loadedLibraries(const std::string& loader,
                                                         const std::string& program);

/// What MPI_Get_library_version of the MPI library `path` says, up to the first comma or line end, and
/// behind it, where MPI_Abi_get_version says one, the version of the standard's binary interface
/// (kAbiMark): by loading it in a process that is made for that, which has ten seconds. Empty: it
/// cannot be loaded, or has no such routine. Ends that process whatever the library does in it. For a
/// process of one thread.
[[nodiscard]] std::string askedVersion(const std::string& path);

}  // namespace pf::agent
