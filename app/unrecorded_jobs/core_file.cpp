// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/unrecorded_jobs/core_file.h"

#include <elf.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/procfs.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <span>
#include <vector>

#include "replay_engine/base/unique_fd.h"

namespace pf::app {
namespace {

constexpr std::size_t kMostSegments = 65536;
constexpr std::size_t kMostEnvironment = std::size_t{4} << 20U;

/// The file in memory, read only.
class Mapped {
 public:
  Mapped(int fd, std::size_t size)
      : m_size(size), m_base(::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd, 0)) {}
  ~Mapped() {
    if (valid()) {
      ::munmap(m_base, m_size);
    }
  }
  Mapped(const Mapped&) = delete;
  Mapped& operator=(const Mapped&) = delete;
  [[nodiscard]] bool valid() const { return m_base != MAP_FAILED; }
  /// What there is of these bytes; empty beyond the end.
  [[nodiscard]] std::string_view bytes(std::uint64_t offset, std::uint64_t count) const {
    if (offset >= m_size) {
      return {};
    }
    return {static_cast<const char*>(m_base) + offset, std::min(count, m_size - offset)};
  }
  template <typename T>
  [[nodiscard]] std::optional<T> read(std::uint64_t offset) const {
    const std::string_view from = bytes(offset, sizeof(T));
    T value;
    if (from.size() != sizeof value) {
      return std::nullopt;
    }
    std::memcpy(&value, from.data(), sizeof value);
    return value;
  }

