// SPDX-License-Identifier: GPL-3.0-or-later
// The three workspaces, the time-travel bar and the start page, with real recordings and replays.
#include "app/gui/panes/workspaces.h"

#include <algorithm>

#include <QAction>
#include <QCommandLinkButton>
#include <QCryptographicHash>
#include <QDataStream>
#include <QDockWidget>
#include <QFrame>
#include <QLabel>
#include <QListWidget>
#include <QMenu>
#include <QPointer>
#include <QPushButton>
#include <QRegularExpression>
#include <QScrollBar>
#include <QSplitter>
#include <QStatusBar>
#include <QTableView>
#include <QTemporaryDir>
#include <QTextBrowser>
#include <QToolButton>
#include <QTreeWidget>

#include "app/gui/panes/time_travel_bar.h"
#include "app/gui/tests/window_test.h"
#include "views/diagram/canvas/space_time_canvas.h"
#include "views/diagram/space_time_view.h"
#include "views/models/rank_models.h"
#include "views/models/variables_model.h"
#include "views/models/watches_model.h"
#include "views/panes/action_tips.h"
#include "views/panes/debug_views.h"
#include "views/panes/race_list_view.h"
#include "views/panes/rank_strip.h"
#include "views/panes/session_views.h"
#include "views/panes/source_view.h"
#include "views/panes/text_views.h"

namespace {

namespace test = pf::gui::test;
using pf::gui::Workspace;
using test::kPatience;

class WorkspacesTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase();
  void init() { QSettings().clear(); }
  void cleanup();
  void anExitStatusOpensOnRaces();
  void aHangOpensOnWhoWaits();
  void aReplayIsLookedAtInTheSource();
  void whatIsChosenByHandStays();
  void keysSwitch();
  void eachIsKeptAsItWasLeft();
  void oneIsResetAlone();
  void damagedOnesAreIgnored_data();
  void damagedOnesAreIgnored();
  void aSessionsFileHasTheOneThatWasThere();
  void allFitASmallScreen();
  void theRacesFitASmallScreen();
  void theBarSaysWhereARankIs();
  void theBarSaysWhatAStepBackCosts();
  void aSnapshotCostsLess();
  void whatCannotBeDoneSaysWhy();
  void aKeyDuringASurveySaysWhy();
  void anotherRecordingShowsNothingOfTheFormer();
  void keysAreForOneCommandEach();
  void theStartPageSaysWhatToDo();
  void theExampleIsOneClick();
  void aLessonIsRecordedByOneClick();

 private:
  void record(const QString& trace, const QStringList& options, int ranks, const char* program,
              bool failing);
  void open(const QString& trace);
  [[nodiscard]] pf::gui::Workspaces& workspaces() { return m_window->workspaces(); }
  [[nodiscard]] pf::session::DebugSession& session() { return m_window->session(); }
  [[nodiscard]] pf::gui::TimeTravelBar& bar() { return m_window->timeTravel(); }
  [[nodiscard]] QAction& action(const char* name) {
    return *m_window->findChild<QAction*>(QString::fromLatin1(name));
  }
  [[nodiscard]] QString why(const char* name) { return pf::views::whyNot(action(name)); }
  [[nodiscard]] QDockWidget& dock(const char* name) {
    return *m_window->findChild<QDockWidget*>(QString::fromLatin1(name));
  }
  /// In front of those that share its place.
  [[nodiscard]] bool isSeen(const char* name) {
    return dock(name).isVisible() && !dock(name).visibleRegion().isEmpty();
  }
  void settle(const std::function<void()>& act);
  void end();

  QTemporaryDir m_directory;
  QString m_failing = m_directory.filePath(QStringLiteral("tally.pft"));
  QString m_hanging = m_directory.filePath(QStringLiteral("hang.pft"));
  QString m_right = m_directory.filePath(QStringLiteral("right.pft"));
  std::unique_ptr<pf::gui::MainWindow> m_window;
};

void WorkspacesTest::initTestCase() {
  test::setUp(m_directory.path());
  qputenv("XDG_DATA_HOME", m_directory.path().toUtf8());
  record(m_failing, {}, 4, "e2e/tally", true);
  record(m_hanging, {}, 3, "corpus/deadlock_in_order", true);
  record(m_right, {}, 2, "corpus/two_rank_wildcard", false);
}

void WorkspacesTest::cleanup() {
  if (m_window != nullptr) {
    end();
    m_window.reset();
  }
}

