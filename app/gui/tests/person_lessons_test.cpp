// SPDX-License-Identifier: GPL-3.0-or-later
// The bugs of the tutorial's lessons 4 to 8, found by mouse and keys alone: C, Fortran, C++ and Python. How many actions each
// takes is written down.
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QToolButton>

#include "app/gui/commands/breakpoint_dialog.h"
#include "app/gui/tests/person.h"
#include "replay_engine/agent/watchpoints.h"

namespace {

namespace test = pf::gui::test;
using test::Hand;
using test::kPatience;

class LessonsTest : public test::Person {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase() { prepare(); }
  void squaresInOrderOfRanks();
  void rowsAndTheirNumbers();
  void aTillThatIsGone();
  void anAccountThatIsNotOpen();
  void aLetterThatWasNotProbed();
  void cleanupTestCase() { m_window.reset(); }

 private:
  /// Compiles a lesson's program as its first page says.
  [[nodiscard]] bool build(const char* compiler, const char* lesson, const char* source);
  /// Records it until it fails, and opens that run.
  [[nodiscard]] bool start(int ranks, const QStringList& words = {});
  /// A breakpoint by its dialog.
  void stopAt(const char* place, const char* condition);
  /// From the menu of a variable.
  void ask(QAction* question, const char* name);
  void selectFrame(const char* function);
  [[nodiscard]] QString value(const char* name, const char* member = "") {
    return valueOf(QString::fromLatin1(name), QString::fromLatin1(member));
  }

