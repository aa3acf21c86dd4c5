// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/front_end/line_buffers.h"

#include <algorithm>

namespace pf::headless {
namespace {

/// A line without end is shown in pieces of this size.
constexpr std::size_t kLongest = std::size_t{1} << 16U;

}  // namespace

std::string LineBuffers::feed(int rank, int stream, std::string_view bytes) {
  std::string& rest = m_rest[{rank, stream}];
  rest += bytes;
  std::erase(rest, '\r');
  if (rest.size() > kLongest && rest.find('\n') == std::string::npos) {
    rest += '\n';
  }
  const std::size_t end = rest.rfind('\n');
  if (end == std::string::npos) {
    return {};
  }
  std::string lines = rest.substr(0, end + 1);
  rest.erase(0, end + 1);
  return lines;
}

std::map<std::pair<int, int>, std::string> LineBuffers::takeRest() {
  std::map<std::pair<int, int>, std::string> out;
  for (auto& [key, rest] : std::exchange(m_rest, {})) {
    if (!rest.empty()) {
      out[key] = rest + '\n';
    }
  }
  return out;
}

std::string marked(const std::string& text, const std::string& mark) {
  std::string out;
  for (std::size_t from = 0; from < text.size();) {
    const std::size_t end = std::min(text.find('\n', from), text.size() - 1) + 1;
    out += mark + text.substr(from, end - from);
    from = end;
  }
  return out;
}

}  // namespace pf::headless
