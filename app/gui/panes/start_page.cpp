// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/panes/start_page.h"

#include <QFileInfo>
#include <QLabel>
#include <QListWidget>
#include <QMenu>
#include <QSettings>
#include <QVBoxLayout>

namespace pf::gui {
namespace {

constexpr int kMostRecent = 12;
const QString kRecentKey = QStringLiteral("recent/traces");

/// Traces and sessions that are still there.
QStringList recentPaths() {
  QStringList paths = QSettings().value(kRecentKey).toStringList();
  paths.removeIf([](const QString& path) { return !QFileInfo::exists(path); });
  return paths;
}

}  // namespace

StartPage::StartPage(QWidget* centre) : m_recent(new QListWidget) {
  auto* welcome = new QWidget;
  auto* column = new QVBoxLayout(welcome);
  column->setContentsMargins(80, 60, 80, 60);
  column->setSpacing(12);
  auto* title = new QLabel(tr("Photofinish"));
  QFont big = title->font();
  big.setPointSizeF(big.pointSizeF() * 2.2);
  big.setBold(true);
  title->setFont(big);
  column->addWidget(title);
  column->addWidget(new QLabel(
      tr("Record an MPI run (Ctrl+R) or open a trace (Ctrl+O). Recent traces and sessions:")));
  m_recent->setAccessibleName(tr("Recent traces and sessions"));
  column->addWidget(m_recent, 1);
  connect(m_recent, &QListWidget::itemActivated, this, [this](const QListWidgetItem* item) {
    Q_EMIT chosen(item->data(Qt::UserRole).toString());
  });
  addWidget(welcome);
  addWidget(centre);
  fill();
}

void StartPage::remember(const QString& path) {
  QSettings settings;
  QStringList recent = settings.value(kRecentKey).toStringList();
  recent.removeAll(path);
  recent.prepend(path);
  while (recent.size() > kMostRecent) {
    recent.removeLast();
  }
  settings.setValue(kRecentKey, recent);
  fill();
}

void StartPage::fill() {
  m_recent->clear();
  for (const QString& path : recentPaths()) {
    auto* item = new QListWidgetItem(
        tr("%1   —   %2").arg(QFileInfo(path).fileName(), QFileInfo(path).absolutePath()),
        m_recent);
    item->setData(Qt::UserRole, path);
  }
}

QMenu* StartPage::makeRecentMenu(QWidget& window) {
  auto* menu = new QMenu(tr("Open &recent"), &window);
  connect(menu, &QMenu::aboutToShow, this, [this, menu] {
    menu->clear();
    for (const QString& path : recentPaths()) {
      menu->addAction(QFileInfo(path).fileName(), this, [this, path] { Q_EMIT chosen(path); })
          ->setStatusTip(path);
    }
    menu->setToolTipsVisible(true);
    if (menu->isEmpty()) {
      menu->addAction(tr("None yet"))->setEnabled(false);
    }
  });
  return menu;
}

}  // namespace pf::gui
