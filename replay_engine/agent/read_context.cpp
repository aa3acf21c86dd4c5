// SPDX-License-Identifier: GPL-3.0-or-later
#include "replay_engine/agent/read_context.h"

#include <elf.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <set>

#include "replay_engine/agent/build_id.h"
#include "replay_engine/base/crc32c.h"
#include "replay_engine/base/unique_fd.h"

namespace pf::agent {
namespace {

using protocol::CodePlace;
using protocol::LaunchContext;

constexpr std::size_t kMaxProc = std::size_t{4} << 20U;
constexpr std::size_t kMaxFacts = 2000;
constexpr std::size_t kMaxWord = 4096;
/// Of a file without a build-id, at most this much is read.
constexpr std::size_t kMaxHashed = std::size_t{64} << 20U;
constexpr std::size_t kIdDigits = 16;
constexpr std::uint64_t kPage = 4096;

std::string readFile(pid_t pid, const char* name) {
  const std::string path = "/proc/" + std::to_string(pid) + "/" + name;
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  std::string text;
  std::array<char, 16384> piece{};
  ssize_t n = 0;
  while (fd.valid() && text.size() < kMaxProc &&
         (n = ::read(fd.get(), piece.data(), piece.size())) > 0) {
    text.append(piece.data(), static_cast<std::size_t>(n));
  }
  return text;
}

/// Pieces that end with `end`.
std::vector<std::string> pieces(const std::string& text, char end) {
  std::vector<std::string> out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t stop = std::min(text.find(end, at), text.size());
    out.push_back(text.substr(at, stop - at));
    at = stop + 1;
  }
  return out;
}

std::string fileName(const std::string& path) {
  return path.substr(path.rfind('/') + 1);
}

/// A library of our own, by its name or by the link that the agent may have made.
bool isOurs(const std::string& path) {
  const std::string name = fileName(path);
  return name.starts_with("libphotofinish_") || name == "recorder.so" || name == "memory.so";
}

bool isElf(int fd) {
  std::array<char, SELFMAG> magic{};
  return ::pread(fd, magic.data(), magic.size(), 0) == SELFMAG &&
         std::memcmp(magic.data(), ELFMAG, SELFMAG) == 0;
}

std::string contentOf(int fd) {
  std::vector<char> piece(std::size_t{1} << 20U);
  std::uint32_t crc = 0;
  std::size_t done = 0;
  ssize_t n = 0;
  while (done < kMaxHashed &&
         (n = ::pread(fd, piece.data(), piece.size(), static_cast<off_t>(done))) > 0) {
    crc = crc32c(piece.data(), static_cast<std::size_t>(n), crc);
    done += static_cast<std::size_t>(n);
  }
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "crc32c %08" PRIx32, crc);
  return text.data();
}

/// What tells this file from others of its name; empty if it is no ELF file that can be read.
std::string identityOf(const std::string& path) {
  if (const std::string id = buildId(path); !id.empty()) {
    return "build-id " + id.substr(0, kIdDigits);
  }
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  return fd.valid() && isElf(fd.get()) ? contentOf(fd.get()) : std::string();
}

void addFiles(LaunchContext& context, pid_t pid) {
  std::array<char, kMaxWord> link{};
  const ssize_t n =
      ::readlink(("/proc/" + std::to_string(pid) + "/exe").c_str(), link.data(), link.size() - 1);
  const std::string program(link.data(), n > 0 ? static_cast<std::size_t>(n) : 0);
  std::set<std::string> seen;
  for (const Mapping& mapping : mappingsOf(pid)) {
    if (!mapping.code || isOurs(mapping.path) || !seen.insert(mapping.path).second ||
        context.size() >= kMaxFacts) {
      continue;
    }
    const std::string identity = identityOf(mapping.path);
    const bool isProgram = mapping.path == program;
    // The build-id of the program itself has a place of its own in messages and traces.
    if (!identity.empty() && !(isProgram && identity.rfind("build-id", 0) == 0)) {
      context.push_back({isProgram ? "program" : "library", isProgram ? "" : fileName(mapping.path),
                         identity, mapping.path});
    }
  }
}

