// SPDX-License-Identifier: GPL-3.0-or-later
// Where CPython keeps what, by version, in release builds of 64 bits.
#pragma once

#include <cstdint>

#include "mi_bridge/python/memory.h"
#include "replay_engine/base/result.h"

namespace pf::mi::python {

/// Offsets in bytes, named as CPython's headers name the members.
struct Layout {
  int minor = 0;  ///< of version 3

  // pycore_runtime.h, pycore_interp.h
  std::uint64_t interpretersHead = 0;
  std::uint64_t interpreterNext = 0;
  std::uint64_t threadsHead = 0;
  std::uint64_t interpreterRuntime = 0;  ///< 0: not looked at

  // cpython/pystate.h
  std::uint64_t threadNext = 0;
  std::uint64_t threadInterpreter = 0;
  std::uint64_t threadId = 0;
  std::uint64_t nativeThreadId = 0;
  std::uint64_t currentFrame = 0;  ///< of the thread, or of its cframe
  std::uint64_t cframe = 0;        ///< meaningful with `hasCframe`
  bool hasCframe = false;

  // pycore_frame.h
  std::uint64_t frameCode = 0;
  std::uint64_t framePrevious = 0;
  std::uint64_t frameInstruction = 0;  ///< prev_instr or instr_ptr
  std::uint64_t frameGlobals = 0;
  std::uint64_t frameLocals = 0;
  std::uint64_t frameOwner = 0;
  std::uint64_t frameIsEntry = 0;  ///< 0: an entry is a frame of its own, owned by the C stack
  std::uint64_t localsplus = 0;

  // cpython/code.h
  std::uint64_t codeFlags = 0;
  std::uint64_t codeArguments = 0;         ///< co_argcount
  std::uint64_t codeKeywordArguments = 0;  ///< co_kwonlyargcount
  std::uint64_t codeFirstLine = 0;
  std::uint64_t codeLocalsCount = 0;  ///< co_nlocalsplus
  std::uint64_t codeNames = 0;        ///< co_localsplusnames
  std::uint64_t codeFile = 0;
  std::uint64_t codeQualifiedName = 0;
  std::uint64_t codeLineTable = 0;
  std::uint64_t codeFirstTraceable = 0;
  std::uint64_t codeInstructions = 0;  ///< co_code_adaptive

  // unicodeobject.h, longintrepr.h, pycore_dict.h
  std::uint64_t asciiSize = 0;
  std::uint64_t compactSize = 0;
  bool taggedSize = false;       ///< an int has lv_tag and not ob_size
  std::uint64_t dictValues = 0;  ///< of _dictvalues: its first value
};

/// The layout of the interpreter whose _PyRuntime lies at `runtime`. `version` is Py_Version, as PY_VERSION_HEX; 0: it has
/// none. Fails with a sentence on what is not known, and what to do about it.
[[nodiscard]] Result<Layout> layoutOf(Memory& memory, std::uint64_t runtime, std::uint64_t version);

}  // namespace pf::mi::python
