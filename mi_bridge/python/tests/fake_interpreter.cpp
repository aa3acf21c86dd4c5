// SPDX-License-Identifier: GPL-3.0-or-later
#include "mi_bridge/python/tests/fake_interpreter.h"

namespace pf::mi::python {

bool FakeMemory::read(std::uint64_t address, void* to, std::size_t size) {
  auto at = bytes.find(address);
  for (std::size_t i = 0; i < size; ++i, ++at) {
    if (at == bytes.end() || at->first != address + i) {
      return false;
    }
    static_cast<char*>(to)[i] = at->second;
  }
  return true;
}

void FakeMemory::put(std::uint64_t address, const void* from, std::size_t size) {
  for (std::size_t i = 0; i < size; ++i) {
    bytes[address + i] = static_cast<const char*>(from)[i];
  }
}

std::uint64_t FakeMemory::make(std::size_t size) {
  const std::uint64_t address = m_next;
  m_next += (size + 127) / 64 * 64;
  const std::vector<char> zeros(size);
  put(address, zeros.data(), size);
  return address;
}

FakeInterpreter::FakeInterpreter(int minor)
    : version(0x03000000U | static_cast<unsigned>(minor) << 16U | 0x01F0U) {
  runtime = memory.make(1024);
  if (minor == 13) {  // it describes itself
    static constexpr std::uint64_t kTold[] = {
        0, 0x030D01F0, 0,  0,  0, 632, 0,   0,   7264, 7344, 0,   0,  0,   0,  0,
        0, 0,          0,  0,  0, 0,   8,   16,  72,   152,  160, 0,  0,   0,  8,
        0, 56,         72, 70, 0, 112, 120, 128, 136,  68,   52,  96, 104, 200};
    memory.put(runtime, kTold, sizeof kTold);
    memory.put(runtime, "xdebugpy", 8);
  }
  layout = *layoutOf(memory, runtime, version);
  interpreter = memory.make(8192);
  thread = memory.make(1024);
  memory.set(runtime + layout.interpretersHead, interpreter);
  memory.set(interpreter + layout.threadsHead, thread);
  if (layout.interpreterRuntime != 0) {
    memory.set(interpreter + layout.interpreterRuntime, runtime);
  }
  memory.set(thread + layout.threadInterpreter, interpreter);
  memory.set(thread + layout.threadId, kPthread);
  memory.set(thread + layout.nativeThreadId, kNative);
  m_holder = thread;
  if (layout.hasCframe) {
    m_holder = memory.make(64);
    memory.set(thread + layout.cframe, m_holder);
  }
}

void FakeInterpreter::setCurrent(std::uint64_t frame) {
  memory.set(frame + layout.framePrevious, m_current);
  m_current = frame;
  memory.set(m_holder + layout.currentFrame, frame);
}

std::uint64_t FakeInterpreter::makeType(const std::string& name, unsigned flag) {
  std::uint64_t& type = m_types[name];
  if (type == 0) {
    const std::uint64_t text = memory.make(128);
    memory.put(text, name.c_str(), name.size() + 1);
    type = memory.make(1024);
    memory.set(type + 24, text);
    memory.set(type + 168, std::uint64_t{1} << flag);
  }
  return type;
}

std::uint64_t FakeInterpreter::makeObject(std::size_t size, const std::string& type,
                                          unsigned flag) {
  const std::uint64_t object = memory.make(size);
  memory.set(object + 8, makeType(type, flag));
  return object;
}

std::uint64_t FakeInterpreter::makeStr(const std::string& text) {
  const std::uint64_t object = makeObject(layout.asciiSize + text.size() + 1, "str", 28);
  memory.set(object + 16, std::uint64_t{text.size()});
  memory.set(object + 32, std::uint32_t{1U << 2U | 1U << 5U | 1U << 6U});
  memory.put(object + layout.asciiSize, text.data(), text.size());
  return object;
}

std::uint64_t FakeInterpreter::makeInt(std::uint32_t digit) {
  const std::uint64_t object = makeObject(32, "int", 24);
  memory.set(object + 16, layout.taggedSize ? std::uint64_t{8} : std::uint64_t{1});
  memory.set(object + 24, digit);
  return object;
}

std::uint64_t FakeInterpreter::makeTuple(const std::vector<std::uint64_t>& items) {
  const std::uint64_t object = makeObject(24 + 8 * items.size(), "tuple", 26);
  memory.set(object + 16, std::uint64_t{items.size()});
  memory.put(object + 24, items.data(), 8 * items.size());
  return object;
}

std::uint64_t FakeInterpreter::makeBytes(const std::string& text) {
  const std::uint64_t object = makeObject(33 + text.size(), "bytes", 27);
  memory.set(object + 16, std::uint64_t{text.size()});
  memory.put(object + 32, text.data(), text.size());
  return object;
}

std::uint64_t FakeInterpreter::makeKeys(
    const std::vector<std::pair<std::string, std::uint64_t>>& entries) {
  const std::uint64_t keys = memory.make(40 + 16 * entries.size());
  memory.set(keys + 9, std::uint8_t{3});
  memory.set(keys + 10, std::uint8_t{1});
  memory.set(keys + 24, std::uint64_t{entries.size()});
  std::uint64_t at = keys + 40;
  for (const auto& [name, value] : entries) {
    memory.set(at, makeStr(name));
    memory.set(at + 8, value);
    at += 16;
  }
  return keys;
}

std::uint64_t FakeInterpreter::makeDict(
    const std::vector<std::pair<std::string, std::uint64_t>>& entries) {
  const std::uint64_t object = makeObject(48, "dict", 29);
  memory.set(object + 16, std::uint64_t{entries.size()});
  memory.set(object + 32, makeKeys(entries));
  return object;
}

std::uint64_t FakeInterpreter::makeList(const std::vector<std::uint64_t>& items) {
  const std::uint64_t object = makeObject(40, "list", 25);
  const std::uint64_t data = memory.make(8 * items.size());
  memory.put(data, items.data(), 8 * items.size());
  memory.set(object + 16, std::uint64_t{items.size()});
  memory.set(object + 24, data);
  memory.set(object + 32, std::uint64_t{items.size()});
  return object;
}

std::uint64_t FakeInterpreter::makeSet(const std::string& type,
                                       const std::vector<std::uint64_t>& elements) {
  const std::uint64_t object = makeObject(200, type, 0);
  const std::uint64_t table = memory.make(16 * (elements.size() + 2));
  memory.set(table + 16, makeInt(666));
  memory.set(table + 24, std::int64_t{-1});
  for (std::size_t i = 0; i < elements.size(); ++i) {
    memory.set(table + 16 * (i + 2), elements[i]);
    memory.set(table + 16 * (i + 2) + 8, std::int64_t{77});
  }
  memory.set(object + 24, std::uint64_t{elements.size()});
  memory.set(object + 32, std::uint64_t{elements.size() + 1});
  memory.set(object + 40, table);
  return object;
}

std::uint64_t FakeInterpreter::makeComplex(double real, double imaginary) {
  const std::uint64_t object = makeObject(32, "complex", 0);
  memory.set(object + 16, real);
  memory.set(object + 24, imaginary);
  return object;
}

std::uint64_t FakeInterpreter::makeClass(
    const std::string& name, Kept kept, const std::vector<std::string>& instanceNames,
    const std::vector<std::pair<std::string, std::uint64_t>>& attributes) {
  const std::uint64_t type = makeObject(1024, "type", 31);
  const std::uint64_t text = memory.make(128);
  memory.put(text, name.c_str(), name.size() + 1);
  memory.set(type + 24, text);
  memory.set(type + 32, std::uint64_t{16});  // tp_basicsize
  std::uint64_t flags = std::uint64_t{1} << 9U;
  if (kept == Kept::Values || kept == Kept::Dictionary) {
    flags |= 1U << 4U | (layout.minor == 13 ? 1U << 2U : 0U);
  } else if (kept == Kept::Classic) {
    memory.set(type + 288, std::int64_t{16});  // tp_dictoffset
  } else {
    const std::uint64_t members = memory.make(40 * (instanceNames.size() + 1));
    for (std::size_t i = 0; i < instanceNames.size(); ++i) {
      const std::uint64_t member = memory.make(64);
      memory.put(member, instanceNames[i].c_str(), instanceNames[i].size() + 1);
      memory.set(members + 40 * i, member);
      memory.set(members + 40 * i + 8, std::int32_t{16});
      memory.set(members + 40 * i + 16, std::int64_t{16} + 8 * static_cast<std::int64_t>(i));
    }
    memory.set(type + 240, members);
  }
  std::vector<std::pair<std::string, std::uint64_t>> shared;
  for (const std::string& each : instanceNames) {
    shared.emplace_back(each, 0);
  }
  const std::uint64_t cached = makeKeys(shared);
  memory.set(cached + 10, std::uint8_t{2});
  memory.set(type + (layout.minor == 11 ? 872 : 880), cached);
  memory.set(type + 168, flags);
  memory.set(type + 264, makeDict(attributes));
  memory.set(type + 344, makeTuple({type}));
  return type;
}

std::uint64_t FakeInterpreter::makeInstance(
    std::uint64_t type, Kept kept,
    const std::vector<std::pair<std::string, std::uint64_t>>& attributes) {
  const std::uint64_t object = memory.make(64 + 24 + 8 * attributes.size()) + 64;
  memory.set(object + 8, type);
  std::vector<std::uint64_t> values;
  for (const auto& [name, value] : attributes) {
    values.push_back(value);
  }
  const std::size_t size = 8 * values.size();
  if (kept == Kept::Slots) {
    memory.put(object + 16, values.data(), size);
  } else if (kept != Kept::Values) {
    const std::uint64_t at = kept == Kept::Classic ? object + 16 : object - 24;
    memory.set(at, makeDict(attributes));
  } else if (layout.minor == 13) {
    memory.set(object + 19, std::uint8_t{1});
    memory.put(object + 24, values.data(), size);
  } else {
    const std::uint64_t held = memory.make(size + 8);
    memory.put(held, values.data(), size);
    memory.set(object - (layout.minor == 11 ? 32U : 24U), layout.minor == 11 ? held : held - 1);
  }
  return object;
}

std::uint64_t FakeInterpreter::makeArray(ArrayType type, const std::vector<std::int64_t>& shape,
                                         const std::vector<std::int64_t>& strides,
                                         std::uint64_t data) {
  const std::uint64_t object = makeObject(96, "numpy.ndarray", 0);
  const std::uint64_t description = memory.make(64);
  const std::uint64_t dimensions = memory.make(16 * shape.size() + 8);
  memory.put(dimensions, shape.data(), 8 * shape.size());
  memory.put(dimensions + 8 * shape.size(), strides.data(), 8 * strides.size());
  memory.set(description + 24, type.letter);
  memory.set(description + 26, type.order);
  memory.set(description + 28, type.number);
  memory.set(object + 16, data);
  memory.set(object + 24, static_cast<std::int32_t>(shape.size()));
  memory.set(object + 32, dimensions);
  memory.set(object + 40, dimensions + 8 * shape.size());
  memory.set(object + 56, description);
  return object;
}

std::set<std::uint64_t> FakeInterpreter::pages() const {
  std::set<std::uint64_t> out;
  for (const auto& [address, byte] : memory.bytes) {
    out.insert(address / 4096 * 4096);
  }
  return out;
}

std::string FakeInterpreter::pageAnswer(std::uint64_t address) const {
  constexpr const char* kDigits = "0123456789abcdef";
  std::string digits;
  for (std::uint64_t at = address; at < address + 4096; ++at) {
    const auto found = memory.bytes.find(at);
    const unsigned byte =
        found == memory.bytes.end() ? 0 : static_cast<unsigned char>(found->second);
    digits += kDigits[byte >> 4U];
    digits += kDigits[byte & 15U];
  }
  return R"(^done,memory=[{begin=")" + std::to_string(address) + R"(",contents=")" + digits +
         R"("}])";
}

