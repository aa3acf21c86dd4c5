// SPDX-License-Identifier: GPL-3.0-or-later
#include "db/store/trace_store.h"

#include <algorithm>

#include "db/columns/execution_columns.h"
#include "db/columns/execution_rows.h"
#include "db/columns/log_chunks.h"
#include "db/columns/summary_store.h"
#include "db/payload/payload_store.h"
#include "db/schema/rows.h"
#include "db/store/open_trace.h"
#include "db/store/verify.h"

namespace pf::db {

Result<TraceStore> TraceStore::open(const std::string& path, Mode mode) {
  Result<Database> database =
      openTrace(path, mode == Mode::ReadOnly ? Database::Access::Read : Database::Access::Update);
  if (!database) {
    return database.error();
  }
  TraceStore store;
  store.m_database = std::make_unique<Database>(std::move(database).value());
  if (Status status = store.load(); !status) {
    return status.error();
  }
  return store;
}

Status TraceStore::load() {
  Result<Transaction> transaction = Transaction::begin(*m_database, Transaction::Kind::Read);
  if (!transaction) {
    return transaction.error();
  }
  m_ranks.clear();
  if (Status status = readRows<RunInfo>(*m_database, TableId::Run, true,
                                        [this](std::int64_t id, RunInfo&& run) {
                                          m_run = std::move(run);
                                          return id == 1 && m_run.ranks >= 0 &&
                                                 !tooManyRanks(*m_database, m_run.ranks);
                                        });
      !status) {
    return status;
  }
  Result<std::optional<std::string>> groups = readGroups(*m_database);
  if (!groups) {
    return groups.error();
  }
  m_run.groups = std::move(*groups);
  return readRows<RankInfo>(*m_database, TableId::Rank, false,
                            [this](std::int64_t, RankInfo&& rank) {
                              m_ranks.push_back(std::move(rank));
                              return true;
                            });
}

namespace {

template <typename T>
Result<std::vector<T>> rowsOf(Database& database, TableId id, bool hasId) {
  Result<Transaction> transaction = Transaction::begin(database, Transaction::Kind::Read);
  if (!transaction) {
    return transaction.error();
  }
  std::vector<T> values;
  const Status status = readRows<T>(database, id, hasId, [&](std::int64_t, T&& value) {
    values.push_back(std::move(value));
    return true;
  });
  return status ? Result<std::vector<T>>(std::move(values))
                : Result<std::vector<T>>(status.error());
}

}  // namespace

Result<std::vector<LaunchFact>> TraceStore::launchFacts() {
  return rowsOf<LaunchFact>(*m_database, TableId::LaunchFact, true);
}

Result<std::vector<SeenInput>> TraceStore::seenInputs() {
  return rowsOf<SeenInput>(*m_database, TableId::SeenInput, true);
}

Result<std::vector<NotGuaranteed>> TraceStore::notGuaranteed() {
  return rowsOf<NotGuaranteed>(*m_database, TableId::NotGuaranteed, true);
}

Result<std::vector<Printed>> TraceStore::printed() {
  return rowsOf<Printed>(*m_database, TableId::Printed, true);
}

Result<std::vector<ModuleInfo>> TraceStore::modules() {
  return rowsOf<ModuleInfo>(*m_database, TableId::Module, false);
}

Status TraceStore::logChunks(Rank rank, const std::function<Status(std::uint64_t, Bytes)>& onChunk,
                             Log which) {
  const TableId id = which == Log::Recorded ? TableId::LogChunk : TableId::SurveyChunk;
  Result<Transaction> transaction = Transaction::begin(*m_database, Transaction::Kind::Read);
  if (!transaction) {
    return transaction.error();
  }
  std::uint64_t chunks = 0;  // of this rank; the seal of the table says that none is missing
  Status status = forEachRow(*m_database, table(id), [&](const Row& row) {
    RowReader reader(row);
    std::int64_t owner = 0;
    std::uint64_t ordinal = 0;
    reader(owner), reader(ordinal);
    return reader.ok() && (owner != rank || ordinal == chunks++);
  });
  if (!status) {
    return status;
  }
  Result<LogChunkReader> reader = LogChunkReader::start(*m_database, id);
  if (!reader) {
    return reader.error();
  }
  for (std::uint64_t ordinal = 0; ordinal < chunks && status.ok(); ++ordinal) {
    const Result<Bytes> data = reader->read(rank, ordinal);
    status = data.ok() ? onChunk(ordinal, *data) : Status(data.error());
  }
  return status;
}

Result<std::vector<PayloadInfo>> TraceStore::payloads() {
  Result<Transaction> transaction = Transaction::begin(*m_database, Transaction::Kind::Read);
  return transaction ? readPayloads(*m_database)
                     : Result<std::vector<PayloadInfo>>(transaction.error());
}

Status TraceStore::withPayload(Rank rank, const std::function<Status(const PayloadInfo&)>& use) {
  Result<Transaction> transaction = Transaction::begin(*m_database, Transaction::Kind::Read);
  if (!transaction) {
    return transaction.error();
  }
  const Result<std::vector<PayloadInfo>> payloads = readPayloads(*m_database);
  if (!payloads) {
    return payloads.error();
  }
  const auto own = std::ranges::find(*payloads, rank, &PayloadInfo::rank);
  if (own == payloads->end()) {
    return Error{ErrorCode::NotFound,
                 "'" + m_database->path() + "' has no contents that rank " + std::to_string(rank) +
                     " received from outside of its group",
                 "Only 'photofinish record --groups' keeps them."};
  }
  m_database->setDeadline({});
  return use(*own);
}

Status TraceStore::extractPayload(Rank rank, const std::string& path, StoredContents* sees) {
  return withPayload(rank, [&](const PayloadInfo& own) {
    return db::extractPayload(*m_database, own, m_run.ranks, path, sees);
  });
}

Status TraceStore::showStoredPayload(Rank rank, StoredContents& sees) {
  return withPayload(rank,
                     [&](const PayloadInfo& own) { return showStored(*m_database, own, sees); });
}

Status TraceStore::lookIntoPayload(Rank rank, PayloadScan::Wants wants, PayloadScan::Shows shows) {
  return withPayload(rank, [&](const PayloadInfo& own) {
    return db::lookIntoPayload(*m_database, own, std::move(wants), std::move(shows));
  });
}

Result<bool> TraceStore::hasExecution() {
  const Result<Seal> seal = storedSeal(*m_database, table(TableId::ColumnChunk));
  if (!seal) {
    return seal.error();
  }
  return seal->rows > 0;
}

Result<std::vector<CallSite>> TraceStore::callSites() {
  Result<Transaction> transaction = Transaction::begin(*m_database, Transaction::Kind::Read);
  if (!transaction) {
    return transaction.error();
  }
  return readCallSiteRows(*m_database);
}

Result<Execution> TraceStore::readExecution(LogicalTimes* logicalTimes) {
  Result<Transaction> transaction = Transaction::begin(*m_database, Transaction::Kind::Read);
  if (!transaction) {
    return transaction.error();
  }
  return readExecutionRows(*m_database, logicalTimes);
}

Result<Execution> TraceStore::readExecutionFrom(std::span<const std::uint32_t> begun) {
  Result<Transaction> transaction = Transaction::begin(*m_database, Transaction::Kind::Read);
  if (!transaction) {
    return transaction.error();
  }
  if (begun.size() != static_cast<std::size_t>(m_run.ranks)) {
    return Error{ErrorCode::Usage, "an execution is read from one event of each rank", {}};
  }
  return readExecutionRows(*m_database, nullptr, begun);
}

/// What `read(SummaryReader&)` gives.
template <typename T, typename Read>
Result<T> TraceStore::readSummary(Read&& read) {
  Result<Transaction> transaction = Transaction::begin(*m_database, Transaction::Kind::Read);
  if (!transaction) {
    return transaction.error();
  }
  Result<std::vector<std::uint64_t>> events =
      eventCounts(*m_database, static_cast<std::size_t>(m_run.ranks));
  if (!events) {
    return events.error();
  }
  Result<SummaryReader> reader = SummaryReader::start(*m_database, std::move(*events));
  return reader ? read(*reader) : Result<T>(reader.error());
}

Result<TraceOutline> TraceStore::outline() {
  return readSummary<TraceOutline>([](SummaryReader& reader) { return outlineOf(reader); });
}

Result<DensityLevel> TraceStore::cutLevel(std::size_t number) {
  return readSummary<DensityLevel>([number](SummaryReader& reader) -> Result<DensityLevel> {
    if (number >= reader.levelCount()) {
      return Error{ErrorCode::Usage, "the pyramid has no level " + std::to_string(number), {}};
    }
    return reader.level(number);
  });
}

Result<ClockCheckpoints> TraceStore::clockCheckpoints() {
  Result<ClockCheckpoints> clocks =
      readSummary<ClockCheckpoints>([](SummaryReader& reader) { return reader.clocks(); });
  return !clocks && clocks.error().code == ErrorCode::NotFound ? ClockCheckpoints() : clocks;
}

Result<TimeOrigin> TraceStore::timeOrigin() {
  Result<Transaction> transaction = Transaction::begin(*m_database, Transaction::Kind::Read);
  if (!transaction) {
    return transaction.error();
  }
  return db::timeOrigin(*m_database, static_cast<std::size_t>(m_run.ranks));
}

Result<std::vector<StoredRace>> TraceStore::races() {
  Result<Transaction> transaction = Transaction::begin(*m_database, Transaction::Kind::Read);
  if (!transaction) {
    return transaction.error();
  }
  return readRaces(*m_database, static_cast<std::size_t>(m_run.ranks));
}

Result<std::vector<std::string>> TraceStore::raceClassNames() {
  Result<Transaction> transaction = Transaction::begin(*m_database, Transaction::Kind::Read);
  if (!transaction) {
    return transaction.error();
  }
  bool exact = false;
  Result<std::vector<std::string>> names = readRaceClasses(*m_database, &exact);
  return names && !exact ? Result(std::vector<std::string>()) : std::move(names);
}

Status TraceStore::forEachRace(const std::function<void(const RaceRecord&)>& visit) {
  Result<Transaction> transaction = Transaction::begin(*m_database, Transaction::Kind::Read);
  if (!transaction) {
    return transaction.error();
  }
  return db::forEachRace(*m_database, static_cast<std::size_t>(m_run.ranks), visit);
}

namespace {

Status writeSurveyLogs(Database& database, const std::map<Rank, std::vector<unsigned char>>& logs) {
  Result<LogChunkWriter> writer = LogChunkWriter::start(database, TableId::SurveyChunk);
  if (!writer) {
    return writer.error();
  }
  for (const auto& [rank, bytes] : logs) {
    for (std::size_t offset = 0; offset < bytes.size(); offset += kLongestLogChunk) {
      const Bytes piece =
          Bytes(bytes).subspan(offset, std::min(kLongestLogChunk, bytes.size() - offset));
      if (Status status = writer->write(rank, offset / kLongestLogChunk, piece); !status) {
        return status;
      }
    }
  }
  const Result<Seal> seal = computeSeal(database, table(TableId::SurveyChunk));
  return seal ? storeSeal(database, table(TableId::SurveyChunk), *seal) : Status(seal.error());
}

/// Of these ranks, as it will be replaced. Damaged: not all that was kept of the others is there; a new seal would hide that.
Status clearSurveyLogsOf(Database& database,
                         const std::map<Rank, std::vector<unsigned char>>& logs) {
  const Table& chunks = table(TableId::SurveyChunk);
  const Result<Seal> stored = storedSeal(database, chunks);
  const Result<Seal> computed = computeSeal(database, chunks);
  if (!stored || !computed) {
    return stored ? computed.error() : stored.error();
  }
  if (!(*stored == *computed)) {
    return Error{ErrorCode::Damaged,
                 "what was kept of surveys of other ranks is damaged (table survey_chunk)",
                 "'photofinish check' says what else is; survey all ranks together: replay "
                 "--survey, without --group."};
  }
  Result<Statement> clear = database.prepare("DELETE FROM survey_chunk WHERE rank = ?");
  if (!clear) {
    return clear.error();
  }
  for (const auto& [rank, bytes] : logs) {
    clear->bindInteger(1, rank);
    if (Status status = clear->run(); !status) {
      return status;
    }
  }
  return {};
}

}  // namespace

Status TraceStore::replaceExecution(const Execution& execution, const std::vector<Race>& races,
                                    const LogicalTimes& logicalTimes,
                                    const RaceClasses& raceClasses,
                                    const std::map<Rank, std::vector<unsigned char>>& logs) {
  if (execution.ranks.size() != static_cast<std::size_t>(m_run.ranks)) {
    return Error{ErrorCode::Usage,
                 "the execution has " + std::to_string(execution.ranks.size()) +
                     " ranks, the run in '" + path() + "' " + std::to_string(m_run.ranks),
                 {}};
  }
  Result<Transaction> transaction = Transaction::begin(*m_database, Transaction::Kind::Write);
  if (!transaction) {
    return transaction.error();
  }
  m_database->setDeadline({});
  for (const Table& each : tables()) {
    if (each.kind == TableKind::Execution || each.id == TableId::Run) {
      if (Status status = m_database->execute(each.clear); !status) {
        return status;
      }
    }
  }
  RunInfo run = m_run;
  setTotals(run, execution, races);
  if (Status status = writeRun(*m_database, run); !status) {
    return status;
  }
  if (Status status =
          writeExecutionRows(*m_database, {execution, races, logicalTimes, raceClasses});
      !status) {
    return status;
  }
  if (Status status = writeSurveyLogs(*m_database, logs); !status) {
    return status;
  }
  const Result<Seal> seal = computeSeal(*m_database, table(TableId::Run));
  if (!seal) {
    return seal.error();
  }
  if (Status status = storeSeal(*m_database, table(TableId::Run), *seal); !status) {
    return status;
  }
  if (Status status = finishSeals(*m_database); !status) {
    return status;
  }
  if (Status status = transaction->commit(); !status) {
    return status;
  }
  m_run = std::move(run);
  return {};
}

Status TraceStore::keepPartSurveyed(const std::map<Rank, std::vector<unsigned char>>& logs) {
  Result<Transaction> transaction = Transaction::begin(*m_database, Transaction::Kind::Write);
  if (!transaction) {
    return transaction.error();
  }
  m_database->setDeadline({});
  const Result<bool> known = hasExecution();
  if (!known || *known) {
    return known ? Status() : Status(known.error());
  }
  if (Status status = clearSurveyLogsOf(*m_database, logs); !status) {
    return status;
  }
  if (Status status = writeSurveyLogs(*m_database, logs); !status) {
    return status;
  }
  if (Status status = finishSeals(*m_database); !status) {
    return status;
  }
  return transaction->commit();
}

Result<std::vector<Finding>> TraceStore::verify() {
  Result<Transaction> transaction = Transaction::begin(*m_database, Transaction::Kind::Read);
  if (!transaction) {
    return transaction.error();
  }
  return findDamage(*m_database, m_ranks);
}

}  // namespace pf::db
