// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cmath>
#include <numbers>
#include <set>

#include <QHelpEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QPainterPath>
#include <QToolTip>

#include "plugins/queues/queues_widget.h"
#include "views/panes/theme.h"
#include "views/trace/analyses/waits_text.h"
#include "views/values/text.h"

namespace pf::plugins {

using views::RankWait;
using views::Theme;
using Qt::Literals::StringLiterals::operator""_s;

namespace {

bool holds(const std::vector<Rank>& ranks, Rank rank) {
  return std::find(ranks.begin(), ranks.end(), rank) != ranks.end();
}

}  // namespace

WaitsCanvas::WaitsCanvas(QWidget* parent) : QWidget(parent) {
  setAccessibleName(tr("Which rank waits for which"));
  setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Expanding);
}

void WaitsCanvas::setState(const views::JobState* state, bool recorded) {
  m_recorded = recorded;
  m_state = state != nullptr ? *state : views::JobState{};
  std::set<Rank> shown;
  for (const RankWait& wait : m_state.waits) {
    shown.insert(wait.rank);
    shown.insert(wait.on.begin(), wait.on.end());
  }
  m_shown.assign(shown.begin(), shown.end());
  update();
}

double WaitsCanvas::radius() const {
  const double room = std::min<double>(width(), height() - fontMetrics().height() * 2.0);
  const double around =
      std::numbers::pi * room / std::max(4.0, static_cast<double>(m_shown.size()));
  return std::clamp(around * 0.35, 5.0, fontMetrics().height() * 1.1);
}

QPointF WaitsCanvas::centre(Rank rank) const {
  const auto at = std::find(m_shown.begin(), m_shown.end(), rank);
  const double turn = 2 * std::numbers::pi * static_cast<double>(at - m_shown.begin()) /
                          static_cast<double>(std::max<std::size_t>(1, m_shown.size())) -
                      std::numbers::pi / 2;
  const double foot = fontMetrics().height() * 1.5;
  const double r = radius() + 6;
  return {width() / 2.0 + (width() / 2.0 - r) * std::cos(turn),
          (height() - foot) / 2 + ((height() - foot) / 2 - r) * std::sin(turn)};
}

bool WaitsCanvas::inCycle(Rank from, Rank to) const {
  const auto at = std::find(m_state.cycle.begin(), m_state.cycle.end(), from);
  return at != m_state.cycle.end() &&
         to == (at + 1 == m_state.cycle.end() ? m_state.cycle.front() : *(at + 1));
}

void WaitsCanvas::paintArrow(QPainter& painter, const Theme& theme, const RankWait& wait,
                             Rank to) const {
  const QPointF a = centre(wait.rank);
  const QPointF b = centre(to);
  const QPointF way = b - a;
  const double length = std::hypot(way.x(), way.y());
  if (length < 1) {
    return;
  }
  const QPointF along = way / length;
  const QPointF side(-along.y(), along.x());
  const QPointF start = a + along * radius();
  const QPointF tip = b - along * (radius() + 1);
  const QPointF bend = (start + tip) / 2 + side * std::min(18.0, length * 0.12);
  const bool bad = inCycle(wait.rank, to);
  const QColor colour = bad ? theme.fail : theme.muted;
  painter.setPen(QPen(colour, bad ? 2.2 : 1.2, wait.anyOne ? Qt::DashLine : Qt::SolidLine));
  painter.setBrush(Qt::NoBrush);
  QPainterPath path(start);
  path.quadTo(bend, tip);
  painter.drawPath(path);
  QPointF in = tip - bend;
  in /= std::max(1e-6, std::hypot(in.x(), in.y()));
  const QPointF across(-in.y(), in.x());
  painter.setPen(Qt::NoPen);
  painter.setBrush(colour);
  painter.drawPolygon(QPolygonF{tip, tip - in * 8 + across * 4, tip - in * 8 - across * 4});
}

