// SPDX-License-Identifier: GPL-3.0-or-later
// What failed, in words above the diagram, with what to do about it; until it is answered.
#include <QApplication>
#include <QComboBox>
#include <QDialog>
#include <QFrame>
#include <QLabel>
#include <QSettings>
#include <QSignalSpy>
#include <QTableView>
#include <QTemporaryDir>
#include <QTest>
#include <QTimer>
#include <QToolButton>

#include "app/gui/tests/window_test.h"
#include "plugins/queues/queues_widget.h"
#include "views/diagram/space_time_view.h"
#include "views/models/race_list_model.h"
#include "views/models/rank_models.h"
#include "views/panes/debug_views.h"
#include "views/panes/race_list_view.h"
#include "views/panes/rank_strip.h"
#include "views/panes/stack_tree_view.h"
#include "views/panes/text_views.h"
#include "views/values/stack_tree.h"

namespace {

namespace test = pf::gui::test;
using test::kPatience;

class BannerTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase() { test::setUp(m_directory.path()); }
  void anExitStatusIsToldAndGoneTo();
  void aRankStopsBeforeItAborts();
  void aDivergenceStaysUntilTheNextCycle();
  void aHangShowsWhoWaits();
  void aHangWhileRecordingCanBeEnded();
  void aRightRunHasNone();
  void itFollowsTheColours();

 private:
  /// A run of `program` that ends with `status`, in the window.
  void open(const char* name, int ranks, const char* program, bool failing);
  [[nodiscard]] QFrame& banner() {
    return *m_window->findChild<QFrame*>(QStringLiteral("failureBanner"));
  }
  [[nodiscard]] QString text() {
    return banner().findChild<QLabel*>(QStringLiteral("failureText"))->text();
  }
  [[nodiscard]] QToolButton& button(const char* name) {
    return *banner().findChild<QToolButton*>(QString::fromLatin1(name));
  }

  QTemporaryDir m_directory;
  std::unique_ptr<pf::gui::MainWindow> m_window;
};

void BannerTest::open(const char* name, int ranks, const char* program, bool failing) {
  constexpr int kTries = 60;
  m_window.reset();
  const QString trace = m_directory.filePath(QString::fromLatin1(name));
  bool found = false;
  for (int seed = 1; seed <= kTries && !found; ++seed) {
    const test::Recorded run = test::record(trace,
                                            {QStringLiteral("--mode"), QStringLiteral("all"),
                                             QStringLiteral("--jitter"), QString::number(seed)},
                                            ranks, test::bin(program));
    found = (run.status != 0) == failing;
  }
  QVERIFY(found);
  QString problem;
  m_window = test::open(trace, &problem);
  QVERIFY2(m_window != nullptr, qPrintable(problem));
  m_window->resize(1400, 900);
}

void BannerTest::anExitStatusIsToldAndGoneTo() {
  open("tally.pft", 4, "e2e/tally", true);
  QVERIFY(banner().isVisible());
  QVERIFY2(text().startsWith(QStringLiteral(
               "Rank 0 ended with exit status 1 after event 5. Last line printed: ")),
           qPrintable(text()));
  // So do the ranks' list and what the run has printed.
  QCOMPARE(
      m_window->ranks().model()->index(0, pf::views::RanksModel::DetailColumn).data().toString(),
      QStringLiteral("recorded: exit status 1"));
  const QString printed = m_window->findChild<pf::views::OutputView*>()->text();
  QVERIFY2(printed.startsWith(QStringLiteral("(when it was recorded)\nWRONG ANSWER\n")) &&
               printed.contains(QStringLiteral("\n(when it was recorded, to standard error)\n")),
           qPrintable(printed));
  QVERIFY(button("goThere").isVisible() && !button("whoWaits").isVisible());
  QTRY_VERIFY_WITH_TIMEOUT(button("firstRace").isVisible(), kPatience);
  QVERIFY2(button("firstRace").text().contains(QStringLiteral("first: tally.c:")),
           qPrintable(button("firstRace").text()));

  // Where there is no room beside them, the words have the whole width.
  const auto& words = *banner().findChild<QLabel*>(QStringLiteral("failureText"));
  QTRY_VERIFY(words.geometry().right() < button("goThere").mapTo(&banner(), QPoint()).x());
  m_window->resize(820, 900);
  QTRY_VERIFY(words.width() > banner().width() * 3 / 4 && words.height() < 60);
  m_window->resize(1400, 900);

  const pf::EventRef failing = m_window->session().trace()->failure.event;
  m_window->diagram().selectEvent({1, 1});
  button("firstRace").click();
  QCOMPARE(m_window->diagram().selectedEvent().rank, 0);
  button("goThere").click();
  QTRY_COMPARE_WITH_TIMEOUT(m_window->session().serialOf(0), failing.serial - 1, kPatience);
  QVERIFY2(banner().isVisible(), "it stays until it is answered");
  m_window->session().endReplay();
  button("dismiss").click();
  QVERIFY(!banner().isVisible());
  // The user says that the first receive has failed already: the race of the second is beside the point.
  const QAbstractItemModel& races = *m_window->races().table()->model();
  const auto weights = [&races] {
    QStringList all;
    for (int row = 0; row < races.rowCount(); ++row) {
      all << races.index(row, pf::views::RaceListModel::Severity).data().toString();
    }
    return all.join(QLatin1Char('|'));
  };
  QCOMPARE(weights(), QStringLiteral("first|before failure"));
  m_window->session().bookmarks().markFailing({failing.rank, failing.serial - 2});
  QCOMPARE(weights(), QStringLiteral("first|other"));
  // A rank that ends with a status does not abort: nothing stops it on its way.
  QSignalSpy ended(&m_window->session(), &pf::session::DebugSession::ended);
  m_window->session().restartCycle();
  QVERIFY2(ended.wait(kPatience), qPrintable(m_window->statusText()));
}

