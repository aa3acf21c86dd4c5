// SPDX-License-Identifier: GPL-3.0-or-later
#include "db/former/former_format.h"

#include <utility>

#include "db/columns/execution_columns.h"
#include "db/columns/execution_rows.h"
#include "db/columns/race_columns.h"
#include "db/columns/summary_store.h"
#include "db/former/former_columns.h"
#include "db/former/former_rows.h"
#include "db/former/former_schema_text.h"
#include "db/schema/seal.h"

namespace pf::db {
namespace {

constexpr const char* kFormerColumns = "former_column_chunk";
constexpr std::size_t kAfterEventKind = 9;  ///< where tables stood that are no more
constexpr std::size_t kNewWith11 = 2;       // the last ones of tables(): they were others before
constexpr std::size_t kAddedBy8 = 1;        // before them
constexpr std::size_t kAddedBy5 = 1;        // before these

Table formerTable(const char* name, const char* create, const char* columns, const char* order) {
  return makeTable(TableId::ColumnChunk, TableKind::Execution, name, create, columns, order);
}

/// Those of tables() but for the last `fewer`, and in the middle those that are no more.
std::vector<Table> tablesWith(std::size_t fewer, const std::vector<Table>& gone) {
  std::vector<Table> all = tables();
  all.resize(all.size() - fewer);
  all.insert(all.begin() + kAfterEventKind, gone.begin(), gone.end());
  return all;
}

/// The summaries, which were a table of the same name from format 6 to 8.
const Table& goneWith9() {
  static const Table kTable =
      formerTable("summary_chunk", kCreateFormerSummaryChunk,
                  "kind,part,ordinal,crc32c,length(data)", "kind,part,ordinal");
  return kTable;
}

/// Chunks, when their key was not one number.
const Table& columnsOf10() {
  static const Table kTable =
      formerTable("column_chunk", kCreateColumnChunk10, "rank,stream,ordinal,crc32c,length(data)",
                  "rank,stream,ordinal");
  return kTable;
}
const Table& summariesOf10() {
  static const Table kTable =
      formerTable("summary_chunk", kCreateSummaryChunk10, "kind,part,ordinal,crc32c,length(data)",
                  "kind,part,ordinal");
  return kTable;
}

const std::vector<Table>& goneWith8() {
  static const std::vector<Table> kTables{
      formerTable("race", kCreateRace, "id,rank,serial,probe,post,message,class", "id"),
      formerTable("race_alternative", kCreateRaceAlternative, "race,position,message",
                  "race,position"),
  };
  return kTables;
}

const std::vector<Table>& goneWith5() {
  static const std::vector<Table> kTables{
      formerTable("event", kCreateEvent, "rank,serial,kind,call,site,comm,peer,tag,bytes,step",
                  "rank,serial"),
      formerTable("receive", kCreateReceive,
                  "rank,post,post_serial,completion_serial,comm,wanted_source,wanted_tag,state,"
                  "source,tag,message",
                  "rank,post"),
      formerTable(
          "probe", kCreateProbe,
          "rank,ordinal,serial,comm,wanted_source,wanted_tag,source,tag,posts_before,message",
          "rank,ordinal"),
      formerTable(
          "message", kCreateMessage,
          "id,source,send_index,send_serial,dest,comm,tag,bytes,synchronous,sync_completion,post,"
          "completion_serial",
          "id"),
      formerTable("collective", kCreateCollective,
                  "rank,part,serial,completion_serial,comm,ordinal,flow,root,contributes,takes",
                  "rank,part"),
  };
  return kTables;
}

std::vector<Table> tablesOf4() {
  std::vector<Table> gone = goneWith5();
  gone.insert(gone.end(), goneWith8().begin(), goneWith8().end());
  return tablesWith(kNewWith11 + kAddedBy8 + kAddedBy5, gone);
}

std::vector<Table> tablesOf5() {
  std::vector<Table> all = tablesWith(kNewWith11 + kAddedBy8 + kAddedBy5, goneWith8());
  all.push_back(columnsOf10());
  all.push_back(table(TableId::ColumnDirectory));
  return all;
}

/// Of formats 6 and 7.
std::vector<Table> tablesOf7() {
  std::vector<Table> all = tablesOf5();
  all.push_back(goneWith9());
  return all;
}

std::vector<Table> tablesOf8() {
  std::vector<Table> all = tablesWith(kNewWith11 + kAddedBy8 + kAddedBy5, {});
  for (const Table& each :
       {columnsOf10(), table(TableId::ColumnDirectory), goneWith9(), table(TableId::RaceClass)}) {
    all.push_back(each);
  }
  return all;
}

/// Of formats 9 and 10.
std::vector<Table> tablesOf10() {
  std::vector<Table> all = tablesWith(kNewWith11 + kAddedBy8 + kAddedBy5, {});
  for (const Table& each : {columnsOf10(), table(TableId::ColumnDirectory),
                            table(TableId::RaceClass), summariesOf10()}) {
    all.push_back(each);
  }
  return all;
}

/// Empties the tables of the execution.
Status clearExecution(Database& database, bool withSurvey) {
  for (const Table& each : tables()) {
    if (each.kind == TableKind::Execution && (withSurvey || each.id != TableId::SurveyChunk)) {
      if (Status status = database.execute(each.clear); !status) {
        return status;
      }
    }
  }
  return {};
}

/// Instead of an execution that does not verify: none, as in a recording without a survey. The logs
/// are what it was made from, and the next survey makes it again.
Status writeNoExecution(Database& database, std::size_t ranks) {
  if (Status status = clearExecution(database, true); !status) {
    return status;
  }
  Execution none;
  none.ranks.resize(ranks);
  Status status = writeExecutionRows(database, {none, {}, {}, {}});
  if (!status) {
    return status;
  }
  const Table& survey = table(TableId::SurveyChunk);
  const Result<Seal> seal = computeSeal(database, survey);
  return seal ? storeSeal(database, survey, *seal) : Status(seal.error());
}

/// The rows of a table to one that has a column `id` before the others, a few at a time: the pages
/// of those that have gone are taken again, so that the file stays about as long.
Status moveChunks(Database& database, const std::string& from, const std::string& to,
                  const std::string& id, const std::string& key) {
  Result<Statement> some = database.prepare("SELECT 1 FROM " + from);
  if (!some) {
    return some.error();
  }
  const std::string next = " FROM " + from + " ORDER BY " + key + " LIMIT 1000";
  while (true) {
    const Statement::Step step = some->step();
    some->reset();
    if (step == Statement::Step::Failed) {
      return some->error();
    }
    if (step == Statement::Step::Done) {
      break;
    }
    // Keys that are no keys of chunks might be one number: of a damaged file the rest is kept.
    if (Status status = database.execute("INSERT OR IGNORE INTO " + to + " SELECT " + id + ", *" +
                                         next + "; DELETE FROM " + from + " WHERE (" + key +
                                         ") IN (SELECT " + key + next + ")");
        !status) {
      return status;
    }
  }
  *some = Statement();
  return database.execute("DROP TABLE " + from);
}

/// From format `version`.
Status replaceTables(Database& database, std::uint32_t version) {
  std::string sql;
  const auto drop = [&sql](const std::vector<Table>& gone) {
    for (const Table& each : gone) {
      sql +=
          "DROP TABLE " + each.name + "; DELETE FROM seal WHERE table_name = '" + each.name + "';";
    }
  };
  if (version < 8) {
    drop(goneWith8());
  }
  if (version == 4) {
    drop(goneWith5());
  }
  if (version >= 5) {
    sql += "ALTER TABLE column_chunk RENAME TO " + std::string(kFormerColumns) + ";";
  }
  if (version >= 6) {
    sql += "ALTER TABLE summary_chunk RENAME TO " + std::string(kFormerSummaries) + ";";
  }
  std::size_t added = kNewWith11;
  added += version < 8 ? kAddedBy8 : 0;
  added += version < 5 ? kAddedBy5 : 0;
  for (std::size_t i = tables().size() - added; i < tables().size(); ++i) {
    sql += tables()[i].create + ";";
  }
  sql += "PRAGMA user_version=" + std::to_string(kFormatVersion);
  Status status = database.execute(sql);
  if (status.ok() && version >= 5) {
    status = moveChunks(database, kFormerColumns, "column_chunk",
                        "(8 * rank + stream) * 4294967296 + ordinal", "rank, stream, ordinal");
  }
  if (status.ok() && version >= 9) {
    status = moveChunks(database, kFormerSummaries, "summary_chunk",
                        "(16777216 * kind + part) * 4294967296 + ordinal", "kind, part, ordinal");
  }
  return status;
}

bool isDamage(const Status& status) {
  return !status &&
         (status.error().code == ErrorCode::Damaged || status.error().code == ErrorCode::Usage);
}

void split(std::vector<StoredRace>&& stored, std::vector<Race>& races,
           std::vector<std::string>& classes) {
  for (StoredRace& each : stored) {
    races.push_back(std::move(each.race));
    classes.push_back(std::move(each.raceClass));
  }
}

Status bring4UpToDate(Database& database, std::size_t ranks,
                      Result<std::vector<StoredRace>>& stored) {
  LogicalTimes times;
  const Result<Execution> execution = readFormerExecution(database, times);
  database.setDeadline({});
  Status read = execution ? Status() : Status(execution.error());
  read = read.ok() && !stored ? Status(stored.error()) : read;
  if (!read && !isDamage(read)) {
    return read;
  }
  Status status = replaceTables(database, 4);
  if (!status || isDamage(read)) {
    return status.ok() ? writeNoExecution(database, ranks) : status;
  }
  std::vector<Race> races;
  std::vector<std::string> classes;
  split(std::move(*stored), races, classes);
  status = clearExecution(database, false);
  status = status.ok() ? writeExecutionRows(database, {*execution, races, times, classes}) : status;
  return isDamage(status) ? writeNoExecution(database, ranks) : status;
}

/// Of a damaged execution there are no summaries.
Status addSummaries(Database& database) {
  LogicalTimes times;
  const Result<Execution> execution = readExecutionRows(database, &times);
  database.setDeadline({});
  if (!execution) {
    return isDamage(execution.error()) ? sealSummaries(database) : Status(execution.error());
  }
  Result<std::vector<StoredRace>> stored = readRaces(database, execution->ranks.size());
  if (!stored) {
    return stored.error();  // they were written just now
  }
  std::vector<Race> races;
  std::vector<std::string> classes;
  split(std::move(*stored), races, classes);
  return writeSummaries(database, *execution, races, times);
}

/// From format 5 to 8. What is damaged of an execution stays as it is, but where its races
/// cannot be told without it.
Status bringColumnsUpToDate(Database& database, std::uint32_t version, std::size_t ranks,
                            Result<std::vector<StoredRace>> stored) {
  Status status = replaceTables(database, version);
  if (!status) {
    return status;
  }
  if (version == 8) {
    stored = readRaces(database, ranks, ColumnReader::Directory::OfFormat8);
    database.setDeadline({});
  }
  status =
      stored ? completeFormerColumns(database, version, ranks, *stored) : Status(stored.error());
  const bool lost = isDamage(status);
  if (lost) {
    status = writeNoExecution(database, ranks);
  } else if (status.ok() && version == 5) {
    status = addSummaries(database);
  }
  if (status.ok() && version >= 6) {
    const Result<std::vector<std::uint64_t>> events = eventCounts(database, ranks);
    status = events ? Status() : Status(events.error());
    status = status.ok() && !lost ? renewSummaries(database, *events) : status;
    status = status.ok() ? database.execute(std::string("DROP TABLE ") + kFormerSummaries) : status;
  }
  return status;
}

Status bringTablesUpToDate(Database& database, std::uint32_t version) {
  if (version >= 9) {
    // What is in the chunks is the same; those of messages had as many values as the others in
    // format 9, which is told from the directory (ColumnReader::shift()).
    return replaceTables(database, version);
  }
  std::size_t ranks = 0;
  {
    Execution names;
    static_cast<void>(readNameRows(database, names));  // who needs more than their number says so
    ranks = names.ranks.size();
  }
  Result<std::vector<StoredRace>> races =
      version < 8 ? readFormerRaces(database) : std::vector<StoredRace>();
  database.setDeadline({});
  if (!races && !isDamage(races.error())) {
    return races.error();
  }
  return version == 4 ? bring4UpToDate(database, ranks, races)
                      : bringColumnsUpToDate(database, version, ranks, std::move(races));
}

}  // namespace

bool isFormerVersion(std::uint32_t version) {
  return version >= 4 && version < kFormatVersion;
}

const std::vector<Table>& formerTables(std::uint32_t version) {
  static const std::vector<Table> k4 = tablesOf4();
  static const std::vector<Table> k5 = tablesOf5();
  static const std::vector<Table> k7 = tablesOf7();
  static const std::vector<Table> k8 = tablesOf8();
  static const std::vector<Table> k10 = tablesOf10();
  switch (version) {
    case 4:
      return k4;
    case 5:
      return k5;
    case 6:
    case 7:
      return k7;
    case 8:
      return k8;
    case 9:
    case 10:
      return k10;
    default:
      return tables();
  }
}

Status bringUpToDate(const std::string& path, FormerSeals seals) {
  Result<Database> database = Database::open(path, Database::Access::Update);
  if (!database) {
    return Error{ErrorCode::Version,
                 "'" + path + "' has a former trace format and cannot be brought to format " +
                     std::to_string(kFormatVersion) + ": " + database.error().message,
                 "Copy it to where it can be written, and open the copy."};
  }
  Result<Transaction> transaction = Transaction::begin(*database, Transaction::Kind::Write);
  if (!transaction) {
    return transaction.error();
  }
  Result<Statement> found = database->prepare("PRAGMA user_version");
  if (!found || found->step() != Statement::Step::Row) {
    return found ? found->error() : found.error();
  }
  const auto version = static_cast<std::uint32_t>(found->integer(0));
  found->reset();
  if (!isFormerVersion(version)) {
    return {};  // another process was quicker
  }
  const std::vector<Table>& former = formerTables(version);
  Status status = checkSchema(*database, former);
  status =
      status.ok() && seals == FormerSeals::Checked ? checkSeals(*database, former.size()) : status;
  if (!status) {
    return status;
  }
  status = bringTablesUpToDate(*database, version);
  status = status.ok() ? finishSeals(*database) : status;
  return status.ok() ? transaction->commit() : status;
}

}  // namespace pf::db
