// SPDX-License-Identifier: GPL-3.0-or-later
// Breakpoints of every kind, cycles side by side and ways back, in the real window on real ranks.
#include <algorithm>

#include <QAction>
#include <QDialog>
#include <QFile>
#include <QLabel>
#include <QLineEdit>
#include <QProcess>
#include <QPushButton>
#include <QSettings>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>

#include "app/gui/commands/breakpoint_dialog.h"
#include "app/gui/tests/window_test.h"
#include "app/job/launcher.h"
#include "app/session/records/breakpoint_text.h"
#include "app/session/records/line_text.h"
#include "replay_engine/agent/watchpoints.h"
#include "replay_engine/steering/logical_stops.h"
#include "views/models/cycle_comparison.h"
#include "views/models/watches_model.h"
#include "views/panes/debug_views.h"
#include "views/panes/log_view.h"
#include "views/panes/session_views.h"

namespace {

using pf::EventRef;
using pf::Serial;
using pf::session::parseBreakpoint;

namespace test = pf::gui::test;
using test::kPatience;

/// Rank 0 adds what the others send, and gives itself a signal on the way.
const QByteArray kSmall = R"(#include <mpi.h>
#include <signal.h>
#include <stdio.h>
int g_total = 0;
static void add(int value)
{
    g_total += value;
}
int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    signal(SIGUSR1, SIG_IGN);
    for (int i = 0; i < (rank == 0 ? 6 : 3); ++i) {
        int value = 10 * rank + i;
        if (rank == 0) {
            MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            add(value);
            if (i == 2)
                raise(SIGUSR1);
        } else {
            MPI_Send(&value, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
        }
    }
    MPI_Finalize();
    return 0;
}
)";

int lineOf(const QByteArray& source, const char* text);

class LogicTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase();
  void typedBreakpoints();
  void dialogSaysWhatIsWrong();
  void logicalStopsInEachCycle();
  void allStopAtTheCut();
  void theyAreKeptInTheTrace();
  void linesAreFoundAgain();
  void logsAndGoesOn();
  void watchesAndCatches();
  void temporaryWithCommands();
  void nextEventsAndRaces();
  void previousHits();
  void lastChange();
  void movesWithItsLine();
  void cleanup();
  void cleanupTestCase();

 private:
  void record(const QString& trace, const QString& program);
  bool write(const QByteArray& source);
  bool build(const QByteArray& source);
  void waitSettled(const std::function<void()>& act);
  void open();
  void add(const char* text, pf::values::StopsWho stops = pf::values::StopsWho::Alone);
  void removeAll();
  void goOn();
  [[nodiscard]] const pf::values::Breakpoint& last() {
    return session().breakpoints().all().last();
  }
  [[nodiscard]] pf::session::DebugSession& session() { return m_window->session(); }

  QTemporaryDir m_directory;
  QString m_trace;
  QString m_source;  ///< of the small program
  QString m_small;   ///< its trace
  std::unique_ptr<pf::gui::MainWindow> m_window;
};

void LogicTest::initTestCase() {
  test::setUp(m_directory.path());
  m_trace = m_directory.filePath(QStringLiteral("run.pft"));
  m_small = m_directory.filePath(QStringLiteral("small.pft"));
  m_source = m_directory.filePath(QStringLiteral("small.c"));
  record(m_trace, test::bin("corpus/harvest"));
  QVERIFY(build(kSmall));
  record(m_small, m_directory.filePath(QStringLiteral("small")));
  open();
}

void LogicTest::record(const QString& trace, const QString& program) {
  const test::Recorded run = test::record(trace, {}, 3, program);
  QVERIFY2(QFile::exists(trace), run.output.constData());
}

bool LogicTest::write(const QByteArray& source) {
  QFile file(m_source);
  return file.open(QIODevice::WriteOnly | QIODevice::Truncate) && file.write(source) > 0;
}

bool LogicTest::build(const QByteArray& source) {
  return write(source) &&
         QProcess::execute(QStringLiteral("mpicc"),
                           {QStringLiteral("-g"), QStringLiteral("-O0"), QStringLiteral("-o"),
                            m_directory.filePath(QStringLiteral("small")), m_source}) == 0;
}

