#include "execution_rows.h"

#include "column_store.h"
#include "execution_columns.h"
#include "rows.h"
#include "schema.h"
#include "summary_store.h"

#include <algorithm>
#include <array>
#include <functional>
#include <initializer_list>

namespace pf::db {
namespace {

constexpr std::array kEventKindNames{"send",       "receive", "send-receive", "post",
                                     "completion", "probe",   "collective",   "collective-post",
                                     "local",      "start"};
static_assert(kEventKindNames.size() == static_cast<std::size_t>(EventKind::Start) + 1);
constexpr std::int32_t kMostRanks = 1 << 24;

template <typename Codec, typename V>
void index(Codec& codec, V& value) {  // of something in Execution
  orNull(codec, value, kNone);
}

// ---- Writing

/// Writes one table: `rows(writer)` writes all rows of it.
Status writeTable(Database& database, TableId id, const std::function<Status(RowWriter&)>& rows) {
  Result<RowWriter> writer = RowWriter::start(database, table(id));
  if (!writer) {
    return writer.error();
  }
  if (Status status = rows(*writer); !status) {
    return status;
  }
  if (Status status = writer->finish(); !status) {
    return status;
  }
  return storeSeal(database, table(id), writer->seal());
}

/// A table whose rows are the elements of a vector in Execution; the key is the index.
template <typename V>
Status writeList(Database& database, TableId id, const std::vector<V>& values) {
  return writeTable(database, id, [&](RowWriter& writer) -> Status {
    for (std::size_t i = 0; i < values.size(); ++i) {
      writer(i);
      if constexpr (std::same_as<V, std::string>) {
        writer(values[i]);
      } else {
        columns(writer, values[i]);
      }
      if (Status status = writer.end(); !status) {
        return status;
      }
    }
    return {};
  });
}

/// Rows with the key (owner, n) for n from `first`: `rest(writer, n - first)` writes the other
/// columns.
template <typename Rest>
Status writeNumbered(RowWriter& writer, std::size_t owner, std::size_t count, std::size_t first,
                     Rest&& rest) {
  Status status;
  for (std::size_t i = 0; i < count && status.ok(); ++i) {
    writer(owner);
    writer(i + first);
    rest(writer, i);
    status = writer.end();
  }
  return status;
}

Serial serialOf(const Execution& execution, const Race& race) {
  const RankHistory& history = execution.ranks[static_cast<std::size_t>(race.rank)];
  if (race.probe) {
    return history.probes[race.index].event;
  }
  const PostedReceive& receive = history.receives[race.index];
  return receive.completion != 0 ? receive.completion : receive.post;
}

Status writeRaces(Database& database, const ExecutionParts& parts) {
  return writeTable(database, TableId::Race, [&](RowWriter& writer) -> Status {
    for (std::size_t i = 0; i < parts.races.size(); ++i) {
      const Race& race = parts.races[i];
      writer(i), writer(race.rank), writer(serialOf(parts.execution, race)), writer(race.probe);
      writer(race.index), index(writer, race.taken);
      const bool hasClass = i < parts.raceClasses.size() && !parts.raceClasses[i].empty();
      hasClass ? writer(parts.raceClasses[i]) : writer.null();
      if (Status status = writer.end(); !status) {
        return status;
      }
    }
    return {};
  });
}

Status writeAlternatives(Database& database, const std::vector<Race>& races) {
  return writeTable(database, TableId::RaceAlternative, [&](RowWriter& writer) {
    Status status;
    for (std::size_t i = 0; i < races.size() && status.ok(); ++i) {
      const std::vector<std::uint32_t>& messages = races[i].alternatives;
      status = writeNumbered(writer, i, messages.size(), 0,
                             [&](RowWriter& row, std::size_t k) { row(messages[k]); });
    }
    return status;
  });
}

Status firstFailure(std::initializer_list<std::function<Status()>> steps) {
  for (const auto& step : steps) {
    if (Status status = step(); !status) {
      return status;
    }
  }
  return {};
}

// ---- Reading

template <typename V>
Status readList(Database& database, TableId id, std::vector<V>& values) {
  return readRows<V>(database, id, true, [&](std::int64_t key, V&& value) {
    values.push_back(std::move(value));
    return key == static_cast<std::int64_t>(values.size()) - 1;
  });
}

Status readCalls(Database& database, Execution& execution) {
  return forEachRow(database, table(TableId::Call), [&](const Row& row) {
    RowReader reader(row);
    std::size_t id = 0;
    reader(id), reader(execution.callNames.emplace_back());
    return reader.ok() && id == execution.callNames.size() - 1;
  });
}

Status readRaces(Database& database, std::vector<StoredRace>& races) {
  return forEachRow(database, table(TableId::Race), [&](const Row& row) {
    RowReader reader(row);
    std::size_t id = 0;
    StoredRace& stored = races.emplace_back();
    reader(id), reader(stored.race.rank), reader(stored.serial), reader(stored.race.probe);
    reader(stored.race.index), index(reader, stored.race.taken);
    if (reader.isNull()) {
      reader.skip();
    } else {
      reader(stored.raceClass);
    }
    return reader.ok() && id == races.size() - 1;
  });
}

Status readAlternatives(Database& database, std::vector<StoredRace>& races) {
  return forEachRow(database, table(TableId::RaceAlternative), [&](const Row& row) {
    RowReader reader(row);
    std::size_t race = 0;
    std::size_t position = 0;
    std::uint32_t message = kNone;
    reader(race), reader(position), reader(message);
    if (!reader.ok() || race >= races.size()) {
      return false;
    }
    races[race].race.alternatives.push_back(message);
    return position == races[race].race.alternatives.size() - 1;
  });
}

/// Every race names a receive or probe, and messages, that are there.
Status checkRaceRows(Database& database, const std::vector<StoredRace>& races) {
  std::size_t ranks = 0;
  Status status = readRows<RunInfo>(database, TableId::Run, true, [&](std::int64_t, RunInfo&& run) {
    ranks = static_cast<std::size_t>(std::max(run.ranks, 0));
    return !tooManyRanks(database, run.ranks);
  });
  const Result<ColumnReader> columns =
      status.ok() ? ColumnReader::start(database, ranks) : Result<ColumnReader>(status.error());
  if (!columns) {
    return columns.error();
  }
  std::uint64_t messages = 0;
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    messages += columns->count(static_cast<Rank>(rank), Stream::Send);
  }
  const auto isMessage = [&](std::uint32_t message) { return message < messages; };
  for (const StoredRace& stored : races) {
    const Race& race = stored.race;
    const bool hasRank = race.rank >= 0 && static_cast<std::size_t>(race.rank) < ranks;
    if (!hasRank ||
        race.index >= columns->count(race.rank, race.probe ? Stream::Probe : Stream::Receive) ||
        (race.taken != kNone && !isMessage(race.taken)) ||
        !std::all_of(race.alternatives.begin(), race.alternatives.end(), isMessage)) {
      return Error{ErrorCode::Damaged,
                   "a race in '" + database.path() + "' names what is not there",
                   "The file was not written by Photofinish as it is."};
    }
  }
  return {};
}

}  // namespace

