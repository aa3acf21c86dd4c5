// SPDX-License-Identifier: GPL-3.0-or-later
// The other widgets: what users do becomes the right signal, what the application says becomes
// visible.
#include <cmath>

#include <QAbstractItemModelTester>
#include <QAction>
#include <QApplication>
#include <QCheckBox>
#include <QComboBox>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QListView>
#include <QMenu>
#include <QPushButton>
#include <QScrollArea>
#include <QScrollBar>
#include <QSignalSpy>
#include <QSplitter>
#include <QStandardItemModel>
#include <QStyleOption>
#include <QStyledItemDelegate>
#include <QTabWidget>
#include <QTableView>
#include <QTest>
#include <QTreeView>
#include <QTreeWidget>

#include "views/models/race_list_model.h"
#include "views/models/rank_models.h"
#include "views/models/session_models.h"
#include "views/models/variables_model.h"
#include "views/models/watches_model.h"
#include "views/panes/debug_views.h"
#include "views/panes/framed_boxes.h"
#include "views/panes/icons.h"
#include "views/panes/item_views.h"
#include "views/panes/race_list_view.h"
#include "views/panes/rank_strip.h"
#include "views/panes/session_views.h"
#include "views/panes/source_editor.h"
#include "views/panes/text_views.h"
#include "views/panes/theme.h"
#include "views/tests/dark_palette.h"
#include "views/tests/sample_trace.h"

using namespace pf;
using namespace pf::views;
using namespace pf::views::test;

class WidgetsTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void raceListSelectsAndFilters();
  void raceListDetails();
  void raceListGoesByWhatHasFailed();
  void raceListShowsAllOfTheExplanation();
  void sourceMarginTogglesBreakpoints();
  void sourceDotsAreInTheirLines();
  void sourceArrowsAndTabs();
  void sourceMissingFileCanBeLocated();
  void sourceFindsAndHovers();
  void sourceLexers();
  void ranksStripScopes();
  void ranksStripGoesCompact();
  void ranksStripMakesRoomForPlaces();
  void longPlacesKeepTheirLines();
  void untickedBoxesAreSeenInTheDark();
  void stackSelectsFrames();
  void variablesExpandOnDemand();
  void whatIsOldIsGrey();
  void watchesAddAndRemove();
  void breakpointsRemove();
  void cyclesActivate();
  void outputFiltersAndEscapes();
  void consoleKeepsTextPerRank();
  void progressShowsAndHides();
  void iconsAndThemes();
};

namespace {

class FakeLoader : public SourceLoader {
 public:
  Result<QByteArray> load(const QString& path) override {
    if (path.contains(QStringLiteral("gone"))) {
      return Error{ErrorCode::NotFound, "source file " + path.toStdString() + " not found",
                   "Choose the file."};
    }
    QByteArray text = "int main(void) {\n";
    for (int i = 2; i < 100; ++i) {
      text += "  total += pool->weight[i]; // line " + QByteArray::number(i) + "\n";
    }
    return text + "}\n";
  }
};

const QString kFile = QStringLiteral("/x/master.c");

}  // namespace

void WidgetsTest::raceListSelectsAndFilters() {
  RaceListView view;
  view.resize(700, 400);
  view.setTrace(makeIndex(masterWorker()));
  view.show();
  QSignalSpy selected(&view, &RaceListView::raceSelected);
  QSignalSpy replay(&view, &RaceListView::replayToRequested);
  view.selectRace(2);
  QCOMPARE(selected.size(), 0);  // the caller knows
  QCOMPARE(view.selectedRace(), 2);
  QTest::keyClick(view.table(), Qt::Key_Down);
  QCOMPARE(selected.size(), 1);
  QCOMPARE(selected.first().first().toInt(), view.selectedRace());
  QTest::keyClick(view.table(), Qt::Key_Return);
  QCOMPARE(replay.size(), 1);
  QCOMPARE(
      replay.first().first().value<EventRef>(),
      makeIndex(masterWorker())->races().eventOf(static_cast<std::size_t>(view.selectedRace())));
  QTest::keyClicks(view.filterEdit(), QStringLiteral("kind:posted"));
  QCOMPARE(view.table()->model()->rowCount(), 2);
  view.filterEdit()->clear();
  QCOMPARE(view.table()->model()->rowCount(), 7);
  // What somebody else has selected is gone to by a click, too.
  view.selectRace(3);
  selected.clear();
  const QPoint at = view.table()->visualRect(view.table()->currentIndex()).center();
  QTest::mouseClick(view.table()->viewport(), Qt::LeftButton, {}, at);
  QCOMPARE(selected.size(), 1);
  QCOMPARE(selected.first().first().toInt(), 3);
  QTest::mouseClick(view.table()->viewport(), Qt::LeftButton, {}, at);
  QCOMPARE(selected.size(), 1);
  view.setTrace(nullptr);
  QCOMPARE(view.selectedRace(), -1);
}

