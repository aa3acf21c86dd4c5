// SPDX-License-Identifier: GPL-3.0-or-later
// That no rank gets on, as a line for a person.
#pragma once

#include <QString>

namespace pf::headless {

/// `text`: as DebugSession::stalled() has it, which may say by itself that every rank waits.
inline QString stallText(const QString& text, bool deadlock) {
  if (deadlock) {
    return QStringLiteral("Deadlock: ") + text;
  }
  return text.startsWith(QLatin1String("every rank waits"))
             ? QLatin1Char('E') + text.mid(1)
             : QStringLiteral("All ranks wait: ") + text;
}

}  // namespace pf::headless
