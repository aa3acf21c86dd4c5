// SPDX-License-Identifier: GPL-3.0-or-later
#include "mi_bridge/python/frames.h"

#include <algorithm>
#include <array>
#include <functional>
#include <optional>
#include <set>

#include "mi_bridge/python/attributes.h"
#include "mi_bridge/python/objects.h"
#include "mi_bridge/python/parts.h"
#include "replay_engine/cpython/location_table.h"
#include "replay_engine/python_text/text.h"

namespace pf::mi::python {
namespace {

constexpr int kMostInterpreters = 64;
constexpr int kMostThreads = 4096;
constexpr std::size_t kMostVariables = 1000;
constexpr std::size_t kMostNames = 4096;  ///< of a dictionary
constexpr std::size_t kLongestName = 500;
constexpr std::size_t kLongestPath = 4096;
constexpr std::size_t kLongestTable = 1U << 20U;

constexpr std::uint8_t kOwnedByGenerator = 1;
using cpython::kOwnedByCStack;

constexpr std::uint32_t kFlagOptimized = 1;  ///< CO_OPTIMIZED: its variables are in the frame
constexpr std::uint32_t kFlagVarargs = 4;
constexpr std::uint32_t kFlagVarkeywords = 8;

constexpr std::uint64_t kCellReference = 16;

Error unexpected(const Layout& layout, const std::string& what) {
  return Error{
      ErrorCode::Damaged,
      "the frames of this Python 3." + std::to_string(layout.minor) + " cannot be read: " + what,
      "its memory is damaged, or it is not a release build: run the ranks with Debian's package "
      "python3"};
}

/// Of the interpreter's structures, what the layout says.
class Interpreter {
 public:
  Interpreter(Memory& memory, const Layout& layout, std::uint64_t runtime)
      : m_memory(memory), m_layout(layout), m_runtime(runtime) {}

  /// The state of a thread; 0: Python does not know it.
  [[nodiscard]] Result<std::uint64_t> findThread(ThreadKey key) const;
  /// Its innermost frame; 0: it executes no Python.
  [[nodiscard]] std::uint64_t currentFrame(std::uint64_t thread) const;

 private:
  struct Candidates {
    std::uint64_t samePthread = 0;
    std::uint64_t sameNative = 0;
    std::uint64_t only = 0;
    int count = 0;
  };
  [[nodiscard]] Status look(std::uint64_t interpreter, ThreadKey key, Candidates& found) const;

  Memory& m_memory;
  const Layout& m_layout;
  std::uint64_t m_runtime;
};

Result<std::uint64_t> Interpreter::findThread(ThreadKey key) const {
  Candidates found;
  auto interpreter = readNumber<std::uint64_t>(m_memory, m_runtime + m_layout.interpretersHead);
  if (!interpreter) {
    return unexpected(m_layout, "_PyRuntime is not there");
  }
  for (int i = 0; i < kMostInterpreters && *interpreter != 0; ++i) {
    if (const Status looked = look(*interpreter, key, found); !looked) {
      return looked.error();
    }
    interpreter = readNumber<std::uint64_t>(m_memory, *interpreter + m_layout.interpreterNext);
    if (!interpreter) {
      return unexpected(m_layout, "its list of interpreters leads nowhere");
    }
  }
  // A copy of a process (fork) keeps the former's native ids.
  return found.samePthread != 0  ? found.samePthread
         : found.sameNative != 0 ? found.sameNative
         : found.count == 1      ? found.only
                                 : 0;
}

/// A wrong layout does not get by: each of these structures has a pointer back.
Status Interpreter::look(std::uint64_t interpreter, ThreadKey key, Candidates& found) const {
  if (m_layout.interpreterRuntime != 0 &&
      readPointer(m_memory, interpreter + m_layout.interpreterRuntime) != m_runtime) {
    return unexpected(m_layout, "an interpreter does not belong to _PyRuntime");
  }
  auto head = readNumber<std::uint64_t>(m_memory, interpreter + m_layout.threadsHead);
  for (int i = 0; i < kMostThreads && head && *head != 0; ++i) {
    const std::uint64_t thread = *head;
    if (readPointer(m_memory, thread + m_layout.threadInterpreter) != interpreter) {
      return unexpected(m_layout, "a thread does not belong to its interpreter");
    }
    const std::uint64_t pthread = readPointer(m_memory, thread + m_layout.threadId);
    const std::uint64_t native = readPointer(m_memory, thread + m_layout.nativeThreadId);
    const auto keep = [&](bool same, std::uint64_t& which) {
      // A thread with several interpreters has a state in each: the one that executes counts.
      which = same && (which == 0 || currentFrame(which) == 0) ? thread : which;
    };
    keep(key.pthread != 0 && pthread == key.pthread, found.samePthread);
    keep(key.native != 0 && native == key.native, found.sameNative);
    found.only = thread;
    ++found.count;
    head = readNumber<std::uint64_t>(m_memory, thread + m_layout.threadNext);
  }
  return head ? Status() : unexpected(m_layout, "its list of threads leads nowhere");
}

std::uint64_t Interpreter::currentFrame(std::uint64_t thread) const {
  const std::uint64_t holder =
      m_layout.hasCframe ? readPointer(m_memory, thread + m_layout.cframe) : thread;
  return readPointer(m_memory, holder + m_layout.currentFrame);
}

/// One frame, and the code that it executes.
class CodeFrame {
 public:
  CodeFrame(Memory& memory, const Layout& layout, std::uint64_t frame)
      : m_memory(memory),
        m_layout(layout),
        m_objects(memory, layout),
        m_frame(frame),
        m_code(readPointer(memory, frame + layout.frameCode)) {}