void FakeInterpreter::enter() {
  const std::uint64_t shim = memory.make(256);
  memory.set(shim + layout.frameOwner, std::uint8_t{3});
  setCurrent(shim);
}

std::uint64_t FakeInterpreter::push(
    const std::string& function, const std::string& file, int line, bool entry,
    const std::vector<std::pair<std::string, std::uint64_t>>& variables) {
  if (entry && layout.frameIsEntry == 0) {
    enter();
  }
  const std::uint64_t code = makeObject(512, "code", 0);
  std::vector<std::uint64_t> names;
  const std::uint64_t frame = memory.make(128 + 8 * variables.size());
  for (const auto& [name, value] : variables) {
    memory.set(frame + layout.localsplus + 8 * names.size(), value);
    names.push_back(makeStr(name));
  }
  memory.set(code + layout.codeFlags, std::uint32_t{3});
  memory.set(code + layout.codeFirstLine, line);
  memory.set(code + layout.codeLocalsCount, static_cast<std::int32_t>(variables.size()));
  memory.set(code + layout.codeNames, makeTuple(names));
  memory.set(code + layout.codeFile, makeStr(file));
  memory.set(code + layout.codeQualifiedName, makeStr(function));
  memory.set(code + layout.codeLineTable, makeBytes("\x87"));
  memory.set(frame + layout.frameCode, code);
  memory.set(frame + layout.frameInstruction, code + layout.codeInstructions + 4);
  if (layout.frameIsEntry != 0) {
    memory.set(frame + layout.frameIsEntry, std::uint8_t{entry});
  }
  setCurrent(frame);
  return frame;
}

}  // namespace pf::mi::python
