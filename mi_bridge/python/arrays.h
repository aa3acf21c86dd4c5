// SPDX-License-Identifier: GPL-3.0-or-later
// Arrays of NumPy, without its debug information: PyArrayObject is part of its binary interface, in 1.x and 2.x. Any memory
// is accepted.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "mi_bridge/python/memory.h"

namespace pf::mi::python {

class Objects;

enum class ElementKind : std::uint8_t { Other, Bool, Int, Uint, Float, Complex, Object };

struct NumpyArray {
  std::uint64_t data = 0;
  std::vector<std::int64_t> shape;
  std::vector<std::int64_t> strides;  ///< in bytes, of any sign
  std::string type;                   ///< "float64"
  ElementKind kind = ElementKind::Other;
  std::size_t size = 0;  ///< of an element, meaningful where its kind is known

  [[nodiscard]] std::size_t dimensions() const { return shape.size(); }
};

/// Of a number of NumPy, an object of the type of this name; empty: it is none.
[[nodiscard]] std::string scalarText(Memory& memory, std::string_view type, std::uint64_t object);
[[nodiscard]] bool isNumpyArray(const Objects& objects, std::uint64_t object);
/// Nothing: it cannot be read, or says what cannot be.
[[nodiscard]] std::optional<NumpyArray> numpyArray(Memory& memory, std::uint64_t object);
/// "float64 (3, 4)", without the first `indices` dimensions.
[[nodiscard]] std::string shapeText(const NumpyArray& array, std::size_t indices);
/// A number at `address`; empty if it cannot be read, or is none.
[[nodiscard]] std::string elementText(Memory& memory, const NumpyArray& array,
                                      std::uint64_t address);

}  // namespace pf::mi::python
