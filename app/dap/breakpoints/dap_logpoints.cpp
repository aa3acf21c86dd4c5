// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/dap/breakpoints/dap_logpoints.h"

namespace pf::headless {

void Logpoints::set(int breakpoint, const std::string& message) {
  m_pieces[breakpoint] = logPieces(message);
}

bool Logpoints::takes(int rank, int breakpoint) {
  const auto found = m_pieces.find(breakpoint);
  if (found == m_pieces.end()) {
    return false;
  }
  m_lines[rank].begin(LogpointLine(found->second));
  goOnWith(rank);
  return true;
}

void Logpoints::goOnWith(int rank) {
  mi::GdbSession* gdb = m_session.debugger(rank);
  if (gdb == nullptr) {
    return;
  }
  const session::Latest<LogpointLine>& line = m_lines.at(rank);
  const std::string* wanted = line->wanted();
  if (wanted == nullptr) {
    write(rank, gdb->stop().frame);
    return;
  }
  gdb->inspect().evaluate({gdb->stop().thread, 0}, *wanted,
                          [this, rank, asked = line.guard()](const Result<std::string>& value) {
                            if (LogpointLine* same = asked.get()) {
                              same->put(value);
                              goOnWith(rank);
                            }
                          });
}

void Logpoints::write(int rank, const mi::Frame& frame) {
  const ClientFormat& format = m_client.format();
  const std::string event = std::to_string(m_session.serialOf(rank));
  const std::string text = m_lines.at(rank)->text();
  m_client.tell("output",
                {{"category", "console"},
                 {"output", "[" + std::to_string(rank) + ", event " + event + "] " + text + "\n"},
                 {"source", {{"path", format.toClient(QString::fromStdString(frame.fullname))}}},
                 {"line", format.lineToClient(frame.line)}});
  m_lines.erase(rank);
  m_session.goOn(rank);
}

}  // namespace pf::headless
