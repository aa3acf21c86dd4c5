// SPDX-License-Identifier: GPL-3.0-or-later
// Memory of a rank that is looked at, and that may hold anything.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "replay_engine/cpython/memory.h"

namespace pf::mi::python {

using cpython::Memory;
using cpython::readNumber;
using cpython::readPointer;

/// Up to the first zero, or `most` bytes.
[[nodiscard]] std::string readCString(Memory& memory, std::uint64_t address, std::size_t most);

}  // namespace pf::mi::python
