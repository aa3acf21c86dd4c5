// SPDX-License-Identifier: GPL-3.0-or-later
// Questions to one stopped rank: stack, variables, values, threads, memory. Names first, values on
// demand: a huge or uninitialised container costs one page, never itself.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "mi_bridge/asking.h"
#include "mi_bridge/command_queue.h"
#include "mi_bridge/fortran_values.h"
#include "mi_bridge/python_stacks.h"
#include "mi_bridge/records.h"
#include "mi_bridge/taught_gdb.h"
#include "replay_engine/base/result.h"

namespace pf::mi {

/// A frame that frames() gave, of this thread.
[[nodiscard]] inline FrameRef refOf(int thread, const Frame& frame) {
  return {thread, frame.gdbLevel, frame.python};
}

enum class VariableDetail { NamesOnly, SimpleValues };

struct Register {
  std::string name;
  std::string value;

  bool operator==(const Register&) const = default;
};

struct Instruction {
  std::string address;   ///< "0x401136"
  std::string function;  ///< "" outside of every function
  int offset = 0;        ///< in it
  std::string text;

  bool operator==(const Instruction&) const = default;
};

/// All questions are refreshes: they complete with an error when the program moves on first.
class GdbInspector {
 public:
  /// Fills in what GDB leaves out of a frame (its library).
  using FrameFilter = std::function<void(Frame&)>;

  GdbInspector(CommandQueue& queue, FrameFilter filter)
      : m_queue(queue),
        m_filter(std::move(filter)),
        m_python(queue),
        m_taught(queue),
        m_values(m_taught) {}

  /// Frames first..last, both included, of a thread; from 0 on with Python's (python_stacks.h), and then more.
  void frames(int thread, int first, int last, Callback<std::vector<Frame>> done);
  /// Makes `frame` the one that GDB's console and later expressions see.
  void selectFrame(FrameRef frame, Done done);
  void threads(Callback<std::vector<ThreadInfo>> done);
  /// Locals and arguments; structures and arrays come without value, see createVar.
  /// Those of Python all have a value, as text.
  void variables(FrameRef frame, VariableDetail detail, Callback<std::vector<Variable>> done);
  /// The variables of the module that a frame of Python sees; else those of the frame's source file, without values, each by
  /// an expression that is none of another one there. None, where nothing is known of the source.
  void globals(FrameRef frame, Callback<std::vector<Variable>> done);
  /// Why the last stack shows no Python, and what helps; empty: it shows all there is.
  [[nodiscard]] const std::string& pythonProblem() const { return m_python.problem(); }
  /// In a format, where the expression begins with one (value_format.h). In a frame of Python: a variable
  /// or a part of one (python/path.h).
  void evaluate(FrameRef frame, const std::string& expression, Callback<std::string> done);

  /// In a frame of Python its name is good until the rank goes on, and GDB knows nothing of it: it is looked at by
  /// children() and pathOf().
  void createVar(FrameRef frame, const std::string& expression, Callback<VarObject> done);
  /// Also what a later update may look at.
  void children(const std::string& name, const ChildRange& range, Callback<VarPage> done);
  void updateVar(const std::string& name, Callback<std::vector<VarChange>> done);
  void assignVar(const std::string& name, const std::string& value, Callback<std::string> done);
  void deleteVar(const std::string& name, Done done);
  /// The expression of an object that is a part of another one. What a pretty printer shows has none.
  void pathOf(const std::string& name, Callback<std::string> done);

  /// Fails where GDB would watch another place: elements of Fortran's sections.
  void watchable(const std::string& expression, const Done& done);

  /// `count` bytes at an address expression, as lower-case hexadecimal digits.
  void readMemory(const std::string& address, std::uint32_t count, Callback<std::string> done);
  /// What GDB's own Python answers: arrays, the call that a thread stands in.
  [[nodiscard]] TaughtGdb& taught() { return m_taught; }
  /// The general registers.
  void registers(FrameRef frame, Callback<std::vector<Register>> done);
  /// The function around an address expression; a piece of code from there on where no function is
  /// known.
  void instructions(FrameRef frame, const std::string& address,
                    Callback<std::vector<Instruction>> done);
  /// Sources compiled under `from` are looked for under `to`.
  void substitutePath(const std::string& from, const std::string& to, Done done);

 private:
  void openGroups(VarPage page, Callback<VarPage> done);
  void formatChildren(VarPage page, char format, Callback<VarPage> done);
  void listVariables(FrameRef frame, VariableDetail detail, Callback<std::vector<Variable>> done);
  void createNamedVar(FrameRef frame, const std::string& expression, Callback<VarObject> done);
  void evaluateInGdb(FrameRef frame, const std::string& expression, Callback<std::string> done);

  CommandQueue& m_queue;
  FrameFilter m_filter;
  PythonStacks m_python;
  TaughtGdb m_taught;
  FortranValues m_values;
  bool m_fortran = false;  ///< a frame of Fortran has been seen
};

}  // namespace pf::mi
