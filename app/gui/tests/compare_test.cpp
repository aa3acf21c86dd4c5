// SPDX-License-Identifier: GPL-3.0-or-later
// Two real recordings of the racy program, side by side in the window.
#include <QProcess>
#include <QSettings>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>
#include <QTreeWidget>

#include "app/gui/commands/compare_window.h"
#include "app/gui/tests/window_test.h"
#include "app/job/job.h"
#include "views/diagram/space_time_view.h"

namespace {

namespace test = pf::gui::test;
using test::kPatience;

class CompareTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase();
  void partsAreShown();
  void theSameIsSaid();
  void anotherProgramIsRefused();

 private:
  void record(const QString& file, int seed, const char* program);
  [[nodiscard]] QString path(const char* name) const {
    return m_directory.filePath(QString::fromLatin1(name));
  }
  pf::gui::CompareWindow* compare(const QString& other);

  QTemporaryDir m_directory;
  std::unique_ptr<pf::gui::MainWindow> m_window;
};

void CompareTest::record(const QString& file, int seed, const char* program) {
  const test::Recorded run = test::record(file,
                                          {QStringLiteral("--mode"), QStringLiteral("all"),
                                           QStringLiteral("--jitter"), QString::number(seed)},
                                          4, test::bin(program));
  QVERIFY2(QFile::exists(file), run.output.constData());
}

void CompareTest::initTestCase() {
  test::setUp(m_directory.path());
  record(path("a.pft"), 1, "corpus/harvest");
  for (int seed = 2; seed < 40; ++seed) {
    record(path("b.pft"), seed, "corpus/harvest");
    if (QProcess::execute(test::bin("photofinish"),
                          {QStringLiteral("diff"), path("a.pft"), path("b.pft")}) == 1) {
      break;
    }
  }
  QString problem;
  m_window = test::open(path("a.pft"), &problem);
  QVERIFY2(m_window != nullptr, qPrintable(problem));
}

pf::gui::CompareWindow* CompareTest::compare(const QString& other) {
  QSignalSpy compared(m_window.get(), &pf::gui::MainWindow::compared);
  m_window->compareWith(other);
  return compared.wait(kPatience) ? compared.first().first().value<pf::gui::CompareWindow*>()
                                  : nullptr;
}

void CompareTest::partsAreShown() {
  pf::gui::CompareWindow* window = compare(path("b.pft"));
  QVERIFY2(window != nullptr, qPrintable(m_window->statusText()));
  QTreeWidget* differences = window->differences();
  QVERIFY(differences->topLevelItemCount() > 0);
  // What leads to the failure comes before where the ranks begin to differ.
  const QString lead = differences->topLevelItem(0)->text(2);
  QVERIFY2(lead == QLatin1String("first") || lead == QLatin1String("before failure"),
           qPrintable(lead));
  QVERIFY(differences->topLevelItem(0)->isSelected());
  QTreeWidgetItem* first = nullptr;
  for (int row = differences->topLevelItemCount(); row-- > 0;) {
    QTreeWidgetItem* const each = differences->topLevelItem(row);
    first = each->text(2) == QLatin1String("first cause") ? each : first;
  }
  QVERIFY(first != nullptr);
  differences->setCurrentItem(first);
  QVERIFY(first->text(4) != first->text(5));
  const pf::EventRef event{first->text(0).toInt(), first->text(1).toULongLong()};
  for (const bool b : {false, true}) {
    QCOMPARE(window->diagram(b)->selectedEvent(), event);
  }
  // A difference may be at another event of the other run: each diagram selects its own.
  differences->setCurrentItem(differences->topLevelItem(0));
  const QTreeWidgetItem* led = differences->topLevelItem(0);
  QStringList serials = led->text(1).split(QStringLiteral(" / "));
  serials.resize(2, serials.first());
  for (const bool b : {false, true}) {
    if (const qulonglong serial = serials[b ? 1 : 0].toULongLong(); serial != 0) {
      QCOMPARE(window->diagram(b)->selectedEvent(), (pf::EventRef{led->text(0).toInt(), serial}));
    }
  }
  differences->setCurrentItem(differences->topLevelItem(0));
  QTest::qWait(50);
  if (const QString shot = qEnvironmentVariable("PF_SHOT"); !shot.isEmpty()) {
    window->grab().save(shot);
  }
  // What is selected there is selected in the main window, of whose trace it is.
  QSignalSpy selected(window, &pf::gui::CompareWindow::eventSelected);
  window->diagram(false)->selectEvent({event.rank, event.serial - 1});
  QVERIFY(!selected.isEmpty());
  window->close();
}

void CompareTest::theSameIsSaid() {
  pf::gui::CompareWindow* window = compare(path("a.pft"));
  QVERIFY(window != nullptr);
  QCOMPARE(window->differences()->topLevelItemCount(), 0);
  QVERIFY(window->summary().contains(QStringLiteral("The same calls and outcomes")));
  window->close();
}

void CompareTest::anotherProgramIsRefused() {
  record(path("c.pft"), 1, "corpus/any_source_sum");
  QVERIFY(compare(path("c.pft")) == nullptr);
  QVERIFY2(m_window->statusText().contains(QStringLiteral("program")),
           qPrintable(m_window->statusText()));
  QVERIFY(compare(path("nowhere.pft")) == nullptr);
}

}  // namespace

QTEST_MAIN(CompareTest)
#include "compare_test.moc"
