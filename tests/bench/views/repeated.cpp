// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/bench/views/repeated.h"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "db/columns/column_store.h"
#include "db/columns/execution_rows.h"
#include "db/columns/race_columns.h"
#include "db/columns/summary_store.h"
#include "db/schema/rows.h"
#include "db/schema/seal.h"
#include "db/store/trace_store.h"
#include "replay_engine/causality/clock_checkpoints.h"
#include "replay_engine/causality/density_pyramid.h"
#include "replay_engine/races/race_classes.h"
#include "replay_engine/races/races.h"

namespace pf::bench {
namespace {

constexpr std::size_t kPart = 10'000'000;  // events
constexpr std::uint32_t kEvery = 4096;     // events from one checkpoint to the next
constexpr std::size_t kEventsACell = 4;

/// A collective before everything, and nothing behind it up to a multiple of kEvery events, the
/// same for all ranks.
Execution makePart(Traffic traffic, std::size_t events) {
  traffic.events = events;
  Execution part = makeExecution(traffic);
  std::size_t most = 0;
  for (RankHistory& rank : part.ranks) {
    Event barrier;
    barrier.kind = EventKind::Collective;
    barrier.call = 5;
    barrier.site = 9;
    barrier.comm = 0;
    rank.events.insert(rank.events.begin(), barrier);
    for (PostedReceive& receive : rank.receives) {
      ++receive.post;
      receive.completion += receive.completion != 0 ? 1 : 0;
    }
    for (SentMessage& send : rank.sends) {
      ++send.event;
    }
    for (CollectivePart& each : rank.collectives) {
      ++each.event;
      ++each.completion;
      ++each.ordinal;
    }
    CollectivePart first;
    first.event = first.completion = 1;
    first.comm = 0;
    first.flow = CollectiveFlow::AllToAll;
    rank.collectives.insert(rank.collectives.begin(), first);
    most = std::max(most, rank.events.size());
  }
  Event idle;
  idle.kind = EventKind::Local;
  idle.call = 6;
  idle.site = 9;
  for (RankHistory& rank : part.ranks) {
    rank.events.resize((most + kEvery - 1) / kEvery * kEvery, idle);
  }
  return part;
}

/// The whole as parts.
class Repeating {
 public:
  Repeating(const Traffic& traffic, std::size_t parts)
      : m_parts(parts), m_part(makePart(traffic, traffic.events / parts)) {
    matchMessages(m_part);
    m_races = findRaces(m_part);
    m_classes = classesOfRaces(m_part, m_races);
    m_owners = db::messageOwners(m_part);
    m_times = logicalTimes(m_part);
    m_events = m_part.ranks.front().events.size();
    for (const RankHistory& rank : m_part.ranks) {
      m_sendsBefore.push_back(m_sends);
      m_sends += rank.sends.size();
    }
    for (const auto& times : m_times) {
      m_lastStep = std::max(m_lastStep, times.back());
    }
  }

  [[nodiscard]] const Execution& part() const { return m_part; }
  Status write(db::Database& database);
  [[nodiscard]] std::size_t messages() const { return m_parts * m_sends; }
  [[nodiscard]] std::size_t racing() const { return m_parts * m_races.size(); }
  [[nodiscard]] std::size_t events() const { return m_parts * m_events * m_part.ranks.size(); }

 private:
  Status rank(db::ColumnWriter& writer, Rank rank);
  Status receives(db::ColumnWriter& writer, Rank rank);
  Status sends(db::ColumnWriter& writer, Rank rank);
  Status races(db::ColumnWriter& writer, Rank rank);
  Status summaries(db::Database& database);
  [[nodiscard]] DensityPyramid pyramid(std::uint32_t& width);
  [[nodiscard]] ClockCheckpoints clocks() const;

  [[nodiscard]] std::uint32_t step(Rank rank, Serial serial, std::size_t turn) const {
    return m_times[index(rank)][serial - 1] + static_cast<std::uint32_t>(turn) * m_span;
  }
  [[nodiscard]] Serial later(Serial serial, std::size_t turn) const {
    return serial == 0 ? 0 : serial + turn * m_events;
  }
  /// A message of the part has another number in the whole.
  [[nodiscard]] std::uint32_t message(std::uint32_t local, std::size_t turn) const {
    if (local == kNone) {
      return kNone;
    }
    const Message& at = m_part.messages[local];
    const std::size_t own = m_part.ranks[index(at.send.rank)].sends.size();
    return static_cast<std::uint32_t>(m_sendsBefore[index(at.send.rank)] * m_parts + turn * own +
                                      at.sendIndex);
  }

