// SPDX-License-Identifier: GPL-3.0-or-later
// Logpoints of the client: a rank that comes to one is held while its GDB is asked for the values,
// the line is written, and the rank goes on.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "app/dap/breakpoints/dap_logpoint_line.h"
#include "app/dap/wire/dap_client.h"
#include "app/session/debug_session.h"
#include "app/session/state/latest.h"

namespace pf::headless {

class Logpoints {
 public:
  Logpoints(session::DebugSession& session, DapClient& client)
      : m_session(session), m_client(client) {}

  void set(int breakpoint, const std::string& message);
  void remove(int breakpoint) { m_pieces.erase(breakpoint); }
  [[nodiscard]] bool contains(int breakpoint) const { return m_pieces.contains(breakpoint); }

  /// A rank has come to a breakpoint. True: it is a logpoint, and no stop for the client.
  bool takes(int rank, int breakpoint);
  [[nodiscard]] bool holds(int rank) const { return m_lines.contains(rank); }
  /// The ranks are sent elsewhere: lines that are not complete are not written.
  void dropLines() { m_lines.clear(); }

 private:
  void goOnWith(int rank);
  void write(int rank, const mi::Frame& frame);

  session::DebugSession& m_session;
  DapClient& m_client;
  std::map<int, std::vector<LogPiece>> m_pieces;         ///< by breakpoint
  std::map<int, session::Latest<LogpointLine>> m_lines;  ///< of ranks that are held
};

}  // namespace pf::headless
