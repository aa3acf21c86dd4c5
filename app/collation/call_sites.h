// SPDX-License-Identifier: GPL-3.0-or-later
// Source lines of call sites, from DWARF (elfutils' libdw).
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "replay_engine/execution/execution.h"

namespace pf::app {

/// Fills function, file and line of each site from the debug information of its module. Sites without any keep what they
/// have, the line of Python that calls; without that, function is the symbol's name where there is one. A site in mpi4py
/// keeps its line of Python, whatever mpi4py was built with.
void resolveCallSites(std::vector<CallSite>& sites);

/// Whether it is the extension module that calls MPI for mpi4py.
[[nodiscard]] bool isOfMpi4py(const std::string& module);

/// "main.c:57"; without debug information "work (libm.so)" or "app+4711".
std::string siteText(const CallSite& site);

/// The place behind a call, for people: "main.c:57 (work)", or what is known of it.
std::string placeText(const std::string& module, std::uint64_t offset);

/// Function, file and line of return addresses, with the calls that the compiler has inlined. Keeps
/// what it has read of each file. One thread.
class FrameResolver {
 public:
  FrameResolver();
  ~FrameResolver();
  FrameResolver(const FrameResolver&) = delete;
  FrameResolver& operator=(const FrameResolver&) = delete;

  /// The frames at one return address, the innermost one first: never empty. `file` is empty without
  /// debug information.
  const std::vector<CallSite>& frames(const std::string& module, std::uint64_t offset);
  /// The line at which the function of the innermost of these frames is declared; 0: not known.
  std::int32_t declaredAt(const std::string& module, std::uint64_t offset);

 private:
  class File;
  File& file(const std::string& module);
  std::map<std::string, std::unique_ptr<File>> m_files;
  std::map<std::pair<std::string, std::uint64_t>, std::vector<CallSite>> m_known;
};

/// GNU build-id of an ELF file in hex; empty if it has none or cannot be read.
std::string buildIdOf(const std::string& path);

}  // namespace pf::app
