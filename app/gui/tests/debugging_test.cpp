// SPDX-License-Identifier: GPL-3.0-or-later
// The real window on a real recording, with real ranks and a real GDB: the path of someone with a
// bug to find.
#include <algorithm>
#include <optional>

#include <QAbstractItemModel>
#include <QAction>
#include <QDir>
#include <QFile>
#include <QMenu>
#include <QProcess>
#include <QSettings>
#include <QSignalSpy>
#include <QTableView>
#include <QTemporaryDir>
#include <QTest>
#include <QTreeView>

#include "app/collation/failure.h"
#include "app/gui/tests/window_test.h"
#include "views/diagram/space_time_view.h"
#include "views/models/rank_models.h"
#include "views/models/variables_model.h"
#include "views/models/watches_model.h"
#include "views/panes/debug_views.h"
#include "views/panes/race_list_view.h"
#include "views/panes/session_views.h"
#include "views/panes/source_view.h"

namespace {

namespace test = pf::gui::test;
using test::kPatience;

class DebuggingTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase();
  void findsTheBug();
  void memoryLiesWhereItDid();
  void cleanupTestCase();

 private:
  void record();
  void openTrace();
  void selectRaceAndReplay();
  void breakpointInThreeCycles();
  void nextReceive();
  void singleDeliveries();
  void wrongValueAtTheFailure();
  void whichMessageFilledIt();
  void theCyclesAreKept();
  void waitSettled(const std::function<void()>& act);
  int lineOf(const char* text, int after = 0);
  QString valueOf(const QString& name);

  QTemporaryDir m_directory;
  QString m_trace;
  QString m_source;
  std::unique_ptr<pf::gui::MainWindow> m_window;
  pf::EventRef m_failing;
};

void DebuggingTest::initTestCase() {
  test::setUp(m_directory.path());
}

void DebuggingTest::record() {
  m_trace = m_directory.filePath(QStringLiteral("harvest.pft"));
  for (int attempt = 1; attempt <= 60; ++attempt) {
    QStringList options;
    if (attempt > 10) {
      options << QStringLiteral("--jitter") << QString::number(attempt);
    }
    const test::Recorded run = test::record(m_trace, options, 4, test::bin("corpus/harvest"));
    if (run.status != 0 && run.output.contains("reports") && QFile::exists(m_trace)) {
      return;
    }
  }
  QFAIL("no run of 60 failed");
}

void DebuggingTest::openTrace() {
  QString problem;
  m_window = test::open(m_trace, &problem);
  QVERIFY2(m_window != nullptr, qPrintable(problem));
  m_failing = m_window->session().trace()->failure.event;
  QVERIFY(m_failing.valid());
  QCOMPARE(m_failing.rank, 0);
  for (const pf::CallSite& site : m_window->session().trace()->execution.sites) {
    if (site.function == "collect_reports") {
      m_source = QString::fromStdString(site.file);
    }
  }
  QVERIFY(!m_source.isEmpty());
}

void DebuggingTest::waitSettled(const std::function<void()>& act) {
  QSignalSpy settled(&m_window->session(), &pf::session::DebugSession::settled);
  act();
  QVERIFY2(!settled.isEmpty() || settled.wait(kPatience), qPrintable(m_window->statusText()));
}

int DebuggingTest::lineOf(const char* text, int after) {
  QFile file(m_source);
  if (!file.open(QIODevice::ReadOnly)) {
    return 0;
  }
  int number = 0;
  while (!file.atEnd()) {
    ++number;
    if (file.readLine().contains(text) && number > after) {
      return number;
    }
  }
  return 0;
}

QString DebuggingTest::valueOf(const QString& name) {
  auto* model = m_window->variables().model();
  for (int row = 0; row < model->rowCount(); ++row) {
    if (model->index(row, pf::views::VariablesModel::NameColumn).data().toString() == name) {
      return model->index(row, pf::views::VariablesModel::ValueColumn).data().toString();
    }
  }
  return {};
}