  std::size_t m_parts;
  Execution m_part;
  std::vector<Race> m_races;
  std::vector<std::uint32_t> m_classes;  ///< of the races
  std::vector<std::vector<std::uint32_t>> m_times;
  std::size_t m_events = 0;  ///< of a rank in a part
  std::size_t m_sends = 0;
  std::vector<std::size_t> m_sendsBefore;
  db::MessageOwners m_owners{{}};
  std::uint32_t m_lastStep = 0;  ///< of a part
  std::uint32_t m_span = 0;      ///< from one part's begin to the next's
};

Status Repeating::receives(db::ColumnWriter& writer, Rank rank) {
  Status status;
  for (std::size_t turn = 0; turn < m_parts; ++turn) {
    for (const PostedReceive& local : m_part.ranks[index(rank)].receives) {
      db::StoredReceive stored{local, 0, 0};
      PostedReceive& receive = stored.receive;
      const std::uint32_t at = step(rank, local.post, turn);
      receive.post = later(local.post, turn);
      receive.completion = later(local.completion, turn);
      receive.message = message(local.message, turn);
      if (local.message != kNone) {
        stored.sent = later(m_part.messages[local.message].send.serial, turn);
      }
      status = writer.write(rank, stored, {receive.post, at, at, receive.completion});
      if (!status) {
        return status;
      }
    }
  }
  return status;
}

Status Repeating::sends(db::ColumnWriter& writer, Rank rank) {
  Status status;
  for (std::size_t turn = 0; turn < m_parts; ++turn) {
    std::size_t local = m_sendsBefore[index(rank)];
    for (const SentMessage& send : m_part.ranks[index(rank)].sends) {
      const Message& message = m_part.messages[local++];
      db::StoredSend stored{send, kNone, later(message.completion, turn), kNone};
      const std::uint32_t at = step(rank, send.event, turn);
      std::uint32_t last = at;
      stored.send.event = later(send.event, turn);
      if (message.post != kNone) {
        const auto& receives = m_part.ranks[index(message.dest)].receives;
        stored.post = static_cast<std::uint32_t>(message.post + turn * receives.size());
        const Serial end =
            message.completion != 0 ? Serial{message.completion} : receives[message.post].post;
        stored.arrival = step(message.dest, end, turn);
        last = std::max(at, stored.arrival);
      }
      status = writer.write(rank, stored, {stored.send.event, at, last, 0});
      if (!status) {
        return status;
      }
    }
  }
  return status;
}

Status Repeating::races(db::ColumnWriter& writer, Rank rank) {
  const RankHistory& history = m_part.ranks[index(rank)];
  std::vector<db::RaceRow> rows;
  std::vector<std::vector<std::uint32_t>> alternatives;
  const auto first = std::ranges::lower_bound(m_races, rank, {}, &Race::rank);
  const auto last = std::ranges::upper_bound(m_races, rank, {}, &Race::rank);
  alternatives.reserve(static_cast<std::size_t>(last - first) * m_parts);
  for (std::size_t turn = 0; turn < m_parts; ++turn) {
    for (auto race = first; race != last; ++race) {
      const PostedReceive& receive = history.receives[race->index];
      std::vector<std::uint32_t>& all = alternatives.emplace_back();
      for (const std::uint32_t each : race->alternatives) {
        all.push_back(message(each, turn));
      }
      db::RaceRow& row = rows.emplace_back();
      row.alternatives = &all;
      row.value = db::raceValue(*race, m_owners);
      row.value.index = static_cast<std::uint32_t>(race->index + turn * history.receives.size());
      row.value.taken = message(race->taken, turn);
      const Serial done = receive.completion != 0 ? receive.completion : receive.post;
      row.value.chosen = later(receive.post, turn);
      row.value.serial = later(done, turn);
      row.value.sent = later(m_part.messages[race->taken].send.serial, turn);
      row.value.tag = m_part.messages[race->taken].tag;
      row.value.raceClass = m_classes[static_cast<std::size_t>(race - m_races.begin())];
      row.firstStep = step(rank, receive.post, turn);
      row.lastStep = step(rank, done, turn);
    }
  }
  std::vector<std::uint64_t> owned;
  for (const RankHistory& each : m_part.ranks) {
    owned.push_back(each.sends.size() * m_parts);
  }
  return db::writeRaces(writer, rank, rows, db::MessageOwners(owned));
}

Status Repeating::rank(db::ColumnWriter& writer, Rank rank) {
  const RankHistory& history = m_part.ranks[index(rank)];
  Status status;
  for (std::size_t turn = 0; turn < m_parts && status.ok(); ++turn) {
    for (Serial serial = 1; serial <= history.events.size() && status.ok(); ++serial) {
      const std::uint32_t at = step(rank, serial, turn);
      status = writer.write(rank, db::StoredEvent{history.events[serial - 1], at},
                            {later(serial, turn), at, at});
    }
  }
  status = status.ok() ? receives(writer, rank) : status;
  status = status.ok() ? sends(writer, rank) : status;
  const auto calls = static_cast<std::uint32_t>(history.collectives.size());
  for (std::size_t turn = 0; turn < m_parts && status.ok(); ++turn) {
    for (CollectivePart each : history.collectives) {
      const std::uint32_t at = step(rank, each.event, turn);
      each.event = later(each.event, turn);
      each.completion = later(each.completion, turn);
      each.ordinal += static_cast<std::uint32_t>(turn) * calls;
      status = writer.write(rank, each, {each.event, at, at, each.completion});
      if (!status) {
        break;
      }
    }
  }
  return status.ok() ? races(writer, rank) : status;
}

/// Sets m_span: parts begin where bins do.
DensityPyramid Repeating::pyramid(std::uint32_t& width) {
  DensityPyramid local = densityPyramid(m_part, m_races, m_times, kEventsACell);
  const DensityLevel& base = local.levels.front();
  width = base.width;
  m_span = (m_lastStep / width + 1) * width;
  const std::size_t each = m_span / width;
  DensityLevel whole;
  whole.width = width;
  whole.bins = each * m_parts;
  whole.cells.resize(m_part.ranks.size() * whole.bins);
  DensityPyramid out;
  for (std::size_t turn = 0; turn < m_parts; ++turn) {
    for (std::size_t rank = 0; rank < m_part.ranks.size(); ++rank) {
      const auto row = base.row(rank);
      std::copy(row.begin(), row.end(),
                whole.cells.begin() + static_cast<std::ptrdiff_t>(rank * whole.bins + turn * each));
    }
    for (LongLine line : local.lines) {
      line.sent += static_cast<std::uint32_t>(turn) * m_span;
      line.arrived += static_cast<std::uint32_t>(turn) * m_span;
      out.lines.push_back(line);
    }
  }
  out.lines.resize(std::min(out.lines.size(), DensityPyramid::kMostLines));
  out.levels.push_back(std::move(whole));
  addCutLevels(out);
  return out;
}

ClockCheckpoints Repeating::clocks() const {
  const ClockCheckpoints local = clockCheckpoints(m_part, kEvery);
  ClockCheckpoints out{kEvery, local.ranks, {}, {}};
  for (std::size_t rank = 0; rank < local.ranks; ++rank) {
    auto& past = out.past.emplace_back();
    auto& future = out.future.emplace_back();
    for (std::size_t turn = 0; turn < m_parts; ++turn) {
      const auto before = static_cast<std::uint32_t>(turn * m_events);
      const auto after = static_cast<std::uint32_t>(before + m_events);
      for (const std::uint32_t each : local.past[rank]) {
        past.push_back(each + before);
      }
      for (const std::uint32_t each : local.future[rank]) {
        future.push_back(each != 0 ? each + before : turn + 1 < m_parts ? after + 1 : 0);
      }
    }
  }
  return out;
}

Status Repeating::summaries(db::Database& database) {
  db::Outline outline;
  const DensityPyramid cells = pyramid(outline.width);
  outline.every = kEvery;
  outline.lastStep = static_cast<std::uint32_t>(m_parts - 1) * m_span + m_lastStep;
  outline.races = racing();
  return db::storeSummaries(database, outline, clocks(), cells);
}

Status Repeating::write(db::Database& database) {
  const auto factor = std::to_string(m_parts);
  Status status = database.execute(
      "DELETE FROM column_chunk; DELETE FROM column_directory; DELETE FROM summary_chunk;"
      "UPDATE rank SET last_serial = last_serial * " +
      factor + "; UPDATE run SET messages = messages * " + factor +
      ", wildcard_receives = wildcard_receives * " + factor +
      ", racing_receives = racing_receives * " + factor);
  status = status.ok() ? summaries(database) : status;  // which knows how far parts are apart
  Result<db::ColumnWriter> writer = db::ColumnWriter::start(database);
  if (!status || !writer) {
    return status.ok() ? Status(writer.error()) : status;
  }
  for (std::size_t each = 0; each < m_part.ranks.size() && status.ok(); ++each) {
    status = rank(*writer, static_cast<Rank>(each));
  }
  status = status.ok() ? writer->finish() : status;
  for (const db::TableId id : {db::TableId::Run, db::TableId::Rank}) {
    if (status.ok()) {
      const Result<db::Seal> seal = db::computeSeal(database, db::table(id));
      status = seal ? db::storeSeal(database, db::table(id), *seal) : Status(seal.error());
    }
  }
  return status.ok() ? db::finishSeals(database) : status;
}

}  // namespace

Result<CollationTimes> writeRepeatedTrace(const std::string& path, const Traffic& traffic) {
  Repeating whole(traffic, std::max<std::size_t>(1, traffic.events / kPart));
  Execution part = whole.part();
  part.messages.clear();
  Result<CollationTimes> made = writeTraceOf(path, traffic, std::move(part));
  Result<db::Database> database = made ? db::Database::open(path, db::Database::Access::Update)
                                       : Result<db::Database>(made.error());
  if (!database) {
    return database.error();
  }
  Result<db::Transaction> transaction =
      db::Transaction::begin(*database, db::Transaction::Kind::Write);
  if (!transaction) {
    return transaction.error();
  }
  const double start = processSeconds();
  Status status = whole.write(*database);
  status = status.ok() ? transaction->commit() : status;
  if (!status) {
    return status.error();
  }
  made->write = processSeconds() - start;
  made->events = whole.events();
  made->messages = whole.messages();
  made->racing = whole.racing();
  return made;
}

}  // namespace pf::bench
