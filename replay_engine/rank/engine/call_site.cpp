// SPDX-License-Identifier: MIT
#include <dlfcn.h>
#include <link.h>
#include <unwind.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <string_view>

#include "replay_engine/rank/engine/engine.h"
#include "replay_engine/rank/engine/python_caller.h"

namespace pf {
namespace {

/// What holds it; null: nothing that the loader knows.
const link_map* mapOf(void* address) {
  dl_find_object found{};
  return _dl_find_object(address, &found) == 0 ? found.dlfo_link_map : nullptr;
}

}  // namespace

const char* moduleOf(void* address) {
  const link_map* const map = mapOf(address);
  if (map == nullptr || map->l_name == nullptr) {
    return nullptr;
  }
  const char* const slash = std::strrchr(map->l_name, '/');
  return slash != nullptr ? slash + 1 : map->l_name;
}

namespace {

struct KnownSite {
  void* address;
  std::uint64_t python;  ///< identityOf() its caller
  std::uint32_t number;
  std::uint16_t call;
  bool used;
};
constexpr std::uint32_t kSlots = 8192;
KnownSite g_sites[kSlots];
std::uint32_t g_siteCount = 0;
/// Code that a program of Python makes anew each time (exec) is a place of its own each time: it does not take all slots.
constexpr std::uint32_t kPlacesOfPython = kSlots / 4;
std::uint32_t g_pythonCount = 0;

/// A return address inside a language binding (Fortran, C++), and how far above our caller's return
/// address the application's own lies on the stack. The frames of these bindings have fixed sizes.
struct Binding {
  void* address;
  std::ptrdiff_t slots;  ///< 0: not a binding, or not found
};
constexpr std::uint32_t kBindings = 1024;
Binding g_bindings[kBindings];

constexpr std::uint32_t kModules = 512;
const void* g_modules[kModules];
std::uint32_t g_moduleCount = 0;

std::uint32_t hashOf(const void* address) {
  return static_cast<std::uint32_t>(
      (reinterpret_cast<std::uintptr_t>(address) * 0x9E3779B97F4A7C15ULL) >> 40);
}

bool isInBinding(void* address) {
  const char* const name = moduleOf(address);
  return name != nullptr && beginsWithOne(name, kBindingNames);
}

struct Search {
  void* from;   ///< return address into the binding
  void* found;  ///< return address into the application
  bool inBinding;
};

_Unwind_Reason_Code visit(_Unwind_Context* context, void* argument) {
  auto* search = static_cast<Search*>(argument);
  auto* address = reinterpret_cast<void*>(_Unwind_GetIP(context));
  if (!search->inBinding) {
    search->inBinding = address == search->from;
    return _URC_NO_REASON;
  }
  if (isInBinding(address)) {
    return _URC_NO_REASON;
  }
  search->found = address;
  return _URC_END_OF_STACK;
}

std::ptrdiff_t findAbove(const CallPlace& place) {
  if (!isInBinding(place.returnAddress)) {
    return 0;
  }
  Search search{place.returnAddress, nullptr, false};
  _Unwind_Backtrace(visit, &search);
  for (std::ptrdiff_t i = 1; search.found != nullptr && i < 512; ++i) {
    if (place.slot[i] == search.found) {
      return i;
    }
  }
  return 0;
}

}  // namespace

void* applicationAddress(const CallPlace& place) {
  if (place.slot == nullptr) {
    return place.returnAddress;
  }
  Binding& known = g_bindings[hashOf(place.returnAddress) % kBindings];
  if (known.address != place.returnAddress) {
    known.slots = findAbove(place);
    known.address = place.returnAddress;
  }
  return known.slots == 0 ? place.returnAddress : place.slot[known.slots];
}

namespace {

template <RecordKind kind>
void putText(FieldsOf<kind> fields, std::string_view text) {
  fields.length = text.size();
  unsigned char* const p = putRecord<kind>(g_engine.log.reserve(), fields);
  std::memcpy(p, text.data(), text.size());
  g_engine.log.commit(p + text.size());
}

std::uint32_t moduleNumber(const link_map* map, const char* path) {
  for (std::uint32_t i = 0; i < g_moduleCount; ++i) {
    if (g_modules[i] == map) {
      return i;
    }
  }
  if (g_moduleCount == kModules) {
    return kModules - 1;
  }
  g_modules[g_moduleCount] = map;
  putText<RecordKind::Module>({}, {path, std::min(std::strlen(path), kMaxRecord - 8)});
  return g_moduleCount++;
}

/// Behind a site, where it is called from Python.
void definePython(const cpython::Instruction& caller) {
  static cpython::BoundedText<cpython::kLongestFile> file;  // of the last SourceFile
  const cpython::CodePlace* const place = caller.known() ? describe(caller) : nullptr;
  if (place == nullptr) {
    return;
  }
  if (file.view() != place->file.view()) {
    file = place->file;
    putText<RecordKind::SourceFile>({}, file.view());
  }
  putText<RecordKind::SourceLine>({static_cast<std::uint32_t>(place->line)},
                                  place->function.view());
}

void define(void* address, std::uint16_t call, const cpython::Instruction& caller) {
  std::uint32_t module = 0;
  std::uint64_t offset = reinterpret_cast<std::uintptr_t>(address);
  if (const link_map* const map = mapOf(address); map != nullptr) {
    const bool main = map->l_name == nullptr || map->l_name[0] == '\0';
    module = moduleNumber(map, main ? g_engine.log.header().executable : map->l_name);
    offset -= map->l_addr;
  } else {
    module = moduleNumber(nullptr, "");
  }
  g_engine.log.put<RecordKind::Site>({call, module, offset});
  definePython(caller);
  g_engine.log.publish();
}

}  // namespace

bool isOfMpi(void* address) {
  // Address * 2 + whether it is. Threads that begin threads, or take locks, come here at once.
  static std::atomic<std::uintptr_t> known[256];
  const auto number = reinterpret_cast<std::uintptr_t>(address);
  std::atomic<std::uintptr_t>& slot = known[hashOf(address) % 256];
  const std::uintptr_t here = slot.load(std::memory_order_relaxed);
  if (here >> 1 == number) {
    return (here & 1U) != 0;
  }
  const char* const name = moduleOf(address);
  const bool found = name != nullptr && beginsWithOne(name, kModuleNames);
  slot.store(number << 1 | (found ? 1U : 0U), std::memory_order_relaxed);
  return found;
}

bool isMpisOwnCall(void* returnAddress) {
  return isOfMpi(returnAddress) && !isInBinding(returnAddress);
}

namespace {

/// `caller`: unknown, or the place in Python that the call comes from.
std::uint32_t numberOf(void* address, std::uint16_t call, const cpython::Instruction& caller) {
  static KnownSite last{};  // a call asks for its site up to twice
  const std::uint64_t python = identityOf(caller);
  const auto isHere = [&](const KnownSite& site) {
    return site.address == address && site.python == python && site.call == call;
  };
  if (last.used && isHere(last)) {
    return last.number;
  }
  const auto hash = hashOf(address) + static_cast<std::uint32_t>(python >> 32U);
  for (std::uint32_t i = (hash + call) % kSlots, tries = 0; tries < kSlots;
       i = (i + 1) % kSlots, ++tries) {
    KnownSite& site = g_sites[i];
    if (!site.used) {
      if (python != 0 && g_pythonCount == kPlacesOfPython) {
        return numberOf(address, call, {});
      }
      if (g_siteCount >= kSlots / 2) {
        break;  // thousands of call sites: the rest share the last number
      }
      g_pythonCount += python != 0 ? 1U : 0U;
      define(address, call, caller);
      site = KnownSite{address, python, g_siteCount++, call, true};
      last = site;
      return site.number;
    }
    if (isHere(site)) {
      last = site;
      return site.number;
    }
  }
  return g_siteCount - 1;
}

}  // namespace

std::uint32_t siteNumber(const CallPlace& place) {
  return numberOf(applicationAddress(place), place.call, pythonCaller());
}

}  // namespace pf
