// SPDX-License-Identifier: GPL-3.0-or-later
#include "replay_engine/python_text/unpickled.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "replay_engine/python_text/text.h"

namespace pf::python_text {
namespace {

constexpr std::size_t kMostNodes = std::size_t{1} << 20;
constexpr std::size_t kMostDigits = 1000;  ///< bytes of an int

/// Two's complement, lowest byte first, as LONG1 has it.
std::string longText(std::string_view bytes) {
  if (bytes.size() > kMostDigits) {
    return "<an int of " + std::to_string(bytes.size()) + " bytes>";
  }
  const bool negative = !bytes.empty() && (static_cast<unsigned char>(bytes.back()) & 0x80U) != 0;
  std::vector<std::uint32_t> digits((bytes.size() * 8 + 29) / 30 + 1);
  unsigned carry = negative ? 1 : 0;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    unsigned byte = static_cast<unsigned char>(bytes[i]);
    if (negative) {
      byte = (~byte & 0xFFU) + carry;
      carry = byte >> 8U;
      byte &= 0xFFU;
    }
    const std::size_t bit = i * 8;
    const std::uint64_t placed = std::uint64_t{byte} << bit % 30;
    digits[bit / 30] |= static_cast<std::uint32_t>(placed & 0x3FFFFFFFU);
    digits[bit / 30 + 1] |= static_cast<std::uint32_t>(placed >> 30U);
  }
  if (carry != 0 && negative) {  // -2^n
    const std::size_t bit = bytes.size() * 8;
    digits[bit / 30] |= 1U << bit % 30;
  }
  return integerText(std::move(digits), negative);
}

/// What a pickle does, to nodes in the place of objects.
class Machine {
 public:
  explicit Machine(std::string_view bytes) : m_bytes(bytes) {}

  /// False: it makes no sense, or does not end with the bytes.
  bool run() {
    while (m_ok && !m_stopped) {
      step();
      m_ok = m_ok && std::max({m_nodes.size(), m_stack.size(), m_marks.size()}) <= kMostNodes;
    }
    return m_ok && m_at == m_bytes.size() && m_stack.size() == 1 && m_marks.empty();
  }
  Unpickled result() { return {std::move(m_nodes), m_stack.back()}; }

 private:
  std::string_view take(std::size_t count) {
    if (count > m_bytes.size() - m_at) {
      m_ok = false;
      return {};
    }
    const std::string_view part = m_bytes.substr(m_at, count);
    m_at += count;
    return part;
  }
  /// Of an argument.
  template <typename Number>
  Number number() {
    const std::string_view part = take(sizeof(Number));
    return m_ok ? littleEndian<Number>(part) : Number{};
  }
  std::string_view line() {
    const std::size_t end = m_bytes.find('\n', m_at);
    if (end == std::string_view::npos) {
      m_ok = false;
      return {};
    }
    const std::string_view part = m_bytes.substr(m_at, end - m_at);
    m_at = end + 1;
    return part;
  }

