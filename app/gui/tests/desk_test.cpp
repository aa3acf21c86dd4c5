// SPDX-License-Identifier: GPL-3.0-or-later
// What surrounds debugging in the window, on a real recording: sessions, transcripts, groups, the console of a group, MPI errors,
// help.
#include <csignal>
#include <fstream>
#include <sstream>
#include <vector>

#include <QAbstractButton>
#include <QAction>
#include <QCheckBox>
#include <QDialog>
#include <QDir>
#include <QDockWidget>
#include <QElapsedTimer>
#include <QFile>
#include <QLineEdit>
#include <QListWidget>
#include <QMenu>
#include <QMessageBox>
#include <QSettings>
#include <QSpinBox>
#include <QSplitter>
#include <QTabBar>
#include <QTableView>
#include <QTemporaryDir>
#include <QTextBrowser>
#include <QTimer>
#include <QToolButton>
#include <QTreeView>

#include "app/gui/commands/compare_window.h"
#include "app/gui/main_window.h"
#include "app/gui/panes/inspection_panes.h"
#include "app/gui/panes/pane_help.h"
#include "app/gui/tests/window_test.h"
#include "app/replaying/replay.h"
#include "app/session/records/breakpoint_text.h"
#include "app/session/records/session_file.h"
#include "app/version.h"
#include "mi_bridge/transcript.h"
#include "views/diagram/space_time_view.h"
#include "views/models/rank_models.h"
#include "views/models/variables_model.h"
#include "views/models/watches_model.h"
#include "views/panes/array_view.h"
#include "views/panes/debug_views.h"
#include "views/panes/rank_strip.h"
#include "views/panes/text_views.h"

namespace {

namespace test = pf::gui::test;
using pf::session::DebugSession;
using test::kPatience;

/// The ranks of the program `steady` in a directory stand still while this lives.
class StoppedRanks {
 public:
  explicit StoppedRanks(const QString& directory) {
    const QByteArray program = test::bin("e2e/steady").toLocal8Bit() + '\0';
    for (const QString& entry : QDir(QStringLiteral("/proc")).entryList(QDir::Dirs)) {
      const QString process = QStringLiteral("/proc/") + entry;
      QFile words(process + QStringLiteral("/cmdline"));
      if (entry.toInt() > 0 && words.open(QIODevice::ReadOnly) &&
          words.readAll().startsWith(program) &&
          QFileInfo(process + QStringLiteral("/cwd")).canonicalFilePath() ==
              QDir(directory).canonicalPath()) {
        m_processes.push_back(entry.toInt());
        ::kill(entry.toInt(), SIGSTOP);
      }
    }
  }
  ~StoppedRanks() {
    for (const pid_t process : m_processes) {
      ::kill(process, SIGCONT);
    }
  }
  StoppedRanks(const StoppedRanks&) = delete;
  StoppedRanks& operator=(const StoppedRanks&) = delete;
  [[nodiscard]] std::size_t count() const { return m_processes.size(); }

 private:
  std::vector<pid_t> m_processes;
};

class DeskTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase();
  void mpiErrorStops();
  void arrayAsPlotAndTable();
  void consoleOfAGroup();
  void groupsOfTheDiagram();
  void transcripts();
  void sessionIsSaved();
  void sessionOfAnotherRecording();
  void badSessions();
  void standardInput();
  void recordingThatGoesOn();
  void whatWasAskedForLast();
  void recordingUntilItFails();
  void panesThatAreClosed();
  void helpOfEachPane();
  void theManualAndTheVersion();
  void cleanupTestCase();

 private:
  DebugSession& session() { return m_window->session(); }
  [[nodiscard]] QString fileOf(const char* name) const {
    return m_directory.filePath(QString::fromLatin1(name));
  }
  [[nodiscard]] bool reopen(const QString& path);

  QTemporaryDir m_directory;
  std::unique_ptr<pf::gui::MainWindow> m_window;
};

/// All that DebugSession::output() has told.
QByteArray bytesOf(const QSignalSpy& output) {
  QByteArray all;
  for (const QList<QVariant>& each : output) {
    all += each[2].toByteArray();
  }
  return all;
}

