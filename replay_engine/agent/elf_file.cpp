// SPDX-License-Identifier: GPL-3.0-or-later
#include "replay_engine/agent/elf_file.h"

#include <fcntl.h>
#include <gelf.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <memory>

#include "replay_engine/base/unique_fd.h"

namespace pf::agent {
namespace {

constexpr std::size_t kMaxText = 256;
constexpr std::size_t kMaxNeeded = 4096;

/// An ELF file that is open, or none.
class OpenElf {
 public:
  explicit OpenElf(const std::string& path)
      : m_fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
    if (m_fd.valid() && elf_version(EV_CURRENT) != EV_NONE) {
      // Not mapped: it may be cut meanwhile.
      m_elf.reset(elf_begin(m_fd.get(), ELF_C_READ, nullptr));
    }
    if (m_elf != nullptr && elf_kind(m_elf.get()) != ELF_K_ELF) {
      m_elf.reset();
    }
  }
  [[nodiscard]] Elf* get() const { return m_elf.get(); }
  [[nodiscard]] int fd() const { return m_fd.get(); }

  /// Calls `look(section, header)` for each section until it returns true.
  template <typename Look>
  void sections(Look look) const {
    Elf_Scn* section = nullptr;
    while (m_elf != nullptr && (section = elf_nextscn(m_elf.get(), section)) != nullptr) {
      GElf_Shdr header{};
      if (gelf_getshdr(section, &header) != nullptr && look(section, header)) {
        return;
      }
    }
  }

 private:
  struct End {
    void operator()(Elf* elf) const { elf_end(elf); }
  };
  UniqueFd m_fd;
  std::unique_ptr<Elf, End> m_elf;
};

/// What is at `offset` of the file, up to the first 0.
std::string textAt(int fd, std::uint64_t offset) {
  std::string text(kMaxText, '\0');
  const ssize_t n = ::pread(fd, text.data(), text.size(), static_cast<off_t>(offset));
  text.resize(n > 0 ? static_cast<std::size_t>(n) : 0);
  return text.substr(0, text.find('\0'));
}

std::string interpreterOf(const OpenElf& elf) {
  std::size_t count = 0;
  if (elf_getphdrnum(elf.get(), &count) != 0) {
    return {};
  }
  for (std::size_t i = 0; i < count; ++i) {
    GElf_Phdr header{};
    if (gelf_getphdr(elf.get(), static_cast<int>(i), &header) == nullptr) {
      break;
    }
    if (header.p_type == PT_INTERP) {
      return textAt(elf.fd(), header.p_offset);
    }
  }
  return {};
}

void readNeeded(Elf* elf, Elf_Scn* section, const GElf_Shdr& header, ElfFacts& facts) {
  Elf_Data* const data = elf_getdata(section, nullptr);
  for (int i = 0; data != nullptr && facts.needed.size() < kMaxNeeded; ++i) {
    GElf_Dyn entry{};
    if (gelf_getdyn(data, i, &entry) == nullptr || entry.d_tag == DT_NULL) {
      return;
    }
    if (const char* name =
            entry.d_tag == DT_NEEDED ? elf_strptr(elf, header.sh_link, entry.d_un.d_val) : nullptr;
        name != nullptr) {
      facts.needed.emplace_back(name);
    }
  }
}

/// The defined symbol `name` of a table; none if it has no such.
std::optional<GElf_Sym> symbolIn(Elf* elf, Elf_Scn* section, const GElf_Shdr& header,
                                 const char* name) {
  Elf_Data* const data = elf_getdata(section, nullptr);
  for (int i = 0; data != nullptr; ++i) {
    GElf_Sym symbol{};
    if (gelf_getsym(data, i, &symbol) == nullptr) {
      return std::nullopt;
    }
    const char* const found =
        symbol.st_shndx != SHN_UNDEF ? elf_strptr(elf, header.sh_link, symbol.st_name) : nullptr;
    if (found != nullptr && std::strcmp(found, name) == 0) {
      return symbol;
    }
  }
  return std::nullopt;
}

std::optional<GElf_Sym> definedSymbol(const OpenElf& elf, const char* name, bool inside) {
  std::optional<GElf_Sym> symbol;
  elf.sections([&](Elf_Scn* section, const GElf_Shdr& header) {
    if (header.sh_type == SHT_DYNSYM || (inside && header.sh_type == SHT_SYMTAB)) {
      symbol = symbolIn(elf.get(), section, header, name);
    }
    return symbol.has_value();
  });
  return symbol;
}

}  // namespace

