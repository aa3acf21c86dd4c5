// SPDX-License-Identifier: GPL-3.0-or-later
#include "mi_bridge/python/arrays.h"

#include <array>
#include <bit>
#include <cmath>
#include <limits>

#include "mi_bridge/python/objects.h"
#include "replay_engine/python_text/text.h"

namespace pf::mi::python {
namespace {

// numpy/ndarraytypes.h: PyArrayObject_fields, and what PyArray_Descr has at the same place in 1.x and 2.x. The size of an
// element lies elsewhere in 2.x: it is known by the number of the type.
constexpr std::uint64_t kArrayData = 16;
constexpr std::uint64_t kArrayDimensionCount = 24;
constexpr std::uint64_t kArrayDimensions = 32;
constexpr std::uint64_t kArrayStrides = 40;
constexpr std::uint64_t kArrayDescription = 56;
constexpr std::uint64_t kDescriptionKind = 24;
constexpr std::uint64_t kDescriptionOrder = 26;
constexpr std::uint64_t kDescriptionNumber = 28;

constexpr int kMostDimensions = 64;  ///< NPY_MAXDIMS of 2.x; 32 in 1.x

struct ElementType {
  const char* name;
  char letter;  ///< of PyArray_Descr::kind
  ElementKind kind;
  std::size_t size;
};

/// By enum NPY_TYPES, where long has 64 bits.
constexpr std::array<ElementType, 24> kTypes{{
    {"bool", 'b', ElementKind::Bool, 1},         {"int8", 'i', ElementKind::Int, 1},
    {"uint8", 'u', ElementKind::Uint, 1},        {"int16", 'i', ElementKind::Int, 2},
    {"uint16", 'u', ElementKind::Uint, 2},       {"int32", 'i', ElementKind::Int, 4},
    {"uint32", 'u', ElementKind::Uint, 4},       {"int64", 'i', ElementKind::Int, 8},
    {"uint64", 'u', ElementKind::Uint, 8},       {"int64", 'i', ElementKind::Int, 8},
    {"uint64", 'u', ElementKind::Uint, 8},       {"float32", 'f', ElementKind::Float, 4},
    {"float64", 'f', ElementKind::Float, 8},     {"longdouble", 'f', ElementKind::Other, 0},
    {"complex64", 'c', ElementKind::Complex, 8}, {"complex128", 'c', ElementKind::Complex, 16},
    {"clongdouble", 'c', ElementKind::Other, 0}, {"object", 'O', ElementKind::Object, 8},
    {"bytes", 'S', ElementKind::Other, 0},       {"str", 'U', ElementKind::Other, 0},
    {"void", 'V', ElementKind::Other, 0},        {"datetime64", 'M', ElementKind::Other, 0},
    {"timedelta64", 'm', ElementKind::Other, 0}, {"float16", 'f', ElementKind::Float, 2},
}};

/// IEEE 754 binary16.
double halfOf(std::uint16_t bits) {
  const int exponent = bits >> 10U & 31U;
  const auto fraction = static_cast<double>(bits & 1023U);
  const double size = exponent == 31  ? (fraction != 0 ? std::numeric_limits<double>::quiet_NaN()
                                                       : std::numeric_limits<double>::infinity())
                      : exponent == 0 ? std::ldexp(fraction, -24)
                                      : std::ldexp(fraction + 1024, exponent - 25);
  return (bits >> 15U) != 0 ? -size : size;
}

template <typename T, typename Text>
std::string numberText(Memory& memory, std::uint64_t address, const Text& text) {
  const auto value = readNumber<T>(memory, address);
  return value ? text(*value) : std::string();
}

template <typename T>
std::string decimal(Memory& memory, std::uint64_t address) {
  return numberText<T>(memory, address, [](T value) { return std::to_string(value); });
}

template <typename T>
std::string complexAt(Memory& memory, std::uint64_t address) {
  return numberText<std::array<T, 2>>(memory, address, [](const std::array<T, 2>& parts) {
    return python_text::complexText(parts[0], parts[1]);
  });
}

std::string wholeText(Memory& memory, const NumpyArray& array, std::uint64_t address) {
  const bool sign = array.kind == ElementKind::Int;
  switch (array.size) {
    case 1:
      return sign ? decimal<std::int8_t>(memory, address) : decimal<std::uint8_t>(memory, address);
    case 2:
      return sign ? decimal<std::int16_t>(memory, address)
                  : decimal<std::uint16_t>(memory, address);
    case 4:
      return sign ? decimal<std::int32_t>(memory, address)
                  : decimal<std::uint32_t>(memory, address);
    default:
      return sign ? decimal<std::int64_t>(memory, address)
                  : decimal<std::uint64_t>(memory, address);
  }
}

std::string floatAt(Memory& memory, std::size_t size, std::uint64_t address) {
  if (size == 2) {
    return numberText<std::uint16_t>(
        memory, address, [](std::uint16_t bits) { return python_text::floatText(halfOf(bits)); });
  }
  return size == 4 ? numberText<float>(memory, address,
                                       [](float value) { return python_text::floatText(value); })
                   : numberText<double>(memory, address,
                                        [](double value) { return python_text::floatText(value); });
}

/// What its elements are. A number of the type that does not fit its letter: it is not known.
void readType(Memory& memory, std::uint64_t description, NumpyArray& out) {
  const auto letter = readNumber<char>(memory, description + kDescriptionKind);
  const auto order = readNumber<char>(memory, description + kDescriptionOrder);
  const auto number = readNumber<std::uint32_t>(memory, description + kDescriptionNumber);
  if (!letter || !order || !number || *number >= kTypes.size() ||
      kTypes[*number].letter != *letter) {
    out.type = "of an unknown type";
    return;
  }
  const ElementType& type = kTypes[*number];
  constexpr char kForeign = std::endian::native == std::endian::little ? '>' : '<';
  const bool foreign = *order == kForeign;
  out.type = std::string(type.name) + (foreign ? " of another byte order" : "");
  out.kind = foreign ? ElementKind::Other : type.kind;
  out.size = type.size;
}

}  // namespace

bool isNumpyArray(const Objects& objects, std::uint64_t object) {
  return objects.isOf(object, "numpy.ndarray");
}

std::optional<NumpyArray> numpyArray(Memory& memory, std::uint64_t object) {
  NumpyArray out;
  const auto data = readNumber<std::uint64_t>(memory, object + kArrayData);
  const auto count = readNumber<std::int32_t>(memory, object + kArrayDimensionCount);
  const std::uint64_t dimensions = readPointer(memory, object + kArrayDimensions);
  const std::uint64_t strides = readPointer(memory, object + kArrayStrides);
  if (!data || !count || *count < 0 || *count > kMostDimensions) {
    return std::nullopt;
  }
  out.data = *data;
  for (std::uint64_t i = 0; i < static_cast<std::uint64_t>(*count); ++i) {
    const auto size = readNumber<std::int64_t>(memory, dimensions + 8 * i);
    const auto stride = readNumber<std::int64_t>(memory, strides + 8 * i);
    if (!size || !stride || *size < 0) {
      return std::nullopt;
    }
    out.shape.push_back(*size);
    out.strides.push_back(*stride);
  }
  readType(memory, readPointer(memory, object + kArrayDescription), out);
  return out;
}

std::string shapeText(const NumpyArray& array, std::size_t indices) {
  std::string out = array.type + " (";
  for (std::size_t i = indices; i < array.dimensions(); ++i) {
    out += (i > indices ? ", " : "") + std::to_string(array.shape[i]);
  }
  return out + (array.dimensions() == indices + 1 ? ",)" : ")");
}

std::string elementText(Memory& memory, const NumpyArray& array, std::uint64_t address) {
  switch (array.kind) {
    case ElementKind::Bool:
      return numberText<std::uint8_t>(memory, address, [](std::uint8_t value) {
        return std::string(value != 0 ? "True" : "False");
      });
    case ElementKind::Int:
    case ElementKind::Uint:
      return wholeText(memory, array, address);
    case ElementKind::Float:
      return floatAt(memory, array.size, address);
    case ElementKind::Complex:
      return array.size == 8 ? complexAt<float>(memory, address)
                             : complexAt<double>(memory, address);
    case ElementKind::Object:
    case ElementKind::Other:
      break;
  }
  return {};
}

/// numpy/arrayscalars.h: behind the head of each object lies its number.
std::string scalarText(Memory& memory, std::string_view type, std::uint64_t object) {
  constexpr std::string_view kModule = "numpy.";
  constexpr std::uint64_t kNumber = 16;
  const std::string_view name = type == "numpy.bool_"       ? "bool"
                                : type.starts_with(kModule) ? type.substr(kModule.size())
                                                            : std::string_view();
  for (const ElementType& each : kTypes) {
    if (name == each.name && each.kind != ElementKind::Object) {
      NumpyArray number;
      number.kind = each.kind;
      number.size = each.size;
      return elementText(memory, number, object + kNumber);
    }
  }
  return {};
}

}  // namespace pf::mi::python
