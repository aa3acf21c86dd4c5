// SPDX-License-Identifier: GPL-3.0-or-later
#include "db/store/trace_writer.h"

#include <sys/random.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>

#include "db/columns/execution_rows.h"
#include "db/columns/log_chunks.h"
#include "db/payload/payload_store.h"
#include "db/schema/rows.h"
#include "db/store/new_file.h"

namespace pf::db {
namespace {

std::string newUuid() {
  std::array<std::uint8_t, 16> random{};
  if (::getrandom(random.data(), random.size(), 0) != static_cast<ssize_t>(random.size())) {
    return "00000000-0000-4000-8000-000000000000";
  }
  random[6] = static_cast<std::uint8_t>((random[6] & 0x0FU) | 0x40U);
  random[8] = static_cast<std::uint8_t>((random[8] & 0x3FU) | 0x80U);
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (std::size_t i = 0; i < random.size(); ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) {
      text += '-';
    }
    text += kDigits[random[i] >> 4U];
    text += kDigits[random[i] & 0xFU];
  }
  return text;
}

template <typename V>
Status insertOne(Database& database, TableId id, const V& value) {
  Result<RowWriter> writer = RowWriter::start(database, table(id));
  if (!writer) {
    return writer.error();
  }
  columns(*writer, value);
  const Status status = writer->end();
  return status.ok() ? writer->finish() : status;
}

}  // namespace

struct TraceWriter::State {
  struct LogSize {
    std::uint64_t bytes = 0;
    std::uint64_t chunks = 0;
  };

  explicit State(NewFile newFile) : file(std::move(newFile)) {}

  NewFile file;
  RunInfo run;
  RunInfo totals;  ///< of the execution, if there is one
  std::vector<RankInfo> ranks;
  std::vector<LaunchFact> launch;
  std::vector<SeenInput> inputs;
  std::vector<Printed> printed;
  std::vector<NotGuaranteed> notGuaranteed;
  std::map<Rank, LogSize> logs;
  std::vector<PayloadInfo> payloads;
  std::optional<LogChunkWriter> chunks;
  bool hasExecution = false;
  std::optional<Error> failure;
};

TraceWriter::TraceWriter(std::unique_ptr<State> state) : m_state(std::move(state)) {}
TraceWriter::TraceWriter(TraceWriter&&) noexcept = default;
TraceWriter::~TraceWriter() = default;

Result<TraceWriter> TraceWriter::create(const std::string& path, Existing existing) {
  Result<NewFile> file = NewFile::create(path, existing);
  if (!file) {
    return file.error();
  }
  auto state = std::make_unique<State>(std::move(file).value());
  Result<LogChunkWriter> chunks = LogChunkWriter::start(state->file.database());
  if (!chunks) {
    return chunks.error();
  }
  state->chunks = std::move(chunks).value();
  return TraceWriter(std::move(state));
}

const std::string& TraceWriter::kept() const {
  return m_state->file.kept();
}

Status TraceWriter::checkAlive() const {
  return m_state->failure ? Status(*m_state->failure) : Status();
}

Status TraceWriter::remember(Status status) {
  if (!status) {
    m_state->failure = status.error();
  }
  return status;
}

void TraceWriter::setRun(RunInfo run) {
  m_state->run = std::move(run);
}

void TraceWriter::addRank(RankInfo rank) {
  m_state->ranks.push_back(std::move(rank));
}

void TraceWriter::addLaunchFact(LaunchFact fact) {
  m_state->launch.push_back(std::move(fact));
}

void TraceWriter::addSeenInput(SeenInput input) {
  m_state->inputs.push_back(std::move(input));
}

void TraceWriter::addPrinted(Printed printed) {
  m_state->printed.push_back(std::move(printed));
}

void TraceWriter::addNotGuaranteed(NotGuaranteed use) {
  m_state->notGuaranteed.push_back(std::move(use));
}

Status TraceWriter::addModule(const ModuleInfo& module) {
  Status alive = checkAlive();
  return alive.ok() ? remember(insertOne(m_state->file.database(), TableId::Module, module))
                    : alive;
}

Status TraceWriter::addLogChunk(Rank rank, std::uint64_t ordinal, Bytes data) {
  if (Status alive = checkAlive(); !alive) {
    return alive;
  }
  State::LogSize& log = m_state->logs[rank];
  if (ordinal != log.chunks || data.size() > kLongestLogChunk) {
    return remember(Error{ErrorCode::Usage,
                          "chunk " + std::to_string(ordinal) + " of the log of rank " +
                              std::to_string(rank) + " is out of order or longer than 1 MiB",
                          {}});
  }
  ++log.chunks;
  log.bytes += data.size();
  return remember(m_state->chunks->write(rank, ordinal, data));
}