void WidgetsTest::raceListDetails() {
  RaceListView view;
  view.setTrace(makeIndex(masterWorker()));
  view.selectRace(2);
  QCOMPARE(view.details()->topLevelItemCount(), 3);  // taken and two alternatives
  QCOMPARE(view.details()->topLevelItem(0)->text(0), QStringLiteral("taken"));
  QCOMPARE(view.details()->topLevelItem(1)->text(5), QStringLiteral("worker.c:40"));
  QSignalSpy source(&view, &RaceListView::sourceRequested);
  QSignalSpy event(&view, &RaceListView::eventSelected);
  QSignalSpy alternative(&view, &RaceListView::alternativeSelected);
  view.details()->setCurrentItem(view.details()->topLevelItem(1));
  QCOMPARE(source.size(), 1);
  QVERIFY(event.isEmpty());  // the race stays selected in the diagram
  QCOMPARE(alternative.first().first().toUInt(),
           view.details()->topLevelItem(1)->data(0, KeyRole + 1).toUInt());
  Q_EMIT view.details()->itemActivated(view.details()->topLevelItem(1), 0);
  QCOMPARE(event.first().first().value<EventRef>().rank, 1);
  QString why;
  for (const QLabel* label : view.findChildren<QLabel*>()) {
    why += label->text();
  }
  QVERIFY(why.contains(QStringLiteral("nothing makes the send come after the receive")));
}

/// The last race before what the user says has failed comes first, and what is looked at stays selected.
void WidgetsTest::raceListGoesByWhatHasFailed() {
  RaceListView view;
  view.setTrace(makeIndex(masterWorker()));
  const QAbstractItemModel& shown = *view.table()->model();
  const auto text = [&shown](int row, RaceListModel::Column column) {
    return shown.index(row, column).data().toString();
  };
  const auto others = [&] {
    int count = 0;
    for (int row = 0; row < shown.rowCount(); ++row) {
      count += text(row, RaceListModel::Severity) == QStringLiteral("other") ? 1 : 0;
    }
    return count;
  };
  QCOMPARE(others(), 0);  // all of them are before the end
  QVERIFY(text(0, RaceListModel::EventSerial) != QStringLiteral("10"));
  view.selectRace(2);
  view.setFailing({0, 10});
  QCOMPARE(view.selectedRace(), 2);
  QCOMPARE(text(0, RaceListModel::Severity), QStringLiteral("first"));
  QCOMPARE(text(0, RaceListModel::EventSerial), QStringLiteral("10"));
  QVERIFY(others() > 0);
  for (int row = 0; row < shown.rowCount(); ++row) {
    QCOMPARE(text(row, RaceListModel::Severity) == QStringLiteral("other"),
             text(row, RaceListModel::EventSerial).toInt() > 10);
  }
  view.setFailing({});
  QCOMPARE(others(), 0);
}

/// Where that leaves half of the height to the lists; once the user has moved it, it stays so.
void WidgetsTest::raceListShowsAllOfTheExplanation() {
  QStringList judges;
  RaceListView view;
  view.setJudges([&judges](int) { return judges; });
  view.resize(700, 500);
  view.setTrace(makeIndex(masterWorker()));
  view.show();
  QVERIFY(QTest::qWaitForWindowExposed(&view));
  auto* const parts = view.findChild<QSplitter*>(QString(), Qt::FindDirectChildrenOnly);
  QVERIFY(parts != nullptr);
  auto* const scroll = qobject_cast<QScrollArea*>(parts->widget(1));
  QVERIFY(scroll != nullptr);
  const auto* const why = qobject_cast<QLabel*>(scroll->widget());
  QVERIFY(why != nullptr);
  const auto seen = [parts] { return parts->sizes().at(1); };
  const auto half = [parts] { return (parts->height() - parts->handleWidth()) / 2; };
  view.selectRace(2);
  QVERIFY2(seen() >= why->heightForWidth(parts->width()) && seen() < half(),
           qPrintable(QString::number(seen())));
  QTRY_COMPARE(scroll->verticalScrollBar()->maximum(), 0);
  // A short one has three lines.
  view.details()->setCurrentItem(view.details()->topLevelItem(0));
  QVERIFY(why->heightForWidth(parts->width()) < 3 * why->fontMetrics().height());
  QVERIFY2(seen() >= 3 * why->fontMetrics().height() && seen() < half(),
           qPrintable(QString::number(seen())));
  judges = QStringList(40, QStringLiteral("a judge has a say"));
  view.selectRace(3);
  QCOMPARE(seen(), half());
  QTRY_VERIFY(scroll->verticalScrollBar()->maximum() > 0);
  for (const int height : {300, 500}) {
    view.resize(700, height);
    QTRY_COMPARE(seen(), half());
  }
  const int moved = half() - 30;
  parts->setSizes({parts->height() - parts->handleWidth() - moved, moved});
  Q_EMIT parts->splitterMoved(0, 1);
  QCOMPARE(seen(), moved);
  judges.clear();
  view.selectRace(2);
  QCOMPARE(seen(), moved);
}

