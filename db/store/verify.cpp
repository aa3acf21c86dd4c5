// SPDX-License-Identifier: GPL-3.0-or-later
#include "db/store/verify.h"

#include <algorithm>

#include "db/columns/execution_columns.h"
#include "db/columns/execution_rows.h"
#include "db/columns/log_chunks.h"
#include "db/columns/summary_store.h"
#include "db/former/former_format.h"
#include "db/payload/payload_store.h"
#include "db/schema/rows.h"
#include "db/schema/seal.h"
#include "db/sqlite/file_copy.h"
#include "db/store/open_trace.h"
#include "db/store/trace_store.h"

namespace pf::db {
namespace {

constexpr std::size_t kMostFindings = 200;

void checkTable(Database& database, const Table& table, std::size_t tableCount,
                std::vector<Finding>& findings) {
  const Status status = table.kind == TableKind::Seal
                            ? checkSeals(database, tableCount)
                            : forEachRow(database, table, [](const Row&) { return true; });
  if (!status) {
    findings.push_back({status.error().message, "table " + table.name, lostWith(table.id)});
  }
}

Status checkLog(Database& database, const RankInfo& rank, std::vector<Finding>& findings) {
  Result<LogChunkReader> reader = LogChunkReader::start(database);
  if (!reader) {
    return reader.error();
  }
  for (std::uint64_t ordinal = 0; ordinal < rank.logChunks && findings.size() < kMostFindings;
       ++ordinal) {
    if (const Result<Bytes> data = reader->read(rank.rank, ordinal); !data) {
      const std::string number = std::to_string(rank.rank);
      findings.push_back({data.error().message,
                          "log of rank " + number + ", chunk " + std::to_string(ordinal) + " of " +
                              std::to_string(rank.logChunks),
                          "replays of rank " + number + " beyond this piece of its log"});
    }
  }
  return {};
}

/// Chunk after chunk, as far as there are any: the seal of the table says that none is missing.
Status checkSurveyLog(Database& database, const RankInfo& rank, std::vector<Finding>& findings) {
  Result<LogChunkReader> reader = LogChunkReader::start(database, TableId::SurveyChunk);
  if (!reader) {
    return reader.error();
  }
  for (std::uint64_t ordinal = 0; findings.size() < kMostFindings; ++ordinal) {
    const Result<Bytes> data = reader->read(rank.rank, ordinal);
    if (!data && data.error().code == ErrorCode::NotFound) {
      break;
    }
    if (!data) {
      findings.push_back(
          {data.error().message,
           "survey of rank " + std::to_string(rank.rank) + ", chunk " + std::to_string(ordinal),
           lostWith(TableId::SurveyChunk)});
    }
  }
  return {};
}

/// That the run says, else `known`.
std::size_t rankCount(Database& database, std::size_t known) {
  std::size_t count = known;
  const Status status =
      readRows<RunInfo>(database, TableId::Run, true, [&](std::int64_t, RunInfo&& run) {
        count = run.ranks > 0 && !tooManyRanks(database, run.ranks)
                    ? static_cast<std::size_t>(run.ranks)
                    : 0;
        return true;
      });
  return status.ok() ? count : known;
}

Status checkRaces(Database& database, std::size_t ranks) {
  const Result<std::vector<std::string>> classes = readRaceClasses(database);
  if (!classes || !eventCounts(database, ranks)) {
    return {};  // of these tables there is another finding
  }
  const Result<std::vector<StoredRace>> races = readRaceColumns(database, ranks, *classes);
  return races ? Status() : Status(races.error());
}

Status checkSummaries(Database& database, std::size_t ranks) {
  const Result<std::vector<std::uint64_t>> events = eventCounts(database, ranks);
  if (!events) {
    return {};  // of a directory that is damaged there is another finding
  }
  Result<SummaryReader> reader = SummaryReader::start(database, *events);
  if (!reader) {
    return reader.error().code == ErrorCode::NotFound ? Status() : Status(reader.error());
  }
  return reader->check();
}

void checkPayloads(Database& database, std::vector<Finding>& findings) {
  const Result<std::vector<PayloadInfo>> payloads = readPayloads(database);
  const std::string table = "table " + db::table(TableId::Payload).name;
  if (!payloads && std::ranges::find(findings, table, &Finding::where) == findings.end()) {
    findings.push_back({payloads.error().message, table, lostWith(TableId::Payload)});
  }
  for (std::size_t i = 0; payloads.ok() && i < payloads->size(); ++i) {
    if (findings.size() >= kMostFindings) {
      return;
    }
    if (const Status status = checkPayload(database, (*payloads)[i]); !status) {
      const std::string number = std::to_string((*payloads)[i].rank);
      findings.push_back({status.error().message, "contents for rank " + number,
                          "replays of the group of rank " + number + " alone, beyond this"});
    }
  }
}

Status checkStructure(Database& database, std::vector<Finding>& findings) {
  const Result<std::int64_t> size = database.fileSize();
  Result<Statement> prepared = database.prepare("PRAGMA integrity_check(1)");
  if (!size || !prepared) {
    return size.ok() ? prepared.error() : size.error();
  }
  database.setDeadline(readBudget(*size));
  const Statement::Step step = prepared->step();
  database.setDeadline({});
  if (step == Statement::Step::Failed) {
    return prepared->error();
  }
  if (step == Statement::Step::Row && prepared->text(0) != "ok") {
    findings.push_back(
        {"SQLite says: " + std::string(prepared->text(0)), "structure of the file",
         findings.empty() ? "nothing yet, but nothing more should be written to it" : "see above"});
  }
  return {};
}

/// Damage of a file that does not open: `reason` says why.
Result<std::vector<Finding>> findDamageInCopy(const std::string& path, const Error& reason) {
  std::vector<Finding> findings{
      {reason.message, "file", "opening it; 'photofinish salvage' saves what is not lost below"}};
  Result<RepairedCopy> copy = RepairedCopy::make(path, temporaryDirectory());
  if (!copy) {
    findings.push_back({copy.error().message, "file", "everything"});
    return findings;
  }
  Database& database = copy->database();
  std::vector<RankInfo> ranks;
  const Status known =
      readRows<RankInfo>(database, TableId::Rank, false, [&](std::int64_t, RankInfo&& rank) {
        ranks.push_back(std::move(rank));
        return true;
      });
  if (!known) {
    ranks.clear();
  }
  Result<std::vector<Finding>> inside = findDamage(database, ranks);
  if (!inside) {
    return inside;
  }
  for (Finding& finding : *inside) {
    finding.what = copy->ofOriginal(std::move(finding.what));
    findings.push_back(std::move(finding));
  }
  return findings;
}

/// Damage of a trace of a former format, which could not be brought up to date for `reason`.
Result<std::vector<Finding>> findFormerDamage(Database& database, std::uint32_t version,
                                              const Error& reason) {
  std::vector<Finding> findings{
      {reason.message, "file, of trace format " + std::to_string(version),
       "opening it with this Photofinish, which brings whole traces to format " +
           std::to_string(kFormatVersion)}};
  Result<Transaction> transaction = Transaction::begin(database, Transaction::Kind::Read);
  if (!transaction) {
    return transaction.error();
  }
  for (const Table& each : formerTables(version)) {
    checkTable(database, each, formerTables(version).size(), findings);
  }
  std::vector<RankInfo> ranks;
  const Status known = readFormerRanks(database, version, ranks);
  for (std::size_t i = 0; known.ok() && i < ranks.size(); ++i) {
    if (Status status = checkLog(database, ranks[i], findings); !status) {
      break;  // the table is among the findings
    }
  }
  if (Status status = checkStructure(database, findings); !status) {
    findings.push_back({status.error().message, "structure of the file", "see above"});
  }
  return findings;
}

}  // namespace

// NOLINTNEXTLINE(readability-function-size): a line a table
std::string lostWith(TableId id) {
  switch (id) {
    case TableId::Run:
      return "command line, result and totals of the run";
    case TableId::Rank:
      return "what became of each rank";
    case TableId::LaunchFact:
      return "what the ranks were started with, which a replay gives back";
    case TableId::SeenInput:
      return "the check that files are still those of the recording";
    case TableId::Printed:
      return "what the program printed while it was recorded";
    case TableId::NotGuaranteed:
      return "what a replay may do otherwise (of format 11 also how it was recorded: same "
             "addresses, time stamp counter, tags)";
    case TableId::Module:
      return "the check that programs and libraries are still those of the recording";
    case TableId::LogChunk:
      return "the list of recorded pieces, so that a missing one may go unseen";
    case TableId::Communicator:
    case TableId::CallSite:
    case TableId::Call:
    case TableId::EventKind:
    case TableId::RaceClass:
    case TableId::SurveyChunk:
    case TableId::ColumnChunk:
    case TableId::ColumnDirectory:
    case TableId::SummaryChunk:
      return "diagram and races, until 'photofinish replay --survey' makes them again from the "
             "logs";
    case TableId::Seal:
      return "the checksum of the checksums";
    case TableId::Breakpoint:
      return "breakpoints";
    case TableId::Watch:
      return "watched expressions";
    case TableId::Cycle:
    case TableId::CycleStop:
    case TableId::BreakpointHit:
      return "history of the cycles";
    case TableId::Note:
      return "notes and bookmarks";
    case TableId::RankGroup:
    case TableId::RankArrangement:
      return "groups of ranks, and which are shown";
    case TableId::BenignRace:
    case TableId::JudgedRace:
      return "what somebody has said of races";
    case TableId::Branch:
    case TableId::BranchFlip:
      return "of which run this is another order";
    case TableId::GroupRecording:
      return "which groups can be replayed alone";
    case TableId::Payload:
      return "what ranks received from outside of their groups, without which none is replayed "
             "alone";
    case TableId::PartOfJob:
      return "which ranks are debugged without the others";
    case TableId::PayloadChunk:
      return "the list of pieces of these contents, so that a missing one may go unseen";
  }
  return {};
}

Result<std::vector<Finding>> findDamage(Database& database, const std::vector<RankInfo>& ranks) {
  std::vector<Finding> findings;
  for (const Table& each : tables()) {
    checkTable(database, each, tables().size(), findings);
  }
  if (const Status columns = checkColumns(database, rankCount(database, ranks.size())); !columns) {
    findings.push_back(
        {columns.error().message, "table column_chunk", lostWith(TableId::ColumnChunk)});
  }
  if (const Status races = checkRaces(database, rankCount(database, ranks.size())); !races) {
    findings.push_back({races.error().message, "table column_chunk", lostWith(TableId::RaceClass)});
  }
  if (const Status summaries = checkSummaries(database, rankCount(database, ranks.size()));
      !summaries) {
    findings.push_back(
        {summaries.error().message, "table summary_chunk", lostWith(TableId::SummaryChunk)});
  }
  for (const RankInfo& rank : ranks) {
    if (Status status = checkSurveyLog(database, rank, findings); !status) {
      return status.error();
    }
    if (Status status = checkLog(database, rank, findings); !status) {
      return status.error();
    }
  }
  checkPayloads(database, findings);
  if (Status status = checkStructure(database, findings); !status) {
    findings.push_back({status.error().message, "structure of the file", "see above"});
  }
  return findings;
}

Result<std::vector<Finding>> checkTrace(const std::string& path) {
  Result<TraceStore> store = TraceStore::open(path, TraceStore::Mode::ReadOnly);
  if (store.ok()) {
    return store->verify();
  }
  if (store.error().code != ErrorCode::Damaged) {
    return store.error();
  }
  const Result<std::string> real = locateTrace(path);
  if (!real) {
    return real.error();
  }
  const bool foreign = originOf(*real) == Origin::Foreign;
  Result<Database> database =
      foreign ? openAlone(*real) : Database::open(*real, Database::Access::Read);
  if (!database) {
    return database.error();
  }
  if (const std::uint32_t version = versionOf(*database); isFormerVersion(version)) {
    return findFormerDamage(*database, version, store.error());
  }
  if (Status identity = checkIdentity(*database); !identity) {
    return identity.error();
  }
  return findDamageInCopy(*real, store.error());
}

}  // namespace pf::db
