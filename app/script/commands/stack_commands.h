// SPDX-License-Identifier: GPL-3.0-or-later
// Commands about stacks, and values in their frames: frame, up, down, stack, stacks, print, array.
#pragma once

#include <functional>
#include <string>

#include <QObject>

#include "app/script/language/command_table.h"
#include "app/script/language/script_answer.h"
#include "app/script/ranks/awaited_answers.h"
#include "app/script/ranks/rank_values.h"
#include "app/script/ranks/script_ranks.h"
#include "app/session/array_reader.h"

namespace pf::headless {

class StackCommands : public QObject {
  Q_OBJECT
 public:
  StackCommands(session::DebugSession& session, const ScriptRanks& ranks, AwaitedAnswers& awaited,
                ScriptAnswer& answer);

  void addTo(CommandTable& table);

 private:
  using Command = ScriptCommand;
  using Ranks = QList<int>;
  using Stacks = QList<values::RankStack>;

  void frame(const Command& command, const Ranks& ranks);
  void stack(const Command& command, const Ranks& ranks);
  void stacks(const Command& command, const Ranks& ranks);
  void print(const Command& command, const Ranks& ranks);
  void array(const Command& command, const Ranks& ranks);

  [[nodiscard]] const values::StackFrame* frameOf(const Command& command) const;
  [[nodiscard]] std::string selectedFunction() const;
  void askStacks(const std::function<void(const Stacks&)>& show);
  void showStacks(const Stacks& stacks, const Ranks& ranks);
  void showTree(const Stacks& stacks);

  [[nodiscard]] QString whyNoValue(const values::RankState& state) const;
  void evaluate(int rank, const std::string& function, const std::string& expression);
  void evaluateWhere(int rank, const std::string& function, const std::string& expression);
  void takeValue(int rank, const Result<std::string>& value);
  void tellValues();

  session::DebugSession& m_session;
  const ScriptRanks& m_ranks;
  AwaitedAnswers& m_awaited;
  ScriptAnswer& m_answer;
  QList<values::StackFrame> m_frames;         ///< of the current rank
  std::function<void(const Stacks&)> m_show;  ///< once the stacks arrive
  RankValues m_values;
  session::ArrayReader m_arrays;
  std::function<void(const values::ArraySummary*, const QString&)> m_takeArray;  ///< or why not
};

}  // namespace pf::headless
