// SPDX-License-Identifier: GPL-3.0-or-later
#include "db/columns/race_columns.h"

#include <algorithm>
#include <utility>

#include "db/columns/checked_chunks.h"
#include "db/schema/seal.h"

namespace pf::db {

// A race's number tells its chunk, and those of its alternatives:
static_assert(chunkValues(Stream::Race) == kChunkValues &&
              chunkValues(Stream::Alternative) == kChunkValues);

namespace {

/// Puts the alternatives of one race after the other into spans.
class SpanMaker {
 public:
  explicit SpanMaker(const MessageOwners& owners) : m_owners(owners) {}

  void add(std::uint32_t race, std::span<const std::uint32_t> messages) {
    if (race % kChunkValues == 0) {
      m_open.clear();
    }
    m_next.clear();
    auto open = m_open.begin();
    for (const std::uint32_t message : messages) {
      while (open != m_open.end() && open->message < message) {
        ++open;
      }
      if (open != m_open.end() && open->message == message) {
        ++m_spans[open->span].count;
        m_next.push_back(*open);
      } else {
        m_next.push_back({message, m_spans.size()});
        m_spans.push_back({race, 1, m_owners.of(message), message});
      }
    }
    m_open.swap(m_next);
  }
  [[nodiscard]] const std::vector<AlternativeSpan>& spans() const { return m_spans; }

 private:
  struct Open {
    std::uint32_t message;
    std::size_t span;
  };
  const MessageOwners& m_owners;
  std::vector<AlternativeSpan> m_spans;
  std::vector<Open> m_open;  ///< those of the race before, ascending
  std::vector<Open> m_next;
};

Error namesNothing(const std::string& path) {
  return Error{ErrorCode::Damaged, "a race in '" + path + "' names what is not there",
               "The file was not written by Photofinish as it is."};
}

/// Reads the races of one rank after the other.
class RaceReading {
 public:
  using Visit = std::function<void(const RaceRecord&)>;

  RaceReading(Database& database, ColumnReader& reader, std::size_t ranks, std::size_t classes)
      : m_path(database.path()),
        m_reader(reader),
        m_owners(messageOwners(reader, ranks)),
        m_classes(classes),
        m_left(reader.mostAlternatives()) {}

  Status rank(Rank rank, const Visit& visit);

 private:
  /// What a rank has of each.
  struct Counts {
    std::uint64_t events;
    std::uint64_t receives;
    std::uint64_t probes;
  };
  [[nodiscard]] bool namesWhatIsThere(const Counts& counts, const RaceValue& value) const;

  const std::string& m_path;
  ColumnReader& m_reader;
  MessageOwners m_owners;
  std::size_t m_classes;  ///< how many
  std::uint64_t m_left;   ///< alternatives that there may be yet
  std::vector<RaceValue> m_values;
  std::vector<AlternativeSpan> m_spans;
};

bool RaceReading::namesWhatIsThere(const Counts& counts, const RaceValue& value) const {
  const auto isEvent = [&](Serial serial) { return serial >= 1 && serial <= counts.events; };
  return value.index < (value.probe ? counts.probes : counts.receives) && isEvent(value.chosen) &&
         isEvent(value.serial) && (value.raceClass == kNone || value.raceClass < m_classes) &&
         (value.taken == kNone ? value.source == kUnknownRank
                               : m_owners.owns(value.source, value.taken)) &&
         (value.sent == 0 ||
          (value.taken != kNone && value.sent <= m_reader.count(value.source, Stream::Event)));
}

Status RaceReading::rank(Rank rank, const Visit& visit) {
  m_values.clear();
  m_spans.clear();
  Status status = readAllChecked(m_reader, rank, m_values);
  status = status.ok() ? readAllChecked(m_reader, rank, m_spans) : status;
  if (!status) {
    return status;
  }
  const auto broken = [&](const AlternativeSweep& sweep) {
    const std::size_t chunks = m_reader.chunks(rank, Stream::Alternative).size();
    return m_reader.damaged(rank, Stream::Alternative,
                            std::min(sweep.at() / kChunkValues, chunks == 0 ? 0 : chunks - 1));
  };
  const Counts counts{m_reader.count(rank, Stream::Event), m_reader.count(rank, Stream::Receive),
                      m_reader.count(rank, Stream::Probe)};
  AlternativeSweep sweep(m_spans, m_owners, 0);
  std::span<const std::uint32_t> messages;
  for (const RaceValue& value : m_values) {
    if (!namesWhatIsThere(counts, value)) {
      return namesNothing(m_path);
    }
    if (!sweep.next(messages) || messages.size() != value.alternatives ||
        messages.size() > m_left) {
      return broken(sweep);
    }
    m_left -= messages.size();
    RaceRecord race;
    race.rank = rank;
    race.probe = value.probe;
    race.index = value.index;
    race.taken = value.taken;
    race.serial = value.serial;
    race.chosen = value.chosen;
    race.chosenStep = value.chosenStep;
    race.step = value.step;
    race.sent = value.sent;
    race.tag = value.tag;
    race.raceClass = value.raceClass;
    race.alternatives = messages;
    visit(race);
  }
  return sweep.ended(m_values.size()) ? Status() : Status(broken(sweep));
}

}  // namespace

// ---- MessageOwners

MessageOwners::MessageOwners(const std::vector<std::uint64_t>& sends) : m_first(1, 0) {
  for (const std::uint64_t each : sends) {
    m_first.push_back(m_first.back() + each);
  }
}

Rank MessageOwners::of(std::uint32_t message) const {
  const auto after = std::upper_bound(m_first.begin(), m_first.end(), std::uint64_t{message});
  return after == m_first.end() ? kUnknownRank : static_cast<Rank>(after - m_first.begin() - 1);
}

MessageOwners messageOwners(const Execution& execution) {
  std::vector<std::uint64_t> sends;
  for (const RankHistory& history : execution.ranks) {
    sends.push_back(history.sends.size());
  }
  return MessageOwners(sends);
}

MessageOwners messageOwners(const ColumnReader& reader, std::size_t ranks) {
  std::vector<std::uint64_t> sends;
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    sends.push_back(reader.count(static_cast<Rank>(rank), Stream::Send));
  }
  return MessageOwners(sends);
}

