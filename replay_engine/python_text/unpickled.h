// SPDX-License-Identifier: GPL-3.0-or-later
// What a pickle makes, as nodes in the place of objects. For pickle.cpp, which writes them.
// Source: Python 3.13, Lib/pickletools.py.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pf::python_text {

constexpr unsigned kOldestPickle = 2;  ///< protocols
constexpr unsigned kNewestPickle = 5;

enum class Kind {
  Text,    ///< `raw`: UTF-8
  Bytes,   ///< `raw`
  Number,  ///< `raw`: as it is written
  Tuple,
  List,
  Dict,  ///< parts: keys and values in turn
  Set,
  FrozenSet,
  Global,  ///< `raw`: its name
  Call,    ///< parts: what is called, and a tuple of its arguments
  Object,  ///< the same, of a class
  Built,   ///< parts: an object, and its state
};

using Index = std::uint32_t;

struct Node {
  Kind kind = Kind::Number;
  std::string_view raw = {};  ///< of the pickle
  std::string text = {};      ///< where it is not in the pickle as it is written
  std::vector<Index> parts = {};
};

struct Unpickled {
  std::vector<Node> nodes;  ///< of which some may be parts of themselves
  Index result = 0;

  [[nodiscard]] const Node& node(Index index) const { return nodes[index]; }
};

/// What the bytes make, which have to outlive it; nothing: they make no sense, do not end with the pickle, or make more than a
/// million objects.
[[nodiscard]] std::optional<Unpickled> unpickle(std::string_view bytes);

/// A number of the machine's byte order, of bytes that are in the lowest-first one.
template <typename Number>
[[nodiscard]] Number littleEndian(std::string_view bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < sizeof(Number); ++i) {
    value |= std::uint64_t{static_cast<unsigned char>(bytes[i])} << (8 * i);
  }
  return static_cast<Number>(value);
}

[[nodiscard]] inline double doubleOf(std::uint64_t bits) {
  return std::bit_cast<double>(bits);
}

}  // namespace pf::python_text
