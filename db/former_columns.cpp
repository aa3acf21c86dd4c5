#include "former_columns.h"

#include "checked_chunks.h"
#include "execution_rows.h"
#include "race_columns.h"
#include "schema.h"

#include <algorithm>
#include <span>
#include <string>

namespace pf::db {
namespace {

class Completion {
 public:
  Completion(Database& database, ColumnReader& reader, ColumnWriter& writer, std::size_t ranks,
             const std::vector<StoredRace>& races, const std::vector<std::uint32_t>& classes)
      : m_path(database.path()),
        m_reader(reader),
        m_writer(writer),
        m_owners(messageOwners(reader, ranks)),
        m_races(races),
        m_classes(classes) {}

  Status rank(Rank rank);
  /// All races were of a rank.
  [[nodiscard]] bool done() const { return m_at == m_races.size(); }

 private:
  Status chunks(Rank rank, Stream stream);
  Status races(Rank rank);
  template <typename T>
  Status entry(Rank rank, std::size_t ordinal);
  [[nodiscard]] bool place(const StoredRace& stored, RaceRow& row) const;
  [[nodiscard]] std::uint32_t step(Serial serial) const {
    return serial >= 1 && serial <= m_events.size() ? m_events[serial - 1].step : kNone;
  }

  const std::string& m_path;
  ColumnReader& m_reader;
  ColumnWriter& m_writer;
  MessageOwners m_owners;
  const std::vector<StoredRace>& m_races;
  const std::vector<std::uint32_t>& m_classes;
  std::size_t m_at = 0;               ///< race that is next
  std::vector<StoredEvent> m_events;  ///< of the rank, where it has races
  std::vector<PostedReceive> m_receives;
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
  } else if (status.error().code != ErrorCode::Damaged) {
    return status;
  }
  return m_writer.keep(entry);
}

Status Completion::chunks(Rank rank, Stream stream) {
  const std::span<const ChunkEntry> all = m_reader.chunks(rank, stream);
  Status status;
  for (std::size_t i = 0; i < all.size() && status.ok(); ++i) {
    status = stream == Stream::Receive      ? entry<PostedReceive>(rank, i)
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
  row.value.chosen = race.probe ? m_probes[race.index].event : m_receives[race.index].post;
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
      return Error{ErrorCode::Damaged, "a race in '" + m_path + "' names what is not there", {}};
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

Status completeFormerColumns(Database& database, std::size_t ranks,
                             const std::vector<StoredRace>& races) {
  std::vector<std::string> texts;
  for (const StoredRace& each : races) {
    texts.push_back(each.raceClass);
  }
  Result<ColumnReader> reader =
      ColumnReader::start(database, ranks, ColumnReader::Directory::WithoutCompletions);
  if (!reader) {
    return reader.error();
  }
  if (Status status = database.execute(table(TableId::ColumnDirectory).clear); !status) {
    return status;
  }
  const Result<std::vector<std::uint32_t>> classes = writeRaceClasses(database, texts);
  Result<ColumnWriter> writer = ColumnWriter::start(database);
  if (!classes || !writer) {
    return classes ? writer.error() : classes.error();
  }
  Completion completion(database, *reader, *writer, ranks, races, *classes);
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