/// A run of `program` that ends so.
void WorkspacesTest::record(const QString& trace, const QStringList& options, int ranks,
                            const char* program, bool failing) {
  constexpr int kTries = 60;
  for (int seed = 1; seed <= kTries; ++seed) {
    const test::Recorded run =
        test::record(trace,
                     options + QStringList{QStringLiteral("--mode"), QStringLiteral("all"),
                                           QStringLiteral("--jitter"), QString::number(seed)},
                     ranks, test::bin(program));
    if ((run.status != 0) == failing) {
      return;
    }
  }
  QFAIL("no such run");
}

void WorkspacesTest::open(const QString& trace) {
  QString problem;
  m_window.reset();
  m_window = test::open(trace, &problem);
  QVERIFY2(m_window != nullptr, qPrintable(problem));
}

void WorkspacesTest::settle(const std::function<void()>& act) {
  QSignalSpy settled(&session(), &pf::session::DebugSession::settled);
  act();
  QVERIFY2(!settled.isEmpty() || settled.wait(kPatience), qPrintable(m_window->statusText()));
}

void WorkspacesTest::end() {
  session().endReplay();
  QTRY_VERIFY_WITH_TIMEOUT(!session().isReplaying(), kPatience);
}

void WorkspacesTest::anExitStatusOpensOnRaces() {
  open(m_failing);
  QCOMPARE(workspaces().current(), Workspace::Races);
  QVERIFY(isSeen("races") && !isSeen("stack") && !isSeen("queues"));
  QVERIFY(bar().isVisible());
  QVERIFY(m_window->diagram().width() > m_window->source().width());
  QVERIFY2(dock("races").width() > m_window->width() - 30, "in full width");
  m_window.reset();
  open(m_right);
  QCOMPARE(workspaces().current(), Workspace::Races);
}

void WorkspacesTest::aHangOpensOnWhoWaits() {
  open(m_hanging);
  QCOMPARE(workspaces().current(), Workspace::Hang);
  QVERIFY(isSeen("queues") && isSeen("stacks") && !isSeen("races"));
  // The way of the banner to the races, and back.
  auto* const banner = m_window->findChild<QFrame*>(QStringLiteral("failureBanner"));
  auto* const race = banner->findChild<QToolButton*>(QStringLiteral("firstRace"));
  QTRY_VERIFY_WITH_TIMEOUT(race->isVisible(), kPatience);
  race->click();
  QCOMPARE(workspaces().current(), Workspace::Races);
  QVERIFY(isSeen("races"));
  banner->findChild<QToolButton*>(QStringLiteral("whoWaits"))->click();
  QCOMPARE(workspaces().current(), Workspace::Hang);
  QVERIFY(!workspaces().isChosen());
  // A replay of the whole of it hangs again.
  settle([&] { session().restartCycle(); });
  QTRY_COMPARE_WITH_TIMEOUT(workspaces().current(), Workspace::Hang, kPatience);
}

void WorkspacesTest::aReplayIsLookedAtInTheSource() {
  open(m_failing);
  settle([&] { session().go(pf::session::Move::Failure); });
  QCOMPARE(workspaces().current(), Workspace::Debug);
  QVERIFY(isSeen("stack") && isSeen("variables") && isSeen("ranks"));
  QVERIFY2(m_window->source().height() > m_window->diagram().height(), "the diagram is a strip");
  end();
  QCOMPARE(workspaces().current(), Workspace::Debug);
}

void WorkspacesTest::whatIsChosenByHandStays() {
  open(m_failing);
  action("workspace races").trigger();  // it is there already: wanted all the same
  QVERIFY(workspaces().isChosen());
  settle([&] { session().go(pf::session::Move::Failure); });
  QCOMPARE(workspaces().current(), Workspace::Races);
  action("workspace hang").trigger();
  settle([&] { session().restartCycle(); });
  QCOMPARE(workspaces().current(), Workspace::Hang);
  end();
  // Another trace begins anew.
  QSignalSpy opened(m_window.get(), &pf::gui::MainWindow::opened);
  m_window->openTrace(m_right);
  QVERIFY(opened.wait(kPatience));
  QCOMPARE(workspaces().current(), Workspace::Races);
  QVERIFY(!workspaces().isChosen());
}

