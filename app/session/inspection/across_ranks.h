// SPDX-License-Identifier: GPL-3.0-or-later
// One expression on all ranks. A rank whose GDB hangs, or that has none, does not hold up the others.
#pragma once

#include <map>
#include <string>
#include <vector>

#include <QElapsedTimer>
#include <QObject>
#include <QSet>

#include "app/session/inspection/inspector.h"
#include "app/session/state/latest.h"
#include "views/values/values_across.h"

namespace pf::session {

/// Where to evaluate on another rank: in its frame of this function, else in the program's innermost frame.
[[nodiscard]] mi::FrameRef frameFor(int thread, const std::vector<mi::Frame>& frames,
                                    const std::string& function);

class AcrossRanks : public QObject {
  Q_OBJECT
 public:
  AcrossRanks(const SessionState& state, const Inspector& inspector)
      : m_state(state), m_inspector(inspector) {}

  /// Evaluates on every stopped rank with a GDB, in the frame of the function that is selected, or in the program's
  /// innermost one: arrived() follows, and again if a rank takes its time.
  void ask(const QString& expression);

 Q_SIGNALS:
  void arrived(const QString& expression, const QList<pf::values::RankValue>& values,
               qint64 milliseconds);

 private:
  struct Question {
    QString expression;
    std::string function;
    QElapsedTimer since;
    QSet<int> missing;
    std::map<int, values::RankValue> values;
  };
  /// What a rank says before its GDB does; true: that one is to be asked.
  [[nodiscard]] bool begin(int rank, const RankNow& now, values::RankValue& value) const;
  void askRank(int rank);
  void answered(int rank, const Result<std::string>& value);
  void tell();

  const SessionState& m_state;
  const Inspector& m_inspector;
  Latest<Question> m_question;
};

}  // namespace pf::session
