// SPDX-License-Identifier: MIT
// Lines of Python at which a debugger wants the rank to stop (replay_engine/cpython/line_stops.h). While there are none,
// CPython is not asked for lines, and the program runs as it does by itself.
#pragma once

#include <atomic>
#include <cstdint>

#include "replay_engine/cpython/line_stops.h"

/// A debugger finds it by its name.
extern "C" volatile pf::cpython::LineStops pf_python;

namespace pf {

/// Whether CPython was last asked to tell of lines, and whether it has told of anything since the last event.
extern std::atomic<bool> g_tellsLines;
extern std::atomic<bool> g_linesHeard;

/// Has CPython tell of lines of this thread, or not, from its next instruction on, if it is Python's main thread. Without
/// Python in this process: nothing.
void changePythonLines(bool tell);

/// In a replay, before each event, and when the program may go on from MPI_Init: three loads. A debugger that has stopped the
/// rank elsewhere is obeyed from its next event on. Where CPython is silent, the program may have taken its place.
inline void lookAtPythonLines() {
  const bool tell = pf_python.wanted != 0 || pf_python.step != 0;
  if (tell != g_tellsLines.load(std::memory_order_relaxed) ||
      (tell && !g_linesHeard.load(std::memory_order_relaxed))) [[unlikely]] {
    changePythonLines(tell);
  }
  if (tell) {
    g_linesHeard.store(false, std::memory_order_relaxed);
  }
}

/// A replay begins: a debugger that asks for lines is heard.
void offerPythonLines();

/// In a child of this process no debugger is.
void forgetPythonLines();

}  // namespace pf
