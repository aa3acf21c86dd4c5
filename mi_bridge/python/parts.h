// SPDX-License-Identifier: GPL-3.0-or-later
// Values that can be opened: their parts, page by page, and the value at the end of a path. Any memory is accepted: sizes are
// compared with what else is known, loops are bounded. What contains itself is opened as often as it is asked for.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "mi_bridge/python/layout.h"
#include "mi_bridge/python/memory.h"
#include "mi_bridge/python/path.h"
#include "replay_engine/base/result.h"

namespace pf::mi::python {

/// An object, or what is inside of an array of NumPy.
struct Place {
  std::uint64_t object = 0;
  std::uint64_t indices = 0;  ///< so many dimensions are left out
  std::uint64_t offset =
      0;  ///< from the array's first number, in bytes; a negative one modulo 2^64

  bool operator==(const Place&) const = default;
};

struct Value {
  Place place;
  std::string type;
  std::string text;
  std::int64_t parts =
      0;  ///< 0: it has none, or cannot be read; of attributes only whether there are any is counted
  bool numbered = false;  ///< all are items with numbers

  bool operator==(const Value&) const = default;
};

struct Part {
  std::string name;
  std::string step;  ///< the way to it, behind that of the whole; empty: there is none
  Value value;

  bool operator==(const Part&) const = default;
};

struct PartPage {
  std::vector<Part> parts;
  bool more = false;
};

[[nodiscard]] bool hasParts(Memory& memory, const Layout& layout, std::uint64_t object);
/// Parts from..from+count-1: attributes, then items.
[[nodiscard]] PartPage readParts(Memory& memory, const Layout& layout, const Place& place,
                                 std::size_t from, std::size_t count);
/// The value at a path, of a frame that readFrames() gave. What is read is what lies in memory: NotFound where it is not
/// there, in a sentence.
[[nodiscard]] Result<Value> readPath(Memory& memory, const Layout& layout, std::uint64_t frame,
                                     const Path& path);

}  // namespace pf::mi::python
