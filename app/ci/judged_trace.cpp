// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ci/judged_trace.h"

#include <algorithm>
#include <set>

#include "app/collation/failure.h"
#include "app/collation/site_names.h"

namespace pf::app {
namespace {

/// CiPlaces of an execution, for reports.
class CiPlaces {
 public:
  explicit CiPlaces(const Execution& execution) : m_execution(execution), m_names(execution) {}

  CiPlace of(EventRef ref) {
    const Event& event =
        m_execution.ranks[static_cast<std::size_t>(ref.rank)].events[ref.serial - 1];
    CiPlace place;
    place.name = m_names.place(ref);
    place.call =
        event.call < m_execution.callNames.size() ? m_execution.callNames[event.call] : "?";
    if (event.site < m_execution.sites.size()) {
      const CallSite& site = m_execution.sites[event.site];
      place.function = m_names.functionOf(site);
      place.file = site.file;
      place.line = site.line;
    }
    return place;
  }

 private:
  const Execution& m_execution;
  SiteNames m_names;
};

std::vector<CiPlace> ciPlacesOf(CiPlaces& places, const Execution& execution, const Race& race) {
  std::vector<CiPlace> all{places.of(raceEvent(execution, race))};
  std::set<std::string> seen;
  const auto add = [&](std::uint32_t message) {
    if (message < execution.messages.size()) {
      CiPlace place = places.of(execution.messages[message].send);
      if (seen.insert(place.name).second) {
        all.push_back(std::move(place));
      }
    }
  };
  add(race.taken);
  std::ranges::for_each(race.alternatives, add);
  std::sort(all.begin() + 1, all.end(),
            [](const CiPlace& one, const CiPlace& other) { return one.name < other.name; });
  return all;
}

bool waitsAtTheEnd(const db::RankInfo& rank) {
  return !rank.complete &&
         (rank.state.starts_with("stuck inside ") || rank.state.starts_with("waiting inside "));
}

/// The last calls of the ranks that wait, each place once.
std::vector<CiPlace> waitPlaces(const Loaded& loaded) {
  CiPlaces places(loaded.execution);
  std::vector<CiPlace> all;
  for (const db::RankInfo& rank : loaded.store.ranks()) {
    const auto number = static_cast<std::size_t>(rank.rank);
    if (!waitsAtTheEnd(rank) || number >= loaded.execution.ranks.size() ||
        loaded.execution.ranks[number].events.empty()) {
      continue;
    }
    const Serial last = loaded.execution.ranks[number].events.size();
    all.push_back(places.of({rank.rank, last}));
  }
  std::ranges::sort(all, {}, &CiPlace::name);
  const auto same = [](const CiPlace& a, const CiPlace& b) { return a.name == b.name; };
  all.erase(std::unique(all.begin(), all.end(), same), all.end());
  return all;
}

/// Of a run that failed by itself, in a word or two.
std::string failureKind(const WhatFailed& failed, const db::TraceStore& store) {
  for (const db::RankInfo& rank : store.ranks()) {
    if (rank.rank != failed.rank) {
      continue;
    }
    if (rank.exitSignal && endedByItself(*rank.exitSignal)) {
      return "signal " + std::to_string(*rank.exitSignal);
    }
    if (rank.exitStatus && *rank.exitStatus != 0) {
      return "exit " + std::to_string(*rank.exitStatus);
    }
  }
  const std::optional<std::int32_t> status = store.run().exitStatus;
  return status && *status != 0 ? "exit " + std::to_string(*status) : "ended early";
}

}  // namespace

CiOutcome outcomeOf(const Loaded& loaded, bool wrong) {
  CiOutcome outcome;
  outcome.name = "ok";
  const std::optional<WhatFailed> failed =
      whatFailed(loaded.store.ranks(), loaded.store.run().exitStatus);
  if (!failed) {
    outcome.good = !wrong;
    outcome.name = wrong ? "wrong output" : "ok";
    outcome.sentence = wrong ? "it ended well, and the check says that it is wrong" : "";
    return outcome;
  }
  outcome.sentence = failed->sentence;
  if (!std::ranges::any_of(loaded.store.ranks(), waitsAtTheEnd) || !failed->hangs) {
    outcome.name = failureKind(*failed, loaded.store);
    return outcome;
  }
  outcome.places = waitPlaces(loaded);
  std::vector<std::string> names;
  for (const CiPlace& place : outcome.places) {
    names.push_back(place.name);
    outcome.survives = outcome.survives && !lacksLine(place.name);
  }
  outcome.name =
      className(failed->sentence.starts_with("deadlock: ") ? "deadlock" : "no progress", names);
  return outcome;
}

Result<JudgedTrace> judgeTrace(const std::string& trace, const RaceBaseline& known, bool wrong) {
  Result<Loaded> loaded = load(trace);
  if (!loaded) {
    return loaded.error();
  }
  const Result<std::vector<db::StoredRace>> races = loaded->store.races();
  if (!races) {
    return races.error();
  }
  const Result<JudgedClasses> classes = judgedClasses(*loaded, *races, &known);
  if (!classes) {
    return classes.error();
  }
  JudgedTrace judged;
  CiPlaces places(loaded->execution);
  for (const JudgedClass& each : classes->classes) {
    CiClass one;
    one.name = each.name;
    one.judged = each.judged;
    one.isNew = each.isNew;
    one.survives = each.survives;
    one.places = ciPlacesOf(places, loaded->execution, (*races)[each.ranked.first].race);
    one.weight = each.ranked.weight;
    one.races = each.ranked.races;
    one.race = each.ranked.weightiest + 1;
    judged.classes.push_back(std::move(one));
  }
  judged.outcome = outcomeOf(*loaded, wrong);
  const Judged* said = judged.outcome.survives ? known.ofOutcome(judged.outcome.name) : nullptr;
  judged.outcome.isNew = !judged.outcome.good && said == nullptr;
  judged.outcome.judged = said != nullptr ? *said : Judged{};
  return judged;
}

}  // namespace pf::app
