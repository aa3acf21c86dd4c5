// SPDX-License-Identifier: GPL-3.0-or-later
#include "mi_bridge/python/objects.h"

#include <algorithm>
#include <cstring>

#include "mi_bridge/python/arrays.h"
#include "replay_engine/python_text/text.h"

namespace pf::mi::python {
namespace {

using cpython::kBytes;
using cpython::kSize;
using cpython::kTypeName;

// Members that lie at the same place from 3.11 to 3.13.
constexpr std::uint64_t kContents =
    24;  ///< of a list: ob_item; of a tuple: its items; of an int: its digits
constexpr std::uint64_t kFloat = 16;
constexpr std::uint64_t kDictKeys = 32;
constexpr std::uint64_t kDictValues = 40;
constexpr std::uint64_t kSetUsed = 24;
constexpr std::uint64_t kSetMask = 32;
constexpr std::uint64_t kSetTable = 40;
constexpr std::uint64_t kTypeBase = 256;
constexpr std::uint64_t kKeysIndexBytes = 9;
constexpr std::uint64_t kKeysKind = 10;
constexpr std::uint64_t kKeysEntryCount = 24;
constexpr std::uint64_t kKeysIndices = 32;

constexpr std::size_t kShownCharacters = 200;
constexpr std::size_t kShownItems = 20;
constexpr std::size_t kShownDigits = 40;  ///< of 30 bits
constexpr std::size_t kLongestTypeName = 100;
constexpr std::size_t kReadAhead = 4096;  ///< entries that are not there yet

constexpr const char* kUnreadable = "<cannot be read>";

/// A name goes to terminals and windows.
std::string printable(const std::string& name) {
  return python_text::plainText({name.begin(), name.end()});
}

}  // namespace

bool Objects::isA(std::uint64_t object, Base base) const {
  return cpython::isA(m_memory, object, base);
}

std::string Objects::typeName(std::uint64_t object) const {
  return nameOf(typeOf(object));
}

std::string Objects::nameOf(std::uint64_t type) const {
  std::string text =
      readCString(m_memory, readPointer(m_memory, type + kTypeName), kLongestTypeName);
  const auto isForeign = [](char c) { return static_cast<signed char>(c) < 0; };
  text.erase(std::find_if(text.begin(), text.end(), isForeign), text.end());
  return text.empty() ? "?" : printable(text);
}

std::int64_t Objects::sizeOf(std::uint64_t object) const {
  return std::max<std::int64_t>(0, readNumber<std::int64_t>(m_memory, object + kSize).value_or(0));
}

std::vector<std::uint32_t> Objects::characters(std::uint64_t object, std::size_t most) const {
  const auto str = cpython::strData(m_memory, m_layout, object);
  if (!str) {
    return {};
  }
  const std::size_t count = std::min(most, str->length);
  std::vector<unsigned char> raw(count * str->width);
  if (raw.empty() || !m_memory.read(str->at, raw.data(), raw.size())) {
    return {};
  }
  std::vector<std::uint32_t> out(count);
  for (std::size_t i = 0; i < count; ++i) {
    std::memcpy(&out[i], raw.data() + i * str->width, str->width);  // the lowest byte comes first
  }
  return out;
}

std::string Objects::bytes(std::uint64_t object, std::size_t most) const {
  const auto size = static_cast<std::size_t>(sizeOf(object));
  if (size == 0 || size > most || !isA(object, Base::Bytes)) {
    return {};
  }
  std::string out(size, '\0');
  return m_memory.read(object + kBytes, out.data(), size) ? out : std::string();
}

std::uint64_t Objects::itemsAt(std::uint64_t object) const {
  return isA(object, Base::List) ? readPointer(m_memory, object + kContents) : object + kContents;
}

std::vector<std::uint64_t> Objects::items(std::uint64_t object, std::size_t most) const {
  if (!isA(object, Base::List) && !isA(object, Base::Tuple)) {
    return {};
  }
  std::vector<std::uint64_t> out(std::min(most, static_cast<std::size_t>(sizeOf(object))));
  const bool read =
      !out.empty() && m_memory.read(itemsAt(object), out.data(), out.size() * sizeof out[0]);
  return read ? out : std::vector<std::uint64_t>();
}

/// Keys and values lie in a table in the order in which they were added; of an object's attributes, values have one of
/// their own.
bool Objects::visitDict(std::uint64_t object, std::size_t most,
                        const std::function<bool(std::uint64_t, std::uint64_t)>& visit) const {
  const std::uint64_t keys = readPointer(m_memory, object + kDictKeys);
  const auto values = readNumber<std::uint64_t>(m_memory, object + kDictValues);
  return isA(object, Base::Dict) && values &&
         visitKeys(keys, *values != 0 ? *values + m_layout.dictValues : 0, most, visit);
}

bool Objects::visitKeys(std::uint64_t keys, std::uint64_t values, std::size_t most,
                        const std::function<bool(std::uint64_t, std::uint64_t)>& visit) const {
  const auto indexBytes = readNumber<std::uint8_t>(m_memory, keys + kKeysIndexBytes);
  const auto kind = readNumber<std::uint8_t>(m_memory, keys + kKeysKind);
  const auto entries = readNumber<std::int64_t>(m_memory, keys + kKeysEntryCount);
  if (!indexBytes || *indexBytes > 40 || !kind || *kind > 2 || !entries || *entries < 0) {
    return false;
  }
  const std::uint64_t first = keys + kKeysIndices + (1ULL << *indexBytes);
  const std::uint64_t hash = *kind == 0 ? 8 : 0;  // in front of the key
  const std::uint64_t size = hash + 16;
  const std::size_t count = std::min(most, static_cast<std::size_t>(*entries));
  std::size_t unread = 0;
  for (std::size_t i = 0; i < count && unread < kReadAhead; ++i) {
    const std::uint64_t entry = first + i * size + hash;
    const auto key = readNumber<std::uint64_t>(m_memory, entry);
    const auto value =
        readNumber<std::uint64_t>(m_memory, values != 0 ? values + i * 8 : entry + 8);
    unread += key && value ? 0U : 1U;
    if (key.value_or(0) != 0 && value.value_or(0) != 0 && !visit(*key, *value)) {
      break;
    }
  }
  return unread == 0;
}

std::int64_t Objects::sizeOfSet(std::uint64_t object) const {
  return std::max<std::int64_t>(0,
                                readNumber<std::int64_t>(m_memory, object + kSetUsed).value_or(0));
}

bool Objects::isSet(std::uint64_t object) const {
  return isOf(object, "set") || isOf(object, "frozenset");
}

/// A table of keys with their hashes: 0 where it is free, a hash of -1 where a key was removed (setobject.c).
bool Objects::visitSet(std::uint64_t object, std::size_t most,
                       const std::function<bool(std::uint64_t)>& visit) const {
  constexpr std::uint64_t kEntry = 16;
  const auto mask = readNumber<std::int64_t>(m_memory, object + kSetMask);
  const std::uint64_t table = readPointer(m_memory, object + kSetTable);
  if (!isSet(object) || !mask || *mask < 0 || *mask >= std::int64_t{1} << 40) {
    return false;
  }
  const std::size_t count = std::min(most, static_cast<std::size_t>(*mask) + 1);
  std::size_t unread = 0;
  for (std::size_t i = 0; i < count && unread < kReadAhead; ++i) {
    const auto key = readNumber<std::uint64_t>(m_memory, table + i * kEntry);
    const auto hash = readNumber<std::int64_t>(m_memory, table + i * kEntry + 8);
    unread += key && hash ? 0U : 1U;
    if (key.value_or(0) != 0 && hash.value_or(-1) != -1 && !visit(*key)) {
      break;
    }
  }
  return unread == 0;
}

bool Objects::isOf(std::uint64_t object, std::string_view name) const {
  constexpr int kDeepest = 64;
  std::uint64_t type = typeOf(object);
  for (int i = 0; i < kDeepest && type != 0; ++i) {
    const auto flags = readNumber<std::uint64_t>(m_memory, type + cpython::kTypeFlags);
    if (flags && (*flags >> kHeapType & 1U) == 0) {
      const std::uint64_t text = readPointer(m_memory, type + kTypeName);
      if (readCString(m_memory, text, name.size() + 1) == name) {
        return true;
      }
    }
    type = readPointer(m_memory, type + kTypeBase);
  }
  return false;
}

std::optional<std::int64_t> Objects::integer(std::uint64_t object) const {
  const auto size = readNumber<std::int64_t>(m_memory, object + kSize);
  if (!size || !isA(object, Base::Int)) {
    return std::nullopt;
  }
  const bool negative = m_layout.taggedSize ? (*size & 3) == 2 : *size < 0;
  const std::uint64_t count = m_layout.taggedSize ? static_cast<std::uint64_t>(*size) >> 3U
                              : negative          ? 0 - static_cast<std::uint64_t>(*size)
                                                  : static_cast<std::uint64_t>(*size);
  if (count > 2) {
    return std::nullopt;
  }
  std::int64_t out = 0;
  for (std::uint64_t i = count; i-- > 0;) {
    const auto digit = readNumber<std::uint32_t>(m_memory, object + kContents + 4 * i);
    if (!digit) {
      return std::nullopt;
    }
    out = out << 30 | std::int64_t{*digit & 0x3FFFFFFFU};
  }
  return negative ? -out : out;
}

std::optional<std::string> Objects::utf8(std::uint64_t object, std::size_t most) const {
  if (!isA(object, Base::Str) || sizeOf(object) > static_cast<std::int64_t>(most)) {
    return std::nullopt;
  }
  std::string out;
  for (const std::uint32_t character : characters(object, most)) {
    out += cpython::Utf8(character).view();
  }
  return out;
}

std::string Objects::valueText(std::uint64_t object) const {
  return text(object, 0);
}

std::string Objects::text(std::uint64_t object, int depth) const {
  const std::string type = typeName(object);
  if (type == "NoneType") {
    return "None";
  }
  if (type == "bool" && isA(object, Base::Int)) {
    const auto digit = readNumber<std::uint32_t>(m_memory, object + kContents);
    return !digit ? kUnreadable : *digit != 0 ? "True" : "False";
  }
  if (type == "int" && isA(object, Base::Int)) {
    return intText(object);
  }
  if (type == "float") {
    const auto value = readNumber<double>(m_memory, object + kFloat);
    return value ? python_text::floatText(*value) : kUnreadable;
  }
  if (type == "str" && isA(object, Base::Str)) {
    return strText(object);
  }
  if (type == "bytes" && isA(object, Base::Bytes)) {
    return bytesText(object);
  }
  if (type == "list" && isA(object, Base::List)) {
    return sequenceText(object, "[]", depth);
  }
  if (type == "tuple" && isA(object, Base::Tuple)) {
    return sequenceText(object, "()", depth);
  }
  if (type == "dict" && isA(object, Base::Dict)) {
    return dictText(object, depth);
  }
  return otherText(object, type, depth);
}

std::string Objects::otherText(std::uint64_t object, const std::string& type, int depth) const {
  if (isA(object, Base::Type)) {
    return "<class " + nameOf(object) + ">";
  }
  if ((type == "set" || type == "frozenset") && isSet(object)) {
    return setText(object, type, depth);
  }
  if (type == "complex" && isOf(object, "complex")) {
    return complexText(object);
  }
  if (isNumpyArray(*this, object)) {
    const auto array = numpyArray(m_memory, object);
    return array ? type.substr(type.rfind('.') + 1) + " " + shapeText(*array, 0) : kUnreadable;
  }
  if (const std::string number = scalarText(m_memory, type, object);
      !number.empty() && isOf(object, type)) {
    return number;
  }
  return type == "?" ? kUnreadable : "<" + type + ">";
}

std::string Objects::complexText(std::uint64_t object) const {
  const auto real = readNumber<double>(m_memory, object + kFloat);
  const auto imaginary = readNumber<double>(m_memory, object + kFloat + 8);
  return real && imaginary ? python_text::complexText(*real, *imaginary) : kUnreadable;
}

std::string Objects::setText(std::uint64_t object, const std::string& type, int depth) const {
  const auto size = static_cast<std::size_t>(sizeOfSet(object));
  const bool frozen = type == "frozenset";
  if (size == 0) {
    return type + "()";
  }
  if (depth > 0) {
    return frozen ? "frozenset({…})" : "{…}";
  }
  std::string out;
  std::size_t shown = 0;
  const bool read = visitSet(object, kReadAhead, [&](std::uint64_t key) {
    out += (shown > 0 ? ", " : "") + text(key, depth + 1);
    return ++shown < kShownItems;
  });
  if (!read || (shown == 0 && size > 0)) {
    return kUnreadable;
  }
  out = "{" + out + (size > shown ? ", … " + std::to_string(size) + " in all}" : "}");
  return frozen ? "frozenset(" + out + ")" : out;
}

std::string Objects::intText(std::uint64_t object) const {
  const auto size = readNumber<std::int64_t>(m_memory, object + kSize);
  if (!size) {
    return kUnreadable;
  }
  // 3.11: its sign is the number's; from 3.12 on: the sign in the two lowest bits, 0, 1 (zero) or 2 (negative).
  const bool negative = m_layout.taggedSize ? (*size & 3) == 2 : *size < 0;
  const std::uint64_t count = m_layout.taggedSize ? static_cast<std::uint64_t>(*size) >> 3U
                              : negative          ? 0 - static_cast<std::uint64_t>(*size)
                                                  : static_cast<std::uint64_t>(*size);
  if (count > kShownDigits) {
    return count < 1U << 28U ? "<int of " + std::to_string(count * 30) + " bits>" : kUnreadable;
  }
  std::vector<std::uint32_t> digits(count);
  if (!digits.empty() &&
      !m_memory.read(object + kContents, digits.data(), count * sizeof digits[0])) {
    return kUnreadable;
  }
  return python_text::integerText(std::move(digits), negative);
}

std::string Objects::strText(std::uint64_t object) const {
  const auto size = static_cast<std::size_t>(sizeOf(object));
  const std::vector<std::uint32_t> shown = characters(object, kShownCharacters);
  return shown.empty() && size > 0 ? kUnreadable
                                   : python_text::quotedText(shown, size > shown.size());
}

std::string Objects::bytesText(std::uint64_t object) const {
  const auto size = static_cast<std::size_t>(sizeOf(object));
  std::string shown(std::min(size, kShownCharacters), '\0');
  if (!shown.empty() && !m_memory.read(object + kBytes, shown.data(), shown.size())) {
    return kUnreadable;
  }
  return python_text::quotedBytes(shown, size > shown.size());
}

std::string Objects::sequenceText(std::uint64_t object, const char* marks, int depth) const {
  const auto size = static_cast<std::size_t>(sizeOf(object));
  if (size > 0 && depth > 0) {
    return std::string(1, marks[0]) + "…" + marks[1];
  }
  const std::vector<std::uint64_t> shown = items(object, kShownItems);
  if (shown.empty() && size > 0) {
    return kUnreadable;
  }
  std::string out(1, marks[0]);
  for (const std::uint64_t item : shown) {
    out += (out.size() > 1 ? ", " : "") + text(item, depth + 1);
  }
  if (size > shown.size()) {
    out += ", … " + std::to_string(size) + " in all";
  } else if (size == 1 && marks[0] == '(') {
    out += ",";
  }
  return out + marks[1];
}

std::string Objects::dictText(std::uint64_t object, int depth) const {
  const auto size = static_cast<std::size_t>(sizeOf(object));
  if (size == 0 || depth > 0) {
    return size == 0 ? "{}" : "{…}";
  }
  constexpr std::size_t kMostEntries = 1024;  // of removed keys, too
  std::string out = "{";
  std::size_t shown = 0;
  const bool read = visitDict(object, kMostEntries, [&](std::uint64_t key, std::uint64_t value) {
    out += (shown > 0 ? ", " : "") + text(key, depth + 1) + ": " + text(value, depth + 1);
    return ++shown < kShownItems;
  });
  if (!read) {
    return kUnreadable;
  }
  return out +
         (size > shown ? (shown > 0 ? ", … " : "… ") + std::to_string(size) + " in all}" : "}");
}

}  // namespace pf::mi::python