void WaitsCanvas::paintRanks(QPainter& painter, const Theme& theme) const {
  const double r = radius();
  for (const Rank rank : m_shown) {
    const bool stuck = holds(m_state.stuck, rank);
    const bool waits = std::any_of(m_state.waits.begin(), m_state.waits.end(),
                                   [&](const RankWait& w) { return w.rank == rank; });
    const QPointF middle = centre(rank);
    const bool bad = stuck || holds(m_state.cycle, rank);
    painter.setPen(QPen(bad ? theme.fail : waits ? theme.receive : theme.good, 1.6));
    painter.setBrush(theme.panel);
    painter.drawEllipse(middle, r, r);
    if (stuck) {
      painter.setBrush(Qt::NoBrush);
      painter.drawEllipse(middle, r - 2.5, r - 2.5);
    }
    if (r >= fontMetrics().height() * 0.6) {
      painter.setPen(theme.text);
      painter.drawText(QRectF(middle.x() - r, middle.y() - r, 2 * r, 2 * r), Qt::AlignCenter,
                       QString::number(rank));
    }
  }
}

void WaitsCanvas::paintEvent(QPaintEvent* /*event*/) {
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  const Theme theme = Theme::of(palette());
  painter.fillRect(rect(), theme.base);
  if (m_shown.empty()) {
    painter.setPen(theme.muted);
    painter.drawText(rect().adjusted(8, 8, -8, -8), Qt::AlignCenter | Qt::TextWordWrap,
                     m_recorded ? tr("No rank waits for another.")
                                : tr("Who waits for whom is not known: this job was not recorded. "
                                     "Tick ranks in their list to see in which calls they wait."));
    return;
  }
  // Many arrows into one rank tell nothing: a wildcard's are left out where there are too many.
  for (const RankWait& wait : m_state.waits) {
    for (const Rank on : wait.on) {
      if (!wait.anyOne || wait.on.size() <= 16 || inCycle(wait.rank, on)) {
        paintArrow(painter, theme, wait, on);
      }
    }
  }
  paintRanks(painter, theme);
  painter.setPen(m_state.cycle.empty() ? theme.muted : theme.fail);
  QStringList names;
  for (const Rank rank : m_state.cycle) {
    names << QString::number(rank);
  }
  const QString deadlock =
      m_state.stuck.empty() ? tr("a deadlock, it seems: %1 → %2") : tr("deadlock: %1 → %2");
  const QString foot = !m_state.cycle.empty()
                           ? deadlock.arg(names.join(u" → "_s), names.first())
                           : tr("arrow: waits for; dashed: any one of them suffices");
  painter.drawText(rect().adjusted(4, 0, -4, -3), Qt::AlignHCenter | Qt::AlignBottom,
                   fontMetrics().elidedText(foot, Qt::ElideRight, width() - 8));
}

Rank WaitsCanvas::rankAt(QPointF position) const {
  for (const Rank rank : m_shown) {
    const QPointF away = position - centre(rank);
    if (std::hypot(away.x(), away.y()) <= radius() + 2) {
      return rank;
    }
  }
  return kUnknownRank;
}

void WaitsCanvas::mousePressEvent(QMouseEvent* event) {
  if (const Rank rank = rankAt(event->position()); rank >= 0) {
    Q_EMIT rankClicked(rank);
  }
}

bool WaitsCanvas::event(QEvent* event) {
  if (event->type() != QEvent::ToolTip) {
    return QWidget::event(event);
  }
  const auto* help = static_cast<QHelpEvent*>(event);
  const Rank rank = rankAt(help->pos());
  if (rank < 0) {
    QToolTip::hideText();
    return true;
  }
  QString text = tr("rank %1").arg(rank);
  for (const RankWait& wait : m_state.waits) {
    if (wait.rank == rank) {
      text += tr("\nin %1").arg(wait.why);
      text += wait.event.valid() ? tr(", event %1").arg(wait.event.serial) : QString();
      text += tr("\nwaits for %1").arg(views::waitedForText(wait));
      text += wait.sure ? QString() : tr(", it seems");
    }
  }
  if (holds(m_state.stuck, rank)) {
    text += tr("\ncannot go on, whatever the others do");
  }
  QToolTip::showText(help->globalPos(), values::plainToolTip(text), this);
  return true;
}

}  // namespace pf::plugins
