// SPDX-License-Identifier: GPL-3.0-or-later
#include "db/columns/execution_columns.h"

#include <algorithm>
#include <span>

#include "db/columns/checked_chunks.h"
#include "db/schema/seal.h"

namespace pf::db {
namespace {

class Writing {
 public:
  Writing(ColumnWriter& writer, const Execution& execution, const LogicalTimes& times,
          const RaceList& races)
      : m_writer(writer),
        m_execution(execution),
        m_races(races),
        m_owners(messageOwners(execution)) {
    for (std::size_t r = 0; r < execution.ranks.size(); ++r) {
      const bool known = r < times.size() && times[r].size() == execution.ranks[r].events.size();
      m_steps.push_back(known ? std::span<const std::uint32_t>(times[r])
                              : std::span<const std::uint32_t>());
    }
  }

  Status rank(Rank rank);

 private:
  [[nodiscard]] std::uint32_t step(Rank rank, Serial serial) const {
    const bool known =
        index(rank) < m_steps.size() && serial - 1 < m_steps[index(rank)].size();  // 0 - 1 is large
    return known ? m_steps[index(rank)][serial - 1] : kNone;
  }
  [[nodiscard]] std::uint32_t arrival(const Message& message) const {
    if (message.completion != 0) {
      return step(message.dest, message.completion);
    }
    if (message.post == kNone) {
      return kNone;
    }
    return step(message.dest, m_execution.ranks[index(message.dest)].receives[message.post].post);
  }
  /// All values of one stream.
  template <typename T>
  Status stream(Rank rank, const std::vector<T>& values) {
    Status status;
    for (std::size_t i = 0; i < values.size() && status.ok(); ++i) {
      const Serial serial = serialOf(values[i]);
      const std::uint32_t at = step(rank, serial);
      status = m_writer.write(rank, values[i], {serial, at, at, completionOf(values[i])});
    }
    return status;
  }
  Status events(Rank rank);
  Status receives(Rank rank);
  Status sends(Rank rank);
  Status eventTimes(Rank rank);
  Status races(Rank rank);

  ColumnWriter& m_writer;
  const Execution& m_execution;
  std::vector<std::span<const std::uint32_t>> m_steps;  ///< by rank; empty: not known
  const RaceList& m_races;
  MessageOwners m_owners;
  std::size_t m_message = 0;
  std::size_t m_race = 0;
};

Status Writing::events(Rank rank) {
  const std::vector<Event>& events = m_execution.ranks[index(rank)].events;
  Status status;
  for (std::size_t i = 0; i < events.size() && status.ok(); ++i) {
    const std::uint32_t at = step(rank, i + 1);
    status = m_writer.write(rank, StoredEvent{events[i], at}, {i + 1, at, at});
  }
  return status;
}

Status Writing::receives(Rank rank) {
  Status status;
  for (const PostedReceive& receive : m_execution.ranks[index(rank)].receives) {
    StoredReceive stored{receive, 0, 0};
    if (receive.message != kNone) {
      const Message& message = m_execution.messages[receive.message];
      if (message.send.rank == receive.source) {
        stored.sent = message.send.serial;
        stored.senderDone =
            m_execution.ranks[index(receive.source)].sends[message.sendIndex].syncCompletion;
      }
    }
    const std::uint32_t at = step(rank, receive.post);
    status = m_writer.write(rank, stored, {receive.post, at, at, receive.completion});
    if (!status) {
      break;
    }
  }
  return status;
}

Status Writing::sends(Rank rank) {
  Status status;
  for (const SentMessage& send : m_execution.ranks[index(rank)].sends) {
    const Message& message = m_execution.messages[m_message++];
    const std::uint32_t at = step(rank, send.event);
    const std::uint32_t arrives = arrival(message);
    status = m_writer.write(
        rank, StoredSend{send, message.post, message.completion, arrives},
        {send.event, at, arrives == kNone ? at : std::max(at, arrives), send.syncCompletion});
    if (!status) {
      break;
    }
  }
  return status;
}

Status Writing::eventTimes(Rank rank) {
  const std::vector<EventTime>& all = m_execution.ranks[index(rank)].times;
  Status status;
  for (std::size_t i = 0; i < all.size() && status.ok(); ++i) {
    const std::uint32_t at = step(rank, i + 1);
    status = m_writer.write(
        rank, StoredTime{all[i].begin, all[i].end - all[i].begin, m_execution.timeOrigin},
        {i + 1, at, at});
  }
  return status;
}

/// The races of a rank, which come after those of the ranks before it.
Status Writing::races(Rank rank) {
  const RankHistory& history = m_execution.ranks[index(rank)];
  std::vector<RaceRow> rows;
  for (; m_race < m_races.races.size() && m_races.races[m_race].rank == rank; ++m_race) {
    const Race& race = m_races.races[m_race];
    RaceRow& row = rows.emplace_back();
    row.alternatives = &race.alternatives;
    row.value = raceValue(race, m_owners);
    row.value.chosen =
        race.probe ? history.probes[race.index].event : history.receives[race.index].post;
    const Serial completion = race.probe ? 0 : history.receives[race.index].completion;
    row.value.serial = completion != 0 ? completion : row.value.chosen;
    if (race.taken != kNone) {
      row.value.sent = m_execution.messages[race.taken].send.serial;
      row.value.tag = m_execution.messages[race.taken].tag;
    }
    row.value.raceClass = m_race < m_races.classes.size() ? m_races.classes[m_race] : kNone;
    row.firstStep = step(rank, row.value.chosen);
    row.lastStep = step(rank, row.value.serial);
  }
  return writeRaces(m_writer, rank, rows, m_owners);
}

Status Writing::rank(Rank rank) {
  const RankHistory& history = m_execution.ranks[index(rank)];
  Status status = events(rank);
  if (status.ok()) {
    status = receives(rank);
  }
  if (status.ok()) {
    status = stream(rank, history.probes);
  }
  if (status.ok()) {
    status = sends(rank);
  }
  if (status.ok()) {
    status = stream(rank, history.collectives);
  }
  if (status.ok() && m_execution.timeOrigin != TimeOrigin::None) {
    status = eventTimes(rank);
  }
  return status.ok() ? races(rank) : status;
}

/// Reads the columns of one rank after the other, all or from an event of each on.
class Reading {
 public:
  Reading(ColumnReader& reader, Execution& execution, std::span<const std::uint32_t> begun)
      : m_reader(reader), m_execution(execution), m_begun(begun) {}

