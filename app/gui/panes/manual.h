// SPDX-License-Identifier: GPL-3.0-or-later
// The product's documents in a window of their own, and who it is.
#pragma once

#include <QString>

class QAction;
class QMainWindow;

namespace pf::gui {

/// "Manual": opens the documents.
[[nodiscard]] QAction* makeManual(QMainWindow& window);
/// "About Photofinish": version, licence, and with what it was built.
[[nodiscard]] QAction* makeAbout(QMainWindow& window);

}  // namespace pf::gui
