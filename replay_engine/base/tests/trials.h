// SPDX-License-Identifier: MIT
// How much of a test that tries a thing many times with random input a build does.
#pragma once

namespace pf::test {

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define PF_ADDRESS_SANITIZER 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(PF_ADDRESS_SANITIZER)
inline constexpr bool kAddressSanitizer = true;
#else
inline constexpr bool kAddressSanitizer = false;
#endif

/// `usual`, of which a build with the address sanitizer does a tenth: it takes ten to thirty times as long, and looks for
/// other things. `./test` does them all in its release build.
template <typename Number>
[[nodiscard]] constexpr Number trials(Number usual) {
  return kAddressSanitizer && usual > 0 ? (usual + 9) / 10 : usual;
}

}  // namespace pf::test