void DebuggingTest::selectRaceAndReplay() {
  auto& window = *m_window;
  QTableView* table = window.races().table();
  QVERIFY(table->model()->rowCount() > 0);
  table->setCurrentIndex(table->model()->index(table->model()->rowCount() - 1, 0));
  const int race = window.races().selectedRace();
  QVERIFY(race >= 0);
  const pf::EventRef event = window.diagram().selectedEvent();
  QVERIFY(event.valid());
  QCOMPARE(event.rank, 0);
  waitSettled([&] { window.diagram().action(pf::views::DiagramAction::ReplayHere)->trigger(); });
  QCOMPARE(window.session().serialOf(0), event.serial - 1);
  QTRY_VERIFY_WITH_TIMEOUT(!window.stack().model()->frames().isEmpty(), kPatience);
  QCOMPARE(window.stack().model()->frames().first().function, QStringLiteral("MPI_Recv"));
  QTRY_COMPARE_WITH_TIMEOUT(window.source().currentFile(), m_source, kPatience);
}

void DebuggingTest::breakpointInThreeCycles() {
  auto& session = m_window->session();
  const int line = lineOf("trial->kilograms[parcel.number] = parcel.kilograms");
  QVERIFY(line > 0);
  session.breakpoints().toggle(m_source, line);
  QList<pf::Serial> serials;
  QStringList values;
  for (int cycle = 0; cycle < 3; ++cycle) {
    waitSettled([&] { session.restartCycle(); });
    QTRY_VERIFY_WITH_TIMEOUT(!m_window->stack().model()->frames().isEmpty(), kPatience);
    QTRY_VERIFY_WITH_TIMEOUT(!valueOf(QStringLiteral("parcel")).isEmpty(), kPatience);
    serials << session.serialOf(0);
    QVERIFY(session.cycles().last().summary.contains(QStringLiteral("breakpoint")));
  }
  QCOMPARE(serials.size(), 3);
  QVERIFY(serials[0] > 0);
  QCOMPARE(serials[1], serials[0]);
  QCOMPARE(serials[2], serials[0]);
  session.breakpoints().remove({session.breakpoints().all().first().id});
}

void DebuggingTest::nextReceive() {
  auto& session = m_window->session();
  const pf::Serial before = session.serialOf(0);
  waitSettled([&] { session.go(pf::session::Move::NextReceive); });
  const pf::Serial after = session.serialOf(0);
  QVERIFY(after >= before);
  const auto& events = session.trace()->execution.ranks[0].events;
  QCOMPARE(events[after].kind, pf::EventKind::Receive);  // the next event, not begun
  waitSettled([&] { session.go(pf::session::Move::NextReceive); });
  QVERIFY(session.serialOf(0) > after);
}

/// From the start: each step brings one rank behind its next delivery, and none back. Then one
/// event back, and the same step again. (How far the others are may differ: MPI itself may need
/// them to go on.)
void DebuggingTest::singleDeliveries() {
  auto& session = m_window->session();
  const auto& ranks = session.trace()->execution.ranks;
  const auto serials = [&] {
    std::vector<pf::Serial> all;
    for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
      all.push_back(session.serialOf(static_cast<int>(rank)));
    }
    return all;
  };
  const auto step = [&](bool anywhere) {
    const std::vector<pf::Serial> before = serials();
    waitSettled([&] {
      session.go(anywhere ? pf::session::Move::NextDeliveryAnywhere
                          : pf::session::Move::NextDelivery);
    });
    const std::vector<pf::Serial> after = serials();
    const auto rank = static_cast<std::size_t>(session.currentRank());
    QVERIFY(pf::app::receives(ranks[rank], after[rank]));
    for (pf::Serial between = before[rank] + 1; between < after[rank]; ++between) {
      QVERIFY(!pf::app::receives(ranks[rank], between));
    }
    for (std::size_t other = 0; other < ranks.size(); ++other) {
      QVERIFY(after[other] >= before[other]);
    }
  };
  waitSettled([&] { session.replayTo({0, 2}); });
  const qsizetype cycles = session.cycles().all().size();
  for (int i = 0; i < 4 && !QTest::currentTestFailed(); ++i) {
    step(true);
  }
  session.setCurrentRank(0);
  step(false);
  QCOMPARE(session.cycles().all().size(), cycles);  // they go on from where they are
  const std::vector<pf::Serial> there = serials();
  waitSettled([&] { session.go(pf::session::Move::PreviousEvent); });
  QCOMPARE(session.serialOf(0), there[0] - 1);
  QCOMPARE(session.cycles().all().size(), cycles + 1);
  waitSettled([&] { session.go(pf::session::Move::NextDelivery); });
  QCOMPARE(session.serialOf(0), there[0]);
}