void WidgetsTest::sourceMarginTogglesBreakpoints() {
  SourceView view(std::make_unique<FakeLoader>());
  view.resize(600, 400);
  view.showLocation(kFile, 5);
  view.show();
  QVERIFY(QTest::qWaitForWindowExposed(&view));
  QSignalSpy toggled(&view, &SourceView::breakpointToggled);
  SourceEditor* editor = view.currentEditor();
  QVERIFY(editor != nullptr);
  editor->setFirstVisibleLine(0);
  const auto height = static_cast<int>(editor->SendScintilla(QsciScintilla::SCI_TEXTHEIGHT, 0UL));
  QTest::mouseClick(editor->viewport(), Qt::LeftButton, {}, QPoint(8, height * 2 + height / 2));
  QCOMPARE(toggled.size(), 1);
  QCOMPARE(toggled.first().at(0).toString(), kFile);
  QCOMPARE(toggled.first().at(1).toInt(), 3);
  editor->setCursorPosition(6, 0);
  view.toggleBreakpointAction()->trigger();
  QCOMPARE(toggled.last().at(1).toInt(), 7);
  Breakpoint set;
  set.file = kFile;
  set.line = 3;
  set.state = BreakpointState::Set;
  Breakpoint off = set;
  off.line = 4;
  off.enabled = false;
  Breakpoint pending = set;
  pending.line = 5;
  pending.state = BreakpointState::Pending;
  Breakpoint conditional = set;
  conditional.line = 6;
  conditional.condition = QStringLiteral("i > 1");
  Breakpoint typed = set;  // as one types it
  typed.file = kFile.section(QLatin1Char('/'), -1);
  typed.line = 7;
  Breakpoint other = typed;
  other.file = QLatin1Char('x') + typed.file;
  other.line = 8;
  Breakpoint logs = set;
  logs.line = 9;
  logs.log = QStringLiteral("i is {i}");
  view.setBreakpoints({set, off, pending, conditional, typed, other, logs});
  QVERIFY(editor->hasMarker(7, SourceEditor::BreakpointEnabled));
  QVERIFY(!editor->hasMarker(8, SourceEditor::BreakpointEnabled));
  QVERIFY(editor->hasMarker(9, SourceEditor::BreakpointConditional));
  QVERIFY(editor->hasMarker(3, SourceEditor::BreakpointEnabled));
  QVERIFY(editor->hasMarker(4, SourceEditor::BreakpointDisabled));
  QVERIFY(editor->hasMarker(5, SourceEditor::BreakpointPending));
  QVERIFY(editor->hasMarker(6, SourceEditor::BreakpointConditional));
  view.setBreakpoints({});
  QVERIFY(!editor->hasMarker(3, SourceEditor::BreakpointEnabled));
  QVERIFY(editor->isReadOnly());
}

/// Also where a pixel of the widget is several of the screen (QT_SCALE_FACTOR=2, views_widgets_hidpi_test).
void WidgetsTest::sourceDotsAreInTheirLines() {
  SourceView view(std::make_unique<FakeLoader>());
  view.resize(600, 400);
  view.showLocation(kFile, 5);
  view.show();
  QVERIFY(QTest::qWaitForWindowExposed(&view));
  SourceEditor* editor = view.currentEditor();
  editor->setFirstVisibleLine(0);
  Breakpoint set;
  set.file = kFile;
  set.line = 3;
  set.state = BreakpointState::Set;
  view.setBreakpoints({set});
  view.setCallSites({{kFile, {5}}});
  view.setStopLocation(kFile, 7);
  editor->setFirstVisibleLine(0);
  const QImage image = editor->viewport()->grab().toImage();
  const qreal ratio = image.devicePixelRatio();
  const auto height = static_cast<qreal>(editor->SendScintilla(QsciScintilla::SCI_TEXTHEIGHT, 0UL));
  const Theme theme = Theme::of(editor->palette());
  const QColor arrow = theme.dark ? theme.cut : QColor(0xE6, 0x9F, 0x00);
  struct Mark {
    QColor color;
    int line;
    int least;  ///< so wide, in pixels of the widget
    int most;
  };
  const Mark marks[] = {
      {theme.breakpoint, 3, 7, 12},
      {theme.send, 5, 2, 4},  // the bar of a line with events
      {arrow, 7, 7, 12},      // of the current line
  };
  for (const Mark& mark : marks) {
    QRect seen;
    for (int y = 0; y < image.height(); ++y) {
      for (int x = 0; x < image.width(); ++x) {
        if (image.pixelColor(x, y).rgb() == mark.color.rgb()) {
          seen |= QRect(x, y, 1, 1);
        }
      }
    }
    const QString where = QStringLiteral("line %1: %2 wide, from %3 to %4")
                              .arg(mark.line)
                              .arg(seen.width())
                              .arg(seen.top())
                              .arg(seen.bottom());
    QVERIFY2(seen.width() >= mark.least * ratio && seen.width() < mark.most * ratio,
             qPrintable(where));  // none of it is off the edge
    QVERIFY2(seen.top() >= (mark.line - 1) * height * ratio &&
                 seen.bottom() <= mark.line * height * ratio,
             qPrintable(where));
  }
}

