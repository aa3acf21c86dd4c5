// SPDX-License-Identifier: GPL-3.0-or-later
// recording_window DIRECTORY follow|choices COMMAND: a window in which a person has chosen "Record a run", for tests that kill
// it. Its trace is DIRECTORY/PROGRAM-1.pft; `follow` shows it while it runs.
#include <cstdio>

#include <QApplication>
#include <QCheckBox>
#include <QDialog>
#include <QTimer>

#include "app/gui/tests/window_test.h"

int main(int argc, char** argv) {
  QApplication application(argc, argv);
  if (argc != 4) {
    std::fprintf(stderr, "usage: recording_window DIRECTORY follow|choices COMMAND\n");
    return 2;
  }
  const QString directory = QString::fromLocal8Bit(argv[1]);
  const bool follow = QByteArray(argv[2]) == "follow";
  pf::gui::test::setUp(directory + QStringLiteral("/settings"));
  QSettings().setValue(QStringLiteral("record/command"), QString::fromLocal8Bit(argv[3]));
  QSettings().setValue(QStringLiteral("record/directory"), directory);
  pf::gui::MainWindow window;
  window.show();
  QTimer::singleShot(0, &window, [follow] {
    auto* dialog = qobject_cast<QDialog*>(QApplication::activeModalWidget());
    dialog->findChild<QCheckBox*>(QStringLiteral("recordFollow"))->setChecked(follow);
    dialog->accept();
  });
  pf::gui::test::command(window, "Ctrl+R");
  return QApplication::exec();
}