void DebuggingTest::wrongValueAtTheFailure() {
  auto& session = m_window->session();
  waitSettled([&] { session.go(pf::session::Move::Failure); });
  QCOMPARE(session.serialOf(0), m_failing.serial - 1);
  const int check = lineOf("if (report.number != expected || report.error < 0.0)");
  const auto atCheck = [&] {
    for (const auto& frame : m_window->stack().model()->frames()) {
      if (frame.function == QStringLiteral("collect_reports")) {
        return frame.line == check;
      }
    }
    return false;
  };
  for (int steps = 0; steps < 8 && !atCheck(); ++steps) {
    waitSettled([&] { session.act(pf::values::RankAction::Next, {0}); });
    QTest::qWait(300);
  }
  const auto frames = m_window->stack().model()->frames();
  QVERIFY2(atCheck(), qPrintable(frames.isEmpty() ? m_window->statusText()
                                                  : QStringLiteral("at %1:%2, %3")
                                                        .arg(frames.first().function)
                                                        .arg(frames.first().line)
                                                        .arg(m_window->statusText())));
  QTRY_VERIFY_WITH_TIMEOUT(!valueOf(QStringLiteral("expected")).isEmpty(), kPatience);
  QString number;
  session.inspector().evaluate(QStringLiteral("report.number"),
                               [&](const QString& value) { number = value; });
  QTRY_VERIFY_WITH_TIMEOUT(!number.isEmpty(), kPatience);
  QVERIFY2(number != valueOf(QStringLiteral("expected")), qPrintable(number));
  // A structure opens in Watches as it does in Variables.
  auto& watches = *m_window->findChild<pf::views::WatchesView*>();
  auto& model = *watches.model();
  QVERIFY(model.addExpression(QStringLiteral("&report")));
  const QModelIndex top = model.index(model.rowCount() - 1, 0);
  QTRY_VERIFY_WITH_TIMEOUT(model.hasChildren(top), kPatience);
  watches.tree()->expand(top);
  const auto shownOf = [&](const QString& name) {
    for (int row = 0; row < model.rowCount(top); ++row) {
      const pf::values::Variable* part = model.variable(model.index(row, 0, top));
      if (part->name == name) {
        return part->value;
      }
    }
    return QString();
  };
  QTRY_COMPARE_WITH_TIMEOUT(shownOf(QStringLiteral("number")), number, kPatience);
  if (const QString shots = qEnvironmentVariable("PF_SHOTS"); !shots.isEmpty()) {
    watches.window()->grab().save(shots + QStringLiteral("/watch-open.png"));
  }
  // In another format, by its menu; its parts are in the same one.
  watches.tree()->setCurrentIndex(top);
  watches.formats()->actions().at(1)->trigger();
  QCOMPARE(model.expressions().last(), QStringLiteral("/x &report"));
  const QString hexadecimal = QStringLiteral("0x") + QString::number(number.toInt(), 16);
  QTRY_COMPARE_WITH_TIMEOUT(shownOf(QStringLiteral("number")), hexadecimal, kPatience);
  // A part is watched by GDB's expression.
  auto& variables = *m_window->findChild<pf::views::VariablesView*>();
  const QModelIndex report = variables.model()->indexOf(QStringLiteral("v/report"));
  QVERIFY(report.isValid());
  variables.tree()->expand(report);
  QTRY_VERIFY_WITH_TIMEOUT(variables.model()->rowCount(report) > 0, kPatience);
  variables.tree()->setCurrentIndex(variables.model()->index(0, 0, report));
  variables.watchAction()->trigger();
  QTRY_VERIFY_WITH_TIMEOUT(model.expressions().last().contains(QLatin1String("(report).")),
                           kPatience);
  model.removeExpression(model.rowCount() - 1);
  model.removeExpression(top.row());
}

