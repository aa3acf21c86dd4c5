// SPDX-License-Identifier: GPL-3.0-or-later
// Python's objects: their types, and the values of the simple ones. Any memory is accepted: lengths and depths are bounded,
// and what cannot be read is said so in the value.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "mi_bridge/python/layout.h"
#include "mi_bridge/python/memory.h"
#include "replay_engine/cpython/objects.h"

namespace pf::mi::python {

/// A bit of a type's flags: it is no type of C that lies in a module's data (Py_TPFLAGS_HEAPTYPE).
inline constexpr unsigned kHeapType = 9;

class Objects {
 public:
  Objects(Memory& memory, const Layout& layout) : m_memory(memory), m_layout(layout) {}

  /// "int"; of a class: its name; "?" if it cannot be read.
  [[nodiscard]] std::string typeName(std::uint64_t object) const;
  /// As repr() writes int, float, complex, str, bytes, bool, None, and list, tuple, dict, set one level deep; an array of
  /// NumPy as "ndarray float64 (3, 4)"; others as <type>, a class as <class NAME>.
  [[nodiscard]] std::string valueText(std::uint64_t object) const;
  /// Of a str, up to `most` characters; empty if it is none.
  [[nodiscard]] std::vector<std::uint32_t> characters(std::uint64_t object, std::size_t most) const;
  /// Of bytes, whole; empty if these are no bytes or more than `most`.
  [[nodiscard]] std::string bytes(std::uint64_t object, std::size_t most) const;
  /// Of a tuple or list, up to `most`; empty if it is neither.
  [[nodiscard]] std::vector<std::uint64_t> items(std::uint64_t object, std::size_t most) const;
  /// Visits keys and values of a dict, up to `most`, until the visitor says false. False: it is no dict, or cannot be read.
  bool visitDict(std::uint64_t object, std::size_t most,
                 const std::function<bool(std::uint64_t, std::uint64_t)>& visit) const;
  /// The same of a table of keys, whose values are a list at `values`; 0: they are in the table.
  bool visitKeys(std::uint64_t keys, std::uint64_t values, std::size_t most,
                 const std::function<bool(std::uint64_t, std::uint64_t)>& visit) const;
  /// Visits the elements of a set, up to `most` places of its table.
  bool visitSet(std::uint64_t object, std::size_t most,
                const std::function<bool(std::uint64_t)>& visit) const;
  /// Of a set or frozenset.
  [[nodiscard]] std::int64_t sizeOfSet(std::uint64_t object) const;
  [[nodiscard]] bool isSet(std::uint64_t object) const;
  /// Of an int; nothing if it is none, or too large.
  [[nodiscard]] std::optional<std::int64_t> integer(std::uint64_t object) const;
  /// Of a str, whole, as UTF-8; nothing if it is none, or has more than `most` characters.
  [[nodiscard]] std::optional<std::string> utf8(std::uint64_t object, std::size_t most) const;
  /// It is of the class of this name that is written in C, or of one that is made from it.
  [[nodiscard]] bool isOf(std::uint64_t object, std::string_view name) const;
  [[nodiscard]] std::int64_t sizeOf(std::uint64_t object) const;
  /// Where the pointers to the items of a list or of a tuple begin.
  [[nodiscard]] std::uint64_t itemsAt(std::uint64_t object) const;
  /// It is of a class of these flags (Py_TPFLAGS_…_SUBCLASS).
  using Base = cpython::Base;
  [[nodiscard]] bool isA(std::uint64_t object, Base base) const;
  [[nodiscard]] std::uint64_t typeOf(std::uint64_t object) const {
    return readPointer(m_memory, object + cpython::kType);
  }

 private:
  [[nodiscard]] std::string nameOf(std::uint64_t type) const;
  [[nodiscard]] std::string text(std::uint64_t object, int depth) const;
  [[nodiscard]] std::string intText(std::uint64_t object) const;
  [[nodiscard]] std::string sequenceText(std::uint64_t object, const char* marks, int depth) const;
  [[nodiscard]] std::string dictText(std::uint64_t object, int depth) const;
  [[nodiscard]] std::string setText(std::uint64_t object, const std::string& type, int depth) const;
  [[nodiscard]] std::string otherText(std::uint64_t object, const std::string& type,
                                      int depth) const;
  [[nodiscard]] std::string complexText(std::uint64_t object) const;
  [[nodiscard]] std::string strText(std::uint64_t object) const;
  [[nodiscard]] std::string bytesText(std::uint64_t object) const;
  Memory& m_memory;
  const Layout& m_layout;
};

}  // namespace pf::mi::python