int lineOf(const QByteArray& source, const char* text) {
  return static_cast<int>(source.left(source.indexOf(text)).count('\n')) + 1;
}

void LogicTest::open() {
  QString problem;
  m_window = test::open(m_trace, &problem);
  QVERIFY2(m_window != nullptr, qPrintable(problem));
}

void LogicTest::waitSettled(const std::function<void()>& act) {
  QSignalSpy settled(&session(), &pf::session::DebugSession::settled);
  act();
  QVERIFY2(!settled.isEmpty() || settled.wait(kPatience), qPrintable(m_window->statusText()));
}

void LogicTest::add(const char* text, pf::values::StopsWho stops) {
  const auto parsed = parseBreakpoint(QString::fromUtf8(text));
  QVERIFY(parsed.ok());
  pf::values::Breakpoint breakpoint = *parsed;
  breakpoint.stops = stops;
  session().breakpoints().add(breakpoint);
}

void LogicTest::removeAll() {
  QList<int> ids;
  for (const pf::values::Breakpoint& breakpoint : session().breakpoints().all()) {
    ids << breakpoint.id;
  }
  session().breakpoints().remove(ids);
}

void LogicTest::goOn() {
  QList<int> ranks;
  for (const pf::values::RankState& state : session().rankStates()) {
    ranks << state.rank;
  }
  waitSettled([&] { session().act(pf::values::RankAction::Continue, ranks); });
}

void LogicTest::typedBreakpoints() {
  using pf::values::BreakpointKind;
  const std::pair<const char*, const char*> kGood[] = {
      {"main.c:57", "main.c:57"},     {" /a b/main.c:57 ", "/a b/main.c:57"},
      {"collect", "collect"},         {"ns::f(int, char*)", "ns::f(int, char*)"},
      {"*0x4011d6", "*0x4011d6"},     {"watch a[i]->b", "watch a[i]->b"},
      {"rwatch x", "rwatch x"},       {"awatch x", "awatch x"},
      {"catch throw", "catch throw"}, {"catch signal SIGUSR1", "catch signal SIGUSR1"},
      {"race 2", "race 2"},           {"race", "race"}};
  for (const auto& [typed, text] : kGood) {
    const auto breakpoint = parseBreakpoint(QString::fromLatin1(typed));
    QVERIFY2(breakpoint.ok(), typed);
    QCOMPARE(pf::session::breakpointText(*breakpoint), QString::fromLatin1(text));
    pf::values::Breakpoint kept = *breakpoint;
    kept.commands = {QStringLiteral("bt")};
    kept.log = QStringLiteral("x {x}");
    pf::values::setStops(kept, QStringLiteral("0, 2"));
    QCOMPARE(pf::session::fromRow(pf::session::toRow(kept)), kept);
  }
  QCOMPARE(parseBreakpoint(QStringLiteral("hit 3 of main.c:57"))->ignoreCount, 2);
  QCOMPARE(parseBreakpoint(QStringLiteral("race 2"))->kind, BreakpointKind::Logical);
  QCOMPARE(parseBreakpoint(QStringLiteral("race"))->kind, BreakpointKind::Code);
  for (const char* bad :
       {"", "   ", "main.c:0", "main.c:x", "*", "hit 0 of main.c:5", "hit 2 of", "catch fish",
        "catch signal x y", "two words", "3x", "event 1", "message from", "receive 0:1", "a;b"}) {
    const auto breakpoint = parseBreakpoint(QString::fromLatin1(bad));
    QVERIFY2(!breakpoint.ok(), bad);
    QVERIFY(QString::fromStdString(breakpoint.error().advice).contains(QStringLiteral("Write")));
  }
}

