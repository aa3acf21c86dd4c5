// SPDX-License-Identifier: GPL-3.0-or-later
// Ranks that the window did not start: a running job, and the core files of its ranks.
#include <algorithm>
#include <fstream>
#include <sstream>

#include <QAction>
#include <QDir>
#include <QFile>
#include <QLabel>
#include <QListWidget>
#include <QTemporaryDir>

#include "app/gui/panes/inspection_panes.h"
#include "app/gui/tests/window_test.h"
#include "app/unrecorded_jobs/running_job.h"
#include "mi_bridge/transcript.h"
#include "views/diagram/space_time_view.h"
#include "views/models/rank_models.h"
#include "views/models/session_models.h"
#include "views/models/variables_model.h"
#include "views/panes/action_tips.h"
#include "views/panes/debug_views.h"
#include "views/panes/source_view.h"

namespace {

namespace test = pf::gui::test;
using pf::session::DebugSession;
using test::kPatience;

/// The process that traces this one, 0 = none; -1: it has ended.
int tracerOf(pid_t pid) {
  QFile status(QStringLiteral("/proc/%1/status").arg(pid));
  if (!status.open(QIODevice::ReadOnly)) {
    return -1;
  }
  for (const QByteArray& line : status.readAll().split('\n')) {
    if (line.startsWith("TracerPid:")) {
      return line.mid(10).trimmed().toInt();
    }
  }
  return -1;
}

class UnrecordedTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase();
  void jobsAreListed();
  void attachStopsNobody();
  void debuggerOfOneRank();
  void nothingIsReplayed();
  void lettingGo();
  void coresOfRanks();
  void notACore();
  void coresDuringAReplay();
  void cleanupTestCase();

 private:
  void startJob();
  void shot(const char* name);
  [[nodiscard]] QList<pf::values::RankStack> askStacks();
  [[nodiscard]] QString across(const QString& expression);
  DebugSession& session() { return m_window->session(); }
  QAction* wayOut() { return m_window->findChild<QAction*>(QStringLiteral("endReplay")); }

  QTemporaryDir m_directory;
  QProcess m_job;
  std::unique_ptr<pf::gui::MainWindow> m_window;
  pf::app::RunningJob m_found;
  QStringList m_cores;
};

void UnrecordedTest::shot(const char* name) {
  if (const QString directory = qEnvironmentVariable("PF_SHOTS"); !directory.isEmpty()) {
    QTest::qWait(300);
    m_window->grab().save(directory + QLatin1Char('/') + QLatin1String(name) +
                          QLatin1String(".png"));
  }
}

void UnrecordedTest::startJob() {
  m_job.setProcessChannelMode(QProcess::MergedChannels);
  m_job.start(
      QStringLiteral("mpirun"),
      {QStringLiteral("--oversubscribe"), QStringLiteral("-n"), QStringLiteral("3"),
       test::bin("e2e/desk"), QStringLiteral("run"), m_directory.filePath(QStringLiteral("stop"))});
  QVERIFY(m_job.waitForStarted());
  QTRY_VERIFY_WITH_TIMEOUT(
      [this] {
        const auto job = pf::app::runningJob(static_cast<pid_t>(m_job.processId()));
        if (job && job->ranks.size() == 3) {
          m_found = *job;
        }
        return m_found.ranks.size() == 3;
      }(),
      kPatience);
}

void UnrecordedTest::initTestCase() {
  test::setUp(m_directory.path());
  startJob();
  m_window = std::make_unique<pf::gui::MainWindow>();
  m_window->show();
  session().debuggers().setTranscripts(m_directory.path());
  // One of an earlier session, which is kept.
  QFile kept(m_directory.filePath(
      QStringLiteral("job-%1-cycle-1-rank-1.transcript").arg(m_found.launcher)));
  QVERIFY(kept.open(QIODevice::WriteOnly) && kept.write("kept") == 4);
}

void UnrecordedTest::cleanupTestCase() {
  m_window.reset();
  if (m_job.state() != QProcess::NotRunning) {
    m_job.terminate();
    QVERIFY(m_job.waitForFinished(kPatience));
  }
}

