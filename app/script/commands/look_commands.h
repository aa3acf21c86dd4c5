// SPDX-License-Identifier: GPL-3.0-or-later
// Commands that look at ranks and at the recording, and move nothing: rank, where, group, groups,
// which-message, waits, contents, snapshots, races, cycles, output.
#pragma once

#include "app/script/language/command_table.h"
#include "app/script/language/script_answer.h"
#include "app/script/ranks/awaited_answers.h"
#include "app/script/ranks/rank_output.h"
#include "app/script/ranks/rank_teller.h"
#include "app/script/ranks/script_cycles.h"
#include "app/script/ranks/script_ranks.h"
#include "app/session/contents_reader.h"

namespace pf::headless {

class LookCommands {
 public:
  LookCommands(session::DebugSession& session, const ScriptRanks& ranks, ScriptCycles& cycles,
               RankTeller& teller, AwaitedAnswers& awaited, ScriptAnswer& answer);

  void addTo(CommandTable& table);

 private:
  using Command = ScriptCommand;
  using Ranks = QList<int>;

  void rank(const Command& command, const Ranks& ranks);
  void where(const Command& command, const Ranks& ranks);
  void group(const Command& command, const Ranks& ranks);
  void groups(const Command& command, const Ranks& ranks);
  void whichMessage(const Command& command, const Ranks& ranks);
  void waits(const Command& command, const Ranks& ranks);
  void contents(const Command& command, const Ranks& ranks);
  void sayContents(const session::EventContents& found);
  void snapshots(const Command& command, const Ranks& ranks);
  void races(const Command& command, const Ranks& ranks);
  void cycles(const Command& command, const Ranks& ranks);
  void output(const Command& command, const Ranks& ranks);
  void sayOutput(const Ranks& ranks);

  session::DebugSession& m_session;
  const ScriptRanks& m_ranks;
  const ScriptCycles& m_cycles;
  RankTeller& m_teller;
  AwaitedAnswers& m_awaited;
  ScriptAnswer& m_answer;
  RankOutput m_output;
  session::ContentsReader m_contents;
};

}  // namespace pf::headless