void LogicTest::dialogSaysWhatIsWrong() {
  pf::gui::BreakpointDialog dialog({});
  QVERIFY(!dialog.okButton()->isEnabled());
  dialog.place()->setText(QStringLiteral("receive 0"));
  QVERIFY(!dialog.okButton()->isEnabled());
  QVERIFY(dialog.problem()->text().contains(QStringLiteral("receive RANK#K")));
  dialog.place()->setText(QStringLiteral("receive 0#1"));
  QVERIFY(dialog.okButton()->isEnabled());
  QVERIFY(!dialog.log()->isEnabled());
  dialog.place()->setText(QStringLiteral("watch x"));
  dialog.log()->setText(QStringLiteral("x is {x}"));
  QVERIFY(!dialog.okButton()->isEnabled());
  dialog.place()->setText(QStringLiteral("main.c:7"));
  QVERIFY(dialog.okButton()->isEnabled());
  QCOMPARE(dialog.breakpoint().log, QStringLiteral("x is {x}"));
  // At a line of Python there is none; what is written already can be taken away.
  dialog.place()->setText(QStringLiteral("main.py:7"));
  QVERIFY(!dialog.okButton()->isEnabled());
  QVERIFY(dialog.problem()->text().contains(QLatin1String("cannot be at a line of Python")));
  QVERIFY(dialog.log()->isEnabled());
  dialog.log()->clear();
  QVERIFY(dialog.okButton()->isEnabled());
  QVERIFY(!dialog.log()->isEnabled());
  QVERIFY(dialog.log()->toolTip().contains(QLatin1String("cannot be at a line of Python")));
  dialog.place()->setText(QStringLiteral("main.c:7"));
  QVERIFY(dialog.log()->isEnabled());
}

/// Two stops of one rank: the second is planned when the first is reached. The same in each cycle.
void LogicTest::logicalStopsInEachCycle() {
  const auto receives = pf::receivesOf(session().trace()->execution.ranks[0]);
  QVERIFY(receives.size() >= 3);
  QSignalSpy marks(&session(), &pf::session::DebugSession::marksChanged);
  add("receive 0#3");
  add("receive 0#2");
  QCOMPARE(last().event, (EventRef{0, receives[1]}));
  QCOMPARE(marks.last().first().value<std::vector<pf::values::EventMark>>().size(), 2U);
  for (int cycle = 0; cycle < 2; ++cycle) {
    waitSettled([&] { session().restartCycle(); });
    QCOMPARE(session().serialOf(0), receives[1] - 1);
    QVERIFY2(session().cycles().last().summary.contains(QStringLiteral("receive 0#2")),
             qPrintable(session().cycles().last().summary));
    goOn();
    QCOMPARE(session().serialOf(0), receives[2] - 1);
    QCOMPARE(session().cycles().last().recorded.size(), 2);
    goOn();  // to the end
  }
  add("receive 0#99999");
  QCOMPARE(last().state, pf::values::BreakpointState::Failed);
  QVERIFY(last().note.contains(QStringLiteral("has no receive")));
  removeAll();
}

/// Each message of rank 2 stops all ranks: none is beyond what that event needs.
void LogicTest::allStopAtTheCut() {
  add("message from 2", pf::values::StopsWho::All);
  const QList<EventRef> events = last().events;
  QVERIFY(!events.isEmpty());
  waitSettled([&] { session().restartCycle(); });
  for (qsizetype i = 0; i < std::min<qsizetype>(events.size(), 3); ++i) {
    const EventRef at = session().cycles().last().recorded.last().rank >= 0
                            ? EventRef{session().cycles().last().recorded.last().rank,
                                       session().cycles().last().recorded.last().serial}
                            : EventRef{};
    QVERIFY(events.contains(at));
    QCOMPARE(session().serialOf(at.rank), at.serial - 1);
    const auto cut = pf::cutBefore(session().trace()->execution, at);
    for (int rank = 0; rank < 3; ++rank) {
      QVERIFY(session().serialOf(rank) >= cut[static_cast<std::size_t>(rank)]);
    }
    goOn();
  }
  QCOMPARE(session().cycles().last().recorded.size(), std::min<qsizetype>(events.size(), 4));
  waitSettled([&] { session().endReplay(); });
}

void LogicTest::theyAreKeptInTheTrace() {
  const qsizetype hits = session().cycles().last().recorded.size();
  QVERIFY(hits > 0);
  m_window.reset();
  open();
  QCOMPARE(session().breakpoints().all().size(), 1);
  QCOMPARE(last().expression, QStringLiteral("message from 2"));
  QCOMPARE(last().stops, pf::values::StopsWho::All);
  QVERIFY(!last().events.isEmpty());
  QCOMPARE(session().cycles().last().recorded.size(), hits);
  QCOMPARE(last().hits.last().hits, static_cast<int>(hits));
  removeAll();
}

