// SPDX-License-Identifier: GPL-3.0-or-later
// Values of Fortran and their parts, by GDB's Python (gdb_python/fortran.py): GDB's own variable objects have the elements of
// array sections wrong, and the components of arrays of derived type. The name of an object here says which frame, which
// expression and which part; GDB keeps nothing of it, and it must not be used when the rank has gone on.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "mi_bridge/asking.h"
#include "mi_bridge/records.h"
#include "mi_bridge/taught_gdb.h"

namespace pf::mi {

/// Children from..from+count-1, with their values in a format (value_format.h) that variable objects have.
struct ChildRange {
  int from = 0;
  int count = 0;
  char format = 0;
};

/// Whether GDB itself is to be asked: the frame is of another language, or this GDB has no Python.
[[nodiscard]] bool isForGdb(const Error& error);

class FortranValues {
 public:
  explicit FortranValues(TaughtGdb& taught) : m_taught(taught) {}

  /// Whether a name of an object is one of these.
  [[nodiscard]] static bool owns(std::string_view name);
  /// Those of the program; values of what has no parts.
  void locals(FrameRef frame, Callback<std::vector<Variable>> done);
  void object(FrameRef frame, const std::string& expression, Callback<VarObject> done);
  void parts(const std::string& name, const ChildRange& range, Callback<VarPage> done);
  /// Empty: there is none.
  void path(const std::string& name, Callback<std::string> done);
  void assign(const std::string& name, const std::string& value, Callback<std::string> done);

  /// Fails where GDB would watch another place than that of the expression, in the frame that is selected.
  void watchable(const std::string& expression, const Done& done);

 private:
  TaughtGdb& m_taught;
};

}  // namespace pf::mi
