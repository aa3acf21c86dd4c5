// SPDX-License-Identifier: GPL-3.0-or-later
#include "db/store/execution_reader.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <utility>

#include "db/columns/checked_chunks.h"
#include "db/columns/column_store.h"
#include "db/columns/execution_columns.h"
#include "db/columns/execution_rows.h"
#include "db/sqlite/database.h"
#include "db/store/open_trace.h"

namespace pf::db {

static_assert(static_cast<int>(ChunkStream::Time) == static_cast<int>(Stream::Time));

// Chunks are read here and there: the way to each leads over some six pages of a tree whose inner
// ones (4.5 MB of 10^8 events) then stay. With SQLite's 2 MB, a chunk took 17 reads of the file.
constexpr const char* kKeepTree = "PRAGMA cache_size=-16384";

struct ExecutionReader::State {
  /// Whether all that a value names is in the execution, as checkExecution() has it.
  struct Sound {
    const State& state;
    Rank rank;

    [[nodiscard]] bool isEvent(Serial serial) const {
      return serial >= 1 && serial <= state.count(rank, Stream::Event);
    }
    [[nodiscard]] bool isDone(Serial serial) const { return serial == 0 || isEvent(serial); }
    [[nodiscard]] bool isRank(Rank other) const {
      return other >= kUnknownRank &&
             (other < 0 || static_cast<std::size_t>(other) < state.rest.ranks.size());
    }
    [[nodiscard]] bool isComm(std::uint32_t comm) const {
      return comm == kNone || comm < state.rest.communicators.size();
    }
    [[nodiscard]] bool isMessage(std::uint32_t message) const {
      return message == kNone || message < state.messages;
    }
    bool operator()(const StoredEvent& v) const {
      return v.event.call < state.rest.callNames.size() &&
             (v.event.site == kNone || v.event.site < state.rest.sites.size()) &&
             isComm(v.event.comm) && isRank(v.event.peer);
    }
    bool operator()(const EventStep& v) const { return v.step != kNone; }
    [[nodiscard]] bool isEventOf(Rank source, Serial sent) const {
      return sent == 0 || (source >= 0 && sent <= state.count(source, Stream::Event));
    }
    bool operator()(const StoredReceive& v) const {
      const PostedReceive& r = v.receive;
      return isEvent(r.post) && isDone(r.completion) && isComm(r.comm) && isRank(r.wantedSource) &&
             isRank(r.source) && isMessage(r.message) && isEventOf(r.source, v.sent) &&
             isEventOf(r.source, v.senderDone);
    }
    bool operator()(const ReceiveEnds& v) const {
      return isEvent(v.post) && isDone(v.completion) && isRank(v.source) && isMessage(v.message) &&
             isEventOf(v.source, v.sent) && isEventOf(v.source, v.senderDone);
    }
    bool operator()(const SendEnds& v) const {
      return isEvent(v.event) && isDone(v.syncCompletion) && isRank(v.dest) &&
             (v.dest < 0 ? v.completion == 0 : v.completion <= state.count(v.dest, Stream::Event));
    }
    bool operator()(const ProbeHit& v) const {
      return isEvent(v.event) && v.postsBefore <= state.count(rank, Stream::Receive) &&
             isComm(v.comm) && isRank(v.wantedSource) && isRank(v.source) && isMessage(v.message);
    }
    bool operator()(const StoredSend& v) const {
      if (!isEvent(v.send.event) || !isDone(v.send.syncCompletion) || !isComm(v.send.comm) ||
          !isRank(v.send.dest)) {
        return false;
      }
      return v.send.dest < 0
                 ? v.post == kNone && v.completion == 0
                 : (v.post == kNone || v.post < state.count(v.send.dest, Stream::Receive)) &&
                       v.completion <= state.count(v.send.dest, Stream::Event);
    }
    bool operator()(const CollectivePart& v) const {
      return isEvent(v.event) && isDone(v.completion) && isComm(v.comm) && isRank(v.root);
    }
    bool operator()(const StoredTime& v) const {
      constexpr auto kMost = static_cast<std::uint64_t>(INT64_MAX);
      return v.begin <= kMost && v.duration <= kMost - v.begin;
    }
  };