void DeskTest::initTestCase() {
  test::setUp(m_directory.path());
  // The program takes its mode from the command line.
  for (const char* name : {"one.pft", "two.pft"}) {
    QProcess process;
    process.setProcessChannelMode(QProcess::MergedChannels);
    process.start(
        test::bin("photofinish"),
        {QStringLiteral("record"), QStringLiteral("-o"), fileOf(name), QStringLiteral("mpirun"),
         QStringLiteral("--oversubscribe"), QStringLiteral("-n"), QStringLiteral("3"),
         test::bin("e2e/desk"), QStringLiteral("errors")});
    QVERIFY(process.waitForFinished(kPatience));
    const QByteArray said = process.readAll();
    QVERIFY2(process.exitCode() == 0 && said.contains("code 1"), said.constData());
  }
  QString problem;
  m_window = test::open(fileOf("one.pft"), &problem);
  QVERIFY2(m_window != nullptr, qPrintable(problem));
  session().debuggers().setTranscripts(m_directory.path());
}

void DeskTest::cleanupTestCase() {
  if (m_window != nullptr) {
    session().endReplay();
    QTRY_VERIFY_WITH_TIMEOUT(!session().isReplaying(), kPatience);
  }
  m_window.reset();
}

void DeskTest::mpiErrorStops() {
  const auto parsed = pf::session::parseBreakpoint(QStringLiteral("catch mpi error"));
  QVERIFY(parsed.ok());
  session().breakpoints().add(*parsed);
  session().debuggers().setFocus({0, 1, 2});
  session().restartCycle();
  QTRY_VERIFY_WITH_TIMEOUT(
      session().rankStates()[1].detail.contains(QLatin1String("MPI_Recv: MPI_ERR_TRUNCATE")),
      kPatience);
  QCOMPARE(session().currentRank(), 1);
  QTRY_VERIFY_WITH_TIMEOUT(
      session().rankStates()[1].where.contains(QLatin1String("overflow() at desk.c")), kPatience);
  QCOMPARE(session().cycles().last().recorded.size(), 1);
}

void DeskTest::arrayAsPlotAndTable() {
  pf::views::ArrayView& array = m_window->looking().array();
  const auto asked = [&array](const char* expression) {
    array.ask(QString::fromLatin1(expression));
    return QTest::qWaitFor([&array] { return !array.text().startsWith(QLatin1String("Reading")); },
                           kPatience)
               ? array.text()
               : QStringLiteral("no answer");
  };
  QVERIFY2(asked("many").contains(
               QLatin1String("4 elements of int: least 1 at [0], most 4 at [3], mean 2.5")),
           qPrintable(array.text()));
  QVERIFY2(asked("many@-2").contains(QLatin1String("no array has -2 elements")),
           qPrintable(array.text()));
  QVERIFY2(
      asked("many@((1ul << 62) + 1)").contains(QLatin1String("no array has 4611686018427387905")),
      qPrintable(array.text()));
  QVERIFY2(asked("halves").contains(QLatin1String("2 bytes each) cannot be shown")),
           qPrintable(array.text()));
  QVERIFY2(asked("wide").contains(QLatin1String("16 bytes each) cannot be shown")),
           qPrintable(array.text()));
  QVERIFY2(asked("(long double*)few@1").contains(QLatin1String("1 elements of long double")),
           qPrintable(array.text()));
  // What is half typed is not asked for.
  (void)asked("few");
  array.findChild<QLineEdit*>()->setText(QStringLiteral("fe"));
  QSignalSpy again(&array, &pf::views::ArrayView::arrayRequested);
  array.askAgain();
  QCOMPARE(again.last().first().toString(), QStringLiteral("few"));
  // A million of them, in main().
  for (const pf::values::StackFrame& frame : m_window->stack().model()->frames()) {
    if (frame.function == QLatin1String("main")) {
      session().inspector().selectFrame(frame.level);
    }
  }
  QElapsedTimer time;
  time.start();
  QVERIFY2(asked("field@1000000").contains(QLatin1String("most 1000001 at [654321]")),
           qPrintable(array.text()));
  QVERIFY(time.elapsed() < 20000);
  const auto* model = array.table()->model();
  QCOMPARE(model->rowCount(), 125000);
  QCOMPARE(model->index(654321 / 8, 654321 % 8).data().toString(), QStringLiteral("1000001"));
  array.plot()->setRange(654000, 655000);
  QCOMPARE(array.plot()->to() - array.plot()->from(), 1000);
  if (const QString shots = qEnvironmentVariable("PF_SHOTS"); !shots.isEmpty()) {
    m_window->looking().arrayDock()->show();
    m_window->looking().arrayDock()->raise();
    QTest::qWait(500);
    m_window->grab().save(shots + QStringLiteral("/array.png"));
  }
  QVERIFY2(asked("field").contains(QLatin1String("field is a pointer")), qPrintable(array.text()));
  QVERIFY2(
      asked("cells").contains(QLatin1String("8 elements of cell (members have tables and plots "
                                            "of their own: number, weight)")),
      qPrintable(array.text()));
  QVERIFY(array.table()->model()->index(0, 1).data().toString().startsWith(
      QLatin1String("{number = 11, weight = ")));
  QVERIFY2(
      asked("cells.number").contains(QLatin1String("8 elements of int: least 10 at [0], most 17")),
      qPrintable(array.text()));
  QVERIFY2(asked("field@1000@1000").contains(QLatin1String("most 1000001 at [654][321]")),
           qPrintable(array.text()));
  QCOMPARE(array.table()->model()->rowCount(), 1000);
  QVERIFY2(asked("nosuch").contains(QLatin1String("No symbol")), qPrintable(array.text()));
  QVERIFY2(asked("((double*)16)@10").contains(QLatin1String("Cannot access memory")),
           qPrintable(array.text()));
  // By the menu of a variable, which opens the pane.
  QDockWidget* const dock = m_window->looking().arrayDock();
  dock->hide();
  const auto cells = [this] {
    return m_window->variables().model()->indexOf(QStringLiteral("v/cells"));
  };
  QTRY_VERIFY_WITH_TIMEOUT(cells().isValid(), kPatience);
  m_window->variables().tree()->setCurrentIndex(cells());
  test::trigger(*m_window->variables().tree(), QStringLiteral("it as an array"));
  QCOMPARE(array.expression(), QStringLiteral("cells"));
  QTRY_VERIFY(dock->isVisible() && !dock->visibleRegion().isEmpty());
  QTRY_VERIFY2_WITH_TIMEOUT(array.text().contains(QLatin1String("8 elements of cell")),
                            qPrintable(array.text()), kPatience);
  dock->hide();
}

