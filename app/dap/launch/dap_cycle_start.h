// SPDX-License-Identifier: GPL-3.0-or-later
// Where cycles of a launch go first, and again with each 'restart'.
#pragma once

#include <optional>

#include "app/dap/ranks/dap_stop_teller.h"
#include "app/dap/wire/dap_client.h"
#include "app/session/debug_session.h"

namespace pf::headless {

class CycleStart {
 public:
  CycleStart(session::DebugSession& session, DapClient& client, StopTeller& teller)
      : m_session(session), m_client(client), m_teller(teller) {}

  void setGoal(const LaunchArguments& arguments);
  void start();
  void restart(const Request& request);
  /// The cycle is gone. True: it was for another one, which starts.
  bool startsAgain();

 private:
  void takeLatest(const Json& arguments);
  [[nodiscard]] bool failsHere() const;
  void run();

  session::DebugSession& m_session;
  DapClient& m_client;
  StopTeller& m_teller;
  std::optional<EventRef> m_until;
  bool m_untilFailure = false;
  bool m_stopOnEntry = false;
  bool m_restarting = false;  ///< once the present cycle is gone
};

}  // namespace pf::headless