/// Where it is then can be looked at; what follows ends the job.
void BannerTest::aRankStopsBeforeItAborts() {
  open("abort.pft", 4, "corpus/mpi_abort_in_order", true);
  pf::session::DebugSession& session = m_window->session();
  QSignalSpy settled(&session, &pf::session::DebugSession::settled);
  session.restartCycle();
  QVERIFY(settled.wait(kPatience));
  QVERIFY2(m_window->statusText().contains(QLatin1String("is about to call MPI_Abort")),
           qPrintable(m_window->statusText()));
  const int rank = session.currentRank();
  QCOMPARE(session.trace()->ends.at(static_cast<std::size_t>(rank)).kind,
           pf::views::RankEndKind::Aborted);
  QTRY_VERIFY_WITH_TIMEOUT(!m_window->stack().model()->frames().isEmpty(), kPatience);
  // Nobody is stopped by the signals that a launcher sends, and then all have ended.
  QList<QString> said;
  connect(&session, &pf::session::DebugSession::stopTold, this,
          [&said](const QString& text) { said << text; });
  QSignalSpy ended(&session, &pf::session::DebugSession::ended);
  session.act(pf::values::RankAction::Continue, {0, 1, 2, 3});
  QVERIFY(ended.wait(kPatience));
  QVERIFY2(said.isEmpty(), qPrintable(said.join(QLatin1Char('\n'))));
}

/// The program goes by what is in a file.
void BannerTest::aDivergenceStaysUntilTheNextCycle() {
  const QString word = m_directory.filePath(QStringLiteral("word"));
  const auto write = [&word](const char* text) {
    QFile file(word);
    QVERIFY(file.open(QIODevice::WriteOnly | QIODevice::Truncate) && file.write(text) > 0);
  };
  write("plain");
  const QString trace = m_directory.filePath(QStringLiteral("steered.pft"));
  QCOMPARE(test::record(trace, {QStringLiteral("--mode"), QStringLiteral("all")}, 3,
                        QStringList{test::bin("e2e/steered"), word})
               .status,
           0);
  write("tag");
  QString problem;
  m_window = test::open(trace, &problem);
  QVERIFY2(m_window != nullptr, qPrintable(problem));
  auto& other = *m_window->findChild<QFrame*>(QStringLiteral("divergenceBanner"));
  QVERIFY(!banner().isVisible() && !other.isVisible());
  m_window->session().restartCycle();
  QTRY_VERIFY_WITH_TIMEOUT(other.isVisible(), kPatience);
  const QString told = other.findChild<QLabel*>(QStringLiteral("failureText"))->text();
  QVERIFY2(
      told.startsWith(QLatin1String("Replay divergence at rank 1, event 5: expected MPI_Send")),
      qPrintable(told));
  other.findChild<QToolButton*>(QStringLiteral("divergedAt"))->click();
  QCOMPARE(m_window->diagram().selectedEvent(), (pf::EventRef{1, 5}));
  // The others stand where they are stopped, or wait; the cut goes there.
  const auto isThere = [this] {
    const auto& rank = m_window->diagram().replayPositions().front();
    return rank.next == m_window->session().serialOf(0) + (rank.inside ? 0 : 1);
  };
  QTRY_VERIFY_WITH_TIMEOUT(isThere(), kPatience);
  write("plain");
  m_window->session().restartCycle();
  QVERIFY(!other.isVisible());
  QSignalSpy ended(&m_window->session(), &pf::session::DebugSession::ended);
  QVERIFY(ended.wait(kPatience));
  QVERIFY(!other.isVisible());
}

