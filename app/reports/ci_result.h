// SPDX-License-Identifier: GPL-3.0-or-later
// What 'photofinish ci' found, and how it is told: as text, SARIF, JUnit XML, Markdown.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "replay_engine/base/result.h"
#include "replay_engine/races/race_baseline.h"
#include "replay_engine/races/race_weight.h"

namespace pf::app {

/// A place in the program.
struct CiPlace {
  std::string call;  ///< "MPI_Recv"
  std::string function;
  std::string file;  ///< path; empty: not known
  std::int32_t line = 0;
  std::string name;  ///< placeName()
};

/// A class of races, or an outcome, of all runs together.
struct CiFinding {
  std::string name;  ///< as RaceBaseline has it
  Judged judged;
  bool isNew = false;    ///< the file of known races does not know it
  bool survives = true;  ///< its name survives edits: else no file can know it
  std::vector<CiPlace>
      places;  ///< of a class first the receive, then the sends; of an outcome where it waited
  std::size_t runs = 0;      ///< in which it was seen
  std::size_t firstRun = 0;  ///< from 1
  std::string trace;         ///< of that run, as long as it is kept; empty: it is not
};

struct CiClass : CiFinding {
  RaceWeight weight = RaceWeight::Other;  ///< the weightiest of all runs
  std::size_t races = 0;                  ///< in its first run
  std::size_t race = 0;  ///< the number of one there, as 'photofinish races' has it
};

struct CiOutcome : CiFinding {
  std::string sentence;  ///< of the first such run: "rank 0 ended with exit status 1 after event 5"
  bool good = false;     ///< it ended well, which is never new
};

struct CiResult {
  std::string program;
  std::vector<std::string> command;
  std::string baseline;             ///< the file of known races; empty: none
  std::size_t runs = 0;             ///< that were judged
  std::vector<CiClass> classes;     ///< new ones first, then by weight
  std::vector<CiOutcome> outcomes;  ///< bad ones first
  std::vector<std::string> unseen;  ///< names of known classes that no run has shown
  std::vector<std::string> traces;  ///< that are kept
  bool updated = false;             ///< what was new is in the file now

  /// How many of classes and outcomes are new.
  [[nodiscard]] std::size_t newFindings() const;
};

/// "MPI_Recv at tally.c:9 (collect)"
[[nodiscard]] std::string placeText(const CiPlace& place);
/// "a race: MPI_Recv at … could take messages of MPI_Send at …", without an end.
[[nodiscard]] std::string sentenceOf(const CiClass& one);

/// What a person reads at the end of it.
[[nodiscard]] std::string ciText(const CiResult& result);
/// SARIF 2.1.0 (OASIS), one run. Files below the working directory are named from there.
[[nodiscard]] std::string ciSarif(const CiResult& result);
/// JUnit's XML: a test for each class and outcome, which fails where it is new.
[[nodiscard]] std::string ciJunit(const CiResult& result);
[[nodiscard]] std::string ciMarkdown(const CiResult& result);

/// Writes a report. What is there is replaced if it is such a report; else Usage.
Status writeCiReport(const std::string& path, const std::string& text);
/// The error of that, before anything is run.
Status mayBeCiReport(const std::string& path);

}  // namespace pf::app
