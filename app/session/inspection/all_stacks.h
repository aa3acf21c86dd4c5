// SPDX-License-Identifier: GPL-3.0-or-later
// The stacks of all ranks: by GDB where one has the rank stopped, else by the rank's agent, which knows addresses only;
// files and lines of these are looked up on a worker thread.
#pragma once

#include <map>
#include <vector>

#include <QElapsedTimer>
#include <QObject>
#include <QSet>

#include "app/session/state/latest.h"
#include "app/session/state/session_state.h"

namespace pf::session {

class AllStacks : public QObject {
  Q_OBJECT
 public:
  /// `order`: takes protocol::AskStack.
  using Order = std::function<void(const protocol::Message&)>;
  AllStacks(const SessionState& state, Order order);

  /// Asks every rank: arrived() follows, after some seconds at the latest.
  void ask();
  /// An agent's answer.
  void answered(const protocol::RankStack& stack);

 Q_SIGNALS:
  void arrived(const QList<pf::values::RankStack>& stacks, qint64 milliseconds);

 private:
  struct Question {
    QElapsedTimer since;
    QSet<int> missing;
    bool finished = false;
    std::vector<protocol::RankStack> addresses;  ///< by agents
    std::map<int, values::RankStack> stacks;
  };
  void askGdb(int rank);
  void notePython(int rank, values::RankStack& stack) const;
  void giveUp();
  void finish();

  const SessionState& m_state;
  Order m_order;
  std::uint64_t m_number = 0;  ///< of the question, in the daemon's messages
  Latest<Question> m_question;
};

}  // namespace pf::session