void DeskTest::consoleOfAGroup() {
  // All at one place: the ranks without the error are paused.
  session().act(pf::values::RankAction::Pause, {0, 2});
  QTRY_VERIFY_WITH_TIMEOUT(session().debugger(0)->state() == pf::mi::SessionState::Stopped &&
                               session().debugger(2)->state() == pf::mi::SessionState::Stopped,
                           kPatience);
  QSignalSpy words(&session(), &DebugSession::consoleText);
  const auto answer = [&words](const QString& begin) {
    for (const QList<QVariant>& each : words) {
      if (each[1].toString().startsWith(begin)) {
        return each[1].toString();
      }
    }
    return QString();
  };
  session().groups().add(QStringLiteral("pair"), {0, 1});
  m_window->looking().console(1, QStringLiteral("@pair+2 print 6*7"));
  QTRY_COMPARE_WITH_TIMEOUT(answer(QStringLiteral("[")), QStringLiteral("[0-2] 42\n"), kPatience);
  words.clear();
  m_window->looking().console(1, QStringLiteral("@pair print $_inferior + nosuch"));
  QTRY_VERIFY_WITH_TIMEOUT(
      answer(QStringLiteral("[0-1] No symbol")).contains(QLatin1String("nosuch")), kPatience);
  // What other commands print: equal but for addresses and threads' numbers is once; others each.
  const auto all = [&](const char* command) {
    words.clear();
    m_window->looking().console(1, QStringLiteral("@") + QString::fromLatin1(command));
    (void)QTest::qWaitFor([&words] { return !words.isEmpty(); }, kPatience);
    QString text;
    for (const QList<QVariant>& each : std::as_const(words)) {
      text += each[1].toString();
    }
    return text;
  };
  // (As a stack has it: how deep in MPI they are paused is chance.)
  QCOMPARE(all("0,2 printf \"#0  0x%lx in main (argc=2, argv=0x%lx)\\n\", (long)$pc, (long)$sp"),
           QStringLiteral("[0, 2] #0  main (argc=2, argv=0x…)\n"));
  QCOMPARE(all("0-2 info proc").count(QLatin1Char('[')), 3);  // values stay apart
  const QString stacks = all("all bt");
  QVERIFY2(stacks.contains(QLatin1String("[1] #0  0x")) &&
               stacks.contains(QLatin1String("overflow (rank=1)")),
           qPrintable(stacks));
  QVERIFY2(all("all info threads").contains(QLatin1String("ompi_errhandler_invoke")),
           "each rank's");
  const QString types = all("all ptype struct cell");
  QVERIFY2(types.startsWith(QLatin1String("[0-2] type = struct cell {\n    int number;")),
           qPrintable(types));
  QCOMPARE(all("all set var $mine = 1"), QStringLiteral("[0-2] done\n"));
  QCOMPARE(all("all up 1000").count(QLatin1String("Initial frame selected")), 0);
  QCOMPARE(all("all up"), QStringLiteral("[0-2] Initial frame selected; you cannot go up.\n"));
  const QString locals = all("all info locals");
  for (const char* rank : {"[0] rank = 0\n", "[1] rank = 1\n", "[2] rank = 2\n"}) {
    QVERIFY2(locals.contains(QLatin1String(rank)), qPrintable(locals));
  }
  QVERIFY2(all("all down 1000").contains(QLatin1String("#0")), "back to where they stopped");
  words.clear();
  m_window->looking().console(1, QStringLiteral("@nobody print 1"));
  QVERIFY(
      words.last()[1].toString().contains(QLatin1String("'nobody' is neither a group nor ranks")));
  QCOMPARE(words.last()[0].toInt(), 1);
}

