#include "app/call_sites.h"

#include <cxxabi.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwelf.h>
#include <elfutils/libdwfl.h>
#include <fcntl.h>

#include <cstdlib>
#include <map>
#include <memory>

#include "base/unique_fd.h"

namespace pf::app {
namespace {

struct EndDwfl {
  void operator()(Dwfl* dwfl) const { dwfl_end(dwfl); }
};
using DwflHandle = std::unique_ptr<Dwfl, EndDwfl>;

const Dwfl_Callbacks kCallbacks = {dwfl_build_id_find_elf, dwfl_standard_find_debuginfo,
                                   dwfl_offline_section_address, nullptr};

std::string demangled(const char* name) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(
      abi::__cxa_demangle(name, nullptr, nullptr, &status), &std::free);
  return status == 0 && text != nullptr ? text.get() : name;
}

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

 private:
  DwflHandle m_dwfl;
  Dwfl_Module* m_module = nullptr;
  Dwarf_Addr m_bias = 0;
};

}  // namespace

void resolveCallSites(std::vector<CallSite>& sites) {
  std::map<std::string, std::unique_ptr<Module>> modules;
  for (CallSite& site : sites) {
    auto& module = modules[site.module];
    if (module == nullptr) {
      module = std::make_unique<Module>(site.module);
    }
    module->resolve(site);
  }
}

std::string placeText(const std::string& module, std::uint64_t offset) {
  std::vector<CallSite> sites(1);
  sites[0].module = module;
  sites[0].offset = offset;
  resolveCallSites(sites);
  const CallSite& site = sites[0];
  const auto nameOf = [](const std::string& path) {
    return path.substr(path.find_last_of('/') + 1);
  };
  if (site.file.empty()) {
    const std::string name = nameOf(module);
    return site.function.empty() ? name + "+" + std::to_string(offset)
                                 : site.function + " (" + name + ")";
  }
  const std::string line = nameOf(site.file) + ":" + std::to_string(site.line);
  return site.function.empty() ? line : line + " (" + site.function + ")";
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
