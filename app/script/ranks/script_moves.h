// SPDX-License-Identifier: GPL-3.0-or-later
// Carries out a command that sends ranks on: has the session do it, waits until they have come to
// rest, makes one of them the current rank, and tells where they are.
#pragma once

#include <functional>

#include <QElapsedTimer>
#include <QObject>
#include <QStringList>

#include "app/script/language/script_answer.h"
#include "app/script/ranks/move_wait.h"
#include "app/script/ranks/rank_teller.h"
#include "app/script/ranks/script_breakpoints.h"
#include "app/script/ranks/script_cycles.h"
#include "app/script/ranks/script_ranks.h"

namespace pf::headless {

class ScriptMoves : public QObject {
  Q_OBJECT
 public:
  ScriptMoves(session::DebugSession& session, const ScriptRanks& ranks,
              ScriptBreakpoints& breakpoints, ScriptCycles& cycles, RankTeller& teller,
              ScriptAnswer& answer);

  /// Does `act`, and completes the command once the ranks have come to rest.
  void move(const Move& how, const std::function<void()>& act);
  /// To be called again and again. `commandMs`: that the command has taken by now. True: it got on.
  bool look(qint64 commandMs);
  [[nodiscard]] bool isUnderWay() const { return m_underWay; }
  /// Who has not come to rest, and what is missing beside that.
  [[nodiscard]] QString missing() const;
  /// The session's words belong to the move. False: there is none.
  bool hear(const QString& text, bool problem);
  /// Nobody waits for it any more.
  void drop() { m_underWay = false; }

 private:
  /// What the session has said since the move began.
  struct Heard {
    bool progress = false;  ///< it has something under way
    QStringList words;
    QStringList problems;
  };
  void connectSession();
  [[nodiscard]] bool arrived(qint64 commandMs);
  void finish();
  void tell(bool onlyChanges);
  void warn();

  session::DebugSession& m_session;
  const ScriptRanks& m_ranks;
  ScriptBreakpoints& m_breakpoints;
  ScriptCycles& m_cycles;
  RankTeller& m_teller;
  ScriptAnswer& m_answer;
  MoveWait m_wait;
  QElapsedTimer m_clock;
  bool m_underWay = false;
  Heard m_heard;
  int m_wanted = 0;  ///< the rank that the move is for
};

}  // namespace pf::headless