  QString m_program;
};

bool LessonsTest::build(const char* compiler, const char* lesson, const char* source) {
  const QString from = QStringLiteral(PF_TUTORIAL "/") + QString::fromLatin1(lesson) +
                       QLatin1Char('/') + QString::fromLatin1(source);
  m_program = m_directory.filePath(QFileInfo(from).baseName());
  return QProcess::execute(QString::fromLatin1(compiler),
                           {QStringLiteral("-g"), QStringLiteral("-O0"), QStringLiteral("-o"),
                            m_program, from}) == 0;
}

bool LessonsTest::start(int ranks, const QStringList& words) {
  return open(QFileInfo(words.isEmpty() ? m_program : words.last()).baseName(), {}, ranks,
              words.isEmpty() ? QStringList{m_program} : words,
              [](const test::Recorded& run) { return run.status != 0; });
}

void LessonsTest::stopAt(const char* place, const char* condition) {
  Hand::press("ctrl+b");
  auto* dialog = m_window->findChild<pf::gui::BreakpointDialog*>();
  QTRY_VERIFY((dialog = m_window->findChild<pf::gui::BreakpointDialog*>()) != nullptr &&
              dialog->isVisible());
  QTest::qWait(300);
  Hand::click(dialog->place());
  Hand::type(QString::fromLatin1(place));
  if (*condition != '\0') {
    Hand::click(dialog->condition());
    Hand::type(QString::fromLatin1(condition));
  }
  QTRY_VERIFY2(dialog->okButton()->isEnabled(), qPrintable(dialog->problem()->text()));
  Hand::click(dialog->okButton());
  QTRY_VERIFY(m_window->findChild<pf::gui::BreakpointDialog*>() == nullptr);
  Hand::giveKeyboard(m_window.get(), m_window->statusBar());
}

void LessonsTest::ask(QAction* question, const char* name) {
  QTRY_VERIFY_WITH_TIMEOUT(variable(QString::fromLatin1(name)).isValid(), kPatience);
  QTest::qWait(300);
  Hand::clickWhenMenu(question);
  QVERIFY(Hand::clickRow(m_window->variables().tree(), variable(QString::fromLatin1(name)),
                         Hand::Right));
}

void LessonsTest::selectFrame(const char* function) {
  const QString wanted = QString::fromLatin1(function);
  int row = -1;
  const auto find = [&] {
    const auto& frames = m_window->stack().model()->frames();
    row = -1;
    for (int i = 0; i < frames.size() && row < 0; ++i) {
      row = frames[i].function == wanted ? i : -1;
    }
    return row >= 0;
  };
  QTRY_VERIFY2_WITH_TIMEOUT(find(), function, kPatience);
  QTest::qWait(300);
  auto* const table = m_window->stack().table();
  QVERIFY(Hand::clickRow(table, table->model()->index(row, 0)));
}

/// squares.c: what completed is `which`, and not the one that is counted.
void LessonsTest::squaresInOrderOfRanks() {
  QVERIFY(build("mpicc", "04-any-of-them", "squares.c"));
  QVERIFY(start(4));
  stopAt("squares.c:28", "incoming[which] != (done + 1) * (done + 1)");
  go("ctrl+shift+F5");
  QTRY_VERIFY_WITH_TIMEOUT(!value("which").isEmpty() && value("which") != value("done"), kPatience);
  look("squares");
  found(8);
}

/// rows.f90: the row is of another rank than the number before it.
void LessonsTest::rowsAndTheirNumbers() {
  QVERIFY(build("mpifort", "05-swapped-rows", "rows.f90"));
  QVERIFY(start(4));
  stopAt("rows.f90:45", "row(1) .ne. 100 * number + 1");
  go("ctrl+shift+F5");
  QTRY_VERIFY_WITH_TIMEOUT(!value("number").isEmpty(), kPatience);
  ask(m_window->variables().messageAction(), "row");
  QTRY_VERIFY_WITH_TIMEOUT(
      m_window->statusText().contains(QLatin1String("was filled last by MPI_Recv at rows.f90:44")),
      kPatience);
  QVERIFY2(m_window->statusText().contains(QLatin1String("sent by MPI_Send at rows.f90:34")),
           qPrintable(m_window->statusText()));
  look("rows");
  found(10);
}

/// shop.cpp: the till was closed before all had paid.
void LessonsTest::aTillThatIsGone() {
  if (!pf::agent::watchpointsWork()) {
    QSKIP(pf::agent::kNoWatchpoints);
  }
  QVERIFY(build("mpicxx", "06-closed-too-soon", "shop.cpp"));
  QVERIFY(start(8));
  go("F4");
  go("F5");
  selectFrame("pay");
  look("shop-crash");
  QString globals;
  const auto named = [&] {
    const auto* model = m_window->variables().model();
    for (int row = 0; row < model->rowCount(); ++row) {
      const QString name = model->index(row, 0).data().toString();
      globals = name.startsWith(QLatin1String("globals of")) ? name : globals;
    }
    return !globals.isEmpty();
  };
  QTRY_VERIFY_WITH_TIMEOUT(named(), kPatience);
  openVariable(globals.toLatin1().constData());
  QTRY_VERIFY_WITH_TIMEOUT(variable(QStringLiteral("till"), variable(globals)).isValid(),
                           kPatience);
  QTest::qWait(300);
  QAction* last = nullptr;
  for (QAction* action : m_window->variables().tree()->actions()) {
    last = action->text().startsWith(QLatin1String("Back to the last change")) ? action : last;
  }
  QVERIFY(last != nullptr);
  QVERIFY(settles([&] {
    Hand::clickWhenMenu(last);
    QVERIFY(Hand::clickRow(m_window->variables().tree(),
                           variable(QStringLiteral("till"), variable(globals)), Hand::Right));
  }));
  QTRY_COMPARE_WITH_TIMEOUT(here(), QStringLiteral("closeShop"), kPatience);
  selectFrame("keepShop");
  ask(m_window->variables().messageAction(), "amount");
  QTRY_VERIFY_WITH_TIMEOUT(
      m_window->statusText().contains(QLatin1String("was filled last by MPI_Recv at shop.cpp:")),
      kPatience);
  look("shop-cause");
  found(12);
}

/// bank.py: somebody pays into an account that is not there yet.
void LessonsTest::anAccountThatIsNotOpen() {
  if (!QFile::exists(QStringLiteral("/usr/lib/python3/dist-packages/mpi4py"))) {
    QSKIP("no mpi4py");
  }
  QVERIFY(start(4, {QStringLiteral("/usr/bin/python3"),
                    QStringLiteral(PF_TUTORIAL "/07-not-yet-open/bank.py")}));
  const auto* raised = m_window->findChild<QToolButton*>(QStringLiteral("raisedAt"));
  QVERIFY2(raised->isVisible() && raised->text() == QLatin1String("bank.py:11, in pay"),
           qPrintable(raised->text()));
  QCOMPARE(raised->menu()->actions().first()->text(), raised->text());
  Hand::click(raised, QPoint(15, raised->height() / 2));
  QTRY_VERIFY(m_window->source().currentFile().endsWith(QLatin1String("/bank.py")));
  QCOMPARE(m_window->source().currentLine(), 11);
  look("bank-raised");
  go("F4");
  selectFrame("keep_bank");
  QTRY_COMPARE_WITH_TIMEOUT(value("accounts"), QStringLiteral("{}"), kPatience);
  go("F10");
  QTRY_COMPARE_WITH_TIMEOUT(value("order"), QStringLiteral("'pay'"), kPatience);
  look("bank-cause");
  found(5);
}

/// letters.c: another letter than the one that was probed, and a longer one.
void LessonsTest::aLetterThatWasNotProbed() {
  QVERIFY(build("mpicc", "08-probed-another", "letters.c"));
  QVERIFY(start(8));
  stopAt("catch mpi error", "");
  go("ctrl+shift+F5");
  selectFrame("read_letter");
  openVariable("status");
  QTRY_VERIFY_WITH_TIMEOUT(!value("status", "MPI_SOURCE").isEmpty(), kPatience);
  look("letters-probed");
  const int probed = value("status", "MPI_SOURCE").toInt();
  Hand::press("ctrl+1");
  // The last race of the rank: the receive behind the probe.
  const auto& execution = session().trace()->execution;
  const auto cause = raceRow([&](const pf::Race& race) {
    return race.rank == 0 && execution.messages[race.taken].send.rank != probed &&
           race.index + 1 == execution.ranks[0].receives.size();
  });
  QVERIFY(cause.isValid());
  QVERIFY(Hand::clickRow(m_window->races().table(), cause));
  look("letters-cause");
  found(11);
}

}  // namespace

QTEST_MAIN(LessonsTest)
#include "person_lessons_test.moc"
