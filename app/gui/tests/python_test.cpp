// SPDX-License-Identifier: GPL-3.0-or-later
// A program of mpi4py in the real window: its stack, source, variables and globals are Python's.
#include <algorithm>

#include <QAction>
#include <QLineEdit>
#include <QTemporaryDir>
#include <QTreeView>

#include "app/gui/main_window.h"
#include "app/gui/panes/inspection_panes.h"
#include "app/gui/tests/window_test.h"
#include "views/models/rank_models.h"
#include "views/models/variables_model.h"
#include "views/panes/action_tips.h"
#include "views/panes/array_view.h"
#include "views/panes/debug_views.h"
#include "views/panes/source_view.h"

namespace {

namespace test = pf::gui::test;

class PythonTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase();
  void stackSourceAndVariables();
  void whatPythonHasNot();
  void anotherFrame();
  void globals();
  void aBreakpointAndTheNextLine();
  void cleanupTestCase() { m_window.reset(); }

 private:
  [[nodiscard]] QStringList functions() const;
  [[nodiscard]] QString valueOf(const QString& path) const;
  [[nodiscard]] int levelOf(const QString& function) const;

  QTemporaryDir m_directory;
  std::unique_ptr<pf::gui::MainWindow> m_window;
};

void PythonTest::initTestCase() {
  test::setUp(m_directory.path());
  if (!QFile::exists(QStringLiteral("/usr/lib/python3/dist-packages/mpi4py"))) {
    QSKIP("no mpi4py");
  }
  const QString trace = m_directory.filePath(QStringLiteral("t.pft"));
  QProcess process;
  process.start(test::bin("photofinish"),
                {QStringLiteral("record"), QStringLiteral("-o"), trace, QStringLiteral("mpirun"),
                 QStringLiteral("--oversubscribe"), QStringLiteral("-n"), QStringLiteral("2"),
                 QStringLiteral("/usr/bin/python3"), QStringLiteral(PF_PYTHON_PROGRAM)});
  QVERIFY(process.waitForFinished(test::kPatience));
  QCOMPARE(process.exitCode(), 0);
  QString problem;
  m_window = test::open(trace, &problem);
  QVERIFY2(m_window != nullptr, qPrintable(problem));
  m_window->session().replayTo({0, 4});
}

QStringList PythonTest::functions() const {
  QStringList out;
  for (const pf::values::StackFrame& frame : m_window->stack().model()->frames()) {
    out << frame.function;
  }
  return out;
}

int PythonTest::levelOf(const QString& function) const {
  for (const pf::values::StackFrame& frame : m_window->stack().model()->frames()) {
    if (frame.function == function) {
      return frame.level;
    }
  }
  return -1;
}

QString PythonTest::valueOf(const QString& path) const {
  const auto* model = m_window->variables().model();
  const pf::values::Variable* variable = model->variable(model->indexOf(path));
  return variable != nullptr ? variable->value : QString();
}

void PythonTest::stackSourceAndVariables() {
  QTRY_VERIFY_WITH_TIMEOUT(functions().contains(QStringLiteral("Scale.weigh")), test::kPatience);
  const QStringList shown = functions();
  QCOMPARE(shown.first(), QStringLiteral("MPI_Barrier"));
  QVERIFY(!shown.join(QLatin1Char(' ')).contains(QLatin1String("_PyEval")));
  QCOMPARE(shown.mid(shown.indexOf(QStringLiteral("Scale.weigh")), 3),
           (QStringList{QStringLiteral("Scale.weigh"), QStringLiteral("main"),
                        QStringLiteral("<module>")}));
  QTRY_COMPARE_WITH_TIMEOUT(m_window->source().currentFile(), QStringLiteral(PF_PYTHON_PROGRAM),
                            test::kPatience);
  QFile source(QStringLiteral(PF_PYTHON_PROGRAM));
  QVERIFY(source.open(QIODevice::ReadOnly));
  const QList<QByteArray> lines = source.readAll().split('\n');
  QVERIFY(lines[m_window->source().currentLine() - 1].contains("here(weight="));
  QTRY_COMPARE_WITH_TIMEOUT(valueOf(QStringLiteral("v/weight")), QStringLiteral("2.5"),
                            test::kPatience);
  QCOMPARE(valueOf(QStringLiteral("v/grams")), QStringLiteral("25"));
}

