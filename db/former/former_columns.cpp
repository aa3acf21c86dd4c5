// SPDX-License-Identifier: GPL-3.0-or-later
#include "db/former/former_columns.h"

#include <algorithm>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>

#include "db/columns/checked_chunks.h"
#include "db/columns/execution_rows.h"
#include "db/columns/race_columns.h"
#include "db/schema/schema.h"

namespace pf::db {
namespace {

/// Where messages were sent; 0 for those that cannot be read.
class SendEvents {
 public:
  static Result<SendEvents> read(ColumnReader& reader, std::size_t ranks) {
    SendEvents all;
    for (std::size_t r = 0; r < ranks; ++r) {
      const auto rank = static_cast<Rank>(r);
      for (std::size_t i = 0; i < reader.chunks(rank, Stream::Send).size(); ++i) {
        std::vector<SendEnds> values;
        const Status status = reader.read(rank, i, values);
        if (!status && status.error().code != ErrorCode::Damaged) {
          return status.error();
        }
        values.resize(status.ok() ? values.size() : 0);
        for (const SendEnds& value : values) {
          if (value.syncCompletion != 0) {
            all.m_done[static_cast<std::uint32_t>(all.m_event.size())] = value.syncCompletion;
          }
          all.m_event.push_back(static_cast<std::uint32_t>(value.event));
        }
        const std::size_t missing = reader.chunks(rank, Stream::Send)[i].values - values.size();
        all.m_event.resize(all.m_event.size() + missing, 0);
      }
    }
    return all;
  }
  [[nodiscard]] Serial event(std::uint32_t message) const {
    return message < m_event.size() ? m_event[message] : 0;
  }
  [[nodiscard]] Serial done(std::uint32_t message) const {
    const auto found = m_done.find(message);
    return found == m_done.end() ? 0 : found->second;
  }

 private:
  std::vector<std::uint32_t> m_event;
  std::unordered_map<std::uint32_t, Serial> m_done;
};

/// Writes a chunk again.
template <typename T>
Status replaceChunk(Database& database, Rank rank, std::size_t ordinal,
                    const std::vector<T>& values) {
  ColumnEncoder encoder;
  for (const T& value : values) {
    encoder.begin();
    fields(encoder, value);
  }
  const Result<Bytes> packed = encoder.finish();
  Result<Statement> update =
      database.prepare("UPDATE column_chunk SET crc32c = ?, data = ? WHERE id = ?");
  if (!packed || !update) {
    return packed ? update.error() : packed.error();
  }
  constexpr Stream kStream = StreamOf<T>::kStream;
  update->bindInteger(1, columnChunkCrc(rank, kStream, ordinal, *packed));
  update->bindBlob(2, *packed);
  update->bindInteger(3, columnChunkId(rank, kStream, ordinal));
  return update->run();
}

class Completion {
 public:
  Completion(Database& database, ColumnReader& reader, ColumnWriter& writer, std::size_t ranks,
             const std::vector<StoredRace>& races, const std::vector<std::uint32_t>& classes,
             SendEvents sends)
      : m_database(database),
        m_reader(reader),
        m_writer(writer),
        m_owners(messageOwners(reader, ranks)),
        m_races(races),
        m_classes(classes),
        m_sends(std::move(sends)) {}

  Status rank(Rank rank);
  /// All races were of a rank.
  [[nodiscard]] bool done() const { return m_at == m_races.size(); }

 private:
  Status chunks(Rank rank, Stream stream);
  Status races(Rank rank);
  template <typename T>
  Status entry(Rank rank, std::size_t ordinal);
  Status complete(Rank rank, std::size_t ordinal, std::vector<StoredReceive>& receives);
  template <typename T>
  Status complete(Rank /*rank*/, std::size_t /*ordinal*/, std::vector<T>& /*values*/) {
    return {};
  }
  [[nodiscard]] bool place(const StoredRace& stored, RaceRow& row) const;
  [[nodiscard]] std::uint32_t step(Serial serial) const {
    return serial >= 1 && serial <= m_events.size() ? m_events[serial - 1].step : kNone;
  }

