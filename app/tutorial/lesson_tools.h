// SPDX-License-Identifier: GPL-3.0-or-later
// What has to be installed to go through a lesson.
#pragma once

#include "app/tutorial/lessons.h"

namespace pf::app {

/// NotFound: mpirun, GDB, the compiler of the lesson's language (or one that does not run), or mpi4py of the
/// `python3` in PATH is missing; the advice names Debian's packages. Damaged: a language that is not known.
/// Starts the compiler, or Python, to see whether they run.
Status hasTools(const Lesson& lesson);

}  // namespace pf::app
