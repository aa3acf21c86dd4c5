// SPDX-License-Identifier: GPL-3.0-or-later
// What Python's pickle module has made of a value, as text: mpi4py's lower-case routines send that. Nothing of it is
// executed, imported or made: what a pickle wants called is written as a call.
// Source: Python 3.13, Lib/pickletools.py; NumPy 2.1, numpy/_core/numeric.py (_frombuffer), multiarray (_reconstruct, scalar).
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace pf::python_text {

/// Whether they begin as one of protocol 2 to 5 does.
[[nodiscard]] bool beginsAsPickle(std::string_view bytes);

/// The value of a pickle of protocol 2 to 5 as repr() writes it, for None, bool, int, float, str, bytes, bytearray, tuple, list,
/// dict, set and frozenset of them. NumPy's arrays and numbers with their first values: `array([1.0, 2.0], dtype=f8)`. Another
/// object as its class, with its attributes by name: `<Point x=1, y=2>`. Of a text or of bytes the first 200 are shown; what is
/// behind `most` bytes of the whole is "…". Nothing: `bytes` are no whole pickle, or are more than 16 MiB. (Up to protocol 3, bytes and sets are calls: `set([1])`.)
[[nodiscard]] std::optional<std::string> pickleText(std::string_view bytes,
                                                    std::size_t most = 4000);

}  // namespace pf::python_text
