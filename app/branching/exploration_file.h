// SPDX-License-Identifier: GPL-3.0-or-later
// The state of an exploration: runs that were made, branches that are left. One SQLite file, of which no crash loses a run that
// was filed: each run is filed in one transaction, with its branches.
//
//   exploration  one row: what is explored            run       a run that was made, and how it ended
//   matchings    what each receive of a run took       branch    a run that is left, was made, or could not be
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/branching/outcome.h"
#include "app/branching/parent_run.h"
#include "db/sqlite/database.h"
#include "replay_engine/base/result.h"
#include "replay_engine/base/unique_fd.h"
#include "replay_engine/branching/branches.h"
#include "replay_engine/races/race_weight.h"

namespace pf::app {

/// What is explored. It cannot change while its exploration lasts.
struct Explored {
  std::string trace;    ///< of the first run, absolute
  std::string program;  ///< absolute
  std::string buildId;
  std::string check;  ///< command; empty: none
  std::int32_t ranks = 0;
  bool matchingsOnly = false;  ///< ExploreOptions
};

/// A run that was made.
struct FiledRun {
  std::int64_t number = 0;  ///< from 1
  std::int64_t parent = 0;  ///< 0: it is the first
  std::uint32_t flips = 0;  ///< between the first run and this one
  Outcome outcome;
  std::string matching;
  std::string given;           ///< givenTexts()
  std::uint64_t unvaried = 0;  ///< Choices::unvaried()
  std::vector<RunStep> steps;
  std::vector<unsigned char> logs;   ///< packLogs()
  std::optional<TakenInstead> flip;  ///< from its parent
};

struct OpenBranch {
  Branch branch;
  std::int64_t run = 0;  ///< that shows it
  std::uint32_t flips = 0;
  RaceWeight weight = RaceWeight::Other;  ///< of its race, in that run
};

/// Runs that ended alike.
struct OutcomeClass {
  Outcome outcome;  ///< of the first of them
  std::uint64_t runs = 0;
  std::uint32_t fewestFlips = 0;
  std::int64_t nearest = 0;  ///< a run with so few
  std::string trace;         ///< of a run that was kept
};

class ExplorationFile {
 public:
  /// Makes the file, or goes on with it. Usage: another process explores with it, or it explores something else; Damaged: it is no such file.
  static Result<ExplorationFile> open(const std::string& path, const Explored& explored,
                                      bool force);

  /// In one transaction: the run, its new branches, and that `made` is done. Its number.
  Result<std::int64_t> file(const FiledRun& run, const std::vector<OpenBranch>& branches,
                            const std::optional<BranchKey>& made);
  /// A branch whose run could not be made, and why.
  Status giveUp(const BranchKey& branch, const std::string& why);

  /// The one to make next, of those with no more than `mostFlips`, and not among `taken`: races before a failure first, then few flips; of a
  /// run, its last choices first, as they are the nearest to how it ended. `farthestFirst`: before all that, those of runs with most choices.
  Result<std::optional<OpenBranch>> next(std::uint32_t mostFlips,
                                         const std::vector<BranchKey>& taken,
                                         bool farthestFirst = false);
  Result<FiledRun> run(std::int64_t number);
  /// From the first run to this one.
  Result<std::vector<TakenInstead>> flipsTo(std::int64_t number);

  struct Counts {
    std::uint64_t runs = 0;
    std::uint64_t open = 0;
    std::uint64_t beyond = 0;  ///< of the open ones: with more flips than asked for
    std::uint64_t givenUp = 0;
    std::uint64_t unvaried = 0;  ///< runs with FiledRun::unvaried
    std::vector<std::uint64_t> runsByFlips;
    std::vector<std::uint64_t> openByFlips;
  };
  Result<Counts> counts(std::uint32_t mostFlips);
  Result<std::vector<OutcomeClass>> outcomes();
  Result<std::vector<std::string>> reasonsGivenUp();
  /// Whether a trace of this class of outcomes is kept; of how many classes there is one.
  Result<bool> isKept(const Outcome& outcome);
  Result<std::size_t> keptTraces();
  /// The trace that was kept of a class of outcomes.
  Status keep(const Outcome& outcome, const std::string& trace);
  /// Logs of runs that have no open branches are not needed any more.
  Status dropLogs();

 private:
  ExplorationFile() = default;
  Status make(const Explored& explored);
  Status compare(const Explored& explored, bool force);

  UniqueFd m_lock;
  std::unique_ptr<db::Database> m_database;
};

}  // namespace pf::app
