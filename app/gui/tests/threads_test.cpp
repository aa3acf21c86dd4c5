// SPDX-License-Identifier: GPL-3.0-or-later
// Threads of a rank in the real window, under each MPI library that is there: which one a step moves, what the others do
// meanwhile, and the stacks of ranks without a debugger.
#include <QAction>
#include <QDockWidget>
#include <QFile>
#include <QStandardPaths>
#include <QTemporaryDir>

#include "app/gui/main_window.h"
#include "app/gui/panes/inspection_panes.h"
#include "app/gui/tests/window_test.h"
#include "views/models/rank_models.h"
#include "views/panes/debug_views.h"
#include "views/panes/rows_view.h"

namespace {

namespace test = pf::gui::test;
using pf::session::DebugSession;
using pf::session::Look;
using pf::values::RankAction;
constexpr int kPatience = 20000;  // ms

class ThreadsTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase();
  void steps_data();
  void steps();
  void cleanup();

 private:
  DebugSession& session() { return m_window->session(); }
  [[nodiscard]] bool record(const QStringList& launch, const QString& program);
  [[nodiscard]] int stoppedThread();
  [[nodiscard]] bool stepped(RankAction action);
  [[nodiscard]] int otherSender();
  [[nodiscard]] pf::values::RankStack stackOf(int rank);

  QTemporaryDir m_directory;
  QString m_trace;
  std::unique_ptr<pf::gui::MainWindow> m_window;
};

void ThreadsTest::initTestCase() {
  test::setUp(m_directory.path());
  m_trace = m_directory.filePath(QStringLiteral("t.pft"));
}

void ThreadsTest::steps_data() {
  QTest::addColumn<QStringList>("launch");
  QTest::addColumn<QString>("program");
  QTest::newRow("Open MPI") << QStringList{QStringLiteral("mpirun"),
                                           QStringLiteral("--oversubscribe")}
                            << test::bin("corpus/two_threads");
  QTest::newRow("MPICH") << QStringList{QStringLiteral("mpiexec.mpich")}
                         << test::bin("corpus_mpich/two_threads");
}

bool ThreadsTest::record(const QStringList& launch, const QString& program) {
  QFile::remove(m_trace);
  QProcess process;
  process.start(test::bin("photofinish"),
                QStringList{QStringLiteral("record"), QStringLiteral("-o"), m_trace} + launch +
                    QStringList{QStringLiteral("-n"), QStringLiteral("2"), program,
                                QStringLiteral("semaphore")});
  return process.waitForFinished(kPatience) && process.exitCode() == 0;
}

int ThreadsTest::stoppedThread() {
  pf::mi::GdbSession* gdb = session().debugger(1);
  return gdb != nullptr && gdb->state() == pf::mi::SessionState::Stopped ? gdb->stop().thread : 0;
}

/// Steps rank 1 and waits until it has stopped.
bool ThreadsTest::stepped(RankAction action) {
  QSignalSpy stops(&session(), &DebugSession::rankStopped);
  session().act(action, {1});
  return QTest::qWaitFor([&] { return !stops.isEmpty() && stoppedThread() > 0; }, kPatience);
}

/// GDB's number of the sending thread that has not stopped at the breakpoint; 0: there is none yet. On a busy machine
/// the stop finds that thread anywhere behind its own send: it gets time to come to where it waits.
int ThreadsTest::otherSender() {
  QSignalSpy answers(&session(), &DebugSession::consoleText);
  session().consoles().send(1, QStringLiteral("call (int)usleep(300000)"));
  if (!QTest::qWaitFor([&] { return !answers.isEmpty(); }, kPatience)) {
    return 0;
  }
  auto& panes = m_window->looking();
  panes.rowsDock(Look::Threads)->show();
  panes.rowsDock(Look::Threads)->raise();
  int found = 0;
  (void)QTest::qWaitFor(
      [&] {
        for (const QStringList& row : panes.rows(Look::Threads).model()->rows()) {
          // MPI's threads wait in poll() and epoll_wait().
          if (row[0].toInt() != stoppedThread() && row[0].toInt() > 1 &&
              row.last().startsWith(
                  QLatin1String("syscall"))) {  // the interposer waits for its turn
            found = row[0].toInt();
          }
        }
        return found != 0;
      },
      5000);
  return found;
}

