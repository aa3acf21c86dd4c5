// SPDX-License-Identifier: GPL-3.0-or-later
// "Follow the recording": which one, and what the status bar says of it.
#pragma once

#include <functional>

#include <QObject>

#include "app/gui/recording/recording_follower.h"

class QAction;
class QLabel;

namespace pf::gui {

class FollowAction : public QObject {
  Q_OBJECT
 public:
  explicit FollowAction(QWidget& window);

  [[nodiscard]] QAction* action() const { return m_action; }
  /// For the status bar.
  [[nodiscard]] QLabel* label() const { return m_label; }
  [[nodiscard]] RecordingFollower& follower() { return m_follower; }
  /// Gives the trace of the recording that this window has started; empty: none.
  void setOwn(std::function<QString()> own) { m_own = std::move(own); }
  /// The path of the trace that is shown.
  void setShown(std::function<QString()> shown) { m_shown = std::move(shown); }

  void follow(const QString& trace);
  void stop();

 Q_SIGNALS:
  void said(const QString& text, bool problem);

 private:
  void toggled(bool on);
  void askWhich();

  QWidget& m_window;
  RecordingFollower m_follower;
  QAction* m_action;
  QLabel* m_label;
  std::function<QString()> m_own = [] { return QString(); };
  std::function<QString()> m_shown = [] { return QString(); };
};

}  // namespace pf::gui
