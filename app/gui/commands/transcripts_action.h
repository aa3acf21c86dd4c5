// SPDX-License-Identifier: GPL-3.0-or-later
// "Save GDB transcripts …": what passes between the window and each GDB, in files.
#pragma once

#include <functional>

class QAction;
class QString;
class QWidget;

namespace pf::session {
class DebugSession;
}

namespace pf::gui {

class ShownTrace;

/// Owned by `window`.
[[nodiscard]] QAction* makeTranscriptsAction(
    QWidget& window, const ShownTrace& shown, session::DebugSession& session,
    const std::function<void(const QString& text, bool problem)>& said);

}  // namespace pf::gui
