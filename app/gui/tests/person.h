// SPDX-License-Identifier: GPL-3.0-or-later
// A person who looks for a bug in the real window on an X server, with mouse and keys. Pictures go to $PF_SCREENSHOTS
// (default: screenshots/ beside the programs). What is done from the terminal to the cause is counted.
#pragma once

#include <functional>

#include <QAbstractProxyModel>
#include <QDir>
#include <QMenu>
#include <QScreen>
#include <QStatusBar>
#include <QTableView>
#include <QTemporaryDir>
#include <QTreeView>

#include "app/gui/tests/hand.h"
#include "app/gui/tests/window_test.h"
#include "views/diagram/space_time_view.h"
#include "views/models/rank_models.h"
#include "views/models/variables_model.h"
#include "views/panes/debug_views.h"
#include "views/panes/race_list_view.h"
#include "views/panes/source_view.h"
#include "views/trace/analyses/trace_text.h"

namespace pf::gui::test {

/// The line that the frame stands in.
inline QString lineText(const values::StackFrame& frame) {
  QFile file(frame.file);
  QString text;
  if (!frame.file.isEmpty() && file.open(QIODevice::ReadOnly)) {
    for (int line = 0; line < frame.line; ++line) {
      text = QString::fromUtf8(file.readLine());
    }
  }
  return text;
}

class Person : public QObject {
 protected:
  void prepare() {
    setUp(m_directory.path());
    m_pictures = QDir(qEnvironmentVariable("PF_SCREENSHOTS", bin("screenshots")));
    QVERIFY(m_pictures.mkpath(QStringLiteral(".")));
    QCOMPARE(QGuiApplication::platformName(), QStringLiteral("xcb"));
  }

  [[nodiscard]] session::DebugSession& session() { return m_window->session(); }

  /// Records until a run fails as `fails` says, and opens it as NAME.pft.
  [[nodiscard]] bool open(const QString& name, const QStringList& options, int ranks,
                          const QStringList& words,
                          const std::function<bool(const Recorded&)>& fails) {
    m_window.reset();
    const QString trace = m_directory.filePath(name + QStringLiteral(".pft"));
    for (int attempt = 1; attempt <= 60; ++attempt) {
      QStringList all = options;
      if (attempt > 3) {
        all << QStringLiteral("--jitter") << QString::number(attempt);
      }
      const Recorded run = record(trace, all, ranks, words);
      if (fails(run) && QFile::exists(trace)) {
        QString problem;
        m_window = test::open(trace, &problem);
        if (m_window == nullptr) {
          qWarning("%s", qPrintable(problem));
          return false;
        }
        m_window->move(0, 0);
        QTest::qWait(500);
        Hand::giveKeyboard(m_window.get(), m_window->statusBar());
        m_begun = Hand::actions();
        return true;
      }
    }
    return false;
  }

  /// The cause is in sight: after at most `actions`, the command that opened the window among them.
  void found(int actions) {
    const int taken = 1 + Hand::actions() - m_begun;
    qInfo("%d actions from the terminal to the cause", taken);
    QVERIFY2(taken <= actions && actions <= kMostActions,
             qPrintable(QStringLiteral("%1 actions, not %2").arg(taken).arg(actions)));
  }

  void look(const char* name) {
    QTest::qWait(700);
    const QString file = m_pictures.filePath(QStringLiteral("%1-%2.png")
                                                 .arg(++m_number, 2, 10, QLatin1Char('0'))
                                                 .arg(QString::fromLatin1(name)));
    QVERIFY(
        m_window->screen()->grabWindow(0, 0, 0, m_window->width(), m_window->height()).save(file));
  }

  [[nodiscard]] bool settles(const std::function<void()>& act) {
    QSignalSpy settled(&session(), &session::DebugSession::settled);
    act();
    return !settled.isEmpty() || settled.wait(kPatience);
  }

  /// Presses a key and waits until the ranks have come to rest.
  void go(const char* key) {
    QVERIFY2(settles([key] { Hand::press(key); }), qPrintable(m_window->statusText()));
    QTRY_VERIFY_WITH_TIMEOUT(!m_window->stack().model()->frames().isEmpty(), kPatience);
  }

  [[nodiscard]] QModelIndex variable(const QString& name, const QModelIndex& parent = {}) {
    auto* model = m_window->variables().model();
    for (int row = 0; row < model->rowCount(parent); ++row) {
      const QModelIndex index = model->index(row, views::VariablesModel::NameColumn, parent);
      if (index.data().toString() == name) {
        return index;
      }
    }
    return {};
  }

  [[nodiscard]] QString valueOf(const QString& name, const QString& member = {}) {
    QModelIndex index = variable(name);
    if (!member.isEmpty()) {
      index = index.isValid() ? variable(member, index) : index;
    }
    return index.isValid()
               ? index.siblingAtColumn(views::VariablesModel::ValueColumn).data().toString()
               : QString();
  }

  /// Opens the variable, by a click and a key.
  void openVariable(const char* name) {
    const QString text = QString::fromLatin1(name);
    QTRY_VERIFY_WITH_TIMEOUT(variable(text).isValid(), kPatience);
    QTest::qWait(300);
    QVERIFY(Hand::clickRow(m_window->variables().tree(), variable(text)));
    Hand::press("Right");
  }

  /// Of the program's innermost frame.
  [[nodiscard]] QString here() {
    for (const values::StackFrame& frame : m_window->stack().model()->frames()) {
      if (!frame.function.startsWith(QLatin1String("MPI_")) && !frame.file.isEmpty()) {
        return frame.function;
      }
    }
    return {};
  }

  [[nodiscard]] QModelIndex raceRow(const std::function<bool(const Race&)>& wanted) {
    const QTableView* table = m_window->races().table();
    const auto* proxy = qobject_cast<const QAbstractProxyModel*>(table->model());
    const auto& races = session().trace()->races;
    for (int row = 0; row < proxy->rowCount(); ++row) {
      const QModelIndex index = proxy->index(row, 0);
      if (wanted(races[static_cast<std::size_t>(proxy->mapToSource(index).row())])) {
        return index;
      }
    }
    return {};
  }

  static constexpr int kMostActions = 12;
  QTemporaryDir m_directory;
  QDir m_pictures;
  int m_number = 0;
  int m_begun = 0;
  std::unique_ptr<MainWindow> m_window;
};

}  // namespace pf::gui::test
