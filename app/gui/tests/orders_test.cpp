// SPDX-License-Identifier: GPL-3.0-or-later
// Other orders of a real run, in the window: a race the other way round, beside the run that it comes from; who is to blame.
#include <QAction>
#include <QDockWidget>
#include <QProcess>
#include <QSignalSpy>
#include <QTableView>
#include <QTemporaryDir>
#include <QTest>
#include <QToolButton>
#include <QTreeWidget>

#include "app/gui/commands/compare_window.h"
#include "app/gui/commands/order_actions.h"
#include "app/gui/panes/failure_banner.h"
#include "app/gui/tests/window_test.h"
#include "app/session/debug_session.h"
#include "views/panes/race_list_view.h"

namespace {

namespace test = pf::gui::test;

constexpr int kPatience = 60000;  // milliseconds: several runs of the program

class OrdersTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase();
  void aRaceTheOtherWayRound();
  void theTreeOfRuns();
  void whoIsToBlame();

 private:
  QTemporaryDir m_directory;
  QString m_failing;
};

void OrdersTest::initTestCase() {
  test::setUp(m_directory.path());
  const QString state = m_directory.filePath(QStringLiteral("t.explore"));
  QProcess explore;
  explore.start(
      test::bin("photofinish"),
      {QStringLiteral("explore"), QStringLiteral("--first-failure"), QStringLiteral("-o"), state,
       QStringLiteral("mpirun"), QStringLiteral("--oversubscribe"), QStringLiteral("-n"),
       QStringLiteral("4"), test::bin("e2e/flipped"), QStringLiteral("harvest")});
  QVERIFY(explore.waitForFinished(kPatience));
  m_failing = state + QStringLiteral(".d/exit-3.pft");
  QVERIFY2(QFile::exists(m_failing), explore.readAllStandardError().constData());
}

void OrdersTest::aRaceTheOtherWayRound() {
  QString problem;
  const auto window = test::open(m_failing, &problem);
  QVERIFY2(window != nullptr, qPrintable(problem));
  QSignalSpy compared(window.get(), &pf::gui::MainWindow::compared);
  QAction* const take = window->races().takeInsteadAction();
  window->races().selectRace(-1);
  window->races().table()->selectRow(0);
  QTRY_VERIFY(take->isEnabled());
  take->trigger();
  QVERIFY2(compared.wait(kPatience), qPrintable(window->statusText()));
  QVERIFY(compared.first().first().value<pf::gui::CompareWindow*>() != nullptr);
  const QString made = m_failing.chopped(4) + QStringLiteral(".flip.pft");
  QVERIFY(QFile::exists(made));
  QCOMPARE(QProcess::execute(test::bin("photofinish"), {QStringLiteral("diff"), m_failing, made}),
           1);
}

/// The first run of the exploration, those that it has kept, and what was made of one of them; each can be opened.
void OrdersTest::theTreeOfRuns() {
  const QString made = m_failing.chopped(4) + QStringLiteral(".flip.pft");
  if (!QFile::exists(made)) {
    QVERIFY(QProcess::execute(test::bin("photofinish"),
                              {QStringLiteral("flip"), m_failing, QStringLiteral("1")}) != 2);
  }
  QString problem;
  const auto window = test::open(m_failing, &problem);
  QVERIFY2(window != nullptr, qPrintable(problem));
  auto* const tree = window->findChild<QTreeWidget*>(QStringLiteral("runTree"));
  QVERIFY(tree != nullptr);
  auto* const dock = window->findChild<QDockWidget*>(QStringLiteral("runs"));
  dock->show();
  dock->raise();
  QTRY_VERIFY(tree->topLevelItemCount() == 1);
  QTreeWidgetItem* const first = tree->topLevelItem(0);
  QCOMPARE(first->text(0), QStringLiteral("first.pft"));
  QTreeWidgetItem* const failing = tree->currentItem();
  QCOMPARE(failing->text(0), QStringLiteral("exit-3.pft"));
  QCOMPARE(failing->parent(), first);
  QVERIFY2(failing->text(2).contains(QStringLiteral("exit status 3")),
           qPrintable(failing->text(2)));
  QCOMPARE(failing->childCount(), 1);
  const QTreeWidgetItem* const flipped = failing->child(0);
  QCOMPARE(flipped->text(0), QStringLiteral("exit-3.flip.pft"));
  QVERIFY2(flipped->text(1).contains(QStringLiteral("rank 0's MPI_Recv at flipped.c:")),
           qPrintable(flipped->text(1)));
  QSignalSpy opened(window.get(), &pf::gui::MainWindow::opened);
  Q_EMIT tree->itemActivated(failing, 0);  // it is shown
  QCOMPARE(opened.count(), 0);
  tree->setCurrentItem(failing->child(0));
  Q_EMIT tree->itemActivated(failing->child(0), 0);
  QVERIFY(opened.wait(kPatience));
  QTRY_COMPARE(tree->currentItem() != nullptr ? tree->currentItem()->text(0) : QString(),
               QStringLiteral("exit-3.flip.pft"));
}

void OrdersTest::whoIsToBlame() {
  QString problem;
  const auto window = test::open(m_failing, &problem);
  QVERIFY2(window != nullptr, qPrintable(problem));
  auto* const button = window->findChild<QToolButton*>(QStringLiteral("blame"));
  QVERIFY(button != nullptr);
  QTRY_VERIFY(!button->isHidden());
  QSignalSpy blamed(&window->orders(), &pf::gui::OrderActions::blamed);
  button->click();
  QVERIFY(blamed.wait(kPatience));
  const QString sentence = blamed.first().first().toString();
  QVERIFY2(sentence.contains(QStringLiteral("(event 2) takes rank 2's message before rank")),
           qPrintable(sentence + window->statusText()));
  QCOMPARE(blamed.first().at(1).value<pf::EventRef>(), (pf::EventRef{0, 2}));
  QCOMPARE(window->statusText(), sentence);
  const auto& marks = window->session().bookmarks().all();
  QVERIFY(!marks.empty());
  QCOMPARE(marks.back().text, sentence);
}

}  // namespace

QTEST_MAIN(OrdersTest)
#include "orders_test.moc"
