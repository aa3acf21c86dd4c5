// SPDX-License-Identifier: GPL-3.0-or-later
// Values of Python in place of GDB's variable objects: their names say where they lie, so that nothing is kept of them.
#pragma once

#include <optional>
#include <string>

#include "mi_bridge/python/parts.h"
#include "mi_bridge/records.h"

namespace pf::mi {

struct PythonHandle {
  python::Place place;
  std::string path;  ///< how it is written in its frame; empty: it cannot be

  /// A name that no variable object of GDB has.
  [[nodiscard]] std::string text() const;
  /// Nothing: it is the name of something else.
  [[nodiscard]] static std::optional<PythonHandle> from(const std::string& text);
};

[[nodiscard]] VarObject pythonVarOf(const python::Value& value, const std::string& shown,
                                    const std::string& path);
[[nodiscard]] VarPage pythonPageOf(const python::PartPage& page, const PythonHandle& whole);

}  // namespace pf::mi
