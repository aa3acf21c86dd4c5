// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/diagram/space_time_view.h"

#include <algorithm>

#include <QAction>
#include <QBuffer>
#include <QHBoxLayout>
#include <QImage>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QSaveFile>
#include <QScrollBar>
#include <QSvgGenerator>
#include <QToolBar>
#include <QVBoxLayout>

#include "views/diagram/minimap.h"
#include "views/diagram/rank_rows_menu.h"
#include "views/diagram/search_bar.h"
#include "views/diagram/space_time_canvas.h"
#include "views/panes/icons.h"
#include "views/trace/trace_text.h"
#include "views/values/text.h"

namespace pf::views {

namespace {

QString aPixel(const SceneStats& stats) {
  return stats.eventsAPixel < 0.1
             ? QObject::tr("less than 0.1")
             : QString::number(stats.eventsAPixel, 'f', stats.eventsAPixel < 10 ? 1 : 0);
}

RankHeader headerOf(const RankEnd& end) {
  switch (end.kind) {
    case RankEndKind::Unknown:
      return {};
    case RankEndKind::Finished:
      return {end.text.isEmpty() ? u"finished"_s : end.text, Tone::Muted};
    case RankEndKind::Crashed:
      return {end.text.isEmpty() ? u"crashed"_s : end.text, Tone::Bad};
    case RankEndKind::Aborted:
      return {end.text.isEmpty() ? u"aborted"_s : end.text, Tone::Bad};
    case RankEndKind::Hung:
      return {end.text.isEmpty() ? u"hung"_s : end.text, Tone::Bad};
    case RankEndKind::Killed:
      return {end.text.isEmpty() ? u"killed"_s : end.text, Tone::Active};
    case RankEndKind::Cut:
      return {end.text.isEmpty() ? u"record cut"_s : end.text, Tone::Active};
  }
  return {};
}

}  // namespace

SpaceTimeView::SpaceTimeView(QWidget* parent)
    : QWidget(parent),
      m_canvas(new SpaceTimeCanvas),
      m_minimap(new Minimap),
      m_rankRows(new RankRowsMenu(*m_canvas, *this)),
      m_search(new SearchBar),
      m_rows(new QScrollBar(Qt::Vertical)),
      m_legend(new LegendStrip),
      m_info(new QLabel),
      m_regime(new QLabel) {
  setObjectName(u"spaceTimeView"_s);
  makeActions();
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(0);
  m_toolLayout = layout;
  makeToolBar();
  auto* middle = new QHBoxLayout;
  middle->setSpacing(0);
  middle->addWidget(m_canvas, 1);
  middle->addWidget(m_rows);
  layout->addLayout(middle, 1);
  layout->addWidget(m_minimap);
  auto* footer = new QHBoxLayout;
  footer->setContentsMargins(10, 3, 10, 3);
  for (QLabel* label : {m_info, m_regime}) {
    label->setTextFormat(Qt::PlainText);
    label->setForegroundRole(QPalette::WindowText);
  }
  m_info->setTextInteractionFlags(Qt::TextSelectableByMouse);
  m_info->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
  m_regime->setForegroundRole(QPalette::PlaceholderText);
  m_regime->setObjectName(u"regime"_s);
  footer->addWidget(m_info, 1);
  footer->addWidget(m_regime);
  layout->addLayout(footer);
  layout->addWidget(m_legend);
  setFocusProxy(m_canvas);
  QWidget::setTabOrder(m_canvas, m_minimap);
  QWidget::setTabOrder(m_minimap, m_search->edit());

  connect(&m_canvas->eventCursor(), &EventCursor::selectionChanged, this,
          &SpaceTimeView::onSelection);
  connect(m_canvas, &SpaceTimeCanvas::activated, this, &SpaceTimeView::replayToRequested);
  connect(&m_canvas->viewport(), &SpaceTimeViewport::changed, this, &SpaceTimeView::syncBars);
  connect(m_canvas, &SpaceTimeCanvas::regimeChanged, this, &SpaceTimeView::updateInfo);
  connect(&m_canvas->viewport(), &SpaceTimeViewport::axisChanged, this, [this] {
    m_wantedAxis = m_canvas->viewport().axis();  // the zoom history goes over the switch, too
    onAxis();
  });
  connect(m_canvas, &SpaceTimeCanvas::menuRequested, this, &SpaceTimeView::showMenu);
  connect(m_canvas, &SpaceTimeCanvas::rowMenuRequested, m_rankRows, &RankRowsMenu::popup);
  connect(&m_canvas->viewport(), &SpaceTimeViewport::arrangementChanged, this,
          [this] { Q_EMIT arrangementChanged(m_canvas->viewport().arrangement()); });
  connect(m_rows, &QScrollBar::valueChanged, m_canvas,
          [this](int value) { m_canvas->viewport().setScroll(value); });
  connect(m_minimap, &Minimap::windowMoved, m_canvas,
          [this](double t0, double t1) { m_canvas->viewport().setSpan(t0, t1); });
  setTrace(nullptr);
}

QAction* SpaceTimeView::addTool(const QString& text, const QString& tip, const QIcon& icon,
                                const QKeySequence& keys) {
  auto* action = new QAction(icon, text, this);
  action->setShortcut(keys);
  action->setShortcutContext(Qt::WidgetWithChildrenShortcut);
  action->setToolTip(
      keys.isEmpty() ? tip : u"%1 (%2)"_s.arg(tip, keys.toString(QKeySequence::NativeText)));
  addAction(action);
  return action;
}

void SpaceTimeView::makeActions() {
  m_replayHere = addTool(tr("Replay to here"),
                         tr("Re-execute and stop this rank just before the selected event"),
                         icon(Icon::ReplayHere), QKeySequence(Qt::Key_Return));
  m_replayHere->setShortcuts({QKeySequence(Qt::Key_Return), QKeySequence(Qt::Key_Enter)});
  m_breakHere = addTool(tr("Break at this event"), tr("Stop at the selected event in every cycle"),
                        icon(Icon::Breakpoint), QKeySequence(Qt::Key_B));
  m_bookmark = addTool(tr("Bookmark"), tr("Bookmark the selected event"), icon(Icon::Bookmark),
                       QKeySequence(Qt::Key_M));
  m_cone = addTool(tr("Causal past and future"),
                   tr("Show only what happens before and after the selected event"),
                   icon(Icon::Cone), QKeySequence(Qt::Key_C));
  m_cone->setCheckable(true);
  m_previousRace = addTool(tr("Previous racing receive"), tr("Previous racing receive"),
                           icon(Icon::PreviousRace), QKeySequence(Qt::SHIFT | Qt::Key_R));
  m_nextRace = addTool(tr("Next racing receive"), tr("Next racing receive"), icon(Icon::NextRace),
                       QKeySequence(Qt::Key_R));
  m_partner = addTool(tr("Go to partner"), tr("Go to the other end of the message"),
                      icon(Icon::Partner), QKeySequence(Qt::Key_P));
  makeSelectionActions();
  m_zoomIn = addTool(tr("Zoom in"), tr("Zoom in"), icon(Icon::ZoomIn), QKeySequence(Qt::Key_Plus));
  m_zoomIn->setShortcuts({QKeySequence(Qt::Key_Plus), QKeySequence(Qt::Key_Equal)});
  m_zoomOut =
      addTool(tr("Zoom out"), tr("Zoom out"), icon(Icon::ZoomOut), QKeySequence(Qt::Key_Minus));
  m_fit =
      addTool(tr("Fit"), tr("Show the whole run"), icon(Icon::ZoomFit), QKeySequence(Qt::Key_F));
  m_zoomBack = addTool(tr("Zoom back"), tr("Back to the view before"), icon(Icon::ZoomBack),
                       QKeySequence(Qt::ALT | Qt::Key_Left));
  m_zoomForward = addTool(tr("Zoom forward"), tr("Forward again"), icon(Icon::ZoomForward),
                          QKeySequence(Qt::ALT | Qt::Key_Right));
  makeAxisAction();
  m_legendShown = addTool(tr("Legend"), tr("Show what the signs mean"), icon(Icon::Legend),
                          QKeySequence(Qt::Key_L));
  m_legendShown->setCheckable(true);
  m_legendShown->setChecked(true);
  connectActions();
}

void SpaceTimeView::makeSelectionActions() {
  m_nextAlternative = addTool(tr("Next alternative"),
                              tr("Next message that the selected receive could have taken instead"),
                              {}, QKeySequence(Qt::Key_A));
  m_previousAlternative =
      addTool(tr("Previous alternative"),
              tr("Previous message that the selected receive could have taken instead"), {},
              QKeySequence(Qt::SHIFT | Qt::Key_A));
  m_sameSite =
      addTool(tr("Find all of this call site"),
              tr("Find all events of the selected one's source line"), {}, QKeySequence(Qt::Key_S));
  m_sameTag = addTool(tr("Find all of this tag"), tr("Find all events of the selected one's tag"),
                      {}, QKeySequence(Qt::Key_T));
  m_zoomSelection =
      addTool(tr("Zoom to selection"), tr("Show the selected event with its partners"), {},
              QKeySequence(Qt::Key_Z));
  m_overview =
      addTool(tr("Overview"), tr("Move the visible window in the overview by the arrow keys"), {},
              QKeySequence(Qt::Key_O));
  connect(m_nextAlternative, &QAction::triggered, m_canvas,
          [this] { m_canvas->eventCursor().stepAlternative(1); });
  connect(m_previousAlternative, &QAction::triggered, m_canvas,
          [this] { m_canvas->eventCursor().stepAlternative(-1); });
  connect(&m_canvas->eventCursor(), &EventCursor::alternativeChanged, this,
          &SpaceTimeView::onAlternative);
  connect(m_zoomSelection, &QAction::triggered, &m_canvas->eventCursor(),
          &EventCursor::zoomToSelection);
  connect(m_overview, &QAction::triggered, m_minimap, qOverload<>(&QWidget::setFocus));
  connect(m_minimap, &Minimap::left, m_canvas, qOverload<>(&QWidget::setFocus));
  connect(m_sameSite, &QAction::triggered, this, [this] {
    const CallSite* site = siteOf(*m_canvas->trace(), m_canvas->eventCursor().selected());
    if (site != nullptr && !site->file.empty()) {
      findSame(u"file:%1 line:%2"_s.arg(fromUtf8(site->file).section(u'/', -1)).arg(site->line));
    }
  });
  connect(m_sameTag, &QAction::triggered, this, [this] {
    findSame(u"tag:%1"_s.arg(m_canvas->trace()->event(m_canvas->eventCursor().selected()).tag));
  });
}

void SpaceTimeView::findSame(const QString& query) {
  m_search->edit()->setText(query);
  m_search->search();
}

void SpaceTimeView::onAlternative(int number) {
  updateInfo();
  const TraceIndexPtr& trace = m_canvas->trace();
  const auto races = trace->racesAt(m_canvas->eventCursor().selected());
  if (number > 0 && !races.empty()) {
    Q_EMIT alternativeSelected(static_cast<int>(races.front()),
                               trace->data().races[races.front()].alternatives[at(number - 1)]);
  }
}

void SpaceTimeView::chooseAlternative(std::uint32_t message) {
  const TraceIndexPtr& trace = m_canvas->trace();
  const auto races =
      trace ? trace->racesAt(m_canvas->eventCursor().selected()) : std::span<const std::uint32_t>{};
  if (races.empty()) {
    return;
  }
  const auto& all = trace->data().races[races.front()].alternatives;
  const auto found = std::find(all.begin(), all.end(), message);
  const QSignalBlocker quiet(m_canvas->eventCursor());
  m_canvas->eventCursor().chooseAlternative(
      found == all.end() ? 0 : static_cast<int>(found - all.begin()) + 1);
  m_canvas->update();
  updateInfo();
}

void SpaceTimeView::connectActions() {
  const auto zoom = [this](double factor) {
    const SpaceTimeGeometry g = m_canvas->view();
    const EventRef selected = m_canvas->eventCursor().selected();
    double around = g.plot.center().x();
    if (selected.valid() && m_canvas->trace()) {
      const double x = g.x(m_canvas->trace()->time(selected));
      around = x >= g.plot.left() && x <= g.plot.right() ? x : around;
    }
    m_canvas->viewport().zoomBy(factor, around);
  };
  const auto selected = [this](auto signal) {
    return [this, signal] {
      if (m_canvas->eventCursor().selected().valid()) {
        Q_EMIT(this->*signal)(m_canvas->eventCursor().selected());
      }
    };
  };
  connect(m_replayHere, &QAction::triggered, this, selected(&SpaceTimeView::replayToRequested));
  connect(m_breakHere, &QAction::triggered, this, selected(&SpaceTimeView::breakHereRequested));
  connect(m_bookmark, &QAction::triggered, this, selected(&SpaceTimeView::bookmarkRequested));
  connect(m_cone, &QAction::toggled, m_canvas, &SpaceTimeCanvas::setCone);
  connect(m_nextRace, &QAction::triggered, this, [this] { m_canvas->eventCursor().selectRace(1); });
  connect(m_previousRace, &QAction::triggered, this,
          [this] { m_canvas->eventCursor().selectRace(-1); });
  connect(m_partner, &QAction::triggered, &m_canvas->eventCursor(), &EventCursor::selectPartner);
  connect(m_zoomIn, &QAction::triggered, this, [zoom] { zoom(1.5); });
  connect(m_zoomOut, &QAction::triggered, this, [zoom] { zoom(1 / 1.5); });
  connect(m_fit, &QAction::triggered, &m_canvas->viewport(), &SpaceTimeViewport::fit);
  connect(m_zoomBack, &QAction::triggered, &m_canvas->viewport(), &SpaceTimeViewport::undo);
  connect(m_zoomForward, &QAction::triggered, &m_canvas->viewport(), &SpaceTimeViewport::redo);
  connect(m_legendShown, &QAction::toggled, m_legend, &QWidget::setVisible);
  addActions(searchActions());
  connect(m_search, &SearchBar::hitsChanged, this, [this](const EventSearchPtr& found) {
    m_canvas->setFound(found);
    m_minimap->setFound(m_canvas->found());
  });
  connect(m_search->onlyAction(), &QAction::toggled, m_canvas, &SpaceTimeCanvas::setOnlyFound);
  connect(m_search, &SearchBar::hitSelected, m_canvas,
          [this](const EventRef& event) { m_canvas->eventCursor().select(event, true); });
  connect(m_search, &SearchBar::left, m_canvas, qOverload<>(&QWidget::setFocus));
}

void SpaceTimeView::makeToolBar() {
  auto* bar = new QToolBar;
  bar->setIconSize({18, 18});
  bar->setToolButtonStyle(Qt::ToolButtonIconOnly);
  for (QAction* action : {m_replayHere, m_breakHere, m_bookmark}) {
    bar->addAction(action);
  }
  bar->addSeparator();
  for (QAction* action : {m_previousRace, m_nextRace, m_partner, m_cone}) {
    bar->addAction(action);
  }
  bar->addSeparator();
  for (QAction* action : {m_zoomIn, m_zoomOut, m_fit, m_zoomBack, m_zoomForward}) {
    bar->addAction(action);
  }
  bar->addSeparator();
  bar->addAction(m_physicalAxis);
  bar->addAction(m_legendShown);
  bar->addSeparator();
  bar->addWidget(m_search);
  m_toolLayout->addWidget(bar);
}

QList<QAction*> SpaceTimeView::searchActions() const {
  return {m_search->findAction(),
          m_search->nextAction(),
          m_search->previousAction(),
          m_search->onlyAction(),
          m_sameSite,
          m_sameTag};
}

QList<QAction*> SpaceTimeView::viewActions() const {
  return {m_zoomIn,      m_zoomOut,  m_fit,          m_zoomSelection, m_zoomBack,
          m_zoomForward, m_overview, m_physicalAxis, m_legendShown};
}

static std::vector<RankHeader> headersOf(const TraceIndexPtr& trace) {
  std::vector<RankHeader> headers;
  if (trace) {
    for (const RankEnd& end : trace->data().ends) {
      headers.push_back(headerOf(end));
    }
  }
  return headers;
}

void SpaceTimeView::renewTrace(const TraceIndexPtr& trace, const TraceIndexPtr& physical) {
  const TraceIndexPtr& before = m_canvas->viewport().traces().logical;
  if (!before || !before->hasEvents() || before->rankCount() != trace->rankCount()) {
    setTrace(trace);
    return;
  }
  m_axisWork.forget();
  m_canvas->renewTrace(trace, physical);
  m_canvas->setHeaders(headersOf(trace));
  m_search->renewTrace(trace);
  m_rankRows->refresh();
  enableActions();
  setAxis(m_wantedAxis);  // also where it could not be shown before
}

void SpaceTimeView::setTrace(TraceIndexPtr trace) {
  std::vector<RankHeader> headers = headersOf(trace);
  m_axisWork.forget();
  m_minimap->setTrace(trace);
  m_canvas->setTrace(trace);
  m_search->setTrace(std::move(trace));
  m_canvas->setHeaders(std::move(headers));
  m_rankRows->refresh();
  onSelection({});
  onAxis();
  setAxis(m_wantedAxis);
}

void SpaceTimeView::setReplayPositions(std::vector<ReplayPosition> positions) {
  m_canvas->setPositions(std::move(positions));
}

void SpaceTimeView::setDifferent(std::vector<Serial> from) {
  m_canvas->setDifferent(std::move(from));
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

QList<QAction*> SpaceTimeView::rankActions() const {
  return m_rankRows->actions();
}

void SpaceTimeView::setMarks(std::vector<EventMark> marks) {
  m_canvas->setMarks(std::move(marks));
}

void SpaceTimeView::setRankHeaders(std::vector<RankHeader> headers) {
  m_canvas->setHeaders(std::move(headers));
}

void SpaceTimeView::selectEvent(const EventRef& event) {
  m_canvas->eventCursor().select(event, true);
}

void SpaceTimeView::selectRace(int race) {
  const TraceIndexPtr& trace = m_canvas->trace();
  if (trace && race >= 0 && at(race) < trace->data().races.size()) {
    m_canvas->eventCursor().select(trace->raceEvent(at(race)), true);
  }
}

EventRef SpaceTimeView::selectedEvent() const {
  return m_canvas->eventCursor().selected();
}

void SpaceTimeView::enableActions() {
  const TraceIndexPtr& trace = m_canvas->trace();
  const EventRef event = m_canvas->eventCursor().selected();
  const bool any = trace && trace->contains(event);
  for (QAction* action : {m_replayHere, m_breakHere, m_bookmark}) {
    action->setEnabled(any);
  }
  m_partner->setEnabled(any && !trace->partners(event).empty());
  m_zoomSelection->setEnabled(any);
  m_sameSite->setEnabled(any && siteOf(*trace, event) != nullptr &&
                         !siteOf(*trace, event)->file.empty());
  m_sameTag->setEnabled(any && trace->event(event).tag != kAnyTag);
  for (QAction* action : {m_nextAlternative, m_previousAlternative}) {
    action->setEnabled(any && !trace->racesAt(event).empty());
  }
  const bool races = trace && !trace->racingEvents().empty();
  m_nextRace->setEnabled(races);
  m_previousRace->setEnabled(races);
}

void SpaceTimeView::onSelection(const EventRef& event) {
  const TraceIndexPtr& trace = m_canvas->trace();
  const bool any = trace && trace->contains(event);
  m_search->setCurrent(event);
  enableActions();
  updateInfo();
  Q_EMIT eventSelected(event);
  if (any && !trace->racesAt(event).empty()) {
    Q_EMIT raceSelected(static_cast<int>(trace->racesAt(event).front()));
  }
}

void SpaceTimeView::updateInfo() {
  const TraceIndexPtr& trace = m_canvas->trace();
  if (!trace) {
    m_info->clear();
    m_regime->clear();
    return;
  }
  const EventRef event = m_canvas->eventCursor().selected();
  QString text = trace->hasEvents()
                     ? tr("Nothing is selected. Click an event, or press R for the next racing "
                          "receive.")
                     : tr("Reading events … they can be selected and searched when all are there.");
  if (trace->contains(event)) {
    text = eventDetails(*trace, event).section(QLatin1Char('\n'), 0, 0);
    text = u"rank %1, event %2  ·  %3"_s.arg(event.rank).arg(event.serial).arg(text);
    const QString site = siteText(*trace, event);
    if (!site.isEmpty()) {
      text += u"  ·  "_s + site;
    }
    if (m_canvas->eventCursor().alternative() > 0) {
      text = alternativeText(*trace, event, m_canvas->eventCursor().alternative());
    }
    for (const std::uint32_t race : trace->racesAt(event)) {
      text += u"  ·  could have taken "_s + counted(trace->data().races[race].alternatives.size(),
                                                    u"other message"_s, u"other messages"_s);
    }
  }
  m_info->setText(text);
  m_info->setToolTip(
      plainToolTip(trace->contains(event) ? eventDetails(*trace, event) : QString()));
  const SceneStats& stats = m_canvas->stats();
  const RankArrangement& ranks = m_canvas->viewport().arrangement();
  const QString left = ranks.hidden.isEmpty()
                           ? QString()
                           : counted(static_cast<std::size_t>(ranks.hidden.size()),
                                     tr("rank hidden"), tr("ranks hidden")) +
                                 u"  ·  "_s;
  const QString times = m_axisWork.isBusy() ? tr("working out the physical axis …") + u"  ·  "_s
                        : axis() == TimeAxis::Physical
                            ? timeOriginText(trace->execution().timeOrigin) + u"  ·  "_s
                            : QString();
  m_regime->setText(
      times + left +
      (stats.exact ? tr("%1 events, %2")
                         .arg(trace->eventCount())
                         .arg(counted(trace->data().races.size(), tr("race"), tr("races")))
       : stats.overview
           ? tr("overview of about %1 events, %2 a pixel").arg(stats.events).arg(aPixel(stats))
           : tr("density of about %1 events, %2 a pixel").arg(stats.events).arg(aPixel(stats))));
  m_regime->setToolTip(stats.exact
                           ? QString()
                           : plainToolTip(tr("On average: events that a pixel of a rank's row "
                                             "stands for. The more, the stronger its colour.")));
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
  m_zoomBack->setEnabled(m_canvas->viewport().history().canUndo());
  m_zoomForward->setEnabled(m_canvas->viewport().history().canRedo());
}

void SpaceTimeView::showMenu(const QPoint& globalPosition) {
  QMenu menu(this);
  menu.addActions({m_replayHere, m_breakHere, m_bookmark});
  menu.addSeparator();
  menu.addActions(
      {m_partner, m_cone, m_previousRace, m_nextRace, m_nextAlternative, m_previousAlternative});
  menu.addSeparator();
  menu.addActions({m_sameSite, m_sameTag, m_search->nextAction(), m_search->previousAction()});
  menu.addSeparator();
  menu.addActions({m_fit, m_zoomSelection, m_zoomBack, m_zoomForward, m_physicalAxis});
  menu.addMenu(tr("Ranks shown"))->addActions(rankActions());
  menu.exec(globalPosition);
}

void SpaceTimeView::renderTo(QPaintDevice* device, const QSizeF& size) const {
  m_canvas->renderTo(device, size);
}

QByteArray SpaceTimeView::toSvg(const QSize& size) const {
  QBuffer buffer;
  QSvgGenerator svg;
  svg.setOutputDevice(&buffer);
  svg.setSize(size);
  svg.setViewBox(QRect(QPoint(), size));
  svg.setTitle(tr("Space-time diagram"));
  renderTo(&svg, size);
  return buffer.data();
}

bool exportDiagram(const SpaceTimeView& view, const QString& path, const QSize& size,
                   QString* error) {
  QByteArray bytes;
  if (path.endsWith(u".svg"_s, Qt::CaseInsensitive)) {
    bytes = view.toSvg(size);
  } else {
    QImage image(size * 2, QImage::Format_ARGB32_Premultiplied);
    image.setDevicePixelRatio(2);
    view.renderTo(&image, size);
    QBuffer buffer(&bytes);
    buffer.open(QIODevice::WriteOnly);
    image.save(&buffer, "PNG");
  }
  QSaveFile file(path);
  if (file.open(QIODevice::WriteOnly) && file.write(bytes) == bytes.size() && file.commit()) {
    return true;
  }
  if (error != nullptr) {
    *error = SpaceTimeView::tr("Could not write the picture %1: %2. Choose another place.")
                 .arg(path, file.errorString());
  }
  return false;
}

}  // namespace pf::views
