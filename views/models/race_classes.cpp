#include "views/race_classes.h"

#include <algorithm>
#include <map>
#include <set>

#include <QStringList>

#include "views/debug_values.h"
#include "views/roles.h"
#include "views/text.h"
#include "views/trace_text.h"

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

struct Builder {
  std::size_t number = 0;
  EventRef receive;
  std::map<Place, EventRef> senders;
};

}  // namespace

std::vector<RaceClass> classifyRaces(const TraceIndex& trace) {
  std::map<std::pair<Place, std::set<Place>>, Builder> found;
  std::vector<RaceClass> classes;
  const auto& messages = trace.execution().messages;
  for (std::size_t race = 0; race < trace.data().races.size(); ++race) {
    const Race& r = trace.data().races[race];
    const EventRef receive = trace.raceEvent(race);
    std::map<Place, EventRef> senders;
    std::set<Place> places;
    const auto add = [&](std::uint32_t message) {
      if (message < messages.size()) {
        const EventRef send = messages[message].send;
        const Place place = placeOf(trace, send);
        senders.emplace(place, send);
        places.insert(place);
      }
    };
    add(r.taken);
    std::for_each(r.alternatives.begin(), r.alternatives.end(), add);
    const auto [it, fresh] = found.try_emplace({placeOf(trace, receive), places});
    if (fresh) {
      it->second = {classes.size(), receive, std::move(senders)};
      classes.emplace_back();
    }
    RaceClass& one = classes[it->second.number];
    one.races.push_back(toInt(race));
    if (std::find(one.ranks.begin(), one.ranks.end(), r.rank) == one.ranks.end()) {
      one.ranks.insert(std::upper_bound(one.ranks.begin(), one.ranks.end(), r.rank), r.rank);
    }
  }
  for (const auto& [key, built] : found) {
    RaceClass& one = classes[built.number];
    const QString site = siteText(trace, built.receive);
    one.receive = callName(trace, built.receive) + (site.isEmpty() ? QString() : u" at "_s + site);
    QStringList keys;
    QStringList names;
    for (const auto& [place, send] : built.senders) {
      keys << placeKey(trace, send);
      const QString where = siteText(trace, send);
      names << (where.isEmpty() ? callName(trace, send) : where);
    }
    keys.sort();
    names.sort();
    names.removeDuplicates();
    one.key = placeKey(trace, built.receive) + u" < "_s + keys.join(u" | "_s);
    one.senders = names.join(u", "_s);
  }
  return classes;
}

RaceClassModel::RaceClassModel(QObject* parent) : QAbstractTableModel(parent) {}

void RaceClassModel::setTrace(TraceIndexPtr trace, const std::vector<int>& severity,
                              std::vector<RaceClass> classes) {
  beginResetModel();
  m_trace = std::move(trace);
  m_classes = std::move(classes);
  m_severity.clear();
  m_classOf.assign(severity.size(), -1);
  for (const RaceClass& one : m_classes) {
    int worst = 2;
    for (const int race : one.races) {
      worst = std::min(worst, severity[at(race)]);
      m_classOf[at(race)] = toInt(m_severity.size());
    }
    m_severity.push_back(worst);
  }
  endResetModel();
}

void RaceClassModel::setBenign(QHash<QString, QString> notes) {
  beginResetModel();
  m_benign = std::move(notes);
  endResetModel();
}

const RaceClass* RaceClassModel::classAt(int row) const {
  return row >= 1 && row < rowCount() ? &m_classes[at(row - 1)] : nullptr;
}

int RaceClassModel::rowOf(int race) const {
  return race >= 0 && at(race) < m_classOf.size() ? m_classOf[at(race)] + 1 : 0;
}

bool RaceClassModel::isBenign(int row) const {
  const RaceClass* one = classAt(row);
  return one != nullptr && m_benign.contains(one->key);
}

int RaceClassModel::benignRaces() const {
  std::size_t n = 0;
  for (const RaceClass& one : m_classes) {
    n += m_benign.contains(one.key) ? one.races.size() : 0;
  }
  return toInt(n);
}

int RaceClassModel::severity(int row) const {
  return isBenign(row) ? kBenign : m_severity[at(row - 1)];
}

int RaceClassModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() || m_classes.empty() ? 0 : toInt(m_classes.size() + 1);
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
      return QString::number(races.races.size());
    case Ranks:
      return rankSetText(QList<int>(races.ranks.begin(), races.ranks.end()));
    case First:
    case Last: {
      const int race = column == First ? races.races.front() : races.races.back();
      const EventRef ref = m_trace->raceEvent(at(race));
      return u"%1:%2"_s.arg(ref.rank).arg(ref.serial);
    }
    case Note:
      return oneLine(m_benign.value(races.key));
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
               : index.column() == Races ? QVariant(QString::number(m_classOf.size()))
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
      return index.column() == Note ? visibleText(m_benign.value(one->key)) : one->key;
    case SortRole:
      return index.column() == Weight  ? QVariant(severity(index.row()))
             : index.column() == Races ? QVariant(static_cast<qulonglong>(one->races.size()))
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
  static const char* const kTitles[] = {"Weight", "Receive", "Sent from", "Races",
                                        "Ranks",  "First",   "Last",      "Note"};
  static const char* const kTips[] = {
      "Of its weightiest race; benign where somebody has said so",
      "Call and place of the receives",
      "Where the messages that they took or could have taken are sent",
      "Racing receives",
      "Ranks that receive",
      "Rank and event of the first",
      "Rank and event of the last",
      "Why it is benign"};
  if (role == Qt::DisplayRole) {
    return QString::fromLatin1(kTitles[section]);
  }
  return role == Qt::ToolTipRole ? QVariant(QString::fromLatin1(kTips[section])) : QVariant();
}

}  // namespace pf::views
