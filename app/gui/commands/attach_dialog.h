// SPDX-License-Identifier: GPL-3.0-or-later
// The jobs that run on this host, to choose one from.
#pragma once

#include <functional>

#include <QtGlobal>

class QWidget;

namespace pf::gui {

/// Shows it over `window`, and returns at once. `chosen` gets the pid of a launcher.
void askJob(QWidget& window, const std::function<void(qint64 pid)>& chosen);

}  // namespace pf::gui