// ---- Writing

RaceValue raceValue(const Race& race, const MessageOwners& owners) {
  RaceValue value;
  value.index = race.index;
  value.probe = race.probe;
  value.taken = race.taken;
  value.source = owners.of(race.taken);
  value.alternatives = static_cast<std::uint32_t>(race.alternatives.size());
  return value;
}

Status writeRaces(ColumnWriter& writer, Rank rank, const std::vector<RaceRow>& races,
                  const MessageOwners& owners) {
  SpanMaker spans(owners);
  Status status;
  for (std::size_t i = 0; i < races.size() && status.ok(); ++i) {
    const RaceRow& row = races[i];
    spans.add(static_cast<std::uint32_t>(i), *row.alternatives);
    RaceValue value = row.value;
    value.chosenStep = row.firstStep;
    value.step = row.lastStep;
    status = writer.write(rank, value, {value.chosen, row.firstStep, row.lastStep});
  }
  for (std::size_t i = 0; i < spans.spans().size() && status.ok(); ++i) {
    const AlternativeSpan& span = spans.spans()[i];
    const std::size_t last = std::size_t{span.first} + span.count - 1;
    status = writer.write(rank, span,
                          {span.first, races[span.first].firstStep, races[last].lastStep, 0, last});
  }
  return status;
}

// ---- AlternativeSweep

bool AlternativeSweep::next(std::span<const std::uint32_t>& messages) {
  if (m_firstEnd <= m_race) {
    dropEnded();
  }
  if (m_at < m_spans.size() && m_spans[m_at].first <= m_race && !takeNew()) {
    return false;
  }
  messages = m_messages;
  ++m_race;
  return true;
}

void AlternativeSweep::dropEnded() {
  std::size_t kept = 0;
  m_firstEnd = kNone;
  for (std::size_t i = 0; i < m_messages.size(); ++i) {
    if (m_ends[i] > m_race) {
      m_messages[kept] = m_messages[i];
      m_ends[kept] = m_ends[i];
      m_firstEnd = std::min(m_firstEnd, m_ends[i]);
      ++kept;
    }
  }
  m_messages.resize(kept);
  m_ends.resize(kept);
}

