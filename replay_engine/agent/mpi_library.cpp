// SPDX-License-Identifier: GPL-3.0-or-later
#include "replay_engine/agent/mpi_library.h"

#include <fcntl.h>
#include <gelf.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <string_view>

#include "replay_engine/base/unique_fd.h"

namespace pf::agent {
namespace {

/// By the name that the loader asks for. Libraries with MPICH's binary interface are number 12 of
/// it.
std::optional<MpiLibrary> libraryNamed(std::string_view file) {
  const bool ofMpi = file.starts_with("libmpi");
  if (ofMpi && (file.starts_with("libmpich") || file.ends_with(".so.12"))) {
    return MpiLibrary::Mpich;
  }
  return ofMpi && file.find(".so") != std::string_view::npos ? std::optional(MpiLibrary::OpenMpi)
                                                             : std::nullopt;
}

std::optional<MpiLibrary> neededMpi(Elf* elf, Elf_Scn* section, const GElf_Shdr& header) {
  Elf_Data* const data = elf_getdata(section, nullptr);
  for (int i = 0; data != nullptr; ++i) {
    GElf_Dyn entry{};
    if (gelf_getdyn(data, i, &entry) == nullptr || entry.d_tag == DT_NULL) {
      break;
    }
    const char* const name =
        entry.d_tag == DT_NEEDED ? elf_strptr(elf, header.sh_link, entry.d_un.d_val) : nullptr;
    if (const auto found = name != nullptr ? libraryNamed(name) : std::nullopt) {
      return found;
    }
  }
  return std::nullopt;
}

std::string foundInPath(const std::string& name) {
  const char* const path = std::getenv("PATH");
  std::string_view rest = path != nullptr ? path : "/usr/local/bin:/usr/bin:/bin";
  while (name.find('/') == std::string::npos && !rest.empty()) {
    const std::string_view directory = rest.substr(0, rest.find(':'));
    rest.remove_prefix(std::min(rest.size(), directory.size() + 1));
    std::string candidate = std::string(directory.empty() ? "." : directory) + "/" + name;
    if (::access(candidate.c_str(), X_OK) == 0) {
      return candidate;
    }
  }
  return name;
}

}  // namespace

std::optional<MpiLibrary> linkedMpi(const std::string& path) {
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!fd.valid() || elf_version(EV_CURRENT) == EV_NONE) {
    return std::nullopt;
  }
  const std::unique_ptr<Elf, int (*)(Elf*)> elf(elf_begin(fd.get(), ELF_C_READ, nullptr), &elf_end);
  Elf_Scn* section = nullptr;
  while (elf != nullptr && (section = elf_nextscn(elf.get(), section)) != nullptr) {
    GElf_Shdr header{};
    if (gelf_getshdr(section, &header) != nullptr && header.sh_type == SHT_DYNAMIC) {
      return neededMpi(elf.get(), section, header);
    }
  }
  return std::nullopt;
}

MpiLibrary mpiOf(const std::string& name) {
  if (const auto linked = linkedMpi(foundInPath(name))) {
    return *linked;
  }
  // PMI_RANK is set by MPICH's launcher, and by Slurm for both kinds; MPI_LOCALRANKID by the
  // former.
  const bool hydra =
      std::getenv("PMI_RANK") != nullptr && std::getenv("OMPI_COMM_WORLD_RANK") == nullptr &&
      (std::getenv("MPI_LOCALRANKID") != nullptr || std::getenv("SLURM_PROCID") == nullptr);
  return hydra ? MpiLibrary::Mpich : MpiLibrary::OpenMpi;
}

}  // namespace pf::agent
