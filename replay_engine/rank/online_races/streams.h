// SPDX-License-Identifier: MIT
// Which message of its stream a send sends and a receive takes, told by each side for itself: the
// k-th message goes to the k-th receive, in the order of posts, that takes one of the stream
// (MPI 3.1, 3.5: messages of one sender do not overtake). See clock_board.h for what a stream is.
//
// A receive by source and tag takes the next number when it is posted, if all receives before it
// have theirs (it is *assigned*). Else, and with any source or any tag, it is *pending*: its number
// is known when it is observed complete.
#pragma once

#include <cstdint>
#include <initializer_list>

#include "replay_engine/rank/online_races/clock_board.h"
#include "replay_engine/rank/online_races/flat_table.h"

namespace pf::online {

inline constexpr std::uint32_t kUndecided = 0xFFFFFFFFU;
inline constexpr std::int32_t kAny = -1;
inline constexpr std::int32_t kNobody = -2;  ///< in PendingReceive::hits

/// Hash of a communicator (its key, equal on all ranks) and a tag.
[[nodiscard]] constexpr std::uint64_t streamOf(std::uint64_t comm, int tag) {
  return scramble((comm ^ 0x5851F42D4C957F2DULL) +
                  static_cast<std::uint32_t>(tag) * 0x9E3779B97F4A7C15ULL);
}

/// Number of a message in its stream, or of a receive among those that took one of it.
struct MessageNumber {
  std::uint32_t least = 0;
  bool exact = true;  ///< else it may be a later one
};

/// Streams by a number of their own, which does not change.
template <typename Stream>
class Streams {
 public:
  std::uint32_t indexOf(std::uint64_t stream, int peer) {
    std::uint32_t& index = m_indices[scramble(stream + static_cast<std::uint32_t>(peer))];
    if (index == 0) {
      Stream made{};
      made.id = stream;
      made.peer = peer;
      m_streams.push(made);
      index = m_streams.size();
    }
    return index - 1;
  }
  Stream& operator[](std::uint32_t index) { return m_streams[index]; }

 private:
  FlatTable<std::uint32_t> m_indices;  ///< plus 1
  FlatArray<Stream> m_streams;
};

struct SendStream {
  std::uint64_t id;
  int peer;
  std::uint32_t sent;
  std::uint64_t epoch;  ///< of the last record that was published
};
using SendStreams = Streams<SendStream>;

/// A receive that was posted and has not been observed complete.
struct PendingReceive {
  std::uint32_t post;
  std::uint32_t comm : 30;  ///< number of the communicator
  bool open : 1;
  bool cancelled : 1;    ///< MPI_Cancel was called on it
  std::int32_t source;   ///< in it, or any
  std::int32_t tag;      ///< or any
  std::int32_t hits[2];  ///< sources of messages that could have come here and went to later ones
  void* handle;          ///< to ask MPI with; null where it cannot be asked
};

/// The pending receives of a rank in the order of posts.
class PendingReceives {
 public:
  void add(const PendingReceive& receive) {
    m_receives.push(receive);
    ++m_open;
    m_wild += receive.source == kAny ? 1U : 0U;
  }
  /// The entry of this post, or null. Valid until the next add() or remove().
  PendingReceive* find(std::uint32_t post);
  void remove(std::uint32_t post);
  [[nodiscard]] bool none() const { return m_open == 0; }
  [[nodiscard]] std::uint32_t wild() const { return m_wild; }
  /// The first post that is pending, or kUndecided.
  [[nodiscard]] std::uint32_t first() const {
    return m_open == 0 ? kUndecided : m_receives[m_first].post;
  }
  /// For each one posted before `post`, in order, until `action` returns false.
  template <typename Action>
  void before(std::uint32_t post, Action action) {
    if (m_open == 0) {
      return;
    }
    for (std::uint32_t i = m_first; i < m_receives.size() && m_receives[i].post < post; ++i) {
      if (m_receives[i].open && !action(m_receives[i])) {
        return;
      }
    }
  }

 private:
  FlatArray<PendingReceive> m_receives;  ///< those before m_first are closed
  std::uint32_t m_first = 0;
  std::uint32_t m_open = 0;
  std::uint32_t m_wild = 0;
};

/// A receive by source and tag that was posted and has its number.
struct AssignedReceive {
  void* handle;
  std::uint32_t post;
  std::uint32_t comm;   ///< number of the communicator
  std::int32_t source;  ///< in it
  std::int32_t tag;
  std::uint32_t stream;  ///< index
  std::uint32_t number;
};

/// By handle: open addressing, linear probing, no allocation but to double.
class AssignedReceives {
 public:
  AssignedReceives() = default;
  AssignedReceives(const AssignedReceives&) = delete;
  AssignedReceives& operator=(const AssignedReceives&) = delete;
  ~AssignedReceives() { std::free(m_slots); }

  void add(const AssignedReceive& receive) {
    if (m_count * 2 >= m_capacity) [[unlikely]] {
      grow();
    }
    AssignedReceive& slot = m_slots[slotOf(receive.handle)];
    m_count += slot.handle == nullptr ? 1U : 0U;
    slot = receive;
  }
  [[nodiscard]] bool none() const { return m_count == 0; }
  /// Takes it out into `out`. False: there is none.
  bool take(void* handle, AssignedReceive* out);
  /// The first post of all, or kUndecided. Looks at the whole table.
  [[nodiscard]] std::uint32_t first() const;

 private:
  [[nodiscard]] std::uint32_t home(const void* handle) const {
    const auto bits = reinterpret_cast<std::uintptr_t>(handle);
    return static_cast<std::uint32_t>((bits >> 4) * 0x9E3779B97F4A7C15U >> 40) & (m_capacity - 1);
  }
  [[nodiscard]] std::uint32_t slotOf(const void* handle) const {
    std::uint32_t i = home(handle);
    while (m_slots[i].handle != handle && m_slots[i].handle != nullptr) {
      i = (i + 1) & (m_capacity - 1);
    }
    return i;
  }
  void grow();

