// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/diagram/space_time_view.h"

#include <algorithm>

#include <QAction>
#include <QHBoxLayout>
#include <QLineEdit>
#include <QMenu>
#include <QScrollBar>
#include <QToolBar>
#include <QVBoxLayout>

#include "views/diagram/canvas/space_time_canvas.h"
#include "views/diagram/tools/axis_choice.h"
#include "views/diagram/tools/diagram_footer.h"
#include "views/diagram/tools/minimap.h"
#include "views/diagram/tools/rank_rows_menu.h"
#include "views/diagram/tools/search_bar.h"
#include "views/values/text.h"

namespace pf::views {
namespace {

// Heights of the view from which on each has a place, in pixels.
constexpr int kWithFooter = 150;
constexpr int kWithToolBar = 230;
constexpr int kWithOverview = 280;
constexpr int kWithLegend = 320;

}  // namespace

SpaceTimeView::SpaceTimeView(QWidget* parent)
    : QWidget(parent),
      m_canvas(new SpaceTimeCanvas),
      m_minimap(new Minimap),
      m_rankRows(new RankRowsMenu(*m_canvas, *this)),
      m_search(new SearchBar),
      m_rows(new QScrollBar(Qt::Vertical)),
      m_legend(new LegendStrip),
      m_footer(new DiagramFooter),
      m_actions(new DiagramActions(*m_canvas, *this)),
      m_axis(new AxisChoice(*m_canvas, *action(DiagramAction::PhysicalAxis))) {
  setObjectName(u"spaceTimeView"_s);
  connectActions();
  connectSearch();
  layOut();
  connectCanvas();
  setTrace(nullptr);
}

void SpaceTimeView::layOut() {
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(0);
  layout->setSizeConstraint(QLayout::SetNoConstraint);
  m_toolBar = makeToolBar();
  layout->addWidget(m_toolBar);
  auto* middle = new QHBoxLayout;
  middle->setSpacing(0);
  middle->addWidget(m_canvas, 1);
  middle->addWidget(m_rows);
  layout->addLayout(middle, 1);
  layout->addWidget(m_minimap);
  layout->addWidget(m_footer);
  layout->addWidget(m_legend);
  setFocusProxy(m_canvas);
  QWidget::setTabOrder(m_canvas, m_minimap);
  QWidget::setTabOrder(m_minimap, m_search->edit());
}

void SpaceTimeView::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  fitHeight();
}

void SpaceTimeView::fitHeight() {
  const auto show = [this](QWidget* tool, int from) {
    tool->setVisible(height() >= from || m_called == tool);
  };
  show(m_footer, kWithFooter);
  show(m_toolBar, kWithToolBar);
  show(m_minimap, kWithOverview);
  m_legend->setVisible(action(DiagramAction::Legend)->isChecked() && height() >= kWithLegend);
}

/// Null: back to the rows.
void SpaceTimeView::call(QWidget* tool) {
  m_called = tool;
  if (tool == nullptr) {
    m_canvas->setFocus();
  }
  fitHeight();
}

QWidget* SpaceTimeView::makeToolBar() {
  using enum DiagramAction;
  auto* bar = new QToolBar;
  bar->setIconSize({18, 18});
  bar->setToolButtonStyle(Qt::ToolButtonIconOnly);
  bar->addActions(m_actions->actions({ReplayHere, BreakHere, Bookmark}));
  bar->addSeparator();
  bar->addActions(m_actions->actions({PreviousRace, NextRace, Partner, Cone}));
  bar->addSeparator();
  bar->addActions(m_actions->actions({ZoomIn, ZoomOut, Fit, ZoomBack, ZoomForward}));
  bar->addSeparator();
  bar->addActions(m_actions->actions({PhysicalAxis, Legend}));
  bar->addSeparator();
  bar->addWidget(m_search);
  return bar;
}

void SpaceTimeView::connectCanvas() {
  EventCursor* cursor = &m_canvas->eventCursor();
  SpaceTimeViewport* viewport = &m_canvas->viewport();
  connect(cursor, &EventCursor::selectionChanged, this, &SpaceTimeView::onSelection);
  connect(cursor, &EventCursor::alternativeChanged, this, &SpaceTimeView::onAlternative);
  connect(viewport, &SpaceTimeViewport::changed, this, &SpaceTimeView::syncBars);
  connect(viewport, &SpaceTimeViewport::arrangementChanged, this,
          [this] { Q_EMIT arrangementChanged(arrangement()); });
  connect(m_axis, &AxisChoice::changed, this, &SpaceTimeView::onAxis);
  connect(m_canvas, &SpaceTimeCanvas::activated, this, &SpaceTimeView::replayToRequested);
  connect(m_canvas, &SpaceTimeCanvas::regimeChanged, this, &SpaceTimeView::updateFooter);
  connect(m_canvas, &SpaceTimeCanvas::menuRequested, this, &SpaceTimeView::showMenu);
  connect(m_canvas, &SpaceTimeCanvas::rowMenuRequested, m_rankRows, &RankRowsMenu::popup);
  connect(m_rows, &QScrollBar::valueChanged, viewport,
          [viewport](int value) { viewport->setScroll(value); });
  connect(m_minimap, &Minimap::windowMoved, viewport, &SpaceTimeViewport::setSpan);
  connect(m_minimap, &Minimap::left, this, [this] { call(nullptr); });
}

