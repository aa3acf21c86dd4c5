// SPDX-License-Identifier: GPL-3.0-or-later
#include "replay_engine/agent/loaded_libraries.h"

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <sstream>

#include "replay_engine/agent/child_output.h"
#include "replay_engine/base/mpi_version.h"
#include "replay_engine/base/shown_text.h"

namespace pf::agent {
namespace {

/// MPI_MAX_LIBRARY_VERSION_STRING is 256 in Open MPI, 8192 in MPICH and in the standard's interface.
constexpr std::size_t kVersionSize = 65'536;

/// Of a loaded library: ", MPI ABI 1.0", or nothing. Those with an interface of their own have no such routine, or one that says -1.
std::string interfaceOf(void* library) {
  int major = -1;
  int minor = -1;
  if (void* const routine = ::dlsym(library, "PMPI_Abi_get_version"); routine != nullptr) {
    reinterpret_cast<int (*)(int*, int*)>(routine)(&major, &minor);
  }
  return major < 0 ? std::string()
                   : std::string(kAbiMark) + std::to_string(major) + "." + std::to_string(minor);
}

}  // namespace

std::vector<ListedLibrary> librariesOfListing(const std::string& listing) {
  std::vector<ListedLibrary> found;
  std::istringstream lines(listing);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t begin = line.find_first_not_of(" \t");
    if (begin == line.npos || begin == 0) {
      continue;
    }
    line.erase(0, begin);
    const std::size_t arrow = line.find(" => ");
    const std::size_t address = line.rfind(" (0x");
    std::string path = line.substr(arrow == line.npos ? 0 : arrow + 4, line.npos);
    path.resize(path.size() - (address == line.npos ? 0 : line.size() - address));
    const bool isPath = path.starts_with('/') || path.find('/') != path.npos;
    std::string name =
        arrow == line.npos ? path.substr(path.rfind('/') + 1) : line.substr(0, arrow);
    name.erase(0, name.rfind('/') + 1);
    if (!name.empty() && (isPath || path == "not found")) {
      found.push_back({std::move(name), isPath ? path : std::string()});
    }
  }
  return found;
}

std::vector<ListedLibrary> loadedLibraries(const std::string& loader, const std::string& program) {
  const auto list = [&](int out) {
    ::dup2(out, STDOUT_FILENO);
    // As ldd does: with --list alone, glibc ends at the first library that it does not find.
    ::setenv("LD_TRACE_LOADED_OBJECTS", "1", 1);
    ::execl(loader.c_str(), loader.c_str(), program.c_str(), nullptr);
  };
  return librariesOfListing(outputOfChild(list));
}

std::string askedVersion(const std::string& path) {
  const auto ask = [&](int out) {
    void* const library = ::dlopen(path.c_str(), RTLD_LAZY | RTLD_LOCAL);
    void* const routine =
        library != nullptr ? ::dlsym(library, "MPI_Get_library_version") : nullptr;
    if (routine == nullptr) {
      return;
    }
    static std::array<char, kVersionSize> text{};
    int length = 0;
    reinterpret_cast<int (*)(char*, int*)>(routine)(text.data(), &length);
    text.back() = '\0';
    const std::string said(text.data(), std::strcspn(text.data(), ",\n"));
    static_cast<void>(::write(out, said.data(), said.size()) > 0);
    const std::string interface = interfaceOf(library);  // which may crash
    static_cast<void>(::write(out, interface.data(), interface.size()) > 0);
  };
  std::string text = outputOfChild(ask);
  std::replace(text.begin(), text.end(), '\t', ' ');
  return shown(text);
}

}  // namespace pf::agent
