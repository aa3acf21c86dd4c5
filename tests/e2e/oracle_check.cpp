// SPDX-License-Identifier: GPL-3.0-or-later
// pf_oracle_check TRACE: are the races that a trace holds those that the brute-force oracle finds?
// Exit status: 0 equal, 1 not, 2 the trace cannot be read.
#include <cstdio>
#include <map>
#include <set>
#include <string>

#include "app/collation/collate.h"
#include "app/collation/logs_of_trace.h"
#include "db/store/trace_store.h"
#include "replay_engine/races/tests/oracle.h"

namespace {

/// All frontiers are visited for each receive and probe up to this many steps; beyond it, the largest one only.
constexpr std::size_t kMostSteps = 4'000'000;

std::size_t frontierSteps(const pf::Execution& execution) {
  std::size_t frontiers = 1;
  std::size_t choosers = 1;
  for (const pf::RankHistory& rank : execution.ranks) {
    std::map<std::uint32_t, std::size_t> eventsOf;  // by thread
    for (const pf::Event& event : rank.events) {
      ++eventsOf[event.lane];
    }
    for (const auto& [lane, events] : eventsOf) {
      frontiers *= frontiers <= kMostSteps ? events + 1 : 1;
    }
    choosers += rank.receives.size() + rank.probes.size();
    if (frontiers > kMostSteps) {
      return frontiers;
    }
  }
  return frontiers * choosers;
}

bool same(const char* oracle, const std::set<std::string>& expected,
          const std::set<std::string>& stored) {
  for (const std::string& race : expected) {
    if (stored.count(race) == 0) {
      std::printf("missed (%s): %s\n", oracle, race.c_str());
    }
  }
  for (const std::string& race : stored) {
    if (expected.count(race) == 0) {
      std::printf("invented (%s): %s\n", oracle, race.c_str());
    }
  }
  return expected == stored;
}

bool sameMessages(const pf::Execution& execution) {
  pf::Execution again = execution;
  pf::oracle::oracleMatch(again);
  std::size_t differ = again.messages.size() == execution.messages.size() ? 0 : 1;
  for (std::size_t i = 0; differ == 0 && i < again.messages.size(); ++i) {
    const pf::Message& one = again.messages[i];
    const pf::Message& other = execution.messages[i];
    differ += one.send != other.send || one.dest != other.dest || one.post != other.post ? 1U : 0U;
  }
  if (differ != 0) {
    std::printf("the pairing of sends and receives is not the oracle's\n");
  }
  return differ == 0;
}

/// Which thread called, and what orders them, stands in the logs only.
void addThreads(pf::db::TraceStore& store, pf::Execution& execution) {
  const auto logged = pf::app::loadExecution(store);
  for (std::size_t rank = 0; logged && rank < execution.ranks.size(); ++rank) {
    const pf::RankHistory& from = logged->ranks[rank];
    pf::RankHistory& history = execution.ranks[rank];
    for (std::size_t i = 0; i < history.events.size() && i < from.events.size(); ++i) {
      history.events[i].lane = from.events[i].lane;
    }
    history.threadLinks = from.threadLinks;
  }
}

int check(const std::string& path) {
  auto store = pf::db::TraceStore::open(path, pf::db::TraceStore::Mode::ReadOnly);
  if (!store) {
    std::fprintf(stderr, "%s\n", store.error().text().c_str());
    return 2;
  }
  auto execution = store->readExecution();
  auto races = store->races();
  if (!execution || !races) {
    std::fprintf(stderr, "%s\n", (execution ? races.error() : execution.error()).text().c_str());
    return 2;
  }
  addThreads(*store, *execution);
  if (!pf::oracle::decided(*execution)) {
    std::printf(
        "oracle: the record does not say who took what (a rank ended inside a receive): not "
        "compared\n");
    return 0;
  }
  std::vector<pf::Race> stored;
  std::size_t events = 0;
  for (const pf::db::StoredRace& race : *races) {
    stored.push_back(race.race);
  }
  for (const pf::RankHistory& rank : execution->ranks) {
    events += rank.events.size();
  }
  const std::set<std::string> lines = pf::oracle::toLines(*execution, stored);
  bool equal = sameMessages(*execution);
  equal =
      same("largest frontier",
           pf::oracle::toLines(*execution, pf::oracle::largestFrontierRaces(*execution)), lines) &&
      equal;
  const bool brute = frontierSteps(*execution) <= kMostSteps;
  if (brute) {
    equal = same("all frontiers",
                 pf::oracle::toLines(*execution, pf::oracle::oracleRaces(*execution)), lines) &&
            equal;
  }
  std::printf("oracle: %zu events, %zu races: %s (%s)\n", events, stored.size(),
              equal ? "equal" : "NOT EQUAL",
              brute ? "all frontiers" : "largest frontier only: too many for all");
  return equal ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: pf_oracle_check TRACE\n");
    return 2;
  }
  return check(argv[1]);
}