void DeskTest::groupsOfTheDiagram() {
  // The receive of rank 1: with rank 0, who sent it.
  const auto& events = session().trace()->execution.ranks[1].events;
  pf::EventRef receive;
  for (std::size_t i = 0; i < events.size(); ++i) {
    if (events[i].kind == pf::EventKind::Receive) {
      receive = {1, i + 1};
    }
  }
  QVERIFY(receive.valid());
  m_window->diagram().selectEvent(receive);
  QMenu* menu = m_window->ranks().groupMenu();
  Q_EMIT menu->aboutToShow();
  QAction* made = nullptr;
  for (QMenu* below : menu->findChildren<QMenu*>()) {
    if (below->title().contains(QLatin1String("diagram")) && !below->isEmpty()) {
      made = below->actions().first();
    }
  }
  QVERIFY(made != nullptr);
  made->trigger();
  QCOMPARE(session().groups().all().last().ranks, (QList<int>{0, 1}));
}

void DeskTest::transcripts() {
  session().endReplay();
  QTRY_VERIFY_WITH_TIMEOUT(!session().isReplaying(), kPatience);
  const QStringList files =
      QDir(m_directory.path()).entryList({QStringLiteral("one-cycle-*-rank-1.transcript")});
  QCOMPARE(files.size(), 1);
  std::ifstream file(m_directory.filePath(files.first()).toStdString());
  std::ostringstream text;
  text << file.rdbuf();
  const auto lines = pf::mi::parseTranscript(text.str());
  QVERIFY(lines.ok());
  bool stopped = false;
  for (const pf::mi::TranscriptLine& line : *lines) {
    stopped = stopped || (line.side == pf::mi::TranscriptSide::Told &&
                          line.text.starts_with("stop Breakpoint"));
  }
  QVERIFY(stopped);
  session().debuggers().setTranscripts({});
}

bool DeskTest::reopen(const QString& path) {
  m_window = std::make_unique<pf::gui::MainWindow>();
  m_window->show();
  QSignalSpy opened(m_window.get(), &pf::gui::MainWindow::opened);
  m_window->openPath(path);
  return (!opened.isEmpty() || opened.wait(kPatience)) && opened.first().first().toBool();
}

void DeskTest::sessionIsSaved() {
  session().watches().set({QStringLiteral("rank")});
  m_window->findChild<pf::views::WatchesView*>()->model()->setExpressions({QStringLiteral("rank")});
  session().debuggers().setFocus({1, 2});
  session().setCurrentRank(2);
  auto* races = m_window->findChild<QDockWidget*>(QStringLiteral("races"));
  races->hide();
  QVERIFY(m_window->saveSession(fileOf("work.pfs")));
  races->show();
  QVERIFY(reopen(fileOf("work.pfs")));
  QCOMPARE(session().breakpoints().all().size(), 1);  // the trace has it already
  QCOMPARE(session().debuggers().focus().size(), 2);
  QCOMPARE(session().currentRank(), 2);
  QVERIFY(m_window->findChild<QDockWidget*>(QStringLiteral("races"))->isHidden());
  const auto file = pf::session::readSessionFile(fileOf("work.pfs"));
  QVERIFY(file.ok());
  QCOMPARE(file->trace, fileOf("one.pft"));
  QCOMPARE(file->command.first(), QStringLiteral("mpirun"));
  const QStringList words{QStringLiteral("./a b"), QStringLiteral("x=\"1 2\""),
                          QStringLiteral("\"q\""), QStringLiteral("\"\t\""),
                          QStringLiteral("plain")};
  QCOMPARE(QProcess::splitCommand(pf::session::commandText(words)), words);
}

