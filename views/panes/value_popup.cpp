// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/panes/value_popup.h"

#include <algorithm>

#include <QAction>
#include <QApplication>
#include <QCursor>
#include <QHBoxLayout>
#include <QLabel>
#include <QScreen>
#include <QToolButton>
#include <QToolTip>
#include <QVBoxLayout>

#include "views/values/text.h"

namespace pf::views {

namespace {

constexpr int kWayMs = 500;  ///< from the word to the popup
constexpr int kNear = 40;    ///< pixels: over the word still
constexpr int kBelow = 16;   ///< the mouse, as Qt's tips are

}  // namespace

ValuePopup::ValuePopup(QWidget* parent)
    : QFrame(parent, Qt::ToolTip | Qt::BypassGraphicsProxyWidget),
      m_value(new QLabel),
      m_buttons(new QWidget),
      m_row(new QHBoxLayout(m_buttons)) {
  setObjectName(u"valuePopup"_s);
  setAttribute(Qt::WA_ShowWithoutActivating);
  setFrameShape(QFrame::Box);
  setPalette(QToolTip::palette());
  m_value->setTextFormat(Qt::PlainText);
  m_value->setForegroundRole(QPalette::ToolTipText);
  setBackgroundRole(QPalette::ToolTipBase);
  setAutoFillBackground(true);
  m_row->setContentsMargins(0, 0, 0, 0);
  m_row->setSpacing(2);
  auto* const whole = new QVBoxLayout(this);
  whole->setContentsMargins(4, 3, 4, 3);
  whole->setSpacing(2);
  whole->setSizeConstraint(QLayout::SetFixedSize);
  whole->addWidget(m_value);
  whole->addWidget(m_buttons);
  m_leave.setSingleShot(true);
  m_leave.setInterval(kWayMs);
  connect(&m_leave, &QTimer::timeout, this, &QWidget::hide);
}

void ValuePopup::showAt(const QPoint& globalPosition, const QString& text,
                        const QList<QAction*>& questions) {
  m_leave.stop();
  m_value->setText(visibleText(text));
  setQuestions(questions);
  adjustSize();
  const QScreen* const screen = QApplication::screenAt(globalPosition);
  const QRect room = screen != nullptr ? screen->availableGeometry() : QRect();
  QPoint at = globalPosition + QPoint(2, kBelow);
  if (!room.isEmpty()) {
    at.setX(std::max(room.left(), std::min(at.x(), room.right() - width())));
    at.setY(at.y() + height() > room.bottom() ? globalPosition.y() - kBelow / 2 - height()
                                              : at.y());
  }
  move(at);
  show();
  if (const QPoint away = QCursor::pos() - globalPosition; away.manhattanLength() > kNear) {
    m_leave.start();  // the mouse has left the word before its value came
  }
}

void ValuePopup::setQuestions(const QList<QAction*>& questions) {
  qDeleteAll(m_buttons->findChildren<QToolButton*>(Qt::FindDirectChildrenOnly));
  for (QAction* const question : questions) {
    auto* const button = new QToolButton;
    question->setParent(button);
    button->setDefaultAction(question);
    button->setAutoRaise(true);
    button->setFocusPolicy(Qt::NoFocus);
    connect(question, &QAction::triggered, this, &QWidget::hide);
    m_row->addWidget(button);
  }
  m_buttons->setVisible(!questions.isEmpty());
}

void ValuePopup::leaveSoon() {
  if (isVisible() && !underMouse()) {
    m_leave.start();
  }
}

QString ValuePopup::text() const {
  return m_value->text();
}

void ValuePopup::enterEvent(QEnterEvent* event) {
  m_leave.stop();
  QFrame::enterEvent(event);
}

void ValuePopup::leaveEvent(QEvent* event) {
  m_leave.start();
  QFrame::leaveEvent(event);
}

void ValuePopup::showEvent(QShowEvent* event) {
  QApplication::instance()->installEventFilter(this);
  QFrame::showEvent(event);
}

void ValuePopup::hideEvent(QHideEvent* event) {
  QApplication::instance()->removeEventFilter(this);
  QFrame::hideEvent(event);
}

/// It has no keyboard: what is pressed comes to others.
bool ValuePopup::eventFilter(QObject* watched, QEvent* event) {
  const auto* const widget = qobject_cast<const QWidget*>(watched);
  const bool here = widget != nullptr && (widget == this || isAncestorOf(widget));
  const QEvent::Type type = event->type();
  const bool elsewhere =
      widget != nullptr && !here && (type == QEvent::MouseButtonPress || type == QEvent::Wheel);
  if (elsewhere || type == QEvent::KeyPress || type == QEvent::ShortcutOverride ||
      type == QEvent::WindowDeactivate) {
    hide();
  }
  return QFrame::eventFilter(watched, event);
}

}  // namespace pf::views

#include "moc_value_popup.cpp"
