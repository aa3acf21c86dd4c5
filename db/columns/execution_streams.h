// SPDX-License-Identifier: GPL-3.0-or-later
// What a rank did as eight streams of values, each stored in chunks (column_store.h).
#pragma once

#include <cstddef>
#include <cstdint>

#include "db/columns/column_codec.h"
#include "replay_engine/execution/execution_chunks.h"

namespace pf::db {

enum class Stream : std::uint8_t {
  Event,
  Receive,
  Probe,
  Send,
  Collective,
  Time,
  Race,
  Alternative
};
inline constexpr std::size_t kStreams = 8;

using pf::kChunkValues;

/// Values of the chunks that are written, a power of 2. Of messages fewer: the past and the future
/// of an event need a few hundred of each rank.
constexpr std::size_t chunkValues(Stream stream) {
  return stream == Stream::Receive || stream == Stream::Send ? 1024 : kChunkValues;
}
using StoredEvent = TimedEvent;
using StoredSend = SentHere;
using StoredReceive = ReceivedHere;

/// When an event was: value n is of event n. The stream is empty where the trace has no times.
struct StoredTime {
  std::uint64_t begin = 0;     ///< nanoseconds
  std::uint64_t duration = 0;  ///< nanoseconds
  TimeOrigin origin = TimeOrigin::Recording;
};

/// A race of a rank; its alternatives are in another stream.
struct RaceValue {
  std::uint32_t index = 0;  ///< of the receive, or of the probe
  bool probe = false;
  Serial chosen = 0;  ///< event of the receive's post, or of the probe
  Serial serial = 0;  ///< event of the completion (the post while pending), or of the probe
  std::uint32_t chosenStep = kNone;  ///< logical times of both
  std::uint32_t step = kNone;
  Rank source = kUnknownRank;       ///< of the message taken
  std::uint32_t taken = kNone;      ///< message
  std::uint32_t raceClass = kNone;  ///< race_class.id
  std::uint32_t alternatives = 0;   ///< how many
  Serial sent = 0;                  ///< event of `source` that sent it; 0: not known, or none
  Tag tag = kAnyTag;                ///< of the message taken
};

/// A message that is an alternative of `count` successive races of a rank, from its `first` one on.
/// None goes over a multiple of kChunkValues, so that those of a race begin near it.
struct AlternativeSpan {
  std::uint32_t first = 0;
  std::uint32_t count = 0;
  Rank source = kUnknownRank;
  std::uint32_t message = kNone;
};

template <typename T>
struct StreamOf;
template <>
struct StreamOf<StoredEvent> {
  static constexpr Stream kStream = Stream::Event;
};
template <>
struct StreamOf<EventStep> {
  static constexpr Stream kStream = Stream::Event;
};
template <>
struct StreamOf<StoredReceive> {
  static constexpr Stream kStream = Stream::Receive;
};
template <>
struct StreamOf<ReceiveEnds> {
  static constexpr Stream kStream = Stream::Receive;
};
template <>
struct StreamOf<ProbeHit> {
  static constexpr Stream kStream = Stream::Probe;
};
template <>
struct StreamOf<StoredSend> {
  static constexpr Stream kStream = Stream::Send;
};
template <>
struct StreamOf<SendEnds> {
  static constexpr Stream kStream = Stream::Send;
};
template <>
struct StreamOf<CollectivePart> {
  static constexpr Stream kStream = Stream::Collective;
};

template <>
struct StreamOf<StoredTime> {
  static constexpr Stream kStream = Stream::Time;
};

template <>
struct StreamOf<RaceValue> {
  static constexpr Stream kStream = Stream::Race;
};
template <>
struct StreamOf<AlternativeSpan> {
  static constexpr Stream kStream = Stream::Alternative;
};

/// Columns that are read for a value, a bit each.
template <typename T>
inline constexpr std::uint32_t kWantedColumns = ~0U;
template <>
inline constexpr std::uint32_t kWantedColumns<EventStep> = 1U << 8U;
template <>
inline constexpr std::uint32_t kWantedColumns<SendEnds> =
    1U << 0U | 1U << 2U | 1U << 5U | 1U << 7U | 1U << 8U;
template <>
inline constexpr std::uint32_t kWantedColumns<ReceiveEnds> =
    1U << 0U | 1U << 1U | 1U << 6U | 1U << 8U | 1U << 9U | 1U << 10U;

template <typename V, typename T>
concept ValueOf = std::same_as<std::remove_const_t<V>, T>;

template <typename C, ValueOf<StoredEvent> V>
[[gnu::always_inline]] inline void fields(C& c, V& v) {
  enumerator(c, v.event.kind, EventKind::Start);
  number(c, v.event.call);
  orNone(c, v.event.site);
  orNone(c, v.event.comm);
  someRank(c, v.event.peer);
  signedNumber(c, v.event.tag);
  number(c, v.event.lane);
  number(c, v.event.bytes);
  difference(c, v.step);
}

template <typename C, ValueOf<EventStep> V>
[[gnu::always_inline]] inline void fields(C& c, V& v) {
  c.skip(8);
  difference(c, v.step);
}

template <typename C, ValueOf<StoredReceive> V>
[[gnu::always_inline]] inline void fields(C& c, V& v) {
  auto& r = v.receive;
  difference(c, r.post);
  serialNear(c, r.completion, r.post);
  orNone(c, r.comm);
  someRank(c, r.wantedSource);
  signedNumber(c, r.wantedTag);
  enumerator(c, r.state, ReceiveState::Cancelled);
  someRank(c, r.source);
  signedNumber(c, r.tag);
  following(c, r.message, r.source, kNone);
  following(c, v.sent, r.source, 0);
  serialNear(c, v.senderDone, v.sent);
}

template <typename C, ValueOf<ReceiveEnds> V>
[[gnu::always_inline]] inline void fields(C& c, V& v) {
  difference(c, v.post);
  serialNear(c, v.completion, v.post);
  c.skip(4);
  someRank(c, v.source);
  c.skip(1);
  following(c, v.message, v.source, kNone);
  following(c, v.sent, v.source, 0);
  serialNear(c, v.senderDone, v.sent);
}

template <typename C, ValueOf<ProbeHit> V>
[[gnu::always_inline]] inline void fields(C& c, V& v) {
  difference(c, v.event);
  orNone(c, v.comm);
  someRank(c, v.wantedSource);
  signedNumber(c, v.wantedTag);
  someRank(c, v.source);
  signedNumber(c, v.tag);
  difference(c, v.postsBefore);
  following(c, v.message, v.source, kNone);
}

template <typename C, ValueOf<StoredSend> V>
[[gnu::always_inline]] inline void fields(C& c, V& v) {
  difference(c, v.send.event);
  orNone(c, v.send.comm);
  someRank(c, v.send.dest);
  signedNumber(c, v.send.tag);
  flag(c, v.send.synchronous);
  serialNear(c, v.send.syncCompletion, v.send.event);
  following(c, v.post, v.send.dest, kNone);
  following(c, v.completion, v.send.dest, 0);
  following(c, v.arrival, v.send.dest, kNone);
}

template <typename C, ValueOf<SendEnds> V>
[[gnu::always_inline]] inline void fields(C& c, V& v) {
  difference(c, v.event);
  c.skip(1);
  someRank(c, v.dest);
  c.skip(2);
  serialNear(c, v.syncCompletion, v.event);
  c.skip(1);
  following(c, v.completion, v.dest, 0);
  following(c, v.arrival, v.dest, kNone);
}

template <typename C, ValueOf<StoredTime> V>
[[gnu::always_inline]] inline void fields(C& c, V& v) {
  difference(c, v.begin);
  number(c, v.duration);
  enumerator(c, v.origin, TimeOrigin::Reexecution);
}

template <typename C, ValueOf<CollectivePart> V>
[[gnu::always_inline]] inline void fields(C& c, V& v) {
  difference(c, v.event);
  serialNear(c, v.completion, v.event);
  orNone(c, v.comm);
  difference(c, v.ordinal);
  enumerator(c, v.flow, CollectiveFlow::FromLower);
  someRank(c, v.root);
  flag(c, v.contributes);
  flag(c, v.takes);
}

template <typename C, ValueOf<RaceValue> V>
[[gnu::always_inline]] inline void fields(C& c, V& v) {
  difference(c, v.index);
  flag(c, v.probe);
  difference(c, v.chosen);
  serialNear(c, v.serial, v.chosen);
  someRank(c, v.source);
  following(c, v.taken, v.source, kNone);
  orNone(c, v.raceClass);
  number(c, v.alternatives);
  difference(c, v.chosenStep);
  difference(c, v.step);
  following(c, v.sent, v.source, 0);
  signedNumber(c, v.tag);
}

template <typename C, ValueOf<AlternativeSpan> V>
[[gnu::always_inline]] inline void fields(C& c, V& v) {
  difference(c, v.first);
  number(c, v.count);
  someRank(c, v.source);
  following(c, v.message, v.source, kNone);
}

}  // namespace pf::db
