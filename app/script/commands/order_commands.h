// SPDX-License-Identifier: GPL-3.0-or-later
// Commands that run another order of the recording, beside the present replay: flip, blame.
#pragma once

#include <QObject>

#include "app/script/language/command_table.h"
#include "app/script/language/script_answer.h"
#include "app/session/debug_session.h"
#include "app/session/other_order.h"

namespace pf::headless {

class OrderCommands : public QObject {
  Q_OBJECT
 public:
  OrderCommands(session::DebugSession& session, ScriptAnswer& answer);

  void addTo(CommandTable& table);
  /// The command has ended: so does the run.
  void drop() { m_order.drop(); }

 private:
  void flip(const ScriptCommand& command, const QList<int>& ranks);
  void blame(const ScriptCommand& command, const QList<int>& ranks);
  void sayAll(const QStringList& said);
  void endFlip(const QString& trace, const QStringList& said);
  void endBlame(const QByteArray& document, const QStringList& said);

  session::DebugSession& m_session;
  ScriptAnswer& m_answer;
  session::OtherOrder m_order;
};

}  // namespace pf::headless
