// SPDX-License-Identifier: GPL-3.0-or-later
#include "replay_engine/agent/build_id.h"

#include <elf.h>
#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <optional>

#include "replay_engine/base/unique_fd.h"

namespace pf::agent {
namespace {

constexpr std::size_t kMaxNotes = std::size_t{64} << 10U;
constexpr std::size_t kMaxIdSize = 64;

template <typename T>
std::optional<T> readAt(int fd, std::uint64_t offset) {
  T value{};
  const ssize_t n = ::pread(fd, &value, sizeof value, static_cast<off_t>(offset));
  return n == static_cast<ssize_t>(sizeof value) ? std::optional<T>(value) : std::nullopt;
}

std::string toHex(std::string_view bytes) {
  static constexpr std::string_view kDigits = "0123456789abcdef";
  std::string out;
  for (const char byte : bytes) {
    const auto value = static_cast<unsigned char>(byte);
    out += kDigits[value >> 4U];
    out += kDigits[value & 15U];
  }
  return out;
}

std::size_t padded(std::size_t size) {
  return (size + 3U) & ~std::size_t{3};
}

std::string findInNotes(std::string_view notes) {
  while (notes.size() >= sizeof(Elf64_Nhdr)) {
    Elf64_Nhdr header{};
    std::memcpy(&header, notes.data(), sizeof header);
    const std::size_t name = padded(header.n_namesz);
    const std::size_t size = padded(header.n_descsz);
    notes.remove_prefix(sizeof header);
    if (name > notes.size() || size > notes.size() - name) {
      break;
    }
    const bool gnu = notes.substr(0, header.n_namesz) == std::string_view("GNU\0", 4);
    if (gnu && header.n_type == NT_GNU_BUILD_ID && header.n_descsz <= kMaxIdSize) {
      return toHex(notes.substr(name, header.n_descsz));
    }
    notes.remove_prefix(name + size);
  }
  return {};
}

}  // namespace

std::string buildId(const std::string& path) {
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  const auto header = fd.valid() ? readAt<Elf64_Ehdr>(fd.get(), 0) : std::nullopt;
  if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
      header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_phentsize != sizeof(Elf64_Phdr)) {
    return {};
  }
  for (std::size_t i = 0; i < header->e_phnum; ++i) {
    const auto segment = readAt<Elf64_Phdr>(fd.get(), header->e_phoff + i * sizeof(Elf64_Phdr));
    if (!segment || segment->p_type != PT_NOTE || segment->p_filesz > kMaxNotes) {
      continue;
    }
    std::string notes(segment->p_filesz, '\0');
    const ssize_t n =
        ::pread(fd.get(), notes.data(), notes.size(), static_cast<off_t>(segment->p_offset));
    if (n == static_cast<ssize_t>(notes.size())) {
      if (std::string id = findInNotes(notes); !id.empty()) {
        return id;
      }
    }
  }
  return {};
}

}  // namespace pf::agent
