// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/unrecorded_jobs/core_file.h"

#include <elf.h>
#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <sys/procfs.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <memory>
#include <utility>
#include <vector>

#include "replay_engine/base/unique_fd.h"

namespace pf::app {
namespace {

constexpr std::size_t kMostSegments = 65536;
constexpr std::size_t kMostEnvironment = std::size_t{4} << 20U;

/// An ELF file in memory, read only.
class ElfFile {
 public:
  ElfFile(int fd, std::size_t size) : m_size(size) {
    elf_version(EV_CURRENT);
    m_elf.reset(elf_begin(fd, ELF_C_READ_MMAP, nullptr));
  }
  [[nodiscard]] Elf* get() const { return m_elf.get(); }
  /// What there is of these bytes; empty beyond the end.
  [[nodiscard]] std::string_view bytes(std::uint64_t offset, std::uint64_t count) const {
    std::size_t size = 0;
    const char* const begin = elf_rawfile(m_elf.get(), &size);
    if (begin == nullptr || offset >= size) {
      return {};
    }
    return {begin + offset, std::min(count, size - offset)};
  }
  /// The notes of a segment, as far as the file goes; null: there are none.
  [[nodiscard]] Elf_Data* notes(const GElf_Phdr& segment) const {
    if (segment.p_offset >= m_size) {
      return nullptr;
    }
    return elf_getdata_rawchunk(m_elf.get(), static_cast<std::int64_t>(segment.p_offset),
                                std::min(segment.p_filesz, m_size - segment.p_offset),
                                segment.p_align == 8 ? ELF_T_NHDR8 : ELF_T_NHDR);
  }

 private:
  struct End {
    void operator()(Elf* elf) const { elf_end(elf); }
  };
  std::size_t m_size;
  std::unique_ptr<Elf, End> m_elf;
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

void readNotes(Elf_Data& data, Notes& notes, CoreFile& core) {
  const std::string_view bytes(static_cast<const char*>(data.d_buf), data.d_size);
  bool first = true;
  GElf_Nhdr head;
  std::size_t name = 0;
  std::size_t begin = 0;
  for (std::size_t at = 0; (at = gelf_getnote(&data, at, &head, &name, &begin)) > 0;) {
    const std::string_view note = bytes.substr(begin, head.n_descsz);
    if (head.n_type == NT_PRSTATUS && std::exchange(first, false)) {
      if (const auto status = valueAt<elf_prstatus>(note, 0)) {
        core.signal = status->pr_cursig;
        core.pid = status->pr_pid;
      }
    } else if (head.n_type == NT_PRPSINFO) {
      if (const auto info = valueAt<elf_prpsinfo>(note, 0)) {
        core.pid = info->pr_pid;
      }
    } else if (head.n_type == NT_AUXV) {
      readAuxiliary(note, notes);
    } else if (head.n_type == NT_FILE) {
      notes.files = note;
    }
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
  const ElfFile file(fd.get(), static_cast<std::size_t>(about.st_size));
  GElf_Ehdr header;
  if (elf_kind(file.get()) != ELF_K_ELF || gelf_getehdr(file.get(), &header) == nullptr) {
    return notACore(path, "it is no ELF file");
  }
  if (header.e_type != ET_CORE || header.e_ident[EI_CLASS] != ELFCLASS64) {
    return notACore(path, header.e_type == ET_CORE ? "it is one of a 32-bit program"
                                                   : "it is a program or a library");
  }
  std::error_code none;
  CoreFile core;
  core.path = std::filesystem::absolute(path, none).lexically_normal().string();
  std::size_t count = 0;
  if (elf_getphdrnum(file.get(), &count) != 0) {
    count = 0;
    core.cut = true;
  }
  std::vector<GElf_Phdr> loads;
  Notes notes;
  for (std::size_t i = 0; i < std::min(count, kMostSegments); ++i) {
    GElf_Phdr segment;
    if (gelf_getphdr(file.get(), static_cast<int>(i), &segment) == nullptr) {
      core.cut = true;
      break;
    }
    if (segment.p_type == PT_NOTE) {
      if (Elf_Data* const data = file.notes(segment); data != nullptr) {
        readNotes(*data, notes, core);
      }
    } else if (segment.p_type == PT_LOAD) {
      core.cut =
          core.cut || file.bytes(segment.p_offset, segment.p_filesz).size() < segment.p_filesz;
      loads.push_back(segment);
    }
  }
  core.program = fileAt(notes.files, notes.entry);
  // The environment lies right below the program's name, at the top of the stack.
  for (const GElf_Phdr& load : loads) {
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
