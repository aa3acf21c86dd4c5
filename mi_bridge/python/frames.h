// SPDX-License-Identifier: GPL-3.0-or-later
// What a thread of CPython executes: function, file and line of each frame, and their variables.
//
// _PyRuntime -> interpreters -> threads -> current frame -> … (CPython, InternalDocs/frames.md). The process may be damaged,
// or hostile: lists are followed for a bounded number of steps, lengths are bounded, and whatever has to agree is compared.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "mi_bridge/python/layout.h"
#include "mi_bridge/python/memory.h"
#include "replay_engine/base/result.h"

namespace pf::mi::python {

/// A thread as GDB knows it. 0: not known.
struct ThreadKey {
  std::uint64_t pthread = 0;  ///< pthread_self()
  std::uint64_t native = 0;   ///< gettid()
};

struct Frame {
  std::uint64_t address = 0;  ///< of the interpreter's own frame
  std::string function;       ///< qualified: "Worker.run", "main.<locals>.<lambda>"
  std::string file;           ///< as the code was compiled
  int line = 0;               ///< 0: the instruction has none
  bool shown = true;          ///< Python shows it in its tracebacks
  bool entry = false;  ///< the outermost one that this call of _PyEval_EvalFrameDefault executes

  bool operator==(const Frame&) const = default;
};

struct Variable {
  std::string name;
  std::string type;
  std::string value;
  bool argument = false;
  std::uint64_t object = 0;  ///< where it lies, if it can be opened (parts.h); else 0

  bool operator==(const Variable&) const = default;
};

/// As many frames of a thread are read.
inline constexpr std::size_t kMostFrames = 512;

/// The frames of `thread`, the innermost one first; none if it executes no Python. Fails with a sentence if the interpreter's
/// data are not what they have to be.
[[nodiscard]] Result<std::vector<Frame>> readFrames(Memory& memory, const Layout& layout,
                                                    std::uint64_t runtime, ThreadKey thread);

/// Which names of a dictionary of variables.
enum class Names {
  All,
  Own,  ///< no modules, functions and classes, and no __names__
};

/// Variables of the frame at `frame` that have a value: arguments first, then in the order of the code. At the level of a
/// module or class: what was assigned there.
[[nodiscard]] Result<std::vector<Variable>> readLocals(Memory& memory, const Layout& layout,
                                                       std::uint64_t frame, Names names);
/// The same of its module.
[[nodiscard]] Result<std::vector<Variable>> readGlobals(Memory& memory, const Layout& layout,
                                                        std::uint64_t frame, Names names);

/// The object that a name stands for there: of a local variable, else of one of the module. NotFound: it has no value.
[[nodiscard]] Result<std::uint64_t> findVariable(Memory& memory, const Layout& layout,
                                                 std::uint64_t frame, const std::string& name);

}  // namespace pf::mi::python
