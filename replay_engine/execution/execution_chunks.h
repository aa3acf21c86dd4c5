// SPDX-License-Identifier: MIT
// An execution in chunks of values, as a trace stores it: each stream of a rank in chunks of
// equally many values (the last may have fewer), of which any can be read without the others.
#pragma once

#include <cstddef>
#include <cstdint>

#include "replay_engine/execution/execution.h"

namespace pf {

inline constexpr std::size_t kChunkValues = 4096;  ///< none has more

/// An event, and its logical time.
struct TimedEvent {
  Event event;
  std::uint32_t step = kNone;
};

/// A message where it is sent, and what became of it at its destination (Message). Message n of an
/// execution is the n-th in the order of ranks and sends.
struct SentHere {
  SentMessage send;
  std::uint32_t post = kNone;
  Serial completion = 0;
  std::uint32_t arrival =
      kNone;  ///< logical time at which its line ends; kNone: it does not arrive
};

/// A receive where it is posted, and what of its message is known where that is sent.
struct ReceivedHere {
  PostedReceive receive;
  Serial sent = 0;        ///< event of receive.source; 0: not known, or no message
  Serial senderDone = 0;  ///< event of receive.source (SentMessage::syncCompletion); 0: none
};

// What of a value is enough to draw lines and to go along them: a part of its columns is read.

/// Of a TimedEvent.
struct EventStep {
  std::uint32_t step = kNone;
};
/// Of a SentHere.
struct SendEnds {
  Serial event = 0;
  Serial syncCompletion = 0;
  Serial completion = 0;
  Rank dest = kUnknownRank;
  std::uint32_t arrival = kNone;
};
/// Of a ReceivedHere.
struct ReceiveEnds {
  Serial post = 0;
  Serial completion = 0;
  Serial sent = 0;
  Serial senderDone = 0;
  Rank source = kUnknownRank;
  std::uint32_t message = kNone;
};

enum class ChunkStream : std::uint8_t { Event, Receive, Probe, Send, Collective, Time };
inline constexpr std::size_t kChunkStreams = 6;

template <typename T>
inline constexpr ChunkStream kStreamOf = ChunkStream::Event;
template <>
inline constexpr ChunkStream kStreamOf<ReceivedHere> = ChunkStream::Receive;
template <>
inline constexpr ChunkStream kStreamOf<ReceiveEnds> = ChunkStream::Receive;
template <>
inline constexpr ChunkStream kStreamOf<ProbeHit> = ChunkStream::Probe;
template <>
inline constexpr ChunkStream kStreamOf<SentHere> = ChunkStream::Send;
template <>
inline constexpr ChunkStream kStreamOf<SendEnds> = ChunkStream::Send;
template <>
inline constexpr ChunkStream kStreamOf<CollectivePart> = ChunkStream::Collective;
template <>
inline constexpr ChunkStream kStreamOf<EventTime> = ChunkStream::Time;

/// What is known of a chunk without reading it. Serials, steps and completions of its values, from
/// first to last, both included.
struct ChunkInfo {
  std::uint32_t values = 0;
  Serial firstSerial = 0;
  Serial lastSerial = 0;
  std::uint32_t firstStep = 0;
  std::uint32_t lastStep = 0;  ///< of messages: of their arrivals, too
  Serial firstCompletion = 0;  ///< 0: none of them completes
  Serial lastCompletion = 0;   ///< of messages: of synchronous sends
};

}  // namespace pf
