#include "former_format.h"

#include "execution_columns.h"
#include "execution_rows.h"
#include "former_schema_text.h"
#include "rows.h"
#include "seal.h"
#include "summary_store.h"

#include <array>
#include <functional>

namespace pf::db {
namespace {

/// Tables that format 4 has and later ones have not, after `event_kind`.
enum class Former : std::size_t { Event, Receive, Probe, Message, Collective };
constexpr std::size_t kFirstFormer = 9;
constexpr std::size_t kTablesOf5 = 2;  // that format 4 has not, before those of format 6
constexpr std::size_t kTablesOf6 = 1;  // the last ones of tables()
constexpr auto kLastEventKind = EventKind::Start;

const std::vector<Table>& tablesOf4() {
  static const std::vector<Table> kTables = [] {
    std::vector<Table> all = tables();
    all.resize(all.size() - kTablesOf5 - kTablesOf6);
    const std::array gone{
        makeTable(TableId::ColumnChunk, TableKind::Execution, "event", kCreateEvent,
                  "rank,serial,kind,call,site,comm,peer,tag,bytes,step", "rank,serial"),
        makeTable(TableId::ColumnChunk, TableKind::Execution, "receive", kCreateReceive,
                  "rank,post,post_serial,completion_serial,comm,wanted_source,wanted_tag,state,"
                  "source,tag,"
                  "message",
                  "rank,post"),
        makeTable(
            TableId::ColumnChunk, TableKind::Execution, "probe", kCreateProbe,
            "rank,ordinal,serial,comm,wanted_source,wanted_tag,source,tag,posts_before,message",
            "rank,ordinal"),
        makeTable(
            TableId::ColumnChunk, TableKind::Execution, "message", kCreateMessage,
            "id,source,send_index,send_serial,dest,comm,tag,bytes,synchronous,sync_completion,post,"
            "completion_serial",
            "id"),
        makeTable(TableId::ColumnChunk, TableKind::Execution, "collective", kCreateCollective,
                  "rank,part,serial,completion_serial,comm,ordinal,flow,root,contributes,takes",
                  "rank,part"),
    };
    all.insert(all.begin() + kFirstFormer, gone.begin(), gone.end());
    return all;
  }();
  return kTables;
}

const std::vector<Table>& tablesOf5() {
  static const std::vector<Table> kTables(tables().begin(),
                                          tables().end() - std::ptrdiff_t{kTablesOf6});
  return kTables;
}

const Table& former(Former id) {
  return tablesOf4()[kFirstFormer + static_cast<std::size_t>(id)];
}

template <typename Codec, typename V>
void index(Codec& codec, V& value) {  // of something in Execution
  orNull(codec, value, kNone);
}
template <typename Codec, typename V>
void rank(Codec& codec, V& value) {
  orNull(codec, value, kUnknownRank);
}
template <typename Codec, typename V>
void serial(Codec& codec, V& value) {  // of an event that may not exist
  orNull(codec, value, 0U);
}

template <typename E>
void enumerator(RowReader& codec, E& value, E last) {
  std::uint8_t stored = 0;
  codec(stored);
  codec.require(stored <= static_cast<std::uint8_t>(last));
  value = static_cast<E>(stored);
}

template <typename Codec, Is<Event> V>
void columns(Codec& c, V& v) {
  enumerator(c, v.kind, kLastEventKind), c(v.call), index(c, v.site), index(c, v.comm),
      rank(c, v.peer);
  c(v.tag), c(v.bytes);
}

template <typename Codec, Is<PostedReceive> V>
void columns(Codec& c, V& v) {
  c(v.post), serial(c, v.completion), index(c, v.comm), rank(c, v.wantedSource), c(v.wantedTag);
  enumerator(c, v.state, ReceiveState::Cancelled), rank(c, v.source), c(v.tag), index(c, v.message);
}

template <typename Codec, Is<ProbeHit> V>
void columns(Codec& c, V& v) {
  c(v.event), index(c, v.comm), rank(c, v.wantedSource), c(v.wantedTag), rank(c, v.source),
      c(v.tag);
  c(v.postsBefore), index(c, v.message);
}

template <typename Codec, Is<CollectivePart> V>
void columns(Codec& c, V& v) {
  c(v.event), serial(c, v.completion), index(c, v.comm), c(v.ordinal);
  enumerator(c, v.flow, CollectiveFlow::FromLower), rank(c, v.root), c(v.contributes), c(v.takes);
}

/// Rows of a table whose key is (rank, n) with n dense from `first`, into `member` of each rank.
template <typename V>
Status readPerRank(Database& database, Former id, Execution& execution,
                   std::vector<V> RankHistory::*member, std::size_t first,
                   const std::function<void(std::size_t, RowReader&)>& rest = {}) {
  return forEachRow(database, former(id), [&](const Row& row) {
    RowReader reader(row);
    std::size_t r = 0;
    std::size_t n = 0;
    reader(r);
    reader(n);
    if (!reader.ok() || r >= execution.ranks.size()) {
      return false;
    }
    std::vector<V>& values = execution.ranks[r].*member;
    columns(reader, values.emplace_back());
    if (rest) {
      rest(r, reader);
    }
    return reader.ok() && n == values.size() - 1 + first;
  });
}

Status readMessages(Database& database, Execution& execution) {
  std::vector<SentMessage>
      sends;  // as messages: their place among the sends of a rank is known at the end
  std::vector<std::size_t> count(execution.ranks.size());
  Status status = forEachRow(database, former(Former::Message), [&](const Row& row) {
    RowReader reader(row);
    Message message;
    SentMessage send;
    std::size_t id = 0;
    std::uint64_t bytes = 0;
    reader(id), reader(message.send.rank), reader(message.sendIndex), reader(message.send.serial);
    rank(reader, message.dest), index(reader, message.comm), reader(message.tag), reader(bytes);
    reader(send.synchronous), serial(reader, send.syncCompletion), index(reader, message.post);
    serial(reader, message.completion);
    if (!reader.ok() || message.send.rank < 0 || id != execution.messages.size() ||
        static_cast<std::size_t>(message.send.rank) >= execution.ranks.size()) {
      return false;
    }
    send.event = message.send.serial;
    send.comm = message.comm;
    send.dest = message.dest;
    send.tag = message.tag;
    ++count[static_cast<std::size_t>(message.send.rank)];
    execution.messages.push_back(message);
    sends.push_back(send);
    return true;
  });
  for (std::size_t r = 0; r < count.size(); ++r) {
    execution.ranks[r].sends.resize(count[r]);
  }
  for (std::size_t i = 0; i < sends.size() && status.ok(); ++i) {
    const Message& message = execution.messages[i];
    RankHistory& source = execution.ranks[static_cast<std::size_t>(message.send.rank)];
    if (message.sendIndex >= source.sends.size()) {
      return Error{ErrorCode::Damaged,
                   "table 'message' of '" + database.path() + "' has a send out of range",
                   {}};
    }
    source.sends[message.sendIndex] = sends[i];
  }
  return status;
}

Status readEvents(Database& database, Execution& execution, LogicalTimes* times) {
  if (times != nullptr) {
    times->assign(execution.ranks.size(), {});
  }
  return readPerRank<Event>(database, Former::Event, execution, &RankHistory::events, 1,
                            [times](std::size_t r, RowReader& reader) {
                              std::uint32_t step = 0;
                              index(reader, step);
                              if (times != nullptr && step != kNone) {
                                (*times)[r].push_back(step);
                              }
                            });
}

Result<Execution> readFormerRows(Database& database, LogicalTimes& times, std::size_t& ranks) {
  Execution execution;
  Status status = readNameRows(database, execution);
  ranks = execution.ranks.size();
  for (const std::function<Status()>& step : std::initializer_list<std::function<Status()>>{
           [&] { return readEvents(database, execution, &times); },
           [&] {
             return readPerRank(database, Former::Receive, execution, &RankHistory::receives, 0);
           },
           [&] { return readPerRank(database, Former::Probe, execution, &RankHistory::probes, 0); },
           [&] { return readMessages(database, execution); },
           [&] {
             return readPerRank(database, Former::Collective, execution, &RankHistory::collectives,
                                0);
           },
           [&] { return checkExecution(execution); }}) {
    status = status.ok() ? step() : status;
  }
  return status.ok() ? Result<Execution>(std::move(execution)) : Result<Execution>(status.error());
}

/// Instead of an execution that does not verify: none, as in a recording without a survey. The logs
/// are what it was made from, and the next survey makes it again.
Status writeNoExecution(Database& database, std::size_t ranks) {
  for (const Table& each : tables()) {
    if (Status status = each.kind == TableKind::Execution ? database.execute(each.clear) : Status();
        !status) {
      return status;
    }
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

/// From format `version`.
Status replaceTables(Database& database, std::uint32_t version) {
  std::string sql;
  std::size_t added = kTablesOf6;
  if (version == 4) {
    added += kTablesOf5;
    sql =
        "DELETE FROM seal WHERE table_name IN ('event','receive','probe','message','collective');";
    for (std::size_t i = 0; i < 5; ++i) {
      sql += "DROP TABLE " + tablesOf4()[kFirstFormer + i].name + ";";
    }
  }
  for (std::size_t i = tables().size() - added; i < tables().size(); ++i) {
    sql += tables()[i].create + ";";
  }
  sql += "PRAGMA user_version=" + std::to_string(kFormatVersion);
  return database.execute(sql);
}

Status addSummaries(Database& database, const Execution& execution, const LogicalTimes& times) {
  const Result<std::vector<StoredRace>> stored = readRaceRows(database);
  if (!stored) {
    return stored.error();
  }
  std::vector<Race> races;
  for (const StoredRace& race : *stored) {
    races.push_back(race.race);
  }
  return writeSummaries(database, execution, races, times);
}

bool isDamage(const Status& status) {
  return !status &&
         (status.error().code == ErrorCode::Damaged || status.error().code == ErrorCode::Usage);
}

Status bring4UpToDate(Database& database) {
  LogicalTimes times;
  std::size_t ranks = 0;
  const Result<Execution> execution = readFormerRows(database, times, ranks);
  database.setDeadline({});
  const Status read = execution ? Status() : Status(execution.error());
  if (!read && !isDamage(read)) {
    return read;
  }
  Status status = replaceTables(database, 4);
  if (!status) {
    return status;
  }
  if (isDamage(read)) {
    return writeNoExecution(database, ranks);
  }
  status = writeExecutionColumns(database, *execution, times);
  if (status.ok()) {
    status = addSummaries(database, *execution, times);
  }
  return isDamage(status) ? writeNoExecution(database, ranks) : status;
}

/// Of a damaged execution there are no summaries; what is left of it stays as it is.
Status bring5UpToDate(Database& database) {
  LogicalTimes times;
  Status status = replaceTables(database, 5);
  if (!status) {
    return status;
  }
  const Result<Execution> execution = readExecutionRows(database, &times);
  database.setDeadline({});
  status = execution ? addSummaries(database, *execution, times) : Status(execution.error());
  return isDamage(status) ? sealSummaries(database) : status;
}

}  // namespace

bool isFormerVersion(std::uint32_t version) {
  return version == 4 || version == 5;
}

const std::vector<Table>& formerTables(std::uint32_t version) {
  return version == 4 ? tablesOf4() : tablesOf5();
}

Status bringUpToDate(const std::string& path) {
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
  status = status.ok() ? checkSeals(*database, former.size()) : status;
  if (!status) {
    return status;
  }
  status = version == 4 ? bring4UpToDate(*database) : bring5UpToDate(*database);
  status = status.ok() ? finishSeals(*database) : status;
  return status.ok() ? transaction->commit() : status;
}

}  // namespace pf::db
