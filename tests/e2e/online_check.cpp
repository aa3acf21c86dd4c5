// pf_online_check [--at-least] TRACE: are the deliveries that the ranks traced while they ran (record --mode races) those that
// core's tracing algorithms, run offline on the surveyed execution, trace? The ranks do not follow that a synchronous
// send has come back, so the execution is looked at without that.
// Those that are messages must also be named as the pairing of the survey names them.
// --at-least: they may have traced more (clocks came as messages, which may be late), by Meehan's algorithm.
// Exit status: 0 equal, 1 not, 2 the trace cannot be read.
#include "log/rank_log.h"
#include "log/tags.h"

#include <cstdio>
#include <cstring>
#include <optional>
#include <set>
#include <string>

#include "app/collate.h"
#include "core/tracing.h"
#include "db/trace_store.h"

namespace {

using Traced = std::set<std::pair<pf::Rank, std::uint32_t>>;  // rank, post

constexpr pf::TracingAlgorithm kAlgorithms[] = {pf::TracingAlgorithm::Meehan, pf::TracingAlgorithm::NetzerMiller,
                                                pf::TracingAlgorithm::AlgorithmA, pf::TracingAlgorithm::AlgorithmB,
                                                pf::TracingAlgorithm::Naive};

bool isMatchedProbe(const pf::Execution& execution, const pf::RankHistory& history, const pf::PostedReceive& receive) {
  const std::string& call = execution.callNames[history.events[receive.post - 1].call];
  return call == "MPI_Mprobe" || call == "MPI_Improbe";
}

/// By post, of the receives whose source is a choice of its own (those of matched probes are in every trace).
Traced online(const pf::Execution& execution, const std::vector<pf::RankLog>& logs, const pf::Tags& tags) {
  Traced traced;
  for (const pf::RankLog& log : logs) {
    const pf::RankHistory& history = execution.ranks[static_cast<std::size_t>(log.rank)];
    for (const pf::TracedDelivery& delivery : log.traced) {
      if (delivery.post < history.receives.size() && !isMatchedProbe(execution, history, history.receives[delivery.post])) {
        traced.emplace(log.rank, delivery.post);
      }
    }
    for (const pf::ScheduleTag& tag : tags.ranks[static_cast<std::size_t>(log.rank)].receives) {
      if (tag.post < history.receives.size() && !isMatchedProbe(execution, history, history.receives[tag.post])) {
        traced.emplace(log.rank, tag.post);
      }
    }
    std::uint32_t wild = 0;
    for (std::uint32_t post = 0; post < history.receives.size(); ++post) {
      const pf::PostedReceive& receive = history.receives[post];
      if (receive.wantedSource == pf::kAnySource && !isMatchedProbe(execution, history, receive)) {
        if (wild < log.races->kept.size() && log.races->kept[wild]) {
          traced.emplace(log.rank, post);
        }
        ++wild;
      }
    }
  }
  return traced;
}

Traced offline(const pf::Execution& execution, std::uint32_t algorithm) {
  Traced traced;
  for (const pf::TracedReceive& each : algorithm >= pf::kWindowAlgorithm
                                           ? pf::traceWithWindow(algorithm - pf::kWindowAlgorithm, execution)
                                           : pf::traceWith(kAlgorithms[algorithm], pf::TracingRules::Mpi, execution)) {
    const pf::RankHistory& history = execution.ranks[static_cast<std::size_t>(each.rank)];
    if (!each.probe && !isMatchedProbe(execution, history, history.receives[each.receive])) {
      traced.emplace(each.rank, each.receive);
    }
  }
  return traced;
}

template <typename T>
bool sameBytes(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0);
}

/// Whether the messages that the trace names, and those that probes saw, are the survey's.
bool named(const pf::Execution& execution, const pf::Tags& tags) {
  std::vector<std::optional<std::vector<std::uint32_t>>> posts(tags.ranks.size());
  for (std::size_t i = 0; i < posts.size(); ++i) {
    posts[i].emplace();
    for (const pf::ScheduleTag& tag : tags.ranks[i].receives) {
      posts[i]->push_back(tag.post);
    }
  }
  const pf::Tags survey = pf::tagsOf(execution, posts);
  bool same = true;
  for (std::size_t i = 0; i < posts.size(); ++i) {
    const pf::RankTags& a = tags.ranks[i];
    const pf::RankTags& b = survey.ranks[i];
    const bool equal = sameBytes(a.receives, b.receives) && sameBytes(a.streams, b.streams) && sameBytes(a.sends, b.sends) &&
                       sameBytes(a.seen, b.seen);
    if (!equal) {
      std::printf("rank %zu: its messages have other names in the survey\n", i);
    }
    same = same && equal;
  }
  return same;
}

std::size_t lacks(const char* what, const Traced& one, const Traced& other) {
  std::size_t lacking = 0;
  for (const auto& [rank, post] : one) {
    if (other.count({rank, post}) == 0) {
      std::printf("%s: rank %d, receive %u\n", what, rank, post);
      ++lacking;
    }
  }
  return lacking;
}

int check(const std::string& path, bool atLeast) {
  auto store = pf::db::TraceStore::open(path, pf::db::TraceStore::Mode::ReadOnly);
  if (!store) {
    std::fprintf(stderr, "%s\n", store.error().text().c_str());
    return 2;
  }
  auto logs = pf::app::readLogs(*store);
  auto execution = pf::app::loadExecution(*store);
  if (!logs || !execution) {
    std::fprintf(stderr, "%s\n", (logs ? execution.error() : logs.error()).text().c_str());
    return 2;
  }
  for (const pf::RankLog& log : *logs) {
    if (!log.races || (log.races->algorithm >= std::size(kAlgorithms) && log.races->algorithm < pf::kWindowAlgorithm)) {
      std::fprintf(stderr, "rank %d: not a whole log of mode races\n", log.rank);
      return 2;
    }
  }
  if (execution->ranks.size() != logs->size()) {
    std::fprintf(stderr, "the trace has no survey\n");
    return 2;
  }
  pf::matchMessages(*execution);
  const std::uint32_t algorithm = logs->front().races->algorithm;
  const auto tags = pf::collatedTags(*logs);
  if (!tags) {
    std::fprintf(stderr, "%s\n", tags.error().text().c_str());
    return 2;
  }
  const Traced found = online(*execution, *logs, *tags);
  const bool rightNames = named(*execution, *tags);
  for (pf::RankHistory& rank : execution->ranks) {
    for (pf::SentMessage& send : rank.sends) {
      send.synchronous = false;
      send.syncCompletion = 0;
    }
  }
  const Traced expected = offline(*execution, algorithm);
  const std::size_t wrong = lacks("missed", expected, found) + (atLeast ? 0 : lacks("invented", found, expected));
  std::printf("online: %zu traced while it ran, %zu offline: %s\n", found.size(), expected.size(),
              wrong != 0 ? "NOT EQUAL" : found == expected ? "equal" : "more");
  return wrong == 0 && rightNames ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  const bool atLeast = argc == 3 && std::string(argv[1]) == "--at-least";
  if (argc != (atLeast ? 3 : 2)) {
    std::fprintf(stderr, "usage: pf_online_check [--at-least] TRACE\n");
    return 2;
  }
  return check(argv[argc - 1], atLeast);
}