void WidgetsTest::sourceArrowsAndTabs() {
  SourceView view(std::make_unique<FakeLoader>());
  view.setStopLocation(kFile, 40);
  view.setOtherEnd(QStringLiteral("/x/worker.c"), 24);
  QCOMPARE(view.currentFile(), kFile);
  QCOMPARE(view.currentLine(), 40);
  QVERIFY(view.editor(kFile)->hasMarker(40, SourceEditor::StopArrow));
  QVERIFY(view.editor(QStringLiteral("/x/worker.c"))->hasMarker(24, SourceEditor::OtherEndArrow));
  view.setStopLocation(QStringLiteral("/x/worker.c"), 9);
  QVERIFY(!view.editor(kFile)->hasMarker(40, SourceEditor::StopArrow));
  QCOMPARE(view.tabs()->count(), 2);
  view.setCallSites({{kFile, {12}}});
  QVERIFY(view.editor(kFile)->hasMarker(12, SourceEditor::CallSiteMark));
  for (int i = 0; i < 30; ++i) {
    view.showLocation(QStringLiteral("/x/f%1.c").arg(i), 1);
  }
  QVERIFY(view.tabs()->count() <= 16);
  view.setStopLocation({}, 0);
  view.closeAll();
  QVERIFY(view.currentEditor() == nullptr);
}

void WidgetsTest::sourceMissingFileCanBeLocated() {
  SourceView view(std::make_unique<FakeLoader>());
  const QString path = QStringLiteral("/build/gone.c");
  view.setStopLocation(path, 12);
  QVERIFY(view.currentEditor() == nullptr);
  QSignalSpy locate(&view, &SourceView::locateSourceRequested);
  auto* button = view.findChild<QPushButton*>(QStringLiteral("locateSource"));
  QVERIFY(button != nullptr);
  button->click();
  QCOMPARE(locate.first().first().toString(), path);
  view.setPathMapping(path, QStringLiteral("/home/user/here.c"));
  QVERIFY(view.currentEditor() != nullptr);
  QVERIFY(view.currentEditor()->hasMarker(12, SourceEditor::StopArrow));
  QCOMPARE(view.currentFile(), path);  // the name that breakpoints use
}

void WidgetsTest::sourceFindsAndHovers() {
  SourceView view(std::make_unique<FakeLoader>());
  view.resize(600, 400);
  view.showLocation(kFile, 1);
  view.show();
  view.findAction()->trigger();
  auto* edit = view.findChild<QLineEdit*>();
  QVERIFY(edit != nullptr && edit->isVisible());
  edit->setText(QStringLiteral("line 42"));
  QTest::keyClick(edit, Qt::Key_Return);
  QCOMPARE(view.currentLine(), 42);
  SourceEditor* editor = view.currentEditor();
  const int lineStart = editor->positionFromLineIndex(9, 0);
  const QString line = editor->text(9);
  QCOMPARE(
      editor->expressionAt(lineStart + static_cast<int>(line.indexOf(QStringLiteral("weight")))),
      QStringLiteral("pool->weight"));
  QCOMPARE(editor->expressionAt(lineStart + static_cast<int>(line.indexOf(QStringLiteral("pool")))),
           QStringLiteral("pool"));
  QCOMPARE(editor->expressionAt(lineStart), QString());
  QSignalSpy hover(&view, &SourceView::hoverRequested);
  Q_EMIT editor->SCN_DWELLSTART(lineStart + static_cast<int>(line.indexOf(QStringLiteral("total"))),
                                10, 10);
  QCOMPARE(hover.first().first().toString(), QStringLiteral("total"));
}