  [[nodiscard]] bool isCode() const { return m_objects.typeName(m_code) == "code"; }
  /// Before the first instruction that counts, Python does not show a frame yet.
  [[nodiscard]] bool isShown(std::uint8_t owner) const {
    return owner == kOwnedByGenerator ||
           instructionOffset() >= 2 * std::int64_t{field(m_layout.codeFirstTraceable)};
  }
  [[nodiscard]] std::string function() const {
    return name(m_layout.codeQualifiedName, kLongestName);
  }
  [[nodiscard]] std::string file() const { return name(m_layout.codeFile, kLongestPath); }
  [[nodiscard]] int line() const;

  [[nodiscard]] bool hasOwnVariables() const { return (flags() & kFlagOptimized) != 0; }
  [[nodiscard]] std::vector<Variable> variables() const;
  /// Name, object, and whether it is an argument; until the visitor says false. True: he has not.
  using Visit = std::function<bool(const std::string&, std::uint64_t, bool)>;
  [[nodiscard]] bool visit(const Visit& visit) const;

 private:
  [[nodiscard]] int field(std::uint64_t offset) const {
    return readNumber<std::int32_t>(m_memory, m_code + offset).value_or(0);
  }
  [[nodiscard]] std::uint32_t flags() const {
    return static_cast<std::uint32_t>(field(m_layout.codeFlags));
  }
  [[nodiscard]] std::string name(std::uint64_t offset, std::size_t most) const {
    return python_text::plainText(
        m_objects.characters(readPointer(m_memory, m_code + offset), most));
  }
  [[nodiscard]] std::int64_t instructionOffset() const {
    const std::uint64_t begin = m_code + m_layout.codeInstructions;
    return static_cast<std::int64_t>(readPointer(m_memory, m_frame + m_layout.frameInstruction) -
                                     begin);
  }
  [[nodiscard]] std::size_t argumentCount() const;

