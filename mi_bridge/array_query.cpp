// SPDX-License-Identifier: GPL-3.0-or-later
#include "mi_bridge/array_query.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "mi_bridge/gdb_python_text.h"
#include "mi_bridge/python_literal.h"

namespace pf::mi {

std::string arraySetup() {
  std::string program;
  for (const std::string_view file : kGdbPython) {
    program += file;
    program += '\n';
  }
  return "python exec(" + pythonLiteral(program) + ", {'__name__': 'photofinish_arrays'})";
}

std::string arrayCommand(const ArrayRequest& request) {
  return "python gdb.photofinish_array(" + pythonLiteral(request.expression) + ", " +
         pythonLiteral(request.directory) + ", " + std::to_string(request.mostElements) + ", " +
         std::to_string(request.mostBytes) + ")";
}

bool isFortranSource(std::string_view file) {
  static constexpr std::array<std::string_view, 9> kEndings{"f",   "for", "ftn", "f77", "f90",
                                                            "f95", "f03", "f08", "f18"};
  const auto dot = file.rfind('.');
  if (dot == std::string_view::npos) {
    return false;
  }
  std::string ending(file.substr(dot + 1));
  std::transform(ending.begin(), ending.end(), ending.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return std::find(kEndings.begin(), kEndings.end(), ending) != kEndings.end();
}

}  // namespace pf::mi