/// At the check behind the failing receive, which filled `report`.
void DebuggingTest::whichMessageFilledIt() {
  auto& session = m_window->session();
  using Answer = pf::session::WhichMessage;
  const auto ask = [&](const char* expression) {
    std::optional<Answer> answer;
    session.buffers().ask(QString::fromLatin1(expression),
                          [&](const Answer& given) { answer = given; });
    (void)QTest::qWaitFor([&] { return answer.has_value(); }, kPatience);
    return answer.value_or(Answer{QStringLiteral("no answer"), {}, true});
  };
  const auto& execution = session.trace()->execution;
  for (const char* expression : {"report", "report.kilograms", "&report", "(char*)&report + 23"}) {
    const Answer answer = ask(expression);
    QVERIFY2(!answer.problem && answer.event == m_failing, qPrintable(answer.text));
  }
  const QString text = ask("report").text;
  for (const pf::PostedReceive& receive : execution.ranks[0].receives) {
    if (receive.completion == m_failing.serial) {
      QVERIFY2(text.contains(
                   QStringLiteral(
                       "message of rank %1 with tag %2, 24 bytes, sent by MPI_Send at harvest.c:")
                       .arg(receive.source)
                       .arg(receive.tag)),
               qPrintable(text));
    }
  }
  QVERIFY(!ask("trial->given[0]").event.valid());
  QVERIFY(!ask("trial->given[0]").problem);
  QVERIFY2(ask("(char*)&report + 24").event != m_failing, "one byte behind it");
  QVERIFY(ask("nosuch").problem);
  // One event earlier it was another message, or none.
  waitSettled([&] { session.go(pf::session::Move::PreviousReceive); });
  QTRY_VERIFY_WITH_TIMEOUT(!m_window->stack().model()->frames().isEmpty(), kPatience);
  QVERIFY2(ask("report").event != m_failing, qPrintable(ask("report").text));
}

void DebuggingTest::theCyclesAreKept() {
  auto& session = m_window->session();
  const qsizetype cycles = session.cycles().all().size();
  QVERIFY(cycles >= 4);
  waitSettled([&] { session.endReplay(); });
  QTRY_VERIFY_WITH_TIMEOUT(session.cycles().isKept(), kPatience);
  pf::gui::MainWindow again;
  QSignalSpy opened(&again, &pf::gui::MainWindow::opened);
  again.openTrace(m_trace);
  QVERIFY(opened.wait(kPatience));
  QCOMPARE(again.session().cycles().all().size(), cycles);
  QVERIFY(!again.session().cycles().last().stops.isEmpty());
}

void DebuggingTest::findsTheBug() {
  record();
  for (void (DebuggingTest::*step)() :
       {&DebuggingTest::openTrace, &DebuggingTest::selectRaceAndReplay,
        &DebuggingTest::breakpointInThreeCycles, &DebuggingTest::nextReceive,
        &DebuggingTest::singleDeliveries, &DebuggingTest::wrongValueAtTheFailure,
        &DebuggingTest::whichMessageFilledIt, &DebuggingTest::theCyclesAreKept}) {
    if (!QTest::currentTestFailed()) {
      (this->*step)();
    }
  }
}

/// A run that was recorded with --same-addresses prints the same hash of all its addresses in each
/// cycle, on a terminal and with a GDB.
void DebuggingTest::memoryLiesWhereItDid() {
  const auto hashes = [](const QByteArray& text) {
    QList<QByteArray> lines;
    for (const QByteArray& line : text.split('\n')) {
      if (line.contains(" all ")) {
        lines << line.trimmed();
      }
    }
    std::sort(lines.begin(), lines.end());
    return lines;
  };
  const QString trace = m_directory.filePath(QStringLiteral("addresses.pft"));
  const test::Recorded run =
      test::record(trace, {QStringLiteral("--same-addresses")}, 3, test::bin("e2e/addresses"));
  QCOMPARE(run.status, 0);
  const QList<QByteArray> recorded = hashes(run.output);
  QCOMPARE(recorded.size(), 3);

  QString problem;
  m_window = test::open(trace, &problem);
  QVERIFY2(m_window != nullptr, qPrintable(problem));
  auto& session = m_window->session();
  QByteArray text;
  connect(&session, &pf::session::DebugSession::output, this,
          [&](int, pf::values::OutputStream, const QByteArray& bytes) { text += bytes; });
  for (int cycle = 0; cycle < 2; ++cycle) {
    text.clear();
    waitSettled([&] { session.restartCycle(); });
    QTRY_COMPARE_WITH_TIMEOUT(hashes(text).size(), recorded.size(), kPatience);
    QCOMPARE(hashes(text), recorded);
  }
}

void DebuggingTest::cleanupTestCase() {
  m_window.reset();
}

}  // namespace

QTEST_MAIN(DebuggingTest)
#include "debugging_test.moc"