  Memory& m_memory;
  const Layout& m_layout;
  Objects m_objects;
  std::uint64_t m_frame;
  std::uint64_t m_code;
};

int CodeFrame::line() const {
  const std::string table =
      m_objects.bytes(readPointer(m_memory, m_code + m_layout.codeLineTable), kLongestTable);
  return cpython::lineAt(table, field(m_layout.codeFirstLine), instructionOffset());
}

std::size_t CodeFrame::argumentCount() const {
  const int positional = std::clamp(field(m_layout.codeArguments), 0, 1 << 16);
  const int keywords = std::clamp(field(m_layout.codeKeywordArguments), 0, 1 << 16);
  const int more =
      ((flags() & kFlagVarargs) != 0 ? 1 : 0) + ((flags() & kFlagVarkeywords) != 0 ? 1 : 0);
  const int all = positional + keywords + more;  // no more than some 131,000
  return static_cast<std::size_t>(all);
}

bool CodeFrame::visit(const Visit& visit) const {
  const auto count = static_cast<std::size_t>(
      std::clamp<int>(field(m_layout.codeLocalsCount), 0, static_cast<int>(kMostVariables)));
  std::vector<std::uint64_t> values(count);
  const std::vector<std::uint64_t> names =
      m_objects.items(readPointer(m_memory, m_code + m_layout.codeNames), count);
  if (count == 0 ||
      !m_memory.read(m_frame + m_layout.localsplus, values.data(), count * sizeof values[0])) {
    return true;
  }
  const std::size_t arguments = argumentCount();
  for (std::size_t i = 0; i < std::min(count, names.size()); ++i) {
    std::uint64_t value = values[i];
    if (value != 0 &&
        m_objects.typeName(value) == "cell") {  // shared with a function inside or around
      value = readPointer(m_memory, value + kCellReference);
    }
    // 0: not assigned yet
    if (value != 0 && !visit(python_text::plainText(m_objects.characters(names[i], kLongestName)),
                             value, i < arguments)) {
      return false;
    }
  }
  return true;
}

Variable variableOf(Memory& memory, const Layout& layout, const std::string& name,
                    std::uint64_t object, bool argument) {
  const Objects objects(memory, layout);
  return {name, objects.typeName(object), objects.valueText(object), argument,
          hasParts(memory, layout, object) ? object : 0};
}

std::vector<Variable> CodeFrame::variables() const {
  std::vector<Variable> out;
  (void)visit([&](const std::string& name, std::uint64_t object, bool argument) {
    out.push_back(variableOf(m_memory, m_layout, name, object, argument));
    return true;
  });
  return out;
}

/// An entry of the C stack has no code of the program's.
Frame describe(Memory& memory, const Layout& layout, std::uint64_t address, std::uint8_t owner) {
  Frame out;
  out.address = address;
  if (layout.frameIsEntry == 0 && owner == kOwnedByCStack) {
    out.shown = false;
    out.entry = true;
    return out;
  }
  const CodeFrame code(memory, layout, address);
  out.entry = layout.frameIsEntry != 0 &&
              readNumber<std::uint8_t>(memory, address + layout.frameIsEntry).value_or(0) != 0;
  if (!code.isCode()) {
    out.shown = false;
    return out;
  }
  out.shown = code.isShown(owner);
  out.function = code.function();
  out.file = code.file();
  out.line = code.line();
  return out;
}

Result<std::vector<Variable>> readNames(Memory& memory, const Layout& layout,
                                        std::uint64_t dictionary, Names names) {
  const Objects objects(memory, layout);
  std::vector<Variable> out;
  const bool read =
      objects.visitDict(dictionary, kMostNames, [&](std::uint64_t key, std::uint64_t value) {
        const std::string name = python_text::plainText(objects.characters(key, kLongestName));
        if (names == Names::All || isOwn(name, objects.typeName(value))) {
          out.push_back(variableOf(memory, layout, name, value, false));
        }
        return out.size() < kMostVariables;
      });
  if (!read) {
    return unexpected(layout, "the variables of this frame are not there");
  }
  return out;
}

}  // namespace

Result<std::vector<Frame>> readFrames(Memory& memory, const Layout& layout, std::uint64_t runtime,
                                      ThreadKey thread) {
  const Interpreter interpreter(memory, layout, runtime);
  const Result<std::uint64_t> state = interpreter.findThread(thread);
  if (!state) {
    return state.error();
  }
  std::vector<Frame> out;
  std::set<std::uint64_t> seen;
  std::uint64_t address = *state != 0 ? interpreter.currentFrame(*state) : 0;
  while (address != 0 && out.size() < kMostFrames) {
    const auto owner = readNumber<std::uint8_t>(memory, address + layout.frameOwner);
    if (!owner || *owner > kOwnedByCStack || address % 8 != 0 || !seen.insert(address).second) {
      return unexpected(layout, "its list of frames is broken");
    }
    out.push_back(describe(memory, layout, address, *owner));
    const auto previous = readNumber<std::uint64_t>(memory, address + layout.framePrevious);
    if (!previous) {
      return unexpected(layout, "its list of frames is broken");
    }
    address = *previous;
  }
  return out;
}

Result<std::vector<Variable>> readLocals(Memory& memory, const Layout& layout, std::uint64_t frame,
                                         Names names) {
  const CodeFrame code(memory, layout, frame);
  if (!code.isCode()) {
    return unexpected(layout, "this frame executes no code");
  }
  if (code.hasOwnVariables()) {
    return code.variables();
  }
  return readNames(memory, layout, readPointer(memory, frame + layout.frameLocals), names);
}

Result<std::vector<Variable>> readGlobals(Memory& memory, const Layout& layout, std::uint64_t frame,
                                          Names names) {
  if (!CodeFrame(memory, layout, frame).isCode()) {
    return unexpected(layout, "this frame executes no code");
  }
  return readNames(memory, layout, readPointer(memory, frame + layout.frameGlobals), names);
}

Result<std::uint64_t> findVariable(Memory& memory, const Layout& layout, std::uint64_t frame,
                                   const std::string& name) {
  const CodeFrame code(memory, layout, frame);
  if (!code.isCode()) {
    return unexpected(layout, "this frame executes no code");
  }
  std::uint64_t found = 0;
  const auto take = [&](const std::string& each, std::uint64_t object, bool) {
    found = each == name ? object : 0;
    return found == 0;
  };
  if (code.hasOwnVariables() && !code.visit(take)) {
    return found;
  }
  const Objects objects(memory, layout);
  for (const std::uint64_t offset : {layout.frameLocals, layout.frameGlobals}) {
    if (offset == layout.frameLocals && code.hasOwnVariables()) {
      continue;
    }
    const bool read = objects.visitDict(
        readPointer(memory, frame + offset), kMostNames,
        [&](std::uint64_t key, std::uint64_t value) {
          return take(python_text::plainText(objects.characters(key, kLongestName)), value, false);
        });
    if (found != 0) {
      return found;
    }
    if (!read) {
      return unexpected(layout, "the variables of this frame are not there");
    }
  }
  return Error{
      ErrorCode::NotFound, "no variable " + name + " has a value in this frame of Python", {}};
}

}  // namespace pf::mi::python
