// SPDX-License-Identifier: MIT
// The last catch: what throws all the same (memory that ran out, a library) becomes an error, and
// ends no program without a word.
#pragma once

#include <string>
#include <type_traits>

#include "replay_engine/base/result.h"

namespace pf {

/// In a catch block: what was thrown, and what to do next. System where memory ran out, else
/// Internal.
[[nodiscard]] Error caughtError();

/// In a catch block: says on standard error what was thrown. Needs no memory.
void sayCaught(const char* who);

/// What `body` gives; where it throws, the error, if its result can hold one, or an empty result,
/// and then a line on standard error.
template <typename Body>
auto caught(Body&& body) -> std::invoke_result_t<Body&> {
  using T = std::invoke_result_t<Body&>;
  try {
    return body();
  } catch (...) {
    if constexpr (std::is_constructible_v<T, Error>) {
      return T(caughtError());
    } else {
      sayCaught("photofinish");
      return T();
    }
  }
}

/// A whole program: what `body` gives, or 1, said on standard error as `who`'s.
int lastCatch(const char* who, int (*body)(int, char**), int argc, char** argv);

}  // namespace pf
