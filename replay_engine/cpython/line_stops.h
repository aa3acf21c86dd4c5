// SPDX-License-Identifier: MIT
// How a debugger has a rank stop at lines of Python. It writes the lines into the rank's memory, at the symbol pf_python; the
// rank has CPython tell it of each line (PyEval_SetTrace, Python/C API, "Profiling and Tracing"), and calls pf_python_line()
// where one of them is reached: there the debugger has its breakpoint.
#pragma once

#include <cstddef>
#include <cstdint>

namespace pf::cpython {

inline constexpr std::size_t kLinePlaces = 63;
/// Bit of LineStops::reached: the step has come to its end.
inline constexpr unsigned kStepBit = 63;

enum class LineStep : std::uint32_t {
  None,
  Into,  ///< the next line, of whatever function
  Over,  ///< the next line of the frame, or of what called it
  Out,   ///< the next line of what called the frame
};

struct LinePlace {
  char file[1016];       ///< as the code was compiled, or its last parts; NUL at the end
  char condition[1024];  ///< an expression of Python; empty: none
};

/// Both processes run on machines of one kind: numbers are as they lie in memory.
struct LineStops {
  // By the rank.
  std::uint64_t reached;  ///< in pf_python_line(): bit n for place n
  std::uint32_t ready;    ///< it looks here: it is one of a replay
  std::uint32_t telling;  ///< the thread that CPython tells lines of, as gettid() has it; 0: none
  // By the debugger.
  std::uint32_t wanted;              ///< there are places
  std::uint32_t step;                ///< LineStep; the rank takes it back when it has ended
  std::uint32_t stepIsNew;           ///< it begins where the thread is now; the rank takes it back
  std::int32_t stepOuter;            ///< frames of Python above the one that is stepped
  std::uint32_t lines[kLinePlaces];  ///< 0: no place
  std::uint32_t unused;
  LinePlace places[kLinePlaces];
};
/// What the debugger clears when it comes: whoever was here before has gone.
inline constexpr std::size_t kStopsBegin = offsetof(LineStops, wanted);
inline constexpr std::size_t kStopsEnd = offsetof(LineStops, places);
static_assert(kStopsBegin == 16 && offsetof(LineStops, lines) == 32 && kStopsEnd == 288);

}  // namespace pf::cpython