void SpaceTimeView::connectActions() {
  connect(m_actions, &DiagramActions::replayToRequested, this, &SpaceTimeView::replayToRequested);
  connect(m_actions, &DiagramActions::breakHereRequested, this, &SpaceTimeView::breakHereRequested);
  connect(m_actions, &DiagramActions::bookmarkRequested, this, &SpaceTimeView::bookmarkRequested);
  connect(m_actions, &DiagramActions::contentsRequested, this, &SpaceTimeView::contentsRequested);
  connect(action(DiagramAction::Overview), &QAction::triggered, this, [this] {
    call(m_minimap);
    m_minimap->setFocus();
  });
  connect(action(DiagramAction::Legend), &QAction::toggled, this, &SpaceTimeView::fitHeight);
}

void SpaceTimeView::connectSearch() {
  addActions(searchActions());
  connect(m_actions, &DiagramActions::searchRequested, m_search, [this](const QString& query) {
    m_search->edit()->setText(query);
    m_search->search();
  });
  connect(m_search, &SearchBar::hitsChanged, this, [this](const EventSearchPtr& found) {
    m_canvas->setFound(found);
    m_minimap->setFound(m_canvas->found());
  });
  connect(m_search->onlyAction(), &QAction::toggled, m_canvas, &SpaceTimeCanvas::setOnlyFound);
  connect(m_search, &SearchBar::hitSelected, this, &SpaceTimeView::selectEvent);
  connect(m_search, &SearchBar::left, this, [this] { call(nullptr); });
  connect(m_search->findAction(), &QAction::triggered, this, [this] {
    call(m_toolBar);
    m_search->edit()->setFocus();
  });
}

QList<QAction*> SpaceTimeView::searchActions() const {
  return QList<QAction*>{m_search->findAction(), m_search->nextAction(), m_search->previousAction(),
                         m_search->onlyAction()} +
         m_actions->actions({DiagramAction::SameSite, DiagramAction::SameTag});
}

QList<QAction*> SpaceTimeView::viewActions() const {
  using enum DiagramAction;
  return m_actions->actions({ZoomIn, ZoomOut, Fit, ZoomToSelection, ZoomBack, ZoomForward, Overview,
                             PhysicalAxis, Legend});
}

QList<QAction*> SpaceTimeView::rankActions() const {
  return m_rankRows->actions();
}

void SpaceTimeView::showMenu(const QPoint& globalPosition) {
  using enum DiagramAction;
  QMenu menu(this);
  menu.addActions(m_actions->actions({ReplayHere, BreakHere, Bookmark, Contents}));
  menu.addActions(m_ofEvents);
  if (const EventRef selected = selectedEvent(); selected.valid()) {
    m_rankRows->addRankCommands(menu, {selected.rank});
  }
  menu.addSeparator();
  menu.addActions(m_actions->actions(
      {Partner, Cone, PreviousRace, NextRace, NextAlternative, PreviousAlternative}));
  menu.addSeparator();
  menu.addActions(m_actions->actions({SameSite, SameTag}));
  menu.addActions({m_search->nextAction(), m_search->previousAction()});
  menu.addSeparator();
  menu.addActions(m_actions->actions({Fit, ZoomToSelection, ZoomBack, ZoomForward, PhysicalAxis}));
  menu.addMenu(tr("Ranks shown"))->addActions(rankActions());
  menu.exec(globalPosition);
}

void SpaceTimeView::setTrace(TraceIndexPtr trace) {
  m_axis->forget();
  m_minimap->setTrace(trace);
  m_canvas->setTrace(trace);
  m_canvas->setHeaders(headersOf(trace));
  m_search->setTrace(std::move(trace));
  m_rankRows->refresh();
  onSelection({});
  m_axis->refresh();
  setAxis(wantedAxis());
}

void SpaceTimeView::renewTrace(const TraceIndexPtr& trace, const TraceIndexPtr& physical) {
  const TraceIndexPtr& before = m_canvas->viewport().traces().logical;
  if (!before || !before->hasEvents() || before->rankCount() != trace->rankCount()) {
    setTrace(trace);
    return;
  }
  m_axis->forget();
  m_canvas->renewTrace(trace, physical);
  m_canvas->setHeaders(headersOf(trace));
  m_search->renewTrace(trace);
  m_rankRows->refresh();
  m_actions->refresh();
  setAxis(wantedAxis());  // also where it could not be shown before
}

void SpaceTimeView::setReplayPositions(std::vector<ReplayPosition> positions) {
  m_canvas->setPositions(std::move(positions));
}

const std::vector<ReplayPosition>& SpaceTimeView::replayPositions() const {
  return m_canvas->positions();
}