void LogicTest::linesAreFoundAgain() {
  using pf::session::findLine;
  const QStringList lines{QStringLiteral("a;"),
                          QStringLiteral("  b;"),
                          {},
                          QStringLiteral("b; "),
                          QStringLiteral("c;")};
  QCOMPARE(findLine(lines, 2, QStringLiteral("b;")), 2);
  QCOMPARE(findLine(lines, 5, QStringLiteral("  b;")), 4);
  QCOMPARE(findLine(lines, 900, QStringLiteral("a;")), 1);
  QCOMPARE(findLine(lines, 1, QStringLiteral("d;")), 0);
  QCOMPARE(findLine(lines, 3, QStringLiteral("  ")), 0);
  QCOMPARE(findLine({}, 3, QStringLiteral("a;")), 0);
}

/// The lines bear the events of the recording, in each cycle, and nothing stops.
void LogicTest::logsAndGoesOn() {
  m_trace = m_small;
  m_window.reset();
  open();
  const auto receives = pf::receivesOf(session().trace()->execution.ranks[0]);
  QCOMPARE(receives.size(), 6U);
  auto log = *parseBreakpoint(
      QStringLiteral("%1:%2").arg(m_source).arg(lineOf(kSmall, "g_total += value")));
  log.log = QStringLiteral("{value} to {g_total}");
  log.ranks = QStringLiteral("0");
  log.condition = QStringLiteral("value != 11");
  session().breakpoints().add(log);
  for (int cycle = 0; cycle < 2; ++cycle) {
    m_window->logView().model()->clear();
    waitSettled([&] { session().restartCycle(); });
    QVERIFY2(session().cycles().last().summary.contains(QStringLiteral("ran to the end")),
             qPrintable(session().cycles().last().summary));
    const auto& entries = m_window->logView().model()->entries();
    QCOMPARE(entries.size(), 5);
    QVERIFY(entries.first().text.endsWith(QStringLiteral(" to 0")));
    for (const auto& entry : entries) {
      QCOMPARE(entry.rank, 0);
      QVERIFY(std::count(receives.begin(), receives.end(), entry.serial) == 1);
    }
  }
  removeAll();
}

void LogicTest::watchesAndCatches() {
  if (!pf::agent::watchpointsWork()) {
    QSKIP(pf::agent::kNoWatchpoints);
  }
  const auto receives = pf::receivesOf(session().trace()->execution.ranks[0]);
  auto& shown = *m_window->findChild<pf::views::WatchesView*>()->model();
  shown.setExpressions({QStringLiteral("g_total"), QStringLiteral("no_such")});
  QString before;
  auto watch = *parseBreakpoint(QStringLiteral("watch g_total"));
  watch.ranks = QStringLiteral("0");
  session().breakpoints().add(watch);
  auto caught = *parseBreakpoint(QStringLiteral("catch signal SIGUSR1"));
  caught.ranks = QStringLiteral("0");
  session().breakpoints().add(caught);
  waitSettled([&] { session().restartCycle(); });
  for (int stop = 0; stop < 4; ++stop) {  // three changes, then the signal
    const auto& hits = session().cycles().last().recorded;
    QCOMPARE(hits.size(), stop + 1);
    QCOMPARE(hits.last().breakpoint, session().breakpoints().all()[stop < 3 ? 0 : 1].id);
    QTRY_COMPARE_WITH_TIMEOUT(session().cycles().last().recorded.last().values.size(), 2,
                              kPatience);
    const auto& hit = session().cycles().last().recorded.last();
    QCOMPARE(hit.serial, receives[std::min<std::size_t>(static_cast<std::size_t>(stop), 2)]);
    QVERIFY(hit.values[0].value.toInt() > 0);
    QVERIFY(hit.values[1].value.contains(QStringLiteral("No symbol")));
    const QString now = hit.values[0].value;
    const QString value = stop == 0 ? now : QStringLiteral("%1 → %2").arg(before, now);
    if (stop < 3) {
      QTRY_COMPARE_WITH_TIMEOUT(shown.index(0, 1).data().toString(), value, kPatience);
    }
    before = now;
    goOn();
  }
  waitSettled([&] { session().endReplay(); });
  removeAll();
}

