// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/collation/call_sites.h"

#include <cxxabi.h>
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwelf.h>
#include <elfutils/libdwfl.h>
#include <fcntl.h>

#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>

#include "app/collation/separate_symbols.h"
#include "app/files/paths.h"
#include "replay_engine/base/unique_fd.h"

namespace pf::app {
namespace {

const Dwfl_Callbacks kCallbacks = {dwfl_build_id_find_elf, findSeparateSymbols,
                                   dwfl_offline_section_address, nullptr};

std::string demangled(const char* name) {
  if (std::strncmp(name, "_Z", 2) != 0) {
    return name;  // of C: f would be read as a type, float
  }
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(
      abi::__cxa_demangle(name, nullptr, nullptr, &status), &std::free);
  return status == 0 && text != nullptr ? text.get() : name;
}

}  // namespace

struct EndDwfl {
  void operator()(Dwfl* dwfl) const { dwfl_end(dwfl); }
};
using DwflHandle = std::unique_ptr<Dwfl, EndDwfl>;

/// One module with its debug information, at the addresses of its file.
class Module {
 public:
  explicit Module(const std::string& path) : m_dwfl(dwfl_begin(&kCallbacks)) {
    if (m_dwfl != nullptr && !path.empty()) {
      m_module = dwfl_report_offline(m_dwfl.get(), path.c_str(), path.c_str(), -1);
      dwfl_report_end(m_dwfl.get(), nullptr, nullptr);
    }
    if (m_module != nullptr) {
      GElf_Addr bias = 0;
      dwfl_module_getelf(m_module, &bias);
      m_bias = bias;
    }
  }

  void resolve(CallSite& site) const {
    if (m_module == nullptr) {
      return;
    }
    // The return address is behind the call: one less is inside of it.
    const Dwarf_Addr address = site.offset - 1 + m_bias;
    if (Dwfl_Line* line = dwfl_module_getsrc(m_module, address); line != nullptr) {
      int number = 0;
      const char* file = dwfl_lineinfo(line, nullptr, &number, nullptr, nullptr, nullptr);
      if (file != nullptr) {
        const char* directory = file[0] == '/' ? nullptr : dwfl_line_comp_dir(line);
        site.file = directory != nullptr ? std::string(directory) + "/" + file : std::string(file);
        site.line = number;
      }
    }
    if (const char* name = dwfl_module_addrname(m_module, address); name != nullptr) {
      site.function = demangled(name);
    }
  }

  /// `site` as resolve() has filled it, and after it the functions that it is inlined in.
  [[nodiscard]] std::vector<CallSite> withCallers(const CallSite& site) const {
    std::vector<CallSite> frames{site};
    Dwarf_Addr bias = 0;
    const Dwarf_Addr address = site.offset - 1 + m_bias;
    Dwarf_Die* unit = unitAt(address, bias);
    if (unit == nullptr) {
      return frames;
    }
    Dwarf_Files* files = nullptr;
    if (dwarf_getsrcfiles(unit, &files, nullptr) != 0) {
      return frames;
    }
    bool innermost = true;
    for (Dwarf_Die scope : scopesAt(unit, address - bias)) {
      const int tag = dwarf_tag(&scope);
      if (tag != DW_TAG_inlined_subroutine && tag != DW_TAG_subprogram) {
        continue;
      }
      if (const std::string name = nameOf(scope); !name.empty()) {
        frames.back().function = name;
      }
      innermost = false;
      if (tag == DW_TAG_subprogram) {
        break;
      }
      CallSite caller;
      caller.module = site.module;
      caller.offset = site.offset;
      caller.line = static_cast<std::int32_t>(number(scope, DW_AT_call_line));
      if (const char* file =
              dwarf_filesrc(files, number(scope, DW_AT_call_file), nullptr, nullptr)) {
        const char* directory = file[0] == '/' ? nullptr : compilationDirectory(unit);
        caller.file = directory != nullptr ? std::string(directory) + "/" + file : file;
      }
      frames.push_back(std::move(caller));
    }
    if (innermost) {
      return {site};
    }
    return frames;
  }

  /// The line at which the function around a return address is declared, inlined or not; 0: not known.
  [[nodiscard]] std::int32_t declaredAt(std::uint64_t offset) const {
    Dwarf_Addr bias = 0;
    const Dwarf_Addr address = offset - 1 + m_bias;
    Dwarf_Die* unit = unitAt(address, bias);
    if (unit == nullptr) {
      return 0;
    }
    for (Dwarf_Die& scope : scopesAt(unit, address - bias)) {
      const int tag = dwarf_tag(&scope);
      if (tag == DW_TAG_inlined_subroutine || tag == DW_TAG_subprogram) {
        Dwarf_Attribute attribute;
        Dwarf_Word line = 0;
        const bool known =
            dwarf_formudata(dwarf_attr_integrate(&scope, DW_AT_decl_line, &attribute), &line) == 0;
        return known && line <= INT32_MAX ? static_cast<std::int32_t>(line) : 0;
      }
    }
    return 0;
  }