Result<PayloadInfo> TraceWriter::addPayload(Rank rank, int file, StoredContents* sees) {
  if (Status alive = checkAlive(); !alive) {
    return alive.error();
  }
  return addPayload(storePayload(m_state->file.database(), rank, m_state->run.ranks, file, sees));
}

Result<PayloadInfo> TraceWriter::addPayload(Database& from, const PayloadInfo& known) {
  if (Status alive = checkAlive(); !alive) {
    return alive.error();
  }
  return addPayload(copyPayload(from, m_state->file.database(), known));
}

Result<PayloadInfo> TraceWriter::addPayload(Result<PayloadInfo> stored) {
  if (!stored) {
    return remember(stored.error()).error();
  }
  m_state->payloads.push_back(*stored);
  return stored;
}

Status TraceWriter::writeExecution(const Execution& execution, const std::vector<Race>& races,
                                   const LogicalTimes& logicalTimes,
                                   const RaceClasses& raceClasses) {
  if (Status alive = checkAlive(); !alive) {
    return alive;
  }
  if (m_state->hasExecution) {
    return remember(
        Error{ErrorCode::Usage, "a trace has one execution, and a second was written", {}});
  }
  m_state->hasExecution = true;
  setTotals(m_state->totals, execution, races);
  m_state->totals.ranks = static_cast<std::int32_t>(execution.ranks.size());
  return remember(
      writeExecutionRows(m_state->file.database(), {execution, races, logicalTimes, raceClasses}));
}

Status TraceWriter::writeRows() {
  Database& database = m_state->file.database();
  RunInfo& run = m_state->run;
  if (run.uuid.empty()) {
    run.uuid = newUuid();
  }
  if (m_state->hasExecution) {
    run.ranks = m_state->totals.ranks;
    run.messages = m_state->totals.messages;
    run.wildcardReceives = m_state->totals.wildcardReceives;
    run.racingReceives = m_state->totals.racingReceives;
  }
  if (Status status = writeRun(database, run); !status) {
    return status;
  }
  std::vector<RankInfo>& ranks = m_state->ranks;
  std::sort(ranks.begin(), ranks.end(),
            [](const RankInfo& a, const RankInfo& b) { return a.rank < b.rank; });
  for (RankInfo& rank : ranks) {
    const State::LogSize& log = m_state->logs[rank.rank];
    rank.logBytes = log.bytes;
    rank.logChunks = log.chunks;
    if (Status status = insertOne(database, TableId::Rank, rank); !status) {
      return status;
    }
  }
  if (m_state->logs.size() > ranks.size()) {
    return Error{ErrorCode::Usage, "there is a log of a rank that was not added to the trace", {}};
  }
  for (const Status& status :
       {writeNumberedRows(database, TableId::LaunchFact, m_state->launch),
        writeNumberedRows(database, TableId::SeenInput, m_state->inputs),
        writeNumberedRows(database, TableId::NotGuaranteed, m_state->notGuaranteed),
        writeNumberedRows(database, TableId::Printed, m_state->printed),
        writeGroups(database, run.groups), writePayloads(database, m_state->payloads)}) {
    if (!status) {
      return status;
    }
  }
  if (!m_state->hasExecution) {
    Execution none;
    none.ranks.resize(static_cast<std::size_t>(std::max(run.ranks, 0)));
    return writeExecutionRows(database, {none, {}, {}, {}});
  }
  return {};
}

Status TraceWriter::sealTables() {
  Database& database = m_state->file.database();
  for (const Table& each : tables()) {
    // The other execution tables are sealed as they are written.
    if (each.kind == TableKind::Seal ||
        (each.kind == TableKind::Execution && each.id != TableId::SurveyChunk)) {
      continue;
    }
    const Result<Seal> seal = computeSeal(database, each);
    if (!seal) {
      return seal.error();
    }
    if (Status status = storeSeal(database, each, *seal); !status) {
      return status;
    }
  }
  return finishSeals(database);
}

Status TraceWriter::finish() {
  if (Status alive = checkAlive(); !alive) {
    return alive;
  }
  m_state->chunks.reset();
  Status status = writeRows();
  if (status.ok()) {
    status = sealTables();
  }
  if (status.ok()) {
    status = m_state->file.publish();
  }
  if (!status) {
    return remember(std::move(status));
  }
  m_state->failure =
      Error{ErrorCode::Usage, "the trace is finished; nothing can be added to it", {}};
  return {};
}

}  // namespace pf::db
