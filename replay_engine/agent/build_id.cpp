// SPDX-License-Identifier: GPL-3.0-or-later
#include "replay_engine/agent/build_id.h"

#include <elfutils/libdwelf.h>
#include <fcntl.h>
#include <libelf.h>

#include "replay_engine/base/unique_fd.h"

namespace pf::agent {

std::string buildId(const std::string& path) {
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!fd.valid()) {
    return {};
  }
  elf_version(EV_CURRENT);
  Elf* elf = elf_begin(fd.get(), ELF_C_READ, nullptr);  // not mapped: it may be cut meanwhile
  const void* bytes = nullptr;
  const ssize_t size = elf != nullptr ? dwelf_elf_gnu_build_id(elf, &bytes) : -1;
  std::string hex;
  for (ssize_t i = 0; i < size; ++i) {
    static constexpr std::string_view kDigits = "0123456789abcdef";
    const auto byte = static_cast<const unsigned char*>(bytes)[i];
    hex += kDigits[byte >> 4U];
    hex += kDigits[byte & 15U];
  }
  elf_end(elf);
  return hex;
}

}  // namespace pf::agent
