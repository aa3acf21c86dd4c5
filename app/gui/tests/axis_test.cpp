// SPDX-License-Identifier: GPL-3.0-or-later
// The physical axis in the window, on a real recording of the bundled harvest program: one key, the
// same selection, another picture; PF_PICTURES=DIRECTORY keeps what was seen.
#include <QAction>
#include <QDir>
#include <QImage>
#include <QLabel>
#include <QTemporaryDir>

#include "app/gui/main_window.h"
#include "app/gui/tests/window_test.h"
#include "views/diagram/space_time_view.h"
#include "views/panes/debug_views.h"
#include "views/trace/analyses/trace_text.h"

namespace {

namespace test = pf::gui::test;
using pf::views::DiagramAction;
using pf::views::SpaceTimeView;
using pf::views::TimeAxis;

class AxisTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase();
  void theAxisIsSwitched();
  void theChoiceIsKept();
  void aLightRecordingHasNoTimes();

 private:
  void keep(QWidget& widget, const char* name) const {
    if (const QString directory = qEnvironmentVariable("PF_PICTURES"); !directory.isEmpty()) {
      QVERIFY(widget.grab().save(QDir(directory).filePath(QString::fromLatin1(name))));
    }
  }
  QTemporaryDir m_directory;
};

void AxisTest::initTestCase() {
  test::setUp(m_directory.path());
  const test::Recorded all = test::record(m_directory.filePath(QStringLiteral("all.pft")),
                                          {QStringLiteral("--mode"), QStringLiteral("all")}, 4,
                                          test::bin("corpus/harvest"));
  QVERIFY2(all.status >= 0, all.output.constData());
}

void AxisTest::theAxisIsSwitched() {
  QString problem;
  const auto window = test::open(m_directory.filePath(QStringLiteral("all.pft")), &problem);
  QVERIFY2(window != nullptr, qPrintable(problem));
  window->resize(1500, 900);
  auto* diagram = window->findChild<SpaceTimeView*>();
  QVERIFY(diagram != nullptr);
  QTRY_VERIFY_WITH_TIMEOUT(diagram->action(DiagramAction::PhysicalAxis)->isEnabled(),
                           test::kPatience);
  QVERIFY(diagram->axis() == TimeAxis::Logical);
  diagram->action(DiagramAction::NextRace)->trigger();
  const pf::EventRef chosen = diagram->selectedEvent();
  QVERIFY(chosen.valid());
  const QImage logical = diagram->grab().toImage();
  keep(*window, "logical.png");
  QWidget* const canvas = diagram->findChild<QWidget*>(QStringLiteral("spaceTimeCanvas"));
  QTest::keyClick(canvas, Qt::Key_X);
  QTRY_VERIFY(diagram->axis() == TimeAxis::Physical);
  QVERIFY(diagram->selectedEvent() == chosen);
  QTRY_VERIFY(canvas->property("upToDate").toBool());
  QVERIFY(diagram->grab().toImage() != logical);
  keep(*window, "physical.png");
  keep(*diagram, "diagram-physical.png");
  bool said = false;
  for (const QLabel* label : diagram->findChildren<QLabel*>()) {
    said = said || label->text().contains(QLatin1String("times of the recording"));
  }
  QVERIFY(said);
  QTest::keyClick(canvas, Qt::Key_X);
  QVERIFY(diagram->axis() == TimeAxis::Logical);
  QVERIFY(diagram->selectedEvent() == chosen);
  diagram->setAxis(TimeAxis::Physical);
  window->close();
}

void AxisTest::theChoiceIsKept() {
  QString problem;
  const auto window = test::open(m_directory.filePath(QStringLiteral("all.pft")), &problem);
  QVERIFY2(window != nullptr, qPrintable(problem));
  auto* diagram = window->findChild<SpaceTimeView*>();
  QTRY_VERIFY_WITH_TIMEOUT(diagram->axis() == TimeAxis::Physical, test::kPatience);
  QVERIFY(diagram->action(DiagramAction::PhysicalAxis)->isChecked());
  diagram->setAxis(TimeAxis::Logical);
  window->close();
}

/// Until its survey, which the window makes by itself, has given it those of a re-execution.
void AxisTest::aLightRecordingHasNoTimes() {
  const QString trace = m_directory.filePath(QStringLiteral("light.pft"));
  QVERIFY(test::record(trace, {}, 4, test::bin("corpus/harvest")).status >= 0);
  QString problem;
  const auto window = test::open(trace, &problem);
  QVERIFY2(window != nullptr, qPrintable(problem));
  auto* diagram = window->findChild<SpaceTimeView*>();
  QTRY_VERIFY_WITH_TIMEOUT(diagram->action(DiagramAction::PhysicalAxis)->isEnabled(),
                           test::kPatience);
  QVERIFY(diagram->action(DiagramAction::PhysicalAxis)
              ->toolTip()
              .contains(QLatin1String("times of the survey's re-execution")));
  window->close();
}

}  // namespace

QTEST_MAIN(AxisTest)
#include "axis_test.moc"
