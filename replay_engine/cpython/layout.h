// SPDX-License-Identifier: MIT
// Where CPython keeps what, by version, in release builds of 64 bits.
#pragma once

#include <cstdint>

#include "replay_engine/cpython/memory.h"

namespace pf::cpython {

inline constexpr std::uint8_t kOwnedByCStack = 3;  ///< FRAME_OWNED_BY_CSTACK, from 3.12 on

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

enum class LayoutProblem : std::uint8_t {
  None,
  Old,           ///< before 3.11
  Unknown,       ///< another version, which the number says
  NotDescribed,  ///< a 3.13 that does not describe where its data are
  FreeThreaded,
  Impossible,  ///< a 3.13 that describes them with numbers that cannot be
};

/// The layout of the interpreter whose _PyRuntime lies at `runtime`. `version` is Py_Version, as PY_VERSION_HEX; 0: it has
/// none. `layout` holds anything where there is a problem.
[[nodiscard]] LayoutProblem findLayout(Memory& memory, std::uint64_t runtime, std::uint64_t version,
                                       Layout& layout);

}  // namespace pf::cpython
