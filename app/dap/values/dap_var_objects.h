// SPDX-License-Identifier: GPL-3.0-or-later
// GDB's variable objects that the client has been shown, with the references to them. GDB deletes
// them when their rank runs on.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "app/dap/values/dap_references.h"
#include "app/dap/wire/dap_messages.h"
#include "app/session/debug_session.h"

namespace pf::headless {

class VarObjects {
 public:
  VarObjects(session::DebugSession& session, References& references)
      : m_session(session), m_references(references) {}

  /// The GDB of a frame that is still there; null: its rank has gone on, or has none.
  [[nodiscard]] mi::GdbSession* stoppedDebugger(const FrameKey& frame) const;
  /// Deleted when the rank runs on.
  void keep(int rank, const std::string& object) { m_objects[rank].push_back(object); }
  /// A 'Variable' of the object. `parent`: what it is shown in, or null.
  Json show(const FrameKey& frame, const mi::VarObject& object, Container* parent);
  void resumed(int rank);

 private:
  session::DebugSession& m_session;
  References& m_references;
  std::map<int, std::vector<std::string>> m_objects;  ///< by rank
};

}  // namespace pf::headless
