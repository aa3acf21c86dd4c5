// SPDX-License-Identifier: GPL-3.0-or-later
#include "mi_bridge/logpoint.h"

#include <charconv>
#include <utility>

#include "mi_bridge/python/lines.h"
#include "mi_bridge/stop_values.h"

namespace pf::mi {
namespace {

constexpr std::string_view kMark = "@pf-log ";

constexpr const char* kPython = R"(import gdb
def pf_events():
  try:
    memory = gdb.selected_inferior()
    def word(address):
      return int.from_bytes(bytes(memory.read_memory(address, 8)), 'little')
    return word(word(int(gdb.parse_and_eval('&%SYMBOL%'))))
  except Exception:
    return 0
def pf_value(expression):
  try:
    return str(gdb.parse_and_eval(expression))
  except Exception as problem:
    return '<' + str(problem) + '>'
class PfLog(gdb.Breakpoint):
  def __init__(self, id, parts, condition, skip, *where, **named):
    super().__init__(*where, **named)
    self.pf = (id, parts, condition)
    self.pf_skip = skip
  def stop(self):
    id, parts, condition = self.pf
    text = ''
    try:
      if condition and not bool(gdb.parse_and_eval(condition)):
        return False
    except Exception as problem:
      text = '<condition: ' + str(problem) + '> '
    if self.pf_skip > 0:
      self.pf_skip -= 1
      return False
    text += ''.join(pf_value(part) if is_expression else part for is_expression, part in parts)
    text = text.replace('\\', '\\\\').replace('\n', '\\n').replace('\r', '\\r')
    gdb.write('@pf-log %d %d %s\n' % (id, pf_events(), text))
    return False
)";

/// A Python string literal.
std::string literal(std::string_view text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\n') {
      out += "\\n";
    } else if (c == '\r') {
      out += "\\r";
    } else {
      if (c == '\'' || c == '\\') {
        out += '\\';
      }
      out += c;
    }
  }
  return out + "'";
}

std::string unescaped(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 1 < text.size()) {
      ++i;
      out += text[i] == 'n' ? '\n' : text[i] == 'r' ? '\r' : text[i];
    } else {
      out += text[i];
    }
  }
  return out;
}

template <typename T>
bool takeNumber(std::string_view& text, T& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end == text.data() + text.size() || *end != ' ') {
    return false;
  }
  text.remove_prefix(static_cast<std::size_t>(end - text.data()) + 1);
  return true;
}

}  // namespace

Status canLogIn(std::string_view source) {
  if (isPythonSource(source)) {
    return Error{ErrorCode::Usage, "a logpoint cannot be at a line of Python",
                 "use a breakpoint, or print there"};
  }
  return {};
}

Result<std::vector<LogPart>> parseLog(std::string_view text) {
  const Error unbalanced{ErrorCode::Usage,
                         "'" + std::string(text) + "' has a brace without its other one",
                         "Write {EXPRESSION} for a value, {{ or }} for a brace."};
  std::vector<LogPart> parts;
  std::string words;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if ((c == '{' || c == '}') && i + 1 < text.size() && text[i + 1] == c) {
      words += text[i++];
      continue;
    }
    if (c == '}') {
      return unbalanced;
    }
    if (c != '{') {
      words += c;
      continue;
    }
    std::size_t end = i + 1;
    for (int depth = 1; end < text.size(); ++end) {
      depth += text[end] == '{' ? 1 : text[end] == '}' ? -1 : 0;
      if (depth == 0) {
        break;
      }
    }
    const std::string_view expression = text.substr(i + 1, end - i - 1);
    if (end >= text.size() || expression.find_first_not_of(" \t") == std::string_view::npos) {
      return unbalanced;
    }
    if (!words.empty()) {
      parts.push_back({false, std::exchange(words, {})});
    }
    parts.push_back({true, std::string(expression)});
    i = end;
  }
  if (!words.empty()) {
    parts.push_back({false, words});
  }
  return parts;
}

std::string logpointSetup() {
  std::string code = kPython;
  const std::string symbol = "%SYMBOL%";
  code.replace(code.find(symbol), symbol.size(), kEventsBegunSymbol);
  return "python exec(" + literal(code) + ")";
}

std::string logpointCommand(const LogpointRequest& request) {
  std::string parts;
  for (const LogPart& part : request.parts) {
    parts +=
        "(" + std::string(part.expression ? "True" : "False") + "," + literal(part.text) + "),";
  }
  const std::string where = !request.source.empty() ? "source=" + literal(request.source) +
                                                          ",line=" + std::to_string(request.line)
                            : !request.function.empty() ? "function=" + literal(request.function)
                                                        : literal("*" + request.address);
  return "python PfLog(" + std::to_string(request.id) + ",[" + parts + "]," +
         literal(request.condition) + "," + std::to_string(request.ignoreCount) + "," + where + ")";
}

std::optional<LogLine> logLineOf(std::string_view console) {
  if (console.substr(0, kMark.size()) != kMark) {
    return std::nullopt;
  }
  console.remove_prefix(kMark.size());
  LogLine line;
  if (!takeNumber(console, line.id) || !takeNumber(console, line.serial)) {
    return std::nullopt;
  }
  while (!console.empty() && console.back() == '\n') {
    console.remove_suffix(1);
  }
  line.text = unescaped(console);
  return line;
}

}  // namespace pf::mi
