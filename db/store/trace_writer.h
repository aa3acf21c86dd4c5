// SPDX-License-Identifier: GPL-3.0-or-later
// Writes a new trace. Nothing is at its path until finish(); a writer that is destroyed before, or
// killed, leaves what was there. After any error the writer is dead: every later call gives the
// same error.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "db/schema/trace_types.h"
#include "db/sqlite/database.h"
#include "db/store/former_file.h"
#include "replay_engine/base/result.h"

namespace pf::db {

class StoredContents;

class TraceWriter {
 public:
  /// Callers must ignore SIGXFSZ if a file size limit is to be an error instead of the end.
  /// `existing`: what becomes of a file of that name when this one is finished.
  [[nodiscard]] static Result<TraceWriter> create(const std::string& path,
                                                  Existing existing = Existing::Refuse);
  ~TraceWriter();
  TraceWriter(TraceWriter&&) noexcept;
  TraceWriter& operator=(TraceWriter&&) = delete;
  TraceWriter(const TraceWriter&) = delete;
  TraceWriter& operator=(const TraceWriter&) = delete;

  void setRun(RunInfo run);
  /// One for each rank of the run, in any order.
  void addRank(RankInfo rank);
  void addLaunchFact(LaunchFact fact);
  void addSeenInput(SeenInput input);
  void addPrinted(Printed printed);
  void addNotGuaranteed(NotGuaranteed use);
  Status addModule(const ModuleInfo& module);
  /// The next piece of the raw log of a rank: ordinals count from 0. At most kLongestLogChunk
  /// bytes.
  Status addLogChunk(Rank rank, std::uint64_t ordinal, Bytes data);
  /// What the rank received from outside of its group, of `file`, its rank-N.payload: once, after setRun(). What does not
  /// verify is no error: it is left out with all behind it, and the result says so.
  /// `sees` it as it is stored.
  Result<PayloadInfo> addPayload(Rank rank, int file, StoredContents* sees = nullptr);
  /// The same from a damaged trace: `known` is what that one says.
  Result<PayloadInfo> addPayload(Database& from, const PayloadInfo& known);
  /// At most once. `execution` has been through matchMessages(); `logicalTimes` and `raceClasses`
  /// may be empty. Sets the totals of the run.
  Status writeExecution(const Execution& execution, const std::vector<Race>& races,
                        const LogicalTimes& logicalTimes, const RaceClasses& raceClasses = {});
  /// Seals, forces to disk, and gives the file its name. The writer is of no use afterwards.
  Status finish();
  /// Where the file is kept that had this name; empty: there was none, or it was replaced.
  [[nodiscard]] const std::string& kept() const;

 private:
  struct State;
  explicit TraceWriter(std::unique_ptr<State> state);
  Status checkAlive() const;
  Status remember(Status status);
  Result<PayloadInfo> addPayload(Result<PayloadInfo> stored);
  Status writeRows();
  Status sealTables();

  std::unique_ptr<State> m_state;
};

}  // namespace pf::db
