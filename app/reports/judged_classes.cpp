// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/reports/judged_classes.h"

#include <algorithm>

#include "app/collation/failure.h"
#include "replay_engine/races/race_classes.h"

namespace pf::app {

Result<RaceBaseline> verdictsIn(db::TraceStore& store) {
  const Result<std::vector<db::JudgedRace>> rows = store.session().all<db::JudgedRace>();
  if (!rows) {
    return rows.error();
  }
  RaceBaseline verdicts;
  for (const db::JudgedRace& row : *rows) {
    if (const std::optional<RaceVerdict> verdict = verdictOf(row.verdict)) {
      verdicts.setClass(row.raceClass, {*verdict, row.reason});
    }
  }
  return verdicts;
}

Result<JudgedClasses> judgedClasses(Loaded& loaded, const std::vector<db::StoredRace>& stored,
                                    const RaceBaseline* known) {
  const Result<RaceBaseline> verdicts = verdictsIn(loaded.store);
  if (!verdicts) {
    return verdicts.error();
  }
  JudgedClasses all;
  all.failed = failingReceive(loaded.store.ranks(), loaded.execution).value_or(EventRef{});
  all.weights = weighRaces(loaded.execution, all.failed, stored.size(),
                           [&stored](std::size_t i) -> const Race& { return stored[i].race; });
  std::vector<Race> races;
  races.reserve(stored.size());
  for (const db::StoredRace& each : stored) {
    races.push_back(each.race);
  }
  for (const RankedClass& ranked :
       rankClasses(classesOfRaces(loaded.execution, races), all.weights)) {
    JudgedClass one;
    one.ranked = ranked;
    one.name = stored[ranked.first].raceClass;
    one.places = racePlaces(loaded.execution, stored[ranked.first].race);
    one.survives = survivesEdits(one.name);
    const Judged* byFile = known != nullptr ? known->ofClass(one.name) : nullptr;
    const bool isKnown = byFile != nullptr && one.survives;
    one.isNew = known != nullptr && !isKnown;
    if (const Judged* said = isKnown ? byFile : verdicts->ofClass(one.name)) {
      one.judged = *said;
    }
    all.classes.push_back(std::move(one));
  }
  std::stable_partition(all.classes.begin(), all.classes.end(), [](const JudgedClass& one) {
    return one.judged.verdict != RaceVerdict::Benign;
  });
  return all;
}

Result<Added> addTo(RaceBaseline& baseline, Loaded& loaded, const JudgedClasses& classes) {
  const Result<RaceBaseline> verdicts = verdictsIn(loaded.store);
  if (!verdicts) {
    return verdicts.error();
  }
  Added added;
  std::vector<std::string> names;
  for (const JudgedClass& one : classes.classes) {
    names.push_back(one.name);
    added.leftOut += one.survives ? 0 : 1;
  }
  added.classes = baseline.add(std::move(names), *verdicts);
  return added;
}

}  // namespace pf::app
