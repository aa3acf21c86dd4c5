// SPDX-License-Identifier: GPL-3.0-or-later
// "Debug only these ranks", by the menus: one rank of four runs under GDB, the others are looked at.
#include <QAction>
#include <QContextMenuEvent>
#include <QDockWidget>
#include <QFile>
#include <QMenu>
#include <QMessageBox>
#include <QPushButton>
#include <QTableView>
#include <QTemporaryDir>
#include <QTimer>

#include "app/gui/tests/window_test.h"
#include "plugins/comm_matrix/matrix_widget.h"
#include "views/diagram/canvas/space_time_canvas.h"
#include "views/diagram/space_time_view.h"
#include "views/models/rank_models.h"
#include "views/models/variables_model.h"
#include "views/panes/debug_views.h"
#include "views/panes/rank_strip.h"

namespace {

namespace test = pf::gui::test;
using pf::values::RankActivity;
using test::kPatience;

class PartTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase();
  void aRankOfTheList();
  void theOthersAreLookedAt();
  void theGroupOfARow();
  void theMatrixFramesGroups();
  void allAgain();
  void isKeptInTheTrace();
  void isKeptInASession();
  void aTraceWithoutContents();
  void cleanupTestCase();

 private:
  void open(const char* name, const QStringList& options);
  [[nodiscard]] pf::session::DebugSession& session() { return m_window->session(); }
  [[nodiscard]] QTableView* list() { return m_window->ranks().findChild<QTableView*>(); }
  [[nodiscard]] bool reopen(const QString& path);
  void select(std::initializer_list<int> ranks);
  /// Opens the context menu of the widget and clicks on this entry of it. Returns its text.
  QString click(QWidget* widget, const QPoint& at, const char* entry);
  QString clickInList(const char* entry) { return click(list()->viewport(), {5, 5}, entry); }
  [[nodiscard]] bool settles(const std::function<void()>& act);
  [[nodiscard]] QMessageBox* offer();
  [[nodiscard]] QString stateOf(int rank);
  [[nodiscard]] QString backTip() {
    return m_window->findChild<QAction*>(QStringLiteral("previousEvent"))->statusTip();
  }

  QTemporaryDir m_directory;
  std::unique_ptr<pf::gui::MainWindow> m_window;
};

void PartTest::initTestCase() {
  test::setUp(m_directory.path());
  open("groups.pft", {QStringLiteral("--groups"), QStringLiteral("0,1-2,3")});
}

void PartTest::open(const char* name, const QStringList& options) {
  m_window.reset();
  const QString trace = m_directory.filePath(QString::fromLatin1(name));
  const test::Recorded run =
      test::record(trace, options + QStringList{QStringLiteral("--mode"), QStringLiteral("all")}, 4,
                   test::bin("corpus/harvest"));
  QVERIFY2(QFile::exists(trace), run.output.constData());
  QString problem;
  m_window = test::open(trace, &problem);
  QVERIFY2(m_window != nullptr, qPrintable(problem));
  m_window->resize(1400, 900);
}

void PartTest::select(std::initializer_list<int> ranks) {
  list()->clearSelection();
  for (const int rank : ranks) {
    list()->selectionModel()->setCurrentIndex(
        list()->model()->index(rank, 0), QItemSelectionModel::Select | QItemSelectionModel::Rows);
  }
}

QString PartTest::click(QWidget* widget, const QPoint& at, const char* entry) {
  QString text;
  QTimer::singleShot(0, widget, [entry, &text] {
    auto* menu = qobject_cast<QMenu*>(QApplication::activePopupWidget());
    if (menu == nullptr) {
      return;
    }
    for (QAction* action : menu->actions()) {
      if (action->objectName() == QLatin1String(entry)) {
        text = action->text();
        menu->setActiveAction(action);
        QTest::keyClick(menu, Qt::Key_Return);
        return;
      }
    }
    menu->close();
  });
  QContextMenuEvent asked(QContextMenuEvent::Mouse, at, widget->mapToGlobal(at));
  QApplication::sendEvent(widget, &asked);
  return text;
}

bool PartTest::settles(const std::function<void()>& act) {
  QSignalSpy settled(&session(), &pf::session::DebugSession::settled);
  act();
  return QTest::qWaitFor([&] { return session().isRunning() && !settled.isEmpty(); }, kPatience);
}

QMessageBox* PartTest::offer() {
  return m_window->findChild<QMessageBox*>(QStringLiteral("debugOnlyOffer"));
}

