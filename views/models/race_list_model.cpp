#include "views/race_list_model.h"

#include <algorithm>
#include <set>

#include <QStringList>

#include "views/roles.h"
#include "views/text.h"
#include "views/trace_text.h"

namespace pf::views {

namespace {

const Message* messageAt(const TraceIndex& trace, std::uint32_t m) {
  return m < trace.messageCount() ? &trace.execution().messages[m] : nullptr;
}

std::set<Rank> alternativeRanks(const TraceIndex& trace, std::size_t race) {
  std::set<Rank> ranks;
  for (const std::uint32_t m : trace.data().races[race].alternatives) {
    if (const Message* message = messageAt(trace, m); message != nullptr) {
      ranks.insert(message->send.rank);
    }
  }
  return ranks;
}

QString joined(const std::set<Rank>& ranks) {
  QStringList out;
  for (const Rank r : ranks) {
    out << QString::number(r);
  }
  return out.join(u", "_s);
}

}  // namespace

RaceListModel::RaceListModel(QObject* parent) : QAbstractTableModel(parent) {}

void RaceListModel::setTrace(TraceIndexPtr trace) {
  beginResetModel();
  m_trace = std::move(trace);
  rate();
  endResetModel();
}

void RaceListModel::rate() {
  m_severity.assign(m_trace ? m_trace->data().races.size() : 0, 2);
  const EventRef failed = m_trace ? m_trace->data().failure.event : EventRef{};
  if (!m_trace || !m_trace->contains(failed)) {
    return;
  }
  const std::vector<Serial> past = m_trace->past(failed);
  Serial last = 0;
  for (std::size_t i = 0; i < m_severity.size(); ++i) {
    const EventRef done = m_trace->raceCompletion(i);
    if (m_trace->contains(done) && done.serial <= past[static_cast<std::size_t>(done.rank)]) {
      m_severity[i] = 1;
      last = done.rank == failed.rank ? std::max(last, done.serial) : last;
    }
  }
  for (std::size_t i = 0; i < m_severity.size(); ++i) {
    if (last != 0 && m_trace->raceCompletion(i) == EventRef{failed.rank, last}) {
      m_severity[i] = 0;
    }
  }
}

int RaceListModel::severity(int race) const {
  return race >= 0 && at(race) < m_severity.size() ? m_severity[at(race)] : 2;
}

QString RaceListModel::severityText(int race) const {
  switch (severity(race)) {
    case 0:
      return u"Look here first: the last racing receive of the failing rank before the run failed. "
             u"Whatever it took "
             "is the choice of MPI that is closest to the failure."_s;
    case 1:
      return u"Before the failure: this receive happens before the failing event, so what it took can have caused it."_s;
    default:
      return m_trace && m_trace->data().failure.event.valid()
                 ? u"Not before the failure: nothing that the failing event depends on comes after this receive."_s
                 : u"The run did not fail; the race may still change its result."_s;
  }
}

int RaceListModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : toInt(m_severity.size());
}

int RaceListModel::columnCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : ColumnCount;
}

QString RaceListModel::text(std::size_t race, int column) const {
  const EventRef ref = m_trace->raceEvent(race);
  const Race& r = m_trace->data().races[race];
  const Message* taken = messageAt(*m_trace, r.taken);
  switch (column) {
    case Severity:
      return m_severity[race] == 0   ? u"first"_s
             : m_severity[race] == 1 ? u"before failure"_s
                                     : u"other"_s;
    case Receiver:
      return QString::number(r.rank);
    case EventSerial:
      return QString::number(ref.serial);
    case Call:
      return callName(*m_trace, ref);
    case Location:
      return siteText(*m_trace, ref);
    case Taken:
      return taken != nullptr ? u"rank %1, event %2"_s.arg(taken->send.rank).arg(taken->send.serial)
                              : u"not in the record"_s;
    case TakenTag:
      return taken != nullptr ? QString::number(taken->tag) : QString();
    case Alternatives:
      return QString::number(r.alternatives.size());
    case FromRanks:
      return joined(alternativeRanks(*m_trace, race));
    case Class:
      return raceClass(*m_trace, race);
    default:
      return {};
  }
}

QVariant RaceListModel::sortKey(std::size_t race, int column) const {
  const Race& r = m_trace->data().races[race];
  const Message* taken = messageAt(*m_trace, r.taken);
  switch (column) {
    case Severity: {  // within a class the nearest to the end first
      const std::uint32_t late = m_trace->lastTime() - m_trace->time(m_trace->raceCompletion(race));
      return static_cast<qlonglong>(m_severity[race]) * (1LL << 33) + static_cast<qlonglong>(late);
    }
    case Receiver:
      return r.rank;
    case EventSerial:
      return static_cast<qulonglong>(m_trace->raceEvent(race).serial);
    case Taken:
      return taken != nullptr ? static_cast<qlonglong>(taken->send.rank) * (1LL << 40) +
                                    static_cast<qlonglong>(taken->send.serial)
                              : qlonglong{-1};
    case TakenTag:
      return taken != nullptr ? taken->tag : -1;
    case Alternatives:
      return static_cast<qulonglong>(r.alternatives.size());
    default:
      return text(race, column);
  }
}

