// Breakpoints of every kind, cycles side by side and ways back, in the real window on real ranks.
#include "breakpoint_dialog.h"
#include "breakpoint_text.h"
#include "main_window.h"

#include <QLabel>
#include <QLineEdit>
#include <QProcess>
#include <QPushButton>
#include <QSettings>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>

#include "app/launcher.h"
#include "core/logical_stops.h"
#include "views/session_models.h"
#include "views/session_views.h"

namespace {

using pf::EventRef;
using pf::Serial;
using pf::session::parseBreakpoint;

constexpr int kPatience = 60000;

class LogicTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase();
  void typedBreakpoints();
  void dialogSaysWhatIsWrong();
  void logicalStopsInEachCycle();
  void allStopAtTheCut();
  void theyAreKeptInTheTrace();
  void cleanupTestCase();

 private:
  void waitSettled(const std::function<void()>& act);
  void open();
  void add(const char* text, pf::views::StopsWho stops = pf::views::StopsWho::Alone);
  void removeAll();
  void goOn();
  [[nodiscard]] const pf::views::Breakpoint& last() { return session().breakpoints().last(); }
  [[nodiscard]] pf::session::DebugSession& session() { return m_window->session(); }

  QTemporaryDir m_directory;
  QString m_trace;
  std::unique_ptr<pf::gui::MainWindow> m_window;
};

void LogicTest::initTestCase() {
  QCoreApplication::setOrganizationName(QStringLiteral("photofinish-test"));
  QSettings::setDefaultFormat(QSettings::IniFormat);
  QSettings::setPath(QSettings::IniFormat, QSettings::UserScope, m_directory.path());
  qputenv("OMPI_ALLOW_RUN_AS_ROOT", "1");
  qputenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
  const QString bin = QString::fromStdString(pf::app::programDirectory());
  m_trace = m_directory.filePath(QStringLiteral("run.pft"));
  QProcess recorder;
  recorder.start(bin + QStringLiteral("/photofinish"),
                 {QStringLiteral("record"), QStringLiteral("-o"), m_trace, QStringLiteral("mpirun"),
                  QStringLiteral("--oversubscribe"), QStringLiteral("-n"), QStringLiteral("3"),
                  bin + QStringLiteral("/corpus/harvest")});
  QVERIFY(recorder.waitForFinished(kPatience));
  open();
}

void LogicTest::open() {
  m_window = std::make_unique<pf::gui::MainWindow>();
  m_window->show();
  QSignalSpy opened(m_window.get(), &pf::gui::MainWindow::opened);
  m_window->openTrace(m_trace);
  QVERIFY(opened.wait(kPatience));
  QVERIFY2(opened.first().first().toBool(), qPrintable(m_window->statusText()));
}

void LogicTest::waitSettled(const std::function<void()>& act) {
  QSignalSpy settled(&session(), &pf::session::DebugSession::settled);
  act();
  QVERIFY2(!settled.isEmpty() || settled.wait(kPatience), qPrintable(m_window->statusText()));
}

void LogicTest::add(const char* text, pf::views::StopsWho stops) {
  const auto parsed = parseBreakpoint(QString::fromUtf8(text));
  QVERIFY(parsed.ok());
  pf::views::Breakpoint breakpoint = *parsed;
  breakpoint.stops = stops;
  session().addBreakpoint(breakpoint);
}

void LogicTest::removeAll() {
  QList<int> ids;
  for (const pf::views::Breakpoint& breakpoint : session().breakpoints()) {
    ids << breakpoint.id;
  }
  session().removeBreakpoints(ids);
}

void LogicTest::goOn() {
  QList<int> ranks;
  for (const pf::views::RankState& state : session().rankStates()) {
    ranks << state.rank;
  }
  waitSettled([&] { session().act(pf::views::RankAction::Continue, ranks); });
}

void LogicTest::typedBreakpoints() {
  using pf::views::BreakpointKind;
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
    pf::views::Breakpoint kept = *breakpoint;
    kept.commands = {QStringLiteral("bt")};
    kept.log = QStringLiteral("x {x}");
    pf::views::setStops(kept, QStringLiteral("0, 2"));
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
}

/// Two stops of one rank: the second is planned when the first is reached. The same in each cycle.
void LogicTest::logicalStopsInEachCycle() {
  const auto receives = pf::receivesOf(session().trace()->execution.ranks[0]);
  QVERIFY(receives.size() >= 3);
  QSignalSpy marks(&session(), &pf::session::DebugSession::marksChanged);
  add("receive 0#3");
  add("receive 0#2");
  QCOMPARE(last().event, (EventRef{0, receives[1]}));
  QCOMPARE(marks.last().first().value<std::vector<pf::views::EventMark>>().size(), 2U);
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
  QCOMPARE(last().state, pf::views::BreakpointState::Failed);
  QVERIFY(last().note.contains(QStringLiteral("has no receive")));
  removeAll();
}

/// Each message of rank 2 stops all ranks: none is beyond what that event needs.
void LogicTest::allStopAtTheCut() {
  add("message from 2", pf::views::StopsWho::All);
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
  QCOMPARE(session().breakpoints().size(), 1);
  QCOMPARE(last().expression, QStringLiteral("message from 2"));
  QCOMPARE(last().stops, pf::views::StopsWho::All);
  QVERIFY(!last().events.isEmpty());
  QCOMPARE(session().cycles().last().recorded.size(), hits);
  QCOMPARE(last().hits.last().hits, static_cast<int>(hits));
  removeAll();
}

void LogicTest::cleanupTestCase() {
  m_window.reset();
}

}  // namespace

QTEST_MAIN(LogicTest)
#include "logic_test.moc"