void DeskTest::sessionOfAnotherRecording() {
  QFile file(fileOf("work.pfs"));
  QVERIFY(file.open(QIODevice::ReadOnly));
  QByteArray text = file.readAll();
  QVERIFY(text.contains("\"one.pft\""));  // relative: both can be moved
  QFile other(fileOf("other.pfs"));
  QVERIFY(other.open(QIODevice::WriteOnly));
  QByteArray changed = text;
  other.write(changed.replace("one.pft", "two.pft"));
  other.close();
  QVERIFY(reopen(other.fileName()));
  QCOMPARE(session().breakpoints().all().size(), 1);
  QCOMPARE(session().breakpoints().all().first().expression, QStringLiteral("mpi error"));
  QCOMPARE(session().groups().all().size(), 2);
  QCOMPARE(m_window->findChild<pf::views::WatchesView*>()->model()->expressions(),
           QStringList{QStringLiteral("rank")});
  // A trace that is gone: the command is offered.
  QFile gone(fileOf("gone.pfs"));
  QVERIFY(gone.open(QIODevice::WriteOnly));
  gone.write(text.replace("one.pft", "three.pft"));
  gone.close();
  QVERIFY(!reopen(gone.fileName()));
  QVERIFY2(m_window->statusText().contains(QLatin1String("Record (Ctrl+R) runs 'mpirun")),
           qPrintable(m_window->statusText()));
  // One that somebody sent shows its command, and Record has it once that is taken over.
  QFile sent(fileOf("sent.pfs"));
  QVERIFY(sent.open(QIODevice::WriteOnly));
  sent.write(
      "{\"photofinishSession\": 1, \"trace\": \"three.pft\", \"command\": [\"sh\", \"-c\", \"touch "
      "mark\"], \"directory\": \"" +
      m_directory.path().toUtf8() + "\"}");
  sent.close();
  const QString kept = QSettings().value(QStringLiteral("record/command")).toString();
  QVERIFY(!reopen(sent.fileName()));
  QVERIFY(m_window->statusText().contains(QLatin1String("not saved by you")));
  QCOMPARE(QSettings().value(QStringLiteral("record/command")).toString(), kept);
  auto* box = m_window->findChild<QMessageBox*>(QStringLiteral("takeOver"));
  QVERIFY(box != nullptr);
  QVERIFY2(box->text().contains(QLatin1String("sh -c 'touch mark'")), qPrintable(box->text()));
  for (QAbstractButton* button : box->buttons()) {
    if (box->buttonRole(button) == QMessageBox::AcceptRole) {
      button->click();
    }
  }
  QCOMPARE(QSettings().value(QStringLiteral("record/command")).toString(),
           QStringLiteral("sh -c \"touch mark\""));
  QVERIFY(!reopen(sent.fileName()));
  QVERIFY(m_window->findChild<QMessageBox*>(QStringLiteral("takeOver")) == nullptr);  // asked once
  QVERIFY(m_window->statusText().contains(QLatin1String("Record (Ctrl+R) runs 'sh -c")));
  QVERIFY(!QFile::exists(fileOf("mark")));
}

void DeskTest::badSessions() {
  const auto refused = [this](const QByteArray& content) {
    QFile file(fileOf("bad.pfs"));
    if (file.open(QIODevice::WriteOnly)) {
      file.write(content);
      file.close();
    }
    const auto read = pf::session::readSessionFile(file.fileName());
    return read ? QString() : QString::fromStdString(read.error().message);
  };
  QVERIFY(refused("{\"photofinishSession\": 1, ").contains(QLatin1String("at byte")));
  QVERIFY(refused("[1, 2]").contains(QLatin1String("does not say that it is one")));
  QVERIFY(refused("{\"photofinishSession\": 7}").contains(QLatin1String("version 7")));
  QVERIFY(refused("{\"photofinishSession\": 1}")
              .contains(QLatin1String("neither a trace nor a command")));
  QVERIFY(refused("{\"photofinishSession\": 1, \"trace\": \"x.pft\", \"breakpoints\": [{\"at\": "
                  "\"race x\"}]}")
              .contains(QLatin1String("is no Photofinish session")));
  QVERIFY(!pf::session::readSessionFile(fileOf("nowhere.pfs")).ok());
}

