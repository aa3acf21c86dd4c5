// SPDX-License-Identifier: GPL-3.0-or-later
// The centre of the window: what was opened last, until something is; then diagram and source.
#pragma once

#include <QStackedWidget>

class QListWidget;
class QMenu;

namespace pf::gui {

class StartPage : public QStackedWidget {
  Q_OBJECT
 public:
  /// `centre`: what is shown once something is open.
  explicit StartPage(QWidget* centre);

  void showCentre() { setCurrentIndex(1); }
  void showRecent() { setCurrentIndex(0); }
  /// A trace or a session that is used now.
  void remember(const QString& path);
  /// "Open recent".
  [[nodiscard]] QMenu* makeRecentMenu(QWidget& window);

 Q_SIGNALS:
  void chosen(const QString& path);

 private:
  void fill();

  QListWidget* m_recent;
};

}  // namespace pf::gui