void WorkspacesTest::keysSwitch() {
  m_window = std::make_unique<pf::gui::MainWindow>();
  m_window->show();
  m_window->activateWindow();
  QVERIFY(QTest::qWaitForWindowActive(m_window.get()));
  QTest::keyClick(m_window.get(), Qt::Key_2, Qt::ControlModifier);
  QVERIFY2(!workspaces().current(), "nothing is open");
  QSignalSpy opened(m_window.get(), &pf::gui::MainWindow::opened);
  m_window->openTrace(m_failing);
  QVERIFY(opened.wait(kPatience));
  for (const auto& [key, workspace] :
       {std::pair(Qt::Key_2, Workspace::Debug), std::pair(Qt::Key_3, Workspace::Hang),
        std::pair(Qt::Key_1, Workspace::Races)}) {
    QTest::keyClick(m_window.get(), key, Qt::ControlModifier);
    QCOMPARE(workspaces().current(), workspace);
    for (const QAction* each : workspaces().actions()) {
      QCOMPARE(each->isChecked(), each->shortcut() == QKeySequence(Qt::CTRL | key));
    }
  }
}

void WorkspacesTest::eachIsKeptAsItWasLeft() {
  open(m_failing);
  dock("output").hide();
  dock("comm_matrix").show();
  action("workspace debug").trigger();
  QVERIFY2(!dock("output").isHidden() && dock("comm_matrix").isHidden(), "it has its own");
  dock("watches").hide();
  action("workspace races").trigger();
  QVERIFY(dock("output").isHidden() && !dock("comm_matrix").isHidden());
  m_window->close();
  open(m_failing);
  QVERIFY(dock("output").isHidden() && !dock("comm_matrix").isHidden());
  QVERIFY(bar().isVisible());
  action("workspace debug").trigger();
  QVERIFY(!dock("output").isHidden() && dock("comm_matrix").isHidden());
  QVERIFY(dock("watches").isHidden() && !dock("variables").isHidden());
  action("workspace hang").trigger();
  QVERIFY(isSeen("stacks"));
  // Without a diagram, as of core files, nothing is known of its place.
  action("workspace debug").trigger();
  m_window->diagram().hide();
  action("workspace races").trigger();
  m_window->diagram().show();
  action("workspace debug").trigger();
  const auto* centre = m_window->findChild<QSplitter*>(QStringLiteral("centre"));
  QCOMPARE(centre->orientation(), Qt::Vertical);
  QVERIFY(m_window->source().height() > m_window->diagram().height());
  action("workspace races").trigger();
  QCOMPARE(centre->orientation(), Qt::Horizontal);
}

void WorkspacesTest::oneIsResetAlone() {
  open(m_failing);
  dock("races").hide();
  action("workspace debug").trigger();
  dock("ranks").hide();
  dock("stack").setFloating(true);
  action("resetWorkspace").trigger();
  QVERIFY(isSeen("ranks") && isSeen("stack") && !dock("stack").isFloating());
  action("workspace races").trigger();
  QVERIFY(dock("races").isHidden());
}

void WorkspacesTest::damagedOnesAreIgnored_data() {
  QTest::addColumn<QByteArray>("kept");
  open(m_failing);
  dock("races").hide();
  const QByteArray good = workspaces().layout();
  QTest::newRow("nothing of it is damaged") << good;
  QTest::newRow("noise") << QByteArray("\x01\xff noise", 8);
  QTest::newRow("cut") << good.first(good.size() / 2);
  QTest::newRow("its digest alone") << good.first(20);
  QByteArray flipped = good;
  flipped[good.size() - 9] = static_cast<char>(flipped[good.size() - 9] ^ 0x40);
  QTest::newRow("a bit") << flipped;
  // One of another version, whole.
  QByteArray older;
  QDataStream out(&older, QIODevice::WriteOnly);
  out << qint32{0} << m_window->saveState(0) << QByteArray();
  QTest::newRow("older") << QCryptographicHash::hash(older, QCryptographicHash::Sha1) + older;
  QTest::newRow("as versions before kept it") << m_window->saveState();
  m_window.reset();
}

void WorkspacesTest::damagedOnesAreIgnored() {
  QFETCH(QByteArray, kept);
  QSettings().setValue(QStringLiteral("workspace/races"), kept);
  QSettings().setValue(QStringLiteral("window/layout"), kept);
  open(m_failing);
  const bool good = QByteArray(QTest::currentDataTag()).startsWith("nothing");
  QCOMPARE(dock("races").isHidden(), good);
  QCOMPARE(isSeen("races"), !good);
}

