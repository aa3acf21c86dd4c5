// The real window on a real recording, with real ranks and a real GDB: the path of someone with a
// bug to find.
#include "main_window.h"

#include <QAbstractItemModel>
#include <QDir>
#include <QFile>
#include <QProcess>
#include <QSettings>
#include <QSignalSpy>
#include <QTableView>
#include <QTemporaryDir>
#include <QTest>

#include "views/debug_views.h"
#include "views/race_list_view.h"
#include "views/rank_models.h"
#include "views/session_views.h"
#include "views/source_view.h"
#include "views/space_time_view.h"
#include "views/variables_model.h"

namespace {

constexpr int kPatience = 60000;

class DebuggingTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase();
  void findsTheBug();
  void cleanupTestCase();

 private:
  void record();
  void openTrace();
  void selectRaceAndReplay();
  void breakpointInThreeCycles();
  void nextReceive();
  void singleDeliveries();
  void wrongValueAtTheFailure();
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
  QCoreApplication::setOrganizationName(QStringLiteral("photofinish-test"));
  QSettings::setDefaultFormat(QSettings::IniFormat);
  QSettings::setPath(QSettings::IniFormat, QSettings::UserScope, m_directory.path());
  qputenv("OMPI_ALLOW_RUN_AS_ROOT", "1");
  qputenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
}

void DebuggingTest::record() {
  const QString bin = QString::fromStdString(pf::app::programDirectory());
  m_trace = m_directory.filePath(QStringLiteral("harvest.pft"));
  for (int attempt = 1; attempt <= 60; ++attempt) {
    QFile::remove(m_trace);
    QStringList words = {QStringLiteral("record"), QStringLiteral("-o"), m_trace};
    if (attempt > 10) {
      words << QStringLiteral("--jitter") << QString::number(attempt);
    }
    words << QStringLiteral("mpirun") << QStringLiteral("--oversubscribe") << QStringLiteral("-n")
          << QStringLiteral("4") << bin + QStringLiteral("/corpus/harvest");
    QProcess process;
    process.setProcessChannelMode(QProcess::MergedChannels);
    process.start(bin + QStringLiteral("/photofinish"), words);
    QVERIFY(process.waitForFinished(kPatience));
    if (process.exitCode() != 0 && process.readAll().contains("reports") &&
        QFile::exists(m_trace)) {
      return;
    }
  }
  QFAIL("no run of 60 failed");
}

void DebuggingTest::openTrace() {
  m_window = std::make_unique<pf::gui::MainWindow>();
  m_window->show();
  QSignalSpy opened(m_window.get(), &pf::gui::MainWindow::opened);
  m_window->openTrace(m_trace);
  QVERIFY(opened.wait(kPatience));
  QVERIFY2(opened.first().first().toBool(), qPrintable(m_window->statusText()));
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
  QSignalSpy settled(&m_window->session(), &pf::gui::DebugSession::settled);
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
  waitSettled([&] { window.diagram().replayHereAction()->trigger(); });
  QCOMPARE(window.session().serialOf(0), event.serial - 1);
  QTRY_VERIFY_WITH_TIMEOUT(!window.stack().model()->frames().isEmpty(), kPatience);
  QCOMPARE(window.stack().model()->frames().first().function, QStringLiteral("MPI_Recv"));
  QTRY_COMPARE_WITH_TIMEOUT(window.source().currentFile(), m_source, kPatience);
}

void DebuggingTest::breakpointInThreeCycles() {
  auto& session = m_window->session();
  const int line = lineOf("trial->kilograms[parcel.number] = parcel.kilograms");
  QVERIFY(line > 0);
  session.toggleBreakpoint(m_source, line);
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
  session.removeBreakpoints({session.breakpoints().first().id});
}

void DebuggingTest::nextReceive() {
  auto& session = m_window->session();
  const pf::Serial before = session.serialOf(0);
  waitSettled([&] { session.stepToNextReceive(); });
  const pf::Serial after = session.serialOf(0);
  QVERIFY(after >= before);
  const auto& events = session.trace()->execution.ranks[0].events;
  QCOMPARE(events[after].kind, pf::EventKind::Receive);  // the next event, not begun
  waitSettled([&] { session.stepToNextReceive(); });
  QVERIFY(session.serialOf(0) > after);
}

