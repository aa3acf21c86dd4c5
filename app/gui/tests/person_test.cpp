// SPDX-License-Identifier: GPL-3.0-or-later
// What a person does to find a bug, in the real window on an X server, with mouse and keys: races,
// replay to there, look, back, cause. Three programs of the corpus: a wrong value, a crash, a hang.
// Pictures go to $PF_SCREENSHOTS (default: screenshots/ beside the programs), and the time of every
// turn of the event loop is taken.
#include "app/gui/tests/person.h"

#include <csignal>

#include <QLineEdit>
#include <QTableView>
#include <QToolButton>

#include "app/gui/tests/turn_meter.h"

namespace {

namespace test = pf::gui::test;
using test::Hand;
using test::kPatience;
using test::lineText;

class PersonTest : public test::Person {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase();
  void aWrongValue();
  void aWrongValueByTheBanner();
  void aCrash();
  void aHang();
  void turnsAreMeasured();

 private:
  /// Records a program of the corpus until a run fails as `fails` says, and opens it.
  [[nodiscard]] bool start(const char* program, const QStringList& options,
                           const std::function<bool(const test::Recorded&)>& fails);
  [[nodiscard]] QModelIndex yieldThatIsAReport();
  void itTakesAReport();
};

void PersonTest::initTestCase() {
  prepare();
  static_cast<test::TurnMeter*>(qApp)->begin();
}

bool PersonTest::start(const char* program, const QStringList& options,
                       const std::function<bool(const test::Recorded&)>& fails) {
  return open(QString::fromLatin1(program), options, 4,
              {test::bin((QByteArray("corpus/") + program).constData())}, fails);
}

/// A receive in collect_yields that took a report (tag 4).
QModelIndex PersonTest::yieldThatIsAReport() {
  const auto& execution = session().trace()->execution;
  return raceRow([&](const pf::Race& race) {
    const pf::EventRef post{
        race.rank, execution.ranks[static_cast<std::size_t>(race.rank)].receives[race.index].post};
    const std::uint32_t site =
        execution.ranks[static_cast<std::size_t>(race.rank)].events[post.serial - 1].site;
    return execution.sites[site].function == "collect_yields" &&
           execution.messages[race.taken].tag == 4;
  });
}

/// Before that receive: it takes one with a report's tag.
void PersonTest::itTakesAReport() {
  QTRY_COMPARE_WITH_TIMEOUT(here(), QStringLiteral("collect_yields"), kPatience);
  go("F10");
  openVariable("status");
  QTRY_COMPARE_WITH_TIMEOUT(valueOf(QStringLiteral("status"), QStringLiteral("MPI_TAG")),
                            QStringLiteral("4"), kPatience);
}

/// harvest: at the failing receive a report has a wrong number. Of the receives that took a report
/// (tag 4), one in collect_yields could have taken a yield.
void PersonTest::aWrongValue() {
  QVERIFY(start("harvest", {}, [](const test::Recorded& run) {
    return run.status != 0 && run.output.contains("reports");
  }));
  look("harvest-opened");
  go("F4");
  QTRY_COMPARE_WITH_TIMEOUT(here(), QStringLiteral("collect_reports"), kPatience);
  look("harvest-failing-receive");
  const auto atCheck = [this] {
    return lineText(m_window->stack().model()->frames().first())
        .contains(QLatin1String("report.number != expected"));
  };
  for (int steps = 0; steps < 8 && !atCheck(); ++steps) {
    go("F10");
    QTest::qWait(300);
  }
  QVERIFY(atCheck());
  openVariable("report");
  QTRY_VERIFY_WITH_TIMEOUT(!valueOf(QStringLiteral("report"), QStringLiteral("number")).isEmpty(),
                           kPatience);
  // Where does it come from? By the variable's menu.
  Hand::clickWhenMenu(m_window->variables().messageAction());
  QVERIFY(Hand::clickRow(m_window->variables().tree(), variable(QStringLiteral("report")),
                         Hand::Right));
  QTRY_VERIFY_WITH_TIMEOUT(
      m_window->statusText().contains(QLatin1String("was filled last by MPI_Recv at harvest.c:")),
      kPatience);
  QVERIFY2(
      m_window->statusText().contains(QLatin1String("24 bytes, sent by MPI_Send at harvest.c:")),
      qPrintable(m_window->statusText()));
  look("harvest-wrong-value");
  QTRY_VERIFY_WITH_TIMEOUT(valueOf(QStringLiteral("report"), QStringLiteral("number")) !=
                               valueOf(QStringLiteral("expected")),
                           kPatience);  // none of them while the variables of a last step arrive

  Hand::press("ctrl+1");
  Hand::click(m_window->races().filterEdit());
  Hand::type(QStringLiteral("tag:4"));
  const auto cause = yieldThatIsAReport();
  QVERIFY(cause.isValid());
  QVERIFY(Hand::clickRow(m_window->races().table(), cause));
  look("harvest-race");
  const pf::EventRef event = m_window->diagram().selectedEvent();
  go("Return");
  Hand::press("ctrl+2");
  QCOMPARE(session().serialOf(0), event.serial - 1);
  itTakesAReport();
  look("harvest-cause");
}

/// The same, as one does who has found a bug so before: from the race that the banner names to the one of the same
/// sender's that is of another place.
void PersonTest::aWrongValueByTheBanner() {
  QVERIFY(start("harvest", {}, [](const test::Recorded& run) {
    return run.status != 0 && run.output.contains("reports");
  }));
  const auto* first = m_window->findChild<QToolButton*>(QStringLiteral("firstRace"));
  QTRY_VERIFY_WITH_TIMEOUT(first->isVisible(), kPatience);
  Hand::click(first);
  look("harvest-first-race");
  QVERIFY(Hand::clickRow(m_window->races().table(), yieldThatIsAReport()));
  go("Return");
  Hand::press("ctrl+2");
  itTakesAReport();
  look("harvest-first-race-cause");
  found(8);
}

/// segfault_in_order: a null list. Back, receive by receive, to the one that took rank 2's message
/// before rank 1's.
void PersonTest::aCrash() {
  QVERIFY(start("segfault_in_order", {}, [](const test::Recorded& run) {
    return run.status == 128 + SIGSEGV || run.status == SIGSEGV;
  }));
  look("crash-opened");
  go("F4");
  go("F5");
  QTRY_COMPARE_WITH_TIMEOUT(here(), QStringLiteral("apply"), kPatience);
  QTRY_COMPARE_WITH_TIMEOUT(valueOf(QStringLiteral("list")), QStringLiteral("0x0"), kPatience);
  QTRY_COMPARE_WITH_TIMEOUT(valueOf(QStringLiteral("source")), QStringLiteral("2"), kPatience);
  look("crash-null");
  const auto cause = raceRow([&](const pf::Race& race) {
    return session().trace()->execution.messages[race.taken].send.rank == 2;
  });
  QVERIFY(cause.isValid());
  Hand::press("ctrl+1");
  QVERIFY(Hand::clickRow(m_window->races().table(), cause));
  const pf::EventRef event = m_window->diagram().selectedEvent();
  look("crash-race");
  for (int back = 0; back < 3 && session().serialOf(0) + 1 > event.serial; ++back) {
    go("ctrl+shift+F8");
  }
  QCOMPARE(session().serialOf(0), event.serial - 1);
  go("F10");
  look("crash-cause");
  found(12);
}

/// deadlock_in_order: rank 0 waits for a second message of rank 2.
void PersonTest::aHang() {
  QVERIFY(start("deadlock_in_order", {QStringLiteral("--end-stuck")},
                [](const test::Recorded& run) { return run.output.contains("waits"); }));
  look("hang-opened");
  QVERIFY(Hand::clickTab(m_window.get(), QStringLiteral("Message queues")));
  look("hang-queues");
  go("F4");
  QVERIFY(Hand::clickTab(m_window.get(), QStringLiteral("Parallel stacks")));
  look("hang-stacks");
  Hand::press("ctrl+1");
  const auto cause = raceRow([](const pf::Race&) { return true; });
  QVERIFY(Hand::clickRow(m_window->races().table(), cause));
  const pf::EventRef event = m_window->diagram().selectedEvent();
  go("Return");
  Hand::press("ctrl+2");
  QCOMPARE(session().serialOf(0), event.serial - 1);
  go("F10");
  openVariable("status");
  QTRY_COMPARE_WITH_TIMEOUT(valueOf(QStringLiteral("status"), QStringLiteral("MPI_SOURCE")),
                            QStringLiteral("2"), kPatience);
  look("hang-cause");
  found(12);
}

/// Told, not asserted: 99.9 % within the bound on a machine of its own (docs/debugging.md).
void PersonTest::turnsAreMeasured() {
  if (m_window != nullptr) {
    session().endReplay();
    QTRY_VERIFY_WITH_TIMEOUT(!session().isReplaying(), kPatience);
  }
  m_window.reset();
  const auto* meter = static_cast<test::TurnMeter*>(qApp);
  qInfo(
      "%zu turns of the event loop, %.3f %% of them at most %.0f ms (%.3f %% by computing time), "
      "longest %.0f ms",
      meter->turns(), meter->share(), test::TurnMeter::kBound, meter->computedShare(),
      meter->longest());
  for (const test::TurnMeter::Long& turn : meter->longTurns()) {
    qInfo("  %.0f ms: %s", turn.milliseconds, qPrintable(turn.heaviest));
  }
  QVERIFY(meter->turns() > 1000);  // they were measured
}

}  // namespace

int main(int argc, char** argv) {
  test::TurnMeter application(argc, argv);
  PersonTest test;
  return QTest::qExec(&test, argc, argv);
}

#include "person_test.moc"
