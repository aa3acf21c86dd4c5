// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/diagram/tools/diagram_footer.h"

#include <QHBoxLayout>
#include <QLabel>

#include "views/diagram/canvas/space_time_canvas.h"
#include "views/trace/analyses/trace_text.h"
#include "views/values/text.h"

namespace pf::views {

namespace {

QString between() {
  return u"  ·  "_s;
}

QString aPixel(const SceneStats& stats) {
  return stats.eventsAPixel < 0.1
             ? QObject::tr("less than 0.1")
             : QString::number(stats.eventsAPixel, 'f', stats.eventsAPixel < 10 ? 1 : 0);
}

}  // namespace

DiagramFooter::DiagramFooter(QWidget* parent)
    : QWidget(parent), m_info(new QLabel), m_regime(new QLabel) {
  auto* layout = new QHBoxLayout(this);
  layout->setContentsMargins(10, 3, 10, 3);
  for (QLabel* label : {m_info, m_regime}) {
    label->setTextFormat(Qt::PlainText);
    label->setForegroundRole(QPalette::WindowText);
  }
  m_info->setTextInteractionFlags(Qt::TextSelectableByMouse);
  m_info->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
  m_regime->setForegroundRole(QPalette::PlaceholderText);
  m_regime->setObjectName(u"regime"_s);
  layout->addWidget(m_info, 1);
  layout->addWidget(m_regime);
}

void DiagramFooter::refresh(SpaceTimeCanvas& canvas, bool axisComes) {
  const TraceIndexPtr& trace = canvas.trace();
  if (!trace) {
    m_info->clear();
    m_regime->clear();
    return;
  }
  const EventRef event = canvas.eventCursor().selected();
  m_info->setText(selectionText(*trace, event, canvas.eventCursor().alternative()));
  m_info->setToolTip(
      plainToolTip(trace->contains(event) ? eventDetails(*trace, event) : QString()));
  m_regime->setText(axisText(*trace, axisComes) + ranksText(canvas) + regimeText(canvas));
  m_regime->setToolTip(canvas.stats().exact
                           ? QString()
                           : plainToolTip(tr("On average: events that a pixel of a rank's row "
                                             "stands for. The more, the stronger its colour.")));
}

QString DiagramFooter::selectionText(const TraceIndex& trace, EventRef event,
                                     int alternative) const {
  if (!trace.contains(event)) {
    return trace.hasEvents()
               ? tr("Nothing is selected. Click an event, or press R for the next racing "
                    "receive.")
               : tr("Reading events … they can be selected and searched when all are there.");
  }
  QString text = eventDetails(trace, event).section(QLatin1Char('\n'), 0, 0);
  text = u"rank %1, event %2  ·  %3"_s.arg(event.rank).arg(event.serial).arg(text);
  if (const QString site = siteText(trace, event); !site.isEmpty()) {
    text += between() + site;
  }
  if (alternative > 0) {
    text = alternativeText(trace, event, alternative);
  }
  for (const std::uint32_t race : trace.races().at(event)) {
    text += between() + u"could have taken "_s +
            counted(trace.data().races[race].alternatives.size(), u"other message"_s,
                    u"other messages"_s);
  }
  return text;
}

QString DiagramFooter::axisText(const TraceIndex& trace, bool axisComes) const {
  return axisComes ? tr("working out the physical axis …") + between()
         : trace.axis() == TimeAxis::Physical
             ? timeOriginText(trace.execution().timeOrigin) + between()
             : QString();
}

QString DiagramFooter::ranksText(SpaceTimeCanvas& canvas) const {
  const QList<int>& hidden = canvas.viewport().arrangement().hidden;
  return hidden.isEmpty() ? QString()
                          : counted(static_cast<std::size_t>(hidden.size()), tr("rank hidden"),
                                    tr("ranks hidden")) +
                                between();
}

QString DiagramFooter::regimeText(SpaceTimeCanvas& canvas) const {
  const SceneStats& stats = canvas.stats();
  const TraceIndex& trace = *canvas.trace();
  if (stats.exact) {
    return tr("%1 events, %2")
        .arg(trace.eventCount())
        .arg(counted(trace.data().races.size(), tr("race"), tr("races")));
  }
  return (stats.overview ? tr("overview of about %1 events, %2 a pixel")
                         : tr("density of about %1 events, %2 a pixel"))
      .arg(stats.events)
      .arg(aPixel(stats));
}

}  // namespace pf::views

#include "moc_diagram_footer.cpp"
