// SPDX-License-Identifier: GPL-3.0-or-later
// The centre of the window: what to begin with, until something is open; then diagram and source.
#pragma once

#include <QStackedWidget>

class QAction;
class QIcon;
class QCommandLinkButton;
class QListWidget;
class QMenu;

namespace pf::gui {

class StartPage : public QStackedWidget {
  Q_OBJECT
 public:
  /// `centre`: what is shown once something is open.
  explicit StartPage(QWidget* centre);

  /// One way to begin: a button for an action of the menus, and what it is for.
  void offer(QAction* action, const QIcon& icon, const QString& name, const QString& text);
  void showCentre() { showPage(1); }
  void showRecent() { showPage(0); }
  [[nodiscard]] bool isShown() const { return currentIndex() == 0; }
  /// A trace or a session that is used now.
  void remember(const QString& path);
  /// "Open recent".
  [[nodiscard]] QMenu* makeRecentMenu(QWidget& window);

 Q_SIGNALS:
  void chosen(const QString& path);

 private:
  void fill();
  void showPage(int page);

  QWidget* m_offers;
  QListWidget* m_recent;
};

}  // namespace pf::gui