  void push(Node node) {
    m_stack.push_back(static_cast<Index>(m_nodes.size()));
    m_nodes.push_back(std::move(node));
  }
  void pushNumber(std::string text) { push({Kind::Number, {}, std::move(text), {}}); }
  [[nodiscard]] std::size_t floor() const { return m_marks.empty() ? 0 : m_marks.back(); }
  Index pop() {
    if (m_stack.size() <= floor()) {
      m_ok = false;
      return 0;
    }
    const Index top = m_stack.back();
    m_stack.pop_back();
    return top;
  }
  /// Null: there is none.
  Node* top() {
    m_ok = m_ok && m_stack.size() > floor();
    return m_ok ? &m_nodes[m_stack.back()] : nullptr;
  }
  std::vector<Index> popToMark() {
    if (m_marks.empty()) {
      m_ok = false;
      return {};
    }
    const auto from = m_stack.begin() + static_cast<std::ptrdiff_t>(m_marks.back());
    std::vector<Index> parts(from, m_stack.end());
    m_stack.erase(from, m_stack.end());
    m_marks.pop_back();
    return parts;
  }
  void pushTuple(std::size_t count) {
    std::vector<Index> parts(count);
    for (std::size_t i = count; i-- > 0;) {
      parts[i] = pop();
    }
    push({Kind::Tuple, {}, {}, std::move(parts)});
  }
  /// Puts them behind what the container on top has.
  void append(Kind kind, const std::vector<Index>& parts) {
    m_ok = m_ok && (kind != Kind::Dict || parts.size() % 2 == 0);
    Node* container = top();
    if (container == nullptr) {
      return;
    }
    // A class of one's own gets its items by the same opcodes.
    if (container->kind == Kind::Built && m_nodes[container->parts[1]].kind == kind) {
      container = &m_nodes[container->parts[1]];
    } else if (container->kind != kind) {
      const auto state = static_cast<Index>(m_nodes.size());
      m_nodes.push_back({kind, {}, {}, {}});
      build(state);
      container = &m_nodes[state];
    }
    container->parts.insert(container->parts.end(), parts.begin(), parts.end());
  }
  /// The object on top gets a state. In place: the memo may have it.
  void build(Index state) {
    const Index target = m_stack.back();
    Node before = std::move(m_nodes[target]);
    m_nodes[target] = {Kind::Built, {}, {}, {static_cast<Index>(m_nodes.size()), state}};
    m_nodes.push_back(std::move(before));
  }
  void memoize(std::uint32_t key) {
    if (top() != nullptr) {
      m_memo[key] = m_stack.back();
    }
  }
  void recall(std::uint32_t key) {
    const auto found = m_memo.find(key);
    if (found == m_memo.end()) {
      m_ok = false;
      return;
    }
    m_stack.push_back(found->second);
  }
  void pushGlobal(std::string_view module, std::string_view name) {
    const bool bare = module == "builtins" || module == "__builtin__";
    push({Kind::Global, {}, (bare ? "" : std::string(module) + ".") + std::string(name), {}});
  }
  void pushPair(Kind kind) {
    const Index second = pop();
    const Index first = pop();
    push({kind, {}, {}, {first, second}});
  }

  void step() {
    const std::string_view opcode = take(1);
    if (!m_ok) {
      return;
    }
    const auto code = static_cast<unsigned char>(opcode[0]);
    if (!constant(code) && !container(code) && !memory(code) && !object(code)) {
      m_ok = false;
    }
  }

  bool constant(unsigned char code) {
    switch (code) {
      case 'N':
        pushNumber("None");
        return true;
      case 0x88:
        pushNumber("True");
        return true;
      case 0x89:
        pushNumber("False");
        return true;
      case 'K':
        pushNumber(std::to_string(number<std::uint8_t>()));
        return true;
      case 'M':
        pushNumber(std::to_string(number<std::uint16_t>()));
        return true;
      case 'J':
        pushNumber(std::to_string(number<std::int32_t>()));
        return true;
      case 0x8A:
        pushNumber(longText(take(number<std::uint8_t>())));
        return true;
      case 0x8B:
        pushNumber(longText(take(number<std::uint32_t>())));
        return true;
      case 'G': {  // highest byte first
        std::string bytes(take(sizeof(double)));
        std::ranges::reverse(bytes);
        if (m_ok) {
          pushNumber(floatText(doubleOf(littleEndian<std::uint64_t>(bytes))));
        }
        return true;
      }
      case 'X':
        push({Kind::Text, take(number<std::uint32_t>()), {}, {}});
        return true;
      case 0x8C:
        push({Kind::Text, take(number<std::uint8_t>()), {}, {}});
        return true;
      case 0x8D:
        push({Kind::Text, take(number<std::uint64_t>()), {}, {}});
        return true;
      case 'B':
        push({Kind::Bytes, take(number<std::uint32_t>()), "b", {}});
        return true;
      case 'C':
        push({Kind::Bytes, take(number<std::uint8_t>()), "b", {}});
        return true;
      case 0x8E:
        push({Kind::Bytes, take(number<std::uint64_t>()), "b", {}});
        return true;
      case 0x96:
        push({Kind::Bytes, take(number<std::uint64_t>()), "bytearray", {}});
        return true;
      default:
        return false;
    }
  }

