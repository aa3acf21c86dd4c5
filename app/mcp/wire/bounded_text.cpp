// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/mcp/wire/bounded_text.h"

#include <algorithm>

namespace pf::headless {

void BoundedText::addLine(std::string_view line) {
  const std::size_t size = std::min(line.size(), kMostOfLine);
  if (m_leftOut != 0 || m_text.size() + size + 1 > m_most) {
    ++m_leftOut;
    return;
  }
  m_text += line.substr(0, size);
  if (size < line.size()) {
    m_text += " … (" + std::to_string(line.size() - size) + " bytes more of this line left out)";
  }
  m_text += '\n';
}

void BoundedText::add(std::string_view text) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    addLine(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

std::string BoundedText::take(const std::string& advice) const {
  std::string text = m_text;
  if (m_leftOut != 0) {
    text += "… " + std::to_string(m_leftOut) + (m_leftOut == 1 ? " line" : " lines") +
            " left out: " + advice + "\n";
  }
  if (!text.empty()) {
    text.pop_back();
  }
  return text;
}

}  // namespace pf::headless
