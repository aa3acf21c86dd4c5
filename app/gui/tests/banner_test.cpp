// SPDX-License-Identifier: GPL-3.0-or-later
// What failed, in words above the diagram, with what to do about it; until it is answered.
#include <QComboBox>
#include <QFrame>
#include <QLabel>
#include <QTemporaryDir>
#include <QToolButton>

#include "app/gui/tests/window_test.h"
#include "plugins/queues/queues_widget.h"
#include "views/diagram/space_time_view.h"

namespace {

namespace test = pf::gui::test;
using test::kPatience;

class BannerTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase() { test::setUp(m_directory.path()); }
  void anExitStatusIsToldAndGoneTo();
  void aHangShowsWhoWaits();
  void aRightRunHasNone();

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
  QCOMPARE(text(), QStringLiteral("Rank 0 ended with exit status 1 after event 5."));
  QVERIFY(button("goThere").isVisible() && !button("whoWaits").isVisible());
  QTRY_VERIFY_WITH_TIMEOUT(button("firstRace").isVisible(), kPatience);
  QVERIFY2(button("firstRace").text().contains(QStringLiteral("first: tally.c:")),
           qPrintable(button("firstRace").text()));

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
}

void BannerTest::aHangShowsWhoWaits() {
  open("hang.pft", 3, "corpus/deadlock_in_order", true);
  QVERIFY(banner().isVisible());
  QVERIFY2(text().contains(QStringLiteral("ended inside MPI_Recv (event ")), qPrintable(text()));
  auto* const queues = m_window->findChild<pf::plugins::QueuesWidget*>();
  QVERIFY(queues != nullptr);
  button("whoWaits").click();
  QTRY_VERIFY_WITH_TIMEOUT(queues->isVisible(), kPatience);
  QCOMPARE(queues->moment()->currentIndex(), int{pf::plugins::QueuesWidget::End});
}

void BannerTest::aRightRunHasNone() {
  open("right.pft", 2, "corpus/two_rank_wildcard", false);
  QVERIFY(!banner().isVisible());
}

}  // namespace

QTEST_MAIN(BannerTest)
#include "banner_test.moc"