  bool container(unsigned char code) {
    switch (code) {
      case '(':
        m_marks.push_back(m_stack.size());
        return true;
      case ')':
        pushTuple(0);
        return true;
      case 0x85:
      case 0x86:
      case 0x87:
        pushTuple(code - 0x84U);
        return true;
      case 't':
        push({Kind::Tuple, {}, {}, popToMark()});
        return true;
      case ']':
        push({Kind::List, {}, {}, {}});
        return true;
      case '}':
        push({Kind::Dict, {}, {}, {}});
        return true;
      case 0x8F:
        push({Kind::Set, {}, {}, {}});
        return true;
      case 0x91:
        push({Kind::FrozenSet, {}, {}, popToMark()});
        return true;
      case 'a':
        append(Kind::List, {pop()});
        return true;
      case 'e':
        append(Kind::List, popToMark());
        return true;
      case 's': {
        const Index value = pop();
        append(Kind::Dict, {pop(), value});
        return true;
      }
      case 'u':
        append(Kind::Dict, popToMark());
        return true;
      case 0x90:
        append(Kind::Set, popToMark());
        return true;
      case '0':
        pop();
        return true;
      case '1':
        popToMark();
        return true;
      case '2':
        if (top() != nullptr) {
          m_stack.push_back(m_stack.back());
        }
        return true;
      default:
        return false;
    }
  }

  bool memory(unsigned char code) {
    switch (code) {
      case 0x94:
        memoize(static_cast<std::uint32_t>(m_memo.size()));
        return true;
      case 'q':
        memoize(number<std::uint8_t>());
        return true;
      case 'r':
        memoize(number<std::uint32_t>());
        return true;
      case 'h':
        recall(number<std::uint8_t>());
        return true;
      case 'j':
        recall(number<std::uint32_t>());
        return true;
      default:
        return false;
    }
  }

  bool object(unsigned char code) {
    switch (code) {
      case 0x80: {
        const unsigned protocol = number<std::uint8_t>();
        m_ok = m_ok && protocol >= kOldestPickle && protocol <= kNewestPickle;
        return true;
      }
      case 0x95:
        number<std::uint64_t>();  // the size of a frame: for buffers
        return true;
      case '.':
        m_stopped = true;
        return true;
      case 'c': {
        const std::string_view module = line();
        pushGlobal(module, line());
        return true;
      }
      case 0x93: {
        const Index name = pop();
        const Index module = pop();
        if (m_ok) {
          m_ok = m_nodes[name].kind == Kind::Text && m_nodes[module].kind == Kind::Text;
          pushGlobal(m_nodes[module].raw, m_nodes[name].raw);
        }
        return true;
      }
      case 'R':
        pushPair(Kind::Call);
        return true;
      case 0x81:
        pushPair(Kind::Object);
        return true;
      case 0x92:  // with named arguments
        pop();
        pushPair(Kind::Object);
        return true;
      case 'b': {
        const Index state = pop();
        if (top() != nullptr) {
          build(state);
        }
        return true;
      }
      default:
        return false;
    }
  }

  std::string_view m_bytes;
  std::size_t m_at = 0;
  bool m_ok = true;
  bool m_stopped = false;
  std::vector<Node> m_nodes;
  std::vector<Index> m_stack;
  std::vector<std::size_t> m_marks;
  std::unordered_map<std::uint32_t, Index> m_memo;
};

}  // namespace

std::optional<Unpickled> unpickle(std::string_view bytes) {
  Machine machine(bytes);
  return machine.run() ? std::optional(machine.result()) : std::nullopt;
}

}  // namespace pf::python_text