void WorkspacesTest::aSessionsFileHasTheOneThatWasThere() {
  open(m_failing);
  action("workspace hang").trigger();
  dock("output").hide();
  dock("log").show();
  const QString file = m_directory.filePath(QStringLiteral("tally.pfs"));
  QVERIFY(m_window->saveSession(file));
  action("resetWorkspace").trigger();
  m_window->close();
  m_window = std::make_unique<pf::gui::MainWindow>();
  m_window->show();
  QSignalSpy opened(m_window.get(), &pf::gui::MainWindow::opened);
  m_window->openSession(file);
  QVERIFY(opened.wait(kPatience));
  QCOMPARE(workspaces().current(), Workspace::Hang);
  QVERIFY(dock("output").isHidden() && !dock("log").isHidden());
}

void WorkspacesTest::allFitASmallScreen() {
  open(m_hanging);
  constexpr QSize kSmall(1366, 768);
  for (QAction* each : workspaces().actions()) {
    each->trigger();
    m_window->resize(kSmall);
    QTest::qWait(20);
    const QSize least = m_window->minimumSizeHint();
    QVERIFY2(least.width() <= kSmall.width() && least.height() <= kSmall.height() - 40,
             qPrintable(QStringLiteral("%1: %2 x %3")
                            .arg(each->iconText())
                            .arg(least.width())
                            .arg(least.height())));
  }
}

/// Three lists beside one another: none scrolls sideways, and what is hidden comes back with its room.
void WorkspacesTest::theRacesFitASmallScreen() {
  open(m_failing);
  auto& races = *m_window->findChild<pf::views::RaceListView*>();
  QTableView* const table = races.table();
  const QList<QAbstractItemView*> lists{races.findChild<QTableView*>(QStringLiteral("raceClasses")),
                                        table, races.details()};
  for (const QSize size : {QSize(1366, 768), QSize(1680, 1050)}) {
    m_window->resize(size);
    workspaces().reset();
    races.selectRace(0);
    QTest::qWait(50);
    QCOMPARE(m_window->size(), size);
    for (const QAbstractItemView* const list : lists) {
      QVERIFY(list->isVisible() && list->model()->rowCount() > 0);
      QVERIFY2(list->horizontalScrollBar()->maximum() == 0, qPrintable(list->objectName()));
    }
  }
  const int last = table->model()->columnCount() - 1;
  m_window->resize(1366, 768);
  QTRY_VERIFY(table->isColumnHidden(last));
  m_window->resize(2600, 1050);
  QTRY_VERIFY(!table->isColumnHidden(last));
}

/// "tally.c:N" of the bar; 0: none.
int lineOf(const QString& position) {
  static const QRegularExpression kLine(QStringLiteral(" · tally\\.c:([0-9]+)$"));
  return kLine.match(position).captured(1).toInt();
}

void WorkspacesTest::theBarSaysWhereARankIs() {
  open(m_failing);
  session().setCurrentRank(0);
  QTRY_COMPARE(bar().position(), QStringLiteral("rank 0 · no replay runs"));
  QCOMPARE(bar().cost(), QString());
  const int runs = session().cycles().lastNumber();  // the trace keeps those of other tests
  settle([&] { session().replayTo({0, 3}); });
  const QString first = QStringLiteral("rank 0 · after event 2 · cycle %1 · ").arg(runs + 1);
  QTRY_VERIFY2_WITH_TIMEOUT(bar().position().startsWith(first) && lineOf(bar().position()) > 0,
                            qPrintable(bar().position()), kPatience);
  settle([&] { session().go(pf::session::Move::NextEvent); });
  QTRY_VERIFY2_WITH_TIMEOUT(
      bar().position().startsWith(
          QStringLiteral("rank 0 · after event 3 · cycle %1 · tally.c:").arg(runs + 1)),
      qPrintable(bar().position()), kPatience);
  // Out of the library, to the next line of the program.
  const int before = lineOf(bar().position());
  settle([&] { session().act(pf::values::RankAction::Next, {0}); });
  QTRY_VERIFY2_WITH_TIMEOUT(lineOf(bar().position()) != 0 && lineOf(bar().position()) != before,
                            qPrintable(bar().position()), kPatience);
  session().setCurrentRank(1);
  QTRY_VERIFY2(bar().position().startsWith(QStringLiteral("rank 1 · ")) &&
                   bar().position().contains(QStringLiteral("cycle %1").arg(runs + 1)),
               qPrintable(bar().position()));
  session().setCurrentRank(0);
  settle([&] { session().go(pf::session::Move::PreviousEvent); });
  QTRY_VERIFY2_WITH_TIMEOUT(
      bar().position().contains(QStringLiteral(" · cycle %1 · tally.c:").arg(runs + 2)),
      qPrintable(bar().position()), kPatience);
  end();
  QTRY_COMPARE(bar().position(), QStringLiteral("rank 0 · no replay runs"));
  QCOMPARE(bar().cost(), QString());
  // To its end: where it is, is known, and it can be gone back from there.
  settle([&] { session().restartCycle(); });
  QTRY_VERIFY_WITH_TIMEOUT(!session().isReplaying(), kPatience);
  QTRY_VERIFY2(bar().position().startsWith(QStringLiteral("rank 0 · after event 5, ")),
               qPrintable(bar().position()));
  QVERIFY2(bar().position().endsWith(QStringLiteral(" · cycle %1").arg(runs + 3)),
           qPrintable(bar().position()));
  QCOMPARE(why("previousEvent"), QString());
}

