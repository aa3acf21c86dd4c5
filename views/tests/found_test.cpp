// SPDX-License-Identifier: GPL-3.0-or-later
// What a search found, in the diagram: ticks of many hits, and only what was found.
#include <cmath>
#include <set>

#include <QAction>
#include <QLineEdit>

#include "views/diagram/space_time_view.h"
#include "views/diagram/tools/minimap.h"
#include "views/diagram/tools/search_bar.h"
#include "views/tests/picture.h"
#include "views/tests/sample_trace.h"
#include "views/values/text.h"

using namespace pf;
using namespace pf::views;
using namespace pf::views::test;

class FoundTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase();
  void manyHitsAreTicks();
  void fewerHaveHalos();
  void onlyWhatIsFound();

 private:
  [[nodiscard]] SpaceTimeCanvas& canvas() const { return *m_view.canvas(); }

  TraceIndexPtr m_trace = makeIndex(stencil(64, 200));
  SpaceTimeView m_view;
};

void FoundTest::initTestCase() {
  QApplication::setStyle(QStringLiteral("Fusion"));
  m_view.resize(1200, 560);
  m_view.setTrace(m_trace);
  m_view.show();
  m_view.activateWindow();
  QVERIFY(QTest::qWaitForWindowActive(&m_view));
  canvas().setFocus();
}

/// Wherever a hit is, there is a tick above it, and one in the overview below.
void FoundTest::manyHitsAreTicks() {
  m_view.searchBar()->edit()->setText(u"kind:receive"_s);
  m_view.searchBar()->search();
  QTRY_VERIFY(m_view.searchBar()->isDone());
  QVERIFY(canvas().found()->hits.size() > 4000);
  const SpaceTimeGeometry g = canvas().view();
  const Theme theme = Theme::of(canvas().palette());
  const QImage image = pictureOf(canvas());
  std::set<int> columns;
  for (const EventRef hit : canvas().found()->hits) {
    columns.insert(static_cast<int>(std::floor(g.x(m_trace->time(hit)))));
  }
  for (const int x : columns) {
    const QRect about(x - 1, static_cast<int>(g.plot.top()) + 1, 3, 4);
    QVERIFY2(countColor(image, about, theme.bookmark, 150) > 0, qPrintable(QString::number(x)));
  }
  auto* const map = m_view.findChild<Minimap*>();
  const QImage below = map->grab().toImage();
  const double step = (map->width() - g.plot.left()) / (m_trace->lastTime() + 1.0);
  for (const EventRef hit : canvas().found()->hits) {
    const int x = static_cast<int>(g.plot.left() + m_trace->time(hit) * step);
    const QRect about(x - 2, map->height() - 9, 5, 4);
    QVERIFY2(countColor(below, about, theme.bookmark, 150) > 0, qPrintable(QString::number(x)));
  }
  m_view.searchBar()->edit()->clear();
  m_view.searchBar()->search();
  QCOMPARE(countColor(map->grab().toImage(), QRect(0, map->height() - 9, map->width(), 4),
                      theme.bookmark, 60),
           0);
}

/// A handful has round, filled ones, hundreds have plain ones.
void FoundTest::fewerHaveHalos() {
  m_view.searchBar()->edit()->setText(u"kind:receive"_s);
  m_view.searchBar()->search();
  QTRY_VERIFY(m_view.searchBar()->isDone());
  const Theme theme = Theme::of(canvas().palette());
  std::vector<int> numbers;
  for (const double steps : {1.5, 10.0, 400.0}) {
    canvas().viewport().zoomTo(100, 100 + steps);
    const QImage image = pictureOf(canvas());
    const SpaceTimeGeometry g = canvas().view();
    int inView = 0;
    int ticks = 0;
    int filled = 0;
    for (const EventRef hit : canvas().found()->hits) {
      const QPoint at = g.point(*m_trace, hit).toPoint();
      if (at.x() < g.plot.left() + 12 || at.x() > g.plot.right() - 12) {
        continue;
      }
      ++inView;
      const QRect about(at - QPoint(12, 12), QSize(25, 25));
      const int marked = countColor(image, about & g.plot.toRect(), theme.bookmark, 60);
      ticks += marked < 8 ? 1 : 0;
      const int inside = static_cast<int>(g.glyphRadius()) + 2;  // of a halo, above the sign
      const QColor paper = hit.rank % 2 == 1 ? theme.stripe : theme.base;
      filled += countColor(image, QRect(at - QPoint(0, inside), QSize(1, 1)), paper, 12) == 0;
    }
    numbers.push_back(inView);
    if (numbers.size() < 3) {
      QVERIFY2(ticks == 0, qPrintable(u"%1 of %2"_s.arg(ticks).arg(inView)));
      const bool hundreds = numbers.size() == 2;
      QVERIFY2(hundreds ? filled < inView / 2 : filled == inView,
               qPrintable(u"%1 of %2"_s.arg(filled).arg(inView)));
    } else {
      QVERIFY(ticks > inView / 2);
    }
  }
  QVERIFY(numbers[0] > 10 && numbers[0] < 150);
  QVERIFY(numbers[1] > 200 && numbers[1] < 1400);
  QVERIFY(numbers[2] > 1600);
  m_view.searchBar()->edit()->clear();
  m_view.searchBar()->search();
  canvas().viewport().fit();
}

void FoundTest::onlyWhatIsFound() {
  for (const bool dense : {false, true}) {
    canvas().viewport().fit();
    if (!dense) {
      canvas().viewport().zoomTo(10, 20);
    }
    m_view.searchBar()->edit()->setText(dense ? u"kind:receive"_s : u"rank:5 kind:send"_s);
    m_view.searchBar()->search();
    QTRY_VERIFY(m_view.searchBar()->isDone());
    const QImage all = pictureOf(canvas());
    const SpaceTimeGeometry g = canvas().view();
    const Theme theme = Theme::of(canvas().palette());
    QCOMPARE(canvas().stats().exact, !dense);
    QTest::keyClick(&canvas(), Qt::Key_H);
    QVERIFY(m_view.searchBar()->onlyAction()->isChecked());
    const QImage only = pictureOf(canvas());
    const EventSearch& found = *canvas().found();
    for (std::size_t i = 0; i < found.hits.size(); ++i) {
      const QPointF at = g.point(*m_trace, found.hits[i]);
      if (at.x() > g.plot.left() + 3 && at.x() < g.plot.right() - 3) {
        QVERIFY(countColor(only, QRect(at.toPoint() - QPoint(3, 3), QSize(7, 7)), theme.base, 60) <
                49);
      }
    }
    const QRect plot = g.plot.toRect();
    const auto blank = [&](const QImage& image) { return countColor(image, plot, theme.base, 60); };
    QVERIFY2(blank(only) > blank(all) * 5 / 4, qPrintable(QString::number(blank(only))));
    const auto exported = [this] {
      QImage image(canvas().size(), QImage::Format_RGB32);
      canvas().renderTo(&image, canvas().size());
      return image;
    };
    const int exportedOnly = blank(exported());
    QTest::keyClick(&canvas(), Qt::Key_H);
    QVERIFY(exportedOnly > blank(exported()) * 5 / 4);
    QVERIFY(pictureOf(canvas()) == all);
  }
}

QTEST_MAIN(FoundTest)
#include "found_test.moc"