/// A program that reads: by the dialog, from a file; the replay is given the same, and a session keeps the file's name.
void DeskTest::standardInput() {
  QFile words(fileOf("words.txt"));
  QVERIFY(words.open(QIODevice::WriteOnly) && words.write("seven eight\n") > 0);
  words.close();
  QSettings().setValue(
      QStringLiteral("record/command"),
      QStringLiteral("mpirun --oversubscribe -n 2 \"%1\" input").arg(test::bin("e2e/desk")));
  QSettings().setValue(QStringLiteral("record/directory"), m_directory.path());
  m_window = std::make_unique<pf::gui::MainWindow>();
  m_window->show();
  const auto byDialog = [this](const QString& input) {
    QTimer::singleShot(0, this, [input] {
      auto* dialog = qobject_cast<QDialog*>(QApplication::activeModalWidget());
      auto* field = dialog != nullptr ? dialog->findChild<QLineEdit*>(QStringLiteral("recordInput"))
                                      : nullptr;
      if (field != nullptr) {
        field->setText(input);
        dialog->accept();
      } else if (dialog != nullptr) {
        dialog->reject();
      }
    });
    test::command(*m_window, "Ctrl+R");
  };
  byDialog(QStringLiteral("nosuch.txt"));
  QVERIFY2(
      m_window->statusText().contains(QLatin1String("nosuch.txt cannot be read as standard input")),
      qPrintable(m_window->statusText()));
  QSignalSpy output(&session(), &DebugSession::output);
  const auto said = [&output] { return bytesOf(output); };
  QSignalSpy opened(m_window.get(), &pf::gui::MainWindow::opened);
  byDialog(QStringLiteral("words.txt"));
  QVERIFY(!opened.isEmpty() || opened.wait(kPatience));
  QVERIFY2(said().contains("1 read, seven"), said().constData());
  QVERIFY(m_window->saveSession(fileOf("reads.pfs")));
  const auto file = pf::session::readSessionFile(fileOf("reads.pfs"));
  QVERIFY(file.ok());
  QCOMPARE(file->input, QStringLiteral("words.txt"));
  // Not from the file any more.
  QVERIFY(words.remove());
  output.clear();
  session().debuggers().setFocus({});
  session().restartCycle();
  QTRY_VERIFY2_WITH_TIMEOUT(said().contains("1 read, seven"), said().constData(), kPatience);
}

/// At first; and the tabs of the others have whole names.
void DeskTest::panesThatAreClosed() {
  QString problem;
  m_window.reset();
  m_window = test::open(fileOf("one.pft"), &problem);
  QVERIFY2(m_window != nullptr, qPrintable(problem));
  const auto bars = m_window->findChildren<QTabBar*>(Qt::FindDirectChildrenOnly);
  QVERIFY(!bars.isEmpty());
  QStringList titles;
  for (const QDockWidget* dock : m_window->findChildren<QDockWidget*>()) {
    titles << dock->windowTitle();
  }
  for (const QTabBar* bar : bars) {
    QCOMPARE(bar->elideMode(), Qt::ElideNone);
    for (int tab = 0; tab < bar->count(); ++tab) {
      QVERIFY2(titles.contains(bar->tabText(tab)), qPrintable(bar->tabText(tab)));
    }
  }
  auto* memory = m_window->findChild<QDockWidget*>(QStringLiteral("memory"));
  auto* output = m_window->findChild<QDockWidget*>(QStringLiteral("output"));
  QVERIFY(memory->isHidden() && !output->isHidden());
  QMenu* more = m_window->findChild<QToolButton*>(QStringLiteral("morePanes"))->menu();
  Q_EMIT more->aboutToShow();
  QAction* open = nullptr;
  for (QAction* each : more->actions()) {
    QVERIFY(each->text() != output->windowTitle());
    open = each->text() == memory->windowTitle() ? each : open;
  }
  QVERIFY(open != nullptr);
  open->trigger();
  QVERIFY(!memory->isHidden());
  Q_EMIT more->aboutToShow();
  QCOMPARE(more->actions().size(), 15);
}

