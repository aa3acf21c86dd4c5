// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/e2e/traced_online.h"

#include <iterator>

#include "replay_engine/log_format/log_format.h"
#include "replay_engine/races/tracing.h"

namespace pf::check {
namespace {

constexpr TracingAlgorithm kAlgorithms[] = {
    TracingAlgorithm::Meehan, TracingAlgorithm::NetzerMiller, TracingAlgorithm::AlgorithmA,
    TracingAlgorithm::AlgorithmB, TracingAlgorithm::Naive};

}  // namespace

std::string notOnline(const std::vector<RankLog>& logs) {
  for (const RankLog& log : logs) {
    if (!log.races || (log.races->algorithm >= std::size(kAlgorithms) &&
                       log.races->algorithm < kWindowAlgorithm)) {
      return "rank " + std::to_string(log.rank) + ": not a whole log of mode races";
    }
  }
  return {};
}

bool isMatchedProbe(const Execution& execution, const RankHistory& history,
                    const PostedReceive& receive) {
  const std::string& call = execution.callNames[history.events[receive.post - 1].call];
  return call == "MPI_Mprobe" || call == "MPI_Improbe";
}

Traced online(const Execution& execution, const std::vector<RankLog>& logs,
              const ShadowRoutes& tags, bool matchedProbes) {
  Traced traced;
  const auto add = [&](Rank rank, const RankHistory& history, std::uint32_t post) {
    if (post < history.receives.size() &&
        (matchedProbes || !isMatchedProbe(execution, history, history.receives[post]))) {
      traced.emplace(rank, post);
    }
  };
  for (const RankLog& log : logs) {
    const RankHistory& history = execution.ranks[static_cast<std::size_t>(log.rank)];
    for (const TracedDelivery& delivery : log.traced) {
      add(log.rank, history, delivery.post);
    }
    for (const ScheduleRoute& tag : tags.ranks[static_cast<std::size_t>(log.rank)].receives) {
      add(log.rank, history, tag.post);
    }
    std::uint32_t wild = 0;
    for (std::uint32_t post = 0; post < history.receives.size(); ++post) {
      const PostedReceive& receive = history.receives[post];
      if (receive.wantedSource == kAnySource && !isMatchedProbe(execution, history, receive)) {
        if (wild < log.races->kept.size() && log.races->kept[wild]) {
          traced.emplace(log.rank, post);
        }
        ++wild;
      }
    }
  }
  return traced;
}

Traced offline(Execution execution, std::uint32_t algorithm) {
  for (RankHistory& rank : execution.ranks) {
    for (SentMessage& send : rank.sends) {
      send.synchronous = false;
      send.syncCompletion = 0;
    }
  }
  Traced traced;
  for (const TracedReceive& each :
       algorithm >= kWindowAlgorithm
           ? traceWithWindow(algorithm - kWindowAlgorithm, execution)
           : traceWith(kAlgorithms[algorithm], TracingRules::Mpi, execution)) {
    const RankHistory& history = execution.ranks[static_cast<std::size_t>(each.rank)];
    if (!each.probe && !isMatchedProbe(execution, history, history.receives[each.receive])) {
      traced.emplace(each.rank, each.receive);
    }
  }
  return traced;
}

}  // namespace pf::check