void WorkspacesTest::theBarSaysWhatAStepBackCosts() {
  open(m_failing);
  session().setCurrentRank(0);
  QElapsedTimer clock;
  clock.start();
  settle([&] { session().go(pf::session::Move::Failure); });
  const double took = static_cast<double>(clock.elapsed()) / 1000;
  static const QRegularExpression kCost(
      QStringLiteral("^back: starts cycle ([0-9]+), about ([0-9.]+) s$"));
  QTRY_VERIFY2_WITH_TIMEOUT(kCost.match(bar().cost()).hasMatch(), qPrintable(bar().cost()),
                            kPatience);
  QCOMPARE(kCost.match(bar().cost()).captured(1).toInt(), session().cycles().lastNumber() + 1);
  const double said = kCost.match(bar().cost()).captured(2).toDouble();
  QVERIFY2(said > 0 && said <= took + 0.1 && said >= took * 0.5 - 0.1,
           qPrintable(QStringLiteral("%1, took %2 s").arg(bar().cost()).arg(took)));
  // What a person thinks is not counted.
  QTest::qWait(2500);
  session().setCurrentRank(1);
  session().setCurrentRank(0);
  QVERIFY2(kCost.match(bar().cost()).captured(2).toDouble() <= said + 0.05,
           qPrintable(bar().cost()));
}

void WorkspacesTest::aSnapshotCostsLess() {
  const QString trace = m_directory.filePath(QStringLiteral("apart.pft"));
  record(trace, {QStringLiteral("--groups"), QStringLiteral("each")}, 4, "corpus/harvest", true);
  open(trace);
  QVERIFY(session().debugOnly({{}, {0}}).ok());
  session().setCurrentRank(0);
  settle([&] { session().replayTo({0, 30}); });
  QTRY_VERIFY_WITH_TIMEOUT(!session().snapshots().serials.empty(), kPatience);
  QTRY_COMPARE_WITH_TIMEOUT(bar().cost(), QString(), kPatience);  // none has been gone back to
  settle([&] { session().go(pf::session::Move::PreviousEvent); });
  QTRY_COMPARE_WITH_TIMEOUT(session().serialOf(0), pf::Serial{28}, kPatience);
  QTRY_VERIFY2_WITH_TIMEOUT(bar().cost().startsWith(QStringLiteral("back: about ")) &&
                                bar().cost().endsWith(QStringLiteral(" s, from a snapshot")),
                            qPrintable(bar().cost()), kPatience);
}

