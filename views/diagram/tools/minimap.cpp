// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/diagram/tools/minimap.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>

#include "views/panes/space_time_glyphs.h"
#include "views/trace/analyses/trace_text.h"
#include "views/values/text.h"

namespace pf::views {

Minimap::Minimap(QWidget* parent) : QWidget(parent), m_theme(Theme::of(palette())) {
  setObjectName(u"minimap"_s);
  setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
  setFocusPolicy(Qt::StrongFocus);
  setToolTip(
      tr("The whole run. Drag, or use the arrow keys, to move the visible window; Enter goes back "
         "to the diagram."));
  setAccessibleName(tr("Overview"));
}

void Minimap::setTrace(TraceIndexPtr trace) {
  m_trace = std::move(trace);
  m_found.reset();
  drawAgain();
}

void Minimap::showOn(TraceIndexPtr trace) {
  if (trace != m_trace) {
    m_trace = std::move(trace);
    drawAgain();
  }
}

void Minimap::setWindow(double t0, double t1) {
  m_t0 = t0;
  m_t1 = t1;
  update();
}

void Minimap::setFound(EventSearchPtr found) {
  m_found = std::move(found);
  m_ticks = {};
  update();
}

void Minimap::drawAgain() {
  m_picture = {};
  m_ticks = {};
  update();
}

void Minimap::setIndent(int left) {
  if (left != m_indent) {
    m_indent = left;
    drawAgain();
  }
}

QRectF Minimap::strip() const {
  return QRectF(m_indent, 4, std::max(10, width() - m_indent - 1), height() - 8);
}

double Minimap::x(double time) const {
  const double end = m_trace ? m_trace->lastTime() + 1.0 : 1.0;
  return strip().left() + strip().width() * time / end;
}

/// Transparent, of the size of the widget.
QPixmap Minimap::blank() const {
  const double ratio = devicePixelRatioF();
  QPixmap picture((QSizeF(size()) * ratio).toSize().expandedTo({1, 1}));
  picture.setDevicePixelRatio(ratio);
  picture.fill(Qt::transparent);
  return picture;
}

/// Of what was found, of millions of hits as of few.
void Minimap::renderTicks() {
  m_ticks = blank();
  if (m_found == nullptr) {
    return;
  }
  QPainter painter(&m_ticks);
  const QRectF area = strip();
  const std::vector<std::uint32_t>& times = m_found->times;
  const double step = (m_trace->lastTime() + 1.0) / area.width();  // of time, in a pixel
  for (auto time = times.begin(); time != times.end();) {
    const double at = std::floor(x(*time));
    painter.fillRect(QRectF(at - 0.5, area.bottom() - 6, 2, 6), m_theme.bookmark);
    time = std::lower_bound(time + 1, times.end(), (at + 1 - area.left()) * step);
  }
}

void Minimap::render() {
  const QRectF area = strip();
  m_picture = blank();
  QPainter painter(&m_picture);
  painter.fillRect(area, m_theme.base);
  const int columns =
      std::max(1, static_cast<int>(std::min(area.width(), std::floor(m_trace->lastTime() + 1.0))));
  const double step = area.width() / columns;
  std::vector<std::size_t> counts(static_cast<std::size_t>(columns) + 1, 0);
  const double end = m_trace->lastTime() + 1.0;
  const bool inMemory = m_trace->hasEvents() && m_trace->pages() == nullptr;
  for (Rank rank = 0; rank < toInt(m_trace->rankCount()); ++rank) {
    const EventSteps times = inMemory ? m_trace->times().of(rank) : EventSteps();
    std::size_t from = 0;
    for (int c = 0; c < columns && from < times.size(); ++c) {
      const std::size_t to = times.before(end * (c + 1) / columns);
      counts[static_cast<std::size_t>(c)] += to - from;
      from = to;
    }
  }
  if (!inMemory) {
    const auto& profile = m_trace->data().profile;
    for (std::size_t i = 0; i < profile.size(); ++i) {
      counts[i * static_cast<std::size_t>(columns) / profile.size()] += profile[i];
    }
  }
  const double peak = static_cast<double>(
      std::max<std::size_t>(1, *std::max_element(counts.begin(), counts.end())));
  for (int c = 0; c < columns; ++c) {
    const double n = static_cast<double>(counts[static_cast<std::size_t>(c)]);
    const double h = n == 0 ? 0 : std::max(1.5, (area.height() - 8) * std::sqrt(n / peak));
    painter.fillRect(QRectF(area.left() + c * step + (step > 4 ? 1 : 0), area.bottom() - h,
                            step > 4 ? step - 2 : step, h),
                     withAlpha(m_theme.send, 0.4));
  }
  double last = -10;
  for (const std::uint32_t time : m_trace->racing().times()) {
    const double at = std::floor(x(time));
    if (at - last >= 1) {
      painter.fillRect(QRectF(at - 0.5, area.top() + 1, 2, 5), m_theme.race);
      last = at;
    }
  }
  painter.setRenderHint(QPainter::Antialiasing);
  if (m_trace->contains(m_trace->data().failure.event)) {
    drawGlyph(painter, Glyph::Failure,
              {x(m_trace->time(m_trace->data().failure.event)), area.center().y()}, 4.5, m_theme);
  }
}

void Minimap::paintEvent(QPaintEvent* /*event*/) {
  QPainter painter(this);
  painter.fillRect(rect(), m_theme.panel);
  if (!m_trace || m_trace->eventCount() == 0) {
    return;
  }
  if (m_picture.isNull()) {
    render();
  }
  painter.drawPixmap(0, 0, m_picture);
  const QRectF area = strip();
  painter.setPen(m_theme.muted);
  QFont small = font();
  small.setPointSizeF(std::max(6.5, small.pointSizeF() * 0.85));
  painter.setFont(small);
  painter.drawText(QRectF(10, 0, m_indent - 14, height()), Qt::AlignVCenter | Qt::AlignLeft,
                   tr("overview"));
  const double left = std::clamp(x(m_t0), area.left(), area.right());
  const double right = std::clamp(x(m_t1), left + 3, std::max(left + 3, area.right()));
  painter.fillRect(QRectF(area.left(), area.top(), left - area.left(), area.height()),
                   withAlpha(m_theme.panel, 0.6));
  painter.fillRect(QRectF(right, area.top(), area.right() - right, area.height()),
                   withAlpha(m_theme.panel, 0.6));
  if (m_ticks.isNull()) {
    renderTicks();
  }
  painter.drawPixmap(0, 0, m_ticks);
  painter.setPen(QPen(m_theme.rail, 1));
  painter.drawRect(area);
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(QPen(m_theme.selection, hasFocus() ? 2.5 : 1.5));
  painter.setBrush(withAlpha(m_theme.selection, hasFocus() ? 0.2 : 0.10));
  painter.drawRoundedRect(QRectF(left, area.top() - 1, right - left, area.height() + 2), 2, 2);
}

void Minimap::resizeEvent(QResizeEvent* /*event*/) {
  drawAgain();
}

void Minimap::changeEvent(QEvent* event) {
  if (event->type() == QEvent::PaletteChange) {
    m_theme = Theme::of(palette());
    drawAgain();
  }
  QWidget::changeEvent(event);
}

void Minimap::moveTo(double xPos) {
  if (m_trace) {
    const double middle = (xPos - strip().left()) / strip().width() * (m_trace->lastTime() + 1.0);
    const double half = (m_t1 - m_t0) / 2;
    Q_EMIT windowMoved(middle - half, middle + half);
  }
}

void Minimap::mousePressEvent(QMouseEvent* event) {
  moveTo(event->position().x());
}

void Minimap::mouseMoveEvent(QMouseEvent* event) {
  if (event->buttons() & Qt::LeftButton) {
    moveTo(event->position().x());
  }
}

void Minimap::keyPressEvent(QKeyEvent* event) {
  const double end = m_trace ? m_trace->lastTime() + 1.0 : 1.0;
  const double width = m_t1 - m_t0;
  double by = 0;
  switch (event->key()) {
    case Qt::Key_Left:
      by = -width / 4;
      break;
    case Qt::Key_Right:
      by = width / 4;
      break;
    case Qt::Key_PageUp:
      by = -width;
      break;
    case Qt::Key_PageDown:
      by = width;
      break;
    case Qt::Key_Home:
      by = -m_t0;
      break;
    case Qt::Key_End:
      by = end - m_t1;
      break;
    case Qt::Key_Return:
    case Qt::Key_Enter:
    case Qt::Key_Escape:
      Q_EMIT left();
      return;
    default:
      QWidget::keyPressEvent(event);
      return;
  }
  if (m_trace) {
    Q_EMIT windowMoved(m_t0 + by, m_t1 + by);
  }
}

bool Minimap::event(QEvent* event) {
  if (event->type() ==
      QEvent::ShortcutOverride) {  // Enter replays in the diagram, but not from here
    const int key = static_cast<QKeyEvent*>(event)->key();
    if (key == Qt::Key_Return || key == Qt::Key_Enter || key == Qt::Key_Escape) {
      event->accept();
      return true;
    }
  }
  if (event->type() == QEvent::FocusIn || event->type() == QEvent::FocusOut) {
    update();
  }
  return QWidget::event(event);
}

namespace {

struct LegendItem {
  Glyph glyph;
  const char* text;
  bool race;
};

constexpr LegendItem kLegend[] = {
    {Glyph::Send, QT_TRANSLATE_NOOP("LegendStrip", "send"), false},
    {Glyph::Receive, QT_TRANSLATE_NOOP("LegendStrip", "receive"), false},
    {Glyph::WildcardReceive, QT_TRANSLATE_NOOP("LegendStrip", "receive from any"), false},
    {Glyph::WildcardReceive, QT_TRANSLATE_NOOP("LegendStrip", "racing receive"), true},
    {Glyph::Post, QT_TRANSLATE_NOOP("LegendStrip", "posted"), false},
    {Glyph::Completion, QT_TRANSLATE_NOOP("LegendStrip", "completion"), false},
    {Glyph::Probe, QT_TRANSLATE_NOOP("LegendStrip", "probe"), false},
    {Glyph::Collective, QT_TRANSLATE_NOOP("LegendStrip", "collective"), false},
    {Glyph::Local, QT_TRANSLATE_NOOP("LegendStrip", "local"), false},
    {Glyph::Failure, QT_TRANSLATE_NOOP("LegendStrip", "failure"), false},
    {Glyph::Breakpoint, QT_TRANSLATE_NOOP("LegendStrip", "breakpoint"), false},
    {Glyph::Bookmark, QT_TRANSLATE_NOOP("LegendStrip", "bookmark"), false},
};

}  // namespace

LegendStrip::LegendStrip(QWidget* parent) : QWidget(parent) {
  QSizePolicy policy(QSizePolicy::Expanding, QSizePolicy::Preferred);
  policy.setHeightForWidth(true);
  setSizePolicy(policy);
  QFont small = font();
  small.setPointSizeF(std::max(6.5, small.pointSizeF() * 0.88));
  setFont(small);
  setAccessibleName(tr("Legend"));
}

void LegendStrip::setAxis(TimeAxis axis, TimeOrigin origin) {
  m_axis = axis;
  m_origin = origin;
  updateGeometry();
  update();
}

int LegendStrip::arrange(int width, QPainter* painter) const {
  const Theme theme = Theme::of(palette());
  const QFontMetricsF metrics(font());
  const double row = metrics.height() + 6;
  double x = 10;
  double y = 2;
  const auto place = [&](double needed) {
    if (x + needed > width - 6 && x > 10) {
      x = 10;
      y += row;
    }
  };
  for (const LegendItem& item : kLegend) {
    const QString text = tr(item.text);
    const double needed = 22 + metrics.horizontalAdvance(text) + 14;
    place(needed);
    if (painter != nullptr) {
      const QPointF centre(x + 9, y + row / 2);
      if (item.race) {
        drawRaceRing(*painter, centre, 4.4, theme);
      }
      drawGlyph(*painter, item.glyph, centre, item.race ? 4.2 : 5, theme);
      painter->setPen(theme.muted);
      painter->drawText(QPointF(x + 20, y + row / 2 + metrics.ascent() / 2 - 1), text);
    }
    x += needed;
  }
  const QString wait = m_axis == TimeAxis::Logical
                           ? tr("waits for others")
                           : tr("in a call (%1)").arg(timeOriginText(m_origin));
  const double room = 34 + metrics.horizontalAdvance(wait) + 14;
  place(room);
  if (painter != nullptr) {
    painter->setPen(QPen(withAlpha(theme.muted, 0.3), 4, Qt::SolidLine, Qt::FlatCap));
    painter->drawLine(QPointF(x + 2, y + row / 2), QPointF(x + 28, y + row / 2));
    painter->setPen(theme.muted);
    painter->drawText(QPointF(x + 34, y + row / 2 + metrics.ascent() / 2 - 1), wait);
  }
  x += room;
  const QString ghost = tr("message it could have taken");
  const double needed = 34 + metrics.horizontalAdvance(ghost) + 14;
  place(needed);
  if (painter != nullptr) {
    QPen pen(theme.race, 1.8, Qt::CustomDashLine, Qt::RoundCap);
    pen.setDashPattern({3.0, 2.4});
    painter->setPen(pen);
    painter->drawLine(QPointF(x + 2, y + row / 2), QPointF(x + 28, y + row / 2));
    painter->setPen(theme.muted);
    painter->drawText(QPointF(x + 34, y + row / 2 + metrics.ascent() / 2 - 1), ghost);
  }
  return static_cast<int>(std::ceil(y + row + 2));
}

QSize LegendStrip::sizeHint() const {
  return {600, arrange(900, nullptr)};
}

int LegendStrip::heightForWidth(int width) const {
  return arrange(width, nullptr);
}

void LegendStrip::paintEvent(QPaintEvent* /*event*/) {
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  (void)arrange(width(), &painter);
}

}  // namespace pf::views

#include "moc_minimap.cpp"