Status writeExecutionRows(Database& database, const ExecutionParts& parts) {
  const Execution& execution = parts.execution;
  if (Status status = checkExecution(execution); !status) {
    return status;
  }
  if (Status status = checkRaces(execution, parts.races); !status) {
    return status;
  }
  const std::vector<std::string> kinds(kEventKindNames.begin(), kEventKindNames.end());
  return firstFailure({
      [&] { return writeList(database, TableId::Communicator, execution.communicators); },
      [&] { return writeList(database, TableId::CallSite, execution.sites); },
      [&] { return writeList(database, TableId::Call, execution.callNames); },
      [&] { return writeList(database, TableId::EventKind, kinds); },
      [&] { return writeExecutionColumns(database, execution, parts.logicalTimes); },
      [&] { return writeRaces(database, parts); },
      [&] { return writeAlternatives(database, parts.races); },
      [&] { return writeSummaries(database, execution, parts.races, parts.logicalTimes); },
  });
}

bool tooManyRanks(Database& database, std::int32_t ranks) {
  const Result<std::int64_t> size = database.fileSize();
  return !size || ranks > std::min<std::int64_t>(kMostRanks, *size);
}

Status readNameRows(Database& database, Execution& execution) {
  return firstFailure({
      [&] {
        return readRows<RunInfo>(database, TableId::Run, true, [&](std::int64_t, RunInfo&& run) {
          if (run.ranks < 0 || tooManyRanks(database, run.ranks)) {
            return false;
          }
          execution.ranks.resize(static_cast<std::size_t>(run.ranks));
          return true;
        });
      },
      [&] { return readList(database, TableId::Communicator, execution.communicators); },
      [&] { return readList(database, TableId::CallSite, execution.sites); },
      [&] { return readCalls(database, execution); },
  });
}

Result<Execution> readExecutionRows(Database& database, LogicalTimes* logicalTimes) {
  Execution execution;
  Status status = readNameRows(database, execution);
  if (status.ok()) {
    status = readExecutionColumns(database, execution, logicalTimes);
  }
  if (!status) {
    return status.error();
  }
  if (const Status check = checkExecution(execution); !check) {
    return Error{ErrorCode::Damaged, "'" + database.path() + "': " + check.error().message,
                 "The file was not written by Photofinish as it is."};
  }
  return execution;
}

Result<std::vector<CallSite>> readCallSiteRows(Database& database) {
  std::vector<CallSite> sites;
  if (Status status = readList(database, TableId::CallSite, sites); !status) {
    return status.error();
  }
  return sites;
}

Result<std::vector<StoredRace>> readRaceRows(Database& database) {
  std::vector<StoredRace> races;
  Status status = readRaces(database, races);
  if (status.ok()) {
    status = readAlternatives(database, races);
  }
  if (status.ok()) {
    status = checkRaceRows(database, races);
  }
  if (!status) {
    return status.error();
  }
  return races;
}

Status writeRun(Database& database, const RunInfo& run) {
  Result<RowWriter> writer = RowWriter::start(database, table(TableId::Run));
  if (!writer) {
    return writer.error();
  }
  writer->integer(1);
  columns(*writer, run);
  const Status status = writer->end();
  return status.ok() ? writer->finish() : status;
}

void setTotals(RunInfo& run, const Execution& execution, const std::vector<Race>& races) {
  std::uint64_t wildcards = 0;
  for (const RankHistory& history : execution.ranks) {
    for (const PostedReceive& receive : history.receives) {
      wildcards += receive.wantedSource == kAnySource ? 1U : 0U;
    }
  }
  run.messages = execution.messages.size();
  run.wildcardReceives = wildcards;
  run.racingReceives = races.size();
}

}  // namespace pf::db
