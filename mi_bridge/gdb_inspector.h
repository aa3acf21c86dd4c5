// SPDX-License-Identifier: GPL-3.0-or-later
// Questions to one stopped rank: stack, variables, values, threads, memory. Names first, values on
// demand: a huge or uninitialised container costs one page, never itself.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "mi_bridge/array_query.h"
#include "mi_bridge/command_queue.h"
#include "mi_bridge/mpi_call_query.h"
#include "mi_bridge/python_stacks.h"
#include "mi_bridge/records.h"
#include "replay_engine/base/result.h"

namespace pf::mi {

template <typename T>
using Callback = std::function<void(Result<T>)>;
using Done = std::function<void(Status)>;

/// A frame of a thread. Thread 0: the one that GDB has selected.
struct FrameRef {
  int thread = 0;
  int level = 0;             ///< GDB's
  std::uint64_t python = 0;  ///< Frame::python: variables, and values of expressions, are Python's
};
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
      : m_queue(queue), m_filter(std::move(filter)), m_python(queue) {}

  /// Frames first..last, both included, of a thread; from 0 on with Python's (python_stacks.h), and then more.
  void frames(int thread, int first, int last, Callback<std::vector<Frame>> done);
  /// Makes `frame` the one that GDB's console and later expressions see.
  void selectFrame(FrameRef frame, Done done);
  void threads(Callback<std::vector<ThreadInfo>> done);
  /// Locals and arguments; structures and arrays come without value, see createVar.
  /// Those of Python all have a value, as text.
  void variables(FrameRef frame, VariableDetail detail, Callback<std::vector<Variable>> done);
  /// The module's variables that a frame of Python sees.
  void pythonGlobals(FrameRef frame, Callback<std::vector<Variable>> done);
  /// Why the last stack shows no Python, and what helps; empty: it shows all there is.
  [[nodiscard]] const std::string& pythonProblem() const { return m_python.problem(); }
  /// In a frame of Python: a variable by its name.
  void evaluate(FrameRef frame, const std::string& expression, Callback<std::string> done);

  void createVar(FrameRef frame, const std::string& expression, Callback<VarObject> done);
  /// Children from..from+count-1. Also what a later update may look at.
  void children(const std::string& name, int from, int count, Callback<VarPage> done);
  void updateVar(const std::string& name, Callback<std::vector<VarChange>> done);
  void assignVar(const std::string& name, const std::string& value, Callback<std::string> done);
  void deleteVar(const std::string& name, Done done);

  /// `count` bytes at an address expression, as lower-case hexadecimal digits.
  void readMemory(const std::string& address, std::uint32_t count, Callback<std::string> done);
  /// An array of the program in files (array_query.h). Fails when the rank goes on meanwhile, or GDB gets into trouble.
  void readArray(FrameRef frame, const ArrayRequest& request, Callback<ArrayQueryEnd> done);
  /// The MPI call that the thread of the frame stands in. Fails where this GDB has no Python that can look.
  void standingCall(FrameRef frame, Callback<std::optional<StandingCall>> done);
  /// The general registers.
  void registers(FrameRef frame, Callback<std::vector<Register>> done);
  /// The function around an address expression; a piece of code from there on where no function is
  /// known.
  void instructions(FrameRef frame, const std::string& address,
                    Callback<std::vector<Instruction>> done);
  /// Sources compiled under `from` are looked for under `to`.
  void substitutePath(const std::string& from, const std::string& to, Done done);

 private:
  using Names = std::vector<std::string>;
  /// GDB has been told how to read arrays, or `then` gets its words.
  void teach(Done then);
  void askArray(FrameRef frame, const ArrayRequest& request, Callback<ArrayQueryEnd> done);
  void listVariables(FrameRef frame, VariableDetail detail, Callback<std::vector<Variable>> done);
  void createNamedVar(FrameRef frame, const std::string& expression, Callback<VarObject> done);
  /// Of the variables of a frame, or the expression, those that must not be asked for. Fails when the program goes on: what
  /// holds for a frame does not hold for that of the next stop.
  void askUnnamed(FrameRef frame, const std::string& expression, Callback<Names> then);

  CommandQueue& m_queue;
  FrameFilter m_filter;
  PythonStacks m_python;
  bool m_taught = false;   ///< how to read arrays
  bool m_fortran = false;  ///< a frame of Fortran has been seen
};

/// `--thread T --frame L `, or "" for what GDB has selected.
[[nodiscard]] std::string frameOptions(FrameRef frame);

}  // namespace pf::mi
