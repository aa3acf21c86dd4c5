// SPDX-License-Identifier: MIT
// How vector clocks travel between the ranks of a host while they run: beside the messages, through
// memory that the ranks share: a message itself is not touched.
//
// A rank's clock says how many completions of wildcard receives (and hits of wildcard probes) of
// each rank it knows of. Its *epoch* is the number of changes so far. What belongs to a message is
// one record in a ring of the pair of ranks: which message of which stream, the sender's epoch, and
// what the sender knew. No record is written where the epoch is the same as at the stream's last
// message. A *stream* is the messages of one sender to one receiver on one communicator with one
// tag: they do not overtake one another, so that their number says which is which. In jobs of up to
// kInline ranks a record holds the whole clock, and is one cache line; in larger ones it holds the
// receiver's entry, and the rest is in the sender's history of changes, up to the epoch.
//
// Knowledge that is lost (a ring that is full, a history that has gone round, a rank of another
// host) is sound: what is known is then less, and more is taken for a race.
//
// No locks; every word has one writer. Memory of a pair or of a history is only touched when used.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace pf::online {

inline constexpr int kInline = 8;  ///< ranks

struct ClockRecord {
  std::uint64_t stream;          ///< hash of communicator and tag
  std::uint32_t message;         ///< number in the stream, from 1
  std::uint32_t known;           ///< the receiver's completions that the sender knew of
  std::uint64_t epoch;           ///< of the sender
  std::uint32_t clock[kInline];  ///< of the sender, if the job is small enough; else its own entry
};

/// The way to ranks of other hosts, as to those on a board. Best effort.
class RemoteClocks {
 public:
  virtual bool publish(int to, const ClockRecord& record) = 0;
  [[nodiscard]] virtual const ClockRecord* next(int from) = 0;
  virtual void drop(int from) = 0;

 protected:
  ~RemoteClocks() = default;
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
  /// Ranks that are not on this board, [rank]; both must stay.
  void setRemote(const bool* isRemote, RemoteClocks* remote) {
    m_isRemote = isRemote;
    m_remote = remote;
  }
  /// Whether it is certain that no rank knows anything.
  [[nodiscard]] bool silent() const {
    return m_remote == nullptr && m_header->spoken.load(std::memory_order_relaxed) == 0;
  }
  /// What this rank knows of `rank`.
  [[nodiscard]] std::uint32_t known(int rank) const { return m_clock[rank]; }
  /// This rank has completed one more wildcard: its number.
  std::uint32_t tick() {
    const std::uint32_t now = m_clock[m_rank] + 1;
    change(m_rank, now);
    return now;
  }

  /// Hands rank `to` what this one knows, with message `message` of a stream. False: its ring is
  /// full.
  bool publish(int to, std::uint64_t stream, std::uint32_t message) {
    Ends& ends = m_ends[to];
    if (isRemote(to) || ends.written - ends.droppedSeen == m_slots) [[unlikely]] {
      return publishElsewhere(to, stream, message);
    }
    putOut(ends, to, stream, message);
    return true;
  }
  /// The oldest record of rank `from` that was not dropped; null if there is none.
  [[nodiscard]] const ClockRecord* next(int from) {
    if (isRemote(from)) [[unlikely]] {
      return m_remote->next(from);
    }
    const Ends& ends = m_ends[from];
    const Slot& slot = ends.in->slots[ends.dropped & (m_slots - 1)];
    return slot.number.load(std::memory_order_acquire) == ends.dropped + 1 ? &slot.record : nullptr;
  }
  void drop(int from) {
    if (isRemote(from)) [[unlikely]] {
      m_remote->drop(from);
      return;
    }
    Ends& ends = m_ends[from];
    ends.in->dropped.store(++ends.dropped, std::memory_order_release);
  }
  /// This rank knows what the sender of the record's message, rank `from`, knew.
  void learn(int from, const ClockRecord& record) {
    if (record.epoch == 0 || from == m_rank) {
      return;
    }
    if (m_size <= kInline) {
      for (int rank = 0; rank < m_size; ++rank) {
        learnOne(rank, record.clock[rank]);
      }
    } else if (isRemote(from)) {
      learnOne(from, record.clock[0]);
    } else {
      learnHistory(from, record.epoch);
    }
  }