/// The spans that begin with this race, in between those that go on.
bool AlternativeSweep::takeNew() {
  const std::size_t from = m_at;
  for (; m_at < m_spans.size() && m_spans[m_at].first <= m_race; ++m_at) {
    const AlternativeSpan& span = m_spans[m_at];
    if (span.first != m_race || span.count == 0 ||
        span.count > kChunkValues - span.first % kChunkValues ||
        !m_owners.owns(span.source, span.message) ||
        (m_at > from && span.message <= m_spans[m_at - 1].message)) {
      return false;
    }
    m_firstEnd = std::min(m_firstEnd, span.first + span.count);
  }
  std::size_t old = m_messages.size();
  m_messages.resize(old + m_at - from);
  m_ends.resize(m_messages.size());
  for (std::size_t out = m_messages.size(), added = m_at; added > from; --out) {
    const AlternativeSpan& span = m_spans[added - 1];
    if (old > 0 && m_messages[old - 1] == span.message) {
      return false;
    }
    const bool former = old > 0 && m_messages[old - 1] > span.message;
    m_messages[out - 1] = former ? m_messages[old - 1] : span.message;
    m_ends[out - 1] = former ? m_ends[old - 1] : span.first + span.count;
    former ? --old : --added;
  }
  return true;
}

bool AlternativeSweep::ended(std::size_t races) const {
  return m_at == m_spans.size() &&
         std::all_of(m_ends.begin(), m_ends.end(), [&](std::uint32_t end) { return end <= races; });
}

// ---- Reading

Status RaceBlock::load(ColumnReader& reader, const MessageOwners& owners, Rank rank,
                       std::size_t ordinal) {
  races.clear();
  messages.clear();
  first.assign(1, 0);
  if (Status status = readChecked(reader, rank, ordinal, races); !status) {
    return status;
  }
  const std::span<const ChunkEntry> chunks = reader.chunks(rank, Stream::Alternative);
  const auto begin = std::partition_point(
      chunks.begin(), chunks.end(),
      [&](const ChunkEntry& chunk) { return chunk.lastSerial / kChunkValues < ordinal; });
  const auto firstChunk = static_cast<std::size_t>(begin - chunks.begin());
  std::vector<AlternativeSpan> spans;
  std::size_t chunk = firstChunk;
  for (; chunk < chunks.size() && chunks[chunk].firstSerial / kChunkValues <= ordinal; ++chunk) {
    if (Status status = readChecked(reader, rank, chunk, spans); !status) {
      return status;
    }
  }
  std::erase_if(spans,
                [&](const AlternativeSpan& span) { return span.first / kChunkValues != ordinal; });
  AlternativeSweep sweep(spans, owners, static_cast<std::uint32_t>(ordinal * kChunkValues));
  std::span<const std::uint32_t> each;
  for (const RaceValue& value : races) {
    if (!sweep.next(each) || each.size() != value.alternatives ||
        messages.size() + each.size() > reader.mostAlternatives()) {
      return reader.damaged(rank, Stream::Alternative,
                            std::min(firstChunk + sweep.at() / kChunkValues,
                                     std::max<std::size_t>(chunks.size(), 1) - 1));
    }
    messages.insert(messages.end(), each.begin(), each.end());
    first.push_back(messages.size());
  }
  return {};
}

Status forEachRaceColumn(Database& database, std::size_t ranks, std::size_t classes,
                         const std::function<void(const RaceRecord&)>& visit) {
  Result<ColumnReader> reader = ColumnReader::start(database, ranks);
  const Result<std::int64_t> size = database.fileSize();
  if (!reader || !size) {
    return reader ? size.error() : reader.error();
  }
  database.setDeadline(readBudget(*size));
  RaceReading reading(database, *reader, ranks, classes);
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    if (Status status = reading.rank(static_cast<Rank>(rank), visit); !status) {
      return status;
    }
  }
  database.setDeadline({});
  return {};
}

Result<std::vector<StoredRace>> readRaceColumns(Database& database, std::size_t ranks,
                                                const std::vector<std::string>& classes) {
  std::vector<StoredRace> races;
  const auto keep = [&](const RaceRecord& race) {
    StoredRace& stored = races.emplace_back();
    stored.race = {race.rank,
                   race.probe,
                   race.index,
                   race.taken,
                   {race.alternatives.begin(), race.alternatives.end()}};
    stored.serial = race.serial;
    stored.chosen = race.chosen;
    stored.chosenStep = race.chosenStep;
    stored.step = race.step;
    stored.sent = race.sent;
    stored.tag = race.tag;
    if (race.raceClass != kNone) {
      stored.raceClass = classes[race.raceClass];
    }
  };
  const Status status = forEachRaceColumn(database, ranks, classes.size(), keep);
  return status.ok() ? Result(std::move(races)) : Result<std::vector<StoredRace>>(status.error());
}

}  // namespace pf::db
