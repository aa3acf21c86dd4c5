// SPDX-License-Identifier: MIT
// Where text is put together that somebody will believe.
#pragma once

#include <sstream>

namespace pf {

/// Throws where memory is short. The operators of a standard stream swallow that, and what they have written so far
/// passes for the whole text.
class TextStream : public std::ostringstream {
 public:
  TextStream() { exceptions(std::ios_base::badbit); }
};

}  // namespace pf