/// Without our own library in it.
std::string preloadOf(const std::string& value) {
  std::string out;
  std::string all = value;
  std::replace(all.begin(), all.end(), ' ', ':');
  for (const std::string& path : pieces(all, ':')) {
    if (!path.empty() && !isOurs(path)) {
      out += (out.empty() ? "" : ":") + path;
    }
  }
  return out;
}

void addVariables(LaunchContext& context, pid_t pid, const std::vector<std::string>& more) {
  for (const std::string& entry : pieces(readFile(pid, "environ"), '\0')) {
    const std::size_t equals = entry.find('=');
    if (equals == std::string::npos || context.size() >= kMaxFacts) {
      continue;
    }
    const std::string name = entry.substr(0, equals);
    const bool matters =
        protocol::variableMatters(name) || std::find(more.begin(), more.end(), name) != more.end();
    std::string value = entry.substr(equals + 1, kMaxWord);
    value = name == "LD_PRELOAD" ? preloadOf(value) : value;
    if (matters && !(value.empty() && name == "LD_PRELOAD")) {
      context.push_back({"variable", name, value, {}});
    }
  }
}

}  // namespace

bool readMemory(pid_t pid, std::uint64_t address, void* to, std::size_t size) {
  const iovec here{to, size};
  // NOLINTNEXTLINE(performance-no-int-to-ptr): an address of another process
  const iovec there{reinterpret_cast<void*>(address), size};
  return ::process_vm_readv(pid, &here, 1, &there, 1, 0) == static_cast<ssize_t>(size);
}

std::vector<Mapping> mappingsOf(pid_t pid) {
  std::vector<Mapping> out;
  for (const std::string& line : pieces(readFile(pid, "maps"), '\n')) {
    Mapping mapping;
    std::array<char, 8> rights{};
    int pathAt = 0;
    if (std::sscanf(line.c_str(), "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64 " %*s %*s %n",
                    &mapping.begin, &mapping.end, rights.data(), &mapping.offset, &pathAt) != 4 ||
        pathAt == 0 || line[static_cast<std::size_t>(pathAt)] != '/') {
      continue;
    }
    mapping.code = rights[2] == 'x';
    mapping.path = line.substr(static_cast<std::size_t>(pathAt));
    out.push_back(std::move(mapping));
  }
  return out;
}

LaunchContext contextOf(pid_t pid, const std::vector<std::string>& variables) {
  LaunchContext context{{"version", protocol::kContextVersion, {}, {}}};
  const std::vector<std::string> words = pieces(readFile(pid, "cmdline"), '\0');
  if (words.empty()) {
    return {};  // a process that may not be looked at
  }
  for (std::size_t i = 0; i < words.size() && i < kMaxFacts / 2; ++i) {
    context.push_back({"argument", std::to_string(i), words[i].substr(0, kMaxWord), {}});
  }
  addVariables(context, pid, variables);
  addFiles(context, pid);
  return context;
}

CodePlace placeOf(const std::vector<Mapping>& mappings, std::uint64_t address) {
  const auto inside = [&](const Mapping& m) { return m.begin <= address && address < m.end; };
  const auto found = std::find_if(mappings.begin(), mappings.end(), inside);
  if (found == mappings.end()) {
    return {};
  }
  const auto first = std::find_if(mappings.begin(), mappings.end(), [&](const Mapping& m) {
    return m.path == found->path && m.offset == 0;
  });
  const UniqueFd fd(::open(found->path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  Elf64_Ehdr header{};
  if (first == mappings.end() || !fd.valid() || !isElf(fd.get()) ||
      ::pread(fd.get(), &header, sizeof header, 0) != static_cast<ssize_t>(sizeof header)) {
    return {};
  }
  for (std::size_t i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment{};
    const auto at = static_cast<off_t>(header.e_phoff + i * sizeof segment);
    if (::pread(fd.get(), &segment, sizeof segment, at) != static_cast<ssize_t>(sizeof segment)) {
      return {};
    }
    if (segment.p_type == PT_LOAD) {  // the first one is what lies at the file's begin
      return {found->path, address - first->begin + (segment.p_vaddr & ~(kPage - 1)), {}};
    }
  }
  return {};
}

}  // namespace pf::agent
