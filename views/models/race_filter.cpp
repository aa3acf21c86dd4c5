#include "views/race_filter.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "views/text.h"
#include "views/trace_text.h"

namespace pf::views {

namespace {

using Test = std::function<bool(std::size_t race)>;

/// Numbers of a race, as its row shows them, for a search in them.
class NumberText {
 public:
  explicit NumberText(const TraceIndex& trace) : m_trace(trace) {}

  std::string_view of(std::size_t race) {
    m_text.clear();
    const Race& r = m_trace.data().races[race];
    const auto& messages = m_trace.execution().messages;
    add(r.rank);
    add(m_trace.raceEvent(race).serial);
    if (r.taken < messages.size()) {
      const Message& taken = messages[r.taken];
      m_text += "rank ";
      append(taken.send.rank);
      m_text += ", event ";
      add(taken.send.serial);
      add(taken.tag);
    } else {
      m_text += "not in the record\n";
    }
    add(r.alternatives.size());
    for (const Rank rank : alternativeRanks(m_trace, race)) {
      append(rank);
      m_text += ", ";
    }
    return m_text;
  }
  /// Whether numbers could hold it at all.
  static bool couldHold(const std::string& word) {
    return word.find_first_not_of("0123456789-, acdehiknortv") == std::string::npos;
  }

 private:
  template <typename T>
  void append(T number) {
    std::array<char, 24> digits{};
    const auto end = std::to_chars(digits.begin(), digits.end(), number).ptr;
    m_text.append(digits.begin(), end);
  }
  template <typename T>
  void add(T number) {
    append(number);
    m_text += '\n';
  }
  const TraceIndex& m_trace;
  std::string m_text;
};

/// What depends on the call or the call site only is looked at once for each of these.
class PlaceTest {
 public:
  PlaceTest(const TraceIndex& trace, const QString& word, bool calls)
      : m_trace(trace), m_word(word), m_calls(calls) {
    m_known.assign(trace.execution().sites.size() * trace.execution().callNames.size(), kUnknown);
  }
  bool operator()(std::size_t race) {
    const EventRef ref = m_trace.raceEvent(race);
    if (!m_trace.contains(ref)) {
      return false;
    }
    const Event& event = m_trace.event(ref);
    const std::size_t place = event.site * m_trace.execution().callNames.size() + event.call;
    if (event.site >= m_trace.execution().sites.size() || place >= m_known.size()) {
      return look(ref);
    }
    if (m_known[place] == kUnknown) {
      m_known[place] = look(ref) ? 1 : 0;
    }
    return m_known[place] == 1;
  }

