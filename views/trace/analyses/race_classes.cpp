// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/trace/analyses/race_classes.h"

#include <algorithm>
#include <map>
#include <set>

#include <QStringList>

#include "replay_engine/races/race_weight.h"
#include "views/trace/analyses/trace_text.h"
#include "views/values/debug_values.h"
#include "views/values/roles.h"
#include "views/values/text.h"

namespace pf::views {

namespace {

constexpr int kBenign = 3;  ///< after the severities of single races

/// Names a place so that a later build finds it again while the function's lines stay.
QString placeKey(const TraceIndex& trace, EventRef ref) {
  const CallSite* site = siteOf(trace, ref);
  const QString function = site != nullptr ? oneLine(fromUtf8(site->function)) : QString();
  return callName(trace, ref) + QLatin1Char(' ') + (function.isEmpty() ? u"?"_s : function) +
         QLatin1Char(' ') + siteText(trace, ref);
}

/// Call site and call, to compare by.
using Place = std::pair<std::uint32_t, std::uint16_t>;

Place placeOf(const TraceIndex& trace, EventRef ref) {
  const Event event = trace.event(ref);
  return trace.contains(ref) ? Place{event.site, event.call} : Place{kNone, 0xFFFF};
}

/// Call `visit` with all sends of messages that a race took or could have taken.
template <typename Visit>
void forSends(const TraceIndex& trace, const Race& race, Visit&& visit) {
  const auto one = [&](std::uint32_t message) {
    if (message < trace.messages().count()) {
      visit(trace.execution().messages[message].send);
    }
  };
  one(race.taken);
  std::for_each(race.alternatives.begin(), race.alternatives.end(), one);
}

/// The name that the file has of a race's class, if it is one that survives edits.
std::optional<QString> nameOf(const TraceIndex& trace, std::size_t race) {
  const TraceData& data = trace.data();
  if (!data.races.hasClasses() || data.races.raceClass(race) >= data.raceClassNames.size()) {
    return std::nullopt;
  }
  const std::string& name = data.raceClassNames[data.races.raceClass(race)];
  return survivesEdits(name) ? std::optional(fromUtf8(name)) : std::nullopt;
}

/// What is said of all its races.
void describe(const TraceIndex& trace, RaceClass& one) {
  const EventRef receive = trace.races().eventOf(at(one.first));
  one.call = callName(trace, receive);
  one.site = siteText(trace, receive);
  one.receive = one.call + (one.site.isEmpty() ? QString() : u" at "_s + one.site);
  std::set<Place> places;
  QStringList keys;
  QStringList names;
  forSends(trace, trace.data().races[at(one.first)], [&](EventRef send) {
    if (places.insert(placeOf(trace, send)).second) {
      keys << placeKey(trace, send);
      const QString where = siteText(trace, send);
      names << (where.isEmpty() ? callName(trace, send) : where);
    }
  });
  keys.sort();
  names.sort();
  names.removeDuplicates();
  one.formerKey = placeKey(trace, receive) + u" < "_s + keys.join(u" | "_s);
  one.key = nameOf(trace, at(one.first)).value_or(one.formerKey);
  one.senders = names.join(u", "_s);
}

}  // namespace

namespace {

/// "the sum does not depend on it", "bug: issue 12"
QString noteText(const std::optional<Judged>& judged) {
  if (!judged) {
    return {};
  }
  const QString reason = oneLine(fromUtf8(judged->reason));
  return judged->verdict != RaceVerdict::Bug ? reason
         : reason.isEmpty()                  ? u"bug"_s
                                             : u"bug: "_s + reason;
}

}  // namespace

RaceClasses::RaceClasses(TraceIndexPtr trace) : m_trace(std::move(trace)) {
  m_trace->data().races.hasClasses() ? byNumber() : byPlaces();
  for (RaceClass& one : m_all) {
    describe(*m_trace, one);
  }
}

RaceClass& RaceClasses::begin(std::size_t race) {
  RaceClass& one = m_all.emplace_back();
  one.first = toInt(race);
  return one;
}

void RaceClasses::add(RaceClass& one, std::size_t race) const {
  const Rank rank = m_trace->data().races.rank(race);
  ++one.count;
  one.last = toInt(race);
  if (one.ranks.empty() || one.ranks.back() < rank) {
    one.ranks.push_back(rank);
  } else if (one.ranks.back() != rank && !std::ranges::binary_search(one.ranks, rank)) {
    one.ranks.insert(std::ranges::upper_bound(one.ranks, rank), rank);
  }
}

void RaceClasses::byNumber() {
  const RaceTable& races = m_trace->data().races;
  for (std::size_t race = 0; race < races.size(); ++race) {
    const std::uint32_t number = races.raceClass(race);
    if (number >= m_byNumber.size()) {
      m_byNumber.resize(std::size_t{number} + 1, kNone);
    }
    if (m_byNumber[number] == kNone) {
      m_byNumber[number] = static_cast<std::uint32_t>(m_all.size());
      begin(race);
    }
    add(m_all[m_byNumber[number]], race);
  }
}

void RaceClasses::byPlaces() {
  std::map<std::pair<Place, std::set<Place>>, std::uint32_t> found;
  for (std::size_t race = 0; race < m_trace->data().races.size(); ++race) {
    std::set<Place> places;
    forSends(*m_trace, m_trace->data().races[race],
             [&](EventRef send) { places.insert(placeOf(*m_trace, send)); });
    const auto [it, fresh] =
        found.try_emplace({placeOf(*m_trace, m_trace->races().eventOf(race)), std::move(places)},
                          static_cast<std::uint32_t>(m_all.size()));
    if (fresh) {
      begin(race);
    }
    add(m_all[it->second], race);
    m_of.push_back(it->second);
  }
}

std::vector<int> RaceClasses::races(std::size_t number) const {
  std::vector<int> races;
  races.reserve(m_all[number].count);
  for (auto race = at(m_all[number].first); race <= at(m_all[number].last); ++race) {
    if (of(race) == number) {
      races.push_back(toInt(race));
    }
  }
  return races;
}

RaceClassModel::RaceClassModel(QObject* parent)
    : QAbstractTableModel(parent), m_classes(std::make_shared<const RaceClasses>()) {}

void RaceClassModel::setTrace(TraceIndexPtr trace, const std::vector<std::uint8_t>& severity,
                              RaceClassesPtr classes) {
  beginResetModel();
  m_trace = std::move(trace);
  m_classes = classes ? std::move(classes) : std::make_shared<const RaceClasses>();
  m_races = severity.size();
  std::vector<RaceWeight> weights(severity.size());
  std::ranges::transform(severity, weights.begin(),
                         [](std::uint8_t each) { return static_cast<RaceWeight>(each); });
  m_severity.clear();
  for (const RaceWeight weight :
       weighClasses(m_classes->all().size(), weights,
                    [this](std::size_t race) { return m_classes->of(race); })) {
    m_severity.push_back(static_cast<int>(weight));
  }
  judge();
  endResetModel();
}

void RaceClassModel::setVerdicts(RaceBaseline verdicts) {
  beginResetModel();
  m_verdicts = std::move(verdicts);
  judge();
  endResetModel();
}

void RaceClassModel::judge() {
  m_judged.clear();
  for (const RaceClass& one : m_classes->all()) {
    const Judged* said = m_verdicts.ofClass(one.key.toStdString());
    said = said != nullptr ? said : m_verdicts.ofClass(one.formerKey.toStdString());
    m_judged.push_back(said != nullptr ? std::optional(*said) : std::nullopt);
  }
}

std::optional<Judged> RaceClassModel::judgedAt(int row) const {
  return classAt(row) != nullptr ? m_judged[at(row - 1)] : std::nullopt;
}

const RaceClass* RaceClassModel::classAt(int row) const {
  return row >= 1 && row < rowCount() ? &m_classes->all()[at(row - 1)] : nullptr;
}

std::vector<int> RaceClassModel::racesAt(int row) const {
  return classAt(row) != nullptr ? m_classes->races(at(row - 1)) : std::vector<int>();
}

int RaceClassModel::rowOf(int race) const {
  return race >= 0 && at(race) < m_races ? toInt(m_classes->of(at(race))) + 1 : 0;
}

bool RaceClassModel::isJudged(int row, RaceVerdict verdict) const {
  const std::optional<Judged> judged = judgedAt(row);
  return judged && judged->verdict == verdict;
}

int RaceClassModel::benignRaces() const {
  std::size_t n = 0;
  for (std::size_t i = 0; i < m_judged.size(); ++i) {
    n += m_judged[i] && m_judged[i]->verdict == RaceVerdict::Benign ? m_classes->all()[i].count : 0;
  }
  return toInt(n);
}

int RaceClassModel::severity(int row) const {
  return isBenign(row) ? kBenign : m_severity[at(row - 1)];
}

int RaceClassModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() || m_classes->all().empty() ? 0 : toInt(m_classes->all().size() + 1);
}

