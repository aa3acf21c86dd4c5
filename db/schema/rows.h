// SPDX-License-Identifier: GPL-3.0-or-later
// The columns of the small tables, in order: one list for reading and writing.
// `Codec` is RowWriter (then `V` is const) or RowReader.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <type_traits>
#include <vector>

#include "db/schema/seal.h"
#include "db/schema/trace_types.h"

namespace pf::db {

template <typename V, typename T>
concept Is = std::same_as<std::remove_const_t<V>, T>;

/// A column that is NULL where the value is `none`.
template <typename T>
void orNull(RowWriter& codec, const T& value, std::type_identity_t<T> none) {
  value == none ? codec.null() : codec(value);
}
template <typename T>
void orNull(RowReader& codec, T& value, std::type_identity_t<T> none) {
  if (codec.isNull()) {
    codec.skip();
    value = none;
  } else {
    codec(value);
    codec.require(value != none);
  }
}

template <typename Codec, Is<RunInfo> V>
void columns(Codec& c, V& v) {
  c(v.uuid), c(v.createdUtc), c(v.finishedUtc), c(v.command), c(v.workingDirectory), c(v.launcher);
  c(v.program), c(v.ranks), c(v.mode), c(v.mpiLibrary), c(v.host), c(v.version), c(v.exitStatus);
  c(v.complete), c(v.salt), c(v.input), c(v.messages), c(v.wildcardReceives), c(v.racingReceives);
  c(v.sameAddresses), c(v.longestWait), c(v.redacted);
}

template <typename Codec, Is<RankInfo> V>
void columns(Codec& c, V& v) {
  c(v.rank), c(v.pid), c(v.host), c(v.executable), c(v.buildId), c(v.threadLevel), c(v.exitStatus);
  c(v.exitSignal), c(v.state), c(v.lastSerial), c(v.complete), c(v.cutReason), c(v.logBytes),
      c(v.logChunks);
  c(v.probesAnswered), c(v.tscReads), c(v.wildcardReceives), c(v.racesFoundBy), c(v.racesFound);
  c(v.sourcesKept), c(v.routesKept);
}

template <typename Codec, Is<LaunchFact> V>
void columns(Codec& c, V& v) {
  c(v.rank), c(v.relation), c(v.kind), c(v.name), c(v.value);
}

template <typename Codec, Is<SeenInput> V>
void columns(Codec& c, V& v) {
  c(v.rank), c(v.kind), c(v.name), c(v.size), c(v.stamp);
}

template <typename Codec, Is<Printed> V>
void columns(Codec& c, V& v) {
  c(v.stream), c(v.beginning), c(v.leftOut), c(v.end);
}

template <typename Codec, Is<NotGuaranteed> V>
void columns(Codec& c, V& v) {
  c(v.rank), c(v.what);
}

template <typename Codec, Is<PayloadInfo> V>
void columns(Codec& c, V& v) {
  c(v.rank), c(v.salt), c(v.entries), c(v.bytes), c(v.packedBytes), c(v.chunks), c(v.ending);
  c(v.detail);
}

template <typename Codec, Is<ModuleInfo> V>
void columns(Codec& c, V& v) {
  c(v.path), c(v.buildId);
}

template <typename Codec, Is<Communicator> V>
void columns(Codec& c, V& v) {
  c(v.key), c(v.name), c(v.group), c(v.remote);
}

template <typename Codec, Is<CallSite> V>
void columns(Codec& c, V& v) {
  c(v.module), c(v.offset), c(v.function), c(v.file), c(v.line);
}

// ---- Session tables, without their id

template <typename Codec, Is<Breakpoint> V>
void columns(Codec& c, V& v) {
  c(v.kind), c(v.file), c(v.line), c(v.function), c(v.lineText), c(v.condition), c(v.ignoreCount);
  c(v.enabled), c(v.ranks), c(v.expression), c(v.temporary), c(v.commands), c(v.log), c(v.stops);
}

template <typename Codec, Is<Watch> V>
void columns(Codec& c, V& v) {
  c(v.expression);
}

template <typename Codec, Is<Cycle> V>
void columns(Codec& c, V& v) {
  c(v.startedUtc), c(v.finishedUtc), c(v.buildId), c(v.reason), c(v.jitterSeed),
      c(v.matchedRecording);
  c(v.exitStatus);
}

template <typename Codec, Is<CycleStop> V>
void columns(Codec& c, V& v) {
  c(v.cycle), c(v.rank), c(v.serial), c(v.reason), c(v.file), c(v.line);
}

template <typename Codec, Is<BreakpointHit> V>
void columns(Codec& c, V& v) {
  c(v.cycle), c(v.breakpoint), c(v.rank), c(v.serial), c(v.hits), c(v.watched);
}

template <typename Codec, Is<Note> V>
void columns(Codec& c, V& v) {
  orNull(c, v.rank, kUnknownRank), orNull(c, v.serial, 0U), c(v.text), c(v.createdUtc),
      c(v.failing);
}

template <typename Codec, Is<RankGroup> V>
void columns(Codec& c, V& v) {
  c(v.name), c(v.ranks);
}

template <typename Codec, Is<RankArrangement> V>
void columns(Codec& c, V& v) {
  c(v.hidden), c(v.rowOrder), c(v.sharedRows);
}

template <typename Codec, Is<BenignRace> V>
void columns(Codec& c, V& v) {
  c(v.raceClass), c(v.reason), c(v.createdUtc);
}

template <typename Codec, Is<JudgedRace> V>
void columns(Codec& c, V& v) {
  c(v.raceClass), c(v.verdict), c(v.reason), c(v.createdUtc);
}

template <typename Codec, Is<Branch> V>
void columns(Codec& c, V& v) {
  c(v.parentUuid), c(v.parentFile), c(v.madeBy);
}

template <typename Codec, Is<BranchFlip> V>
void columns(Codec& c, V& v) {
  c(v.rank), c(v.serial), c(v.sendRank), c(v.sendSerial), c(v.text);
}

template <typename Codec, Is<PartOfJob> V>
void columns(Codec& c, V& v) {
  c(v.ranks);
}

/// Writes rows with ids from 1 into an empty table.
template <typename V>
Status writeNumberedRows(Database& database, TableId id, const std::vector<V>& values) {
  Result<RowWriter> writer = RowWriter::start(database, table(id));
  if (!writer) {
    return writer.error();
  }
  std::int64_t key = 0;
  for (const V& value : values) {
    writer->integer(++key);
    columns(*writer, value);
    if (Status status = writer->end(); !status) {
      return status;
    }
  }
  return writer->finish();
}

/// All rows of one of these tables. `hasId`: the first column is an id, given to `onRow` with the
/// value.
template <typename V, typename OnRow>
Status readRows(Database& database, TableId id, bool hasId, OnRow&& onRow) {
  return forEachRow(database, table(id), [&](const Row& row) {
    RowReader reader(row);
    V value;
    std::int64_t key = 0;
    if (hasId) {
      reader(key);
    }
    columns(reader, value);
    return reader.ok() && onRow(key, std::move(value));
  });
}

}  // namespace pf::db
