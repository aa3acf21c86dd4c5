// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/models/race_filter.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <functional>
#include <initializer_list>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>

#include <QHash>

#include "views/trace/chunks/digit_sort.h"
#include "views/values/text.h"

namespace pf::views {

namespace {

using Test = std::function<bool(std::size_t race)>;

/// Whether a number has some digits in it.
class DigitsTest {
 public:
  explicit DigitsTest(std::string digits) : m_digits(std::move(digits)), m_known(kKept, kUnknown) {}
  template <typename T>
  bool operator()(T number) {
    if (number < T{} || number >= T{kKept}) {
      return look(number);
    }
    signed char& known = m_known[static_cast<std::size_t>(number)];
    if (known == kUnknown) {
      known = look(number) ? 1 : 0;
    }
    return known == 1;
  }

 private:
  static constexpr int kKept = 4096;
  static constexpr signed char kUnknown = -1;
  template <typename T>
  [[nodiscard]] bool look(T number) const {
    std::array<char, 24> text{};
    const auto end = std::to_chars(text.begin(), text.end(), number).ptr;
    return std::string_view(text.data(), static_cast<std::size_t>(end - text.data()))
               .find(m_digits) != std::string_view::npos;
  }
  std::string m_digits;
  std::vector<signed char> m_known;
};

/// Whether a word is somewhere in the numbers of a race, as its row shows them.
class NumbersTest {
 public:
  NumbersTest(const TraceIndex& trace, const std::string& word)
      : m_trace(trace), m_alternatives(trace), m_word(word), m_digits(word) {
    const auto is = [&](const char* letters) {
      return word.find_first_not_of(letters) == std::string::npos;
    };
    m_kind = is("0123456789-")             ? Kind::Digits
             : is("0123456789-,")          ? Kind::List
             : isPartOf({"rank", "event"}) ? Kind::Taken
                                           : Kind::Other;
    m_notTaken = isPartOf({"not", "in", "the", "record"});
  }
  bool operator()(std::size_t race) {
    if (m_kind == Kind::Digits) {
      return hasDigits(race);
    }
    if (m_kind == Kind::List) {
      return hasListed(race);
    }
    const bool taken = m_trace.data().races.taken(race) < m_trace.messages().count();
    return taken ? m_kind == Kind::Taken : m_notTaken;
  }

 private:
  enum class Kind { Digits, List, Taken, Other };

  [[nodiscard]] bool isPartOf(std::initializer_list<std::string_view> texts) const {
    return std::ranges::any_of(texts, [this](std::string_view text) {
      return text.find(m_word) != std::string_view::npos;
    });
  }
  bool hasDigits(std::size_t race) {
    const RaceTable& races = m_trace.data().races;
    if (m_digits(races.rank(race)) || m_digits(m_trace.races().eventOf(race).serial)) {
      return true;
    }
    const auto taken = m_trace.races().takenIn(race);
    return (taken && (m_digits(taken->rank) || m_digits(taken->serial) || m_digits(taken->tag))) ||
           m_digits(races.alternatives(race)) ||
           std::ranges::any_of(m_alternatives.of(race), [this](Rank r) { return m_digits(r); });
  }
  /// With a comma: "rank 3, event 5", "1, 2, 3".
  bool hasListed(std::size_t race) {
    std::string text;
    if (const auto taken = m_trace.races().takenIn(race)) {
      text = std::to_string(taken->rank) + ", ";
    }
    const char* between = "";
    for (const Rank rank : m_alternatives.of(race)) {
      text += between + std::to_string(rank);
      between = ", ";
    }
    return text.find(m_word) != std::string::npos;
  }

