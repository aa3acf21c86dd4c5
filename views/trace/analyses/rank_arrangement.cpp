// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/trace/analyses/rank_arrangement.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>
#include <numeric>

#include "views/values/text.h"

namespace pf::views {
namespace {

using nlohmann::json;

constexpr const char* kOrders[] = {"number", "waiting", "racing", "host"};

QList<int> ascending(QList<int> ranks) {
  std::sort(ranks.begin(), ranks.end());
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  return ranks;
}

QList<int> ranksBelow(const QString& text, int rankCount) {
  bool ok = false;
  QList<int> ranks = parseRankSet(text, ok);
  ranks.removeIf([rankCount](int rank) { return rank < 0 || rank >= rankCount; });
  return ok ? ascending(ranks) : QList<int>();
}

/// All ranks, in the order that was chosen.
std::vector<Rank> inOrder(const TraceIndex& trace, RankOrder order) {
  std::vector<Rank> ranks(trace.rankCount());
  std::iota(ranks.begin(), ranks.end(), 0);
  if (order == RankOrder::Waiting || order == RankOrder::Racing) {
    const std::vector<std::uint64_t> most =
        order == RankOrder::Waiting ? stepsWaited(trace) : racesOfRanks(trace);
    std::stable_sort(ranks.begin(), ranks.end(),
                     [&](Rank a, Rank b) { return most[index(a)] > most[index(b)]; });
  } else if (order == RankOrder::Host) {
    const auto& hosts = trace.data().hosts;
    const auto host = [&](Rank rank) {
      return index(rank) < hosts.size() ? hosts[index(rank)] : QString();
    };
    std::stable_sort(ranks.begin(), ranks.end(), [&](Rank a, Rank b) { return host(a) < host(b); });
  }
  return ranks;
}

}  // namespace

void RankArrangement::hide(const QList<int>& ranks) {
  hidden = ascending(hidden + ranks);
}

void RankArrangement::showOnly(const QList<int>& ranks, int rankCount) {
  hidden.clear();
  const QList<int> shown = ascending(ranks);
  for (int rank = 0; rank < rankCount; ++rank) {
    if (!std::binary_search(shown.begin(), shown.end(), rank)) {
      hidden.append(rank);
    }
  }
}

void RankArrangement::collapse(const RankGroup& group) {
  const auto inGroup = [&group](int rank) { return group.ranks.contains(rank); };
  hidden.removeIf(inGroup);
  expand(group.name);
  for (RankGroup& sharedRow : sharedRows) {
    sharedRow.ranks.removeIf(inGroup);
  }
  sharedRows.removeIf([](const RankGroup& sharedRow) { return sharedRow.ranks.isEmpty(); });
  sharedRows.append({group.name, ascending(group.ranks)});
}

void RankArrangement::expand(const QString& sharedRow) {
  sharedRows.removeIf([&sharedRow](const RankGroup& one) { return one.name == sharedRow; });
}

RankRows::RankRows(std::vector<RankRow> rows, std::size_t rankCount)
    : m_rows(std::move(rows)), m_rowOf(rankCount, -1) {
  for (std::size_t row = 0; row < m_rows.size(); ++row) {
    for (const Rank rank : m_rows[row].ranks) {
      m_rowOf[index(rank)] = static_cast<int>(row);
    }
  }
}

RankRowsPtr arrangedRows(const TraceIndex& trace, const RankArrangement& arrangement) {
  if (arrangement.isPlain()) {
    return nullptr;
  }
  std::vector<RankRow> rows;
  std::map<QString, std::size_t> sharedRows;
  for (const Rank rank : inOrder(trace, arrangement.order)) {
    if (std::binary_search(arrangement.hidden.begin(), arrangement.hidden.end(), rank)) {
      continue;
    }
    const auto sharedRow =
        std::find_if(arrangement.sharedRows.begin(), arrangement.sharedRows.end(),
                     [rank](const RankGroup& one) { return one.ranks.contains(rank); });
    if (sharedRow == arrangement.sharedRows.end()) {
      rows.push_back({{}, {rank}});
      continue;
    }
    const auto [known, isNew] = sharedRows.emplace(sharedRow->name, rows.size());
    if (isNew) {
      rows.push_back({sharedRow->name, {}});
    }
    rows[known->second].ranks.push_back(rank);
  }
  for (RankRow& row : rows) {
    std::sort(row.ranks.begin(), row.ranks.end());
  }
  return std::make_shared<const RankRows>(std::move(rows), trace.rankCount());
}

std::vector<std::uint64_t> stepsWaited(const TraceIndex& trace) {
  std::vector<std::uint64_t> waited(trace.rankCount(), 0);
  for (std::size_t rank = 0; rank < waited.size(); ++rank) {
    std::uint32_t before = 0;
    const EventSteps times = trace.times().of(static_cast<Rank>(rank));
    if (trace.pages() != nullptr) {  // each event takes a step, but those of threads at once
      waited[rank] =
          times.empty() ? 0 : times.back() - std::min<std::uint64_t>(times.back(), times.size());
      continue;
    }
    for (std::size_t i = 0; i < times.size(); ++i) {
      const std::uint32_t time = times[i];
      waited[rank] += time > before + 1 ? time - before - 1 : 0;
      before = time;
    }
  }
  return waited;
}

std::vector<std::uint64_t> racesOfRanks(const TraceIndex& trace) {
  std::vector<std::uint64_t> races(trace.rankCount(), 0);
  for (std::size_t race = 0; race < trace.data().races.size(); ++race) {
    const Rank rank = trace.data().races.rank(race);
    if (rank >= 0 && index(rank) < races.size()) {
      ++races[index(rank)];
    }
  }
  return races;
}

QString rowOrderText(RankOrder order) {
  return QString::fromLatin1(kOrders[static_cast<int>(order)]);
}

RankArrangement arrangementFrom(const QString& hidden,
                                const QList<std::pair<QString, QString>>& sharedRows,
                                const QString& order, int rankCount) {
  RankArrangement out;
  for (const auto& [name, text] : sharedRows) {
    const QList<int> ranks = ranksBelow(text, rankCount);
    if (!ranks.isEmpty() && !name.isEmpty()) {
      out.collapse({name, ranks});
    }
  }
  out.hidden = ranksBelow(hidden, rankCount);
  for (int each = 0; each < 4; ++each) {
    if (order == QLatin1String(kOrders[each])) {
      out.order = static_cast<RankOrder>(each);
    }
  }
  return out;
}

QString arrangementText(const RankArrangement& arrangement) {
  json sharedRows = json::array();
  for (const RankGroup& row : arrangement.sharedRows) {
    sharedRows.push_back(
        {{"name", row.name.toStdString()}, {"ranks", rankSetText(row.ranks).toStdString()}});
  }
  const json all{
      {"hidden", arrangement.hidden.isEmpty() ? std::string()
                                              : rankSetText(arrangement.hidden).toStdString()},
      {"sharedRows", sharedRows},
      {"order", rowOrderText(arrangement.order).toStdString()}};
  return fromUtf8(all.dump());
}

RankArrangement arrangementOf(const QString& text, int rankCount) {
  const json all = json::parse(text.toStdString(), nullptr, false);
  const auto textIn = [](const json& object, const char* name) {
    const bool there = object.is_object() && object.contains(name) && object[name].is_string();
    return there ? fromUtf8(object[name].get<std::string>()) : QString();
  };
  QList<std::pair<QString, QString>> sharedRows;
  if (all.is_object() && all.contains("sharedRows")) {
    for (const json& row : all["sharedRows"]) {
      sharedRows.append({textIn(row, "name"), textIn(row, "ranks")});
    }
  }
  return arrangementFrom(textIn(all, "hidden"), sharedRows, textIn(all, "order"), rankCount);
}

}  // namespace pf::views