void UnrecordedTest::jobsAreListed() {
  for (std::size_t rank = 0; rank < 3; ++rank) {
    QCOMPARE(m_found.ranks[rank].rank, static_cast<int>(rank));
    QVERIFY(m_found.ranks[rank].program.find("desk") != std::string::npos);
    // A rank stands for its job.
    const auto job = pf::app::runningJob(m_found.ranks[rank].pid);
    QVERIFY(job.ok());
    QCOMPARE(job->launcher, static_cast<pid_t>(m_job.processId()));
  }
  bool listed = false;
  for (const pf::app::RunningJob& job : pf::app::runningJobs()) {
    listed = listed || job.launcher == m_found.launcher;
  }
  QVERIFY(listed);
  const auto none = pf::app::runningJob(static_cast<pid_t>(QCoreApplication::applicationPid()));
  QVERIFY(!none.ok());
  QVERIFY(none.error().message.find("neither a launcher") != std::string::npos);
  QVERIFY(!pf::app::runningJob(99999999).ok());
}

void UnrecordedTest::attachStopsNobody() {
  QSignalSpy opened(m_window.get(), &pf::gui::MainWindow::opened);
  m_window->attachTo(m_job.processId());
  QVERIFY(opened.wait(kPatience));
  QVERIFY(opened.first().first().toBool());
  QVERIFY2(m_window->statusText().contains(QLatin1String("nothing can be replayed")),
           qPrintable(m_window->statusText()));
  QCOMPARE(session().rankStates().size(), 3);
  // They are in MPI_Init first, then at work.
  const auto atWork = [this] {
    const QList<pf::values::RankStack> stacks = askStacks();
    return stacks.size() == 3 &&
           std::all_of(stacks.begin(), stacks.end(), [](const pf::values::RankStack& stack) {
             const qsizetype frames = stack.frames.size();
             return frames > 1 && stack.frames[frames - 1].function == QLatin1String("main") &&
                    stack.frames[frames - 2].function == QLatin1String("work");
           });
  };
  QTRY_VERIFY_WITH_TIMEOUT(atWork(), kPatience);
  for (const pf::app::RunningRank& rank : m_found.ranks) {
    QCOMPARE(tracerOf(rank.pid), 0);
  }
}

void UnrecordedTest::debuggerOfOneRank() {
  QSignalSpy stack(&session().inspector(), &pf::session::Inspector::stackChanged);
  session().debuggers().setFocus({1});
  QTRY_VERIFY_WITH_TIMEOUT(
      !stack.isEmpty() && !stack.last()[1].value<QList<pf::values::StackFrame>>().isEmpty(),
      kPatience);
  QCOMPARE(session().currentRank(), 1);
  QVERIFY(tracerOf(m_found.ranks[1].pid) > 0);
  QCOMPARE(tracerOf(m_found.ranks[0].pid), 0);
  QCOMPARE(tracerOf(m_found.ranks[2].pid), 0);
  QTRY_VERIFY_WITH_TIMEOUT(across(QStringLiteral("rank")).contains(QLatin1String("1(1)")),
                           kPatience);
  QVERIFY2(m_window->statusText().startsWith(QLatin1String("Rank 1 is stopped under a debugger")),
           qPrintable(m_window->statusText()));
  shot("attached");
  // A breakpoint, hit by the rank that goes on.
  session().control().runToLine(QStringLiteral("desk.c"), 53);
  QTRY_VERIFY_WITH_TIMEOUT(session().rankStates()[1].where.contains(QLatin1String("desk.c:53")),
                           kPatience);
  // Its core file, and that of rank 2.
  session().debuggers().setFocus({1, 2});
  QTRY_VERIFY_WITH_TIMEOUT(session().rankStates()[2].debugger, kPatience);
  for (const int rank : {1, 2}) {
    const QString core = m_directory.filePath(QStringLiteral("core.%1").arg(rank));
    QSignalSpy words(&session(), &DebugSession::consoleText);
    session().consoles().send(rank, QStringLiteral("generate-core-file ") + core);
    QTRY_VERIFY_WITH_TIMEOUT(
        [&] {
          for (const QList<QVariant>& each : words) {
            if (each[1].toString().contains(QLatin1String("Saved corefile"))) {
              return true;
            }
          }
          return false;
        }(),
        kPatience);
    m_cores << core;
  }
  QSignalSpy typed(&session(), &DebugSession::consoleText);
  session().consoles().send(1, QStringLiteral("kill"));
  QVERIFY(typed.last()[1].toString().contains(QLatin1String("not ended from here")));
}

