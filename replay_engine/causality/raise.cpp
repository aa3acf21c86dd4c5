// SPDX-License-Identifier: GPL-3.0-or-later
#include "replay_engine/causality/raise.h"

namespace pf {
namespace {

#if defined(__GNUC__) && !defined(__clang__)
#define PF_VECTORIZE optimize("O3")  // -O2 leaves loops of unknown length alone
#else
#define PF_VECTORIZE
#endif

[[gnu::always_inline]] inline bool raiseEach(std::uint32_t* to, const std::uint32_t* from,
                                             std::size_t size) {
  std::uint32_t changed = 0;
  for (std::size_t i = 0; i < size; ++i) {
    const std::uint32_t higher = to[i] < from[i] ? from[i] : to[i];
    changed |= higher ^ to[i];
    to[i] = higher;
  }
  return changed != 0;
}

__attribute__((PF_VECTORIZE)) bool raisePlainly(std::uint32_t* to, const std::uint32_t* from,
                                                std::size_t size) {
  return raiseEach(to, from, size);
}

#if defined(__x86_64__)
/// Has a maximum of unsigned numbers, which x86-64 by itself has not.
__attribute__((target("avx2"), PF_VECTORIZE)) bool raiseByInstruction(std::uint32_t* to,
                                                                      const std::uint32_t* from,
                                                                      std::size_t size) {
  return raiseEach(to, from, size);
}
#endif

}  // namespace

bool raiseMany(std::uint32_t* to, const std::uint32_t* from, std::size_t size) {
#if defined(__x86_64__)
  static const bool kHasInstruction = __builtin_cpu_supports("avx2") != 0;
  if (kHasInstruction) {
    return raiseByInstruction(to, from, size);
  }
#endif
  return raisePlainly(to, from, size);
}

}  // namespace pf
