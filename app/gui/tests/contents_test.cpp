// SPDX-License-Identifier: GPL-3.0-or-later
// The pane Contents: what was in the messages of the event that is selected in the diagram.
#include <QAction>
#include <QDockWidget>
#include <QTableView>
#include <QTemporaryDir>

#include "app/gui/tests/window_test.h"
#include "views/diagram/space_time_view.h"
#include "views/panes/contents_view.h"

namespace {

namespace test = pf::gui::test;
using test::kPatience;

class ContentsTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase();
  void openedByTheMenuItShowsValuesAndBytes();
  void theSendShowsWhatWasReceived();
  void longOnesAreCut();
  void withinAGroupOnlyTheOrderIsKept();
  void withoutGroupsItSaysHowToRecordThem();
  void cleanupTestCase();

 private:
  void open(const char* name, const QStringList& options);
  [[nodiscard]] pf::views::ContentsView& view() {
    return *m_window->findChild<pf::views::ContentsView*>();
  }
  [[nodiscard]] pf::EventRef eventOf(pf::Rank rank, const char* call, int nth = 1);
  void show(const pf::EventRef& event);
  [[nodiscard]] bool isRead() { return !view().note().contains(QStringLiteral("Reading")); }

  QTemporaryDir m_directory;
  std::unique_ptr<pf::gui::MainWindow> m_window;
};

void ContentsTest::initTestCase() {
  test::setUp(m_directory.path());
  open("each.pft", {QStringLiteral("--groups"), QStringLiteral("each")});
}

void ContentsTest::open(const char* name, const QStringList& options) {
  m_window.reset();
  const QString trace = m_directory.filePath(QString::fromLatin1(name));
  const test::Recorded run =
      test::record(trace, options + QStringList{QStringLiteral("--mode"), QStringLiteral("all")}, 3,
                   test::bin("e2e/typed"));
  QVERIFY2(run.status == 0, run.output.constData());
  QString problem;
  m_window = test::open(trace, &problem);
  QVERIFY2(m_window != nullptr, qPrintable(problem));
  m_window->resize(1400, 900);
}

pf::EventRef ContentsTest::eventOf(pf::Rank rank, const char* call, int nth) {
  const pf::Execution& execution = m_window->session().trace()->execution;
  const auto& events = execution.ranks[pf::index(rank)].events;
  for (std::size_t i = 0; i < events.size(); ++i) {
    if (execution.callNames[events[i].call] == call && --nth == 0) {
      return {rank, i + 1};
    }
  }
  return {};
}

/// As a user does: selects the event and asks for the pane.
void ContentsTest::show(const pf::EventRef& event) {
  QVERIFY(event.valid());
  m_window->diagram().selectEvent(event);
  m_window->diagram().action(pf::views::DiagramAction::Contents)->trigger();
  QTRY_VERIFY_WITH_TIMEOUT(view().isVisible() && isRead(), kPatience);
}

void ContentsTest::openedByTheMenuItShowsValuesAndBytes() {
  show(eventOf(1, "MPI_Recv"));
  QCOMPARE(view().contents().size(), 1);
  const pf::values::MessageContents first = view().contents().first();
  QCOMPARE(first.from, QStringLiteral("rank 0"));
  QCOMPARE(first.tag, QStringLiteral("5"));
  QCOMPARE(first.bytes, 12U);
  QCOMPARE(first.datatype, QStringLiteral("int32 (MPI_INT)"));
  QCOMPARE(view().valuesText().trimmed(), QStringLiteral("1 -2 300000"));
  QVERIFY2(view().bytesText().startsWith(QStringLiteral("00000000  01 00 00 00 fe ff ff ff")),
           qPrintable(view().bytesText()));
  QCOMPARE(view().note(), QString());
  QVERIFY2(view().title().startsWith(QStringLiteral("rank 1, event ")), qPrintable(view().title()));
}

void ContentsTest::theSendShowsWhatWasReceived() {
  // It follows the selection while it can be seen.
  m_window->diagram().selectEvent(eventOf(0, "MPI_Send", 2));
  QTRY_COMPARE_WITH_TIMEOUT(view().contents().size(), 1, kPatience);
  QTRY_COMPARE_WITH_TIMEOUT(view().contents().first().tag, QStringLiteral("6"), kPatience);
  QVERIFY(view().contents().first().receiver.startsWith(QStringLiteral("rank 1, event ")));
  QVERIFY2(view().valuesText().contains(QStringLiteral("0.5 0 -1e+300 7 'a' 'b' 'c'")),
           qPrintable(view().valuesText()));
  m_window->diagram().selectEvent({});
  QTRY_VERIFY(view().contents().isEmpty());
  QVERIFY(view().note().startsWith(QStringLiteral("Select an event")));
}

void ContentsTest::longOnesAreCut() {
  show(eventOf(1, "MPI_Bcast"));
  QCOMPARE(view().contents().first().what, QStringLiteral("MPI_Bcast"));
  QCOMPARE(view().contents().first().bytes, 100000U);
  QCOMPARE(view().bytesText().count(QLatin1Char('\n')), 65536 / 16);
  QVERIFY2(view().note().startsWith(QStringLiteral("At most 64 KiB are shown. For more: "
                                                   "photofinish payload FILE --rank 1 --event ")),
           qPrintable(view().note()));
  QVERIFY(view().note().endsWith(QStringLiteral("--bytes 100000")));
}

void ContentsTest::withinAGroupOnlyTheOrderIsKept() {
  open("pairs.pft", {QStringLiteral("--groups"), QStringLiteral("0-1,2")});
  show(eventOf(1, "MPI_Recv"));
  QVERIFY(view().contents().isEmpty());
  QVERIFY2(view().note().startsWith(
               QStringLiteral("It was sent within the group 0-1: only its order was recorded.")),
           qPrintable(view().note()));
  show(eventOf(2, "MPI_Bcast"));
  QCOMPARE(view().contents().size(), 1);
}

void ContentsTest::withoutGroupsItSaysHowToRecordThem() {
  open("plain.pft", {});
  show(eventOf(1, "MPI_Recv"));
  QVERIFY(view().contents().isEmpty());
  QVERIFY2(view().note().contains(QStringLiteral("Record with --groups")),
           qPrintable(view().note()));
}

void ContentsTest::cleanupTestCase() {
  m_window.reset();
}

}  // namespace

QTEST_MAIN(ContentsTest)
#include "contents_test.moc"