/// The third run is wrong, as the check says: it is opened, and beside it the second.
void DeskTest::recordingUntilItFails() {
  QSettings().setValue(QStringLiteral("record/command"),
                       QStringLiteral("mpirun --oversubscribe -n 2 \"%1\"")
                           .arg(test::bin("corpus/two_rank_wildcard")));
  QSettings().setValue(QStringLiteral("record/directory"), m_directory.path());
  QSettings().remove(QStringLiteral("record/input"));
  m_window = std::make_unique<pf::gui::MainWindow>();
  m_window->show();
  QSignalSpy opened(m_window.get(), &pf::gui::MainWindow::opened);
  QSignalSpy compared(m_window.get(), &pf::gui::MainWindow::compared);
  QSignalSpy output(&session(), &DebugSession::output);
  const auto said = [&output] { return bytesOf(output); };
  const auto record = [this](const char* check, int runs, int seed) {
    QTimer::singleShot(0, this, [check, runs, seed] {
      auto* dialog = qobject_cast<QDialog*>(QApplication::activeModalWidget());
      dialog->findChild<QCheckBox*>(QStringLiteral("recordRepeat"))->setChecked(true);
      dialog->findChild<QSpinBox*>(QStringLiteral("recordRuns"))->setValue(runs);
      dialog->findChild<QLineEdit*>(QStringLiteral("recordCheck"))
          ->setText(QString::fromLatin1(check));
      auto* jitter = dialog->findChild<QSpinBox*>(QStringLiteral("recordJitter"));
      jitter->setValue(0);
      const QString none = jitter->text();
      jitter->setValue(seed);
      for (const char* const kept : {"recordContents", "recordAddresses"}) {
        dialog->findChild<QCheckBox*>(QLatin1String(kept))->setChecked(seed != 0);
      }
      QVERIFY(!dialog->findChild<QCheckBox*>(QStringLiteral("recordFollow"))->isEnabled());
      dialog->accept();
      QCOMPARE(none, QStringLiteral("native timing and delays in turn"));
    });
    test::command(*m_window, "Ctrl+R");
  };
  record("echo run >> runs.txt; test $(wc -l < runs.txt) -lt 3", 9, 0);
  QVERIFY(opened.wait(kPatience) && opened.first()[0].toBool());
  QVERIFY2(m_window->windowTitle().contains(QLatin1String("two_rank_wildcard-")),
           qPrintable(m_window->windowTitle()));
  QVERIFY(!m_window->windowTitle().contains(QLatin1String("good")));
  QVERIFY(!compared.isEmpty() || compared.wait(kPatience));
  auto* beside = compared.first().first().value<pf::gui::CompareWindow*>();
  QVERIFY(beside != nullptr);
  QVERIFY2(beside->windowTitle().contains(QLatin1String("-good")),
           qPrintable(beside->windowTitle()));
  beside->close();
  QVERIFY2(said().contains("run 1 (native timing, ") && said().contains("run 2 (jitter 1, "),
           said().constData());
  const auto alone = [this] { return session().debugOnly({{}, {1}}).ok(); };
  QVERIFY2(!alone(), "the contents of its messages are not in the trace");
  QVERIFY(!session().run().sameAddresses);
  opened.clear();
  output.clear();
  record("true", 2, 7);
  QVERIFY(opened.wait(kPatience) && opened.first()[0].toBool());
  QVERIFY2(m_window->windowTitle().contains(QLatin1String("-good")),
           qPrintable(m_window->windowTitle()));
  QVERIFY2(m_window->statusText().contains(QLatin1String("No run of at most 2 failed")),
           qPrintable(m_window->statusText()));
  QVERIFY2(said().contains("run 1 (jitter 7, ") && said().contains("run 2 (jitter 8, "),
           said().constData());
  QVERIFY(alone());
  QVERIFY(session().run().sameAddresses);
  QSettings().remove(QStringLiteral("record/untilFailure"));
  QSettings().remove(QStringLiteral("record/jitter"));
  QSettings().remove(QStringLiteral("record/contents"));
  QSettings().remove(QStringLiteral("record/addresses"));
}

/// What it has so far is looked at while it goes on; then its own trace is opened.
void DeskTest::recordingThatGoesOn() {
  QSettings().setValue(
      QStringLiteral("record/command"),
      QStringLiteral("mpirun --oversubscribe -n 3 \"%1\" 400 5000").arg(test::bin("e2e/steady")));
  QSettings().setValue(QStringLiteral("record/directory"), m_directory.path());
  QSettings().remove(QStringLiteral("record/input"));
  m_window = std::make_unique<pf::gui::MainWindow>();
  m_window->show();
  const auto action = [this](const char* keys) {
    for (QAction* each : m_window->findChildren<QAction*>()) {
      if (each->shortcut() == QKeySequence(QString::fromLatin1(keys))) {
        return each;
      }
    }
    return static_cast<QAction*>(nullptr);
  };
  QAction* look = action("Ctrl+Alt+R");
  QVERIFY(look != nullptr && !look->isEnabled());
  QSignalSpy output(&session(), &DebugSession::output);
  QSignalSpy opened(m_window.get(), &pf::gui::MainWindow::opened);
  QTimer::singleShot(0, this, [] {
    if (auto* dialog = qobject_cast<QDialog*>(QApplication::activeModalWidget())) {
      dialog->accept();
    }
  });
  action("Ctrl+R")->trigger();
  QTRY_VERIFY_WITH_TIMEOUT(!output.isEmpty(), kPatience);  // a tenth of the way
  QVERIFY(look->isEnabled());
  auto stopped = std::make_unique<const StoppedRanks>(m_directory.path());  // before they end
  QCOMPARE(stopped->count(), std::size_t{3});
  look->trigger();
  QVERIFY(opened.wait(kPatience));
  QVERIFY(opened.first()[0].toBool());
  QVERIFY(m_window->windowTitle().contains(QLatin1String("so-far-1")));
  std::size_t seen = 0;
  for (const auto& rank : session().trace()->execution.ranks) {
    seen += rank.events.size();
  }
  QVERIFY2(seen > 0 && look->isEnabled(), qPrintable(QString::number(seen)));
  stopped.reset();
  QTRY_VERIFY_WITH_TIMEOUT(!m_window->windowTitle().contains(QLatin1String("so-far")), kPatience);
  std::size_t whole = 0;
  for (const auto& rank : session().trace()->execution.ranks) {
    whole += rank.events.size();
  }
  QVERIFY(whole > seen && !look->isEnabled());
}