 private:
  static constexpr signed char kUnknown = -1;
  [[nodiscard]] bool look(EventRef ref) const {
    return siteText(m_trace, ref).contains(m_word, Qt::CaseInsensitive) ||
           (m_calls && callName(m_trace, ref).contains(m_word, Qt::CaseInsensitive));
  }
  const TraceIndex& m_trace;
  QString m_word;
  bool m_calls;
  std::vector<signed char> m_known;
};

Test equals(const QString& value, std::function<std::int64_t(std::size_t)> number) {
  bool good = false;
  const qlonglong wanted = value.toLongLong(&good);
  if (!good) {
    return [](std::size_t) { return false; };
  }
  return [wanted, number = std::move(number)](std::size_t race) { return number(race) == wanted; };
}

/// A column with three texts.
Test oneOf(const RaceListModel& model, int column, const QString& word) {
  std::vector<signed char> unknown(3, -1);
  return [&model, column, word, known = std::move(unknown)](std::size_t race) mutable {
    const TraceIndex& trace = *model.trace();
    const int text = column == RaceListModel::Severity ? model.severity(toInt(race))
                     : trace.data().races[race].probe  ? 0
                     : trace.raceEvent(race) == trace.raceCompletion(race) ? 1
                                                                           : 2;
    signed char& has = known[at(text)];
    if (has < 0) {
      has = model.text(race, column).contains(word, Qt::CaseInsensitive) ? 1 : 0;
    }
    return has == 1;
  };
}

Test testOf(const RaceListModel& model, const QString& word) {
  const TraceIndex& trace = *model.trace();
  const auto& races = trace.data().races;
  const auto& messages = trace.execution().messages;
  const qsizetype colon = word.indexOf(QLatin1Char(':'));
  const QString key = colon > 0 ? word.left(colon).toLower() : QString();
  const QString value = word.mid(colon + 1);
  const bool known = key == u"rank"_s || key == u"tag"_s || key == u"event"_s || key == u"from"_s ||
                     key == u"class"_s || key == u"kind"_s || key == u"file"_s;
  if (known && value.isEmpty()) {
    return [](std::size_t) { return true; };  // still being typed
  }
  if (key == u"rank"_s) {
    return equals(value, [&races](std::size_t race) { return races[race].rank; });
  }
  if (key == u"tag"_s) {
    return equals(value, [&races, &messages](std::size_t race) {
      const std::uint32_t taken = races[race].taken;
      return taken < messages.size() ? std::int64_t{messages[taken].tag} : INT64_MIN;
    });
  }
  if (key == u"event"_s) {
    return equals(value, [&trace](std::size_t race) {
      return static_cast<std::int64_t>(trace.raceEvent(race).serial);
    });
  }
  if (key == u"from"_s) {
    return [&trace, wanted = value](std::size_t race) {
      const std::vector<Rank> ranks = alternativeRanks(trace, race);
      return std::ranges::any_of(ranks, [&](Rank r) { return QString::number(r) == wanted; });
    };
  }
  if (key == u"class"_s || key == u"kind"_s) {
    return oneOf(model, RaceListModel::Class, value);
  }
  if (key == u"file"_s) {
    return PlaceTest(trace, value, false);
  }
  const std::string plain = word.toLower().toStdString();
  return
      [place = PlaceTest(trace, word, true), weight = oneOf(model, RaceListModel::Severity, word),
       kind = oneOf(model, RaceListModel::Class, word), numbers = NumberText(trace), plain,
       couldBeNumber = NumberText::couldHold(plain)](std::size_t race) mutable {
        return place(race) || weight(race) || kind(race) ||
               (couldBeNumber && numbers.of(race).find(plain) != std::string_view::npos);
      };
}

}  // namespace

std::vector<int> racesWith(const RaceListModel& model, const QStringList& words) {
  std::vector<Test> tests;
  for (const QString& word : words) {
    tests.push_back(testOf(model, word));
  }
  std::vector<int> races;
  for (int race = 0; race < model.rowCount(); ++race) {
    if (std::ranges::all_of(tests, [&](Test& test) { return test(at(race)); })) {
      races.push_back(race);
    }
  }
  return races;
}

const RaceListModel* RaceFilterModel::races() const {
  return qobject_cast<const RaceListModel*>(sourceModel());
}

void RaceFilterModel::setSourceModel(QAbstractItemModel* source) {
  beginResetModel();
  QAbstractProxyModel::setSourceModel(source);
  connect(source, &QAbstractItemModel::modelAboutToBeReset, this, [this] { beginResetModel(); });
  connect(source, &QAbstractItemModel::modelReset, this, [this] {
    filter();
    endResetModel();
  });
  filter();
  endResetModel();
}

void RaceFilterModel::setFilterText(const QString& text) {
  m_words = text.simplified().split(QLatin1Char(' '), Qt::SkipEmptyParts);
  rearrange();
}

void RaceFilterModel::setRaces(QList<int> races) {
  if (races != m_only) {
    m_only = std::move(races);
    rearrange();
  }
}

void RaceFilterModel::rearrange() {
  beginResetModel();
  filter();
  endResetModel();
}

void RaceFilterModel::filter() {
  const RaceListModel* const model = races();
  m_shown.clear();
  if (model != nullptr && model->trace()) {
    m_shown = racesWith(*model, m_words);
    if (!m_only.isEmpty()) {
      std::erase_if(m_shown, [this](int race) {
        return !std::binary_search(m_only.begin(), m_only.end(), race);
      });
    }
  }
  order();
}

/// Races that are equal stay in their order, whichever way the column is sorted.
void RaceFilterModel::order() {
  const RaceListModel* const model = races();
  if (model != nullptr && model->trace() && m_column >= 0) {
    const std::vector<std::int64_t> keys = model->sortKeys(m_column);
    std::vector<std::pair<std::int64_t, int>> sorted;
    sorted.reserve(m_shown.size());
    for (const int race : m_shown) {
      sorted.emplace_back(m_order == Qt::AscendingOrder ? keys[at(race)] : -keys[at(race)], race);
    }
    std::sort(sorted.begin(), sorted.end());
    std::ranges::transform(sorted, m_shown.begin(), [](const auto& pair) { return pair.second; });
  }
  m_rowOf.assign(model != nullptr ? at(model->rowCount()) : 0, -1);
  for (std::size_t row = 0; row < m_shown.size(); ++row) {
    m_rowOf[at(m_shown[row])] = toInt(row);
  }
}

void RaceFilterModel::sort(int column, Qt::SortOrder order) {
  m_column = column;
  m_order = order;
  Q_EMIT layoutAboutToBeChanged({}, VerticalSortHint);
  const QModelIndexList before = persistentIndexList();
  std::vector<int> kept;
  for (const QModelIndex& index : before) {
    kept.push_back(m_shown[at(index.row())]);
  }
  std::sort(m_shown.begin(), m_shown.end());
  this->order();
  for (qsizetype i = 0; i < before.size(); ++i) {
    changePersistentIndex(
        before[i], index(m_rowOf[at(kept[static_cast<std::size_t>(i)])], before[i].column()));
  }
  Q_EMIT layoutChanged({}, VerticalSortHint);
}

QModelIndex RaceFilterModel::mapToSource(const QModelIndex& index) const {
  return index.isValid() && at(index.row()) < m_shown.size()
             ? sourceModel()->index(m_shown[at(index.row())], index.column())
             : QModelIndex();
}

QModelIndex RaceFilterModel::mapFromSource(const QModelIndex& source) const {
  return source.isValid() && at(source.row()) < m_rowOf.size() && m_rowOf[at(source.row())] >= 0
             ? index(m_rowOf[at(source.row())], source.column())
             : QModelIndex();
}

QModelIndex RaceFilterModel::index(int row, int column, const QModelIndex& parent) const {
  return hasIndex(row, column, parent) ? createIndex(row, column) : QModelIndex();
}

QModelIndex RaceFilterModel::parent(const QModelIndex& /*index*/) const {
  return {};
}

int RaceFilterModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : toInt(m_shown.size());
}

int RaceFilterModel::columnCount(const QModelIndex& parent) const {
  return parent.isValid() || sourceModel() == nullptr ? 0 : sourceModel()->columnCount();
}

}  // namespace pf::views
