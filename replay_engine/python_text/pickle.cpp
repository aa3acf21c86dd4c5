// SPDX-License-Identifier: GPL-3.0-or-later
#include "replay_engine/python_text/pickle.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "replay_engine/python_text/text.h"
#include "replay_engine/python_text/unpickled.h"

namespace pf::python_text {
namespace {

constexpr std::size_t kMostBytes = std::size_t{16} << 20;
constexpr std::size_t kShown = 200;       ///< characters of a text
constexpr std::size_t kShownValues = 20;  ///< of an array
constexpr std::size_t kDeepest = 40;
constexpr std::size_t kMostArguments = 64;  ///< of a call that is looked into

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

/// Values of NumPy's: of the types that have a size and the machine's byte order.
struct Elements {
  std::string type;  ///< "f8"
  char kind = 0;
  std::size_t size = 0;
};

class Writer {
 public:
  Writer(const Unpickled& made, std::size_t most) : m_objects(made), m_most(most) {}

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
    const Node& node = m_objects.node(index);
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
    const Node& arguments = m_objects.node(call.parts[1]);
    return arguments.kind == Kind::Tuple && arguments.parts.size() <= kMostArguments &&
                   i < arguments.parts.size()
               ? &m_objects.node(arguments.parts[i])
               : nullptr;
  }
  [[nodiscard]] const std::string& called(const Node& call) const {
    static const std::string kNothing;
    const Node& callee = m_objects.node(call.parts[0]);
    return callee.kind == Kind::Global ? callee.text : kNothing;
  }

  void call(const Node& node) {
    const std::string& name = called(node);
    if (node.kind == Kind::Call && (frombuffer(node, name) || scalar(node, name))) {
      return;
    }
    const Node& callee = m_objects.node(node.parts[0]);
    if (callee.kind == Kind::Global) {
      put(nameOf(callee));
    } else {
      write(node.parts[0]);
    }
    const Node& arguments = m_objects.node(node.parts[1]);
    if (arguments.kind == Kind::Tuple) {
      list("(", arguments.parts, ")");
    } else {
      put("(…)");
    }
  }

  void built(const Node& node) {
    const Node& made = m_objects.node(node.parts[0]);
    const Node& state = m_objects.node(node.parts[1]);
    if ((made.kind == Kind::Call || made.kind == Kind::Object) && called(made) == "numpy.dtype") {
      call(made);
    } else if (made.kind == Kind::Call && called(made).ends_with("multiarray._reconstruct") &&
               reconstructed(state)) {
    } else if (made.kind == Kind::Object && state.kind == Kind::Dict) {
      put("<" + nameOf(m_objects.node(made.parts[0])));
      for (std::size_t i = 0; i + 1 < state.parts.size() && !m_full; i += 2) {
        const Node& key = m_objects.node(state.parts[i]);
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
    const Node& made = m_objects.node(type->parts[0]);
    const Node& state = m_objects.node(type->parts[1]);
    if ((made.kind != Kind::Call && made.kind != Kind::Object) || called(made) != "numpy.dtype" ||
        state.kind != Kind::Tuple || state.parts.size() < 2) {
      return std::nullopt;
    }
    const Node* const code = argument(made, 0);
    const Node& order = m_objects.node(state.parts[1]);
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
           array(&m_objects.node(state.parts[4]), &m_objects.node(state.parts[2]),
                 &m_objects.node(state.parts[1]));
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

  const Unpickled& m_objects;
  std::size_t m_most;
  std::string m_out;
  bool m_full = false;
  std::vector<Index> m_path;
};

}  // namespace

bool beginsAsPickle(std::string_view bytes) {
  return bytes.size() >= 3 && bytes[0] == '\x80' &&
         static_cast<unsigned char>(bytes[1]) >= kOldestPickle &&
         static_cast<unsigned char>(bytes[1]) <= kNewestPickle;
}

std::optional<std::string> pickleText(std::string_view bytes, std::size_t most) {
  if (!beginsAsPickle(bytes) || bytes.back() != '.' || bytes.size() > kMostBytes) {
    return std::nullopt;
  }
  const std::optional<Unpickled> made = unpickle(bytes);
  return made ? std::optional(Writer(*made, most).text(made->result)) : std::nullopt;
}

}  // namespace pf::python_text