void LogicTest::temporaryWithCommands() {
  auto breakpoint = *parseBreakpoint(QStringLiteral("add"));
  breakpoint.ranks = QStringLiteral("0");
  breakpoint.temporary = true;
  breakpoint.commands = {QStringLiteral("print 4000 + value / 1000")};
  session().breakpoints().add(breakpoint);
  QString console;
  QObject listener;  // goes with `console`
  connect(&session(), &pf::session::DebugSession::consoleText, &listener,
          [&](int, const QString& text, bool) { console += text; });
  waitSettled([&] { session().restartCycle(); });
  QCOMPARE(session().cycles().last().recorded.size(), 1);
  QTRY_VERIFY_WITH_TIMEOUT(console.contains(QStringLiteral("= 4000")), kPatience);
  goOn();
  QVERIFY(session().cycles().last().summary.contains(QStringLiteral("ran to the end")));
  QCOMPARE(session().cycles().last().recorded.size(), 1);
  QVERIFY(!last().enabled);
  removeAll();
}

void LogicTest::nextEventsAndRaces() {
  const auto receives = pf::receivesOf(session().trace()->execution.ranks[0]);
  waitSettled([&] { session().go(pf::session::Move::NextRace); });
  const Serial first = session().serialOf(0) + 1;
  QVERIFY(std::count(receives.begin(), receives.end(), first) == 1);
  waitSettled([&] { session().go(pf::session::Move::NextEvent); });
  QCOMPARE(session().serialOf(0), first);
  waitSettled([&] { session().replayTo({0, receives[4]}); });
  waitSettled([&] { session().go(pf::session::Move::PreviousReceive); });
  QCOMPARE(session().serialOf(0), receives[3] - 1);
}

void LogicTest::previousHits() {
  const auto receives = pf::receivesOf(session().trace()->execution.ranks[0]);
  auto breakpoint = *parseBreakpoint(QStringLiteral("add"));
  breakpoint.ranks = QStringLiteral("0");
  session().breakpoints().add(breakpoint);
  const auto hitSerial = [&] {
    const auto& hits = session().cycles().last().recorded;
    return hits.isEmpty() ? Serial{0} : hits.last().serial;
  };
  waitSettled([&] { session().restartCycle(); });
  goOn();
  goOn();
  QTRY_COMPARE_WITH_TIMEOUT(hitSerial(), receives[2], kPatience);
  const qsizetype cycles = session().cycles().all().size();
  waitSettled([&] { session().previousHit(); });
  QTRY_COMPARE_WITH_TIMEOUT(hitSerial(), receives[1], kPatience);
  waitSettled([&] { session().previousHit(); });
  QTRY_COMPARE_WITH_TIMEOUT(hitSerial(), receives[0], kPatience);
  QCOMPARE(session().cycles().all().size(), cycles + 2);
  session().previousHit();  // there is none
  QCOMPARE(session().cycles().all().size(), cycles + 2);
  goOn();  // the breakpoint is as it was
  QTRY_COMPARE_WITH_TIMEOUT(hitSerial(), receives[1], kPatience);
  removeAll();
}

void LogicTest::lastChange() {
  if (!pf::agent::watchpointsWork()) {
    QSKIP(pf::agent::kNoWatchpoints);
  }
  const auto receives = pf::receivesOf(session().trace()->execution.ranks[0]);
  session().breakpoints().add(*parseBreakpoint(QStringLiteral("add")));  // does not stop meanwhile
  waitSettled([&] { session().replayTo({0, receives[0]}); });
  session().breakpoints().remove({last().id});
  waitSettled([&] { session().replayTo({0, receives[3]}); });
  session().setCurrentRank(0);
  const auto value = [&](const QString& expression) {
    QString text;
    session().inspector().evaluate(expression, [&](const QString& found) { text = found; });
    return QTest::qWaitFor([&] { return !text.isEmpty(); }, kPatience) ? text : QString();
  };
  const QString before = value(QStringLiteral("g_total"));
  session().breakpoints().add(*parseBreakpoint(QStringLiteral("add")));
  waitSettled([&] { session().lastChange(QStringLiteral("g_total")); });
  const QString summary = session().cycles().last().summary;
  QVERIFY2(summary.contains(QStringLiteral("last change of g_total")) &&
               summary.endsWith(QStringLiteral("is ") + before),
           qPrintable(summary));
  QTRY_COMPARE_WITH_TIMEOUT(session().rankStates()[0].where.section(QLatin1Char('('), 0, 0),
                            QStringLiteral("add"), kPatience);
  goOn();  // and the breakpoint stops again
  QVERIFY(session().cycles().last().summary.contains(QStringLiteral("breakpoint")));
  const int cycle = session().cycles().lastNumber();
  session().lastChange(QStringLiteral("no_such"));
  QTRY_VERIFY2_WITH_TIMEOUT(
      m_window->statusText().contains(QStringLiteral("no_such cannot be watched: No symbol")),
      qPrintable(m_window->statusText()), kPatience);
  QCOMPARE(session().cycles().lastNumber(), cycle);  // the rank is where it was
  removeAll();
}