void WidgetsTest::sourceLexers() {
  SourceView view(std::make_unique<FakeLoader>());
  for (const auto& [name, language] :
       {std::pair("a.c", "C++"), std::pair("a.f90", "Fortran"), std::pair("a.py", "Python")}) {
    view.showLocation(QString::fromLatin1(name), 1);
    QCOMPARE(QString::fromLatin1(view.currentEditor()->lexer()->language()),
             QString::fromLatin1(language));
  }
  view.showLocation(QStringLiteral("a.txt"), 1);
  QVERIFY(view.currentEditor()->lexer() == nullptr);
}

namespace {
QList<RankState> ranks(int n) {
  QList<RankState> out;
  for (int r = 0; r < n; ++r) {
    RankState state;
    state.rank = r;
    state.activity = r % 2 == 0 ? RankActivity::Stopped : RankActivity::Running;
    state.debugger = r == 0;
    out << state;
  }
  return out;
}
}  // namespace

void WidgetsTest::ranksStripScopes() {
  RankStrip strip;
  strip.model()->setRanks(ranks(4));
  strip.show();
  QCOMPARE(strip.currentRank(), 0);
  QSignalSpy asked(&strip, &RankStrip::actionRequested);
  strip.action(RankAction::Continue)->trigger();
  QCOMPARE(asked.last().at(1).value<QList<int>>(), (QList<int>{0, 1, 2, 3}));
  strip.scopeBox()->setCurrentIndex(0);
  strip.action(RankAction::Next)->trigger();
  QCOMPARE(asked.last().at(0).value<RankAction>(), RankAction::Next);
  QCOMPARE(asked.last().at(1).value<QList<int>>(), QList<int>{0});
  QVERIFY(!strip.action(RankAction::Pause)->isEnabled());  // rank 0 is stopped
  QSignalSpy current(&strip, &RankStrip::currentRankChanged);
  strip.setCurrentRank(1);
  QCOMPARE(current.size(), 0);
  QVERIFY(strip.action(RankAction::Pause)->isEnabled());
  QVERIFY(!strip.action(RankAction::Step)->isEnabled());
  QTest::keyClick(strip.findChild<QTableView*>(), Qt::Key_Down);
  QCOMPARE(current.last().first().toInt(), 2);
  strip.setGroups({{QStringLiteral("workers"), {1, 2, 3}}});
  strip.scopeBox()->setCurrentIndex(4);
  QCOMPARE(strip.scopeRanks(), (QList<int>{1, 2, 3}));
  strip.model()->setFocusRanks({3});
  strip.scopeBox()->setCurrentIndex(2);
  QCOMPARE(strip.scopeRanks(), QList<int>{3});
}

/// A box that has no tick is seen as one in dark colours, too.
void WidgetsTest::untickedBoxesAreSeenInTheDark() {
  const QPalette before = QApplication::palette();
  QApplication::setStyle(new FramedBoxes);  // as the window's program does
  QApplication::setPalette(test::darkPalette());
  RankStrip strip;
  strip.model()->setRanks(ranks(4));
  strip.resize(400, 300);
  strip.show();
  auto* const table = strip.findChild<QTableView*>();
  const auto image = [&](const QList<int>& ticked) {
    strip.model()->setFocusRanks({ticked.begin(), ticked.end()});
    return table->viewport()->grab().toImage();
  };
  const QImage with = image({0, 1, 2, 3});
  const QImage without = image({});
  const int base = strip.palette().color(QPalette::Base).lightness();
  int seen = 0;
  for (int y = 0; y < without.height(); ++y) {
    for (int x = 0; x < without.width(); ++x) {
      const QColor colour = without.pixelColor(x, y);
      seen += colour != with.pixelColor(x, y) && colour.lightness() - base > 40 ? 1 : 0;
    }
  }
  OutputView output;
  output.show();
  auto* const box = output.findChild<QCheckBox*>();
  const QImage alone = box->grab(QRect(0, 0, 14, box->height())).toImage();
  const int ground = output.palette().color(QPalette::Window).lightness();
  int framed = 0;
  for (int y = 0; y < alone.height(); ++y) {
    for (int x = 0; x < alone.width(); ++x) {
      framed += alone.pixelColor(x, y).lightness() - ground > 40 ? 1 : 0;
    }
  }
  QApplication::setPalette(before);
  QVERIFY2(seen > 4 * 20, qPrintable(QString::number(seen)));  // four frames
  QVERIFY2(framed > 20, qPrintable(QString::number(framed)));
}

