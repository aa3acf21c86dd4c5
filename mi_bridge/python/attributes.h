// SPDX-License-Identifier: GPL-3.0-or-later
// What objects keep in their dictionaries and __slots__, and their classes in theirs. Read from memory: no property, no
// __getattr__. Any memory is accepted.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "mi_bridge/python/objects.h"

namespace pf::mi::python {

/// No module, function or class, and no __name__: what a program has assigned.
[[nodiscard]] bool isOwn(const std::string& name, const std::string& type);

class Attributes {
 public:
  Attributes(Memory& memory, const Layout& layout)
      : m_memory(memory), m_layout(layout), m_objects(memory, layout) {}

  using Visit = std::function<bool(const std::string& name, std::uint64_t value)>;
  /// Those of the object itself, slots first, until the visitor says false; of a class and a module what isOwn() says.
  void visit(std::uint64_t object, const Visit& visit) const;
  /// Of the object itself; 0: it has none of this name.
  [[nodiscard]] std::uint64_t own(std::uint64_t object, const std::string& name) const;
  /// Of its class, along __mro__; of a class its own, too. 0: none.
  [[nodiscard]] std::uint64_t ofClass(std::uint64_t object, const std::string& name) const;

 private:
  [[nodiscard]] bool visitDictionary(std::uint64_t dictionary, const Visit& visit) const;
  [[nodiscard]] bool visitKeys(std::uint64_t type, std::uint64_t values, const Visit& visit) const;
  [[nodiscard]] bool visitManaged(std::uint64_t object, std::uint64_t flags,
                                  const Visit& visit) const;
  [[nodiscard]] bool visitSlots(std::uint64_t object, std::uint64_t type, const Visit& visit) const;
  void visitAll(std::uint64_t object, const Visit& visit) const;
  [[nodiscard]] std::uint64_t dictionaryByOffset(std::uint64_t object) const;
  [[nodiscard]] std::vector<std::uint64_t> linearBases(std::uint64_t type) const;
  [[nodiscard]] std::uint64_t among(std::uint64_t dictionary, const std::string& name) const;

  Memory& m_memory;
  const Layout& m_layout;
  Objects m_objects;
};

}  // namespace pf::mi::python
