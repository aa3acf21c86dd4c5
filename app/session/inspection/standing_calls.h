// SPDX-License-Identifier: GPL-3.0-or-later
// The calls that the stopped ranks of a job stand in that was not recorded, or of core files: GDB is asked at each stop.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <vector>

#include <QObject>

#include "app/session/state/session_state.h"

namespace pf::session {

class StandingCalls : public QObject {
  Q_OBJECT
 public:
  explicit StandingCalls(SessionState& state) : m_state(state) {}

  /// Ranks may have stopped, gone on, or be others'. Of a recording nothing is asked.
  void refresh();
  /// At once, or when those that were asked have answered.
  void whenKnown(std::function<void()> then);

 Q_SIGNALS:
  void changed();  ///< SessionState::trace has other calls

 private:
  void ask(int rank, mi::GdbSession& gdb);
  void publish();

  SessionState& m_state;
  std::map<int, std::optional<views::CallNow>> m_calls;  ///< nothing: GDB cannot tell
  std::map<int, std::uint64_t> m_asked;  ///< number of the question that has no answer yet
  std::uint64_t m_question = 0;
  std::vector<std::function<void()>> m_waiting;
};

}  // namespace pf::session
