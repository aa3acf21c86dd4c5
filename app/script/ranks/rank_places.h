// SPDX-License-Identifier: GPL-3.0-or-later
// Where the ranks that rest are, in their program and among their events, as their GDBs say.
#pragma once

#include <functional>
#include <map>
#include <vector>

#include <QString>

#include "app/script/ranks/awaited_answers.h"
#include "app/script/ranks/script_ranks.h"

namespace pf::headless {

class RankPlaces {
 public:
  RankPlaces(session::DebugSession& session, const ScriptRanks& ranks, AwaitedAnswers& awaited)
      : m_session(session), m_ranks(ranks), m_awaited(awaited) {}

  /// Asks the GDBs of all ranks that rest, then calls `then`.
  void ask(std::function<void()> then);

  // -- by the last answers
  /// "main() at sum.c:18"; empty: not known.
  [[nodiscard]] QString placeOf(int rank) const;
  /// The last event that it has begun.
  [[nodiscard]] Serial serialOf(const values::RankState& state) const;

 private:
  void askOne(int rank);
  void takeFrames(int rank, const Result<std::vector<mi::Frame>>& frames);
  void takeBegun(int rank, const Result<std::uint64_t>& begun);

  session::DebugSession& m_session;
  const ScriptRanks& m_ranks;
  AwaitedAnswers& m_awaited;
  std::map<int, QString> m_places;
  std::map<int, Serial> m_begun;
};

}  // namespace pf::headless
