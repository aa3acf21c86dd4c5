#include "views/race_list_model.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include <QStringList>

#include "views/roles.h"
#include "views/text.h"
#include "views/trace_text.h"

namespace pf::views {

namespace {

std::optional<Message> messageAt(const TraceIndex& trace, std::uint32_t m) {
  return m < trace.messageCount() ? std::optional(trace.execution().messages[m]) : std::nullopt;
}

QString joined(const std::vector<Rank>& ranks) {
  QStringList out;
  for (const Rank r : ranks) {
    out << QString::number(r);
  }
  return out.join(u", "_s);
}

}  // namespace

RaceListModel::RaceListModel(QObject* parent) : QAbstractTableModel(parent) {}

std::vector<Rank> alternativeRanks(const TraceIndex& trace, std::size_t race) {
  std::vector<Rank> ranks;
  for (const std::uint32_t m : trace.data().races[race].alternatives) {
    if (const auto message = messageAt(trace, m)) {
      ranks.push_back(message->send.rank);
    }
  }
  std::sort(ranks.begin(), ranks.end());
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  return ranks;
}

std::vector<int> rateRaces(const TraceIndex& trace) {
  std::vector<int> severity(trace.data().races.size(), 2);
  const EventRef failed = trace.data().failure.event;
  if (!trace.contains(failed)) {
    return severity;
  }
  const std::vector<Serial> past = trace.past(failed);
  Serial last = 0;
  for (std::size_t i = 0; i < severity.size(); ++i) {
    const EventRef done = trace.raceCompletion(i);
    if (trace.contains(done) && done.serial <= past[static_cast<std::size_t>(done.rank)]) {
      severity[i] = 1;
      last = done.rank == failed.rank ? std::max(last, done.serial) : last;
    }
  }
  for (std::size_t i = 0; i < severity.size(); ++i) {
    if (last != 0 && trace.raceCompletion(i) == EventRef{failed.rank, last}) {
      severity[i] = 0;
    }
  }
  return severity;
}

std::vector<std::int64_t> raceWeights(const TraceIndex& trace, const std::vector<int>& severity) {
  std::vector<std::int64_t> weights(severity.size());
  for (std::size_t race = 0; race < weights.size(); ++race) {
    weights[race] =
        std::int64_t{severity[race]} * (1LL << 33) + trace.lastTime() - trace.raceTime(race);
  }
  return weights;
}

void RaceListModel::setTrace(TraceIndexPtr trace) {
  std::vector<int> severity = trace ? rateRaces(*trace) : std::vector<int>();
  std::vector<std::int64_t> weights =
      trace ? raceWeights(*trace, severity) : std::vector<std::int64_t>();
  setTrace(std::move(trace), std::move(severity), std::move(weights));
}

void RaceListModel::setTrace(TraceIndexPtr trace, std::vector<int> severity,
                             std::vector<std::int64_t> weights) {
  beginResetModel();
  m_trace = std::move(trace);
  m_severity = std::move(severity);
  m_weights = std::move(weights);
  endResetModel();
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
  const auto taken = messageAt(*m_trace, r.taken);
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
      return taken ? u"rank %1, event %2"_s.arg(taken->send.rank).arg(taken->send.serial)
                   : u"not in the record"_s;
    case TakenTag:
      return taken ? QString::number(taken->tag) : QString();
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

/// Places and calls are few: each gets its number among all of them.
std::vector<std::int64_t> RaceListModel::placeKeys(int column) const {
  std::map<std::pair<std::uint32_t, std::uint16_t>, EventRef> places;
  const auto placeOf = [this](std::size_t race) {
    const Event& event = m_trace->event(m_trace->raceEvent(race));
    return std::pair(event.site, event.call);
  };
  for (std::size_t race = 0; race < m_severity.size(); ++race) {
    places.try_emplace(placeOf(race), m_trace->raceEvent(race));
  }
  std::map<QString, std::int64_t> numbers;
  for (const auto& [place, event] : places) {
    numbers[column == Call ? callName(*m_trace, event) : siteText(*m_trace, event)] = 0;
  }
  std::int64_t next = 0;
  for (auto& [text, number] : numbers) {
    number = next++;
  }
  std::map<std::pair<std::uint32_t, std::uint16_t>, std::int64_t> known;
  for (const auto& [place, event] : places) {
    known[place] = numbers[column == Call ? callName(*m_trace, event) : siteText(*m_trace, event)];
  }
  std::vector<std::int64_t> keys(m_severity.size());
  for (std::size_t race = 0; race < keys.size(); ++race) {
    keys[race] = known[placeOf(race)];
  }
  return keys;
}

std::vector<std::int64_t> RaceListModel::sortKeys(int column) const {
  if (column == Call || column == Location) {
    return placeKeys(column);
  }
  if (column == Severity) {
    return m_weights;
  }
  std::vector<std::int64_t> keys(m_severity.size());
  for (std::size_t race = 0; race < keys.size(); ++race) {
    const Race& r = m_trace->data().races[race];
    const auto taken = messageAt(*m_trace, r.taken);
    std::int64_t& key = keys[race];
    switch (column) {
      case Receiver:
        key = r.rank;
        break;
      case EventSerial:
        key = static_cast<std::int64_t>(m_trace->raceEvent(race).serial);
        break;
      case Taken:
        key = !taken ? -1
                     : std::int64_t{taken->send.rank} * (1LL << 40) +
                           static_cast<std::int64_t>(taken->send.serial);
        break;
      case TakenTag:
        key = taken ? taken->tag : -1;
        break;
      case Alternatives:
        key = static_cast<std::int64_t>(r.alternatives.size());
        break;
      case FromRanks: {  // the lowest rank first, then the fewest
        const std::vector<Rank> ranks = alternativeRanks(*m_trace, race);
        key = ranks.empty() ? -1
                            : std::int64_t{ranks.front()} * (1LL << 32) +
                                  static_cast<std::int64_t>(ranks.size());
        break;
      }
      default:  // probe, receive, posted receive
        key = r.probe ? 0 : m_trace->raceEvent(race) == m_trace->raceCompletion(race) ? 1 : 2;
    }
  }
  return keys;
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

}  // namespace pf::views