  const TraceIndex& m_trace;
  AlternativeRanks m_alternatives;
  std::string m_word;
  DigitsTest m_digits;
  Kind m_kind = Kind::Other;
  bool m_notTaken = false;
};

/// What depends on the call or the call site only is looked at once for each class.
Test placeTest(const RaceListModel& model, const QString& word, bool calls) {
  std::vector<bool> has;
  for (const RaceClass& one : model.classes()->all()) {
    has.push_back(one.site.contains(word, Qt::CaseInsensitive) ||
                  (calls && one.call.contains(word, Qt::CaseInsensitive)));
  }
  return [&classes = *model.classes(), has = std::move(has)](std::size_t race) {
    return has[classes.of(race)];
  };
}

template <typename Number>
Test equals(const QString& value, Number&& number) {
  bool good = false;
  const qlonglong wanted = value.toLongLong(&good);
  if (!good) {
    return [](std::size_t) { return false; };
  }
  return [wanted, number = std::forward<Number>(number)](std::size_t race) {
    return static_cast<std::int64_t>(number(race)) == wanted;
  };
}

/// A column with three texts.
Test oneOf(const RaceListModel& model, int column, const QString& word) {
  std::vector<signed char> unknown(3, -1);
  return [&model, column, word, known = std::move(unknown)](std::size_t race) mutable {
    const int text = column == RaceListModel::Severity
                         ? model.severity(toInt(race))
                         : static_cast<int>(raceKind(*model.trace(), race));
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
  const qsizetype colon = word.indexOf(QLatin1Char(':'));
  const QString key = colon > 0 ? word.left(colon).toLower() : QString();
  const QString value = word.mid(colon + 1);
  const bool known = key == u"rank"_s || key == u"tag"_s || key == u"event"_s || key == u"from"_s ||
                     key == u"class"_s || key == u"kind"_s || key == u"file"_s;
  if (known && value.isEmpty()) {
    return [](std::size_t) { return true; };  // still being typed
  }
  if (key == u"rank"_s) {
    return equals(value, [&races](std::size_t race) { return races.rank(race); });
  }
  if (key == u"tag"_s) {
    return equals(value, [&trace](std::size_t race) {
      const auto taken = trace.races().takenIn(race);
      return taken ? std::int64_t{taken->tag} : INT64_MIN;
    });
  }
  if (key == u"event"_s) {
    return equals(value, [&trace](std::size_t race) { return trace.races().eventOf(race).serial; });
  }
  if (key == u"from"_s) {
    bool good = false;
    const Rank wanted = value.toInt(&good);
    return [good, wanted, alternatives = AlternativeRanks(trace)](std::size_t race) mutable {
      return good && std::ranges::binary_search(alternatives.of(race), wanted);
    };
  }
  if (key == u"class"_s || key == u"kind"_s) {
    return oneOf(model, RaceListModel::Class, value);
  }
  if (key == u"file"_s) {
    return placeTest(model, value, false);
  }
  return
      [place = placeTest(model, word, true), weight = oneOf(model, RaceListModel::Severity, word),
       kind = oneOf(model, RaceListModel::Class, word),
       numbers = NumbersTest(trace, word.toLower().toStdString())](std::size_t race) mutable {
        return place(race) || weight(race) || kind(race) || numbers(race);
      };
}

/// `shown`, ascending, by the key of each; equal ones stay in their order.
void sortByKey(std::vector<int>& shown, const std::vector<std::int64_t>& keys, bool descending) {
  if (keys.empty()) {
    return;
  }
  const auto [least, most] = std::ranges::minmax(keys);
  sortByDigits(shown, [&keys, descending, low = least, high = most](int race) {
    const std::int64_t key = keys[at(race)];
    return static_cast<std::uint64_t>(descending ? high - key : key - low);
  });
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

void RaceFilterModel::setRaces(std::vector<int> races) {
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
    if (!m_only.empty()) {
      std::vector<int> both;
      std::ranges::set_intersection(m_shown, m_only, std::back_inserter(both));
      m_shown = std::move(both);
    }
  }
  order();
}

/// Races that are equal stay in their order, whichever way the column is sorted.
void RaceFilterModel::order() {
  const RaceListModel* const model = races();
  if (model != nullptr && model->trace() && m_column >= 0) {
    sortByKey(m_shown, model->sortKeys(m_column), m_order == Qt::DescendingOrder);
  }
}

int RaceFilterModel::rowOf(int race) const {
  const auto found = std::ranges::find(m_shown, race);
  return found == m_shown.end() ? -1 : static_cast<int>(found - m_shown.begin());
}

void RaceFilterModel::sort(int column, Qt::SortOrder order) {
  m_column = column;
  m_order = order;
  Q_EMIT layoutAboutToBeChanged({}, VerticalSortHint);
  const QModelIndexList before = persistentIndexList();
  QHash<int, int> rows;  // by race
  for (const QModelIndex& index : before) {
    rows.insert(m_shown[at(index.row())], -1);
  }
  const auto raceOf = [shown = rows.isEmpty() ? std::vector<int>() : m_shown](
                          const QModelIndex& index) { return shown[at(index.row())]; };
  std::sort(m_shown.begin(), m_shown.end());
  this->order();
  for (std::size_t row = 0; row < m_shown.size() && !rows.isEmpty(); ++row) {
    if (const auto found = rows.find(m_shown[row]); found != rows.end()) {
      *found = toInt(row);
    }
  }
  for (const QModelIndex& each : before) {
    changePersistentIndex(each, index(rows.value(raceOf(each)), each.column()));
  }
  Q_EMIT layoutChanged({}, VerticalSortHint);
}

QModelIndex RaceFilterModel::mapToSource(const QModelIndex& index) const {
  return index.isValid() && at(index.row()) < m_shown.size()
             ? sourceModel()->index(m_shown[at(index.row())], index.column())
             : QModelIndex();
}

QModelIndex RaceFilterModel::mapFromSource(const QModelIndex& source) const {
  const int row = source.isValid() ? rowOf(source.row()) : -1;
  return row >= 0 ? index(row, source.column()) : QModelIndex();
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

#include "moc_race_filter.cpp"
