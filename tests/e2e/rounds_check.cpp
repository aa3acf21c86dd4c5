// SPDX-License-Identifier: GPL-3.0-or-later
// pf_rounds_check [--rounds N] [--steps N] TRACE...: recorded executions against the oracles, each
// cut into many small ones where nothing crosses (rounds.h).
//
// Of each round: its messages and its races, of the trace and found in it alone, are the
// brute-force oracle's, over all frontiers where these take no more than so many steps (--steps)
// and by the largest frontier anyway. The traces of all algorithms cover its races, are enough for
// a model replayer that reorders adversarially, and no smaller than the optimum; B traces no more
// than Netzer and Miller. Of a trace of mode races the same holds of what its ranks traced while
// they ran, which is what the algorithm traces of the round alone.
// --rounds: at least so many in all, or it is an error: what was left open keeps rounds together.
// Exit status: 0 all so, 1 not, 2 a trace cannot be read.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "app/collation/collate.h"
#include "app/collation/logs_of_trace.h"
#include "db/store/trace_store.h"
#include "replay_engine/races/races.h"
#include "replay_engine/races/tests/oracle.h"
#include "replay_engine/races/tests/tracing_checks.h"
#include "replay_engine/races/tracing.h"
#include "tests/e2e/rounds.h"
#include "tests/e2e/traced_online.h"

namespace {

using pf::check::Round;
using pf::check::Traced;

/// Events of a round, beyond which something has been left open, and kept what should be many
/// rounds together.
constexpr std::size_t kMostEvents = 500;
/// Model states that a search for a wrong replay looks at; in each round the states where one
/// receive is held back, too.
constexpr std::size_t kMostStates = 200;

struct Totals {
  std::size_t rounds = 0;
  std::size_t wildcards = 0;  ///< rounds with receives or probes of any source
  std::size_t racing = 0;     ///< rounds
  std::size_t races = 0;
  std::size_t allFrontiers = 0;  ///< rounds
  std::size_t wrong = 0;
};

/// What ranks of mode races traced.
struct Online {
  Traced traced;         ///< by the whole execution's posts
  Traced matchedProbes;  ///< likewise, and those of matched probes
  std::uint32_t algorithm = 0;
};

class RoundCheck {
 public:
  RoundCheck(const Round& round, std::size_t mostSteps)
      : m_round(round), m_execution(round.execution), m_mostSteps(mostSteps) {}

  [[nodiscard]] const std::string& wrong() const { return m_wrong; }

  void messages() {
    pf::Execution again = m_execution;
    pf::oracle::oracleMatch(again);
    bool same = again.messages.size() == m_execution.messages.size();
    for (std::size_t i = 0; same && i < again.messages.size(); ++i) {
      const pf::Message& one = again.messages[i];
      const pf::Message& other = m_execution.messages[i];
      same = one.send == other.send && one.dest == other.dest && one.post == other.post;
    }
    expect(same, "the pairing of sends and receives is not the oracle's");
    expect(pf::oracle::decided(m_execution), "the record does not say who took what");
  }

  /// `stored`: of the trace.
  void races(const std::vector<pf::Race>& stored, Totals& totals) {
    m_races = pf::findRaces(m_execution);
    const auto lines = pf::oracle::toLines(m_execution, m_races);
    const auto same = [&](const std::vector<pf::Race>& others, const char* whose) {
      expect(
          pf::oracle::toLines(m_execution, others) == lines,
          std::string("races of ") + whose + " differ\n" + pf::oracle::toText(m_execution, others));
    };
    same(stored, "the whole execution");
    same(pf::oracle::largestFrontierRaces(m_execution), "the largest frontier");
    std::size_t choosers = 1;
    bool wild = false;
    for (const pf::RankHistory& rank : m_execution.ranks) {
      choosers += rank.receives.size() + rank.probes.size();
      const auto fromAny = [](const auto& chooser) {
        return chooser.wantedSource == pf::kAnySource;
      };
      wild = wild || std::any_of(rank.receives.begin(), rank.receives.end(), fromAny) ||
             std::any_of(rank.probes.begin(), rank.probes.end(), fromAny);
    }
    const std::size_t most = m_mostSteps / choosers;
    if (most > 0 && pf::oracle::countFrontiers(m_execution, most) < most) {
      same(pf::oracle::oracleRaces(m_execution), "all frontiers");
      ++totals.allFrontiers;
    }
    ++totals.rounds;
    totals.wildcards += wild ? 1U : 0U;
    totals.racing += m_races.empty() ? 0U : 1U;
    totals.races += m_races.size();
  }

