// SPDX-License-Identifier: GPL-3.0-or-later
// Reading chunks of the column store whose values are what the directory says of them.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "db/columns/column_store.h"

namespace pf::db {

// An event's number tells its chunk:
static_assert(chunkValues(Stream::Event) == kChunkValues &&
              chunkValues(Stream::Time) == kChunkValues);

inline Serial serialOf(const StoredReceive& value) {
  return value.receive.post;
}
inline Serial serialOf(const ReceiveEnds& value) {
  return value.post;
}
inline Serial serialOf(const SendEnds& value) {
  return value.event;
}
inline Serial serialOf(const ProbeHit& value) {
  return value.event;
}
inline Serial serialOf(const StoredSend& value) {
  return value.send.event;
}
inline Serial serialOf(const CollectivePart& value) {
  return value.event;
}
inline Serial serialOf(const RaceValue& value) {
  return value.chosen;
}

/// Event at which the rank saw it complete; 0: none.
template <typename T>
Serial completionOf(const T&) {
  return 0;
}
inline Serial completionOf(const StoredReceive& value) {
  return value.receive.completion;
}
inline Serial completionOf(const ReceiveEnds& value) {
  return value.completion;
}
inline Serial completionOf(const SendEnds& value) {
  return value.syncCompletion;
}
inline Serial completionOf(const StoredSend& value) {
  return value.send.syncCompletion;
}
inline Serial completionOf(const CollectivePart& value) {
  return value.completion;
}

/// Sets firstCompletion and lastCompletion of an entry to those of its values.
template <typename T>
void setCompletions(ChunkEntry& entry, std::span<const T> values) {
  entry.firstCompletion = entry.lastCompletion = 0;
  for (const T& value : values) {
    if (const Serial completion = completionOf(value); completion != 0) {
      entry.firstCompletion =
          entry.firstCompletion == 0 ? completion : std::min(entry.firstCompletion, completion);
      entry.lastCompletion = std::max(entry.lastCompletion, completion);
    }
  }
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
inline bool agrees(const ChunkEntry& entry, std::span<const StoredEvent> values,
                   std::size_t ordinal) {
  const auto [first, last] = std::minmax_element(
      values.begin(), values.end(),
      [](const StoredEvent& a, const StoredEvent& b) { return a.step < b.step; });
  const Serial before = ordinal * kChunkValues;
  return entry.firstSerial == before + 1 && entry.lastSerial == before + values.size() &&
         entry.firstStep == first->step && entry.lastStep == last->step;
}

inline bool agrees(const ChunkEntry& entry, std::span<const EventStep> values, std::size_t) {
  const auto [first, last] =
      std::minmax_element(values.begin(), values.end(),
                          [](const EventStep& a, const EventStep& b) { return a.step < b.step; });
  return entry.firstStep == first->step && entry.lastStep == last->step;
}

/// One for each event.
inline bool agrees(const ChunkEntry& entry, std::span<const StoredTime> values,
                   std::size_t ordinal) {
  const Serial before = ordinal * kChunkValues;
  return entry.firstSerial == before + 1 && entry.lastSerial == before + values.size();
}

/// The races that they are of.
inline bool agrees(const ChunkEntry& entry, std::span<const AlternativeSpan> values, std::size_t) {
  Serial first = values.front().first;
  Serial last = 0;
  for (const AlternativeSpan& value : values) {
    first = std::min<Serial>(first, value.first);
    last = std::max(last, Serial{value.first} + value.count - 1);
  }
  return entry.firstSerial == first && entry.lastSerial == last;
}

/// Appends the values of a chunk, held against the directory: serials and completions.
template <typename T>
Status readChecked(ColumnReader& reader, Rank rank, std::size_t ordinal, std::vector<T>& values) {
  const std::size_t before = values.size();
  const Stream stream = StreamOf<T>::kStream;
  if (Status status = reader.read(rank, ordinal, values); !status) {
    return status;
  }
  const ChunkEntry& entry = reader.chunks(rank, stream)[ordinal];
  const auto added = std::span<const T>(values).subspan(before);
  ChunkEntry found = entry;
  setCompletions(found, added);
  const bool good = agrees(entry, added, ordinal) && found == entry;
  return good ? Status() : Status(reader.damaged(rank, stream, ordinal));
}

/// All values of a stream of a rank.
template <typename T>
Status readAllChecked(ColumnReader& reader, Rank rank, std::vector<T>& values) {
  const Stream stream = StreamOf<T>::kStream;
  values.reserve(values.size() + reader.reservable(rank, stream));
  Status status;
  const std::size_t chunks = reader.chunks(rank, stream).size();
  for (std::size_t i = 0; i < chunks && status.ok(); ++i) {
    status = readChecked(reader, rank, i, values);
  }
  return status;
}

}  // namespace pf::db
