// SPDX-License-Identifier: GPL-3.0-or-later
// Arrays of the program, read by GDB's own Python (gdb_python) in one go and written into files: what GDB/MI would give
// as text, element by element. GDB knows the types of each language, the bounds and strides of Fortran's arrays, and the
// layout of containers.
//
// The files of an answer, in the directory that was asked for. Nothing in them is certain: a pretty printer of the program's
// own may have had a say.
//   answer  a JSON object. Either `error`, `advice` (texts), or what was read:
//           kind     "float", "signed", "unsigned", "complex", "logical", "bool", "char", "text", "pointer", "words"
//           size     bytes of an element; of text `unit` bytes each; quad: 128 bits of IEEE
//           type     the element's name in the program; fortran: indices are written (i,j)
//           dims     [lower, step, count, read, stride] each, in the order of the program's indices; stride in `bytes`
//           offset   of the first element in `bytes`; or rows: that many, one behind the other, in row-major order; or words
//           texts    the elements, where they are words
//           note     what was left out, and why
//   bytes   what lies in memory
//   rows    how long each row is: 64 bits each
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace pf::mi {

struct ArrayRequest {
  std::string expression;  ///< an array, POINTER@COUNT, a container, a part of one
  std::string directory;   ///< for the answer; GDB can write there
  std::int64_t mostElements = 0;
  std::int64_t mostBytes = 0;  ///< of memory
};

enum class ArrayQueryEnd {
  Answered,  ///< the files are there
  NoPython,  ///< this GDB has none that can
};

/// GDB console commands: what has to be said once to a GDB, and what reads an array then.
[[nodiscard]] std::string arraySetup();
[[nodiscard]] std::string arrayCommand(const ArrayRequest& request);

/// A source of Fortran, by its name.
[[nodiscard]] bool isFortranSource(std::string_view file);

}  // namespace pf::mi
