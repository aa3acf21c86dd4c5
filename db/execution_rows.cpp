#include "execution_rows.h"

#include "rows.h"
#include "schema.h"

#include <algorithm>
#include <array>
#include <functional>
#include <initializer_list>

namespace pf::db {
namespace {

constexpr std::array kEventKindNames{"send",       "receive", "send-receive", "post",
                                     "completion", "probe",   "collective",   "collective-post",
                                     "local",      "start"};
constexpr auto kLastEventKind = EventKind::Start;
static_assert(kEventKindNames.size() == static_cast<std::size_t>(kLastEventKind) + 1);

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
void enumerator(RowWriter& codec, const E& value, E) {
  codec(static_cast<std::uint8_t>(value));
}
template <typename E>
void enumerator(RowReader& codec, E& value, E last) {
  std::uint8_t stored = 0;
  codec(stored);
  codec.require(stored <= static_cast<std::uint8_t>(last));
  value = static_cast<E>(stored);
}

// ---- Columns after the key

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

/// A table whose rows are the elements of a vector in RankHistory; the key is (rank, index).
template <typename V>
Status writePerRank(Database& database, TableId id, const Execution& execution,
                    std::vector<V> RankHistory::*member) {
  return writeTable(database, id, [&](RowWriter& writer) {
    Status status;
    for (std::size_t r = 0; r < execution.ranks.size() && status.ok(); ++r) {
      const std::vector<V>& values = execution.ranks[r].*member;
      status = writeNumbered(writer, r, values.size(), 0,
                             [&](RowWriter& row, std::size_t i) { columns(row, values[i]); });
    }
    return status;
  });
}

Status writeEvents(Database& database, const Execution& execution, const LogicalTimes& times) {
  return writeTable(database, TableId::Event, [&](RowWriter& writer) {
    Status status;
    for (std::size_t r = 0; r < execution.ranks.size() && status.ok(); ++r) {
      const std::vector<Event>& events = execution.ranks[r].events;
      const bool hasTimes = r < times.size() && times[r].size() == events.size();
      status = writeNumbered(writer, r, events.size(), 1, [&](RowWriter& row, std::size_t i) {
        columns(row, events[i]);
        hasTimes ? row(times[r][i]) : row.null();
      });
    }
    return status;
  });
}

Status writeMessages(Database& database, const Execution& execution) {
  return writeTable(database, TableId::Message, [&](RowWriter& writer) -> Status {
    for (std::size_t i = 0; i < execution.messages.size(); ++i) {
      const Message& message = execution.messages[i];
      const RankHistory& source = execution.ranks[static_cast<std::size_t>(message.send.rank)];
      const SentMessage& send = source.sends[message.sendIndex];
      writer(i);
      writer(message.send.rank), writer(message.sendIndex), writer(message.send.serial);
      rank(writer, message.dest), index(writer, message.comm), writer(message.tag);
      writer(source.events[message.send.serial - 1].bytes), writer(send.synchronous);
      serial(writer, send.syncCompletion), index(writer, message.post),
          serial(writer, message.completion);
      if (Status status = writer.end(); !status) {
        return status;
      }
    }
    return {};
  });
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

/// Rows of a table whose key is (rank, n) with n dense from `first`, into `member` of each rank.
template <typename V>
Status readPerRank(Database& database, TableId id, Execution& execution,
                   std::vector<V> RankHistory::*member, std::size_t first,
                   const std::function<void(std::size_t, RowReader&)>& rest = {}) {
  return forEachRow(database, table(id), [&](const Row& row) {
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

Status readMessages(Database& database, Execution& execution) {
  std::vector<SentMessage>
      sends;  // as messages: their place among the sends of a rank is known at the end
  std::vector<std::size_t> count(execution.ranks.size());
  Status status = forEachRow(database, table(TableId::Message), [&](const Row& row) {
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
  return readPerRank<Event>(database, TableId::Event, execution, &RankHistory::events, 1,
                            [times](std::size_t r, RowReader& reader) {
                              std::uint32_t step = 0;
                              index(reader, step);
                              if (times != nullptr && step != kNone) {
                                (*times)[r].push_back(step);
                              }
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
  const Result<Seal> messages = storedSeal(database, table(TableId::Message));
  Result<Statement> receive = database.prepare("SELECT 1 FROM receive WHERE rank = ? AND post = ?");
  Result<Statement> probe = database.prepare("SELECT 1 FROM probe WHERE rank = ? AND ordinal = ?");
  if (!messages || !receive || !probe) {
    return !messages ? messages.error() : (!receive ? receive.error() : probe.error());
  }
  for (const StoredRace& stored : races) {
    Statement& lookUp = stored.race.probe ? *probe : *receive;
    lookUp.reset();
    lookUp.bindInteger(1, stored.race.rank);
    lookUp.bindInteger(2, stored.race.index);
    const Statement::Step step = lookUp.step();
    if (step == Statement::Step::Failed) {
      return lookUp.error();
    }
    const auto isMessage = [&](std::uint32_t message) { return message < messages->rows; };
    if (step == Statement::Step::Done ||
        (stored.race.taken != kNone && !isMessage(stored.race.taken)) ||
        !std::all_of(stored.race.alternatives.begin(), stored.race.alternatives.end(), isMessage)) {
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
      [&] { return writeEvents(database, execution, parts.logicalTimes); },
      [&] { return writePerRank(database, TableId::Receive, execution, &RankHistory::receives); },
      [&] { return writePerRank(database, TableId::Probe, execution, &RankHistory::probes); },
      [&] { return writeMessages(database, execution); },
      [&] {
        return writePerRank(database, TableId::Collective, execution, &RankHistory::collectives);
      },
      [&] { return writeRaces(database, parts); },
      [&] { return writeAlternatives(database, parts.races); },
  });
}

Result<Execution> readExecutionRows(Database& database, LogicalTimes* logicalTimes) {
  Execution execution;
  Status status = readRows<RunInfo>(database, TableId::Run, true, [&](std::int64_t, RunInfo&& run) {
    constexpr std::int32_t kMostRanks = 1 << 24;
    if (run.ranks < 0 || run.ranks > kMostRanks) {
      return false;
    }
    execution.ranks.resize(static_cast<std::size_t>(run.ranks));
    return true;
  });
  if (status.ok()) {
    status = firstFailure({
        [&] { return readList(database, TableId::Communicator, execution.communicators); },
        [&] { return readList(database, TableId::CallSite, execution.sites); },
        [&] { return readCalls(database, execution); },
        [&] { return readEvents(database, execution, logicalTimes); },
        [&] {
          return readPerRank(database, TableId::Receive, execution, &RankHistory::receives, 0);
        },
        [&] { return readPerRank(database, TableId::Probe, execution, &RankHistory::probes, 0); },
        [&] { return readMessages(database, execution); },
        [&] {
          return readPerRank(database, TableId::Collective, execution, &RankHistory::collectives,
                             0);
        },
    });
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
