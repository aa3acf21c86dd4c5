// SPDX-License-Identifier: GPL-3.0-or-later
// Answers of threads and stacks: asked of the GDB of a rank, or of the recording where it has none.
#pragma once

#include <vector>

#include "app/dap/breakpoints/dap_breakpoints.h"
#include "app/dap/ranks/dap_threads.h"
#include "app/dap/values/dap_references.h"

namespace pf::headless {

class StackAnswers {
 public:
  StackAnswers(session::DebugSession& session, DapClient& client, const Threads& threads,
               const BreakpointAnswers& breakpoints, References& references)
      : m_session(session),
        m_client(client),
        m_threads(threads),
        m_breakpoints(breakpoints),
        m_references(references) {}

  // -- requests
  void threads(const Request& request);
  void stackTrace(const Request& request);
  void scopes(const Request& request);
  void exceptionInfo(const Request& request);

 private:
  [[nodiscard]] std::string nameOf(const values::RankState& state) const;
  void sendFrames(const Request& request, int rank, const std::vector<mi::Frame>& frames);
  void sendRecordedFrame(const Request& request, const values::RankState& state);
  [[nodiscard]] Json frameJson(int rank, int thread, const mi::Frame& frame);
  [[nodiscard]] Json recordedFrameJson(const EventRef& event);
  void setSource(Json& frame, const std::string& path, int line) const;

  session::DebugSession& m_session;
  DapClient& m_client;
  const Threads& m_threads;
  const BreakpointAnswers& m_breakpoints;
  References& m_references;
};

}  // namespace pf::headless
