// SPDX-License-Identifier: GPL-3.0-or-later
// What the command line prints of a trace, for people and as JSON (a
// contract).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "plugins/host/registry.h"
#include "replay_engine/base/result.h"
#include "replay_engine/execution/execution.h"
#include "replay_engine/races/race_baseline.h"

namespace pf::app {

/// photofinish info FILE [--json] [--tracing]
Result<std::string> infoReport(const std::string& trace, bool json, bool tracing = false);

/// Takes a long text piece by piece.
using TextSink = std::function<void(std::string_view text)>;

/// How a piece of a text stands out on a terminal that has colours.
enum class TextStyle : std::uint8_t { Plain, Bold, Dim, Alarm };
using StyledSink = std::function<void(std::string_view text, TextStyle style)>;

enum class RacesForm : std::uint8_t {
  Classes,  ///< classes of races, those first that most likely matter, with one race of each
  Each,  ///< every race, in the order of ranks and events, which gives `replay --until-race` its numbers
  Json  ///< both
};
/// Of RacesForm::Classes.
struct RacesText {
  std::size_t classes = 20;  ///< at most
  /// What shows more, for a person: of more classes, and of more races.
  std::string moreClasses = "--all prints every race, --json every class";
  std::string moreRaces = "--all prints every race";
};
/// The file of known races that the classes are compared with.
struct KnownRaces {
  RaceBaseline baseline;
  std::string name;            ///< of the file
  bool newOnly = false;        ///< only classes that it does not know are reported
  std::size_t newClasses = 0;  ///< out: how many it does not know
};
/// photofinish races FILE [--all] [--json], with what the judges of `plugins` say. `known` may be null.
Status racesReport(const std::string& trace, RacesForm form, const StyledSink& out,
                   const RacesText& text = {}, const plugins::Registry& plugins = {},
                   KnownRaces* known = nullptr);

/// Which events are reported.
struct EventChoice {
  std::optional<Rank> rank = {};  ///< nothing: of all
  Serial first = 1;
  std::uint64_t most = UINT64_MAX;  ///< of each rank
};
/// photofinish events FILE [--rank R] [--json]
Status eventsReport(const std::string& trace, const EventChoice& choice, bool json,
                    const TextSink& out);

struct DiffReport {
  std::string text;
  bool same = false;
};
/// photofinish diff A B [--all] [--json]. Usage where they cannot be compared: other programs or ranks.
Result<DiffReport> diffReport(const std::string& a, const std::string& b, bool json,
                              bool all = false);

/// The first difference of a rank, in words.
struct DifferenceLine {
  Rank rank = kUnknownRank;
  Serial serial = 0;   ///< 0: at no event
  bool cause = false;  ///< a first cause (replay_engine/comparison/difference.h)
  std::string what;    ///< "MPI_Recv (any source, tag 4) at a.c:80, 2nd receive of tag 4 on …"
  std::string a;       ///< what happened there in A
  std::string b;
  std::string why;  ///< what it reaches, or follows from
};

/// A difference that follows from no other: an event of A beside one of B.
struct AlignedLine {
  Rank rank = kUnknownRank;
  Serial serialA = 0;  ///< 0: in the other only
  Serial serialB = 0;
  std::string weight;  ///< "first", "before failure", "other"
  std::string what;
  std::string a;
  std::string b;
  std::string why;  ///< how many follow
};

struct DifferenceTable {
  std::vector<DifferenceLine> lines;  ///< first causes first
  std::vector<AlignedLine> aligned;   ///< all that follow from no other, weightiest first
  std::size_t alignedLeftOut = 0;     ///< beyond the first thousand
  std::vector<Serial>
      coneA;  ///< by rank the first event that differs in A or follows from that; 0 = none
  std::vector<Serial> coneB;
  bool same = false;
  bool sameBuild = true;
};

/// As diffReport(), for a window.
Result<DifferenceTable> differenceTable(const std::string& a, const std::string& b);

}  // namespace pf::app