/// Lines are not gone back by, and arrays not read: that is said before it is tried.
void PythonTest::whatPythonHasNot() {
  for (const char* const name : {"reverseNext", "reverseStep", "reverseFinish"}) {
    const auto* const action = m_window->findChild<QAction*>(QLatin1String(name));
    QTRY_VERIFY2(!action->isEnabled(), name);
    QVERIFY2(pf::views::whyNot(*action).startsWith(QLatin1String("Lines of Python")), name);
  }
  const auto hasArray = [this] {
    const QList<QAction*> menu = m_window->variables().tree()->actions();
    const auto item = std::ranges::find(menu, QStringLiteral("it as an array"), &QAction::text);
    auto* const input = m_window->looking().array().findChild<QLineEdit*>();
    return std::pair((*item)->isEnabled(), input->isEnabled());
  };
  QCOMPARE(hasArray(), std::pair(false, false));
  const auto* const input = m_window->looking().array().findChild<QLineEdit*>();
  QVERIFY(input->toolTip().contains(QLatin1String("one of Python")));
  // MPI's, in C
  m_window->session().inspector().selectFrame(levelOf(QStringLiteral("MPI_Barrier")));
  QTRY_COMPARE_WITH_TIMEOUT(hasArray(), std::pair(true, true), test::kPatience);
  m_window->session().inspector().selectFrame(levelOf(QStringLiteral("Scale.weigh")));
  QTRY_COMPARE_WITH_TIMEOUT(hasArray(), std::pair(false, false), test::kPatience);
}

void PythonTest::anotherFrame() {
  const int level = levelOf(QStringLiteral("main"));
  QVERIFY(level > 0);
  m_window->session().inspector().selectFrame(level);
  QTRY_COMPARE_WITH_TIMEOUT(valueOf(QStringLiteral("v/found")), QStringLiteral("{'rank': 0}"),
                            test::kPatience);
  QCOMPARE(valueOf(QStringLiteral("v/total")), QStringLiteral("None"));
}

void PythonTest::globals() {
  const auto* model = m_window->variables().model();
  QString path;
  for (int row = 0; row < model->rowCount(); ++row) {
    const pf::values::Variable* variable = model->variable(model->index(row, 0));
    path = variable->name.startsWith(QLatin1String("globals of")) ? variable->path : path;
  }
  QVERIFY(!path.isEmpty());
  m_window->session().inspector().expand(path, 0, {});
  QTRY_COMPARE_WITH_TIMEOUT(valueOf(path + QStringLiteral("/UNIT")), QStringLiteral("'kg'"),
                            test::kPatience);
}

/// In the gutter, in the next cycle; then F10, by lines of Python.
void PythonTest::aBreakpointAndTheNextLine() {
  QFile source(QStringLiteral(PF_PYTHON_PROGRAM));
  QVERIFY(source.open(QIODevice::ReadOnly));
  const QList<QByteArray> lines = source.readAll().split('\n');
  int line = 0;
  while (!lines[line++].contains("scale.weigh(25)")) {
  }
  pf::session::DebugSession& session = m_window->session();
  session.breakpoints().toggle(QStringLiteral(PF_PYTHON_PROGRAM), line);
  session.restartCycle();
  const auto standsAt = [&session](int wanted) {
    return session.rankStates()[0].where.endsWith(
        QStringLiteral("main() at python_frames.py:%1").arg(wanted));
  };
  QTRY_VERIFY2_WITH_TIMEOUT(standsAt(line), qPrintable(session.rankStates()[0].where),
                            test::kPatience);
  QTRY_COMPARE_WITH_TIMEOUT(m_window->source().currentLine(), line, test::kPatience);
  QCOMPARE(functions().first(), QStringLiteral("main"));
  session.act(pf::values::RankAction::Next, {0});
  QTRY_VERIFY2_WITH_TIMEOUT(standsAt(line + 1), qPrintable(session.rankStates()[0].where),
                            test::kPatience);
  QTRY_COMPARE_WITH_TIMEOUT(m_window->source().currentLine(), line + 1, test::kPatience);
  if (const QString shots = qEnvironmentVariable("PF_SHOTS"); !shots.isEmpty()) {
    QTest::qWait(500);
    m_window->grab().save(shots + QStringLiteral("/python_lines.png"));
  }
}

}  // namespace

QTEST_MAIN(PythonTest)
#include "python_test.moc"