void UnrecordedTest::nothingIsReplayed() {
  QSignalSpy said(&session(), &DebugSession::message);
  session().restartCycle();
  session().go(pf::session::Move::PreviousEvent);
  session().replayTo({1, 5});
  QCOMPARE(said.size(), 3);
  QVERIFY(said.first().first().toString().contains(QLatin1String("cannot be replayed")));
  QVERIFY(session().isRunning());
  QCOMPARE(wayOut()->text(), QStringLiteral("&Detach"));
  QVERIFY(wayOut()->isEnabled());
}

void UnrecordedTest::lettingGo() {
  session().debuggers().setFocus({2});
  QTRY_COMPARE_WITH_TIMEOUT(tracerOf(m_found.ranks[1].pid), 0, kPatience);
  QTRY_COMPARE_WITH_TIMEOUT(m_window->statusText(),
                            QStringLiteral("Rank 1 goes on without a debugger."), kPatience);
  QVERIFY(tracerOf(m_found.ranks[2].pid) > 0);
  session().endReplay();
  QTRY_COMPARE_WITH_TIMEOUT(tracerOf(m_found.ranks[2].pid), 0, kPatience);
  QVERIFY(!session().isReplaying());
  QCOMPARE(session().rankStates()[2].detail, QStringLiteral("let go of"));
  // A tick that gives no debugger does not stay.
  QSignalSpy focus(&session().debuggers(), &pf::session::Debuggers::focusChanged);
  session().debuggers().setFocus({0});
  QTRY_VERIFY_WITH_TIMEOUT(!focus.isEmpty() && focus.last().first().value<QList<int>>().isEmpty(),
                           kPatience);
  QVERIFY2(m_window->statusText().contains(QLatin1String("let go of")),
           qPrintable(m_window->statusText()));
  QFile stop(m_directory.filePath(QStringLiteral("stop")));
  QVERIFY(stop.open(QIODevice::WriteOnly));
  QVERIFY(m_job.waitForFinished(kPatience));
  QCOMPARE(m_job.exitCode(), 0);
  // What was said to GDB is in the transcripts.
  const QString name =
      m_directory.filePath(QStringLiteral("job-%1-cycle-1-rank-1").arg(m_found.launcher));
  QCOMPARE(QFileInfo(name + QStringLiteral(".transcript")).size(), 4);
  std::ifstream file((name + QStringLiteral("-2.transcript")).toStdString());
  std::ostringstream text;
  text << file.rdbuf();
  const auto lines = pf::mi::parseTranscript(text.str());
  QVERIFY2(lines.ok() && lines->size() > 60, text.str().substr(0, 400).c_str());
  QCOMPARE(lines->front().text, std::string("start"));
}

void UnrecordedTest::coresOfRanks() {
  QSignalSpy opened(m_window.get(), &pf::gui::MainWindow::opened);
  QSignalSpy settled(&session(), &DebugSession::settled);
  m_window->openCores(m_cores, {});
  QVERIFY(opened.wait(kPatience));
  QVERIFY2(opened.first().first().toBool(), qPrintable(m_window->statusText()));
  QTRY_VERIFY_WITH_TIMEOUT(session().rankStates().size() == 3 &&
                               session().rankStates()[1].debugger &&
                               session().rankStates()[2].debugger,
                           kPatience);
  QCOMPARE(session().currentRank(), 1);
  QTRY_VERIFY_WITH_TIMEOUT(session().rankStates()[1].where.contains(QLatin1String("desk.c:53")),
                           kPatience);
  QTRY_VERIFY_WITH_TIMEOUT(
      across(QStringLiteral("rank * 10")).contains(QLatin1String("10(1) 20(2)")), kPatience);
  const QList<pf::values::RankStack> stacks = askStacks();
  QCOMPARE(stacks.size(), 2);
  QCOMPARE(stacks[0].frames.last().function, QStringLiteral("main"));
  shot("cores");
  // Of rank 0 there is none.
  const pf::values::RankState none = session().rankStates()[0];
  QCOMPARE(pf::values::activityText(none.activity), QStringLiteral("not here"));
  QCOMPARE(none.detail, QStringLiteral("no core file of it is open"));
  QCOMPARE(wayOut()->text(), QStringLiteral("&Close the core files"));
  // Nothing runs, and that is said.
  for (const char* const move : {"continueRanks", "pauseRanks", "nextLine", "stepIn", "stepOut"}) {
    const auto* const button = m_window->findChild<QAction*>(QLatin1String(move));
    QVERIFY2(button != nullptr && !button->isEnabled(), move);
    QVERIFY2(pf::views::whyNot(*button).contains(QLatin1String("only be looked at")), move);
  }
  QSignalSpy said(&session(), &DebugSession::message);
  session().act(pf::values::RankAction::Next, {1});
  session().restartCycle();
  QCOMPARE(said.size(), 2);
  QVERIFY(said.first().first().toString().contains(QLatin1String("only be looked at")));
  wayOut()->trigger();
  QTRY_VERIFY_WITH_TIMEOUT(!wayOut()->isEnabled(), kPatience);
  QVERIFY(wayOut()->toolTip().contains(QLatin1String("The core files are closed.")));
}

