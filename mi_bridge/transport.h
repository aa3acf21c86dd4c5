// SPDX-License-Identifier: GPL-3.0-or-later
// The way to one GDB: its standard input, wherever that is.
#pragma once

#include <string_view>

namespace pf::mi {

class Transport {
 public:
  virtual ~Transport() = default;
  /// Hands bytes to GDB's standard input, in order. Must not call back into the session.
  virtual void send(std::string_view bytes) = 0;
};

}  // namespace pf::mi
