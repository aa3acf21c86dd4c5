// SPDX-License-Identifier: GPL-3.0-or-later
// What the ranks print: passed on line by line, and kept for 'output', its end of
// this cycle.
#pragma once

#include <map>

#include <QByteArray>
#include <QObject>

#include "app/front_end/line_buffers.h"
#include "app/script/language/script_answer.h"
#include "app/script/ranks/script_cycles.h"
#include "app/session/debug_session.h"

namespace pf::headless {

class RankOutput : public QObject {
  Q_OBJECT
 public:
  RankOutput(session::DebugSession& session, ScriptCycles& cycles, const ScriptAnswer& answer);

  /// Whole lines; empty: it has printed none.
  [[nodiscard]] QString textOf(int rank) const;

 private:
  void take(int rank, values::OutputStream stream, const QByteArray& bytes);

  const ScriptAnswer& m_answer;
  LineBuffers m_lines;
  std::map<int, QByteArray> m_printed;  ///< by rank, in this cycle
};

}  // namespace pf::headless