  Database& m_database;
  ColumnReader& m_reader;
  ColumnWriter& m_writer;
  MessageOwners m_owners;
  const std::vector<StoredRace>& m_races;
  const std::vector<std::uint32_t>& m_classes;
  SendEvents m_sends;
  std::size_t m_at = 0;               ///< race that is next
  std::vector<StoredEvent> m_events;  ///< of the rank, where it has races
  std::vector<StoredReceive> m_receives;
  std::vector<ProbeHit> m_probes;
};

/// The entry of a chunk, with its completions where it can be read.
template <typename T>
Status Completion::entry(Rank rank, std::size_t ordinal) {
  ChunkEntry entry = m_reader.chunks(rank, StreamOf<T>::kStream)[ordinal];
  std::vector<T> values;
  const Status status = readChecked(m_reader, rank, ordinal, values, false);
  if (status.ok()) {
    setCompletions(entry, std::span<const T>(values));
    if (Status replaced = complete(rank, ordinal, values); !replaced) {
      return replaced;
    }
  } else if (status.error().code != ErrorCode::Damaged) {
    return status;
  }
  return m_writer.keep(entry);
}

/// What receives did not say before format 9.
Status Completion::complete(Rank rank, std::size_t ordinal, std::vector<StoredReceive>& receives) {
  for (StoredReceive& each : receives) {
    if (each.receive.message != kNone && m_owners.of(each.receive.message) == each.receive.source) {
      each.sent = m_sends.event(each.receive.message);
      each.senderDone = each.sent == 0 ? 0 : m_sends.done(each.receive.message);
    }
  }
  return replaceChunk(m_database, rank, ordinal, receives);
}

Status Completion::chunks(Rank rank, Stream stream) {
  const std::span<const ChunkEntry> all = m_reader.chunks(rank, stream);
  Status status;
  for (std::size_t i = 0; i < all.size() && status.ok(); ++i) {
    status = stream == Stream::Receive      ? entry<StoredReceive>(rank, i)
             : stream == Stream::Send       ? entry<StoredSend>(rank, i)
             : stream == Stream::Collective ? entry<CollectivePart>(rank, i)
                                            : m_writer.keep(all[i]);
  }
  return status;
}

/// False: it names what is not there.
bool Completion::place(const StoredRace& stored, RaceRow& row) const {
  const Race& race = stored.race;
  const auto isMessage = [&](std::uint32_t m) { return m_owners.of(m) != kUnknownRank; };
  if (race.index >= (race.probe ? m_probes.size() : m_receives.size()) ||
      (race.taken != kNone && !isMessage(race.taken)) ||
      !std::all_of(race.alternatives.begin(), race.alternatives.end(), isMessage)) {
    return false;
  }
  row.value = raceValue(race, m_owners);
  row.value.chosen = race.probe ? m_probes[race.index].event : m_receives[race.index].receive.post;
  row.value.sent = m_sends.event(race.taken);
  row.value.tag = race.taken == kNone ? kAnyTag
                  : race.probe        ? m_probes[race.index].tag
                                      : m_receives[race.index].receive.tag;
  row.value.serial = stored.serial;
  row.alternatives = &race.alternatives;
  row.firstStep = step(row.value.chosen);
  row.lastStep = step(row.value.serial);
  const auto isEvent = [&](Serial serial) { return serial >= 1 && serial <= m_events.size(); };
  return isEvent(row.value.chosen) && isEvent(row.value.serial);
}

Status Completion::races(Rank rank) {
  std::vector<RaceRow> rows;
  if (m_at == m_races.size() || m_races[m_at].race.rank != rank) {
    return {};
  }
  m_events.clear();
  m_receives.clear();
  m_probes.clear();
  Status status = readAllChecked(m_reader, rank, m_events, false);
  status = status.ok() ? readAllChecked(m_reader, rank, m_receives, false) : status;
  status = status.ok() ? readAllChecked(m_reader, rank, m_probes, false) : status;
  for (; status.ok() && m_at < m_races.size() && m_races[m_at].race.rank == rank; ++m_at) {
    RaceRow row;
    if (!place(m_races[m_at], row)) {
      return Error{
          ErrorCode::Damaged, "a race in '" + m_database.path() + "' names what is not there", {}};
    }
    row.value.raceClass = m_classes[m_at];
    rows.push_back(row);
  }
  return status.ok() ? writeRaces(m_writer, rank, rows, m_owners) : status;
}

Status Completion::rank(Rank rank) {
  Status status;
  for (const Stream stream : {Stream::Event, Stream::Receive, Stream::Probe, Stream::Send,
                              Stream::Collective, Stream::Time}) {
    status = status.ok() ? chunks(rank, stream) : status;
  }
  return status.ok() ? races(rank) : status;
}

}  // namespace

Status completeFormerColumns(Database& database, std::uint32_t version, std::size_t ranks,
                             const std::vector<StoredRace>& races) {
  std::vector<std::string> texts;
  for (const StoredRace& each : races) {
    texts.push_back(each.raceClass);
  }
  Result<ColumnReader> reader =
      ColumnReader::start(database, ranks,
                          version < 8 ? ColumnReader::Directory::WithoutCompletions
                                      : ColumnReader::Directory::OfFormat8);
  if (!reader) {
    return reader.error();
  }
  Result<SendEvents> sends = SendEvents::read(*reader, ranks);
  if (!sends) {
    return sends.error();
  }
  const std::string races8 = ";DELETE FROM column_chunk WHERE stream IN (" +
                             std::to_string(static_cast<int>(Stream::Race)) + "," +
                             std::to_string(static_cast<int>(Stream::Alternative)) +
                             ");";  // are written again
  if (Status status = database.execute(table(TableId::ColumnDirectory).clear + races8 +
                                       table(TableId::RaceClass).clear);
      !status) {
    return status;
  }
  const Result<std::vector<std::uint32_t>> classes = writeRaceClasses(database, texts);
  Result<ColumnWriter> writer = ColumnWriter::start(database);
  if (!classes || !writer) {
    return classes ? writer.error() : classes.error();
  }
  Completion completion(database, *reader, *writer, ranks, races, *classes, std::move(*sends));
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    if (Status status = completion.rank(static_cast<Rank>(rank)); !status) {
      return status;
    }
  }
  if (!completion.done()) {
    return Error{ErrorCode::Damaged, "a race in '" + database.path() + "' is of no rank", {}};
  }
  return writer->finish();
}

}  // namespace pf::db