  std::unique_ptr<Database> database;
  ColumnReader reader;
  Execution rest;
  std::array<std::vector<std::vector<ChunkInfo>>, kChunkStreams> chunks;  ///< [stream][rank]
  std::array<std::vector<std::uint64_t>, kChunkStreams> counts;           ///< of values, likewise
  std::uint64_t messages = 0;
  std::optional<Transaction> reading;

  [[nodiscard]] bool takeDirectory();
  [[nodiscard]] std::uint64_t count(Rank rank, Stream stream) const {
    return counts[static_cast<std::size_t>(stream)][static_cast<std::size_t>(rank)];
  }

  template <typename T>
  Status values(Rank rank, std::size_t ordinal, std::vector<T>& out) {
    out.clear();
    const std::vector<ChunkInfo>& all =
        chunks[static_cast<std::size_t>(StreamOf<T>::kStream)][static_cast<std::size_t>(rank)];
    if (ordinal >= all.size()) {
      return reader.damaged(rank, StreamOf<T>::kStream, ordinal);
    }
    out.reserve(all[ordinal].values);
    if (Status status = readChecked(reader, rank, ordinal, out); !status) {
      return status;
    }
    const Sound sound{*this, rank};
    return std::ranges::all_of(out, sound)
               ? Status()
               : Status(reader.damaged(rank, StreamOf<T>::kStream, ordinal));
  }
};

ExecutionReader::ExecutionReader(std::unique_ptr<State> state) : m_state(std::move(state)) {}
ExecutionReader::ExecutionReader(ExecutionReader&&) noexcept = default;
ExecutionReader& ExecutionReader::operator=(ExecutionReader&&) noexcept = default;
ExecutionReader::~ExecutionReader() = default;

/// False: the events have no times by which they can be found.
bool ExecutionReader::State::takeDirectory() {
  for (std::size_t stream = 0; stream < kChunkStreams; ++stream) {
    chunks[stream].resize(rest.ranks.size());
    counts[stream].resize(rest.ranks.size());
    for (std::size_t rank = 0; rank < rest.ranks.size(); ++rank) {
      counts[stream][rank] = reader.count(static_cast<Rank>(rank), static_cast<Stream>(stream));
      for (const ChunkEntry& entry :
           reader.chunks(static_cast<Rank>(rank), static_cast<Stream>(stream))) {
        chunks[stream][rank].push_back({entry.values, entry.firstSerial, entry.lastSerial,
                                        entry.firstStep, entry.lastStep, entry.firstCompletion,
                                        entry.lastCompletion});
      }
    }
  }
  for (const std::vector<ChunkInfo>& rank : chunks[0]) {
    std::uint32_t before = 0;
    for (const ChunkInfo& chunk : rank) {
      if (chunk.firstStep < before || chunk.lastStep < chunk.firstStep || chunk.lastStep == kNone) {
        return false;
      }
      before = chunk.lastStep;
    }
  }
  return true;
}

Result<ExecutionReader> ExecutionReader::open(const std::string& path) {
  Result<Database> database = openTrace(path, Database::Access::Read);
  if (!database) {
    return database.error();
  }
  auto kept = std::make_unique<Database>(std::move(database).value());
  if (Status status = kept->execute(kKeepTree); !status) {
    return status.error();
  }
  Result<Transaction> transaction = Transaction::begin(*kept, Transaction::Kind::Read);
  if (!transaction) {
    return transaction.error();
  }
  Execution rest;
  if (Status status = readNameRows(*kept, rest); !status) {
    return status.error();
  }
  const Result<TimeOrigin> origin = db::timeOrigin(*kept, rest.ranks.size());
  Result<ColumnReader> reader = ColumnReader::start(*kept, rest.ranks.size());
  if (!reader || !origin) {
    return reader ? origin.error() : reader.error();
  }
  rest.timeOrigin = *origin;
  auto state = std::make_unique<State>(
      State{std::move(kept), std::move(reader).value(), std::move(rest), {}, {}, 0, {}});
  if (!state->takeDirectory()) {
    return Error{ErrorCode::NotFound, "the events of '" + path + "' have no logical times", {}};
  }
  for (const std::uint64_t sent : state->counts[static_cast<std::size_t>(Stream::Send)]) {
    state->messages += sent;
  }
  return ExecutionReader(std::move(state));
}

const Execution& ExecutionReader::rest() const {
  return m_state->rest;
}

void ExecutionReader::beginReading() {
  Result<Transaction> transaction = Transaction::begin(*m_state->database, Transaction::Kind::Read);
  if (transaction) {
    m_state->reading.emplace(std::move(transaction).value());
  }
}

void ExecutionReader::endReading() {
  m_state->reading.reset();
}

std::span<const ChunkInfo> ExecutionReader::chunks(Rank rank, ChunkStream stream) const {
  const auto& ranks = m_state->chunks[static_cast<std::size_t>(stream)];
  return rank >= 0 && static_cast<std::size_t>(rank) < ranks.size()
             ? std::span<const ChunkInfo>(ranks[static_cast<std::size_t>(rank)])
             : std::span<const ChunkInfo>();
}

unsigned ExecutionReader::shift(ChunkStream stream) const {
  return m_state->reader.shift(static_cast<Stream>(stream));
}

Status ExecutionReader::read(Rank rank, std::size_t ordinal, std::vector<TimedEvent>& values) {
  if (Status status = m_state->values(rank, ordinal, values); !status) {
    return status;
  }
  const ChunkInfo& chunk = chunks(rank, ChunkStream::Event)[ordinal];
  std::uint32_t before = chunk.firstStep;
  for (const TimedEvent& each : values) {
    if (each.step < before || each.step > chunk.lastStep) {
      return m_state->reader.damaged(rank, Stream::Event, ordinal);
    }
    before = each.step;
  }
  return {};
}

Status ExecutionReader::read(Rank rank, std::size_t ordinal, std::vector<EventStep>& values) {
  if (Status status = m_state->values(rank, ordinal, values); !status) {
    return status;
  }
  return std::ranges::is_sorted(values, {}, &EventStep::step)
             ? Status()
             : Status(m_state->reader.damaged(rank, Stream::Event, ordinal));
}

Status ExecutionReader::read(Rank rank, std::size_t ordinal, std::vector<ReceivedHere>& values) {
  return m_state->values(rank, ordinal, values);
}

Status ExecutionReader::read(Rank rank, std::size_t ordinal, std::vector<ReceiveEnds>& values) {
  return m_state->values(rank, ordinal, values);
}

Status ExecutionReader::read(Rank rank, std::size_t ordinal, std::vector<SendEnds>& values) {
  return m_state->values(rank, ordinal, values);
}

Status ExecutionReader::read(Rank rank, std::size_t ordinal, std::vector<ProbeHit>& values) {
  return m_state->values(rank, ordinal, values);
}

Status ExecutionReader::read(Rank rank, std::size_t ordinal, std::vector<SentHere>& values) {
  return m_state->values(rank, ordinal, values);
}

Status ExecutionReader::read(Rank rank, std::size_t ordinal, std::vector<CollectivePart>& values) {
  return m_state->values(rank, ordinal, values);
}

Status ExecutionReader::read(Rank rank, std::size_t ordinal, std::vector<EventTime>& values) {
  std::vector<StoredTime> stored;
  if (Status status = m_state->values(rank, ordinal, stored); !status) {
    return status;
  }
  values.clear();
  values.reserve(stored.size());
  for (const StoredTime& each : stored) {
    values.push_back({each.begin, each.begin + each.duration});
  }
  return {};
}

}  // namespace pf::db
