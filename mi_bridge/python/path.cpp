// SPDX-License-Identifier: GPL-3.0-or-later
#include "mi_bridge/python/path.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "replay_engine/cpython/objects.h"

namespace pf::mi::python {
namespace {

constexpr std::size_t kMostSteps = 100;

bool beginsName(char c) {
  return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         static_cast<signed char>(c) < 0;
}

bool isInName(char c) {
  return beginsName(c) || (c >= '0' && c <= '9');
}

/// Takes a text to pieces, from its beginning on.
class Pieces {
 public:
  explicit Pieces(std::string_view text) : m_rest(text) {}

  [[nodiscard]] bool atEnd() const { return m_rest.empty(); }
  void skipBlanks() {
    m_rest.remove_prefix(std::min(m_rest.find_first_not_of(" \t"), m_rest.size()));
  }
  bool take(char c) {
    const bool there = !m_rest.empty() && m_rest.front() == c;
    m_rest.remove_prefix(there ? 1 : 0);
    return there;
  }
  /// Empty: there is none.
  std::string takeName() {
    const auto* const end = std::find_if_not(m_rest.begin(), m_rest.end(), isInName);
    std::string name(m_rest.begin(), end);
    m_rest.remove_prefix(name.size());
    return !name.empty() && beginsName(name.front()) ? name : std::string();
  }
  std::optional<std::int64_t> takeNumber() {
    std::int64_t value = 0;
    const auto [end, problem] =
        std::from_chars(m_rest.data(), m_rest.data() + m_rest.size(), value);
    if (problem != std::errc()) {
      return std::nullopt;
    }
    m_rest.remove_prefix(static_cast<std::size_t>(end - m_rest.data()));
    return value;
  }
  /// As repr() writes a str.
  std::optional<std::string> takeQuoted();

 private:
  [[nodiscard]] std::optional<std::string> takeEscaped();

  std::string_view m_rest;
};

std::optional<std::string> Pieces::takeQuoted() {
  const char quote = m_rest.empty() ? '\0' : m_rest.front();
  if (quote != '\'' && quote != '"') {
    return std::nullopt;
  }
  m_rest.remove_prefix(1);
  std::string out;
  while (!m_rest.empty()) {
    if (take(quote)) {
      return out;
    }
    const char c = m_rest.front();
    m_rest.remove_prefix(1);
    const auto meant = c == '\\' ? takeEscaped() : std::optional(std::string(1, c));
    if (!meant || (c >= 0 && c < ' ')) {
      return std::nullopt;
    }
    out += *meant;
  }
  return std::nullopt;  // no quote at the end
}

std::optional<std::string> Pieces::takeEscaped() {
  static constexpr std::string_view kLetters = "ntr\\'\"";
  static constexpr std::string_view kMeant = "\n\t\r\\'\"";
  const char c = m_rest.empty() ? '\0' : m_rest.front();
  m_rest.remove_prefix(m_rest.empty() ? 0 : 1);
  if (const auto at = kLetters.find(c); at != std::string_view::npos) {
    return std::string(1, kMeant[at]);
  }
  const std::size_t digits = c == 'x' ? 2 : c == 'u' ? 4 : c == 'U' ? 8 : 0;
  std::uint32_t value = 0;
  const char* const begin = m_rest.data();
  if (digits == 0 || m_rest.size() < digits ||
      std::from_chars(begin, begin + digits, value, 16).ptr != begin + digits || value > 0x10FFFF) {
    return std::nullopt;
  }
  m_rest.remove_prefix(digits);
  return std::string(cpython::Utf8(value).view());
}

std::optional<Step> takeStep(Pieces& pieces) {
  Step step;
  if (pieces.take('.')) {
    pieces.skipBlanks();
    step.text = pieces.takeName();
    return step.text.empty() ? std::nullopt : std::optional(step);
  }
  if (!pieces.take('[')) {
    return std::nullopt;
  }
  pieces.skipBlanks();
  if (const auto number = pieces.takeNumber()) {
    step.kind = Step::Kind::Index;
    step.index = *number;
  } else if (auto key = pieces.takeQuoted()) {
    step.kind = Step::Kind::Key;
    step.text = std::move(*key);
  } else {
    return std::nullopt;
  }
  pieces.skipBlanks();
  return pieces.take(']') ? std::optional(step) : std::nullopt;
}

}  // namespace

bool isName(std::string_view text) {
  return !text.empty() && beginsName(text.front()) &&
         std::all_of(text.begin(), text.end(), isInName);
}

std::optional<Path> pathOf(std::string_view text) {
  Pieces pieces(text);
  pieces.skipBlanks();
  Path path{pieces.takeName(), {}};
  if (path.name.empty()) {
    return std::nullopt;
  }
  for (pieces.skipBlanks(); !pieces.atEnd(); pieces.skipBlanks()) {
    const auto step = takeStep(pieces);
    if (!step || path.steps.size() == kMostSteps) {
      return std::nullopt;
    }
    path.steps.push_back(*step);
  }
  return path;
}

}  // namespace pf::mi::python
