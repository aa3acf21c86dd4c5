// SPDX-License-Identifier: GPL-3.0-or-later
// The classes of a trace's races in the order of every list of them, with what somebody has said of each.
#pragma once

#include <string>
#include <vector>

#include "app/replaying/report_parts.h"
#include "db/schema/trace_types.h"
#include "replay_engine/races/race_baseline.h"
#include "replay_engine/races/race_weight.h"

namespace pf::app {

struct JudgedClass {
  RankedClass ranked;
  std::string
      name;  ///< className(), or, of a trace of a former version, its places; empty: the trace has none
  std::string places;     ///< "a.c:10 <- a.c:20"
  Judged judged;          ///< by the file of known races, else by the trace
  bool isNew = false;     ///< the file of known races does not know it
  bool survives = false;  ///< the name survives edits of the program
};

/// Why it does not.
inline constexpr const char* kNoNameText =
    "the text of its lines is not known (no debug information, or the source is not there or was "
    "changed after the build)";

struct JudgedClasses {
  EventRef failed;                   ///< failing receive; not valid: the run did not fail
  std::vector<RaceWeight> weights;   ///< of each race
  std::vector<JudgedClass> classes;  ///< weightiest first, benign last
};

/// What the trace keeps of classes that somebody has judged. Damaged: its table does not verify.
Result<RaceBaseline> verdictsIn(db::TraceStore& store);

/// `known`: the file of known races; null: there is none, and no class is new.
Result<JudgedClasses> judgedClasses(Loaded& loaded, const std::vector<db::StoredRace>& races,
                                    const RaceBaseline* known);

struct Added {
  std::size_t classes = 0;  ///< that were not known
  std::size_t leftOut = 0;  ///< whose names do not survive edits: kNoNameText
};
/// Adds the classes to `baseline`, and what the trace says of them. What `baseline` says of others stays. A class that a
/// larger one stands for is not added.
Result<Added> addTo(RaceBaseline& baseline, Loaded& loaded, const JudgedClasses& classes);
/// The same of a trace.
Result<Added> addRacesTo(RaceBaseline& baseline, const std::string& trace);

}  // namespace pf::app
