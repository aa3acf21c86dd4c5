// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/models/cycle_comparison.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "views/values/roles.h"
#include "views/values/text.h"

namespace pf::views {
namespace {

struct HitPair {
  const BreakpointHit* first = nullptr;
  const BreakpointHit* second = nullptr;
};
using HitKey = std::tuple<int, Rank, int>;  // breakpoint, rank, which

void sortIn(const QList<BreakpointHit>& hits, std::map<HitKey, HitPair>& pairs,
            const BreakpointHit* HitPair::*side) {
  std::map<std::pair<int, Rank>, int> counts;
  for (const BreakpointHit& hit : hits) {
    const int number = ++counts[{hit.breakpoint, hit.rank}];
    pairs[{hit.breakpoint, hit.rank, number}].*side = &hit;
  }
}

QString valueOf(const BreakpointHit* hit, const QString& expression) {
  if (hit != nullptr) {
    for (const WatchedValue& value : hit->values) {
      if (value.expression == expression) {
        return value.value;
      }
    }
  }
  return {};
}

QStringList expressionsOf(const HitPair& pair) {
  QStringList expressions;
  for (const BreakpointHit* hit : {pair.first, pair.second}) {
    for (const WatchedValue& value : hit != nullptr ? hit->values : QList<WatchedValue>()) {
      if (!expressions.contains(value.expression)) {
        expressions << value.expression;
      }
    }
  }
  return expressions;
}

bool ran(const Cycle& cycle, Rank rank) {
  return cycle.ranks.isEmpty() || cycle.ranks.contains(rank);
}

QString ranksOf(const Cycle& cycle) {
  return cycle.ranks.isEmpty() ? u"all"_s : rankSetText(cycle.ranks);
}

QString serialOf(const BreakpointHit* hit) {
  return hit == nullptr ? QString() : QString::number(hit->serial);
}

}  // namespace

QList<ComparedRow> compareCycles(const Cycle& first, const Cycle& second) {
  QList<ComparedRow> rows{{u"build"_s, {}, first.build, second.build, {}},
                          {u"stopped"_s, {}, first.summary, second.summary, {}}};
  if (!first.divergence.isEmpty() || !second.divergence.isEmpty()) {
    rows.append({u"divergence"_s, {}, first.divergence, second.divergence, {}});
  }
  if (!first.ranks.isEmpty() || !second.ranks.isEmpty()) {
    rows.append({u"ranks"_s, {}, ranksOf(first), ranksOf(second), {}});
  }
  std::map<HitKey, HitPair> pairs;
  sortIn(first.recorded, pairs, &HitPair::first);
  sortIn(second.recorded, pairs, &HitPair::second);
  for (const auto& [key, pair] : pairs) {
    const auto& [breakpoint, rank, number] = key;
    if (!ran(first, rank) || !ran(second, rank)) {
      continue;
    }
    const QString what = u"breakpoint %1, rank %2, hit %3"_s.arg(breakpoint).arg(rank).arg(number);
    const EventRef event{rank, pair.first != nullptr ? pair.first->serial : pair.second->serial};
    rows.append({what, u"event"_s, serialOf(pair.first), serialOf(pair.second), event});
    for (const QString& expression : expressionsOf(pair)) {
      rows.append({what, expression, valueOf(pair.first, expression),
                   valueOf(pair.second, expression), event});
    }
  }
  return rows;
}

void CycleComparisonModel::setCycles(const Cycle& first, const Cycle& second) {
  m_all = compareCycles(first, second);
  m_first = u"Cycle %1"_s.arg(first.number);
  m_second = u"Cycle %1"_s.arg(second.number);
  show();
}

void CycleComparisonModel::setOnlyDifferences(bool only) {
  m_only = only;
  show();
}

int CycleComparisonModel::differences() const {
  return toInt(std::count_if(m_all.begin(), m_all.end(),
                             [](const ComparedRow& row) { return row.differs(); }));
}

void CycleComparisonModel::show() {
  beginResetModel();
  m_shown = m_all;
  if (m_only) {
    m_shown.removeIf([](const ComparedRow& row) { return !row.differs(); });
  }
  endResetModel();
}

int CycleComparisonModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : toInt(m_shown.size());
}

int CycleComparisonModel::columnCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : ColumnCount;
}

QVariant CycleComparisonModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid() || index.row() >= rowCount()) {
    return {};
  }
  const ComparedRow& row = m_shown[index.row()];
  const QString& side = index.column() == FirstColumn ? row.first : row.second;
  switch (role) {
    case Qt::DisplayRole:
      return index.column() == WhatColumn    ? row.what
             : index.column() == ValueColumn ? oneLine(row.value)
             : side.isEmpty()                ? u"–"_s
                                             : oneLine(side);
    case Qt::ToolTipRole:
      return index.column() >= FirstColumn ? QVariant(side.left(4000)) : QVariant();
    case ToneRole:
      return static_cast<int>(row.differs() ? Tone::Changed : Tone::Muted);
    case BoldRole:
      return row.differs() && index.column() >= FirstColumn;
    case MonospaceRole:
      return index.column() >= ValueColumn && row.event.valid();
    default:
      return {};
  }
}

QVariant CycleComparisonModel::headerData(int section, Qt::Orientation orientation,
                                          int role) const {
  if (orientation != Qt::Horizontal || role != Qt::DisplayRole) {
    return {};
  }
  const QString titles[] = {u"What"_s, u"Value"_s, m_first, m_second};
  return section >= 0 && section < ColumnCount ? QVariant(titles[section]) : QVariant();
}

}  // namespace pf::views

#include "moc_cycle_comparison.cpp"