void WorkspacesTest::whatCannotBeDoneSaysWhy() {
  open(m_right);
  QVERIFY(why("failingReceive").startsWith(QStringLiteral("No rank failed in this recording.")));
  for (const char* back : {"previousEvent", "previousReceive"}) {
    QVERIFY2(why(back).startsWith(QStringLiteral("No replay runs")), back);
    QVERIFY2(action(back).toolTip().contains(why(back)), back);
  }
  QVERIFY(why("previousHit").contains(QStringLiteral("has hit no breakpoint")));
  for (const char* way : {"previousEvent", "previousReceive", "previousHit", "reverseNext",
                          "reverseStep", "reverseFinish", "nextReceive", "nextEvent", "nextLine"}) {
    QVERIFY2(bar().widgetForAction(&action(way)) != nullptr, way);  // a button, not only a menu
  }
  for (const char* step : {"nextLine", "stepIn", "stepOut"}) {
    QVERIFY2(why(step).startsWith(QStringLiteral("None of these ranks runs")), step);
  }
  QVERIFY(action("nextReceive").isEnabled() && action("nextEvent").isEnabled());
  // A key whose command cannot be done says why, too.
  m_window->activateWindow();
  QVERIFY(QTest::qWaitForWindowActive(m_window.get()));
  QTest::keyClick(m_window.get(), Qt::Key_F8, Qt::ShiftModifier);
  QCOMPARE(m_window->statusText(), why("previousEvent"));
  QTest::keyClick(m_window->diagram().canvas(), Qt::Key_F10,
                  Qt::ControlModifier | Qt::ShiftModifier);
  QCOMPARE(m_window->statusText(), why("reverseNext"));
  QTest::keyClick(m_window.get(), Qt::Key_F5, Qt::ShiftModifier);
  QCOMPARE(m_window->statusText(), why("endReplay"));

  session().setCurrentRank(0);
  const auto events = session().trace()->execution.ranks[0].events.size();
  settle([&] { session().replayTo({0, 1}); });
  QTRY_VERIFY_WITH_TIMEOUT(action("nextLine").isEnabled(), kPatience);
  QVERIFY(action("nextLine").toolTip().contains(QStringLiteral("For: All ranks")));
  settle([&] { session().replayTo({0, events}); });
  QTRY_COMPARE_WITH_TIMEOUT(why("previousEvent"), QString(), kPatience);
  QTRY_VERIFY2(why("nextReceive").startsWith(QStringLiteral("Rank 0 receives nothing more")),
               qPrintable(why("nextReceive")));
  QVERIFY(why("nextEvent").startsWith(QStringLiteral("Rank 0 does nothing more")));
  QVERIFY(why("nextRacing").startsWith(QStringLiteral("No receive races from here on")));
  // What is marked, in the menu of an event, is gone to.
  m_window->diagram().selectEvent({0, 2});
  bool marked = false;
  QTimer::singleShot(0, this, [&marked] {
    auto* menu = qobject_cast<QMenu*>(QApplication::activePopupWidget());
    for (QAction* each : menu != nullptr ? menu->actions() : QList<QAction*>()) {
      if (each->text() == QStringLiteral("&Mark as failing receive")) {
        marked = true;
        menu->setActiveAction(each);
        QTest::keyClick(menu, Qt::Key_Return);
        return;
      }
    }
    if (menu != nullptr) {
      menu->close();
    }
  });
  auto* canvas = m_window->diagram().focusProxy();
  QContextMenuEvent asked(QContextMenuEvent::Keyboard, canvas->rect().center(),
                          canvas->mapToGlobal(canvas->rect().center()));
  QApplication::sendEvent(canvas, &asked);
  QVERIFY(marked);
  QTRY_COMPARE(why("failingReceive"), QString());
  QVERIFY(action("endReplay").isEnabled());
  action("endReplay").trigger();
  end();
  QTRY_VERIFY(why("previousEvent").startsWith(QStringLiteral("No replay runs")));
  for (const char* way :
       {"previousEvent", "previousReceive", "previousHit", "reverseNext", "reverseStep",
        "reverseFinish", "continueRanks", "nextLine", "stepIn", "stepOut"}) {
    QTRY_VERIFY2(!bar().widgetForAction(&action(way))->isEnabled() && !why(way).isEmpty(), way);
  }
  QVERIFY(!action("endReplay").isEnabled());
  QVERIFY(action("nextReceive").isEnabled() && action("nextEvent").isEnabled());  // these begin one
}

