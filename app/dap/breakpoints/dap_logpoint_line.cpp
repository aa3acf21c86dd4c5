// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/dap/breakpoints/dap_logpoint_line.h"

namespace pf::headless {

LogpointLine::LogpointLine(std::vector<LogPiece> pieces) : m_pieces(std::move(pieces)) {
  takeText();
}

const std::string* LogpointLine::wanted() const {
  return m_next < m_pieces.size() ? &m_pieces[m_next].text : nullptr;
}

void LogpointLine::put(const Result<std::string>& value) {
  m_text += value ? *value : "<" + value.error().message + ">";
  ++m_next;
  takeText();
}

void LogpointLine::takeText() {
  for (; m_next < m_pieces.size() && !m_pieces[m_next].expression; ++m_next) {
    m_text += m_pieces[m_next].text;
  }
}

}  // namespace pf::headless