QString PartTest::stateOf(int rank) {
  return list()->model()->index(rank, pf::views::RanksModel::StateColumn).data().toString();
}

void PartTest::aRankOfTheList() {
  m_window->diagram().selectEvent({});
  select({3});
  QString text;
  QVERIFY2(settles([&] { text = clickInList("debugOnly"); }), qPrintable(m_window->statusText()));
  QCOMPARE(text, QStringLiteral("Debug &only these ranks"));
  QCOMPARE(session().part(), std::vector<pf::Rank>{3});
  QCOMPARE(session().currentRank(), 3);
  QCOMPARE(session().serialOf(3), 1U);
  QCOMPARE(stateOf(3), QStringLiteral("stopped"));
  for (const int rank : {0, 1, 2}) {
    QCOMPARE(stateOf(rank), QStringLiteral("not in this replay"));
  }
  QTRY_VERIFY_WITH_TIMEOUT(m_window->variables().model()->rowCount() > 0, kPatience);
  QVERIFY(session().debugger(3) != nullptr);
  // What goes back says what there is to go back to, and its memory.
  QTRY_VERIFY_WITH_TIMEOUT(backTip().contains(QStringLiteral("of rank 3 to go back to")),
                           kPatience);
  QVERIFY2(backTip().contains(QStringLiteral(" of memory were theirs alone")),
           qPrintable(backTip()));
}

void PartTest::theOthersAreLookedAt() {
  m_window->diagram().selectEvent({0, 3});
  QCOMPARE(m_window->diagram().selectedEvent(), (pf::EventRef{0, 3}));
  m_window->diagram().action(pf::views::DiagramAction::ReplayHere)->trigger();
  QVERIFY2(m_window->statusText().contains(
               QStringLiteral("Rank 0 is not in this replay, which runs rank 3 alone. To debug it "
                              "too, debug ranks 0, 3.")),
           qPrintable(m_window->statusText()));
  QVERIFY(session().isRunning());
  QVERIFY(settles([this] { session().go(pf::session::Move::NextEvent); }));
  QCOMPARE(session().serialOf(3), 2U);
}

void PartTest::theGroupOfARow() {
  m_window->diagram().selectEvent({1, 2});
  auto* canvas = m_window->diagram().canvas();
  QString text;
  QVERIFY(settles([&] { text = click(canvas, canvas->rect().center(), "debugOnlyHere"); }));
  QCOMPARE(text, QStringLiteral("Debug only ranks 1-2, with its group"));
  QCOMPARE(session().part(), (std::vector<pf::Rank>{1, 2}));
  QCOMPARE(session().serialOf(1), 1U);
  // The list, where one of the group is selected, asks.
  select({2});
  clickInList("debugOnly");
  QMessageBox* box = offer();
  QVERIFY(box != nullptr);
  QCOMPARE(box->buttons().first()->text(), QStringLiteral("Debug ranks 1-2"));
  box->reject();
}

void PartTest::theMatrixFramesGroups() {
  auto* matrix = m_window->findChild<pf::plugins::MatrixWidget*>();
  QVERIFY(matrix != nullptr);
  auto* dock = m_window->findChild<QDockWidget*>(QStringLiteral("comm_matrix"));
  dock->show();
  dock->raise();
  QTRY_VERIFY_WITH_TIMEOUT(matrix->canvas()->isVisible(), kPatience);
  QTRY_VERIFY_WITH_TIMEOUT(
      matrix->groupsText().startsWith(QStringLiteral("Recorded in 3 groups of 1 to 2 ranks: ")),
      kPatience);
  QCOMPARE(matrix->canvas()->order().frames().size(), std::size_t{1});
  QString text;
  QVERIFY(settles([&] {
    text = click(matrix->canvas(), matrix->canvas()->cellRect(2, 1).center().toPoint(),
                 "debugOnlyHere");
  }));
  QCOMPARE(text, QStringLiteral("Debug only ranks 1-2"));
  QCOMPARE(session().part(), (std::vector<pf::Rank>{1, 2}));
  matrix->setMost(2);
  QTest::mouseClick(matrix->findChild<QPushButton*>(QStringLiteral("findGroups")), Qt::LeftButton);
  QTRY_VERIFY_WITH_TIMEOUT(matrix->groupsText().contains(QStringLiteral("would leave ")),
                           kPatience);
  QVERIFY2(matrix->groupsText().contains(QStringLiteral("To record so: --groups ")),
           qPrintable(matrix->groupsText()));
}