void WidgetsTest::ranksStripGoesCompact() {
  RankStrip strip;
  strip.resize(500, 200);
  strip.model()->setRanks(ranks(32));
  QVERIFY(!strip.isCompact());
  strip.model()->setRanks(ranks(64));
  QVERIFY(strip.isCompact());
  strip.show();
  strip.setCurrentRank(17);
  QCOMPARE(strip.currentRank(), 17);
  const auto lists = strip.findChildren<QListView*>();  // those of combo boxes, too
  auto* const grid = *std::ranges::find(lists, strip.model(), &QListView::model);
  QSignalSpy current(&strip, &RankStrip::currentRankChanged);
  const QModelIndex third = strip.model()->index(3, 0);
  QTest::mouseClick(grid->viewport(), Qt::LeftButton, {}, grid->visualRect(third).center());
  QCOMPARE(current.count(), 1);
  QCOMPARE(current.last().first().toInt(), 3);
  strip.scopeBox()->setCurrentIndex(1);
  QCOMPARE(strip.scopeRanks(), QList<int>{3});
}

/// Wider for a longer place, up to a width; and not narrower again with each step.
void WidgetsTest::ranksStripMakesRoomForPlaces() {
  RankStrip strip;
  strip.resize(700, 200);
  QList<RankState> states = ranks(2);
  strip.model()->setRanks(states);
  strip.show();
  const auto* const table = strip.findChild<QTableView*>();
  const auto roomFor = [&](const char* place) {
    states[0].where = QStringLiteral("main() at ") + QString::fromLatin1(place);
    strip.model()->setRanks(states);
    return table->columnWidth(RanksModel::WhereColumn);
  };
  const int less = roomFor("a.c:5");
  const int more = roomFor("a_tally.c:53");
  QVERIFY(more >= table->fontMetrics().horizontalAdvance(QStringLiteral("a_tally.c:53")));
  const int most = roomFor("a_solver_of_fields_in_three_dimensions.f90:12345");
  QVERIFY2(less <= more && more < most && most <= 150, qPrintable(QString::number(most)));
  QCOMPARE(roomFor("a.c:5"), most);
}

namespace {
class OpenDelegate : public PlainDelegate {
 public:
  using PlainDelegate::initStyleOption;
};
}  // namespace

/// What of a place says most is its line.
void WidgetsTest::longPlacesKeepTheirLines() {
  OpenDelegate delegate;
  QStandardItemModel model;
  model.appendRow(
      new QStandardItem(QStringLiteral("a_solver_of_fields_in_three_dimensions.f90:12345")));
  model.appendRow(new QStandardItem(QStringLiteral("12345: what is said of a field is no place")));
  const auto shown = [&](int row) {
    QStyleOptionViewItem option;
    option.textElideMode = Qt::ElideRight;  // as tables have it
    delegate.initStyleOption(&option, model.index(row, 0));
    const int room = option.fontMetrics.horizontalAdvance(option.text) / 2;
    return option.fontMetrics.elidedText(option.text, option.textElideMode, room);
  };
  QVERIFY2(
      shown(0).startsWith(QStringLiteral("a_so")) && shown(0).endsWith(QStringLiteral(":12345")),
      qPrintable(shown(0)));
  QVERIFY2(shown(1).startsWith(QStringLiteral("12345: what")) &&
               !shown(1).endsWith(QStringLiteral("place")),
           qPrintable(shown(1)));
}

void WidgetsTest::stackSelectsFrames() {
  StackView view;
  StackFrame inner;
  inner.function = QStringLiteral("collect");
  StackFrame outer;
  outer.level = 1;
  outer.function = QStringLiteral("main");
  QSignalSpy selected(&view, &StackView::frameSelected);
  view.setFrames({inner, outer});
  QCOMPARE(selected.size(), 0);
  view.show();
  QTest::keyClick(view.table(), Qt::Key_Down);
  QCOMPARE(selected.first().first().toInt(), 1);
}

void WidgetsTest::variablesExpandOnDemand() {
  VariablesView view;
  view.show();
  Variable pool;
  pool.path = QStringLiteral("pool");
  pool.name = QStringLiteral("pool");
  pool.hasChildren = true;
  QSignalSpy expand(view.model(), &VariablesModel::expandRequested);
  view.model()->setVariables(QStringLiteral("0:f"), {pool});
  QCOMPARE(expand.size(), 0);
  view.tree()->expand(view.model()->index(0, 0));
  QTRY_COMPARE(expand.size(), 1);
  QSignalSpy watch(&view, &VariablesView::watchRequested);
  view.tree()->setCurrentIndex(view.model()->index(0, 0));
  view.watchAction()->trigger();
  QCOMPARE(watch.first().first().toString(), QStringLiteral("pool"));
}

