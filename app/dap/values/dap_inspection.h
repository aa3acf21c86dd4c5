// SPDX-License-Identifier: GPL-3.0-or-later
// What a client can ask of ranks that rest: the parts that answer, and what they share, the
// references that it was given. These are good until their rank runs on.
#pragma once

#include "app/dap/values/dap_expression_answers.h"
#include "app/dap/values/dap_references.h"
#include "app/dap/values/dap_stack_answers.h"
#include "app/dap/values/dap_var_objects.h"
#include "app/dap/values/dap_variable_answers.h"

namespace pf::headless {

class Inspection {
 public:
  Inspection(session::DebugSession& session, DapClient& client, const Threads& threads,
             const BreakpointAnswers& breakpoints)
      : m_objects(session, m_references),
        m_stack(session, client, threads, breakpoints, m_references),
        m_variables(client, m_references, m_objects),
        m_expressions(session, client, m_references, m_objects) {}

  [[nodiscard]] StackAnswers& stack() { return m_stack; }
  [[nodiscard]] VariableAnswers& variables() { return m_variables; }
  [[nodiscard]] ExpressionAnswers& expressions() { return m_expressions; }

  void resumed(int rank) {
    m_references.run(rank);
    m_objects.resumed(rank);
  }

 private:
  References m_references;
  VarObjects m_objects;
  StackAnswers m_stack;
  VariableAnswers m_variables;
  ExpressionAnswers m_expressions;
};

}  // namespace pf::headless
