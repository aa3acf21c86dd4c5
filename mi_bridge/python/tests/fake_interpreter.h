// SPDX-License-Identifier: GPL-3.0-or-later
// Memory with an interpreter in it, put together by hand.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "mi_bridge/python/frames.h"

namespace pf::mi::python {

class FakeMemory final : public Memory {
 public:
  [[nodiscard]] bool read(std::uint64_t address, void* to, std::size_t size) override;

  void put(std::uint64_t address, const void* from, std::size_t size);
  template <typename T>
  void set(std::uint64_t address, T value) {
    put(address, &value, sizeof value);
  }
  /// `size` bytes of zeros, behind all that was made before.
  std::uint64_t make(std::size_t size);
  std::map<std::uint64_t, char> bytes;

 private:
  std::uint64_t m_next = 0x10000;
};

/// One thread, with frames that are pushed.
class FakeInterpreter {
 public:
  explicit FakeInterpreter(int minor);

  /// The new innermost frame.
  std::uint64_t push(const std::string& function, const std::string& file, int line, bool entry,
                     const std::vector<std::pair<std::string, std::uint64_t>>& variables = {});
  /// A frame that only says that the interpreter was entered (3.12 and later).
  void enter();
  std::uint64_t makeStr(const std::string& text);
  std::uint64_t makeInt(std::uint32_t digit);
  std::uint64_t makeTuple(const std::vector<std::uint64_t>& items);
  std::uint64_t makeBytes(const std::string& text);
  /// Of texts as keys.
  std::uint64_t makeDict(const std::vector<std::pair<std::string, std::uint64_t>>& entries);
  std::uint64_t makeList(const std::vector<std::uint64_t>& items);
  /// Of the three places that a table has, the first one free and the second one of a removed key.
  std::uint64_t makeSet(const std::string& type, const std::vector<std::uint64_t>& elements);
  std::uint64_t makeComplex(double real, double imaginary);
  /// A class that is written in Python, with these attributes. Its objects have their dictionary as `kind` says.
  enum class Kept { Values, Dictionary, Classic, Slots };
  std::uint64_t makeClass(const std::string& name, Kept kept,
                          const std::vector<std::string>& instanceNames,
                          const std::vector<std::pair<std::string, std::uint64_t>>& attributes);
  std::uint64_t makeInstance(std::uint64_t type, Kept kept,
                             const std::vector<std::pair<std::string, std::uint64_t>>& attributes);
  /// Of a type by its number, its letter and its order of bytes in NumPy.
  struct ArrayType {
    std::uint32_t number = 12;
    char letter = 'f';
    char order = '=';
  };
  std::uint64_t makeArray(ArrayType type, const std::vector<std::int64_t>& shape,
                          const std::vector<std::int64_t>& strides, std::uint64_t data);
  std::uint64_t makeType(const std::string& name, unsigned flag);
  std::uint64_t makeObject(std::size_t size, const std::string& type, unsigned flag);
  /// GDB's answer to '-data-read-memory-bytes ADDRESS 4096'; bytes that are not there are 0.
  [[nodiscard]] std::string pageAnswer(std::uint64_t address) const;
  /// Addresses of all pages that have something.
  [[nodiscard]] std::set<std::uint64_t> pages() const;

  FakeMemory memory;
  Layout layout;
  std::uint64_t runtime = 0;
  std::uint64_t interpreter = 0;
  std::uint64_t thread = 0;
  std::uint64_t version = 0;
  static constexpr std::uint64_t kPthread = 0x7f0000001000;
  static constexpr std::uint64_t kNative = 4711;

 private:
  std::uint64_t makeKeys(const std::vector<std::pair<std::string, std::uint64_t>>& entries);
  void setCurrent(std::uint64_t frame);

  std::map<std::string, std::uint64_t> m_types;
  std::uint64_t m_holder = 0;  ///< of the current frame
  std::uint64_t m_current = 0;
};

}  // namespace pf::mi::python
