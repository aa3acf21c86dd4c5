// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/collation/separate_symbols.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <string>

#include "app/collation/call_sites.h"
#include "replay_engine/base/unique_fd.h"

namespace pf::app {
namespace {

/// The checksum of .gnu_debuglink (CRC-32 as in zip), of the whole file.
std::uint32_t checksumOf(int file) {
  std::uint32_t crc = ~0U;
  std::array<unsigned char, 1U << 16U> bytes{};
  off_t offset = 0;
  for (ssize_t n = 0; (n = ::pread(file, bytes.data(), bytes.size(), offset)) > 0; offset += n) {
    for (ssize_t i = 0; i < n; ++i) {
      crc ^= bytes[static_cast<std::size_t>(i)];
      for (int bit = 0; bit < 8; ++bit) {
        crc = (crc >> 1U) ^ ((crc & 1U) != 0 ? 0xEDB88320U : 0U);
      }
    }
  }
  return ~crc;
}

/// Of the same build as the module: by build-id where there is one.
bool belongs(const std::string& candidate, int file, const std::string& module,
             GElf_Word checksum) {
  const std::string id = buildIdOf(module);
  return id.empty() ? checksum != 0 && checksumOf(file) == checksum : buildIdOf(candidate) == id;
}

}  // namespace

// NOLINTNEXTLINE(readability-function-size): as libdwfl calls it
int findSeparateSymbols(Dwfl_Module* module, void** userData, const char* name, Dwarf_Addr base,
                        const char* file, const char* link, GElf_Word checksum, char** found) {
  const int byId =
      dwfl_build_id_find_debuginfo(module, userData, name, base, file, link, checksum, found);
  if (byId >= 0 || file == nullptr) {
    return byId;
  }
  const std::string path = file;
  const std::size_t slash = path.rfind('/');
  const std::string directory = slash == std::string::npos ? "." : path.substr(0, slash);
  const std::string wanted =
      link != nullptr ? std::string(link)
                      : path.substr(slash == std::string::npos ? 0 : slash + 1) + ".debug";
  for (const std::string& place :
       {directory, directory + "/.debug", "/usr/lib/debug" + directory}) {
    const std::string candidate = place + "/" + wanted;
    UniqueFd fd(::open(candidate.c_str(), O_RDONLY | O_CLOEXEC));
    if (fd.valid() && candidate != path && belongs(candidate, fd.get(), path, checksum)) {
      *found = ::strdup(candidate.c_str());
      return fd.release();
    }
  }
  return -1;
}

}  // namespace pf::app
