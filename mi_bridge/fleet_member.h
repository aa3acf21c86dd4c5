// SPDX-License-Identifier: GPL-3.0-or-later
// One rank of the fleet: its GDB, and which of its breakpoints belongs to which spec.
#pragma once

#include <map>
#include <memory>
#include <utility>

#include "mi_bridge/fleet.h"

namespace pf::mi {

class Fleet::Member final : public SessionObserver {
 public:
  Member(Fleet& fleet, Rank rank, std::unique_ptr<Transport> transport)
      : m_fleet(fleet),
        m_rank(rank),
        m_transport(std::move(transport)),
        m_session(*m_transport, *this) {}

  [[nodiscard]] GdbSession& session() { return m_session; }
  [[nodiscard]] int specOf(int gdbNumber) const;
  [[nodiscard]] BreakpointStatus status(int spec) const;
  /// Still the rank's GDB: one that was replaced is silent.
  void retire() { m_live = false; }

  void startAndAttach(pid_t pid, Done done);
  void reattach(pid_t pid, Done done);
  void insert(const BreakpointSpec& spec, Done done);
  void change(const BreakpointSpec& before, const BreakpointSpec& spec);
  void erase(int spec);

  void onState(SessionState state) override;
  void onStopped(const StopEvent& stop) override;
  void onBreakpointChanged(BreakpointChange change, const Breakpoint& breakpoint) override;
  void onConsole(StreamKind kind, std::string_view text) override;
  void onLost(const std::string& text) override;
  void onEscalate(Escalation escalation) override;
  void onToolAction(ToolAction action, std::string_view line) override;
  void onSlow(const std::string& command, bool givenUp) override;
  void onValuesChanged() override;

 private:
  void attach(pid_t pid, Done done);
  void insertAll(Done done);
  void insertWatch(const BreakpointSpec& spec, Callback<Breakpoint> done);
  void insertKind(const BreakpointSpec& spec, Callback<Breakpoint> done);
  void insertLog(const BreakpointSpec& spec, Callback<Breakpoint> done);
  void finishInsert(const BreakpointSpec& spec, const Breakpoint& breakpoint);
  void retryWatches();
  void inserted(int spec, const Result<Breakpoint>& breakpoint);
  void fill(BreakpointStatus& status, const Breakpoint& breakpoint) const;
  void report(const BreakpointStatus& status);

  Fleet& m_fleet;
  Rank m_rank;
  std::unique_ptr<Transport> m_transport;
  GdbSession m_session;
  bool m_live = true;
  std::map<int, BreakpointStatus> m_status;  ///< by spec
  bool m_canLog = false;                     ///< this GDB knows what a logpoint is
  std::string m_line;                        ///< of its console, begun by a logpoint
  int m_inserting = 0;  ///< replies to our own inserts are not foreign breakpoints
};

}  // namespace pf::mi
