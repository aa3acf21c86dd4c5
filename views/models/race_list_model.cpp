// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/models/race_list_model.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

#include <QStringList>

#include "replay_engine/races/race_weight.h"
#include "views/trace/analyses/trace_causality.h"
#include "views/trace/analyses/trace_text.h"
#include "views/values/roles.h"
#include "views/values/text.h"

namespace pf::views {

namespace {

QString joined(const std::vector<Rank>& ranks) {
  QStringList out;
  for (const Rank r : ranks) {
    out << QString::number(r);
  }
  return out.join(u", "_s);
}

}  // namespace

RaceListModel::RaceListModel(QObject* parent) : QAbstractTableModel(parent) {}

const std::vector<Rank>& AlternativeRanks::of(std::size_t race) {
  const RaceTable& races = m_trace->data().races;
  const auto senderOf = [this](std::uint32_t message) {
    return message < m_trace->messages().count() ? m_trace->messages().senderOf(message)
                                                 : kUnknownRank;
  };
  m_ranks.clear();
  if (const auto* odd = races.oddAlternatives(race)) {
    std::ranges::transform(*odd, std::back_inserter(m_ranks), senderOf);
  } else {
    const RaceTable::Spans spans = races.block(race / RaceTable::kBlock);
    if (m_block != race / RaceTable::kBlock) {
      m_block = race / RaceTable::kBlock;
      m_senders.resize(spans.messages.size());
      std::ranges::transform(spans.messages, m_senders.begin(), senderOf);
    }
    const std::size_t within = race % RaceTable::kBlock;
    for (std::size_t i = 0; i < m_senders.size() && spans.first[i] <= within; ++i) {
      if (within < std::size_t{spans.first[i]} + spans.count[i]) {
        m_ranks.push_back(m_senders[i]);
      }
    }
  }
  std::sort(m_ranks.begin(), m_ranks.end());
  m_ranks.erase(std::unique(m_ranks.begin(), m_ranks.end()), m_ranks.end());
  if (!m_ranks.empty() && m_ranks.front() == kUnknownRank) {  // not in the record
    m_ranks.erase(m_ranks.begin());
  }
  return m_ranks;
}

RaceKind raceKind(const TraceIndex& trace, std::size_t race) {
  const RaceTable& races = trace.data().races;
  if (races.isProbe(race)) {
    return RaceKind::Probe;
  }
  const bool atOnce = races.hasPlaces()
                          ? races.place(race).chosen == races.place(race).observed
                          : trace.races().eventOf(race) == trace.races().completionOf(race);
  return atOnce ? RaceKind::Receive : RaceKind::Posted;
}

namespace {

EventRef failedEvent(const TraceIndex& trace, const EventRef& failing) {
  return failing.valid() && trace.contains(failing) ? failing : trace.data().failure.event;
}

}  // namespace

std::vector<std::uint8_t> rateRaces(const TraceIndex& trace, const EventRef& failing) {
  const EventRef failed = failedEvent(trace, failing);
  const bool known = trace.contains(failed);
  std::vector<std::uint8_t> severity;
  for (const RaceWeight weight : weighRaces(
           known ? failed : EventRef{}, known ? pastOf(trace, failed) : std::vector<Serial>(),
           trace.data().races.size(), [&trace](std::size_t race) {
             const EventRef observed = trace.races().completionOf(race);
             return trace.contains(observed) ? observed : EventRef{};
           })) {
    severity.push_back(static_cast<std::uint8_t>(weight));
  }
  return severity;
}

JudgedRaces judgeRaces(const TraceIndexPtr& trace, const EventRef& failing) {
  return trace ? JudgedRaces{rateRaces(*trace, failing), std::make_shared<const RaceClasses>(trace),
                             failedEvent(*trace, failing).valid()}
               : JudgedRaces();
}

void RaceListModel::setTrace(TraceIndexPtr trace) {
  const JudgedRaces judged = judgeRaces(trace);
  setTrace(std::move(trace), judged);
}

void RaceListModel::setTrace(TraceIndexPtr trace, const JudgedRaces& judged) {
  beginResetModel();
  m_trace = std::move(trace);
  m_severity = judged.severity;
  m_classes = judged.classes;
  m_failed = judged.failed;
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
      return m_failed
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
  const RaceTable& races = m_trace->data().races;
  const auto taken = m_trace->races().takenIn(race);
  switch (column) {
    case Severity:
      return m_severity[race] == 0   ? u"first"_s
             : m_severity[race] == 1 ? u"before failure"_s
                                     : u"other"_s;
    case Receiver:
      return QString::number(races.rank(race));
    case EventSerial:
      return QString::number(m_trace->races().eventOf(race).serial);
    case Call:
      return m_classes->classOf(race).call;
    case Location:
      return m_classes->classOf(race).site;
    case Taken:
      return taken ? u"rank %1, event %2"_s.arg(taken->rank).arg(taken->serial)
                   : u"not in the record"_s;
    case TakenTag:
      return taken ? QString::number(taken->tag) : QString();
    case Alternatives:
      return QString::number(races.alternatives(race));
    case FromRanks:
      return joined(AlternativeRanks(*m_trace).of(race));
    case Class:
      return raceClass(*m_trace, race);
    default:
      return {};
  }
}

template <typename Key>
std::vector<std::int64_t> RaceListModel::keys(Key&& key) const {
  std::vector<std::int64_t> keys(m_severity.size());
  for (std::size_t race = 0; race < keys.size(); ++race) {
    keys[race] = static_cast<std::int64_t>(key(race));
  }
  return keys;
}

/// Places and calls are few: each class gets the number of its own among all of them.
std::vector<std::int64_t> RaceListModel::placeKeys(int column) const {
  std::map<QString, std::int64_t> numbers;
  for (const RaceClass& one : m_classes->all()) {
    numbers[column == Call ? one.call : one.site] = 0;
  }
  std::int64_t next = 0;
  for (auto& [text, number] : numbers) {
    number = next++;
  }
  std::vector<std::int64_t> ofClass;
  for (const RaceClass& one : m_classes->all()) {
    ofClass.push_back(numbers[column == Call ? one.call : one.site]);
  }
  return keys([&](std::size_t race) { return ofClass[m_classes->of(race)]; });
}

std::vector<std::int64_t> RaceListModel::sortKeys(int column) const {
  const TraceIndex& trace = *m_trace;
  const RaceTable& races = trace.data().races;
  switch (column) {
    case Severity:  // by how it was rated, and within that the nearest to the end first
      return keys([&](std::size_t race) {
        return std::int64_t{m_severity[race]} * (1LL << 33) + trace.lastTime() -
               trace.racing().observedTime(race);
      });
    case Receiver:
      return keys([&](std::size_t race) { return races.rank(race); });
    case EventSerial:
      return keys([&](std::size_t race) { return trace.races().eventOf(race).serial; });
    case Call:
    case Location:
      return placeKeys(column);
    case Taken:
      return keys([&](std::size_t race) {
        const auto taken = trace.races().takenIn(race);
        return taken ? std::int64_t{taken->rank} * (1LL << 40) +
                           static_cast<std::int64_t>(taken->serial)
                     : -1;
      });
    case TakenTag:
      return keys([&](std::size_t race) {
        const auto taken = trace.races().takenIn(race);
        return taken ? taken->tag : -1;
      });
    case Alternatives:
      return keys([&](std::size_t race) { return races.alternatives(race); });
    case FromRanks: {  // the lowest rank first, then the fewest
      AlternativeRanks alternatives(trace);
      return keys([&](std::size_t race) {
        const std::vector<Rank>& ranks = alternatives.of(race);
        return ranks.empty() ? -1
                             : std::int64_t{ranks.front()} * (1LL << 32) +
                                   static_cast<std::int64_t>(ranks.size());
      });
    }
    default:
      return keys([&](std::size_t race) { return static_cast<int>(raceKind(trace, race)); });
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
                                        : eventDetails(*m_trace, m_trace->races().eventOf(race));
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
  static const char* const kTitles[] = {"Suspicion", "Rank", "Event",  "Call",       "Location",
                                        "Took",      "Tag",  "Others", "From ranks", "Kind"};
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

#include "moc_race_list_model.cpp"