/// A trace whose events are not known yet opens late, behind the one that was wanted instead of it.
void DeskTest::whatWasAskedForLast() {
  const QString late = fileOf("late.pft");
  const QString last = fileOf("last.pft");
  (void)test::record(late, {}, 2, test::bin("corpus/two_rank_wildcard"));
  (void)test::record(last, {QStringLiteral("--mode"), QStringLiteral("all")}, 2,
                     test::bin("corpus/two_rank_wildcard"));
  const auto isLate = [&late] {
    const pf::Result<bool> needed = pf::app::needsSurvey(late.toStdString());
    return !needed.ok() || *needed;
  };
  QVERIFY(isLate());
  m_window = std::make_unique<pf::gui::MainWindow>();
  m_window->show();
  QSignalSpy opened(m_window.get(), &pf::gui::MainWindow::opened);
  m_window->openTrace(late);
  m_window->openTrace(last);
  QVERIFY(opened.wait(kPatience) && opened.first()[0].toBool());
  QVERIFY(m_window->windowTitle().startsWith(QLatin1String("last.pft")) && isLate());
  QTRY_VERIFY_WITH_TIMEOUT(!isLate(), kPatience);
  QTest::qWait(500);
  QCOMPARE(opened.size(), 1);
  QVERIFY2(m_window->windowTitle().startsWith(QLatin1String("last.pft")),
           qPrintable(m_window->windowTitle()));
}

void DeskTest::theManualAndTheVersion() {
  m_window->findChild<QAction*>(QStringLiteral("openManual"))->trigger();
  const auto* manual = m_window->findChild<QDialog*>(QStringLiteral("manual"));
  QVERIFY(manual != nullptr && manual->isVisible());
  auto* pages = manual->findChild<QListWidget*>();
  const auto* text = manual->findChild<QTextBrowser*>();
  for (int page = 0; page < pages->count(); ++page) {
    pages->setCurrentRow(page);
    const QString shown = text->toPlainText();
    QVERIFY2(shown.size() > 500 && !shown.startsWith(QLatin1Char('#')),
             qPrintable(pages->item(page)->text()));
  }
  if (const QString shots = qEnvironmentVariable("PF_SHOTS"); !shots.isEmpty()) {
    pages->setCurrentRow(0);
    QTest::qWait(300);
    m_window->findChild<QDialog*>(QStringLiteral("manual"))
        ->grab()
        .save(shots + QStringLiteral("/manual.png"));
  }
  QTimer::singleShot(0, this, [] {
    auto* about = qobject_cast<QMessageBox*>(QApplication::activeModalWidget());
    QVERIFY(about != nullptr);
    QVERIFY(about->text().contains(QString::fromLatin1(pf::app::kVersion)));
    about->accept();
  });
  m_window->findChild<QAction*>(QStringLiteral("about"))->trigger();
}

void DeskTest::helpOfEachPane() {
  const QList<QDockWidget*> docks = m_window->findChildren<QDockWidget*>();
  QVERIFY(docks.size() > 15);
  for (const QDockWidget* dock : docks) {
    QVERIFY2(dock->whatsThis().size() > 40, qPrintable(dock->objectName()));
  }
  QVERIFY(!pf::gui::paneHelp(QStringLiteral("centre")).isEmpty());
  auto* help = m_window->findChild<QAction*>(QStringLiteral("paneHelp"));
  QVERIFY(help != nullptr);
  QCOMPARE(help->shortcut(), QKeySequence(Qt::Key_F1));
  help->trigger();
  const auto shown = [] {
    for (const QWidget* widget : QApplication::topLevelWidgets()) {
      if (widget->inherits("QWhatsThat") && widget->isVisible()) {
        return true;
      }
    }
    return false;
  };
  QTRY_VERIFY(shown());
}

}  // namespace

QTEST_MAIN(DeskTest)
#include "desk_test.moc"
