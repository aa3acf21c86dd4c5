// SPDX-License-Identifier: MIT
#include "plugins/rank_timeline/rank_timeline.h"

#include <algorithm>

#include "views/trace/analyses/trace_text.h"
#include "views/values/roles.h"
#include "views/values/text.h"

namespace pf::plugins {

using values::operator""_s;

namespace {

QString sentState(const Message& message) {
  if (message.completion != 0) {
    return QStringLiteral("received by rank %1 at %2").arg(message.dest).arg(message.completion);
  }
  return message.post != kNone
             ? QStringLiteral("matched by rank %1, not seen done").arg(message.dest)
             : QStringLiteral("never received");
}

QString receiveState(const views::TraceIndex& trace, const PostedReceive& receive, Serial here) {
  if (receive.state == ReceiveState::Cancelled) {
    return QStringLiteral("cancelled");
  }
  if (receive.state == ReceiveState::Pending) {
    return QStringLiteral("never completed");
  }
  if (receive.completion != here) {
    return QStringLiteral("completed by event %1").arg(receive.completion);
  }
  return receive.message < trace.messages().count()
             ? QStringLiteral("took event %1 of rank %2")
                   .arg(trace.execution().messages[receive.message].send.serial)
                   .arg(receive.source)
             : QStringLiteral("took a message of %1").arg(views::rankText(receive.source));
}

/// "first", or "first, and 3 more".
void addSome(QStringList& out, const QStringList& parts) {
  if (!parts.isEmpty()) {
    out << (parts.size() == 1
                ? parts.front()
                : QStringLiteral("%1, and %2 more").arg(parts.front()).arg(parts.size() - 1));
  }
}

}  // namespace

QString eventState(const views::TraceIndex& trace, EventRef event) {
  if (!trace.contains(event)) {
    return {};
  }
  QStringList out;
  if (trace.data().failure.event == event) {
    out << values::oneLine(trace.data().failure.reason);
  }
  for (const std::uint32_t race : trace.races().at(event)) {
    out << QStringLiteral("racing, %1 possible")
               .arg(values::counted(trace.data().races[race].alternatives.size(), u"other"_s,
                                    u"others"_s));
  }
  const views::RankView& history = trace.execution().ranks[static_cast<std::size_t>(event.rank)];
  QStringList parts;
  for (const std::uint32_t receive : trace.links().postedAt(event)) {
    parts << receiveState(trace, history.receives[receive], event.serial);
  }
  for (const std::uint32_t receive : trace.links().completedAt(event)) {
    if (history.receives[receive].post != event.serial) {
      parts << receiveState(trace, history.receives[receive], event.serial);
    }
  }
  addSome(out, parts);
  parts.clear();
  for (const std::uint32_t message : trace.links().sentAt(event)) {
    parts << sentState(trace.execution().messages[message]);
  }
  addSome(out, parts);
  return out.join(QStringLiteral("; "));
}

void TimelineModel::show(views::TraceIndexPtr trace, Rank rank,
                         const std::optional<views::EventSearch>& found) {
  beginResetModel();
  m_trace = std::move(trace);
  m_rank = rank;
  m_all = !found.has_value();
  m_problem = found ? found->problem : QString();
  m_serials.clear();
  if (found) {
    for (const EventRef& hit : found->hits) {
      m_serials.push_back(hit.serial);
    }
  }
  endResetModel();
}

void TimelineModel::setNext(Serial next) {
  if (next != m_next) {
    m_next = next;
    if (rowCount() > 0) {
      Q_EMIT dataChanged(index(0, 0), index(rowCount() - 1, ColumnCount - 1), {values::BoldRole});
    }
  }
}

EventRef TimelineModel::eventAt(int row) const {
  if (row < 0 || row >= rowCount()) {
    return {};
  }
  return {m_rank, m_all ? static_cast<Serial>(row) + 1 : m_serials[static_cast<std::size_t>(row)]};
}

int TimelineModel::rowOf(Serial serial) const {
  if (m_all) {
    return static_cast<int>(std::min<Serial>(serial, static_cast<Serial>(rowCount()))) - 1;
  }
  return static_cast<int>(std::upper_bound(m_serials.begin(), m_serials.end(), serial) -
                          m_serials.begin()) -
         1;
}

int TimelineModel::rowCount(const QModelIndex& parent) const {
  if (parent.isValid() || m_trace == nullptr) {
    return 0;
  }
  return static_cast<int>(m_all ? m_trace->lastSerial(m_rank) : m_serials.size());
}

int TimelineModel::columnCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : ColumnCount;
}

QString TimelineModel::text(EventRef event, int column) const {
  const Event& what = m_trace->event(event);
  const bool talks = what.peer != kUnknownRank || what.tag != kAnyTag;
  switch (column) {
    case SerialColumn:
      return QString::number(event.serial);
    case TimeColumn:
      return QString::number(m_trace->time(event));
    case CallColumn:
      return views::callName(*m_trace, event);
    case PeerColumn:
      return talks ? views::rankText(what.peer) : QString();
    case TagColumn:
      return talks ? views::tagText(what.tag) : QString();
    case BytesColumn:
      return what.bytes > 0 ? QString::number(what.bytes) : QString();
    case CommColumn:
      return what.comm != kNone ? views::commText(*m_trace, what.comm) : QString();
    case PlaceColumn:
      return views::siteText(*m_trace, event);
    default:
      return eventState(*m_trace, event);
  }
}

QVariant TimelineModel::data(const QModelIndex& index, int role) const {
  const EventRef at = eventAt(index.row());
  if (!at.valid()) {
    return {};
  }
  switch (role) {
    case Qt::DisplayRole:
      return values::oneLine(text(at, index.column()));
    case Qt::ToolTipRole:
      return views::eventDetails(*m_trace, at);
    case values::BoldRole:
      return at.serial == m_next;
    case values::ToneRole:
      return static_cast<int>(m_trace->data().failure.event == at ? values::Tone::Bad
                              : !m_trace->races().at(at).empty()  ? values::Tone::Race
                              : index.column() == SerialColumn    ? values::Tone::Muted
                                                                  : values::Tone::Normal);
    default:
      return {};
  }
}

QVariant TimelineModel::headerData(int section, Qt::Orientation orientation, int role) const {
  static const QStringList kNames{tr("Event"),        tr("Time"),  tr("Call"),
                                  tr("Peer"),         tr("Tag"),   tr("Bytes"),
                                  tr("Communicator"), tr("Place"), tr("State")};
  return orientation == Qt::Horizontal && role == Qt::DisplayRole ? kNames.value(section)
                                                                  : QVariant();
}

}  // namespace pf::plugins

#include "moc_rank_timeline.cpp"
