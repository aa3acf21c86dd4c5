// SPDX-License-Identifier: GPL-3.0-or-later
#include "mi_bridge/python/parts.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <utility>

#include "mi_bridge/python/arrays.h"
#include "mi_bridge/python/attributes.h"
#include "mi_bridge/python/frames.h"
#include "mi_bridge/python/objects.h"
#include "replay_engine/python_text/text.h"

namespace pf::mi::python {
namespace {

constexpr std::uint64_t kListAllocated = 32;   ///< PyListObject, Include/cpython/listobject.h
constexpr std::size_t kMostEntries = 400'000;  ///< of a dict or set that are gone through
constexpr std::int64_t kLongestWrittenKey = 200;
constexpr std::size_t kLongestKey = 4096;
constexpr const char* kNotRead = "<cannot be read>";

enum class Items { None, List, Dict, Set, Array };

/// One page of parts that is filled.
class Page {
 public:
  Page(std::size_t from, std::size_t count) : m_from(from), m_count(count) {}

  /// The next part, in their order. False: no more are wanted.
  bool add(const std::function<Part()>& make) {
    if (m_seen++ < m_from) {
      return true;
    }
    m_page.more = m_page.parts.size() >= m_count;
    if (!m_page.more) {
      m_page.parts.push_back(make());
    }
    return !m_page.more;
  }
  /// The number of the first one that is wanted, where `before` are counted already.
  [[nodiscard]] std::size_t first() const { return m_from > m_seen ? m_from - m_seen : 0; }
  void skip(std::size_t count) { m_seen += count; }
  [[nodiscard]] std::size_t seen() const { return m_seen; }
  void addNote(const std::string& name, const std::string& text) {
    m_page.parts.push_back({name, {}, {{}, {}, text, 0, false}});
  }
  [[nodiscard]] PartPage& result() { return m_page; }

 private:
  std::size_t m_from;
  std::size_t m_count;
  std::size_t m_seen = 0;
  PartPage m_page;
};

class Reader {
 public:
  Reader(Memory& memory, const Layout& layout)
      : m_memory(memory), m_objects(memory, layout), m_attributes(memory, layout) {}

  [[nodiscard]] Value value(const Place& place) const;
  [[nodiscard]] PartPage parts(const Place& place, std::size_t from, std::size_t count) const;
  [[nodiscard]] bool hasParts(std::uint64_t object) const;
  [[nodiscard]] Result<Place> follow(const Place& place, const Step& step,
                                     const std::string& soFar) const;

 private:
  [[nodiscard]] Items kindOf(std::uint64_t object) const;
  /// An array without dimensions.
  [[nodiscard]] bool isScalar(std::uint64_t object, Items kind) const {
    const auto array = kind == Items::Array ? numpyArray(m_memory, object) : std::nullopt;
    return array && array->dimensions() == 0;
  }
  [[nodiscard]] std::int64_t itemCount(const Place& place, Items kind) const;
  [[nodiscard]] std::int64_t saidCount(const Place& place, Items kind) const;
  [[nodiscard]] Value elementValue(const Place& place) const;
  [[nodiscard]] bool hasAttributes(std::uint64_t object) const;
  void addAttributes(std::uint64_t object, Page& page) const;
  void addItems(const Place& place, Page& page) const;
  void addNumbered(const Place& place, Items kind, Page& page) const;
  void addEntries(std::uint64_t object, Page& page) const;
  void addElements(std::uint64_t object, Page& page) const;
  [[nodiscard]] Part entryPart(std::uint64_t key, std::uint64_t value) const;
  [[nodiscard]] std::optional<Place> item(const Place& place, Items kind, std::uint64_t i) const;
  [[nodiscard]] Result<Place> attribute(const Place& place, const std::string& name,
                                        const std::string& soFar) const;
  [[nodiscard]] Result<Place> numbered(const Place& place, std::int64_t index, Items kind,
                                       const std::string& soFar) const;
  [[nodiscard]] Result<Place> keyed(const Place& place, const Step& step,
                                    const std::string& soFar) const;

