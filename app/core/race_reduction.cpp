#include "race_reduction.h"

#include <algorithm>

namespace pf::app {
namespace {

std::pair<std::uint32_t, std::uint32_t> exchanged(const RankLog& log, std::size_t with) {
  return with < log.races->exchanged.size() ? log.races->exchanged[with]
                                            : std::pair<std::uint32_t, std::uint32_t>();
}

/// Whether every message that was sent to this rank was received.
bool receivedAll(const std::vector<RankLog>& logs, std::size_t rank) {
  for (std::size_t from = 0; from < logs.size(); ++from) {
    if (exchanged(logs[from], rank).first != exchanged(logs[rank], from).second) {
      return false;
    }
  }
  return true;
}

bool tracesReceives(const std::string& algorithm) {
  return algorithm == "meehan" || algorithm == "naive";
}

}  // namespace

Result<RaceReduction> reduceToRaces(const std::vector<RankLog>& logs,
                                    std::map<Rank, std::vector<unsigned char>>& files) {
  RaceReduction out;
  const auto looked = [](const RankLog& log) { return log.races.has_value(); };
  const auto first = std::ranges::find_if(logs, looked);
  if (first == logs.end()) {
    return out;
  }
  out.races = true;
  out.algorithm = first->races->algorithm < kAlgorithms.size()
                      ? kAlgorithms[first->races->algorithm]
                      : "an unknown algorithm";
  const bool whole =
      std::ranges::all_of(logs, [&](const RankLog& log) { return looked(log) && log.complete; });
  if (!whole) {
    out.why = "the run is cut, and a replay of what was under way needs every source";
  }
  for (std::size_t i = 0; i < logs.size(); ++i) {
    const RankLog& log = logs[i];
    std::uint64_t kept = log.wildSources.size();
    const std::uint64_t wildcards = log.races ? log.races->wildcards : kept;
    if (whole && tracesReceives(out.algorithm) && !receivedAll(logs, i)) {
      out.why = "rank " + std::to_string(log.rank) + " left a message unreceived";
    } else if (whole && tracesReceives(out.algorithm)) {
      Result<std::vector<unsigned char>> less = reduceLog(files[log.rank], log.races->kept);
      if (!less) {
        return less.error();
      }
      files[log.rank] = std::move(*less);
      kept = static_cast<std::uint64_t>(std::ranges::count(log.races->kept, true));
    }
    out.threads = out.threads || log.lanes.size() > 1;
    out.wildcards += wildcards;
    out.kept += kept;
    out.found += log.races ? log.races->found : 0;
    if (log.races) {
      out.counters.push_back(
          {log.rank, kRacingFoundBy + out.algorithm, static_cast<std::int64_t>(log.races->found)});
    }
    out.counters.push_back({log.rank, "wildcard receives", static_cast<std::int64_t>(wildcards)});
    out.counters.push_back({log.rank, kSourcesKept, static_cast<std::int64_t>(kept)});
  }
  return out;
}

}  // namespace pf::app