/// From the start: each step takes one message more, in one order that goes forward in time. Then
/// one event back, and the same step again.
void DebuggingTest::singleDeliveries() {
  auto& session = m_window->session();
  const pf::Execution& execution = session.trace()->execution;
  const auto taken = [&] {
    std::size_t messages = 0;
    for (const pf::Message& message : execution.messages) {
      messages += message.completion != 0 && message.completion <= session.serialOf(message.dest);
    }
    return messages;
  };
  waitSettled([&] { session.endReplay(); });
  std::size_t before = 0;
  for (int step = 0; step < 4; ++step) {
    waitSettled([&] { session.deliverNext(true); });
    QVERIFY2(taken() == before + 1, qPrintable(QStringLiteral("step %1: %2 messages taken")
                                                   .arg(step)
                                                   .arg(taken())));
    before = taken();
  }
  const qsizetype cycles = session.cycles().size();
  session.setCurrentRank(0);
  waitSettled([&] { session.deliverNext(false); });
  QCOMPARE(session.cycles().size(), cycles);  // it goes on from there
  QCOMPARE(session.currentRank(), 0);
  QVERIFY(taken() > before);
  const pf::Serial serial = session.serialOf(0);
  const std::size_t all = taken();
  waitSettled([&] { session.previousEvent(); });
  QCOMPARE(session.serialOf(0), serial - 1);
  QVERIFY(taken() < all);
  QCOMPARE(session.cycles().size(), cycles + 1);
  waitSettled([&] { session.deliverNext(false); });
  QCOMPARE(session.serialOf(0), serial);
  QCOMPARE(taken(), all);
}

void DebuggingTest::wrongValueAtTheFailure() {
  auto& session = m_window->session();
  waitSettled([&] { session.runToFailure(); });
  QCOMPARE(session.serialOf(0), m_failing.serial - 1);
  const int check = lineOf("if (report.number != expected)");
  const auto atCheck = [&] {
    for (const auto& frame : m_window->stack().model()->frames()) {
      if (frame.function == QStringLiteral("collect_reports")) {
        return frame.line == check;
      }
    }
    return false;
  };
  for (int steps = 0; steps < 8 && !atCheck(); ++steps) {
    waitSettled([&] { session.act(pf::views::RankAction::Next, {0}); });
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
  session.evaluate(QStringLiteral("report.number"), [&](const QString& value) { number = value; });
  QTRY_VERIFY_WITH_TIMEOUT(!number.isEmpty(), kPatience);
  QVERIFY2(number != valueOf(QStringLiteral("expected")), qPrintable(number));
}

void DebuggingTest::theCyclesAreKept() {
  auto& session = m_window->session();
  const qsizetype cycles = session.cycles().size();
  QVERIFY(cycles >= 4);
  waitSettled([&] { session.endReplay(); });
  pf::gui::MainWindow again;
  QSignalSpy opened(&again, &pf::gui::MainWindow::opened);
  again.openTrace(m_trace);
  QVERIFY(opened.wait(kPatience));
  QCOMPARE(again.session().cycles().size(), cycles);
  QVERIFY(!again.session().cycles().last().stops.isEmpty());
}

void DebuggingTest::findsTheBug() {
  record();
  for (void (DebuggingTest::*step)() :
       {&DebuggingTest::openTrace, &DebuggingTest::selectRaceAndReplay,
        &DebuggingTest::breakpointInThreeCycles, &DebuggingTest::nextReceive,
        &DebuggingTest::singleDeliveries, &DebuggingTest::wrongValueAtTheFailure, &DebuggingTest::theCyclesAreKept}) {
    if (!QTest::currentTestFailed()) {
      (this->*step)();
    }
  }
}

void DebuggingTest::cleanupTestCase() {
  m_window.reset();
}

}  // namespace

QTEST_MAIN(DebuggingTest)
#include "debugging_test.moc"