  Status events(Rank rank, std::vector<std::uint32_t>* times);
  Status receives(Rank rank);
  Status sends(Rank rank);

 private:
  /// Nothing in the chunk is of event `begun` or later: what stands for its values is of event 1.
  [[nodiscard]] bool isBefore(const ChunkEntry& entry) const {
    const Serial begun = m_begun.empty() ? 0 : m_begun[index(entry.rank)];
    return entry.lastSerial < begun && entry.lastCompletion < begun;
  }

  ColumnReader& m_reader;
  Execution& m_execution;
  std::span<const std::uint32_t> m_begun;
};

Status Reading::events(Rank rank, std::vector<std::uint32_t>* times) {
  std::vector<Event>& events = m_execution.ranks[index(rank)].events;
  std::vector<StoredEvent> chunk;
  events.reserve(m_reader.reservable(rank, Stream::Event));
  const std::span<const ChunkEntry> chunks = m_reader.chunks(rank, Stream::Event);
  for (std::size_t i = 0; i < chunks.size(); ++i) {
    if (isBefore(chunks[i])) {
      events.resize(events.size() + chunks[i].values);
      continue;
    }
    chunk.clear();
    if (Status status = readChecked(m_reader, rank, i, chunk); !status) {
      return status;
    }
    for (const StoredEvent& stored : chunk) {
      events.push_back(stored.event);
      if (times != nullptr && stored.step != kNone) {
        times->push_back(stored.step);
      }
    }
  }
  return {};
}

Status Reading::receives(Rank rank) {
  std::vector<PostedReceive>& receives = m_execution.ranks[index(rank)].receives;
  receives.reserve(m_reader.reservable(rank, Stream::Receive));
  const std::span<const ChunkEntry> chunks = m_reader.chunks(rank, Stream::Receive);
  PostedReceive former;
  former.post = 1;
  std::vector<StoredReceive> chunk;
  for (std::size_t i = 0; i < chunks.size(); ++i) {
    if (isBefore(chunks[i])) {
      receives.resize(receives.size() + chunks[i].values, former);
      continue;
    }
    chunk.clear();
    if (Status status = readChecked(m_reader, rank, i, chunk); !status) {
      return status;
    }
    for (const StoredReceive& stored : chunk) {
      receives.push_back(stored.receive);
    }
  }
  return {};
}

Status Reading::sends(Rank rank) {
  std::vector<SentMessage>& sends = m_execution.ranks[index(rank)].sends;
  StoredSend former;
  former.send.event = 1;
  std::vector<StoredSend> chunk;
  sends.reserve(m_reader.reservable(rank, Stream::Send));
  const std::span<const ChunkEntry> chunks = m_reader.chunks(rank, Stream::Send);
  for (std::size_t i = 0; i < chunks.size(); ++i) {
    chunk.clear();
    if (isBefore(chunks[i])) {
      chunk.resize(chunks[i].values, former);
    } else if (Status status = readChecked(m_reader, rank, i, chunk); !status) {
      return status;
    }
    for (const StoredSend& stored : chunk) {
      Message message;
      message.send = {rank, stored.send.event};
      message.sendIndex = static_cast<std::uint32_t>(sends.size());
      message.dest = stored.send.dest;
      message.comm = stored.send.comm;
      message.tag = stored.send.tag;
      message.post = stored.post;
      message.completion = stored.completion;
      m_execution.messages.push_back(message);
      sends.push_back(stored.send);
    }
  }
  return {};
}

Status readTimes(ColumnReader& reader, Rank rank, Execution& execution) {
  constexpr auto kMost = static_cast<std::uint64_t>(INT64_MAX);
  RankHistory& history = execution.ranks[index(rank)];
  const std::size_t chunks = reader.chunks(rank, Stream::Time).size();
  std::vector<StoredTime> chunk;
  history.times.reserve(reader.reservable(rank, Stream::Time));
  for (std::size_t i = 0; i < chunks; ++i) {
    chunk.clear();
    if (Status status = readChecked(reader, rank, i, chunk); !status) {
      return status;
    }
    for (const StoredTime& stored : chunk) {
      const std::uint64_t before = history.times.empty() ? 0 : history.times.back().end;
      if (stored.begin < before || stored.duration > kMost - stored.begin ||
          stored.origin == TimeOrigin::None) {
        return reader.damaged(rank, Stream::Time, i);
      }
      history.times.push_back({stored.begin, stored.begin + stored.duration});
      execution.timeOrigin = stored.origin;
    }
  }
  if (!history.times.empty() && history.times.size() != history.events.size()) {
    return reader.damaged(rank, Stream::Time, chunks - 1);
  }
  return {};
}

}  // namespace

Status writeExecutionColumns(Database& database, const Execution& execution,
                             const LogicalTimes& logicalTimes, const RaceList& races) {
  Result<ColumnWriter> writer = ColumnWriter::start(database);
  if (!writer) {
    return writer.error();
  }
  Writing writing(*writer, execution, logicalTimes, races);
  for (std::size_t rank = 0; rank < execution.ranks.size(); ++rank) {
    if (Status status = writing.rank(static_cast<Rank>(rank)); !status) {
      return status;
    }
  }
  return writer->finish();
}

Status readExecutionColumns(Database& database, Execution& execution, LogicalTimes* logicalTimes,
                            std::span<const std::uint32_t> begun) {
  Result<ColumnReader> reader = ColumnReader::start(database, execution.ranks.size());
  if (!reader) {
    return reader.error();
  }
  if (logicalTimes != nullptr) {
    logicalTimes->assign(execution.ranks.size(), {});
  }
  const Result<std::int64_t> size = database.fileSize();
  if (!size) {
    return size.error();
  }
  database.setDeadline(readBudget(*size));
  std::uint64_t messages = 0;
  for (std::size_t r = 0; r < execution.ranks.size(); ++r) {
    messages += reader->count(static_cast<Rank>(r), Stream::Send);
  }
  execution.messages.reserve(std::min(messages, static_cast<std::uint64_t>(*size)));
  Reading reading(*reader, execution, begun);
  for (std::size_t r = 0; r < execution.ranks.size(); ++r) {
    const auto rank = static_cast<Rank>(r);
    RankHistory& history = execution.ranks[r];
    Status status = reading.events(rank, logicalTimes != nullptr ? &(*logicalTimes)[r] : nullptr);
    status = status.ok() ? reading.receives(rank) : status;
    status = status.ok() ? readAllChecked(*reader, rank, history.probes) : status;
    status = status.ok() ? reading.sends(rank) : status;
    status = status.ok() ? readAllChecked(*reader, rank, history.collectives) : status;
    status = status.ok() && begun.empty() ? readTimes(*reader, rank, execution) : status;
    if (!status) {
      return status;
    }
  }
  database.setDeadline({});
  if (!hasTimes(execution)) {
    execution.timeOrigin = TimeOrigin::None;
  }
  return {};
}

Result<TimeOrigin> timeOrigin(Database& database, std::size_t ranks) {
  Result<ColumnReader> reader = ColumnReader::start(database, ranks);
  if (!reader) {
    return reader.error();
  }
  for (std::size_t r = 0; r < ranks; ++r) {
    const auto rank = static_cast<Rank>(r);
    if (!reader->chunks(rank, Stream::Time).empty()) {
      std::vector<StoredTime> chunk;
      if (Status status = readChecked(*reader, rank, 0, chunk); !status) {
        return status.error();
      }
      return chunk.front().origin;
    }
  }
  return TimeOrigin::None;
}

Result<std::vector<std::uint64_t>> eventCounts(Database& database, std::size_t ranks) {
  const Result<ColumnReader> reader = ColumnReader::start(database, ranks);
  if (!reader) {
    return reader.error();
  }
  std::vector<std::uint64_t> counts;
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    counts.push_back(reader->count(static_cast<Rank>(rank), Stream::Event));
  }
  return counts;
}

Status checkColumns(Database& database, std::size_t ranks) {
  Execution execution;
  execution.ranks.resize(ranks);
  return readExecutionColumns(database, execution, nullptr);
}

}  // namespace pf::db
