// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/dap/values/dap_var_objects.h"

#include <utility>

namespace pf::headless {
namespace {

bool isArray(const mi::VarObject& object) {
  return object.displayHint == "array" || (!object.type.empty() && object.type.back() == ']');
}

}  // namespace

mi::GdbSession* VarObjects::stoppedDebugger(const FrameKey& frame) const {
  mi::GdbSession* gdb = m_references.valid(frame) ? m_session.debugger(frame.rank) : nullptr;
  return gdb != nullptr && gdb->state() == mi::SessionState::Stopped ? gdb : nullptr;
}

Json VarObjects::show(const FrameKey& frame, const mi::VarObject& object, Container* parent) {
  Json out = {{"name", object.expression},
              {"value", object.value},
              {"type", object.type},
              {"variablesReference", 0}};
  if (parent != nullptr) {
    parent->children[object.expression] = object.name;
  }
  if (object.expandable()) {
    const char format = parent != nullptr ? parent->format : '\0';
    out["variablesReference"] =
        m_references.add(Container{ContainerKind::Object, frame, object.name, 0, {}, format});
    if (isArray(object) && !object.dynamic) {
      out["indexedVariables"] = object.children;
    }
  }
  return out;
}

void VarObjects::resumed(int rank) {
  mi::GdbSession* gdb = m_session.debugger(rank);
  for (const std::string& object : std::exchange(m_objects[rank], {})) {
    if (gdb != nullptr && gdb->state() == mi::SessionState::Stopped) {
      gdb->inspect().deleteVar(object, [](const Status&) {});
    }
  }
}

}  // namespace pf::headless
