// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/script/language/script_lines.h"

namespace pf::headless {

void ScriptLines::end() {
  m_lines.clear();
  m_noMore = true;
}

std::optional<std::string> ScriptLines::take() {
  if (m_lines.empty()) {
    return {};
  }
  std::string line = std::move(m_lines.front());
  m_lines.pop_front();
  ++m_number;
  return line;
}

std::string ScriptLines::place() const {
  return m_typed ? std::string() : m_name + ":" + std::to_string(m_number) + ": ";
}

}  // namespace pf::headless
