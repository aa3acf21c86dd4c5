#include "execution_columns.h"

#include "column_store.h"
#include "seal.h"

#include <algorithm>
#include <span>

namespace pf::db {
namespace {

std::size_t index(Rank rank) {
  return static_cast<std::size_t>(rank);
}

class Writing {
 public:
  Writing(ColumnWriter& writer, const Execution& execution, const LogicalTimes& times)
      : m_writer(writer), m_execution(execution), m_times(times) {}

  Status rank(Rank rank);

 private:
  [[nodiscard]] std::uint32_t step(Rank rank, Serial serial) const {
    const bool known =
        index(rank) < m_times.size() && serial >= 1 &&
        m_times[index(rank)].size() == m_execution.ranks[index(rank)].events.size() &&
        serial <= m_times[index(rank)].size();
    return known ? m_times[index(rank)][serial - 1] : kNone;
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
  template <typename T, typename SerialOf>
  Status stream(Rank rank, const std::vector<T>& values, SerialOf&& serialOf) {
    Status status;
    for (std::size_t i = 0; i < values.size() && status.ok(); ++i) {
      const Serial serial = serialOf(values[i]);
      const std::uint32_t at = step(rank, serial);
      status = m_writer.write(rank, values[i], {serial, at, at});
    }
    return status;
  }
  Status events(Rank rank);
  Status sends(Rank rank);
  Status eventTimes(Rank rank);

  ColumnWriter& m_writer;
  const Execution& m_execution;
  const LogicalTimes& m_times;
  std::size_t m_message = 0;
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

Status Writing::sends(Rank rank) {
  Status status;
  for (const SentMessage& send : m_execution.ranks[index(rank)].sends) {
    const Message& message = m_execution.messages[m_message++];
    const std::uint32_t at = step(rank, send.event);
    const std::uint32_t arrives = arrival(message);
    status = m_writer.write(rank, StoredSend{send, message.post, message.completion, arrives},
                            {send.event, at, arrives == kNone ? at : std::max(at, arrives)});
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

Status Writing::rank(Rank rank) {
  const RankHistory& history = m_execution.ranks[index(rank)];
  Status status = events(rank);
  if (status.ok()) {
    status = stream(rank, history.receives, [](const PostedReceive& r) { return r.post; });
  }
  if (status.ok()) {
    status = stream(rank, history.probes, [](const ProbeHit& p) { return p.event; });
  }
  if (status.ok()) {
    status = sends(rank);
  }
  if (status.ok()) {
    status = stream(rank, history.collectives, [](const CollectivePart& p) { return p.event; });
  }
  if (status.ok() && m_execution.timeOrigin != TimeOrigin::None) {
    status = eventTimes(rank);
  }
  return status;
}

Serial serialOf(const PostedReceive& value) {
  return value.post;
}
Serial serialOf(const ProbeHit& value) {
  return value.event;
}
Serial serialOf(const StoredSend& value) {
  return value.send.event;
}
Serial serialOf(const CollectivePart& value) {
  return value.event;
}

/// Whether a chunk has the serials that the directory says.
template <typename T>
bool agrees(const ChunkEntry& entry, std::span<const T> values, std::size_t) {
  const auto [first, last] =
      std::minmax_element(values.begin(), values.end(),
                          [](const T& a, const T& b) { return serialOf(a) < serialOf(b); });
  return entry.firstSerial == serialOf(*first) && entry.lastSerial == serialOf(*last);
}

/// Of events their steps, too; their serials are their numbers.
bool agrees(const ChunkEntry& entry, std::span<const StoredEvent> values, std::size_t ordinal) {
  const auto [first, last] = std::minmax_element(
      values.begin(), values.end(),
      [](const StoredEvent& a, const StoredEvent& b) { return a.step < b.step; });
  const Serial before = ordinal * kChunkValues;
  return entry.firstSerial == before + 1 && entry.lastSerial == before + values.size() &&
         entry.firstStep == first->step && entry.lastStep == last->step;
}

/// One for each event.
bool agrees(const ChunkEntry& entry, std::span<const StoredTime> values, std::size_t ordinal) {
  const Serial before = ordinal * kChunkValues;
  return entry.firstSerial == before + 1 && entry.lastSerial == before + values.size();
}

/// Appends the values of a chunk, held against the directory.
template <typename T>
Status readChunk(ColumnReader& reader, Rank rank, std::size_t ordinal, std::vector<T>& values) {
  const std::size_t before = values.size();
  if (Status status = reader.read(rank, ordinal, values); !status) {
    return status;
  }
  const Stream stream = StreamOf<T>::kStream;
  return agrees(reader.chunks(rank, stream)[ordinal], std::span<const T>(values).subspan(before),
                ordinal)
             ? Status()
             : Status(reader.damaged(rank, stream, ordinal));
}

/// All values of a stream of a rank.
template <typename T>
Status readStream(ColumnReader& reader, Rank rank, std::vector<T>& values) {
  const Stream stream = StreamOf<T>::kStream;
  values.reserve(reader.reservable(rank, stream));
  Status status;
  const std::size_t chunks = reader.chunks(rank, stream).size();
  for (std::size_t i = 0; i < chunks && status.ok(); ++i) {
    status = readChunk(reader, rank, i, values);
  }
  return status;
}

Status readEvents(ColumnReader& reader, Rank rank, RankHistory& history,
                  std::vector<std::uint32_t>* times) {
  std::vector<StoredEvent> chunk;
  history.events.reserve(reader.reservable(rank, Stream::Event));
  const std::size_t chunks = reader.chunks(rank, Stream::Event).size();
  for (std::size_t i = 0; i < chunks; ++i) {
    chunk.clear();
    if (Status status = readChunk(reader, rank, i, chunk); !status) {
      return status;
    }
    for (const StoredEvent& stored : chunk) {
      history.events.push_back(stored.event);
      if (times != nullptr && stored.step != kNone) {
        times->push_back(stored.step);
      }
    }
  }
  return {};
}

Status readSends(ColumnReader& reader, Rank rank, Execution& execution) {
  std::vector<SentMessage>& sends = execution.ranks[index(rank)].sends;
  std::vector<StoredSend> chunk;
  sends.reserve(reader.reservable(rank, Stream::Send));
  const std::size_t chunks = reader.chunks(rank, Stream::Send).size();
  for (std::size_t i = 0; i < chunks; ++i) {
    chunk.clear();
    if (Status status = readChunk(reader, rank, i, chunk); !status) {
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
      execution.messages.push_back(message);
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
    if (Status status = readChunk(reader, rank, i, chunk); !status) {
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
                             const LogicalTimes& logicalTimes) {
  Result<ColumnWriter> writer = ColumnWriter::start(database);
  if (!writer) {
    return writer.error();
  }
  Writing writing(*writer, execution, logicalTimes);
  for (std::size_t rank = 0; rank < execution.ranks.size(); ++rank) {
    if (Status status = writing.rank(static_cast<Rank>(rank)); !status) {
      return status;
    }
  }
  return writer->finish();
}

Status readExecutionColumns(Database& database, Execution& execution, LogicalTimes* logicalTimes) {
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
  for (std::size_t r = 0; r < execution.ranks.size(); ++r) {
    const auto rank = static_cast<Rank>(r);
    RankHistory& history = execution.ranks[r];
    Status status =
        readEvents(*reader, rank, history, logicalTimes != nullptr ? &(*logicalTimes)[r] : nullptr);
    status = status.ok() ? readStream(*reader, rank, history.receives) : status;
    status = status.ok() ? readStream(*reader, rank, history.probes) : status;
    status = status.ok() ? readSends(*reader, rank, execution) : status;
    status = status.ok() ? readStream(*reader, rank, history.collectives) : status;
    status = status.ok() ? readTimes(*reader, rank, execution) : status;
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
      if (Status status = readChunk(*reader, rank, 0, chunk); !status) {
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
