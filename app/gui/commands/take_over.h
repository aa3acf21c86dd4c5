// SPDX-License-Identifier: GPL-3.0-or-later
// The trace of somebody else is read; to run what it says is asked for once.
#pragma once

#include <functional>

#include <QString>

class QWidget;

namespace pf::session {
struct SessionFile;
}

namespace pf::gui {

/// Shows over `window` what a replay of `path` would run, and returns at once. `taken` is called
/// where the user takes it over.
void askToTakeOver(QWidget* window, const QString& path, const std::function<void()>& taken);

/// The same for what a session whose trace is gone would record, which nobody has to start yet.
void askToTakeOver(QWidget* window, const session::SessionFile& file,
                   const std::function<void()>& taken);

/// --trust: a trace, or a session with its trace and all that it would give to a debugger.
void takeOverGiven(const QString& path);

}  // namespace pf::gui