  AssignedReceive* m_slots = nullptr;
  std::uint32_t m_capacity = 0;
  std::uint32_t m_count = 0;
};

/// All receives of a rank that were posted and have not been observed complete.
struct OpenReceives {
  PendingReceives pending;
  AssignedReceives assigned;
  AssignedReceives promoted;  ///< assigned ones that have an entry in the table of requests
  [[nodiscard]] std::uint32_t first() const {
    std::uint32_t least = pending.first();
    for (const std::uint32_t other : {assigned.first(), promoted.first()}) {
      least = other < least ? other : least;
    }
    return least;
  }
};

/// What a rank has received, and what is known of the senders' clocks. Streams go by their index.
class ReceiveStreams {
 public:
  ReceiveStreams() = default;
  ReceiveStreams(const ReceiveStreams&) = delete;
  ReceiveStreams& operator=(const ReceiveStreams&) = delete;
  ~ReceiveStreams();

  std::uint32_t indexOf(std::uint64_t stream, int from) { return m_streams.indexOf(stream, from); }
  [[nodiscard]] int peerOf(std::uint32_t stream) { return m_streams[stream].peer; }

  /// The number of a receive that takes the next message for sure: none before it is pending.
  std::uint32_t assign(std::uint32_t stream) { return ++m_streams[stream].issued; }
  /// A message as passed() has it.
  struct Passed {
    int peer;
    std::uint32_t number;
    const ClockRecord* record;  ///< as of observe()
    bool news;                  ///< it was not the record of the stream's last message
  };
  /// take() and observe() in one for the next message of a stream, received and observed at once
  /// while no receive is pending. False: there is more to it, and nothing was done.
  bool pass(ClockBoard& board, std::uint32_t stream, bool silent, Passed* passed) {
    Stream& in = m_streams[stream];
    if (in.lists != 0 || in.through != in.issued) [[unlikely]] {
      return false;
    }
    ++in.issued;
    *passed = {in.peer, ++in.through, silent ? &kNothing : &in.claimed, false};
    if (silent) {
      return true;
    }
    const ClockRecord* const next = board.next(in.peer);
    if (next == nullptr) {
      return true;
    }
    if (next->stream == in.id && next->message == passed->number) [[likely]] {
      in.claimed = *next;
      board.drop(in.peer);
      passed->news = true;
    } else if (next->stream != in.id || next->message < passed->number) {
      passed->record = &claim(board, stream, passed->number, true);
      passed->news = true;
    }
    return true;
  }
  /// An assigned one was cancelled.
  void cancel(std::uint32_t stream, std::uint32_t number);
  /// The number of a receive that was pending. `earlier`: how many receives posted before it and
  /// still pending took messages of the stream; `firstPending`: the first post that is pending,
  /// this one not counted, or kUndecided.
  MessageNumber take(std::uint32_t stream, std::uint32_t post, MessageNumber earlier,
                     std::uint32_t firstPending);
  /// The number of the next message that no receive takes, for a probe that saw it.
  MessageNumber nextOf(std::uint32_t stream, MessageNumber earlier) {
    return {m_streams[stream].issued + earlier.least + 1, earlier.exact};
  }
  /// Message `number` was observed. What its sender knew, until the next call; at least that, where
  /// the number is not exact. Not read from the board if `silent`: nobody knows anything.
  const ClockRecord& observe(ClockBoard& board, std::uint32_t stream, MessageNumber number,
                             bool silent);
  /// No receive is pending: which messages of the stream have been observed is known again. False:
  /// assigned receives are under way, and it is not.
  bool settle(std::uint32_t stream);
  /// Number of the message, in its stream, that receive number `number` took.
  [[nodiscard]] std::uint32_t messageOf(std::uint32_t stream, std::uint32_t number);
  /// As observe() for a message that was seen and not taken.
  const ClockRecord& see(ClockBoard& board, std::uint32_t stream, MessageNumber number);

 private:
  static constexpr std::uint32_t kMostOutOfOrder = 4096;

  struct Stream {
    std::uint64_t id;
    int peer;
    std::uint32_t issued;   ///< numbers that receives have, cancelled ones too
    std::uint32_t through;  ///< all up to this number have been observed, or cancelled
    std::uint32_t lists;    ///< 1 + index of its lists, 0 if it has none
    std::uint32_t inexact;  ///< observed since `through` was exact, by numbers that are not
    ClockRecord claimed;    ///< the last one read that is not after `through` + 1
  };
  /// Only for streams whose messages are not observed in order, or that others' came before.
  struct Lists {
    FlatArray<std::uint32_t>* posts;      ///< observed, but posted after one that is pending
    FlatArray<std::uint32_t>* ahead;      ///< observed numbers after `through`
    FlatArray<std::uint32_t>* cancelled;  ///< numbers that took no message
    FlatArray<ClockRecord>* records;      ///< read, after `claimed`
  };

  Lists& listsOf(std::uint32_t stream);
  void advance(std::uint32_t stream, std::uint32_t number);
  const ClockRecord& claim(ClockBoard& board, std::uint32_t stream, std::uint32_t message,
                           bool inOrder);
  /// The last of the records read that is not after message `message`.
  const ClockRecord& lastRead(std::uint32_t stream, std::uint32_t message, bool forget);

  Streams<Stream> m_streams;
  FlatArray<Lists> m_lists;
  ClockRecord m_last{};  ///< room for a result
  static constexpr ClockRecord kNothing{};
};

}  // namespace pf::online
