// SPDX-License-Identifier: GPL-3.0-or-later
// Answers of 'evaluate': values of expressions, and lines for the GDB of a rank.
#pragma once

#include <map>
#include <string>

#include "app/dap/values/dap_references.h"
#include "app/dap/values/dap_var_objects.h"
#include "app/dap/wire/dap_client.h"
#include "app/session/debug_session.h"
#include "mi_bridge/value_format.h"

namespace pf::headless {

class ExpressionAnswers {
 public:
  ExpressionAnswers(session::DebugSession& session, DapClient& client, References& references,
                    VarObjects& objects)
      : m_session(session), m_client(client), m_references(references), m_objects(objects) {}

  void evaluate(const Request& request);
  /// What a GDB says. True: it belongs to an answer.
  bool takes(int rank, const QString& consoleText);

 private:
  /// The frame that is meant; answers with an error and gives nothing if it is not there any more.
  [[nodiscard]] std::optional<FrameKey> frameOf(const Request& request) const;
  void valueOf(const Request& request, const FrameKey& frame);
  /// Of a variable of Python, by its name.
  void valueAsText(const Request& request, const FrameKey& frame, mi::GdbSession& gdb);
  void show(const Request& request, const FrameKey& frame, const mi::VarObject& object);
  void explain(const Request& request, const FrameKey& frame, const std::string& message);
  void console(const Request& request, const FrameKey& frame);
  void whichMessage(const Request& request, int rank, const QString& expression);
  void giveToGdb(const Request& request, const FrameKey& frame, mi::GdbSession& gdb);
  void endConsole(const Request& request, int rank, const Status& status);

  session::DebugSession& m_session;
  DapClient& m_client;
  References& m_references;
  VarObjects& m_objects;
  std::map<int, std::string> m_said;  ///< by the GDB of a rank, to the line that it is at work on
};

}  // namespace pf::headless