  void traces() {
    const pf::OptimalTrace optimal = pf::optimalTrace(m_execution, m_races);
    const auto traces = pf::oracle::allTraces(m_execution);
    note(pf::oracle::wrongOrder(m_execution, traces, optimal));
    for (const pf::oracle::NamedTrace& traced : traces) {
      trace(traced);
    }
  }

  void online(const Online& found) {
    const Traced here = own(found.traced);
    const Traced expected = pf::check::offline(m_execution, found.algorithm);
    for (const auto& [rank, post] : expected) {
      expect(here.count({rank, post}) != 0, "not traced while it ran: receive " +
                                                std::to_string(rank) + '.' + std::to_string(post));
    }
    for (const auto& [rank, post] : here) {
      expect(expected.count({rank, post}) != 0,
             "traced while it ran: receive " + std::to_string(rank) + '.' + std::to_string(post));
    }
    trace(withProbes(own(found.matchedProbes), found.algorithm));
  }

 private:
  void note(const std::string& wrong) {
    if (m_wrong.empty() && !wrong.empty()) {
      m_wrong = wrong;
    }
  }
  void expect(bool right, const std::string& wrong) {
    if (!right) {
      note(wrong + '\n' + pf::oracle::toText(m_execution) +
           pf::oracle::toText(m_execution, m_races));
    }
  }

  void trace(const pf::oracle::NamedTrace& traced) {
    if (m_checked.emplace(traced.trace, traced.bySource).second) {
      bool all = false;
      note(pf::oracle::wrongCover(m_execution, m_races, traced));
      note(pf::oracle::wrongReplay(m_execution, traced, kMostStates, all));
    }
  }

  /// Of the whole execution's, the round's, by its posts.
  [[nodiscard]] Traced own(const Traced& whole) const {
    Traced here;
    for (const auto& [rank, post] : whole) {
      const auto at = static_cast<std::size_t>(rank);
      const std::uint32_t mine = post - m_round.receivesBefore[at];  // wraps if it is earlier
      if (mine < m_execution.ranks[at].receives.size()) {
        here.emplace(rank, mine);
      }
    }
    return here;
  }

  /// What probes saw, matched ones too, is in every recording.
  [[nodiscard]] pf::oracle::NamedTrace withProbes(const Traced& traced,
                                                  std::uint32_t algorithm) const {
    const bool bySource = algorithm == 0 || algorithm == 4;
    pf::oracle::NamedTrace all{
        "while it ran (algorithm " + std::to_string(algorithm) + ')', {}, bySource};
    for (const auto& [rank, post] : traced) {
      all.trace.push_back({rank, post, false});
    }
    for (std::size_t i = 0; i < m_execution.ranks.size(); ++i) {
      const pf::RankHistory& history = m_execution.ranks[i];
      const auto rank = static_cast<pf::Rank>(i);
      for (std::uint32_t post = 0; post < history.receives.size(); ++post) {
        const pf::PostedReceive& receive = history.receives[post];
        if (receive.wantedSource == pf::kAnySource && traced.count({rank, post}) == 0 &&
            pf::check::isMatchedProbe(m_execution, history, receive)) {
          all.trace.push_back({rank, post, false});
        }
      }
      for (std::uint32_t probe = 0; probe < history.probes.size(); ++probe) {
        if (history.probes[probe].wantedSource == pf::kAnySource) {
          all.trace.push_back({rank, probe, true});
        }
      }
    }
    std::sort(all.trace.begin(), all.trace.end());
    return all;
  }

