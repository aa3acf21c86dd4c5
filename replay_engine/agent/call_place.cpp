// SPDX-License-Identifier: GPL-3.0-or-later
// Where a rank is that does not get on, without a debugger and without a store in its messages'
// path: the interposer keeps the frame of the outermost MPI call in a variable for purposes of its
// own, and its wrappers have frame pointers.
#include <algorithm>
#include <array>

#include "replay_engine/agent/read_context.h"

namespace pf::agent {
namespace {

using protocol::CodePlace;

constexpr int kWrappers = 4;       ///< frames of our own library, at most
constexpr int kBindingSlots = 64;  ///< of the stack, looked through for the caller of a binding

template <typename T>
bool readValue(pid_t pid, std::uint64_t address, T& value) {
  return readMemory(pid, address, &value, sizeof value);
}

const Mapping* codeAt(const std::vector<Mapping>& mappings, std::uint64_t address) {
  const auto found = std::find_if(mappings.begin(), mappings.end(), [&](const Mapping& m) {
    return m.code && m.begin <= address && address < m.end;
  });
  return found == mappings.end() ? nullptr : &*found;
}

bool isNamed(const Mapping& mapping, const char* begin) {
  return mapping.path.compare(mapping.path.rfind('/') + 1, std::char_traits<char>::length(begin),
                              begin) == 0;
}

/// Whether it is a library of Open MPI or MPICH that only hands Fortran's or C++'s calls on.
bool isBinding(const Mapping& mapping) {
  return isNamed(mapping, "libmpi_") || isNamed(mapping, "libmpichf") ||
         isNamed(mapping, "libmpichcxx") || isNamed(mapping, "libmpifort") ||
         isNamed(mapping, "libmpicxx");
}

/// Whether what lies before `address` is a call: it may be a return address.
bool followsCall(pid_t pid, std::uint64_t address) {
#if defined(__x86_64__)
  std::array<unsigned char, 7> before{};
  if (!readValue(pid, address - before.size(), before)) {
    return false;
  }
  const bool near = before[2] == 0xE8;
  const bool indirect = (before[5] == 0xFF && (before[6] & 0xF8U) == 0xD0) ||
                        (before[1] == 0xFF && (before[2] & 0x38U) == 0x10) ||
                        (before[4] == 0xFF && (before[5] & 0x38U) == 0x10);
  return near || indirect;
#else
  return readValue(pid, address - 4, address);
#endif
}

/// The caller of a Fortran or C++ binding, whose frames have no frame pointers: the next word on
/// the stack that is a return address elsewhere.
std::uint64_t behindBinding(pid_t pid, const std::vector<Mapping>& mappings, std::uint64_t slot,
                            std::uint64_t address) {
  const Mapping* code = codeAt(mappings, address);
  if (code == nullptr || !isBinding(*code)) {
    return address;
  }
  for (int i = 1; i <= kBindingSlots; ++i) {
    std::uint64_t word = 0;
    if (!readValue(pid, slot + 8 * static_cast<std::uint64_t>(i), word)) {
      break;
    }
    code = codeAt(mappings, word);
    if (code != nullptr && !isNamed(*code, "libmpi") && followsCall(pid, word)) {
      return word;
    }
  }
  return address;
}

}  // namespace

CodePlace callPlaceOf(pid_t pid, const RankPage& page) {
  const std::vector<Mapping> mappings = mappingsOf(pid);
  if (const std::uint64_t told = page.waitAddress.load(std::memory_order_relaxed); told != 0) {
    return placeOf(mappings, told);
  }
  std::array<std::uint64_t, 2> frame{};  // the caller's frame, the return address
  std::uint64_t at = 0;
  if (page.outermostAt == 0 || !readValue(pid, page.outermostAt, at) ||
      !readValue(pid, at, frame)) {
    return {};
  }
  for (int i = 0; i < kWrappers; ++i) {
    const Mapping* code = codeAt(mappings, frame[1]);
    if (code == nullptr) {
      return {};
    }
    if (!isNamed(*code, "libphotofinish_mpi")) {
      return placeOf(mappings, behindBinding(pid, mappings, at + 8, frame[1]));
    }
    at = frame[0];
    if (!readValue(pid, at, frame)) {
      return {};
    }
  }
  return {};
}

}  // namespace pf::agent
