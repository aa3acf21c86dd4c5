// SPDX-License-Identifier: GPL-3.0-or-later
// Panes of plugins are made in the window, where nothing holds one that crashes or hangs. What is being made is kept in the
// settings meanwhile: a window that ended then is seen by the next one, which leaves that plugin's panes out.
#pragma once

#include <QString>

namespace pf::gui {

class PaneTrials {
 public:
  /// Takes over what windows that have ended were making.
  PaneTrials();

  /// The window ended while a pane of this file was made, and the file is the same since.
  [[nodiscard]] bool hasFailed(const QString& path) const;
  /// Around the making of a pane.
  void begin(const QString& path);
  void end();

  /// All are tried again, when the next window is opened.
  static void forget();
};

}  // namespace pf::gui
