// SPDX-License-Identifier: GPL-3.0-or-later
// What the tests of the window with real jobs have in common: settings of their own, recordings.
#pragma once

#include <QAction>
#include <QCoreApplication>
#include <QProcess>
#include <QSettings>
#include <QSignalSpy>
#include <QTest>

#include "app/gui/main_window.h"
#include "app/job/job.h"

namespace pf::gui::test {

inline constexpr int kPatience = 60000;  ///< ms

/// Settings below `directory`, and an mpirun that works for root.
inline void setUp(const QString& directory) {
  QCoreApplication::setOrganizationName(QStringLiteral("photofinish-test"));
  QSettings::setDefaultFormat(QSettings::IniFormat);
  QSettings::setPath(QSettings::IniFormat, QSettings::UserScope, directory);
  qputenv("OMPI_ALLOW_RUN_AS_ROOT", "1");
  qputenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
}

/// Where the programs under test are.
inline QString bin(const char* name) {
  return QString::fromStdString(app::programDirectory()) + QLatin1Char('/') +
         QString::fromLatin1(name);
}

struct Recorded {
  int status = -1;
  QByteArray output;  ///< both streams of the recorder and of the program
};

/// `photofinish record -o TRACE OPTIONS mpirun -n RANKS WORDS`, over an older trace of the name.
inline Recorded record(const QString& trace, const QStringList& options, int ranks,
                       const QStringList& words) {
  QFile::remove(trace);
  QProcess process;
  process.setProcessChannelMode(QProcess::MergedChannels);
  process.start(bin("photofinish"),
                QStringList{QStringLiteral("record"), QStringLiteral("--end-stuck"),
                            QStringLiteral("-o"), trace} +
                    options +
                    QStringList{QStringLiteral("mpirun"), QStringLiteral("--oversubscribe"),
                                QStringLiteral("-n"), QString::number(ranks)} +
                    words);
  if (!process.waitForFinished(kPatience)) {
    return {};
  }
  return {process.exitCode(), process.readAll()};
}
inline Recorded record(const QString& trace, const QStringList& options, int ranks,
                       const QString& program) {
  return record(trace, options, ranks, QStringList{program});
}

/// An item of the widget's menu.
inline void trigger(const QWidget& widget, const QString& text) {
  for (QAction* each : widget.actions()) {
    if (each->text() == text) {
      each->trigger();
    }
  }
}

/// The command of these keys, and none behind it: what it does may end some of the others.
inline void command(const QWidget& window, const char* keys) {
  for (QAction* each : window.findChildren<QAction*>()) {
    if (each->shortcut() == QKeySequence(QString::fromLatin1(keys))) {
      each->trigger();
      return;
    }
  }
}

/// A window that shows the trace; null with `problem` set if it does not open.
inline std::unique_ptr<MainWindow> open(const QString& trace, QString* problem) {
  auto window = std::make_unique<MainWindow>();
  window->show();
  QSignalSpy opened(window.get(), &MainWindow::opened);
  window->openTrace(trace);
  if (!opened.wait(kPatience) || !opened.first().first().toBool()) {
    *problem = window->statusText();
    return nullptr;
  }
  return window;
}

}  // namespace pf::gui::test
