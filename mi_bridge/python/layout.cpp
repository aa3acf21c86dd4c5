// SPDX-License-Identifier: GPL-3.0-or-later
#include "mi_bridge/python/layout.h"

#include <string>

namespace pf::mi::python {
namespace {

std::string problemText(cpython::LayoutProblem problem, std::uint64_t version) {
  using cpython::LayoutProblem;
  switch (problem) {
    case LayoutProblem::Old:
      return "the frames of a Python older than 3.11 are not known";
    case LayoutProblem::Unknown:
      return "the frames of Python " + std::to_string(version >> 24U) + "." +
             std::to_string(version >> 16U & 0xFFU) + " are not known";
    case LayoutProblem::NotDescribed:
      return "this Python 3.13 does not describe where its data are";
    case LayoutProblem::FreeThreaded:
      return "the frames of a free-threaded Python (3.13t) are not known";
    case LayoutProblem::Impossible:
      return "this Python 3.13 describes its data with numbers that cannot be";
    case LayoutProblem::None:
      break;
  }
  return {};
}

}  // namespace

Result<Layout> layoutOf(Memory& memory, std::uint64_t runtime, std::uint64_t version) {
  Layout layout;
  const cpython::LayoutProblem problem = cpython::findLayout(memory, runtime, version, layout);
  if (problem == cpython::LayoutProblem::None) {
    return layout;
  }
  return Error{ErrorCode::Version, problemText(problem, version),
               "run the ranks with CPython 3.11, 3.12 or 3.13, as Debian's package python3"};
}

}  // namespace pf::mi::python
