// SPDX-License-Identifier: GPL-3.0-or-later
// Python's objects: their types, and the values of the simple ones. Any memory is accepted: lengths and depths are bounded,
// and what cannot be read is said so in the value.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "mi_bridge/python/layout.h"
#include "mi_bridge/python/memory.h"
#include "replay_engine/cpython/objects.h"

namespace pf::mi::python {

class Objects {
 public:
  Objects(Memory& memory, const Layout& layout) : m_memory(memory), m_layout(layout) {}

  /// "int"; of a class: its name; "?" if it cannot be read.
  [[nodiscard]] std::string typeName(std::uint64_t object) const;
  /// As repr() writes int, float, str, bytes, bool, None, and list, tuple, dict one level deep; others as
  /// <type>, a class as <class NAME>.
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
  [[nodiscard]] std::int64_t sizeOf(std::uint64_t object) const;
  /// It is of a class of these flags (Py_TPFLAGS_…_SUBCLASS).
  using Base = cpython::Base;
  [[nodiscard]] bool isA(std::uint64_t object, Base base) const;

 private:
  [[nodiscard]] std::string nameOf(std::uint64_t type) const;
  [[nodiscard]] std::string text(std::uint64_t object, int depth) const;
  [[nodiscard]] std::string intText(std::uint64_t object) const;
  [[nodiscard]] std::string sequenceText(std::uint64_t object, const char* marks, int depth) const;
  [[nodiscard]] std::string dictText(std::uint64_t object, int depth) const;
  [[nodiscard]] std::string strText(std::uint64_t object) const;
  [[nodiscard]] std::string bytesText(std::uint64_t object) const;
  [[nodiscard]] std::uint64_t typeOf(std::uint64_t object) const {
    return readPointer(m_memory, object + cpython::kType);
  }

  Memory& m_memory;
  const Layout& m_layout;
};

}  // namespace pf::mi::python