void WidgetsTest::whatIsOldIsGrey() {
  VariablesView view;
  view.resize(400, 200);
  Variable all;
  all.path = all.name = QStringLiteral("all");
  all.value = QStringLiteral("{1, 2}");
  all.hasChildren = true;
  Variable part;
  part.path = QStringLiteral("all/0");
  part.name = QStringLiteral("0");
  part.value = QStringLiteral("1");
  view.model()->setVariables(QStringLiteral("0:f"), {all});
  view.model()->setChildren(all.path, {part});
  part.value = QStringLiteral("3");
  view.model()->setChildren(all.path, {part});  // it has changed: coloured, and bold
  view.tree()->expandAll();
  view.show();
  const auto seen = [&view](int row) {
    const QModelIndex top = view.model()->index(0, 1);
    const QModelIndex shown = row == 0 ? top : view.model()->index(0, 1, top.siblingAtColumn(0));
    return view.tree()->viewport()->grab(view.tree()->visualRect(shown)).toImage();
  };
  const auto darkest = [](const QImage& image) {
    int least = 255;
    for (int y = 0; y < image.height(); ++y) {
      for (int x = 0; x < image.width(); ++x) {
        least = std::min(least, image.pixelColor(x, y).lightness());
      }
    }
    return least;
  };
  const QImage now[] = {seen(0), seen(1)};
  pf::views::setOld(*view.tree(), true);
  QVERIFY(darkest(seen(0)) > darkest(now[0]) + 20);
  QVERIFY(seen(1) != now[1]);
  pf::views::setOld(*view.tree(), false);
  QCOMPARE(seen(0), now[0]);
  QCOMPARE(seen(1), now[1]);
}

void WidgetsTest::watchesAddAndRemove() {
  WatchesView view;
  view.show();
  QSignalSpy changed(&view, &WatchesView::expressionsChanged);
  QTest::keyClicks(view.input(), QStringLiteral("total"));
  QTest::keyClick(view.input(), Qt::Key_Return);
  QCOMPARE(changed.last().first().toStringList(), QStringList{QStringLiteral("total")});
  QVERIFY(view.input()->text().isEmpty());
  view.model()->setValues(QStringLiteral("total"),
                          {{0, QStringLiteral("{lowest = 1}"), {}, {}, true}});
  QSignalSpy asked(view.model(), &WatchesModel::expandRequested);
  view.tree()->expand(view.model()->index(0, 0));
  QTRY_VERIFY(!asked.isEmpty());
  const QString path = asked.last().first().toString();
  QCOMPARE(view.model()->expressionOf(path), QStringLiteral("total"));
  Variable part;
  part.path = path + QStringLiteral("/0");
  part.name = QStringLiteral("lowest");
  view.model()->setChildren(path, {part});
  view.tree()->setCurrentIndex(view.model()->indexOf(part.path));
  // A format is of the whole; a question is about the part, by whoever knows how it is written.
  QSignalSpy formats(&view, &WatchesView::formatRequested);
  QCOMPARE(view.formats()->actions().size(), 11);
  view.formats()->actions().at(1)->trigger();
  QCOMPARE(formats.last().first().toString(), QStringLiteral("total"));
  QCOMPARE(formats.last().last().value<char>(), 'x');
  QString asked_about;
  QAction* question = view.addQuestion(QStringLiteral("?"),
                                       [&asked_about](const QString& text) { asked_about = text; });
  view.setExpressionOf(
      [](const QString& of, const AskExpression& then) { then(of + QStringLiteral(" !")); });
  question->trigger();
  QCOMPARE(asked_about, part.path + QStringLiteral(" !"));
  view.removeAction()->trigger();  // of a part: the whole
  QVERIFY(changed.last().first().toStringList().isEmpty());
}

void WidgetsTest::breakpointsRemove() {
  BreakpointsView view;
  Breakpoint one;
  one.id = 3;
  one.function = QStringLiteral("f");
  Breakpoint two = one;
  two.id = 9;
  view.setBreakpoints({one, two});
  QSignalSpy removed(&view, &BreakpointsView::removeRequested);
  view.removeAction()->trigger();
  QCOMPARE(removed.size(), 0);
  view.table()->selectRow(1);
  view.removeAction()->trigger();
  QCOMPARE(removed.first().first().value<QList<int>>(), QList<int>{9});
  view.removeAllAction()->trigger();
  QCOMPARE(removed.last().first().value<QList<int>>(), (QList<int>{3, 9}));
}

void WidgetsTest::cyclesActivate() {
  CyclesView view;
  Cycle cycle;
  cycle.number = 4;
  cycle.stops = {{2, 17, {}, {}}};
  view.setCycles({cycle});
  view.show();
  QSignalSpy number(&view, &CyclesView::cycleActivated);
  QSignalSpy stop(&view, &CyclesView::stopActivated);
  Q_EMIT view.tree()->activated(view.model()->index(0, 0));
  QCOMPARE(number.first().first().toInt(), 4);
  Q_EMIT view.tree()->activated(view.model()->index(0, 2, view.model()->index(0, 0)));
  QCOMPARE(stop.first().first().value<EventRef>(), (EventRef{2, 17}));
  QVERIFY(view.tree()->isExpanded(view.model()->index(0, 0)));
}

