// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/values/values_across.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <vector>

#include "views/values/debug_values.h"
#include "views/values/roles.h"
#include "views/values/text.h"

namespace pf::values {

namespace {

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

void markNumbers(ValueSummary& summary) {
  constexpr double kFar = 5.0;
  std::vector<double> numbers;
  for (const ValueGroup& group : std::as_const(summary.groups)) {
    if (group.number) {
      numbers.insert(numbers.end(), static_cast<std::size_t>(group.ranks.size()), *group.number);
    }
  }
  if (numbers.size() < 3) {
    return;
  }
  const double centre = median(numbers);
  std::vector<double> distances;
  distances.reserve(numbers.size());
  for (const double number : numbers) {
    distances.push_back(std::abs(number - centre));
  }
  const double spread = median(distances);
  for (ValueGroup& group : summary.groups) {
    group.outlier = group.number && std::abs(*group.number - centre) > kFar * spread;
  }
}

void markOthers(ValueSummary& summary, qsizetype ranks) {
  const auto agreed = std::find_if(
      summary.groups.begin(), summary.groups.end(),
      [&](const ValueGroup& group) { return !group.isError && group.ranks.size() * 2 > ranks; });
  if (ranks < 3 || agreed == summary.groups.end()) {
    return;
  }
  for (ValueGroup& group : summary.groups) {
    group.outlier = !group.isError && group.text != agreed->text;
  }
}

void addStatistics(ValueSummary& summary) {
  for (const ValueGroup& group : std::as_const(summary.groups)) {
    if (!group.number) {
      continue;
    }
    const double number = *group.number;
    if (summary.numbers == 0 || number < summary.least) {
      summary.least = number;
      summary.leastRank = group.ranks.first();
    }
    if (summary.numbers == 0 || number > summary.most) {
      summary.most = number;
      summary.mostRank = group.ranks.first();
    }
    summary.mean += number * static_cast<double>(group.ranks.size());
    summary.numbers += toInt(group.ranks.size());
  }
  if (summary.numbers > 0) {
    summary.mean /= summary.numbers;
  }
}

}  // namespace

std::optional<double> numberOf(const QString& value) {
  if (value == u"true" || value == u"false") {
    return value == u"true" ? 1.0 : 0.0;
  }
  const QString word = value.section(QLatin1Char(' '), 0, 0);
  const QString rest = value.mid(word.size());
  bool ok = false;
  const double number = word.toDouble(&ok);
  if (!ok || !std::isfinite(number) || (!rest.isEmpty() && !rest.startsWith(u" '"))) {
    return std::nullopt;
  }
  return number;
}

ValueSummary summarize(const QList<RankValue>& values) {
  ValueSummary summary;
  qsizetype answered = 0;
  qsizetype numbers = 0;
  for (const RankValue& value : values) {
    const bool isError = !value.debugger || !value.error.isEmpty();
    const QString text = !value.debugger ? u"no debugger"_s : isError ? value.error : value.value;
    auto known =
        std::find_if(summary.groups.begin(), summary.groups.end(), [&](const ValueGroup& group) {
          return group.text == text && group.isError == isError && group.debugger == value.debugger;
        });
    if (known == summary.groups.end()) {
      ValueGroup group;
      group.text = text;
      group.isError = isError;
      group.debugger = value.debugger;
      group.number = isError ? std::nullopt : numberOf(text);
      summary.groups.append(group);
      known = std::prev(summary.groups.end());
    }
    known->ranks.append(value.rank);
    answered += isError ? 0 : 1;
    numbers += known->number ? 1 : 0;
  }
  for (ValueGroup& group : summary.groups) {
    std::sort(group.ranks.begin(), group.ranks.end());
  }
  std::stable_sort(summary.groups.begin(), summary.groups.end(),
                   [](const ValueGroup& a, const ValueGroup& b) {
                     if (a.isError != b.isError) {
                       return b.isError;
                     }
                     return a.ranks.size() != b.ranks.size() ? a.ranks.size() > b.ranks.size()
                                                             : a.ranks.first() < b.ranks.first();
                   });
  if (answered > 0 && numbers == answered) {
    markNumbers(summary);
  } else {
    markOthers(summary, answered);
  }
  addStatistics(summary);
  return summary;
}

QString summaryText(const ValueSummary& summary) {
  if (summary.numbers == 0) {
    return {};
  }
  const auto text = [](double number) { return QString::number(number, 'g', 6); };
  return u"%1: least %2 (rank %3), most %4 (rank %5), mean %6"_s
      .arg(counted(static_cast<std::size_t>(summary.numbers), u"rank"_s, u"ranks"_s))
      .arg(text(summary.least))
      .arg(summary.leastRank)
      .arg(text(summary.most))
      .arg(summary.mostRank)
      .arg(text(summary.mean));
}

void ValuesAcrossModel::setValues(const QList<RankValue>& values) {
  beginResetModel();
  m_values = values;
  m_summary = summarize(values);
  endResetModel();
}

const ValueGroup* ValuesAcrossModel::group(const QModelIndex& index) const {
  return index.isValid() && index.row() < rowCount() ? &m_summary.groups[index.row()] : nullptr;
}

int ValuesAcrossModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : toInt(m_summary.groups.size());
}

int ValuesAcrossModel::columnCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : ColumnCount;
}

QVariant ValuesAcrossModel::data(const QModelIndex& index, int role) const {
  const ValueGroup* row = group(index);
  if (row == nullptr) {
    return {};
  }
  switch (role) {
    case Qt::DisplayRole:
      switch (index.column()) {
        case ValueColumn:
          return oneLine(row->text);
        case CountColumn:
          return QString::number(row->ranks.size());
        case RanksColumn:
          return rankSetText(row->ranks);
        default:
          return row->outlier     ? u"outlier"_s
                 : !row->debugger ? u"double click gives them one"_s
                 : row->isError   ? u"no value"_s
                                  : QString();
      }
    case Qt::ToolTipRole:
      return u"%1\nranks %2"_s.arg(row->text.left(2000), rankSetText(row->ranks));
    case Qt::TextAlignmentRole:
      return index.column() == CountColumn ? QVariant(Qt::AlignRight | Qt::AlignVCenter)
                                           : QVariant();
    case ToneRole:
      return static_cast<int>(row->isError   ? Tone::Muted
                              : row->outlier ? Tone::Race
                                             : Tone::Normal);
    case BoldRole:
      return row->outlier && index.column() != RanksColumn;
    case MonospaceRole:
      return index.column() == ValueColumn && !row->isError;
    case KeyRole:
      return rankSetText(row->ranks);
    default:
      return {};
  }
}

QVariant ValuesAcrossModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal || role != Qt::DisplayRole || section < 0 ||
      section >= ColumnCount) {
    return {};
  }
  static const char* const kTitles[] = {"Value", "Count", "Ranks", "Note"};
  return QString::fromLatin1(kTitles[section]);
}

}  // namespace pf::values

#include "moc_values_across.cpp"
