// SPDX-License-Identifier: GPL-3.0-or-later
// The ranks as the client's threads (thread id = rank + 1): which there are, and how each stands.
#pragma once

#include <optional>

#include "app/dap/breakpoints/dap_logpoints.h"
#include "app/dap/ranks/dap_attached_ranks.h"
#include "app/dap/ranks/dap_told_ranks.h"
#include "app/dap/wire/dap_client.h"
#include "app/session/debug_session.h"

namespace pf::headless {

class Threads {
 public:
  /// `logpoints`: a rank that one of them holds does not rest.
  Threads(session::DebugSession& session, DapClient& client, const Logpoints& logpoints)
      : m_session(session), m_client(client), m_logpoints(logpoints), m_attached(session) {}

  [[nodiscard]] static int idOf(int rank) { return rank + 1; }
  /// States of the ranks that are there.
  [[nodiscard]] QList<values::RankState> all() const;
  [[nodiscard]] AttachedRanks& attached() { return m_attached; }
  [[nodiscard]] const AttachedRanks& attached() const { return m_attached; }

  /// It has come to rest, and is not on its way.
  [[nodiscard]] bool atRest(const values::RankState& state) const;
  /// Its process is no more, or was never seen by a GDB and is past MPI_Finalize.
  [[nodiscard]] bool gone(const values::RankState& state) const;
  /// It is at a stop, of which its GDB has not told yet.
  [[nodiscard]] bool arrives(const values::RankState& state) const;
  [[nodiscard]] RankStanding standing(const values::RankState& state) const;

  // -- of a request; each answers with an error and gives nothing if there is none
  /// The rank of its threadId.
  [[nodiscard]] std::optional<int> rankOf(const Request& request) const;
  struct Stopped {
    int rank = 0;
    mi::GdbSession* gdb = nullptr;
  };
  /// The same, which GDB has stopped.
  [[nodiscard]] std::optional<Stopped> stoppedOf(const Request& request) const;

 private:
  session::DebugSession& m_session;
  DapClient& m_client;
  const Logpoints& m_logpoints;
  AttachedRanks m_attached;
};

}  // namespace pf::headless