pf::values::RankStack ThreadsTest::stackOf(int rank) {
  QSignalSpy arrived(&session().stacks(), &pf::session::AllStacks::arrived);
  session().stacks().ask();
  if (arrived.isEmpty() && !arrived.wait(kPatience)) {
    return {};
  }
  const auto all = arrived.last()[0].value<QList<pf::values::RankStack>>();
  return all.size() > rank ? all[rank] : pf::values::RankStack{};
}

void ThreadsTest::steps() {
  QFETCH(QStringList, launch);
  QFETCH(QString, program);
  if (QStandardPaths::findExecutable(launch.first()).isEmpty() || !QFile::exists(program)) {
    QSKIP("this MPI is not here");
  }
  QVERIFY(record(launch, program));
  QString problem;
  m_window = test::open(m_trace, &problem);
  QVERIFY2(m_window != nullptr, qPrintable(problem));
  // The third send: both threads are there, and the other one waits for its turn.
  pf::values::Breakpoint breakpoint;
  breakpoint.function = QStringLiteral("send_one");
  breakpoint.ignoreCount = 2;
  session().breakpoints().add(breakpoint);
  session().debuggers().setFocus({1});
  session().restartCycle();
  QTRY_VERIFY_WITH_TIMEOUT(stoppedThread() > 1, kPatience);
  session().breakpoints().remove({session().breakpoints().all().first().id});
  session().setCurrentRank(1);
  QTRY_VERIFY_WITH_TIMEOUT(!m_window->stack().model()->frames().isEmpty(), kPatience);
  QCOMPARE(m_window->stack().model()->frames().first().function, QStringLiteral("send_one"));

  // Rank 0 has no debugger: its agent tells.
  const pf::values::RankStack rank0 = stackOf(0);
  QVERIFY2(rank0.frames.size() >= 2 && !rank0.debugger, qPrintable(rank0.note));
  QCOMPARE(rank0.frames.first().function, QStringLiteral("MPI_Recv"));
  QCOMPARE(rank0.frames.last().function, QStringLiteral("main"));

  // Alone, over lines and the send itself.
  const int first = stoppedThread();
  const int second = otherSender();
  QVERIFY(second > 1);
  auto* alone = m_window->findChild<QAction*>(QStringLiteral("stepOneThread"));
  QVERIFY(alone != nullptr && alone->isCheckable());
  alone->setChecked(true);
  for (int i = 0; i < 3; ++i) {
    QVERIFY(stepped(RankAction::Next));
    QCOMPARE(stoppedThread(), first);
  }

  // The chosen thread, not the one that has stopped: out of the semaphore (for that the others go on), and on.
  session().inspector().selectThread(second);
  const auto function = [this] {
    for (const pf::values::StackFrame& frame : m_window->stack().model()->frames()) {
      if (frame.level == session().inspector().frame()) {
        return frame.function;
      }
    }
    return QString();
  };
  QTRY_COMPARE_WITH_TIMEOUT(function(), QStringLiteral("send_all"), kPatience);
  QVERIFY(stepped(RankAction::Next));
  QCOMPARE(stoppedThread(), second);
  QTRY_COMPARE_WITH_TIMEOUT(function(), QStringLiteral("send_all"), kPatience);
  QVERIFY(stepped(RankAction::Next));  // over what it sends
  QTRY_COMPARE_WITH_TIMEOUT(function(), QStringLiteral("send_all"), kPatience);
  // A step does not go into our wrapper of sem_post().
  alone->setChecked(false);
  QVERIFY(stepped(RankAction::Step));
  QCOMPARE(stoppedThread(), second);
  QTRY_COMPARE_WITH_TIMEOUT(function(), QStringLiteral("send_all"), kPatience);
}

void ThreadsTest::cleanup() {
  if (m_window != nullptr) {
    session().endReplay();
    QTRY_VERIFY_WITH_TIMEOUT(!session().isReplaying(), kPatience);
  }
  m_window.reset();
}

}  // namespace

QTEST_MAIN(ThreadsTest)
#include "threads_test.moc"
