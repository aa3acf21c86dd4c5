// SPDX-License-Identifier: GPL-3.0-or-later
// A value under the mouse, and what can be asked of it: a tip with buttons. It goes as soon as the mouse is neither at the word nor
// over it, and with any key or click elsewhere.
#pragma once

#include <QFrame>
#include <QList>
#include <QTimer>

class QAction;
class QHBoxLayout;
class QLabel;

namespace pf::views {

class ValuePopup : public QFrame {
  Q_OBJECT
 public:
  explicit ValuePopup(QWidget* parent);

  /// Takes the questions; a button has the action's icon text.
  void showAt(const QPoint& globalPosition, const QString& text, const QList<QAction*>& questions);
  /// The mouse has left the word, on its way to here or elsewhere.
  void leaveSoon();
  [[nodiscard]] QString text() const;

 protected:
  void enterEvent(QEnterEvent* event) override;
  void leaveEvent(QEvent* event) override;
  void showEvent(QShowEvent* event) override;
  void hideEvent(QHideEvent* event) override;
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  void setQuestions(const QList<QAction*>& questions);

  QLabel* m_value;
  QWidget* m_buttons;
  QHBoxLayout* m_row;
  QTimer m_leave;
};

}  // namespace pf::views