void SpaceTimeView::setMarks(std::vector<EventMark> marks) {
  m_canvas->setMarks(std::move(marks));
}

void SpaceTimeView::setDifferent(std::vector<Serial> from) {
  m_canvas->setDifferent(std::move(from));
}

void SpaceTimeView::setRankHeaders(std::vector<RankHeader> headers) {
  const std::vector<RankHeader> recorded = headersOf(m_canvas->trace());
  for (std::size_t rank = 0; rank < headers.size() && rank < recorded.size(); ++rank) {
    if (headers[rank].text.isEmpty()) {
      headers[rank] = recorded[rank];
    }
  }
  m_canvas->setHeaders(std::move(headers));
}

void SpaceTimeView::setRankCommands(RankCommands add) {
  m_rankRows->setRankCommands(std::move(add));
}

void SpaceTimeView::setGroups(const QList<RankGroup>& groups) {
  m_rankRows->setGroups(groups);
}

void SpaceTimeView::setArrangement(const RankArrangement& arrangement) {
  m_canvas->viewport().arrange(arrangement);
}

const RankArrangement& SpaceTimeView::arrangement() const {
  return m_canvas->viewport().arrangement();
}

void SpaceTimeView::setPyramidMaker(PyramidMaker maker) {
  m_axis->setPyramidMaker(std::move(maker));
}

void SpaceTimeView::setAxis(TimeAxis axis) {
  m_axis->choose(axis);
}

TimeAxis SpaceTimeView::axis() const {
  return m_canvas->viewport().axis();
}

TimeAxis SpaceTimeView::wantedAxis() const {
  return m_axis->wanted();
}

/// Brings what is beside the canvas to its axis.
void SpaceTimeView::onAxis() {
  const TraceIndexPtr& trace = m_canvas->trace();
  m_minimap->showOn(trace);
  m_minimap->setFound(m_canvas->found());
  m_legend->setAxis(axis(), trace ? trace->execution().timeOrigin : TimeOrigin::None);
  syncBars();
  updateFooter();
}

void SpaceTimeView::selectEvent(const EventRef& event) {
  m_canvas->eventCursor().select(event, true);
}

void SpaceTimeView::selectRace(int race) {
  const TraceIndexPtr& trace = m_canvas->trace();
  if (trace && race >= 0 && at(race) < trace->data().races.size()) {
    selectEvent(trace->races().eventOf(at(race)));
  }
}

EventRef SpaceTimeView::selectedEvent() const {
  return m_canvas->eventCursor().selected();
}

void SpaceTimeView::onSelection(const EventRef& event) {
  const TraceIndexPtr& trace = m_canvas->trace();
  m_search->setCurrent(event);
  m_actions->refresh();
  updateFooter();
  Q_EMIT eventSelected(event);
  if (trace && trace->contains(event) && !trace->races().at(event).empty()) {
    Q_EMIT raceSelected(static_cast<int>(trace->races().at(event).front()));
  }
}

void SpaceTimeView::chooseAlternative(std::uint32_t message) {
  const TraceIndexPtr& trace = m_canvas->trace();
  const auto races = trace ? trace->races().at(selectedEvent()) : std::span<const std::uint32_t>{};
  if (races.empty()) {
    return;
  }
  const auto& all = trace->data().races[races.front()].alternatives;
  const auto found = std::find(all.begin(), all.end(), message);
  const QSignalBlocker quiet(m_canvas->eventCursor());
  m_canvas->eventCursor().chooseAlternative(
      found == all.end() ? 0 : static_cast<int>(found - all.begin()) + 1);
  m_canvas->update();
  updateFooter();
}

void SpaceTimeView::onAlternative(int number) {
  updateFooter();
  const TraceIndexPtr& trace = m_canvas->trace();
  const auto races = trace->races().at(selectedEvent());
  if (number > 0 && !races.empty()) {
    Q_EMIT alternativeSelected(static_cast<int>(races.front()),
                               trace->data().races[races.front()].alternatives[at(number - 1)]);
  }
}

void SpaceTimeView::syncBars() {
  const SpaceTimeGeometry g = m_canvas->view();
  const int range = std::max(0, static_cast<int>(g.rows * g.rowHeight - g.plot.height() + 0.999));
  const QSignalBlocker block(m_rows);
  m_rows->setRange(0, range);
  m_rows->setPageStep(static_cast<int>(g.plot.height()));
  m_rows->setSingleStep(std::max(1, static_cast<int>(g.rowHeight)));
  m_rows->setValue(static_cast<int>(g.scroll));
  m_rows->setVisible(range > 0);
  m_minimap->setIndent(static_cast<int>(g.plot.left()));
  m_minimap->setWindow(g.t0, g.t1);
}

void SpaceTimeView::updateFooter() {
  m_footer->refresh(*m_canvas, m_axis->isBusy());
}

void SpaceTimeView::renderTo(QPaintDevice* device, const QSizeF& size) const {
  m_canvas->renderTo(device, size);
}

}  // namespace pf::views

#include "moc_space_time_view.cpp"