bool PartTest::reopen(const QString& path) {
  m_window.reset();
  m_window = std::make_unique<pf::gui::MainWindow>();
  m_window->show();
  m_window->resize(1400, 900);
  QSignalSpy opened(m_window.get(), &pf::gui::MainWindow::opened);
  m_window->openPath(path);
  return opened.wait(kPatience) && opened.first().first().toBool();
}

void PartTest::isKeptInTheTrace() {
  QVERIFY(session().debugOnly({{}, {1, 2}}).ok());
  QVERIFY(reopen(m_directory.filePath(QStringLiteral("groups.pft"))));
  QCOMPARE(session().part(), (std::vector<pf::Rank>{1, 2}));
  QCOMPARE(stateOf(0), QStringLiteral("not in this replay"));
  QVERIFY2(m_window->statusText().startsWith(QStringLiteral("Cycles run ranks 1-2 alone")),
           qPrintable(m_window->statusText()));
  QVERIFY(m_window->findChild<QAction*>(QStringLiteral("debugAll"))->isEnabled());
}

void PartTest::isKeptInASession() {
  const QString file = m_directory.filePath(QStringLiteral("part.pfs"));
  QVERIFY(m_window->saveSession(file));
  session().debugAll();  // which the trace keeps
  QVERIFY(reopen(file));
  QCOMPARE(session().part(), (std::vector<pf::Rank>{1, 2}));
  // Ranks that are no union of groups are refused, with a sentence; all are debugged.
  QFile saved(file);
  QVERIFY(saved.open(QIODevice::ReadOnly));
  const QByteArray text = saved.readAll();
  for (const char* hostile : {"[1]", "[0, 2]", "[0, 9]", "[2147483647]"}) {
    const auto part = text.indexOf("\"part\": [");
    QVERIFY(part > 0);
    QByteArray changed = text;
    const auto begin = text.indexOf('[', part);
    changed.replace(begin, text.indexOf(']', begin) + 1 - begin, hostile);
    QFile bad(m_directory.filePath(QStringLiteral("bad.pfs")));
    QVERIFY(bad.open(QIODevice::WriteOnly));
    bad.write(changed);
    bad.close();
    QVERIFY(reopen(bad.fileName()));
    QVERIFY2(session().part().empty(), hostile);
    QVERIFY2(m_window->statusText().startsWith(
                 QStringLiteral("All ranks are debugged, as those that the session names")),
             qPrintable(m_window->statusText()));
  }
  // All ranks are a choice, too: the trace's part goes.
  QVERIFY(session().debugOnly({{}, {3}}).ok());
  QVERIFY(reopen(m_directory.filePath(QStringLiteral("groups.pft"))));
  QCOMPARE(session().part(), std::vector<pf::Rank>{3});
  QFile all(m_directory.filePath(QStringLiteral("all.pfs")));
  QVERIFY(all.open(QIODevice::WriteOnly));
  QByteArray none = text;
  const auto begin = none.indexOf('[', none.indexOf("\"part\": ["));
  all.write(none.replace(begin, none.indexOf(']', begin) + 1 - begin, "[]"));
  all.close();
  QVERIFY(reopen(all.fileName()));
  QVERIFY(session().part().empty());
  QVERIFY(session().debugOnly({{}, {1, 2}}).ok());
}

void PartTest::allAgain() {
  QVERIFY(settles([this] { clickInList("debugAll"); }));
  QVERIFY(session().part().empty());
  QVERIFY2(!backTip().contains(QStringLiteral("snapshot")), qPrintable(backTip()));
  QCOMPARE(stateOf(0) == QStringLiteral("not in this replay"), false);
  QVERIFY(!m_window->findChild<QAction*>(QStringLiteral("debugAll"))->isEnabled());
}

void PartTest::aTraceWithoutContents() {
  open("plain.pft", {});
  select({3});
  clickInList("debugOnly");
  QMessageBox* box = offer();
  QVERIFY(box != nullptr);
  QVERIFY2(box->informativeText().contains(QStringLiteral("Record with --groups")),
           qPrintable(box->informativeText()));
  QVERIFY(!session().isReplaying());
  box->buttons().first()->click();
  QVERIFY(session().isReplaying());
  QVERIFY(session().part().empty());
  session().endReplay();
  QVERIFY(QTest::qWaitFor([this] { return !session().isReplaying(); }, kPatience));
}

void PartTest::cleanupTestCase() {
  m_window.reset();
}

}  // namespace

QTEST_MAIN(PartTest)
#include "part_test.moc"