std::optional<ElfFacts> elfFacts(const std::string& path) {
  const OpenElf elf(path);
  GElf_Ehdr header{};
  if (elf.get() == nullptr || gelf_getehdr(elf.get(), &header) == nullptr) {
    return std::nullopt;
  }
  ElfFacts facts;
  facts.machine = header.e_machine;
  facts.is64 = gelf_getclass(elf.get()) == ELFCLASS64;
  facts.interpreter = interpreterOf(elf);
  elf.sections([&](Elf_Scn* section, const GElf_Shdr& found) {
    if (found.sh_type == SHT_DYNAMIC) {
      readNeeded(elf.get(), section, found, facts);
    }
    return found.sh_type == SHT_DYNAMIC;
  });
  return facts;
}

bool definesFunction(const std::string& path, const char* name, bool inside) {
  const OpenElf elf(path);
  const std::optional<GElf_Sym> symbol = definedSymbol(elf, name, inside);
  return symbol.has_value() && GELF_ST_TYPE(symbol->st_info) == STT_FUNC;
}

std::string textOfObject(const std::string& path, const char* name) {
  const OpenElf elf(path);
  const std::optional<GElf_Sym> symbol = definedSymbol(elf, name, false);
  std::string text;
  if (symbol.has_value() && GELF_ST_TYPE(symbol->st_info) == STT_OBJECT) {
    elf.sections([&](Elf_Scn* /*section*/, const GElf_Shdr& header) {
      const bool holds = header.sh_type == SHT_PROGBITS && symbol->st_value >= header.sh_addr &&
                         symbol->st_value - header.sh_addr < header.sh_size;
      if (holds) {
        text = textAt(elf.fd(), header.sh_offset + (symbol->st_value - header.sh_addr));
        text.resize(std::min<std::size_t>(text.size(), symbol->st_size));
      }
      return holds;
    });
  }
  return text;
}

std::string textOfSection(const std::string& path, const char* name) {
  const OpenElf elf(path);
  std::size_t names = 0;
  std::string text;
  if (elf.get() == nullptr || elf_getshdrstrndx(elf.get(), &names) != 0) {
    return text;
  }
  elf.sections([&](Elf_Scn* /*section*/, const GElf_Shdr& header) {
    const char* const found = elf_strptr(elf.get(), names, header.sh_name);
    const bool is =
        found != nullptr && std::strcmp(found, name) == 0 && header.sh_type != SHT_NOBITS;
    if (is) {
      text = textAt(elf.fd(), header.sh_offset);
      text.resize(std::min<std::size_t>(text.size(), header.sh_size));
    }
    return is;
  });
  return text;
}

std::string machineName(const ElfFacts& facts) {
  switch (facts.machine) {
    case EM_X86_64:
      return facts.is64 ? "x86-64" : "x32";
    case EM_386:
      return "32-bit x86";
    case EM_AARCH64:
      return "64-bit ARM";
    case EM_ARM:
      return "32-bit ARM";
    case EM_PPC64:
      return "POWER";
    case EM_RISCV:
      return facts.is64 ? "64-bit RISC-V" : "32-bit RISC-V";
    default:
      return "machine " + std::to_string(facts.machine);
  }
}

}  // namespace pf::agent
