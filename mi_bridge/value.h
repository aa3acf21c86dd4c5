// SPDX-License-Identifier: GPL-3.0-or-later
// A value of GDB/MI: a constant, a tuple or a list. Lookups are total: what is not there is an
// invalid Value, never an exception.
//
// GDB is looser than its manual, so both tuples and lists are sequences of fields whose name may be
// empty and may repeat: `bkpt={…},{…}`, `script={"silent","print i"}`,
// `stack=[frame={…},frame={…}]`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pf::mi {

class Value {
 public:
  enum class Kind { Invalid, Const, Tuple, List };
  struct Field;
  using Fields = std::vector<Field>;

  Value() = default;
  [[nodiscard]] static Value constant(std::string text);
  [[nodiscard]] static Value tuple(Fields fields);
  [[nodiscard]] static Value list(Fields fields);

  [[nodiscard]] Kind kind() const { return m_kind; }
  [[nodiscard]] bool valid() const { return m_kind != Kind::Invalid; }
  explicit operator bool() const { return valid(); }

  /// The text of a constant, else "".
  [[nodiscard]] const std::string& text() const { return m_text; }
  /// The fields of a tuple or list, else none.
  [[nodiscard]] const Fields& fields() const { return m_fields; }
  [[nodiscard]] std::size_t size() const;

  /// The first field of that name, or an invalid value.
  [[nodiscard]] const Value& operator[](std::string_view name) const;
  /// The field at that position, or an invalid value.
  [[nodiscard]] const Value& at(std::size_t index) const;
  [[nodiscard]] bool has(std::string_view name) const { return (*this)[name].valid(); }

  /// Walks down names and gives the text at the end: `stop.str("frame", "func")`.
  template <typename... Names>
  [[nodiscard]] const std::string& str(Names... names) const {
    return find(names...).text();
  }
  /// As `str`, as a whole number: decimal, or hexadecimal with 0x. Nothing if it is not one.
  template <typename... Names>
  [[nodiscard]] std::optional<std::int64_t> toInt(Names... names) const {
    return parseInteger(find(names...).text());
  }
  template <typename... Names>
  [[nodiscard]] int toInt32Or(int fallback, Names... names) const {
    const auto number = toInt(names...);
    return number && *number >= INT32_MIN && *number <= INT32_MAX ? static_cast<int>(*number)
                                                                  : fallback;
  }
  /// An address: full 64 bits, 0 if it is not one.
  [[nodiscard]] std::uint64_t toAddress(std::string_view name) const;

  /// The value as MI text. parse(toMi(v)) == v.
  [[nodiscard]] std::string toMi() const;

  friend bool operator==(const Value& left, const Value& right);
  friend bool operator!=(const Value& left, const Value& right) { return !(left == right); }

  [[nodiscard]] static std::optional<std::int64_t> parseInteger(std::string_view text);

 private:
  [[nodiscard]] const Value& find() const { return *this; }
  template <typename... Names>
  [[nodiscard]] const Value& find(std::string_view first, Names... rest) const {
    return (*this)[first].find(rest...);
  }

  Kind m_kind = Kind::Invalid;
  std::string m_text;
  Fields m_fields;
};

struct Value::Field {
  std::string name;
  Value value;

  friend bool operator==(const Field& left, const Field& right) {
    return left.name == right.name && left.value == right.value;
  }
};

inline std::size_t Value::size() const {
  return m_fields.size();
}

/// `text` as a C string literal of MI, with quotes: what GDB would have written.
[[nodiscard]] std::string toMiString(std::string_view text);

}  // namespace pf::mi
