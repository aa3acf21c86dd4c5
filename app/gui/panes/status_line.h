// SPDX-License-Identifier: GPL-3.0-or-later
// The status bar: the last message, what is going on, what the ranks come from.
#pragma once

#include <QObject>

class QLabel;
class QMainWindow;

namespace pf::session {
class DebugSession;
}
namespace pf::views {
class ProgressStrip;
}

namespace pf::gui {

class StatusLine : public QObject {
  Q_OBJECT
 public:
  explicit StatusLine(QMainWindow& window);

  void say(const QString& text, bool problem);
  [[nodiscard]] QString text() const;
  [[nodiscard]] views::ProgressStrip& progress() { return *m_progress; }
  /// Of a recording, which goes on beside all else.
  [[nodiscard]] views::ProgressStrip& recording() { return *m_recording; }
  /// "replay, cycle 2", "core files" …
  void showMode(session::DebugSession& session);

 private:
  QMainWindow& m_window;
  QLabel* m_text;
  QLabel* m_mode;
  views::ProgressStrip* m_progress;
  views::ProgressStrip* m_recording;
};

}  // namespace pf::gui
