// SPDX-License-Identifier: MIT
#include "plugins/queues/queues_widget.h"
#include "views/trace/analyses/trace_text.h"
#include "views/values/roles.h"
#include "views/values/text.h"

namespace pf::plugins {

using views::QueueItem;
using Qt::Literals::StringLiterals::operator""_s;

void QueuesModel::set(views::TraceIndexPtr trace, std::vector<QueueItem> items) {
  beginResetModel();
  m_trace = std::move(trace);
  m_items = std::move(items);
  endResetModel();
}

int QueuesModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : values::toInt(m_items.size());
}

int QueuesModel::columnCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : ColumnCount;
}

QString QueuesModel::text(const QueueItem& item, int column) const {
  const bool posted = item.kind == QueueItem::Kind::Posted;
  switch (column) {
    case RankColumn:
      return QString::number(item.rank);
    case QueueColumn:
      return !posted ? tr("unexpected") : item.message != kNone ? tr("posted, sent") : tr("posted");
    case PeerColumn:
      return views::rankText(item.peer);
    case TagColumn:
      return views::tagText(item.tag);
    case CommColumn:
      return views::commText(*m_trace, item.comm);
    case BytesColumn:
      return !posted || item.message != kNone ? values::byteText(item.bytes) : QString();
    case EventColumn:
      return tr("rank %1, event %2").arg(item.event.rank).arg(item.event.serial);
    case PlaceColumn:
      return views::siteText(*m_trace, item.event);
    default:
      return {};
  }
}

QVariant QueuesModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid() || m_trace == nullptr) {
    return {};
  }
  const QueueItem& one = item(index.row());
  switch (role) {
    case Qt::DisplayRole:
      return text(one, index.column());
    case Qt::ToolTipRole:
      return one.kind == QueueItem::Kind::Unexpected
                 ? tr("Sent, and rank %1 has posted no receive for it yet.\n%2")
                       .arg(one.rank)
                       .arg(views::eventTitle(*m_trace, one.event))
             : one.message != kNone
                 ? tr("The message that it takes is sent; rank %1 has not seen the completion yet.")
                       .arg(one.rank)
                 : tr("The message that it takes is not sent yet.");
    case values::SortRole:
      switch (index.column()) {
        case RankColumn:
          return one.rank;
        case PeerColumn:
          return one.peer;
        case TagColumn:
          return one.tag;
        case BytesColumn:
          return static_cast<qulonglong>(one.bytes);
        case EventColumn:
          return (static_cast<qulonglong>(one.event.rank) << 40U) + one.event.serial;
        default:
          return text(one, index.column());
      }
    case values::ToneRole:
      return static_cast<int>(one.kind == QueueItem::Kind::Unexpected ? values::Tone::Race
                                                                      : values::Tone::Normal);
    default:
      return {};
  }
}

QVariant QueuesModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal || role != Qt::DisplayRole) {
    return {};
  }
  static const char* const kTitles[] = {QT_TR_NOOP("Rank"),         QT_TR_NOOP("Queue"),
                                        QT_TR_NOOP("Source"),       QT_TR_NOOP("Tag"),
                                        QT_TR_NOOP("Communicator"), QT_TR_NOOP("Size"),
                                        QT_TR_NOOP("Post or send"), QT_TR_NOOP("Call site")};
  return section >= 0 && section < ColumnCount ? tr(kTitles[section]) : QVariant();
}

}  // namespace pf::plugins
