// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/diagram/space_time_canvas.h"

#include <algorithm>
#include <cmath>

#include <QPainter>
#include <QResizeEvent>

#include "views/trace/trace_text.h"
#include "views/values/text.h"

namespace pf::views {

namespace {

constexpr double kMinRow = 0.4;  // all of 1,024 ranks in one picture
constexpr double kMaxRow = 92.0;
constexpr double kMargin = 0.9;        // steps left free at both ends
constexpr double kWidestStep = 260.0;  // pixels of one step of logical time
constexpr double kFitStep = 96.0;
constexpr std::size_t kHistory = 100;

}  // namespace

SpaceTimeCanvas::SpaceTimeCanvas(QWidget* parent) : QWidget(parent), m_theme(Theme::of(palette())) {
  setObjectName(u"spaceTimeCanvas"_s);
  setFocusPolicy(Qt::StrongFocus);
  setMouseTracking(true);
  setAttribute(Qt::WA_OpaquePaintEvent);
  setAccessibleName(tr("Space-time diagram"));
  connect(&m_renderer, &SceneRenderer::finished, this, &SpaceTimeCanvas::keepScene);
}

double SpaceTimeCanvas::headerWidth() const {
  return fontMetrics().horizontalAdvance(u"Rank 0000 mm"_s) + 34.0;
}

double SpaceTimeCanvas::axisHeight() const {
  return fontMetrics().height() + 9.0;
}

SpaceTimeGeometry SpaceTimeCanvas::geometryFor(const QSizeF& size) const {
  SpaceTimeGeometry g;
  g.plot = QRectF(headerWidth(), axisHeight(), std::max(10.0, size.width() - headerWidth()),
                  std::max(10.0, size.height() - axisHeight()));
  g.arranged = m_rows;
  g.rows = m_rows ? toInt(m_rows->rows().size()) : m_trace ? toInt(m_trace->rankCount()) : 0;
  g.t0 = m_span.t0;
  g.t1 = m_span.t1;
  g.step = m_trace ? m_trace->step() : 1;
  g.rowHeight = m_span.rowHeight > 0
                    ? m_span.rowHeight
                    : std::clamp((g.plot.height() - 4) / std::max(g.rows, 1), kMinRow, kMaxRow);
  g.scroll = m_scroll;
  return g;
}

SpaceTimeGeometry SpaceTimeCanvas::view() const {
  return geometryFor(size());
}

/// Whether `trace` has the events of what `outline` only outlines.
static bool completes(const TraceIndexPtr& outline, const TraceIndexPtr& trace) {
  return outline && trace && !outline->hasEvents() && trace->hasEvents() &&
         outline->data().title == trace->data().title &&
         outline->rankCount() == trace->rankCount() && outline->lastTime() == trace->lastTime();
}

void SpaceTimeCanvas::setTrace(TraceIndexPtr trace) {
  m_physical.reset();
  m_names = QPixmap();
  m_logical = trace;
  if (completes(m_trace, trace)) {
    m_trace = std::move(trace);
    drawSceneAgain();
    Q_EMIT viewChanged();
    return;
  }
  m_trace = std::move(trace);
  m_cacheOld = false;
  m_overlay = SpaceTimeOverlay{};
  m_found = m_overlay.found;
  m_headers.clear();
  m_back.clear();
  m_forward.clear();
  m_span = Span{};
  m_rows.reset();
  m_scroll = 0;
  m_cacheValid = false;
  m_askedValid = false;
  m_renderer.forget();
  if (m_trace) {
    fit();
    m_back.clear();
  }
  Q_EMIT viewChanged();
  update();
}

void SpaceTimeCanvas::setHeaders(std::vector<RankHeader> headers) {
  m_headers = std::move(headers);
  m_names = QPixmap();
  update();
}

void SpaceTimeCanvas::setPositions(std::vector<ReplayPosition> positions) {
  m_overlay.positions = std::move(positions);
  update();
}

void SpaceTimeCanvas::setMarks(std::vector<EventMark> marks) {
  m_overlay.marks = std::move(marks);
  update();
}

void SpaceTimeCanvas::setFound(EventSearchPtr found) {
  const bool other = m_onlyFound && m_found != found;
  m_found = std::move(found);
  arrangeFound();
  other ? drawSceneAgain() : update();
}

void SpaceTimeCanvas::setOnlyFound(bool only) {
  if (m_onlyFound != only) {
    m_onlyFound = only;
    drawSceneAgain();
  }
}

EventSearchPtr SpaceTimeCanvas::only() const {
  return m_onlyFound && !hits().empty() ? found() : nullptr;
}

/// The former picture stays until there is the new one.
void SpaceTimeCanvas::drawSceneAgain() {
  m_cacheOld = true;
  m_askedValid = false;
  m_renderer.forget();
  update();
}

void SpaceTimeCanvas::setDifferent(std::vector<Serial> from) {
  m_overlay.different = std::move(from);
  update();
}

void SpaceTimeCanvas::setCone(bool shown) {
  m_overlay.cone = shown;
  refreshCone();
  update();
}

void SpaceTimeCanvas::refreshCone() {
  if (m_overlay.cone && m_trace && m_trace->contains(m_overlay.selected)) {
    m_overlay.past = m_trace->past(m_overlay.selected);
    m_overlay.future = m_trace->future(m_overlay.selected);
  }
}

void SpaceTimeCanvas::select(EventRef event, bool show) {
  if (!m_trace || (event.valid() && !m_trace->contains(event))) {
    return;
  }
  const bool changed = !(event == m_overlay.selected);
  m_overlay.selected = event;
  if (changed) {
    m_partner = 0;
    m_overlay.alternative = 0;
    refreshCone();
  }
  if (show && event.valid()) {
    reveal(event);
  }
  update();
  if (changed) {
    Q_EMIT selectionChanged(event);
  }
}

void SpaceTimeCanvas::reveal(EventRef event) {
  if (!m_trace || !m_trace->contains(event)) {
    return;
  }
  if (m_span.ranks.hidden.contains(event.rank)) {  // who goes there wants to see it
    RankArrangement shown = m_span.ranks;
    shown.hidden.removeAll(event.rank);
    arrange(shown);
  }
  const SpaceTimeGeometry g = view();
  const QPointF p = g.point(*m_trace, event);
  const double edge = std::min(60.0, g.plot.width() * 0.1);
  if (p.x() < g.plot.left() + edge || p.x() > g.plot.right() - edge) {
    const double width = m_span.t1 - m_span.t0;
    const double first = 1 - margin();  // no empty half beside the first and the last event
    const double start =
        std::min(m_trace->time(event) - width / 2, m_trace->lastTime() + margin() - width);
    setSpan(std::max(first, start), std::max(first, start) + width);
  }
  const double half = g.rowHeight / 2;
  if (p.y() - half < g.plot.top()) {
    setScroll(m_scroll + (p.y() - half - g.plot.top()));
  } else if (p.y() + half > g.plot.bottom()) {
    setScroll(m_scroll + (p.y() + half - g.plot.bottom()));
  }
}

void SpaceTimeCanvas::moveAlongRank(int step) {
  if (!m_trace) {
    return;
  }
  const EventRef from = m_overlay.selected;
  if (!from.valid()) {
    const SpaceTimeGeometry g = view();
    const std::vector<Rank> ranks = g.ranksInView();
    select(m_trace->nearest(ranks.empty() ? 0 : ranks.front(),
                            static_cast<std::uint32_t>(std::max(0.0, g.t0 + margin()))),
           true);
    return;
  }
  const Serial last = m_trace->lastSerial(from.rank);
  const Serial next =
      step < 0 ? (from.serial > 1 ? from.serial - 1 : 1) : std::min(last, from.serial + 1);
  select({from.rank, next}, true);
}

void SpaceTimeCanvas::moveAcrossRanks(int step) {
  if (!m_trace || !m_overlay.selected.valid()) {
    moveAlongRank(step);
    return;
  }
  const std::uint32_t time = m_trace->time(m_overlay.selected);
  const SpaceTimeGeometry g = view();
  for (int row = g.rowOf(m_overlay.selected.rank) + step; row >= 0 && row < g.rows; row += step) {
    for (const Rank rank : g.ranksOf(row)) {
      if (const EventRef found = m_trace->nearest(rank, time); found.valid()) {
        select(found, true);
        return;
      }
    }
  }
}

void SpaceTimeCanvas::selectEnd(bool last) {
  const Rank rank = m_overlay.selected.valid() ? m_overlay.selected.rank : 0;
  if (m_trace && m_trace->lastSerial(rank) > 0) {
    select({rank, last ? m_trace->lastSerial(rank) : 1}, true);
  }
}

void SpaceTimeCanvas::selectRace(int direction) {
  if (!m_trace || m_trace->racingEvents().empty()) {
    return;
  }
  const auto& races = m_trace->racingEvents();
  const auto key = [this](EventRef r) { return std::tuple(m_trace->time(r), r.rank, r.serial); };
  const auto before = [&](EventRef a, EventRef b) { return key(a) < key(b); };
  const EventRef from = m_overlay.selected;
  if (direction > 0) {
    const auto it =
        from.valid() ? std::upper_bound(races.begin(), races.end(), from, before) : races.begin();
    select(it == races.end() ? races.front() : *it, true);
  } else {
    const auto it =
        from.valid() ? std::lower_bound(races.begin(), races.end(), from, before) : races.end();
    select(it == races.begin() ? races.back() : *(it - 1), true);
  }
}

void SpaceTimeCanvas::selectPartner() {
  if (!m_trace) {
    return;
  }
  const auto partners = m_trace->partners(m_overlay.selected);
  if (!partners.empty()) {
    select(partners[m_partner % partners.size()], true);
  }
}

void SpaceTimeCanvas::chooseAlternative(int number) {
  if (number != m_overlay.alternative) {
    m_overlay.alternative = number;
    update();
    Q_EMIT alternativeChanged(number);
  }
}

void SpaceTimeCanvas::stepAlternative(int step) {
  const auto races =
      m_trace ? m_trace->racesAt(m_overlay.selected) : std::span<const std::uint32_t>{};
  if (races.empty()) {
    return;
  }
  const int count = toInt(m_trace->data().races[races.front()].alternatives.size());
  const int from = m_overlay.alternative;
  chooseAlternative(count == 0              ? 0
                    : from == 0 && step < 0 ? count
                                            : (from - 1 + step + count) % count + 1);
}

void SpaceTimeCanvas::zoomToSelection() {
  if (!m_trace || !m_trace->contains(m_overlay.selected)) {
    return;
  }
  double from = m_trace->time(m_overlay.selected);
  double to = from;
  const auto include = [&](EventRef event) {
    if (m_trace->contains(event)) {
      from = std::min(from, static_cast<double>(m_trace->time(event)));
      to = std::max(to, static_cast<double>(m_trace->time(event)));
    }
  };
  for (const EventRef& partner : m_trace->partners(m_overlay.selected)) {
    include(partner);
  }
  for (const std::uint32_t number : m_trace->racesAt(m_overlay.selected)) {
    for (const std::uint32_t message : m_trace->data().races[number].alternatives) {
      include(message < m_trace->messageCount()
                  ? EventRef(m_trace->execution().messages[message].send)
                  : EventRef{});
    }
  }
  const double beside = std::max(axis() == TimeAxis::Logical ? 1.5 : 500, (to - from) * 0.15);
  zoomTo(from - beside, to + beside);
  reveal(m_overlay.selected);
}

void SpaceTimeCanvas::panBy(double share) {
  const double shift = (m_span.t1 - m_span.t0) * share;
  setSpan(m_span.t0 + shift, m_span.t1 + shift);
}

void SpaceTimeCanvas::setSpan(double t0, double t1) {
  if (!m_trace) {
    return;
  }
  const double end = m_trace->lastTime() + 2 * margin();
  const double smallest = narrowest();
  double width = std::clamp(t1 - t0, std::min(smallest, 1e9), std::max(end + 1, smallest));
  width = std::max(width, 0.5);
  const double middle = (t0 + t1) / 2;
  const double low = -width * 0.5;
  const double start = std::clamp(middle - width / 2, low, std::max(low, end - width * 0.5));
  m_span.t0 = start;
  m_span.t1 = start + width;
  Q_EMIT viewChanged();
  update();
}

double SpaceTimeCanvas::margin() const {
  return m_trace ? kMargin * m_trace->step() : kMargin;
}

double SpaceTimeCanvas::narrowest() const {
  constexpr double kNarrowest = 16;  // of the physical axis's finest unit
  return axis() == TimeAxis::Logical ? view().plot.width() / kWidestStep : kNarrowest;
}

void SpaceTimeCanvas::remember() {
  if (m_sinceZoom.isValid() && m_sinceZoom.elapsed() < 400 && !m_back.empty()) {
    m_sinceZoom.restart();
    return;  // one turn of the wheel is one step of the history
  }
  m_sinceZoom.restart();
  m_back.push_back(m_span);
  if (m_back.size() > kHistory) {
    m_back.erase(m_back.begin());
  }
  m_forward.clear();
}

void SpaceTimeCanvas::useRows() {
  m_rows = m_logical ? arrangedRows(*m_logical, m_span.ranks) : nullptr;
  Q_EMIT arrangementChanged();
}

void SpaceTimeCanvas::arrange(const RankArrangement& arrangement) {
  if (!m_trace || arrangement == m_span.ranks) {
    return;
  }
  m_sinceZoom.invalidate();
  remember();
  Span span = m_span;
  span.ranks = arrangement;
  show(span);
}

void SpaceTimeCanvas::show(Span span) {
  const bool others = !(span.ranks == m_span.ranks);
  const bool otherAxis = span.axis != m_span.axis;
  m_span = std::move(span);
  if (otherAxis) {
    useAxis(m_span.axis);
  }
  if (others) {
    useRows();
  }
  limitScroll();
  Q_EMIT viewChanged();
  update();
}

void SpaceTimeCanvas::undoZoom() {
  if (!m_back.empty()) {
    m_forward.push_back(m_span);
    const Span span = m_back.back();
    m_back.pop_back();
    m_sinceZoom.invalidate();
    show(span);
  }
}

void SpaceTimeCanvas::redoZoom() {
  if (!m_forward.empty()) {
    m_back.push_back(m_span);
    const Span span = m_forward.back();
    m_forward.pop_back();
    m_sinceZoom.invalidate();
    show(span);
  }
}

void SpaceTimeCanvas::fit() {
  if (!m_trace) {
    return;
  }
  m_sinceZoom.invalidate();
  remember();
  m_span.rowHeight = 0;
  const double widest = axis() == TimeAxis::Logical ? view().plot.width() / kFitStep : 0;
  const double needed = m_trace->lastTime() + margin() - (1 - margin());
  setScroll(0);
  if (needed >= widest) {
    setSpan(1 - margin(), m_trace->lastTime() + margin());
  } else {
    setSpan(1 - margin(), 1 - margin() + widest);
  }
}

void SpaceTimeCanvas::zoomBy(double factor, double aroundX) {
  if (!m_trace || factor <= 0) {
    return;
  }
  remember();
  const SpaceTimeGeometry g = view();
  const double fixed = g.time(aroundX);
  const double end = m_trace->lastTime() + 2 * margin();
  const double smallest = narrowest();
  const double width =
      std::clamp((g.t1 - g.t0) / factor, std::max(0.5, smallest), std::max(end + 1, smallest));
  const double share = (fixed - g.t0) / (g.t1 - g.t0);
  m_span.t0 = fixed - width * share;
  m_span.t1 = m_span.t0 + width;
  Q_EMIT viewChanged();
  update();
}

void SpaceTimeCanvas::zoomTo(double t0, double t1) {
  m_sinceZoom.invalidate();
  remember();
  setSpan(std::min(t0, t1), std::max(t0, t1));
}

void SpaceTimeCanvas::setRowHeight(double height) {
  remember();
  m_span.rowHeight = height <= 0 ? 0 : std::clamp(height, kMinRow, kMaxRow * 1.5);
  limitScroll();
  Q_EMIT viewChanged();
  update();
}

void SpaceTimeCanvas::limitScroll() {
  const SpaceTimeGeometry g = view();
  m_scroll = std::clamp(m_scroll, 0.0, std::max(0.0, g.rows * g.rowHeight - g.plot.height()));
}

void SpaceTimeCanvas::setScroll(double pixels) {
  m_scroll = pixels;
  limitScroll();
  Q_EMIT viewChanged();
  update();
}

EventRef SpaceTimeCanvas::eventAt(QPointF position) const {
  const SpaceTimeGeometry g = view();
  if (!m_trace || !g.plot.contains(position)) {
    return {};
  }
  const double reach = std::max(g.glyphRadius() + 3, 6.0);
  const auto time = static_cast<std::uint32_t>(std::max(0.0, std::round(g.time(position.x()))));
  EventRef best;
  double closest = reach;
  for (const Rank rank : g.ranksOf(g.rowAt(position.y()))) {
    const EventRef found = m_trace->nearest(rank, time);
    const QPointF d = g.point(*m_trace, found) - position;
    if (found.valid() && std::abs(d.x()) <= closest &&
        std::abs(d.y()) <= std::max(reach, g.rowHeight * 0.3)) {
      best = found;
      closest = std::abs(d.x());
    }
  }
  return best;
}

int SpaceTimeCanvas::alternativeAt(QPointF position) const {
  constexpr double kReach = 5;
  constexpr double kPill = 10;
  const SpaceTimeGeometry g = view();
  if (!m_trace || !g.plot.contains(position)) {
    return 0;
  }
  const double r = g.glyphRadius();
  for (const std::uint32_t race : m_trace->racesAt(m_overlay.selected)) {
    const QPointF to = g.point(*m_trace, m_trace->raceCompletion(race));
    int number = 0;
    for (const std::uint32_t message : m_trace->data().races[race].alternatives) {
      ++number;
      if (message >= m_trace->messageCount()) {
        continue;
      }
      const QPointF from = g.departure(*m_trace, m_trace->execution().messages[message]);
      const QPointF way = to - from;
      const double square = std::max(QPointF::dotProduct(way, way), 1e-9);
      const double along = std::clamp(QPointF::dotProduct(position - from, way) / square, 0.0, 1.0);
      const QPointF off = position - (from + way * along);
      const QPointF pill = position - (from + QPointF(r * 1.3 + 3 + kPill, -r * 1.5 - 5));
      if (std::hypot(off.x(), off.y()) <= kReach ||
          (std::abs(pill.x()) <= kPill && std::abs(pill.y()) <= kPill)) {
        return number;
      }
    }
  }
  return 0;
}

}  // namespace pf::views