void BannerTest::aHangShowsWhoWaits() {
  open("hang.pft", 3, "corpus/deadlock_in_order", true);
  QVERIFY(banner().isVisible());
  QVERIFY2(text().startsWith(QStringLiteral("No rank could get on: rank 0 is in MPI_Recv at "
                                            "deadlock_in_order.c:")) &&
               text().contains(QStringLiteral(
                   " for rank 2, tag 1, ranks 1-2 have finished. Last line printed: ")),
           qPrintable(text()));
  // The rank's last call stands in Parallel stacks, under who made it.
  const auto* stacks = m_window->findChild<pf::views::StackTreeView*>();
  QVERIFY(stacks != nullptr);
  const QModelIndexList calls =
      stacks->model()->match(stacks->model()->index(0, 0), Qt::DisplayRole,
                             QStringLiteral("MPI_Recv"), 1, Qt::MatchExactly | Qt::MatchRecursive);
  QCOMPARE(calls.size(), 1);
  QCOMPARE(calls.first().parent().data().toString(), QStringLiteral("main"));
  auto* const queues = m_window->findChild<pf::plugins::QueuesWidget*>();
  QVERIFY(queues != nullptr);
  button("whoWaits").click();
  QTRY_VERIFY_WITH_TIMEOUT(queues->isVisible(), kPatience);
  QCOMPARE(queues->moment()->currentIndex(), int{pf::plugins::QueuesWidget::End});
}

/// The window records a program that hangs: it says so at once, and can end it.
void BannerTest::aHangWhileRecordingCanBeEnded() {
  QSettings().setValue(QStringLiteral("record/command"),
                       QStringLiteral("mpirun --oversubscribe -n 3 env STUCK=deadlock \"%1\"")
                           .arg(test::bin("e2e/stuck")));
  QSettings().setValue(QStringLiteral("record/directory"), m_directory.path());
  QSettings().remove(QStringLiteral("record/input"));
  open("shown.pft", 4, "e2e/tally", true);  // something else
  QTimer::singleShot(0, this,
                     [] { qobject_cast<QDialog*>(QApplication::activeModalWidget())->accept(); });
  test::command(*m_window, "Ctrl+R");
  QTRY_VERIFY_WITH_TIMEOUT(button("endRecording").isVisible(), kPatience);
  QVERIFY2(text().startsWith(QStringLiteral("The program that is recorded makes no progress: ")) &&
               text().contains(QStringLiteral(" waits in MPI_")),
           qPrintable(text()));
  QVERIFY(!button("goThere").isVisible() && !button("whoWaits").isVisible());
  QSignalSpy opened(m_window.get(), &pf::gui::MainWindow::opened);
  button("endRecording").click();
  QVERIFY(opened.wait(kPatience));
  QVERIFY2(text().startsWith(QStringLiteral("Deadlock: rank ")), qPrintable(text()));
  QVERIFY(!button("endRecording").isVisible() && button("whoWaits").isVisible());
}

void BannerTest::aRightRunHasNone() {
  open("right.pft", 2, "corpus/two_rank_wildcard", false);
  QVERIFY(!banner().isVisible());
}

void BannerTest::itFollowsTheColours() {
  open("tally.pft", 4, "e2e/tally", true);
  const QPalette light = QApplication::palette();
  QPalette dark = light;
  dark.setColor(QPalette::Window, QColor(40, 42, 47));
  dark.setColor(QPalette::WindowText, Qt::white);
  const auto ground = [this] {
    return banner().grab().toImage().pixelColor(3, banner().height() / 2).lightness();
  };
  const auto* text = banner().findChild<QLabel*>(QStringLiteral("failureText"));
  const auto ink = [text] { return text->palette().color(QPalette::WindowText).lightness(); };
  QVERIFY(ground() - ink() > 100);
  QApplication::setPalette(dark);
  QTRY_VERIFY(ink() - ground() > 100);
  QApplication::setPalette(light);
  QTRY_VERIFY(ground() - ink() > 100);
}

}  // namespace

QTEST_MAIN(BannerTest)
#include "banner_test.moc"
