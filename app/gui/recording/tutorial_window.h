// SPDX-License-Identifier: GPL-3.0-or-later
// The lessons of the tutorial, to be read beside the window: each with its text, its answer, and a button that writes its
// program, compiles it and records it.
#pragma once

#include <vector>

#include <QDialog>
#include <QPointer>
#include <QProcess>

#include "app/gui/recording/record_dialog.h"
#include "app/tutorial/lessons.h"

class QAction;
class QLabel;
class QListWidget;
class QPushButton;
class QTextBrowser;

namespace pf::gui {

class RecordingDesk;

class TutorialWindow : public QDialog {
  Q_OBJECT
 public:
  /// `directory`: where the lessons' files go, each into one of its own.
  TutorialWindow(std::vector<app::Lesson> lessons, QString directory);
  ~TutorialWindow() override;
  Q_DISABLE_COPY_MOVE(TutorialWindow)

 Q_SIGNALS:
  /// The program of a lesson is there.
  void recordingWanted(const pf::gui::RecordRequest& request);

 private:
  [[nodiscard]] const app::Lesson& lesson() const;
  [[nodiscard]] QString target() const;
  void showLesson();
  void showAnswer();
  void begin();
  void build(const app::LessonStart& start);
  void tell(const QString& text);

  const std::vector<app::Lesson> m_lessons;
  const QString m_directory;
  QListWidget* m_list;
  QTextBrowser* m_text;
  QLabel* m_note;
  QPushButton* m_begin;
  QPushButton* m_answer;
  QPointer<QProcess> m_compiler;
};

/// "Tutorial": opens it.
[[nodiscard]] QAction* makeTutorial(QWidget& window, RecordingDesk& desk);

}  // namespace pf::gui