  const Round& m_round;
  const pf::Execution& m_execution;
  std::size_t m_mostSteps;
  std::vector<pf::Race> m_races;
  std::set<std::pair<std::vector<pf::TracedReceive>, bool>> m_checked;
  std::string m_wrong;
};

/// Nothing, with a message, if the trace cannot be read.
struct Recorded {
  pf::Execution execution;
  std::vector<pf::Race> races;
  std::optional<Online> online;
};

std::optional<Recorded> read(const std::string& path) {
  const auto fail = [&](const std::string& why) {
    std::fprintf(stderr, "%s: %s\n", path.c_str(), why.c_str());
    return std::nullopt;
  };
  auto store = pf::db::TraceStore::open(path, pf::db::TraceStore::Mode::ReadOnly);
  if (!store) {
    return fail(store.error().text());
  }
  auto logs = pf::app::readLogs(*store);
  auto execution = pf::app::loadExecution(*store);
  auto races = store->races();
  if (!logs || !execution || !races) {
    return fail((!logs ? logs.error() : !execution ? execution.error() : races.error()).text());
  }
  if (execution->ranks.size() != logs->size()) {
    return fail("the trace has no survey");
  }
  Recorded recorded{std::move(*execution), {}, {}};
  pf::matchMessages(recorded.execution);
  for (const pf::db::StoredRace& race : *races) {
    recorded.races.push_back(race.race);
  }
  if (store->run().mode == "races") {
    const auto tags = pf::collatedRoutes(*logs);
    const std::string wrong = pf::check::notOnline(*logs);
    if (!tags || !wrong.empty()) {
      return fail(tags ? wrong : tags.error().text());
    }
    recorded.online = Online{pf::check::online(recorded.execution, *logs, *tags),
                             pf::check::online(recorded.execution, *logs, *tags, true),
                             logs->front().races->algorithm};
  }
  return recorded;
}

void check(const std::string& path, const Recorded& recorded, std::size_t mostSteps,
           Totals& totals) {
  std::size_t number = 0;
  for (const Round& round : pf::check::cutIntoRounds(recorded.execution)) {
    ++number;
    std::size_t events = 0;
    for (const pf::RankHistory& rank : round.execution.ranks) {
      events += rank.events.size();
    }
    if (events > kMostEvents) {
      std::printf("%s, round %zu: of %zu events, too large to be one\n", path.c_str(), number,
                  events);
      ++totals.wrong;
      continue;
    }
    RoundCheck one(round, mostSteps);
    std::string wrong;
    const auto races = pf::check::racesOf(round, recorded.execution, recorded.races, wrong);
    one.messages();
    one.races(races.value_or(std::vector<pf::Race>{}), totals);
    one.traces();
    if (recorded.online) {
      one.online(*recorded.online);
    }
    wrong = wrong.empty() ? one.wrong() : wrong;
    if (!wrong.empty() && ++totals.wrong <= 3) {
      std::printf("%s, round %zu: %s\n", path.c_str(), number, wrong.c_str());
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  std::size_t wanted = 1;
  std::size_t mostSteps = 20'000;
  std::vector<std::string> paths;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if ((word == "--rounds" || word == "--steps") && i + 1 < argc) {
      (word == "--rounds" ? wanted : mostSteps) = std::strtoull(argv[++i], nullptr, 10);
    } else {
      paths.push_back(word);
    }
  }
  if (paths.empty() || paths.front().starts_with("--")) {
    std::fprintf(stderr, "usage: pf_rounds_check [--rounds N] [--steps N] TRACE...\n");
    return 2;
  }
  Totals totals;
  for (const std::string& path : paths) {
    const auto recorded = read(path);
    if (!recorded) {
      return 2;
    }
    check(path, *recorded, mostSteps, totals);
  }
  std::printf(
      "%zu rounds (%zu with wildcards, %zu racing), %zu races, %zu rounds over all frontiers: %zu "
      "wrong\n",
      totals.rounds, totals.wildcards, totals.racing, totals.races, totals.allFrontiers,
      totals.wrong);
  if (totals.rounds < wanted) {
    std::printf("%zu rounds are too few: %zu were asked for\n", totals.rounds, wanted);
  }
  return totals.wrong == 0 && totals.rounds >= wanted ? 0 : 1;
}
