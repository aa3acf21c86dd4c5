// Which message of its stream a send sends and a receive takes, told by each side for itself: the
// k-th message goes to the k-th receive, in the order of posts, that takes one of the stream
// (MPI 3.1, 3.5: messages of one sender do not overtake). See clock_board.h for what a stream is.
#pragma once

#include "online/clock_board.h"
#include "online/flat_table.h"

#include <cstdint>

namespace pf::online {

inline constexpr std::uint32_t kUndecided = 0xFFFFFFFFU;

/// Hash of a communicator (its key, equal on all ranks) and a tag.
[[nodiscard]] constexpr std::uint64_t streamOf(std::uint64_t comm, int tag) {
  return scramble((comm ^ 0x5851F42D4C957F2DULL) +
                  static_cast<std::uint32_t>(tag) * 0x9E3779B97F4A7C15ULL);
}

/// What a rank has sent.
class SendStreams {
 public:
  struct Stream {
    std::uint32_t sent;
    std::uint64_t epoch;  ///< of the last record that was published
  };
  Stream& of(std::uint64_t stream, int to) {
    return m_streams[scramble(stream + static_cast<std::uint32_t>(to))];
  }

 private:
  FlatTable<Stream> m_streams;
};

/// A receive that was posted and has not been observed complete.
struct PendingReceive {
  std::uint32_t post;
  std::uint32_t comm;    ///< number of the communicator
  std::int32_t source;   ///< in it, or any (-1)
  std::int32_t tag;      ///< or any (-1)
  std::int32_t hits[2];  ///< sources of messages that could have come here and went to later ones
  bool open;
  bool cancelled;  ///< MPI_Cancel was called on it
  void* handle;    ///< to ask MPI with; null where it cannot be asked
};
inline constexpr std::int32_t kAny = -1;
inline constexpr std::int32_t kNobody = -2;  ///< in hits

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
  /// The first post that is pending, or `none`.
  [[nodiscard]] std::uint32_t first(std::uint32_t none) const {
    return m_open == 0 ? none : m_receives[m_first].post;
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

/// What a rank has received, and what is known of the senders' clocks.
class ReceiveStreams {
 public:
  /// The number in its stream of the message that the receive `post` took. `earlier`: how many
  /// receives posted before it and still pending took messages of the stream, or kUndecided;
  /// `firstPending`: the first post that is pending, this one not counted, or kUndecided.
  std::uint32_t take(std::uint64_t stream, int from, std::uint32_t post, std::uint32_t earlier,
                     std::uint32_t firstPending);
  /// The number of the next message of the stream, for a probe that saw it.
  std::uint32_t nextOf(std::uint64_t stream, int from, std::uint32_t earlier);
  /// Reads `from`'s records up to that of message `number` (kUndecided: what is certain of any that
  /// is pending). What its sender knew of this rank, and its epoch.
  ClockRecord claim(ClockBoard& board, std::uint64_t stream, int from, std::uint32_t number,
                    std::uint32_t earlier);

 private:
  struct Stream {
    std::uint32_t taken;  ///< messages observed
    std::uint32_t list;   ///< 1 + index of its lists, 0 if it has none
    ClockRecord claimed;  ///< the last one that all messages not yet observed come after, or at
  };
  /// Only for streams whose messages are not observed in order, or came after others'.
  struct Lists {
    FlatArray<std::uint32_t>* posts;  ///< observed, but posted after one that is pending
    FlatArray<ClockRecord>* records;  ///< read, after `claimed`
  };

  Stream& of(std::uint64_t stream, int from) {
    return m_streams[scramble(stream + static_cast<std::uint32_t>(from))];
  }
  Lists& listsOf(Stream& stream);
  /// The last of the records read that is not after message `number`.
  ClockRecord lastRead(Stream& stream, std::uint32_t number, bool forget);

  FlatTable<Stream> m_streams;
  FlatArray<Lists> m_lists;
};

}  // namespace pf::online
