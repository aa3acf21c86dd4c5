// SPDX-License-Identifier: GPL-3.0-or-later
// Answers of variables: scopes, the insides of structures and arrays, registers, and changes.
#pragma once

#include <memory>

#include "app/dap/values/dap_references.h"
#include "app/dap/values/dap_var_objects.h"
#include "app/dap/wire/dap_client.h"

namespace pf::headless {

class VariableAnswers {
 public:
  VariableAnswers(DapClient& client, References& references, VarObjects& objects)
      : m_client(client), m_references(references), m_objects(objects) {}

  // -- requests
  void variables(const Request& request);
  void setVariable(const Request& request);

 private:
  /// Variables of a scope, some of whose objects are still to come.
  struct ScopeList {
    Request request;
    Json variables = Json::array();
    int pending = 0;
  };
  void listRegisters(const Request& request, const FrameKey& frame, mi::GdbSession& gdb);
  void listScope(const Request& request, int reference, mi::GdbSession& gdb);
  void addToScope(const mi::Variable& variable, const FrameKey& frame, int scope,
                  const std::shared_ptr<ScopeList>& list);
  void finishScope(const std::shared_ptr<ScopeList>& list);
  void listExpression(const Request& request, int reference, mi::GdbSession& gdb);
  void listChildren(const Request& request, int reference);
  void tellChange(const Request& request, const Result<std::string>& now);

  DapClient& m_client;
  References& m_references;
  VarObjects& m_objects;
};

}  // namespace pf::headless
