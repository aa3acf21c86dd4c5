// SPDX-License-Identifier: GPL-3.0-or-later
#include "db/former/former_rows.h"

#include <algorithm>
#include <functional>
#include <initializer_list>

#include "db/columns/execution_rows.h"
#include "db/former/former_format.h"
#include "db/schema/rows.h"
#include "db/schema/seal.h"

namespace pf::db {
namespace {

constexpr auto kLastEventKind = EventKind::Start;

const Table& formerTable(std::string_view name) {
  const std::vector<Table>& all = formerTables(4);
  return *std::find_if(all.begin(), all.end(),
                       [&](const Table& each) { return each.name == name; });
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
Status readPerRank(Database& database, const char* id, Execution& execution,
                   std::vector<V> RankHistory::*member, std::size_t first,
                   const std::function<void(std::size_t, RowReader&)>& rest = {}) {
  return forEachRow(database, formerTable(id), [&](const Row& row) {
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
  Status status = forEachRow(database, formerTable("message"), [&](const Row& row) {
    RowReader reader(row);
    Message message;
    SentMessage send;
    std::size_t id = 0;
    std::uint64_t bytes = 0;
    Serial completion = 0;
    reader(id), reader(message.send.rank), reader(message.sendIndex), reader(send.event);
    rank(reader, message.dest), index(reader, message.comm), reader(message.tag), reader(bytes);
    reader(send.synchronous), serial(reader, send.syncCompletion), index(reader, message.post);
    serial(reader, completion);
    if (!reader.ok() || message.send.rank < 0 || id != execution.messages.size() ||
        static_cast<std::size_t>(message.send.rank) >= execution.ranks.size()) {
      return false;
    }
    message.send.serial = send.event;
    message.completion = completion;
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
  return readPerRank<Event>(database, "event", execution, &RankHistory::events, 1,
                            [times](std::size_t r, RowReader& reader) {
                              std::uint32_t step = 0;
                              index(reader, step);
                              if (times != nullptr && step != kNone) {
                                (*times)[r].push_back(step);
                              }
                            });
}

}  // namespace

Result<Execution> readFormerExecution(Database& database, LogicalTimes& times) {
  Execution execution;
  Status status = readNameRows(database, execution);
  for (const std::function<Status()>& step : std::initializer_list<std::function<Status()>>{
           [&] { return readEvents(database, execution, &times); },
           [&] { return readPerRank(database, "receive", execution, &RankHistory::receives, 0); },
           [&] { return readPerRank(database, "probe", execution, &RankHistory::probes, 0); },
           [&] { return readMessages(database, execution); },
           [&] {
             return readPerRank(database, "collective", execution, &RankHistory::collectives, 0);
           },
           [&] { return checkExecution(execution); }}) {
    status = status.ok() ? step() : status;
  }
  return status.ok() ? Result<Execution>(std::move(execution)) : Result<Execution>(status.error());
}

namespace {

Status readRaces(Database& database, std::vector<StoredRace>& races) {
  return forEachRow(database, formerTable("race"), [&](const Row& row) {
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
  return forEachRow(database, formerTable("race_alternative"), [&](const Row& row) {
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

}  // namespace

Result<std::vector<StoredRace>> readFormerRaces(Database& database) {
  std::vector<StoredRace> races;
  Status status = readRaces(database, races);
  status = status.ok() ? readAlternatives(database, races) : status;
  if (!status) {
    return status.error();
  }
  for (StoredRace& stored : races) {
    std::vector<std::uint32_t>& messages = stored.race.alternatives;
    std::sort(messages.begin(), messages.end());
    messages.erase(std::unique(messages.begin(), messages.end()), messages.end());
  }
  std::stable_sort(races.begin(), races.end(), [](const StoredRace& a, const StoredRace& b) {
    return a.race.rank < b.race.rank;
  });
  return races;
}

}  // namespace pf::db