void WidgetsTest::outputFiltersAndEscapes() {
  OutputView view(nullptr, 2000);
  view.append(0, OutputStream::Out, "hello\n<b>bold</b>\n");
  view.append(1, OutputStream::Err, "\x1b[31mred\x1b[0m\nprompt> ");
  QCOMPARE(view.text(), QStringLiteral("[0] hello\n[0] <b>bold</b>\n[1] \\x1b[31mred\\x1b[0m"));
  view.setFilterRank(0);
  QCOMPARE(view.text(), QStringLiteral("hello\n<b>bold</b>"));
  view.setFilterRank(-1);
  QTRY_VERIFY(
      view.text().endsWith(QStringLiteral("[1] prompt> ")));  // a prompt shows without a newline
  QVERIFY(view.cutText().isEmpty());
  for (int i = 0; i < 100; ++i) {
    view.append(0, OutputStream::Out, QByteArray(60, 'x') + "\n");
  }
  QVERIFY(view.cutText().contains(QStringLiteral("cut")));
  view.clear();
  QVERIFY(view.text().isEmpty());
}

void WidgetsTest::consoleKeepsTextPerRank() {
  ConsoleView view;
  QVERIFY(!view.input()->isEnabled());
  view.setRank(0);
  QSignalSpy entered(&view, &ConsoleView::commandEntered);
  QTest::keyClicks(view.input(), QStringLiteral("print total"));
  QTest::keyClick(view.input(), Qt::Key_Return);
  QCOMPARE(entered.first().at(0).toInt(), 0);
  QCOMPARE(entered.first().at(1).toString(), QStringLiteral("print total"));
  view.appendOutput(0, QStringLiteral("$1 = 4711\n"));
  view.appendOutput(1, QStringLiteral("other"));
  QVERIFY(view.text().endsWith(QStringLiteral("$1 = 4711")));
  view.setRank(1);
  QCOMPARE(view.text(), QStringLiteral("other"));
  view.setRank(0);
  QVERIFY(view.text().startsWith(QStringLiteral("(gdb) print total")));
  QTest::keyClick(view.input(), Qt::Key_Up);
  QCOMPARE(view.input()->text(), QStringLiteral("print total"));
  view.input()->clear();
  QTest::keyClick(view.input(), Qt::Key_Return);  // an empty line repeats
  QCOMPARE(entered.size(), 2);
  view.setReady(false, QStringLiteral("rank 0 is running"));
  QVERIFY(!view.input()->isEnabled());
}

void WidgetsTest::progressShowsAndHides() {
  ProgressStrip strip;
  QVERIFY(strip.isHidden());
  strip.start(QStringLiteral("Analysing"));
  QCOMPARE(strip.task(), QStringLiteral("Analysing"));
  strip.setProgress(5, 10);
  strip.setProgress(5, 0);
  strip.finish();
  QVERIFY(strip.isHidden());
}

void WidgetsTest::iconsAndThemes() {
  for (int i = 0; i <= static_cast<int>(Icon::Legend); ++i) {
    const QImage image = icon(static_cast<Icon>(i)).pixmap(32, 32).toImage();
    bool drawn = false;
    for (int y = 0; y < image.height() && !drawn; ++y) {
      for (int x = 0; x < image.width() && !drawn; ++x) {
        drawn = qAlpha(image.pixel(x, y)) > 100;
      }
    }
    QVERIFY2(drawn, qPrintable(QString::number(i)));
  }
  const Theme light = Theme::of(QPalette(QColor(240, 240, 240), QColor(250, 250, 250)));
  QPalette darkPalette(QColor(40, 40, 40), QColor(40, 40, 40));
  darkPalette.setColor(QPalette::Base, QColor(25, 25, 25));
  darkPalette.setColor(QPalette::Text, Qt::white);
  const Theme dark = Theme::of(darkPalette);
  QVERIFY(!light.dark);
  QVERIFY(dark.dark);
  const auto luminance = [](const QColor& c) {
    return (0.2126 * c.red() + 0.7152 * c.green() + 0.0722 * c.blue()) / 255;
  };
  for (const Theme& theme : {light, dark}) {  // every hue can be told from the background
    for (const QColor& color : {theme.send, theme.receive, theme.race, theme.fail, theme.collective,
                                theme.cut, theme.muted}) {
      QVERIFY(std::abs(luminance(color) - luminance(theme.base)) > 0.2);
    }
  }
}

QTEST_MAIN(WidgetsTest)
#include "widgets_test.moc"
