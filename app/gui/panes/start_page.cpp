// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/panes/start_page.h"

#include <QAction>
#include <QCommandLinkButton>
#include <QFileInfo>
#include <QHBoxLayout>
#include <QIcon>
#include <QLabel>
#include <QListWidget>
#include <QMenu>
#include <QSettings>
#include <QVBoxLayout>

#include "views/panes/action_tips.h"

namespace pf::gui {
namespace {

constexpr int kMostRecent = 12;
constexpr int kSpace = 48;  ///< around what there is, in pixels
const QString kRecentKey = QStringLiteral("recent/traces");

/// Traces and sessions that are still there.
QStringList recentPaths() {
  QStringList paths = QSettings().value(kRecentKey).toStringList();
  paths.removeIf([](const QString& path) { return !QFileInfo::exists(path); });
  return paths;
}

}  // namespace

StartPage::StartPage(QWidget* centre) : m_offers(new QWidget), m_recent(new QListWidget) {
  auto* welcome = new QWidget;
  auto* title = new QLabel(tr("Photofinish"));
  QFont big = title->font();
  big.setPointSizeF(big.pointSizeF() * 2.2);
  big.setBold(true);
  title->setFont(big);
  auto* offers = new QVBoxLayout(m_offers);
  offers->setContentsMargins(0, 0, 0, 0);
  auto* left = new QVBoxLayout;
  left->setSpacing(0);
  left->addWidget(m_offers);
  left->addStretch(1);
  auto* right = new QVBoxLayout;
  right->setSpacing(kSpace / 8);
  auto* heading = new QLabel(tr("Recent traces and sessions"));
  heading->setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
  right->addWidget(heading);
  m_recent->setAccessibleName(tr("Recent traces and sessions"));
  m_recent->setTextElideMode(Qt::ElideMiddle);
  m_recent->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  right->addWidget(m_recent, 1);
  auto* columns = new QHBoxLayout;
  columns->setSpacing(kSpace);
  columns->addLayout(left, 1);
  columns->addLayout(right, 1);
  auto* whole = new QVBoxLayout(welcome);
  whole->setContentsMargins(kSpace, kSpace, kSpace, kSpace);
  whole->setSpacing(kSpace / 4);
  whole->addWidget(title);
  whole->addWidget(
      new QLabel(tr("Records an MPI program, finds the races of its messages, and replays the run "
                    "that failed under GDB.")));
  whole->addSpacing(kSpace / 4);
  whole->addLayout(columns, 1);
  connect(m_recent, &QListWidget::itemActivated, this, [this](const QListWidgetItem* item) {
    Q_EMIT chosen(item->data(Qt::UserRole).toString());
  });
  addWidget(welcome);
  addWidget(centre);
  showPage(0);
  fill();
}

/// The other page takes no room.
void StartPage::showPage(int page) {
  for (int each = 0; each < count(); ++each) {
    const auto policy = each == page ? QSizePolicy::Preferred : QSizePolicy::Ignored;
    widget(each)->setSizePolicy(policy, policy);
  }
  setCurrentIndex(page);
}

void StartPage::offer(QAction* action, const QIcon& icon, const QString& name,
                      const QString& text) {
  const QString keys = action->shortcut().toString(QKeySequence::NativeText);
  auto* button =
      new QCommandLinkButton(keys.isEmpty() ? name : tr("%1 (%2)").arg(name, keys), text);
  button->setObjectName(QStringLiteral("start ") + action->objectName());
  button->setIcon(icon);
  const auto follow = [action, button, text] {
    const QString why = views::whyNot(*action);
    button->setEnabled(action->isEnabled());
    button->setDescription(why.isEmpty() ? text : why);
  };
  follow();
  // Both lines, with what is around them: else it hides what it is for.
  button->setMinimumHeight(2 * button->fontMetrics().height() + kSpace / 2);
  connect(action, &QAction::changed, button, follow);
  connect(button, &QAbstractButton::clicked, action, &QAction::trigger);
  m_offers->layout()->addWidget(button);
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
    item->setToolTip(path.toHtmlEscaped());
  }
  if (m_recent->count() == 0) {
    auto* none =
        new QListWidgetItem(tr("None yet: what you record or open will be here."), m_recent);
    none->setFlags(Qt::NoItemFlags);
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

#include "moc_start_page.cpp"
