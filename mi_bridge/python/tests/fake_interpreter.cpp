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
    type = memory.make(256);
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

std::uint64_t FakeInterpreter::makeDict(
    const std::vector<std::pair<std::string, std::uint64_t>>& entries) {
  const std::uint64_t object = makeObject(48, "dict", 29);
  const std::uint64_t keys = memory.make(40 + 16 * entries.size());
  memory.set(object + 16, std::uint64_t{entries.size()});
  memory.set(object + 32, keys);
  memory.set(keys + 9, std::uint8_t{3});
  memory.set(keys + 10, std::uint8_t{1});
  memory.set(keys + 24, std::uint64_t{entries.size()});
  std::uint64_t at = keys + 40;
  for (const auto& [name, value] : entries) {
    memory.set(at, makeStr(name));
    memory.set(at + 8, value);
    at += 16;
  }
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
