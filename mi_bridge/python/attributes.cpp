// SPDX-License-Identifier: GPL-3.0-or-later
#include "mi_bridge/python/attributes.h"

#include <set>

#include "replay_engine/python_text/text.h"

namespace pf::mi::python {
namespace {

// PyTypeObject, Include/cpython/object.h: alike from 3.11 to 3.13.
constexpr std::uint64_t kBasicSize = 32;
constexpr std::uint64_t kItemSize = 40;
constexpr std::uint64_t kMembers = 240;
constexpr std::uint64_t kTypeDictionary = 264;
constexpr std::uint64_t kDictionaryOffset = 288;
constexpr std::uint64_t kLinearBases = 344;  ///< tp_mro

// Bits of its flags, Include/object.h.
constexpr unsigned kInlineValues = 2;  ///< from 3.13 on
constexpr unsigned kManagedDictionary = 4;

// PyMemberDef, Include/structmember.h (3.11) and descrobject.h.
constexpr std::uint64_t kMemberSize = 40;
constexpr std::uint64_t kMemberType = 8;
constexpr std::uint64_t kMemberOffset = 16;
constexpr std::uint64_t kMemberFlags = 24;
constexpr std::int32_t kObjectMember = 6;
constexpr std::int32_t kObjectOrErrorMember = 16;
constexpr std::int32_t kRelativeOffset = 8;

constexpr std::size_t kMostAttributes = 4096;
constexpr std::size_t kMostSlots = 256;
constexpr std::size_t kMostBases = 64;
constexpr std::size_t kLongestAttribute = 500;

bool hasFlag(std::uint64_t flags, unsigned bit) {
  return (flags >> bit & 1U) != 0;
}

/// PyHeapTypeObject::ht_cached_keys, Include/cpython/object.h of 3.11.2, 3.12.1 and 3.13.0.
std::uint64_t cachedKeys(const Layout& layout) {
  return layout.minor == 11 ? 872 : 880;
}

}  // namespace

bool isOwn(const std::string& name, const std::string& type) {
  static const std::set<std::string> kDefinitions{
      "module",  "function", "builtin_function_or_method", "type",
      "ABCMeta", "EnumType", "cython_function_or_method"};
  return !(name.size() > 4 && name.starts_with("__") && name.ends_with("__")) &&
         !kDefinitions.contains(type);
}

bool Attributes::visitDictionary(std::uint64_t dictionary, const Visit& visit) const {
  bool on = true;
  m_objects.visitDict(dictionary, kMostAttributes, [&](std::uint64_t key, std::uint64_t value) {
    on = visit(python_text::plainText(m_objects.characters(key, kLongestAttribute)), value);
    return on;
  });
  return on;
}

/// The names are those of the class.
bool Attributes::visitKeys(std::uint64_t type, std::uint64_t values, const Visit& visit) const {
  constexpr std::size_t kMostShared = 254;  ///< 30 in fact (SHARED_KEYS_MAX_SIZE)
  bool on = true;
  m_objects.visitKeys(
      readPointer(m_memory, type + cachedKeys(m_layout)), values, kMostShared,
      [&](std::uint64_t key, std::uint64_t value) {
        on = visit(python_text::plainText(m_objects.characters(key, kLongestAttribute)), value);
        return on;
      });
  return on;
}

/// Include/internal/pycore_object.h of each version. 3.11: in front of the object a pointer to values (at -32) and one to a
/// dictionary (at -24). 3.12: one pointer at -24, to a dictionary, or to values, less one. 3.13: a dictionary at -24, or
/// values behind the object, of which a byte says that they hold (struct _dictvalues, pycore_dict.h).
bool Attributes::visitManaged(std::uint64_t object, std::uint64_t flags, const Visit& visit) const {
  const std::uint64_t type = m_objects.typeOf(object);
  const std::uint64_t dictionary = readPointer(m_memory, object - 24);
  if (m_layout.minor == 11) {
    const std::uint64_t values = readPointer(m_memory, object - 32);
    return values != 0 ? visitKeys(type, values + m_layout.dictValues, visit)
                       : visitDictionary(dictionary, visit);
  }
  if (m_layout.minor == 12) {
    return (dictionary & 1U) != 0 ? visitKeys(type, dictionary + 1 + m_layout.dictValues, visit)
                                  : visitDictionary(dictionary, visit);
  }
  constexpr std::uint64_t kValid = 3;
  const std::uint64_t values = object + readPointer(m_memory, type + kBasicSize);
  const bool inlined = dictionary == 0 && hasFlag(flags, kInlineValues) &&
                       readNumber<std::uint8_t>(m_memory, values + kValid).value_or(0) != 0;
  return inlined ? visitKeys(type, values + m_layout.dictValues, visit)
                 : visitDictionary(dictionary, visit);
}

/// tp_dictoffset: a negative one counts from the end of an object of variable size.
std::uint64_t Attributes::dictionaryByOffset(std::uint64_t object) const {
  const std::uint64_t type = m_objects.typeOf(object);
  const auto offset = readNumber<std::int64_t>(m_memory, type + kDictionaryOffset).value_or(0);
  constexpr std::int64_t kLargest = 1 << 20;
  if (offset == 0 || offset > kLargest || offset < -kLargest) {
    return 0;
  }
  if (offset > 0) {
    return readPointer(m_memory, object + static_cast<std::uint64_t>(offset));
  }
  const auto size = readNumber<std::int64_t>(m_memory, object + cpython::kSize).value_or(0);
  const std::uint64_t count = m_layout.taggedSize && m_objects.isA(object, Objects::Base::Int)
                                  ? static_cast<std::uint64_t>(size) >> 3U
                              : size < 0 ? 0 - static_cast<std::uint64_t>(size)
                                         : static_cast<std::uint64_t>(size);
  const std::uint64_t whole =
      readPointer(m_memory, type + kBasicSize) + count * readPointer(m_memory, type + kItemSize);
  return readPointer(m_memory, object + (whole + 7) / 8 * 8 - static_cast<std::uint64_t>(-offset));
}

std::vector<std::uint64_t> Attributes::linearBases(std::uint64_t type) const {
  return m_objects.items(readPointer(m_memory, type + kLinearBases), kMostBases);
}

/// A class that is written in Python has a member for each of its __slots__.
bool Attributes::visitSlots(std::uint64_t object, std::uint64_t type, const Visit& visit) const {
  const auto flags = readNumber<std::uint64_t>(m_memory, type + cpython::kTypeFlags).value_or(0);
  std::uint64_t member = hasFlag(flags, kHeapType) ? readPointer(m_memory, type + kMembers) : 0;
  constexpr std::int64_t kLargest = 1 << 20;
  for (std::size_t i = 0; member != 0 && i < kMostSlots; ++i, member += kMemberSize) {
    const std::uint64_t name = readPointer(m_memory, member);
    const auto kind = readNumber<std::int32_t>(m_memory, member + kMemberType).value_or(-1);
    const auto offset = readNumber<std::int64_t>(m_memory, member + kMemberOffset).value_or(0);
    const auto more = readNumber<std::int32_t>(m_memory, member + kMemberFlags).value_or(0);
    if (name == 0) {
      break;
    }
    if ((kind != kObjectMember && kind != kObjectOrErrorMember) || offset < 16 ||
        offset > kLargest || (more & kRelativeOffset) != 0) {
      continue;
    }
    const std::uint64_t value = readPointer(m_memory, object + static_cast<std::uint64_t>(offset));
    const std::string text = readCString(m_memory, name, kLongestAttribute);
    if (value != 0 && !visit(python_text::plainText({text.begin(), text.end()}), value)) {
      return false;
    }
  }
  return true;
}

/// In the order in which Python looks: a slot is found before what a dictionary has of the same name.
void Attributes::visitAll(std::uint64_t object, const Visit& visit) const {
  const std::uint64_t type = m_objects.typeOf(object);
  const auto flags = readNumber<std::uint64_t>(m_memory, type + cpython::kTypeFlags).value_or(0);
  for (const std::uint64_t base :
       hasFlag(flags, kHeapType) ? linearBases(type) : std::vector<std::uint64_t>()) {
    if (!visitSlots(object, base, visit)) {
      return;
    }
  }
  if (hasFlag(flags, kManagedDictionary)) {
    (void)visitManaged(object, flags, visit);
  } else if (const std::uint64_t dictionary = dictionaryByOffset(object); dictionary != 0) {
    (void)visitDictionary(dictionary, visit);
  }
}

void Attributes::visit(std::uint64_t object, const Visit& visit) const {
  std::size_t left = kMostAttributes;
  const bool all =
      !m_objects.isA(object, Objects::Base::Type) && m_objects.typeName(object) != "module";
  visitAll(object, [&](const std::string& name, std::uint64_t value) {
    const bool shown = all || isOwn(name, m_objects.typeName(value));
    return (!shown || visit(name, value)) && --left > 0;
  });
}

std::uint64_t Attributes::own(std::uint64_t object, const std::string& name) const {
  std::uint64_t out = 0;
  visitAll(object, [&](const std::string& each, std::uint64_t value) {
    out = each == name ? value : 0;
    return out == 0;
  });
  return out;
}

std::uint64_t Attributes::among(std::uint64_t dictionary, const std::string& name) const {
  std::uint64_t out = 0;
  m_objects.visitDict(dictionary, kMostAttributes, [&](std::uint64_t key, std::uint64_t value) {
    out = m_objects.utf8(key, name.size()) == name ? value : 0;
    return out == 0;
  });
  return out;
}

std::uint64_t Attributes::ofClass(std::uint64_t object, const std::string& name) const {
  const bool isClass = m_objects.isA(object, Objects::Base::Type);
  for (const std::uint64_t type : {isClass ? object : 0, m_objects.typeOf(object)}) {
    for (const std::uint64_t base : type != 0 ? linearBases(type) : std::vector<std::uint64_t>()) {
      const std::uint64_t found = among(readPointer(m_memory, base + kTypeDictionary), name);
      if (found != 0) {
        return found;
      }
    }
  }
  return 0;
}

}  // namespace pf::mi::python
