// How vector clocks travel between the ranks of a host while they run: beside the messages, through
// memory that the ranks share (study/engine.md, A: a message itself is not touched).
//
// A rank's clock says how many completions of wildcard receives (and hits of wildcard probes) of
// each rank it knows of. It is published once, as a history of its changes; a position in the
// history, its *epoch*, names the clock at that moment. What belongs to a message is then one
// record in a ring of the pair of ranks: which message of which stream, the sender's epoch, and
// what the sender knew of the receiver. No record is written where the epoch is the same as at the
// stream's last message. A *stream* is the messages of one sender to one receiver on one
// communicator with one tag: they do not overtake one another, so that their number says which is
// which.
//
// Knowledge that is lost (a ring that is full, a history that has gone round, a rank of another
// host) is sound: what is known is then less, and more is taken for a race.
//
// No locks; every word has one writer. Memory of a pair or of a history is only touched when used.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace pf::online {

struct ClockRecord {
  std::uint64_t stream;   ///< hash of communicator and tag
  std::uint32_t message;  ///< number in the stream, from 1
  std::uint32_t known;    ///< the receiver's completions that the sender knew of
  std::uint64_t epoch;    ///< of the sender
};

class ClockBoard {
 public:
  ClockBoard() = default;
  ClockBoard(const ClockBoard&) = delete;
  ClockBoard& operator=(const ClockBoard&) = delete;
  ~ClockBoard();

  /// Maps the board of a job's ranks on this host, and makes it if it is not there yet. False with
  /// errno on failure.
  bool open(const char* path, int rank, int size);

  /// The number of changes so far of this rank's clock.
  [[nodiscard]] std::uint64_t epoch() const { return m_epoch; }
  /// Whether any rank of the host knows anything.
  [[nodiscard]] bool silent() const {
    return m_header->spoken.load(std::memory_order_relaxed) == 0;
  }
  /// The clock's entry for `rank` has become `value`.
  void change(int rank, std::uint32_t value) {
    if (m_epoch == 0) [[unlikely]] {
      m_header->spoken.store(1, std::memory_order_release);
    }
    History& own = *m_own;
    own.changes[m_epoch % kHistory].store(
        std::uint64_t{static_cast<std::uint32_t>(rank)} << 32 | value, std::memory_order_release);
    own.length.store(++m_epoch, std::memory_order_release);
  }
  /// What `rank`'s clock became between what was read before and `epoch`, by `changed(rank,
  /// value)`.
  template <typename Changed>
  void read(int rank, std::uint64_t epoch, Changed changed) {
    std::uint64_t& at = m_read[rank];
    if (at >= epoch || rank == m_rank) {
      return;
    }
    History& history = *historyOf(rank);
    while (at < epoch) {
      const std::uint64_t length = history.length.load(std::memory_order_acquire);
      if (length - at > kHistory - kSlack) {  // gone round: what is gone stays unknown
        at = length - kHistory + 2 * std::uint64_t{kSlack};
        continue;
      }
      const std::uint64_t change = history.changes[at % kHistory].load(std::memory_order_acquire);
      if (history.length.load(std::memory_order_acquire) - at > kHistory - 1) {
        continue;  // written over while it was read
      }
      ++at;
      changed(static_cast<int>(change >> 32), static_cast<std::uint32_t>(change));
    }
  }

  /// Hands a record to rank `to`. False: its ring is full.
  bool publish(int to, const ClockRecord& record);
  /// The oldest record of rank `from` that was not dropped; null if there is none.
  [[nodiscard]] const ClockRecord* next(int from);
  void drop(int from);

  /// This rank's clock as it enters a collective: number `ordinal` on the communicator of this key.
  void contribute(std::uint64_t comm, std::uint32_t ordinal);
  /// The epoch with which `rank` entered it; 0 if it knew nothing, or it cannot be told any more.
  [[nodiscard]] std::uint64_t contribution(int rank, std::uint64_t comm, std::uint32_t ordinal);

  static constexpr std::uint32_t kHistory = 32768;  ///< changes
  static constexpr std::uint32_t kEntries = 1024;   ///< collectives of a rank, a few communicators

 private:
  static constexpr std::uint32_t kSlack = 64;

  struct Header {
    alignas(4096) std::atomic<std::uint32_t> spoken;
  };
  struct Entry {
    std::atomic<std::uint64_t> key;  ///< of communicator and ordinal; 0 while it changes
    std::atomic<std::uint64_t> epoch;
  };
  struct History {
    alignas(64) std::atomic<std::uint64_t> length;
    alignas(64) Entry entries[kEntries];
    alignas(64) std::atomic<std::uint64_t> changes[kHistory];
  };
  struct Slot {
    std::atomic<std::uint64_t> number;  ///< of the record in it, from 1
    ClockRecord record;
  };
  struct Ring {
    alignas(64) std::atomic<std::uint64_t> dropped;  ///< by the reader
    alignas(64) Slot slots[1];
  };
  struct Ends {
    std::uint64_t written;      ///< to that rank
    std::uint64_t droppedSeen;  ///< of its ring, when last looked
    std::uint64_t dropped;      ///< from that rank
  };

  [[nodiscard]] std::size_t ringSize() const {
    return offsetof(Ring, slots) + m_slots * sizeof(Slot);
  }
  [[nodiscard]] History* historyOf(int rank) {
    return reinterpret_cast<History*>(m_memory + sizeof(Header) +
                                      static_cast<std::size_t>(rank) * sizeof(History));
  }
  [[nodiscard]] Ring* ring(int from, int to);

  unsigned char* m_memory = nullptr;
  std::size_t m_bytes = 0;
  int m_rank = 0;
  int m_size = 0;
  std::uint32_t m_slots = 0;  ///< of a ring, a power of two
  std::uint64_t m_epoch = 0;
  Header* m_header = nullptr;
  History* m_own = nullptr;
  std::uint64_t* m_read = nullptr;  ///< by rank: epoch up to which its history was read
  Ends* m_ends = nullptr;           ///< by rank
};

}  // namespace pf::online
