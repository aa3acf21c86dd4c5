// SPDX-License-Identifier: GPL-3.0-or-later
// Lines that a user types for the GDBs of ranks. To several at once: equal answers are shown once; those that differ only in what is each process'
// own (addresses, numbers of threads) are equal.
#pragma once

#include <map>

#include <QObject>
#include <QSet>

#include "app/session/state/latest.h"
#include "app/session/state/session_state.h"

namespace pf::session {

class GdbConsoles : public QObject {
  Q_OBJECT
 public:
  explicit GdbConsoles(const SessionState& state) : m_state(state) {}

  void send(int rank, const QString& line);
  /// To all of these: consoleText() of rank `shownAt` follows.
  void sendToAll(const QList<int>& ranks, const QString& line, int shownAt);
  /// What a GDB writes. True: it belongs to an answer.
  [[nodiscard]] bool takes(int rank, const QString& text);

 Q_SIGNALS:
  void consoleText(int rank, const QString& text, bool error);

 private:
  struct Question {
    int shownAt = 0;
    QSet<int> missing;
    std::map<int, QString> texts;
  };
  void answered(int rank, const Status& status);
  void tellWhoIsMissing();
  void tell();

  const SessionState& m_state;
  Latest<Question> m_question;
};

}  // namespace pf::session