  Memory& m_memory;
  Objects m_objects;
  Attributes m_attributes;
};

std::string stepText(const Step& step) {
  switch (step.kind) {
    case Step::Kind::Attribute:
      return "." + step.text;
    case Step::Kind::Index:
      return "[" + std::to_string(step.index) + "]";
    case Step::Kind::Key:
      return "['" + step.text + "']";
  }
  return {};
}

Items Reader::kindOf(std::uint64_t object) const {
  return m_objects.isA(object, Objects::Base::List) || m_objects.isA(object, Objects::Base::Tuple)
             ? Items::List
         : m_objects.isA(object, Objects::Base::Dict) ? Items::Dict
         : m_objects.isSet(object)                    ? Items::Set
         : isNumpyArray(m_objects, object)            ? Items::Array
                                                      : Items::None;
}

std::int64_t Reader::itemCount(const Place& place, Items kind) const {
  constexpr std::int64_t kMost = std::int64_t{1} << 47;  // what no memory can hold is damage
  const std::int64_t count = saidCount(place, kind);
  return std::clamp<std::int64_t>(count, 0, kMost);
}

/// By whatever lies in memory.
std::int64_t Reader::saidCount(const Place& place, Items kind) const {
  const std::uint64_t object = place.object;
  switch (kind) {
    case Items::List: {
      const std::int64_t size = m_objects.sizeOf(object);
      const bool fits =
          m_objects.isA(object, Objects::Base::Tuple) ||
          readNumber<std::int64_t>(m_memory, object + kListAllocated).value_or(0) >= size;
      return fits ? size : 0;
    }
    case Items::Dict:
      return m_objects.sizeOf(object);
    case Items::Set:
      return m_objects.sizeOfSet(object);
    case Items::Array: {
      const auto array = numpyArray(m_memory, object);
      return !array || array->kind == ElementKind::Other      ? 0
             : place.indices < array->dimensions()            ? array->shape[place.indices]
             : array->dimensions() == 0 && place.indices == 0 ? 1
                                                              : 0;
    }
    case Items::None:
      break;
  }
  return 0;
}

/// A row of an array, or a number in it.
Value Reader::elementValue(const Place& place) const {
  const auto array = numpyArray(m_memory, place.object);
  if (!array) {
    return {place, "?", kNotRead, 0, false};
  }
  if (place.indices < array->dimensions()) {
    return {place, "ndarray", shapeText(*array, place.indices), itemCount(place, Items::Array),
            true};
  }
  const std::string text = elementText(m_memory, *array, array->data + place.offset);
  return {place, array->type, text.empty() ? kNotRead : text, 0, false};
}

Value Reader::value(const Place& place) const {
  if (place.indices > 0) {
    return elementValue(place);
  }
  const Items kind = kindOf(place.object);
  const bool attributes = hasAttributes(place.object);
  return {place, m_objects.typeName(place.object), m_objects.valueText(place.object),
          itemCount(place, kind) + (attributes ? 1 : 0),
          !attributes && (kind == Items::List || kind == Items::Array)};
}

bool Reader::hasAttributes(std::uint64_t object) const {
  bool found = false;
  m_attributes.visit(object, [&](const std::string&, std::uint64_t) {
    found = true;
    return false;
  });
  return found;
}

bool Reader::hasParts(std::uint64_t object) const {
  return itemCount({object, 0, 0}, kindOf(object)) > 0 || hasAttributes(object);
}

PartPage Reader::parts(const Place& place, std::size_t from, std::size_t count) const {
  Page page(from, count);
  if (place.indices == 0) {
    addAttributes(place.object, page);
  }
  if (!page.result().more) {
    addItems(place, page);
  }
  return std::move(page.result());
}

void Reader::addAttributes(std::uint64_t object, Page& page) const {
  m_attributes.visit(object, [&](const std::string& name, std::uint64_t attribute) {
    return page.add([&]() -> Part {
      return {name, isName(name) ? "." + name : "", value({attribute, 0, 0})};
    });
  });
}

void Reader::addItems(const Place& place, Page& page) const {
  const Items kind = kindOf(place.object);
  if (kind == Items::Dict) {
    addEntries(place.object, page);
  } else if (kind == Items::Set) {
    addElements(place.object, page);
  } else if (kind != Items::None) {
    addNumbered(place, kind, page);
  }
}

std::optional<Place> Reader::item(const Place& place, Items kind, std::uint64_t i) const {
  if (kind == Items::Array) {
    const auto array = numpyArray(m_memory, place.object);
    if (!array) {
      return std::nullopt;
    }
    const bool within = place.indices < array->dimensions();
    const auto stride = within ? static_cast<std::uint64_t>(array->strides[place.indices]) : 0;
    const Place inside{place.object, place.indices + 1, place.offset + i * stride};
    return array->kind == ElementKind::Object && inside.indices >= array->dimensions()
               ? Place{readPointer(m_memory, array->data + inside.offset), 0, 0}
               : inside;
  }
  const auto object = readNumber<std::uint64_t>(m_memory, m_objects.itemsAt(place.object) + 8 * i);
  return object ? std::optional(Place{*object, 0, 0}) : std::nullopt;
}

void Reader::addNumbered(const Place& place, Items kind, Page& page) const {
  const auto size = static_cast<std::size_t>(itemCount(place, kind));
  const std::size_t first = std::min(page.first(), size);
  page.skip(first);
  for (std::size_t i = first; i < size; ++i) {
    const std::string name = "[" + std::to_string(i) + "]";
    const auto found = item(place, kind, i);
    if (!found) {
      page.addNote(name, kNotRead);
      return;
    }
    const bool scalar = isScalar(place.object, kind);
    if (!page.add([&]() -> Part {
          return scalar ? Part{"[()]", {}, value(*found)} : Part{name, name, value(*found)};
        })) {
      return;
    }
  }
}

Part Reader::entryPart(std::uint64_t key, std::uint64_t entry) const {
  const std::string name = "[" + m_objects.valueText(key) + "]";
  const std::string type = m_objects.typeName(key);
  const bool written = (type == "str" && m_objects.sizeOf(key) <= kLongestWrittenKey) ||
                       (type == "int" && m_objects.integer(key));
  return {name, written ? name : "", value({entry, 0, 0})};
}

void Reader::addEntries(std::uint64_t object, Page& page) const {
  const std::size_t before = page.seen();
  const bool read =
      m_objects.visitDict(object, kMostEntries, [&](std::uint64_t key, std::uint64_t entry) {
        return page.add([&] { return entryPart(key, entry); });
      });
  const auto size = static_cast<std::size_t>(m_objects.sizeOf(object));
  if (!read || (!page.result().more && page.seen() - before < size)) {
    page.addNote("…", read ? "<those behind are not read>" : kNotRead);
  }
}

void Reader::addElements(std::uint64_t object, Page& page) const {
  const std::size_t before = page.seen();
  std::size_t number = 0;
  const bool read = m_objects.visitSet(object, kMostEntries, [&](std::uint64_t element) {
    const std::string name = "[" + std::to_string(number++) + "]";
    return page.add([&]() -> Part { return {name, {}, value({element, 0, 0})}; });
  });
  const auto size = static_cast<std::size_t>(m_objects.sizeOfSet(object));
  if (!read || (!page.result().more && page.seen() - before < size)) {
    page.addNote("…", read ? "<those behind are not read>" : kNotRead);
  }
}

Error notThere(const std::string& sentence) {
  return Error{ErrorCode::NotFound, sentence, {}};
}

Result<Place> Reader::follow(const Place& place, const Step& step, const std::string& soFar) const {
  if (step.kind == Step::Kind::Attribute) {
    return attribute(place, step.text, soFar);
  }
  const Items kind = kindOf(place.object);
  if (kind == Items::Dict) {
    return keyed(place, step, soFar);
  }
  if (step.kind == Step::Kind::Index && (kind == Items::List || kind == Items::Array)) {
    return numbered(place, step.index, kind, soFar);
  }
  const std::string type = place.indices > 0 ? "a number" : m_objects.typeName(place.object);
  return notThere(soFar + " is no container whose parts are found by reading (it is " + type +
                  "): [number] is for list, tuple, dict and arrays of NumPy, ['text'] for dict");
}

Result<Place> Reader::attribute(const Place& place, const std::string& name,
                                const std::string& soFar) const {
  const Error missing = notThere(soFar + " has no attribute '" + name +
                                 "' in memory, and nothing but that is read: no property and no "
                                 "__getattr__ is called");
  if (place.indices > 0) {
    return missing;
  }
  const std::uint64_t own = m_attributes.own(place.object, name);
  const std::uint64_t ofClass = m_attributes.ofClass(place.object, name);
  const std::string type = ofClass != 0 ? m_objects.typeName(ofClass) : std::string();
  const bool called =
      type == "property" ||
      (own == 0 && (type.ends_with("cached_property") || type.ends_with("_descriptor")));
  if (called) {
    return notThere(
        soFar + "." + name + " is a " + type +
        " of its class, and nothing is called for it: only what lies in memory is read");
  }
  if (own == 0 && ofClass == 0) {
    return missing;
  }
  return Place{own != 0 ? own : ofClass, 0, 0};
}

Result<Place> Reader::numbered(const Place& place, std::int64_t index, Items kind,
                               const std::string& soFar) const {
  const auto array = kind == Items::Array ? numpyArray(m_memory, place.object) : std::nullopt;
  if (array && (array->kind == ElementKind::Other || array->dimensions() == 0)) {
    return notThere(soFar + " has no parts that are read: arrays of numbers have");
  }
  const std::int64_t size = itemCount(place, kind);
  const std::int64_t at = index < 0 && index >= -size ? index + size : index;
  const auto found = at >= 0 && at < size && !isScalar(place.object, kind)
                         ? item(place, kind, static_cast<std::uint64_t>(at))
                         : std::nullopt;
  if (!found) {
    return notThere(soFar + " has no part [" + std::to_string(index) + "]: it has " +
                    std::to_string(size));
  }
  return *found;
}

Result<Place> Reader::keyed(const Place& place, const Step& step, const std::string& soFar) const {
  std::uint64_t found = 0;
  const bool read =
      m_objects.visitDict(place.object, kMostEntries, [&](std::uint64_t key, std::uint64_t entry) {
        const bool same = step.kind == Step::Kind::Key
                              ? m_objects.utf8(key, kLongestKey) == step.text
                              : m_objects.integer(key) == step.index;
        found = same ? entry : 0;
        return found == 0;
      });
  if (found == 0) {
    return notThere(read ? stepText(step) + " is no key of " + soFar : soFar + " cannot be read");
  }
  return Place{found, 0, 0};
}

}  // namespace

bool hasParts(Memory& memory, const Layout& layout, std::uint64_t object) {
  return Reader(memory, layout).hasParts(object);
}

PartPage readParts(Memory& memory, const Layout& layout, const Place& place, std::size_t from,
                   std::size_t count) {
  return Reader(memory, layout).parts(place, from, count);
}

Result<Value> readPath(Memory& memory, const Layout& layout, std::uint64_t frame,
                       const Path& path) {
  const Result<std::uint64_t> variable = findVariable(memory, layout, frame, path.name);
  if (!variable) {
    return variable.error();
  }
  const Reader reader(memory, layout);
  Result<Place> place = Place{*variable, 0, 0};
  std::string soFar = path.name;
  for (const Step& step : path.steps) {
    place = reader.follow(*place, step, soFar);
    if (!place) {
      return place.error();
    }
    soFar += stepText(step);
  }
  return reader.value(*place);
}

}  // namespace pf::mi::python