void UnrecordedTest::notACore() {
  QSignalSpy opened(m_window.get(), &pf::gui::MainWindow::opened);
  m_window->openCores({test::bin("e2e/desk")}, {});
  QVERIFY(opened.wait(kPatience));
  QVERIFY(!opened.first().first().toBool());
  QVERIFY2(m_window->statusText().contains(QLatin1String("is not a core file: it is a program")),
           qPrintable(m_window->statusText()));
}

/// The job of a replay ends by itself; the session of the core files stays as it is.
void UnrecordedTest::coresDuringAReplay() {
  const QString trace = m_directory.filePath(QStringLiteral("desk.pft"));
  const test::Recorded run = test::record(trace, {}, 2, test::bin("e2e/desk"));
  QVERIFY2(run.status == 0, run.output.constData());
  for (const bool started : {false, true}) {
    QSignalSpy opened(m_window.get(), &pf::gui::MainWindow::opened);
    m_window->openTrace(trace);
    QVERIFY(opened.wait(kPatience) && opened.last().first().toBool());
    session().debuggers().setFocus({0});
    if (started) {
      session().replayTo({0, 2});
      QTRY_VERIFY_WITH_TIMEOUT(session().rankStates()[0].debugger, kPatience);
    } else {
      session().restartCycle();
    }
    QVERIFY(session().isReplaying());
    m_window->openCores(m_cores, {});
    QVERIFY(opened.wait(kPatience) && opened.last().first().toBool());
    QCOMPARE(session().isRunning(), true);
    QTest::qWait(4000);  // for the job's end
    QVERIFY(session().isRunning());
    QCOMPARE(session().rankStates().size(), 3);
    QVERIFY(session().rankStates()[1].debugger && session().rankStates()[2].debugger);
    QCOMPARE(across(QStringLiteral("rank * 10")), QStringLiteral("10(1) 20(2)"));
  }
  session().endReplay();
  QVERIFY(!session().isReplaying());
}

QList<pf::values::RankStack> UnrecordedTest::askStacks() {
  QSignalSpy arrived(&session().stacks(), &pf::session::AllStacks::arrived);
  session().stacks().ask();
  return arrived.wait(kPatience) ? arrived.last().first().value<QList<pf::values::RankStack>>()
                                 : QList<pf::values::RankStack>();
}

QString UnrecordedTest::across(const QString& expression) {
  QSignalSpy arrived(&session().across(), &pf::session::AcrossRanks::arrived);
  session().across().ask(expression);
  if (arrived.isEmpty() && !arrived.wait(kPatience)) {
    return {};
  }
  QStringList out;
  for (const pf::values::RankValue& value :
       arrived.last()[1].value<QList<pf::values::RankValue>>()) {
    if (value.error.isEmpty() && value.debugger) {
      out << QStringLiteral("%1(%2)").arg(value.value).arg(value.rank);
    }
  }
  return out.join(QLatin1Char(' '));
}

}  // namespace

QTEST_MAIN(UnrecordedTest)
#include "unrecorded_test.moc"
