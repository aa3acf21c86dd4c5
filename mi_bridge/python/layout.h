// SPDX-License-Identifier: GPL-3.0-or-later
// Where the CPython of a rank keeps what (replay_engine/cpython), or why that is not known, in words.
#pragma once

#include <cstdint>

#include "mi_bridge/python/memory.h"
#include "replay_engine/base/result.h"
#include "replay_engine/cpython/layout.h"

namespace pf::mi::python {

using cpython::Layout;

/// The layout of the interpreter whose _PyRuntime lies at `runtime`. `version` is Py_Version, as PY_VERSION_HEX; 0: it has
/// none. Fails with a sentence on what is not known, and what to do about it.
[[nodiscard]] Result<Layout> layoutOf(Memory& memory, std::uint64_t runtime, std::uint64_t version);

}  // namespace pf::mi::python
