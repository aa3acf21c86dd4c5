// SPDX-License-Identifier: GPL-3.0-or-later
// The pane of an array: planes, statistics, what is out of a range, and its pictures.
#include <algorithm>
#include <cmath>
#include <limits>

#include <QComboBox>
#include <QElapsedTimer>
#include <QLineEdit>
#include <QPushButton>
#include <QSignalSpy>
#include <QSpinBox>
#include <QTableView>
#include <QTest>

#include "views/panes/array_view.h"
#include "views/values/distributed_array.h"
#include "views/values/text.h"

using namespace pf;
using namespace pf::views;

namespace {

/// 100 * i + 10 * j + k at [i][j][k], or (i,j,k).
ArraySummaryPtr box(bool fortran, std::vector<ArrayDimension> dims) {
  auto values = std::make_shared<ArrayValues>();
  values->expression = u"a"_s;
  values->type = u"double"_s;
  values->kind = ElementKind::Float;
  values->size = 8;
  values->fortran = values->columnMajor = fortran;
  values->dims = std::move(dims);
  values->bytes.resize(values->total() * 8);
  auto* numbers = reinterpret_cast<double*>(values->bytes.data());
  for (qint64 index = 0; index < values->count(); ++index) {
    double value = 0.0;
    for (const qint64 place : values->placesOf(index)) {
      value = value * 10.0 + static_cast<double>(place);
    }
    numbers[index] = value;
  }
  return std::make_shared<ArraySummary>(values);
}

ArraySummaryPtr line(std::vector<double> numbers) {
  auto values = std::make_shared<ArrayValues>();
  values->expression = u"line"_s;
  values->type = u"double"_s;
  values->size = 8;
  const auto count = static_cast<qint64>(numbers.size());
  values->dims = {{0, 1, count, count}};
  values->bytes = QByteArray(reinterpret_cast<const char*>(numbers.data()), count * 8);
  return std::make_shared<ArraySummary>(values);
}

QString cell(const ArrayView& view, int row, int column) {
  return view.table()->model()->index(row, column).data().toString();
}

QString header(const ArrayView& view, Qt::Orientation orientation, int section) {
  return view.table()->model()->headerData(section, orientation).toString();
}

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinite = std::numeric_limits<double>::infinity();

}  // namespace

class ArrayTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void placesAreFoundBothWays() {
    for (const bool fortran : {false, true}) {
      const auto array = box(fortran, {{0, 1, 2, 2}, {-3, 1, 3, 3}, {9, -2, 4, 4}});
      for (qint64 index = 0; index < array->values().count(); ++index) {
        QCOMPARE(array->values().indexOf(array->values().placesOf(index)), index);
      }
      QCOMPARE(array->values().nameOf({1, 2, 3}), fortran ? u"(1,-1,3)"_s : u"[1][-1][3]"_s);
    }
  }

  void statistics() {
    const auto array = line({1.0, kNan, -4.0, kInfinite, 6.0, -kInfinite, kNan, kNan});
    const ArrayStatistics& all = array->statistics();
    QCOMPARE(all.range.least, -4.0);
    QCOMPARE(all.leastAt, 2);
    QCOMPARE(all.mostAt, 4);
    QCOMPARE(all.mean, 1.0);
    QCOMPARE(all.notNumbers, 3);
    QCOMPARE(all.infinite, 2);
    QCOMPARE(array->text(),
             u"8 elements of double: least -4 at [2], most 6 at [4], mean 1, 3 NaN, "
             u"2 infinite"_s);
    QCOMPARE(line({kNan})->text(), u"1 elements of double, 1 NaN"_s);
  }

  void fewDigitsThatAreEnough() {
    const auto texts = [](std::vector<double> numbers) {
      QStringList out;
      for (const double number : numbers) {
        out << line({number})->values().textAt(0);
      }
      return out;
    };
    QCOMPARE(texts({0.1, 1.0 / 3.0, 1e6, 1000001.0, 1e-300, 123456789012345680.0}),
             QStringList({u"0.1"_s, u"0.3333333333333333"_s, u"1000000"_s, u"1000001"_s,
                          u"1e-300"_s, u"1.2345678901234568e+17"_s}));
    QCOMPARE(texts({kNan, kInfinite, -kInfinite, -0.0}),
             QStringList({u"nan"_s, u"inf"_s, u"-inf"_s, u"-0"_s}));
    ArrayValues values;
    values.size = 4;
    const float third[] = {1.0F / 3.0F, 0.1F, 16777217.0F};
    values.bytes = QByteArray(reinterpret_cast<const char*>(third), sizeof third);
    QCOMPARE(values.textAt(0), u"0.33333334"_s);
    QCOMPARE(values.textAt(1), u"0.1"_s);
    QCOMPARE(values.textAt(2), u"16777216"_s);
  }

  void whatIsOutOfARange() {
    std::vector<double> numbers(1000, 5.0);
    numbers[700] = kNan;
    numbers[300] = 9.0;
    numbers[999] = -1.0;
    const auto array = line(numbers);
    QCOMPARE(array->countOutside(-kInfinite, kInfinite), 1);
    QCOMPARE(array->countOutside(0.0, 8.0), 3);
    QCOMPARE(array->nextOutside(-1, 0.0, 8.0), 300);
    QCOMPARE(array->nextOutside(300, 0.0, 8.0), 700);
    QCOMPARE(array->nextOutside(700, 0.0, 8.0), 999);
    QCOMPARE(array->nextOutside(999, 0.0, 8.0), 300);
    QCOMPARE(line({1.0, 2.0})->nextOutside(-1, 0.0, 8.0), -1);
  }

  void aPlaneIsChosen() {
    ArrayView view;
    view.resize(700, 600);
    view.show();
    view.showArray(box(true, {{0, 1, 2, 2}, {-3, 1, 3, 3}, {5, 1, 4, 4}}));
    QVERIFY(view.planeBar()->isVisible());
    QCOMPARE(view.table()->model()->rowCount(), 2);
    QCOMPARE(view.table()->model()->columnCount(), 3);
    QCOMPARE(cell(view, 1, 2), u"120"_s);
    QCOMPARE(header(view, Qt::Horizontal, 2), u"-1"_s);
    QCOMPARE(header(view, Qt::Vertical, 1), u"1"_s);
    QSpinBox* index = view.planeBar()->indices()[2];
    QVERIFY(index != nullptr && view.planeBar()->indices()[0] == nullptr);
    QCOMPARE(index->minimum(), 5);
    QCOMPARE(index->maximum(), 8);
    index->setValue(7);
    QCOMPARE(cell(view, 1, 2), u"122"_s);
    QVERIFY2(view.planeBar()->indices()[2] == index, "the field that one types in stays");
    // The third dimension goes down, the first one is chosen by its index.
    view.planeBar()->rowsBox()->setCurrentIndex(2);
    Q_EMIT view.planeBar()->rowsBox()->activated(2);
    QCOMPARE(view.table()->model()->rowCount(), 4);
    view.planeBar()->indices()[0]->setValue(1);
    QCOMPARE(cell(view, 3, 1), u"113"_s);
    // Rows and columns change places.
    Q_EMIT view.planeBar()->rowsBox()->activated(1);
    QCOMPARE(view.table()->model()->rowCount(), 3);
    QCOMPARE(cell(view, 1, 3), u"113"_s);
    // The same array at another moment: the plane stays.
    view.showArray(box(true, {{0, 1, 2, 2}, {-3, 1, 3, 3}, {5, 1, 4, 4}}));
    QCOMPARE(cell(view, 1, 3), u"113"_s);
    view.showArray(line({1.0}));
    QVERIFY(!view.planeBar()->isVisible());
    QCOMPARE(cell(view, 0, 0), u"1"_s);
    QVERIFY(cell(view, 0, 1).isEmpty());
  }

  void anElementIsGoneTo() {
    ArrayView view;
    view.resize(700, 600);
    view.show();
    const auto array = box(false, {{0, 1, 3, 3}, {0, 1, 4, 4}, {0, 1, 5, 5}});
    view.showArray(array);
    view.leastEdit()->setText(u"0"_s);
    view.mostEdit()->setText(u"233"_s);
    QTest::keyClick(view.mostEdit(), Qt::Key_Return);
    QCOMPARE(view.outsideText(), u"1 element"_s);
    QCOMPARE(view.table()->currentIndex().data().toString(), u"234"_s);
    QCOMPARE(view.planeBar()->indices()[2]->value(), 4);
    view.mostEdit()->setText(u"1000"_s);
    view.mostEdit()->editingFinished();
    QCOMPARE(view.outsideText(), u"none"_s);
    QVERIFY(!view.nextButton()->isEnabled());
    Q_EMIT view.plot()->elementClicked(array->values().indexOf({1, 2, 3}));
    QCOMPARE(view.table()->currentIndex().data().toString(), u"123"_s);
    view.showProblem(u"gone"_s);
    view.goTo(1);
    QCOMPARE(view.table()->model()->rowCount(), 0);
  }

  void theHeatMapShowsASpike() {
    auto values = std::make_shared<ArrayValues>(
        box(false, {{0, 1, 1000, 1000}, {0, 1, 1000, 1000}})->values());
    auto* numbers = reinterpret_cast<double*>(values->bytes.data());
    std::fill(numbers, numbers + 1000000, 1.0);
    numbers[500 * 1000 + 250] = 3.0;
    numbers[100 * 1000 + 900] = kNan;
    const auto array = std::make_shared<ArraySummary>(values);
    ArrayHeatMap map;
    map.resize(300, 200);
    map.setPlane(array, ArrayPlane::of(*values));
    const QImage image = map.grab().toImage();
    QCOMPARE(map.scale().most, 3.0);
    int spikes = 0;
    int odd = 0;
    QPoint spike;
    for (int y = 0; y < image.height(); ++y) {
      for (int x = 0; x < 210; ++x) {  // without the scale
        if (image.pixelColor(x, y) == ArrayHeatMap::colourOf(1.0)) {
          ++spikes;
          spike = QPoint(x, y);
        }
        odd += image.pixelColor(x, y) == ArrayHeatMap::colourOf(kNan) ? 1 : 0;
      }
    }
    QVERIFY2(spikes > 0 && spikes < 20, qPrintable(QString::number(spikes)));
    QVERIFY2(odd > 0 && odd < 20, qPrintable(QString::number(odd)));
    QSignalSpy clicked(&map, &ArrayHeatMap::elementClicked);
    QTest::mouseClick(&map, Qt::LeftButton, {}, spike);
    const ArrayValues::Places places = values->placesOf(clicked.last()[0].toLongLong());
    QVERIFY(std::abs(places[0] - 500) < 12 && std::abs(places[1] - 250) < 12);
  }

  void rowsOfSeveralLengths() {
    auto values = std::make_shared<ArrayValues>();
    values->type = u"double"_s;
    values->size = 8;
    values->dims = {{0, 1, 3, 3}, {0, 1, 2, 2}};
    values->rows = {0, 2, 2, 3};
    const double numbers[] = {1.0, 2.0, 3.0};
    values->bytes = QByteArray(reinterpret_cast<const char*>(numbers), sizeof numbers);
    ArrayView view;
    view.resize(700, 600);
    view.showArray(std::make_shared<ArraySummary>(values));
    QCOMPARE(cell(view, 0, 1), u"2"_s);
    QVERIFY(cell(view, 1, 0).isEmpty());
    QCOMPARE(cell(view, 2, 0), u"3"_s);
    QVERIFY(cell(view, 2, 1).isEmpty());
    QVERIFY(!view.grab().isNull());
  }

  void whatIsNoNumberHasNoPictures() {
    auto values = std::make_shared<ArrayValues>();
    values->kind = ElementKind::Words;
    values->type = u"cell"_s;
    values->dims = {{0, 1, 2, 2}};
    values->words = QStringList{u"{x = 1}"_s, u"{x = 2}"_s};
    ArrayView view;
    view.resize(700, 600);
    view.show();
    view.showArray(std::make_shared<ArraySummary>(values));
    QCOMPARE(cell(view, 0, 1), u"{x = 2}"_s);
    QCOMPARE(view.plot()->to(), 0);
    QVERIFY(!view.nextButton()->isVisible());
    QVERIFY(!view.grab().isNull());
  }

  void partsOfSeveralRanks() {
    std::vector<ArrayValues> parts;
    for (int rank = 0; rank < 3; ++rank) {
      parts.push_back(box(false, {{0, 1, 4, 4}, {0, 1, 3, 3}})->values());
      parts.back().rank = rank;
    }
    auto whole = joinParts(parts, 0, 1);
    QVERIFY(whole.ok());
    for (qint64 index = 0; index < whole->count(); ++index) {
      if (const qint64 original = originalOf(*whole, index); original >= 0 && index != 13) {
        reinterpret_cast<double*>(whole->bytes.data())[index] = whole->at(original);
      }
    }
    ArrayView view;
    view.resize(700, 700);
    view.show();
    QSignalSpy asked(&view, &ArrayView::arrayRequested);
    QVERIFY(!view.haloBox()->isVisible());
    view.ranksEdit()->setText(u"0-2"_s);
    QVERIFY(view.haloBox()->isVisible());
    view.haloBox()->setValue(1);
    view.findChild<QLineEdit*>()->setText(u"a"_s);
    QTest::keyClick(view.haloBox(), Qt::Key_Return);
    QCOMPARE(asked.last(), (QList<QVariant>{u"a"_s, u"0-2"_s, 0, 1, 1}));
    QCOMPARE(asked.size(), 1);
    view.haloBox()->setValue(2);
    QTest::keyClick(view.haloBox(), Qt::Key_Return);
    QCOMPARE(asked.size(), 2);
    view.haloBox()->setValue(1);
    view.showArray(std::make_shared<ArraySummary>(std::make_shared<ArrayValues>(*whole)));
    QVERIFY2(view.text().startsWith(u"3 ranks: 12 × 3 of double"_s), qPrintable(view.text()));
    QVERIFY2(
        view.text().endsWith(u"1 of 12 elements of the halo are not what they are copies of, the "
                             u"first: rank 1 [0][1] = 1, a copy of rank 0 [2][1] = 21."_s),
        qPrintable(view.text()));
    QCOMPARE(header(view, Qt::Vertical, 4), u"1: 0"_s);
    const auto* model = view.table()->model();
    QVERIFY(model->index(4, 0).data(Qt::BackgroundRole).isValid());
    QVERIFY(!model->index(5, 0).data(Qt::BackgroundRole).isValid());
    QVERIFY(model->index(4, 1).data(Qt::ForegroundRole).isValid());
    QVERIFY(!model->index(4, 0).data(Qt::ForegroundRole).isValid());
    QVERIFY(view.staleButton()->isVisible());
    view.staleButton()->click();
    QCOMPARE(view.table()->currentIndex(), model->index(4, 1));
    if (const QString shots = qEnvironmentVariable("PF_SHOTS"); !shots.isEmpty()) {
      view.grab().save(shots + u"/distributed_array.png"_s);
    }
    view.showArray(box(false, {{0, 1, 4, 4}, {0, 1, 3, 3}}));
    QVERIFY(!view.staleButton()->isVisible());
    QVERIFY(!model->index(4, 0).data(Qt::BackgroundRole).isValid());
  }

  void tenMillionAtOnce() {
    auto values = std::make_shared<ArrayValues>();
    values->type = u"double"_s;
    values->size = 8;
    values->dims = {{0, 1, 10000000, 10000000}};
    values->bytes = QByteArray(80000000, '\0');
    ArrayView view;
    view.resize(700, 600);
    view.show();
    QElapsedTimer time;
    time.start();
    view.showArray(std::make_shared<ArraySummary>(values));
    view.grab();
    qInfo("10^7 doubles: statistics and picture %lld ms", time.elapsed());
    QVERIFY(time.elapsed() < 2000);  // of a machine that does other things, too
  }
};

QTEST_MAIN(ArrayTest)
#include "array_test.moc"
