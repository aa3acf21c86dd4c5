// SPDX-License-Identifier: GPL-3.0-or-later
#include "replay_engine/python_text/pickle.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <unordered_map>
#include <utility>
#include <vector>

#include "replay_engine/python_text/text.h"

namespace pf::python_text {
namespace {

constexpr std::size_t kMostBytes = std::size_t{16} << 20;
constexpr std::size_t kMostNodes = std::size_t{1} << 20;
constexpr std::size_t kShown = 200;       ///< characters of a text
constexpr std::size_t kShownValues = 20;  ///< of an array
constexpr std::size_t kDeepest = 40;
constexpr std::size_t kMostDigits = 1000;   ///< bytes of an int
constexpr std::size_t kMostArguments = 64;  ///< of a call that is looked into
constexpr unsigned kOldest = 2;
constexpr unsigned kNewest = 5;

enum class Kind {
  Text,    ///< `raw`: UTF-8
  Bytes,   ///< `raw`
  Number,  ///< `raw`: as it is written
  Tuple,
  List,
  Dict,  ///< parts: keys and values in turn
  Set,
  FrozenSet,
  Global,  ///< `raw`: its name
  Call,    ///< parts: what is called, and a tuple of its arguments
  Object,  ///< the same, of a class
  Built,   ///< parts: an object, and its state
};

using Index = std::uint32_t;

struct Node {
  Kind kind = Kind::Number;
  std::string_view raw = {};  ///< of the pickle
  std::string text = {};      ///< where it is not in the pickle as it is written
  std::vector<Index> parts = {};
};

/// A number of the machine's byte order, of bytes that are in the lowest-first one.
template <typename Number>
Number littleEndian(std::string_view bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < sizeof(Number); ++i) {
    value |= std::uint64_t{static_cast<unsigned char>(bytes[i])} << (8 * i);
  }
  return static_cast<Number>(value);
}

double doubleOf(std::uint64_t bits) {
  return std::bit_cast<double>(bits);
}

/// The characters of UTF-8, the first ones. What is none is U+FFFD. Pickles have halves of pairs, too ("surrogatepass").
std::vector<std::uint32_t> charactersOf(std::string_view text, bool* cut) {
  std::vector<std::uint32_t> out;
  std::size_t at = 0;
  while (at < text.size() && out.size() < kShown) {
    const auto first = static_cast<unsigned char>(text[at++]);
    const std::size_t more = first < 0x80   ? 0
                             : first < 0xC2 ? 4
                             : first < 0xE0 ? 1
                             : first < 0xF0 ? 2
                             : first < 0xF5 ? 3
                                            : 4;
    std::uint32_t character = more == 0 ? first : first & (0x3FU >> more);
    std::size_t got = 0;
    while (more <= 3 && got < more && at < text.size() &&
           (static_cast<unsigned char>(text[at]) & 0xC0U) == 0x80U) {
      character = character << 6U | (static_cast<unsigned char>(text[at++]) & 0x3FU);
      ++got;
    }
    out.push_back(got == more && character < 0x110000 ? character : 0xFFFDU);
  }
  *cut = at < text.size();
  return out;
}

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
  [[nodiscard]] Index result() const { return m_stack.back(); }
  [[nodiscard]] const Node& node(Index index) const { return m_nodes[index]; }

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
    if (!constant(code) && !container(code) && !object(code)) {
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

  bool object(unsigned char code) {
    switch (code) {
      case 0x80: {
        const unsigned protocol = number<std::uint8_t>();
        m_ok = m_ok && protocol >= kOldest && protocol <= kNewest;
        return true;
      }
      case 0x95:
        number<std::uint64_t>();  // the size of a frame: for buffers
        return true;
      case '.':
        m_stopped = true;
        return true;
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

/// Values of NumPy's: of the types that have a size and the machine's byte order.
struct Elements {
  std::string type;  ///< "f8"
  char kind = 0;
  std::size_t size = 0;
};

class Writer {
 public:
  Writer(const Machine& machine, std::size_t most) : m_machine(machine), m_most(most) {}

  std::string text(Index index) {
    write(index);
    if (m_full) {
      m_out += "…";
    }
    return std::move(m_out);
  }

 private:
  void put(std::string_view text) {
    m_full = m_full || m_out.size() + text.size() > m_most;
    if (!m_full) {
      m_out += text;
    }
  }

  void write(Index index) {
    const Node& node = m_machine.node(index);
    if (m_full) {
      return;
    }
    if (m_path.size() >= kDeepest || std::ranges::find(m_path, index) != m_path.end()) {
      put("…");
      return;
    }
    m_path.push_back(index);
    switch (node.kind) {
      case Kind::Number:
        put(node.text);
        break;
      case Kind::Text: {
        bool cut = false;
        const std::vector<std::uint32_t> shown = charactersOf(node.raw, &cut);
        put(quotedText(shown, cut));
        break;
      }
      case Kind::Bytes: {
        const std::string quoted =
            quotedBytes(node.raw.substr(0, kShown), node.raw.size() > kShown);
        put(node.text == "b" ? quoted : node.text + "(" + quoted + ")");
        break;
      }
      case Kind::Tuple:
        list("(", node.parts, node.parts.size() == 1 ? ",)" : ")");
        break;
      case Kind::List:
        list("[", node.parts, "]");
        break;
      case Kind::Set:
        node.parts.empty() ? put("set()") : list("{", node.parts, "}");
        break;
      case Kind::FrozenSet:
        node.parts.empty() ? put("frozenset()") : list("frozenset({", node.parts, "})");
        break;
      case Kind::Dict:
        dict(node.parts);
        break;
      case Kind::Global:
        put("<" + nameOf(node) + ">");
        break;
      case Kind::Call:
      case Kind::Object:
        call(node);
        break;
      case Kind::Built:
        built(node);
        break;
    }
    m_path.pop_back();
  }

  void list(std::string_view open, const std::vector<Index>& parts, std::string_view close) {
    put(open);
    for (std::size_t i = 0; i < parts.size() && !m_full; ++i) {
      put(i == 0 ? "" : ", ");
      write(parts[i]);
    }
    put(close);
  }

  void dict(const std::vector<Index>& parts) {
    put("{");
    for (std::size_t i = 0; i + 1 < parts.size() && !m_full; i += 2) {
      put(i == 0 ? "" : ", ");
      write(parts[i]);
      put(": ");
      write(parts[i + 1]);
    }
    put("}");
  }

  /// As it may stand in a terminal.
  static std::string nameOf(const Node& node) {
    bool cut = false;
    return plainText(charactersOf(node.text, &cut)) + (cut ? "…" : "");
  }
  [[nodiscard]] const Node* argument(const Node& call, std::size_t i) const {
    const Node& arguments = m_machine.node(call.parts[1]);
    return arguments.kind == Kind::Tuple && arguments.parts.size() <= kMostArguments &&
                   i < arguments.parts.size()
               ? &m_machine.node(arguments.parts[i])
               : nullptr;
  }
  [[nodiscard]] const std::string& called(const Node& call) const {
    static const std::string kNothing;
    const Node& callee = m_machine.node(call.parts[0]);
    return callee.kind == Kind::Global ? callee.text : kNothing;
  }

  void call(const Node& node) {
    const std::string& name = called(node);
    if (node.kind == Kind::Call && (frombuffer(node, name) || scalar(node, name))) {
      return;
    }
    const Node& callee = m_machine.node(node.parts[0]);
    if (callee.kind == Kind::Global) {
      put(nameOf(callee));
    } else {
      write(node.parts[0]);
    }
    const Node& arguments = m_machine.node(node.parts[1]);
    if (arguments.kind == Kind::Tuple) {
      list("(", arguments.parts, ")");
    } else {
      put("(…)");
    }
  }

  void built(const Node& node) {
    const Node& made = m_machine.node(node.parts[0]);
    const Node& state = m_machine.node(node.parts[1]);
    if ((made.kind == Kind::Call || made.kind == Kind::Object) && called(made) == "numpy.dtype") {
      call(made);
    } else if (made.kind == Kind::Call && called(made).ends_with("multiarray._reconstruct") &&
               reconstructed(state)) {
    } else if (made.kind == Kind::Object && state.kind == Kind::Dict) {
      put("<" + nameOf(m_machine.node(made.parts[0])));
      for (std::size_t i = 0; i + 1 < state.parts.size() && !m_full; i += 2) {
        const Node& key = m_machine.node(state.parts[i]);
        put(i == 0 ? " " : ", ");
        bool cut = false;
        key.kind == Kind::Text ? put(plainText(charactersOf(key.raw, &cut)))
                               : write(state.parts[i]);
        put("=");
        write(state.parts[i + 1]);
      }
      put(">");
    } else {
      write(node.parts[0]);
      put(" with ");
      write(node.parts[1]);
    }
  }

  // -- NumPy

  /// Of numpy.dtype('f8', …), to whose state '<', '|' or '=' belongs.
  [[nodiscard]] std::optional<Elements> elementsOf(const Node* type) const {
    if (type == nullptr || type->kind != Kind::Built) {
      return std::nullopt;
    }
    const Node& made = m_machine.node(type->parts[0]);
    const Node& state = m_machine.node(type->parts[1]);
    if ((made.kind != Kind::Call && made.kind != Kind::Object) || called(made) != "numpy.dtype" ||
        state.kind != Kind::Tuple || state.parts.size() < 2) {
      return std::nullopt;
    }
    const Node* const code = argument(made, 0);
    const Node& order = m_machine.node(state.parts[1]);
    if (code == nullptr || code->kind != Kind::Text || code->raw.size() != 2 ||
        order.kind != Kind::Text || order.raw == ">") {
      return std::nullopt;
    }
    Elements elements{std::string(code->raw), code->raw[0],
                      static_cast<std::size_t>(code->raw[1] - '0')};
    const bool known = elements.kind == 'f'   ? elements.size == 4 || elements.size == 8
                       : elements.kind == 'b' ? elements.size == 1
                                              : (elements.kind == 'i' || elements.kind == 'u') &&
                                                    (elements.size == 1 || elements.size == 2 ||
                                                     elements.size == 4 || elements.size == 8);
    return known ? std::optional(elements) : std::nullopt;
  }

  static std::string elementText(const Elements& elements, std::string_view bytes) {
    std::uint64_t bits = 0;
    for (std::size_t i = 0; i < elements.size; ++i) {
      bits |= std::uint64_t{static_cast<unsigned char>(bytes[i])} << (8 * i);
    }
    switch (elements.kind) {
      case 'f':
        return elements.size == 8
                   ? floatText(doubleOf(bits))
                   : floatText(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
      case 'b':
        return bits != 0 ? "True" : "False";
      case 'i': {
        const unsigned above = 64 - 8 * static_cast<unsigned>(elements.size);
        return std::to_string(static_cast<std::int64_t>(bits << above) >> above);
      }
      default:
        return std::to_string(bits);
    }
  }

  bool array(const Node* bytes, const Node* type, const Node* shape) {
    const std::optional<Elements> elements = elementsOf(type);
    if (!elements || bytes == nullptr || bytes->kind != Kind::Bytes || shape == nullptr ||
        shape->kind != Kind::Tuple) {
      return false;
    }
    put("array([");
    const std::size_t count = bytes->raw.size() / elements->size;
    for (std::size_t i = 0; i < std::min(count, kShownValues); ++i) {
      put(i == 0 ? "" : ", ");
      put(elementText(*elements, bytes->raw.substr(i * elements->size)));
    }
    put(count > kShownValues ? ", …" : "");
    put("], dtype=" + elements->type);
    if (shape->parts.size() != 1) {
      list(", shape=(", shape->parts, ")");
    } else if (count > kShownValues) {
      put(", " + std::to_string(count) + " values");
    }
    put(")");
    return true;
  }

  /// _frombuffer(bytes, dtype, shape, order), of protocol 5.
  bool frombuffer(const Node& node, const std::string& name) {
    return name.starts_with("numpy.") && name.ends_with("numeric._frombuffer") &&
           array(argument(node, 0), argument(node, 1), argument(node, 2));
  }
  /// The state of an array that _reconstruct() made: (version, shape, dtype, whether Fortran's order, bytes).
  bool reconstructed(const Node& state) {
    return state.kind == Kind::Tuple && state.parts.size() == 5 &&
           array(&m_machine.node(state.parts[4]), &m_machine.node(state.parts[2]),
                 &m_machine.node(state.parts[1]));
  }
  /// scalar(dtype, bytes).
  bool scalar(const Node& node, const std::string& name) {
    const Node* const bytes = argument(node, 1);
    const std::optional<Elements> elements =
        name.starts_with("numpy.") && name.ends_with("multiarray.scalar")
            ? elementsOf(argument(node, 0))
            : std::nullopt;
    if (!elements || bytes == nullptr || bytes->kind != Kind::Bytes ||
        bytes->raw.size() != elements->size) {
      return false;
    }
    put(elementText(*elements, bytes->raw));
    return true;
  }

  const Machine& m_machine;
  std::size_t m_most;
  std::string m_out;
  bool m_full = false;
  std::vector<Index> m_path;
};

}  // namespace

bool beginsAsPickle(std::string_view bytes) {
  return bytes.size() >= 3 && bytes[0] == '\x80' &&
         static_cast<unsigned char>(bytes[1]) >= kOldest &&
         static_cast<unsigned char>(bytes[1]) <= kNewest;
}

std::optional<std::string> pickleText(std::string_view bytes, std::size_t most) {
  if (!beginsAsPickle(bytes) || bytes.back() != '.' || bytes.size() > kMostBytes) {
    return std::nullopt;
  }
  Machine machine(bytes);
  if (!machine.run()) {
    return std::nullopt;
  }
  return Writer(machine, most).text(machine.result());
}

}  // namespace pf::python_text
