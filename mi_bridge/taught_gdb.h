// SPDX-License-Identifier: GPL-3.0-or-later
// Questions that GDB/MI has no command for: GDB's own Python is told how to answer them (gdb_python), once, and is asked by
// console commands then. All are refreshes: they complete with an error when the program moves on first.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "mi_bridge/array_query.h"
#include "mi_bridge/asking.h"
#include "mi_bridge/command_queue.h"
#include "mi_bridge/mpi_call_query.h"
#include "mi_bridge/records.h"

namespace pf::mi {

/// How answers and refusals of gdb_python/asked.py begin, in an error that is printed as well.
inline constexpr std::string_view kAnswer = "photofinish answer: ";
inline constexpr std::string_view kProblem = "photofinish problem: ";
inline constexpr std::string_view kNoPython =
    "this GDB has no Python, which formats, globals and values of Fortran need";

class TaughtGdb {
 public:
  explicit TaughtGdb(CommandQueue& queue) : m_queue(queue) {}

  /// An array of the program in files (array_query.h). Fails when the rank goes on meanwhile, or GDB gets into trouble.
  void readArray(FrameRef frame, const ArrayRequest& request, Callback<ArrayQueryEnd> done);
  /// The MPI call that the thread of the frame stands in. Fails where this GDB has no Python that can look.
  void standingCall(FrameRef frame, Callback<std::optional<StandingCall>> done);
  /// Of an expression with a format in front (value_format.h).
  void value(FrameRef frame, const std::string& expression, Callback<std::string> done);
  /// The variables of the frame's source file, without values, each by an expression that is none of another one there.
  void globals(FrameRef frame, Callback<std::vector<Variable>> done);
  /// A command of gdb_python/asked.py. Fails with kNoPython in a GDB that cannot have them.
  void ask(FrameRef frame, const std::string& line, Callback<std::string> done);

 private:
  /// GDB has been told, or `then` gets its words.
  void teach(Done then);
  void askArray(FrameRef frame, const ArrayRequest& request, Callback<ArrayQueryEnd> done);

  CommandQueue& m_queue;
  bool m_taught = false;
};

}  // namespace pf::mi
