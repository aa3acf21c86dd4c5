// SPDX-License-Identifier: GPL-3.0-or-later
// GDB's values as views show them.
#pragma once

#include <string_view>

#include <QString>

#include "mi_bridge/records.h"
#include "views/values/debug_values.h"

namespace pf::session {

/// A stack is asked for up to this depth.
inline constexpr int kMostFrames = 64;

inline QString toText(std::string_view text) {
  return QString::fromUtf8(text.data(), static_cast<qsizetype>(text.size()));
}

[[nodiscard]] values::StackFrame toFrame(const mi::Frame& frame);

}  // namespace pf::session
