// SPDX-License-Identifier: GPL-3.0-or-later
// Commands that send ranks somewhere: run, continue, next, replay-to, previous-hit, focus …
#pragma once

#include <QSet>

#include "app/script/language/command_table.h"
#include "app/script/ranks/script_moves.h"

namespace pf::headless {

class MoveCommands {
 public:
  MoveCommands(session::DebugSession& session, const ScriptRanks& ranks, ScriptMoves& moves,
               ScriptAnswer& answer)
      : m_session(session), m_ranks(ranks), m_moves(moves), m_answer(answer) {}

  void addTo(CommandTable& table);

 private:
  using Command = ScriptCommand;
  using Ranks = QList<int>;

  void run(const Command& command, const Ranks& ranks);
  void repeatCycle(const Command& command, const Ranks& ranks);
  void endReplay(const Command& command, const Ranks& ranks);
  void continueRanks(const Command& command, const Ranks& ranks);
  void pause(const Command& command, const Ranks& ranks);
  void step(const Command& command, const Ranks& ranks);
  void lineBack(const Command& command, const Ranks& ranks);
  void until(const Command& command, const Ranks& ranks);
  void replayTo(const Command& command, const Ranks& ranks);
  void navigate(const Command& command, const Ranks& ranks);
  void lastChange(const Command& command, const Ranks& ranks);
  void focus(const Command& command, const Ranks& ranks);
  [[nodiscard]] QSet<int> steppable(const Ranks& ranks);
  [[nodiscard]] QString whyNotSteppable(const values::RankState& state) const;

  session::DebugSession& m_session;
  const ScriptRanks& m_ranks;
  ScriptMoves& m_moves;
  ScriptAnswer& m_answer;
};

}  // namespace pf::headless