/// A trace with choices only is run once more before anything can be done with it.
void WorkspacesTest::aKeyDuringASurveySaysWhy() {
  const QString trace = m_directory.filePath(QStringLiteral("light.pft"));
  QCOMPARE(test::record(trace, {}, 3,
                        {test::bin("e2e/steady"), QStringLiteral("200"), QStringLiteral("5000")})
               .status,
           0);
  m_window = std::make_unique<pf::gui::MainWindow>();
  m_window->show();
  m_window->activateWindow();
  QVERIFY(QTest::qWaitForWindowActive(m_window.get()));
  QSignalSpy opened(m_window.get(), &pf::gui::MainWindow::opened);
  m_window->openTrace(trace);
  const auto surveys = [this] {
    const auto strips = m_window->findChildren<pf::views::ProgressStrip*>();
    return std::ranges::any_of(strips, [](const auto* strip) {
      return strip->task().contains(QLatin1String("once more"));
    });
  };
  QTRY_VERIFY_WITH_TIMEOUT(surveys(), kPatience);
  QTest::keyClick(m_window->windowHandle(), Qt::Key_F4);
  const QString said = QStringLiteral("The trace is not open yet.");
  QCOMPARE(m_window->statusText(), said);
  const auto labels = m_window->statusBar()->findChildren<QLabel*>();
  const auto line = std::ranges::find(labels, said, &QLabel::text);
  QVERIFY(line != labels.end());
  QTRY_VERIFY2((*line)->width() > (*line)->sizeHint().width(), "what goes on leaves it room");
  QVERIFY(surveys());
  QVERIFY(opened.wait(kPatience));
}

/// It is opened while a replay stands, with the same watch in both.
void WorkspacesTest::anotherRecordingShowsNothingOfTheFormer() {
  const QStringList watched{QStringLiteral("6 * 7")};
  const auto watches = [this] { return m_window->findChild<pf::views::WatchesView*>()->model(); };
  const auto value = [&watches] {
    return watches()->index(0, pf::views::WatchesModel::ValueColumn).data().toString();
  };
  open(m_right);
  QVERIFY(watches()->addExpression(watched.first()));
  open(m_failing);
  QVERIFY(watches()->addExpression(watched.first()));
  settle([&] { session().go(pf::session::Move::Failure); });
  QTRY_COMPARE_WITH_TIMEOUT(value(), QStringLiteral("42"), kPatience);
  QTRY_VERIFY_WITH_TIMEOUT(m_window->variables().model()->rowCount() > 0, kPatience);
  QVERIFY(!m_window->stack().model()->frames().isEmpty());
  QVERIFY(!m_window->diagram().replayPositions().empty());
  QTRY_VERIFY(action("previousEvent").isEnabled());

  QSignalSpy opened(m_window.get(), &pf::gui::MainWindow::opened);
  m_window->openTrace(m_right);
  QVERIFY(opened.wait(kPatience) && opened.first().first().toBool());
  const auto former = [this] {
    using pf::values::RankActivity;
    const QList<pf::values::RankState>& ranks = m_window->ranks().model()->ranks();
    const bool recorded = std::all_of(ranks.begin(), ranks.end(), [](const auto& rank) {
      return rank.activity == RankActivity::NotStarted && rank.serial == 0 &&
             rank.where.isEmpty() && rank.detail.startsWith(QStringLiteral("recorded: "));
    });
    return ranks.size() != 2 || !recorded                   ? QStringLiteral("ranks")
           : !m_window->diagram().replayPositions().empty() ? QStringLiteral("cut")
           : !m_window->stack().model()->frames().isEmpty() ? QStringLiteral("stack")
           : m_window->variables().model()->rowCount() > 0  ? QStringLiteral("variables")
           : m_window->outputView().text().contains(QStringLiteral("WRONG ANSWER"))
               ? QStringLiteral("output")
               : QString();
  };
  QCOMPARE(former(), QString());
  QTRY_VERIFY_WITH_TIMEOUT(!session().isReplaying(), kPatience);
  QTRY_COMPARE(bar().position(), QStringLiteral("rank 0 · no replay runs"));
  QTRY_COMPARE(value(), QStringLiteral("–"));
  QCOMPARE(watches()->expressions(), watched);
  QTRY_VERIFY(why("previousEvent").startsWith(QStringLiteral("No replay runs")));
  QCOMPARE(former(), QString());  // nor of what has come of its end
}

void WorkspacesTest::keysAreForOneCommandEach() {
  m_window = std::make_unique<pf::gui::MainWindow>();
  QHash<QString, QString> known;
  for (const QAction* each : m_window->findChildren<QAction*>()) {
    const QString keys = each->shortcut().toString();
    if (keys.isEmpty() || each->shortcutContext() != Qt::WindowShortcut ||
        each->associatedObjects().isEmpty()) {
      continue;
    }
    QVERIFY2(!known.contains(keys), qPrintable(keys + QStringLiteral(": ") + known.value(keys) +
                                               QStringLiteral(", ") + each->text()));
    known[keys] = each->text();
  }
  QVERIFY(known.contains(QStringLiteral("F6")) && known.contains(QStringLiteral("Ctrl+3")));
}