/// The program is changed and rebuilt: its line is three further down, and another value is added.
void LogicTest::movesWithItsLine() {
  const int line = lineOf(kSmall, "g_total += value");
  auto breakpoint = *parseBreakpoint(QStringLiteral("%1:%2").arg(m_source).arg(line));
  breakpoint.ranks = QStringLiteral("0");
  session().breakpoints().add(breakpoint);
  waitSettled([&] { session().restartCycle(); });
  QTRY_VERIFY_WITH_TIMEOUT(!session().cycles().last().recorded.last().values.isEmpty(), kPatience);
  waitSettled([&] { session().endReplay(); });
  const auto* notice = m_window->findChild<QLabel*>(QStringLiteral("sourceNotice"));
  QVERIFY(notice != nullptr && !notice->isVisibleTo(m_window.get()));
  QTest::qWait(1100);  // files' times
  QByteArray changed = kSmall;
  changed.replace("int g_total = 0;", "\n\n\nint g_total = 5;");
  QVERIFY(write(changed));
  waitSettled([&] { session().restartCycle(); });
  QVERIFY2(notice->text().contains(QStringLiteral("is newer than the program")) &&
               notice->isVisibleTo(m_window.get()),
           qPrintable(notice->text()));
  QTRY_VERIFY_WITH_TIMEOUT(!session().cycles().last().recorded.last().values.isEmpty(), kPatience);
  waitSettled([&] { session().endReplay(); });
  QVERIFY(build(changed));
  QSignalSpy messages(&session(), &pf::session::DebugSession::message);
  waitSettled([&] { session().restartCycle(); });
  QCOMPARE(last().line, line + 3);
  QVERIFY(messages.first().first().toString().contains(QStringLiteral("has moved")));
  QVERIFY2(m_window->statusText().contains(QStringLiteral("Allow a program that was rebuilt")),
           qPrintable(m_window->statusText()));
  session().allowRebuilt(true);
  waitSettled([&] { session().restartCycle(); });
  QCOMPARE(session().cycles().last().recorded.size(), 1);
  QTRY_VERIFY_WITH_TIMEOUT(!session().cycles().last().recorded.last().values.isEmpty(), kPatience);
  QCOMPARE(session().cycles().last().recorded.last().values[0].value, QStringLiteral("5"));
  const auto& cycles = session().cycles().all();
  QVERIFY(cycles.last().build != cycles[cycles.size() - 3].build);
  bool valueDiffers = false;
  for (const auto& row : pf::views::compareCycles(cycles[cycles.size() - 3], cycles.last())) {
    valueDiffers =
        valueDiffers || (row.value == QStringLiteral("g_total") &&
                         row.first == QStringLiteral("0") && row.second == QStringLiteral("5"));
  }
  QVERIFY(valueDiffers);
  m_window->findChild<QAction*>(QStringLiteral("compareCycles"))->trigger();
  auto* dialog = m_window->findChild<QDialog*>(QStringLiteral("cycleComparison"));
  QVERIFY(dialog != nullptr);
  dialog->close();
  waitSettled([&] { session().endReplay(); });
}

void LogicTest::cleanup() {
  if (QTest::currentTestFailed() && m_window != nullptr) {
    session().endReplay();
    removeAll();
  }
}

void LogicTest::cleanupTestCase() {
  m_window.reset();
}

}  // namespace

QTEST_MAIN(LogicTest)
#include "logic_test.moc"