int RaceClassModel::columnCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : ColumnCount;
}

QString RaceClassModel::text(const RaceClass& races, int row, int column) const {
  static const char* const kWeights[] = {"first", "before failure", "other", "benign"};
  switch (column) {
    case Weight:
      return QString::fromLatin1(kWeights[severity(row)]);
    case Receive:
      return races.receive;
    case Senders:
      return races.senders;
    case Races:
      return QString::number(races.count);
    case Ranks:
      return rankSetText(QList<int>(races.ranks.begin(), races.ranks.end()));
    case First:
    case Last: {
      const EventRef ref = m_trace->races().eventOf(at(column == First ? races.first : races.last));
      return u"%1:%2"_s.arg(ref.rank).arg(ref.serial);
    }
    case Note:
      return noteText(judgedAt(row));
    default:
      return {};
  }
}

QVariant RaceClassModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid() || !m_trace || index.row() >= rowCount()) {
    return {};
  }
  const RaceClass* one = classAt(index.row());
  if (one == nullptr) {  // all of them
    switch (role) {
      case Qt::DisplayRole:
        return index.column() == Receive ? QVariant(tr("all races"))
               : index.column() == Races ? QVariant(QString::number(m_races))
                                         : QVariant();
      case SortRole:
        return index.column() == Weight ? QVariant(-1) : QVariant();
      case BoldRole:
        return true;
      default:
        return {};
    }
  }
  switch (role) {
    case Qt::DisplayRole:
      return text(*one, index.row(), index.column());
    case Qt::ToolTipRole:
      return index.column() == Note ? noteText(judgedAt(index.row())) : visibleText(one->key);
    case SortRole:
      return index.column() == Weight  ? QVariant(severity(index.row()))
             : index.column() == Races ? QVariant(static_cast<qulonglong>(one->count))
                                       : QVariant(text(*one, index.row(), index.column()));
    case ToneRole:
      return static_cast<int>(isBenign(index.row()) ? Tone::Muted
                              : index.column() == Weight && severity(index.row()) < 2
                                  ? Tone::Race
                                  : Tone::Normal);
    case BoldRole:
      return severity(index.row()) == 0;
    case KeyRole:
      return index.row();
    default:
      return {};
  }
}

QVariant RaceClassModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal || section < 0 || section >= ColumnCount) {
    return {};
  }
  static const char* const kTitles[] = {"Suspicion", "Receive", "Sent from", "Races",
                                        "Ranks",     "First",   "Last",      "Note"};
  static const char* const kTips[] = {
      "Of its weightiest race; benign where somebody has said so",
      "Call and place of the receives",
      "Where the messages that they took or could have taken are sent",
      "Racing receives",
      "Ranks that receive",
      "Rank and event of the first",
      "Rank and event of the last",
      "Why it is benign, or what bug it is"};
  if (role == Qt::DisplayRole) {
    return QString::fromLatin1(kTitles[section]);
  }
  return role == Qt::ToolTipRole ? QVariant(QString::fromLatin1(kTips[section])) : QVariant();
}

}  // namespace pf::views

#include "moc_race_classes.cpp"
