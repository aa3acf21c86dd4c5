// SPDX-License-Identifier: GPL-3.0-or-later
// The client's breakpoints in the session, which keeps them over its cycles. The client keeps them
// over its sessions: in the trace they are not, and what is there is left alone.
#pragma once

#include <functional>
#include <map>
#include <set>

#include <QObject>

#include "app/dap/breakpoints/dap_logpoints.h"

namespace pf::headless {

class BreakpointAnswers : public QObject {
  Q_OBJECT
 public:
  BreakpointAnswers(session::DebugSession& session, DapClient& client);

  // -- requests
  void setBreakpoints(const Request& request);
  void setFunctionBreakpoints(const Request& request);
  /// A rank that crashes or aborts is stopped in any case; of the filters one is ours to set.
  void setExceptionBreakpoints(const Request& request);

  [[nodiscard]] Logpoints& logpoints() { return m_logpoints; }
  /// Whether it is the filter "mpi" that the breakpoint is of.
  [[nodiscard]] bool isMpiError(int breakpoint) const;
  /// The client's number of a breakpoint.
  [[nodiscard]] static int clientId(int breakpoint) { return -breakpoint; }

 private:
  using Kept = std::set<int>;
  [[nodiscard]] Result<values::Breakpoint> lineBreakpoint(const Json& wanted,
                                                          const QString& file) const;
  [[nodiscard]] Result<values::Breakpoint> functionBreakpoint(const Json& wanted) const;
  [[nodiscard]] Result<values::Breakpoint> eventBreakpoint(const std::string& name,
                                                           const EventRef& event) const;
  Json place(values::Breakpoint wanted, const std::string& logMessage, Kept& kept);
  [[nodiscard]] const values::Breakpoint* findSame(const values::Breakpoint& wanted, bool logs,
                                                   const Kept& kept) const;
  int change(const values::Breakpoint& there, const values::Breakpoint& wanted);
  void removeOthers(const std::function<bool(const values::Breakpoint&)>& belongs,
                    const Kept& kept);
  [[nodiscard]] int mpiErrorBreakpoint() const;
  [[nodiscard]] Json breakpointJson(const values::Breakpoint& breakpoint) const;
  void tellChanged();

  session::DebugSession& m_session;
  DapClient& m_client;
  Logpoints m_logpoints;
  std::map<int, Json> m_told;  ///< what the client knows of each
};

}  // namespace pf::headless