 private:
  std::size_t m_size;
  void* m_base;
};

template <typename T>
std::optional<T> valueAt(std::string_view bytes, std::size_t offset) {
  T value;
  if (offset > bytes.size() || bytes.size() - offset < sizeof value) {
    return std::nullopt;
  }
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

struct Notes {
  std::uint64_t entry = 0;
  std::uint64_t executableName = 0;  ///< address of a string
  std::string_view files;            ///< of NT_FILE
};

/// The mapped file that lies over `address`, from an NT_FILE note.
std::string fileAt(std::string_view note, std::uint64_t address) {
  const auto count = valueAt<std::uint64_t>(note, 0);
  constexpr std::size_t kHead = 16;
  constexpr std::size_t kEach = 24;
  if (!count || *count > note.size() / kEach) {
    return {};
  }
  std::size_t name = kHead + *count * kEach;
  for (std::size_t i = 0; i < *count && name < note.size(); ++i) {
    const std::size_t end = note.find('\0', name);
    if (end == std::string_view::npos) {
      return {};
    }
    const auto begin = valueAt<std::uint64_t>(note, kHead + i * kEach);
    const auto behind = valueAt<std::uint64_t>(note, kHead + i * kEach + 8);
    if (begin && behind && address >= *begin && address < *behind) {
      return std::string(note.substr(name, end - name));
    }
    name = end + 1;
  }
  return {};
}

void readAuxiliary(std::string_view note, Notes& notes) {
  for (std::size_t at = 0;; at += sizeof(Elf64_auxv_t)) {
    const auto entry = valueAt<Elf64_auxv_t>(note, at);
    if (!entry || entry->a_type == AT_NULL) {
      return;
    }
    if (entry->a_type == AT_ENTRY) {
      notes.entry = entry->a_un.a_val;
    } else if (entry->a_type == AT_EXECFN) {
      notes.executableName = entry->a_un.a_val;
    }
  }
}

void readNotes(std::string_view bytes, Notes& notes, CoreFile& core) {
  const auto padded = [](std::uint64_t size) { return (size + 3) / 4 * 4; };
  bool first = true;
  for (std::size_t at = 0;;) {
    const auto head = valueAt<Elf64_Nhdr>(bytes, at);
    if (!head) {
      return;
    }
    const std::uint64_t data = at + sizeof *head + padded(head->n_namesz);
    if (data > bytes.size()) {
      return;
    }
    const std::string_view note = bytes.substr(data, head->n_descsz);
    if (head->n_type == NT_PRSTATUS && std::exchange(first, false)) {
      if (const auto status = valueAt<elf_prstatus>(note, 0)) {
        core.signal = status->pr_cursig;
        core.pid = status->pr_pid;
      }
    } else if (head->n_type == NT_PRPSINFO) {
      if (const auto info = valueAt<elf_prpsinfo>(note, 0)) {
        core.pid = info->pr_pid;
      }
    } else if (head->n_type == NT_AUXV) {
      readAuxiliary(note, notes);
    } else if (head->n_type == NT_FILE) {
      notes.files = note;
    }
    at = data + padded(head->n_descsz);
  }
}

Error notACore(const std::string& path, const std::string& why) {
  return {ErrorCode::Usage, path + " is not a core file: " + why,
          "Give the files that the kernel or gcore wrote, core.PID as a rule."};
}

}  // namespace

std::optional<Rank> rankInEnvironment(std::string_view environment) {
  static constexpr std::array<std::string_view, 4> kNames{
      "OMPI_COMM_WORLD_RANK=", "PMIX_RANK=", "PMI_RANK=", "SLURM_PROCID="};
  for (const std::string_view name : kNames) {
    for (std::size_t at = environment.find(name); at != std::string_view::npos;
         at = environment.find(name, at + 1)) {
      Rank rank = 0;
      const char* begin = environment.data() + at + name.size();
      const char* behind = environment.data() + environment.size();
      const auto [rest, error] = std::from_chars(begin, behind, rank);
      const bool whole = error == std::errc() && rank >= 0 && rank < kMostRanks &&
                         (rest == behind || *rest == '\0');
      if (whole && (at == 0 || environment[at - 1] == '\0')) {
        return rank;
      }
    }
  }
  return std::nullopt;
}

Result<CoreFile> readCoreFile(const std::string& path) {
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat about {};
  if (!fd.valid() || ::fstat(fd.get(), &about) != 0) {
    return Error{ErrorCode::NotFound, "cannot read " + path + ": " + std::strerror(errno),
                 "Check the name, and that the file is yours."};
  }
  if (!S_ISREG(about.st_mode) || about.st_size == 0) {
    return notACore(path, S_ISREG(about.st_mode) ? "it is empty" : "it is no file");
  }
  const Mapped file(fd.get(), static_cast<std::size_t>(about.st_size));
  if (!file.valid()) {
    return systemError("cannot map " + path, errno);
  }
  const auto header = file.read<Elf64_Ehdr>(0);
  if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0) {
    return notACore(path, "it is no ELF file");
  }
  if (header->e_type != ET_CORE || header->e_ident[EI_CLASS] != ELFCLASS64) {
    return notACore(path, header->e_type == ET_CORE ? "it is one of a 32-bit program"
                                                    : "it is a program or a library");
  }
  std::error_code none;
  CoreFile core;
  core.path = std::filesystem::absolute(path, none).lexically_normal().string();
  std::size_t count = header->e_phnum;
  if (count == PN_XNUM) {
    const auto section = file.read<Elf64_Shdr>(header->e_shoff);
    count = section ? section->sh_info : 0;
  }
  std::vector<Elf64_Phdr> loads;
  Notes notes;
  for (std::size_t i = 0; i < std::min(count, kMostSegments); ++i) {
    const auto segment = file.read<Elf64_Phdr>(header->e_phoff + i * sizeof(Elf64_Phdr));
    if (!segment) {
      core.cut = true;
      break;
    }
    if (segment->p_type == PT_NOTE) {
      readNotes(file.bytes(segment->p_offset, segment->p_filesz), notes, core);
    } else if (segment->p_type == PT_LOAD) {
      core.cut =
          core.cut || file.bytes(segment->p_offset, segment->p_filesz).size() < segment->p_filesz;
      loads.push_back(*segment);
    }
  }
  core.program = fileAt(notes.files, notes.entry);
  // The environment lies right below the program's name, at the top of the stack.
  for (const Elf64_Phdr& load : loads) {
    if (notes.executableName >= load.p_vaddr &&
        notes.executableName - load.p_vaddr < load.p_filesz) {
      const std::uint64_t behind = notes.executableName - load.p_vaddr;
      const std::uint64_t begin = behind - std::min<std::uint64_t>(behind, kMostEnvironment);
      core.rank = rankInEnvironment(file.bytes(load.p_offset + begin, behind - begin));
      break;  // segments do not overlap; where they do, one look at four megabytes is enough
    }
  }
  return core;
}

std::string coreFileName(std::string_view corePattern, bool usesPid, pid_t pid, int signal,
                         const std::string& program, const std::string& directory) {
  std::string pattern(corePattern.substr(0, corePattern.find('\n')));
  if (pattern.starts_with('|')) {
    return pattern.substr(0, pattern.find(' '));
  }
  bool named = false;
  std::string name;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] != '%' || i + 1 == pattern.size()) {
      name += pattern[i];
      continue;
    }
    switch (pattern[++i]) {
      case '%':
        name += '%';
        break;
      case 'p':
      case 'P':
        name += std::to_string(pid);
        named = true;
        break;
      case 's':
        name += std::to_string(signal);
        break;
      case 'e':
      case 'f':
        name += std::filesystem::path(program).filename().string().substr(0, 15);
        break;
      case 'u':
        name += std::to_string(::getuid());
        break;
      case 'g':
        name += std::to_string(::getgid());
        break;
      default:
        return {};  // the time, the host's name …: not known afterwards
    }
  }
  if (usesPid && !named) {
    name += "." + std::to_string(pid);
  }
  return name.empty() ? name
                      : (std::filesystem::path(directory) / name).lexically_normal().string();
}

}  // namespace pf::app
