// Source lines of call sites, from DWARF (elfutils' libdw).
#pragma once

#include <string>
#include <vector>

#include "core/execution.h"

namespace pf::app {

/// Fills function, file and line of each site from the debug information of its module. Sites
/// without any keep file empty; function is then the symbol's name where there is one.
void resolveCallSites(std::vector<CallSite>& sites);

/// The place behind a call, for people: "main.c:57 (work)", or what is known of it.
std::string placeText(const std::string& module, std::uint64_t offset);

/// GNU build-id of an ELF file in hex; empty if it has none or cannot be read.
std::string buildIdOf(const std::string& path);

}  // namespace pf::app