void WorkspacesTest::theStartPageSaysWhatToDo() {
  QSettings().setValue(QStringLiteral("recent/traces"), QStringList{m_failing});
  m_window = std::make_unique<pf::gui::MainWindow>();
  m_window->show();
  for (const QDockWidget* each : m_window->findChildren<QDockWidget*>()) {
    QVERIFY2(each->isHidden(), qPrintable(each->windowTitle()));
  }
  QVERIFY(!bar().isVisible());
  const auto buttons = m_window->findChildren<QCommandLinkButton*>();
  QCOMPARE(buttons.size(), 6);
  for (const QCommandLinkButton* each : buttons) {
    QVERIFY2(each->isVisible() && each->isEnabled() && !each->description().isEmpty(),
             qPrintable(each->text()));
  }
  auto* const recent = m_window->centralWidget()->findChild<QListWidget*>();
  QCOMPARE(recent->count(), 1);
  QSignalSpy opened(m_window.get(), &pf::gui::MainWindow::opened);
  Q_EMIT recent->itemActivated(recent->item(0));
  QVERIFY(opened.wait(kPatience));
  QVERIFY(opened.first().first().toBool() && bar().isVisible());
}

void WorkspacesTest::theExampleIsOneClick() {
  m_window = std::make_unique<pf::gui::MainWindow>();
  m_window->show();
  QSignalSpy opened(m_window.get(), &pf::gui::MainWindow::opened);
  m_window->findChild<QCommandLinkButton*>(QStringLiteral("start recordExample"))->click();
  QVERIFY(!action("record").isEnabled());
  QVERIFY2(isSeen("output"), "what goes on");
  for (const QCommandLinkButton* each : m_window->findChildren<QCommandLinkButton*>()) {
    QTRY_VERIFY2(each->height() >= 3 * each->fontMetrics().height(), qPrintable(each->text()));
  }
  const int least = m_window->minimumSizeHint().height();
  QVERIFY2(least <= 728, qPrintable(QString::number(least)));
  QVERIFY2(opened.wait(2 * kPatience), qPrintable(m_window->statusText()));
  QVERIFY(session().path().endsWith(QStringLiteral("/example/harvest-1.pft")));
  QVERIFY(session().trace()->failure.event.valid());
  QCOMPARE(workspaces().current(), Workspace::Races);
  QTest::qWait(300);
  QVERIFY2(m_window->findChildren<QWidget*>(QStringLiteral("compareWindow")).isEmpty(),
           "one thing at a time");
}

void WorkspacesTest::aLessonIsRecordedByOneClick() {
  m_window = std::make_unique<pf::gui::MainWindow>();
  m_window->show();
  m_window->findChild<QCommandLinkButton*>(QStringLiteral("start tutorial"))->click();
  QPointer<QWidget> tutorial;
  for (QWidget* each : QApplication::topLevelWidgets()) {
    if (each->objectName() == QLatin1String("tutorialWindow")) {
      tutorial = each;
    }
  }
  QVERIFY(tutorial != nullptr);
  auto* const list = tutorial->findChild<QListWidget*>();
  auto* const text = tutorial->findChild<QTextBrowser*>();
  QCOMPARE(list->count(), 8);
  QVERIFY(text->toPlainText().startsWith(QLatin1String("Lesson 1: the answer")));
  tutorial->findChild<QPushButton*>(QStringLiteral("tutorialAnswer"))->click();
  QVERIFY2(text->toPlainText().contains(QLatin1String("MPI_ANY_SOURCE")),
           qPrintable(text->toPlainText()));
  list->setCurrentRow(1);
  QVERIFY(text->toPlainText().startsWith(QLatin1String("Lesson 2")));
  QSignalSpy opened(m_window.get(), &pf::gui::MainWindow::opened);
  tutorial->findChild<QPushButton*>(QStringLiteral("tutorialBegin"))->click();
  QVERIFY2(opened.wait(2 * kPatience), qPrintable(m_window->statusText()));
  QVERIFY2(session().path().endsWith(QLatin1String("/tutorial/2-everybody-sends/ring-1.pft")),
           qPrintable(session().path()));
  QCOMPARE(workspaces().current(), Workspace::Hang);
  m_window.reset();
  QTRY_VERIFY2(tutorial == nullptr, "it goes with the window");
}

}  // namespace

QTEST_MAIN(WorkspacesTest)
#include "workspaces_test.moc"