  /// This rank enters a collective: number `ordinal` on the communicator of this key.
  void contribute(std::uint64_t comm, std::uint32_t ordinal);
  /// This rank knows what `rank` knew when it entered it; no effect if that cannot be told any
  /// more.
  void learnContribution(int rank, std::uint64_t comm, std::uint32_t ordinal);

  static constexpr std::uint32_t kHistory = 32768;  ///< changes
  static constexpr std::uint32_t kEntries = 1024;   ///< collectives of a rank, a few communicators

 private:
  static constexpr std::uint32_t kSlack = 64;

  struct Header {
    alignas(4096) std::atomic<std::uint32_t> spoken;
  };
  struct alignas(64) Entry {
    std::atomic<std::uint64_t> key;  ///< of communicator and ordinal; 0 while it changes
    std::atomic<std::uint64_t> epoch;
    std::atomic<std::uint32_t> clock[kInline];
  };
  struct History {
    alignas(64) std::atomic<std::uint64_t> length;
    alignas(64) Entry entries[kEntries];
    alignas(64) std::atomic<std::uint64_t> changes[kHistory];
  };
  struct alignas(64) Slot {
    std::atomic<std::uint64_t> number;  ///< of the record in it, from 1
    ClockRecord record;
  };
  struct Ring {
    alignas(64) std::atomic<std::uint64_t> dropped;  ///< by the reader
    alignas(64) Slot slots[1];
  };
  struct Ends {
    Ring* out;  ///< to that rank
    std::uint64_t written;
    std::uint64_t droppedSeen;  ///< by it, when last looked
    Ring* in;                   ///< from that rank
    std::uint64_t dropped;
  };

  [[nodiscard]] bool isRemote(int rank) const { return m_remote != nullptr && m_isRemote[rank]; }
  /// To another host, or where the ring was full when last looked.
  bool publishElsewhere(int to, std::uint64_t stream, std::uint32_t message);
  void putOut(Ends& ends, int to, std::uint64_t stream, std::uint32_t message) {
    Slot& slot = ends.out->slots[ends.written & (m_slots - 1)];
    fill(slot.record, to, stream, message);
    slot.number.store(++ends.written, std::memory_order_release);
  }
  void fill(ClockRecord& record, int to, std::uint64_t stream, std::uint32_t message) const {
    record.stream = stream;
    record.message = message;
    record.known = m_clock[to];
    record.epoch = m_epoch;
    std::memcpy(record.clock, m_clock, sizeof record.clock);  // of larger jobs nobody looks at it
  }
  void learnOne(int rank, std::uint32_t value) {
    if (value > m_clock[rank]) {
      change(rank, value);
    }
  }
  void change(int rank, std::uint32_t value) {
    if (m_epoch == 0) [[unlikely]] {
      m_header->spoken.store(1, std::memory_order_release);
    }
    m_clock[rank] = value;
    if (m_size > kInline) {
      m_own->changes[m_epoch % kHistory].store(
          std::uint64_t{static_cast<std::uint32_t>(rank)} << 32 | value, std::memory_order_release);
      m_own->length.store(m_epoch + 1, std::memory_order_release);
    }
    ++m_epoch;
  }
  void learnHistory(int from, std::uint64_t epoch);

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
  std::uint32_t* m_clock = nullptr;  ///< by rank, at least kInline
  const bool* m_isRemote = nullptr;
  RemoteClocks* m_remote = nullptr;
  Header* m_header = nullptr;
  History* m_own = nullptr;
  std::uint64_t* m_read = nullptr;  ///< by rank: epoch up to which its history was read
  Ends* m_ends = nullptr;           ///< by rank
};

}  // namespace pf::online
