// SPDX-License-Identifier: GPL-3.0-or-later
// Reads a trace, and keeps what a user adds to it. Nothing that does not verify is ever given out:
// each read checks the seal of its tables and fails with ErrorCode::Damaged. One thread per store;
// open another store on the same file for another thread or process.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "db/payload/payload_scan.h"
#include "db/schema/trace_types.h"
#include "db/sqlite/database.h"
#include "db/store/session_tables.h"
#include "replay_engine/base/result.h"
#include "replay_engine/causality/clock_checkpoints.h"

namespace pf::db {

class StoredContents;

class TraceStore {
 public:
  enum class Mode { ReadOnly, ReadWrite };

  /// NotFound; Damaged (cut, changed, not ours); Version; System (no permission, in use).
  [[nodiscard]] static Result<TraceStore> open(const std::string& path, Mode mode);

  [[nodiscard]] const std::string& path() const { return m_database->path(); }
  [[nodiscard]] const RunInfo& run() const { return m_run; }
  [[nodiscard]] const std::vector<RankInfo>& ranks() const { return m_ranks; }
  [[nodiscard]] Result<std::vector<LaunchFact>> launchFacts();
  [[nodiscard]] Result<std::vector<SeenInput>> seenInputs();
  [[nodiscard]] Result<std::vector<NotGuaranteed>> notGuaranteed();
  [[nodiscard]] Result<std::vector<Printed>> printed();
  [[nodiscard]] Result<std::vector<ModuleInfo>> modules();

  /// A raw log of a rank, chunk by chunk, in order; stops at the first error, also of `onChunk`.
  /// The survey's is empty where the recording's own has events. Where the execution is not known, it is of ranks that were
  /// surveyed without the others (keepPartSurveyed()).
  enum class Log { Recorded, Survey };
  Status logChunks(Rank rank,
                   const std::function<Status(std::uint64_t ordinal, Bytes data)>& onChunk,
                   Log which = Log::Recorded);

  /// What ranks received from outside of their groups, and how far it is kept; by rank, of those that kept any.
  [[nodiscard]] Result<std::vector<PayloadInfo>> payloads();
  /// Makes the file `path` (0600; must not be there) of what `rank` received, as its replay reads it. NotFound: the rank kept
  /// nothing. Damaged: in the file are whole entries up to the damage, which the error names. Else there is no file.
  /// `sees` what is stored of it before it is used.
  Status extractPayload(Rank rank, const std::string& path, StoredContents* sees = nullptr);
  /// Shows it as it is stored. Damaged: there is no more of it.
  Status showStoredPayload(Rank rank, StoredContents& sees);
  /// What of it `wants` says, in its order, to `shows`. NotFound and Damaged: the same.
  Status lookIntoPayload(Rank rank, PayloadScan::Wants wants, PayloadScan::Shows shows);

  /// False where the execution was never worked out (no survey yet): readExecution() is then empty.
  [[nodiscard]] Result<bool> hasExecution();
  /// The call sites of readExecution() alone.
  [[nodiscard]] Result<std::vector<CallSite>> callSites();
  [[nodiscard]] Result<Execution> readExecution(LogicalTimes* logicalTimes = nullptr);
  /// The same for who has no use of what came before event `begun[rank]` of each rank (one number for
  /// each): chunks of events, receives and messages that neither begin nor complete at it or later are
  /// not read. What was in them is event 1, receives that it posted and messages that it sent, so
  /// that all numbers are right. Without times.
  [[nodiscard]] Result<Execution> readExecutionFrom(std::span<const std::uint32_t> begun);
  /// NotFound where nothing was worked out.
  [[nodiscard]] Result<TraceOutline> outline();
  /// Level `number` of the pyramid of outline(), the narrowest bins first.
  [[nodiscard]] Result<DensityLevel> cutLevel(std::size_t number);
  /// May be none.
  [[nodiscard]] Result<ClockCheckpoints> clockCheckpoints();
  /// Whose times the events of readExecution() have.
  [[nodiscard]] Result<TimeOrigin> timeOrigin();
  /// As they were written; what they name is there in readExecution().
  [[nodiscard]] Result<std::vector<StoredRace>> races();
  /// What table `race_class` says of each class, by its number in forEachRace(); empty where these have none.
  [[nodiscard]] Result<std::vector<std::string>> raceClassNames();
  /// The same one after the other, for who has no use of texts of classes: calls `visit` with each.
  Status forEachRace(const std::function<void(const RaceRecord&)>& visit);
  /// Puts a later survey in the place of the former; all or nothing. Sets the totals of run().
  /// `logs`: what its ranks wrote.
  Status replaceExecution(const Execution& execution, const std::vector<Race>& races,
                          const LogicalTimes& logicalTimes, const RaceClasses& raceClasses = {},
                          const std::map<Rank, std::vector<unsigned char>>& logs = {});
  /// Of a trace whose execution is not known, which stays so: what some of its ranks wrote in a survey of a part of the job, in
  /// the place of what was kept so of them; of other ranks it stays, whoever keeps it meanwhile. All or nothing. Nothing is done
  /// where the execution is known.
  Status keepPartSurveyed(const std::map<Rank, std::vector<unsigned char>>& logs);

  [[nodiscard]] SessionTables session() { return SessionTables(*m_database); }

  /// Everything that does not verify; empty: the file is whole.
  [[nodiscard]] Result<std::vector<Finding>> verify();

 private:
  TraceStore() = default;
  Status load();
  Status withPayload(Rank rank, const std::function<Status(const PayloadInfo&)>& use);
  template <typename T, typename Read>
  [[nodiscard]] Result<T> readSummary(Read&& read);

  std::unique_ptr<Database> m_database;  // at a fixed address, for SessionTables
  RunInfo m_run;
  std::vector<RankInfo> m_ranks;
};

/// verify() for a file that perhaps cannot be opened (photofinish check). An error only where there
/// is nothing to check: no file, not ours, another version.
[[nodiscard]] Result<std::vector<Finding>> checkTrace(const std::string& path);

/// Copies every table and log chunk of `from` that verifies into a new trace `to`, even if the
/// header or the list of tables in `from` is destroyed. `from` is left as it is. An error if
/// nothing can be saved.
[[nodiscard]] Result<SalvageReport> salvageTrace(const std::string& from, const std::string& to);

}  // namespace pf::db