QVariant RaceListModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid() || !m_trace || index.row() >= rowCount()) {
    return {};
  }
  const std::size_t race = at(index.row());
  switch (role) {
    case Qt::DisplayRole:
      return text(race, index.column());
    case Qt::ToolTipRole:
      return index.column() == Severity ? severityText(index.row())
                                        : eventDetails(*m_trace, m_trace->raceEvent(race));
    case SortRole:
      return sortKey(race, index.column());
    case ToneRole:
      return static_cast<int>(m_severity[race] == 2
                                  ? (index.column() == Severity ? Tone::Muted : Tone::Normal)
                              : index.column() == Severity ? Tone::Race
                                                           : Tone::Normal);
    case BoldRole:
      return m_severity[race] == 0;
    case KeyRole:
      return index.row();
    default:
      return {};
  }
}

QVariant RaceListModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal || section < 0 || section >= ColumnCount) {
    return {};
  }
  static const char* const kTitles[] = {"Weight", "Rank", "Event",  "Call",       "Location",
                                        "Took",   "Tag",  "Others", "From ranks", "Kind"};
  static const char* const kTips[] = {
      "How the race relates to the failure; sort by it to see the likeliest culprit first",
      "Rank that receives",
      "Serial of the receive on its rank",
      "MPI routine",
      "Where the program calls it",
      "Message that it took in this run",
      "Tag of the message taken",
      "Messages that it could have taken instead",
      "Ranks that sent those",
      "Receive, posted (non-blocking) receive or probe"};
  if (role == Qt::DisplayRole) {
    return QString::fromLatin1(kTitles[section]);
  }
  return role == Qt::ToolTipRole ? QVariant(QString::fromLatin1(kTips[section])) : QVariant();
}

RaceFilterModel::RaceFilterModel(QObject* parent) : QSortFilterProxyModel(parent) {
  setSortRole(SortRole);
}

void RaceFilterModel::setFilterText(const QString& text) {
  m_words = text.simplified().split(QLatin1Char(' '), Qt::SkipEmptyParts);
  invalidateFilter();
}

void RaceFilterModel::setRaces(QList<int> races) {
  if (races != m_races) {
    m_races = std::move(races);
    invalidateFilter();
  }
}

bool RaceFilterModel::matches(int row, const QString& word) const {
  const auto* model = qobject_cast<RaceListModel*>(sourceModel());
  if (model == nullptr) {
    return true;
  }
  const auto cell = [&](int column) { return model->index(row, column).data().toString(); };
  const qsizetype colon = word.indexOf(QLatin1Char(':'));
  if (colon > 0) {
    const QString key = word.left(colon).toLower();
    const QString value = word.mid(colon + 1);
    if (value.isEmpty()) {
      return true;  // still being typed
    }
    if (key == u"rank"_s) {
      return cell(RaceListModel::Receiver) == value;
    }
    if (key == u"tag"_s) {
      return cell(RaceListModel::TakenTag) == value;
    }
    if (key == u"event"_s) {
      return cell(RaceListModel::EventSerial) == value;
    }
    if (key == u"from"_s) {
      return cell(RaceListModel::FromRanks).split(u", "_s).contains(value);
    }
    if (key == u"class"_s || key == u"kind"_s) {
      return cell(RaceListModel::Class).contains(value, Qt::CaseInsensitive);
    }
    if (key == u"file"_s) {
      return cell(RaceListModel::Location).contains(value, Qt::CaseInsensitive);
    }
  }
  for (int column = 0; column < model->columnCount(); ++column) {
    if (cell(column).contains(word, Qt::CaseInsensitive)) {
      return true;
    }
  }
  return false;
}

bool RaceFilterModel::filterAcceptsRow(int row, const QModelIndex& /*parent*/) const {
  return (m_races.isEmpty() || std::binary_search(m_races.begin(), m_races.end(), row)) &&
         std::all_of(m_words.begin(), m_words.end(),
                     [&](const QString& word) { return matches(row, word); });
}

bool RaceFilterModel::lessThan(const QModelIndex& left, const QModelIndex& right) const {
  const QVariant a = left.data(SortRole);
  const QVariant b = right.data(SortRole);
  const QPartialOrdering order = QVariant::compare(a, b);
  if (order == QPartialOrdering::Equivalent) {
    return left.row() < right.row();
  }
  return order == QPartialOrdering::Less;
}

}  // namespace pf::views