 private:
  /// The compilation unit at an address of the module; null: not known.
  Dwarf_Die* unitAt(Dwarf_Addr address, Dwarf_Addr& bias) const {
    return m_module == nullptr ? nullptr : dwfl_module_addrdie(m_module, address, &bias);
  }

  /// Scopes around an address, the innermost one first, with inlined calls where they are made.
  static std::vector<Dwarf_Die> scopesAt(Dwarf_Die* unit, Dwarf_Addr address) {
    Dwarf_Die* found = nullptr;
    const int count = dwarf_getscopes(unit, address, &found);
    const std::unique_ptr<Dwarf_Die, decltype(&std::free)> owned(found, &std::free);
    if (count <= 0) {
      return {};
    }
    Dwarf_Die innermost = found[0];
    Dwarf_Die* chain = nullptr;
    const int length = dwarf_getscopes_die(&innermost, &chain);
    const std::unique_ptr<Dwarf_Die, decltype(&std::free)> ownedChain(chain, &std::free);
    return length <= 0 ? std::vector<Dwarf_Die>{} : std::vector<Dwarf_Die>(chain, chain + length);
  }
  static std::string nameOf(Dwarf_Die& scope) {
    Dwarf_Attribute attribute;
    const char* linkage =
        dwarf_formstring(dwarf_attr_integrate(&scope, DW_AT_linkage_name, &attribute));
    if (linkage != nullptr) {
      return demangled(linkage);
    }
    const char* name = dwarf_diename(&scope);
    return name != nullptr ? name : "";
  }
  static Dwarf_Word number(Dwarf_Die& scope, unsigned attributeName) {
    Dwarf_Attribute attribute;
    Dwarf_Word value = 0;
    return dwarf_formudata(dwarf_attr(&scope, attributeName, &attribute), &value) == 0 ? value : 0;
  }
  static const char* compilationDirectory(Dwarf_Die* unit) {
    Dwarf_Attribute attribute;
    return dwarf_formstring(dwarf_attr(unit, DW_AT_comp_dir, &attribute));
  }

  DwflHandle m_dwfl;
  Dwfl_Module* m_module = nullptr;
  Dwarf_Addr m_bias = 0;
};

class FrameResolver::File : public Module {
 public:
  using Module::Module;
};

FrameResolver::FrameResolver() = default;
FrameResolver::~FrameResolver() = default;

FrameResolver::File& FrameResolver::file(const std::string& module) {
  auto& file = m_files[module];
  if (file == nullptr) {
    file = std::make_unique<File>(module);
  }
  return *file;
}

const std::vector<CallSite>& FrameResolver::frames(const std::string& module,
                                                   std::uint64_t offset) {
  const auto [known, isNew] = m_known.try_emplace({module, offset});
  if (isNew) {
    CallSite site;
    site.module = module;
    site.offset = offset;
    file(module).resolve(site);
    known->second = file(module).withCallers(site);
  }
  return known->second;
}

std::int32_t FrameResolver::declaredAt(const std::string& module, std::uint64_t offset) {
  return file(module).declaredAt(offset);
}

// …/mpi4py/MPI.cpython-311-x86_64-linux-gnu.so
bool isOfMpi4py(const std::string& module) {
  const std::size_t slash = module.rfind('/');
  return slash != std::string::npos && module.substr(0, slash).ends_with("/mpi4py");
}

void resolveCallSites(std::vector<CallSite>& sites) {
  std::map<std::string, std::unique_ptr<Module>> modules;
  for (CallSite& site : sites) {
    auto& module = modules[site.module];
    if (module == nullptr) {
      module = std::make_unique<Module>(site.module);
    }
    CallSite native{site.module, site.offset, {}, {}, 0};
    module->resolve(native);
    if (site.file.empty() || (!native.file.empty() && !isOfMpi4py(site.module))) {
      site = std::move(native);
    }
  }
}

std::string siteText(const CallSite& site) {
  if (!site.file.empty()) {
    return fileName(site.file) + ":" + std::to_string(site.line);
  }
  const std::string module = fileName(site.module);
  return site.function.empty() ? module + "+" + std::to_string(site.offset)
                               : site.function + " (" + module + ")";
}

std::string placeText(const std::string& module, std::uint64_t offset) {
  std::vector<CallSite> sites(1);
  sites[0].module = module;
  sites[0].offset = offset;
  resolveCallSites(sites);
  const CallSite& site = sites[0];
  const std::string text = siteText(site);
  return site.file.empty() || site.function.empty() ? text : text + " (" + site.function + ")";
}

std::string buildIdOf(const std::string& path) {
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd.valid()) {
    return {};
  }
  elf_version(EV_CURRENT);
  Elf* elf = elf_begin(fd.get(), ELF_C_READ_MMAP, nullptr);
  const void* bytes = nullptr;
  const ssize_t size = elf != nullptr ? dwelf_elf_gnu_build_id(elf, &bytes) : -1;
  std::string hex;
  for (ssize_t i = 0; i < size; ++i) {
    constexpr const char* kDigits = "0123456789abcdef";
    const auto byte = static_cast<const unsigned char*>(bytes)[i];
    hex += kDigits[byte >> 4];
    hex += kDigits[byte & 15];
  }
  elf_end(elf);
  return hex;
}

}  // namespace pf::app
