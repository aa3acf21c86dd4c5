// SPDX-License-Identifier: MIT
// Chunks of an execution that is too large to be in memory, read when they are asked for; those
// used last stay, within a bound. Threads may share it. QtCore only.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include <QString>

#include "replay_engine/execution/execution_chunks.h"

namespace pf::views {

/// Data port: where chunks come from.
class ExecutionChunks {
 public:
  ExecutionChunks() = default;
  virtual ~ExecutionChunks() = default;
  ExecutionChunks(const ExecutionChunks&) = delete;
  ExecutionChunks& operator=(const ExecutionChunks&) = delete;

  /// All chunks of a stream but the last have 1 << shift() values.
  [[nodiscard]] virtual unsigned shift(ChunkStream stream) const = 0;
  [[nodiscard]] virtual std::span<const ChunkInfo> chunks(Rank rank, ChunkStream stream) const = 0;
  /// From any thread. False: it cannot be read; what is in `values` then counts for nothing.
  virtual bool read(Rank rank, std::size_t ordinal, std::vector<TimedEvent>& values) const = 0;
  virtual bool read(Rank rank, std::size_t ordinal, std::vector<ReceivedHere>& values) const = 0;
  virtual bool read(Rank rank, std::size_t ordinal, std::vector<ProbeHit>& values) const = 0;
  virtual bool read(Rank rank, std::size_t ordinal, std::vector<SentHere>& values) const = 0;
  virtual bool read(Rank rank, std::size_t ordinal, std::vector<CollectivePart>& values) const = 0;
  virtual bool read(Rank rank, std::size_t ordinal, std::vector<EventTime>& values) const = 0;
  // The same in part, which is quicker:
  virtual bool read(Rank rank, std::size_t ordinal, std::vector<EventStep>& values) const = 0;
  virtual bool read(Rank rank, std::size_t ordinal, std::vector<SendEnds>& values) const = 0;
  virtual bool read(Rank rank, std::size_t ordinal, std::vector<ReceiveEnds>& values) const = 0;
  /// While what it returns lives, many reads are quicker; for moments, since nobody can write what
  /// is read meanwhile. May be null. Not longer than this.
  [[nodiscard]] virtual std::shared_ptr<const void> hold() const { return nullptr; }
  /// `tell` is called once, with why a chunk cannot be read; from any thread. Null: no more.
  virtual void whenItFails(const std::function<void(const QString&)>& /*tell*/) const {}
};

/// Items of events; most events have none, so it is kept for blocks of events where they begin.
class EventItems {
 public:
  using Pairs = std::vector<std::pair<std::uint32_t, std::uint32_t>>;  ///< event, item

  EventItems() = default;
  /// Of so many events; pairs of others are left out. Items of an event stay in their order.
  EventItems(std::size_t events, Pairs pairs);

  [[nodiscard]] std::span<const std::uint32_t> at(std::size_t event) const;
  /// Calls `visit` with each event of [first, last] that has items, and with each of these.
  template <typename Visit>
  void in(std::size_t first, std::size_t last, Visit&& visit) const {
    for (std::size_t block = first / kEvents; block + 1 < m_first.size() && block <= last / kEvents;
         ++block) {
      for (std::uint32_t i = m_first[block]; i < m_first[block + 1]; ++i) {
        const std::size_t event = block * kEvents + m_within[i];
        if (event >= first && event <= last) {
          visit(event, m_items[i]);
        }
      }
    }
  }
  /// Calls `wanted` with each item, the last of event `last` first and then back to event `first`,
  /// until it returns true.
  template <typename Wanted>
  void findBack(std::size_t first, std::size_t last, Wanted&& wanted) const {
    if (m_first.size() < 2) {
      return;
    }
    std::size_t block = std::min(last / kEvents, m_first.size() - 2);
    for (std::uint32_t i = m_first[block + 1]; i > 0; --i) {
      while (m_first[block] >= i) {
        --block;
      }
      const std::size_t event = block * kEvents + m_within[i - 1];
      if (event < first || (event <= last && wanted(m_items[i - 1]))) {
        return;
      }
    }
  }
  /// The same from the first of event `first` on to event `last`.
  template <typename Wanted>
  void find(std::size_t first, std::size_t last, Wanted&& wanted) const {
    for (std::size_t block = first / kEvents, i = block + 1 < m_first.size() ? m_first[block] : 0;
         i < m_items.size() && block + 1 < m_first.size(); ++i) {
      while (m_first[block + 1] <= i) {
        ++block;
      }
      const std::size_t event = block * kEvents + m_within[i];
      if (event > last || (event >= first && wanted(m_items[i]))) {
        return;
      }
    }
  }
  void mark(std::vector<bool>& events) const;  ///< those that have items
  [[nodiscard]] std::size_t bytes() const;

 private:
  static constexpr std::size_t kEvents = 32;  ///< of a block
  std::vector<std::uint32_t> m_first;         ///< item, by block
  std::vector<std::uint32_t> m_items;
  std::vector<std::uint8_t> m_within;  ///< by item: its event in the block
};

/// What belongs to events: those of a chunk, or all.
struct EventLinks {
  EventItems sent;       ///< messages that leave
  EventItems posted;     ///< receives, by number in their rank
  EventItems completed;  ///< likewise
  EventItems probes;
  EventItems synchronousDone;  ///< messages sent synchronously that are known to be matched
  EventItems collectivesDone;  ///< collective parts of their rank
  std::vector<bool> takes;     ///< something comes in from other ranks
  std::vector<bool> gives;     ///< something may go out, but by a collective
  /// From the items.
  void markFlows(std::size_t events);
  [[nodiscard]] std::size_t bytes() const;
};

template <typename T>
struct HeldChunk {
  std::shared_ptr<const std::vector<T>> values;
  Rank rank = -1;
  std::size_t ordinal = 0;
};

/// How much there is, and what goes next.
class CacheBudget {
 public:
  using Drop = bool (*)(void* shelf, Rank rank, std::size_t ordinal);  ///< false: it was used since

  explicit CacheBudget(std::size_t most) : m_most(most) {}
  /// Without any lock of a shelf.
  void added(void* shelf, Drop drop, Rank rank, std::size_t ordinal, std::size_t bytes);
  [[nodiscard]] std::size_t bytes() const;

 private:
  struct Entry {
    void* shelf;
    Drop drop;
    Rank rank;
    std::size_t ordinal;
    std::size_t bytes;
  };
  std::size_t m_most;
  mutable std::mutex m_mutex;
  std::size_t m_bytes = 0;
  std::deque<Entry> m_entries;  ///< the oldest first
};

/// Pages of one kind.
template <typename P>
class CachedChunks {
 public:
  CachedChunks(CacheBudget& budget, std::size_t ranks) : m_budget(budget), m_rows(ranks) {}

  /// `load` makes the page where it is not there: returns it and its size in bytes.
  template <typename Load>
  std::shared_ptr<const P> get(Rank rank, std::size_t ordinal, Load&& load) {
    Row& row = m_rows[static_cast<std::size_t>(rank)];
    std::shared_ptr<const P> page;
    std::size_t bytes = 0;
    {
      const std::lock_guard lock(row.mutex);
      if (ordinal >= row.slots.size()) {
        row.slots.resize(ordinal + 1);
      }
      if (row.slots[ordinal].page != nullptr) {
        row.slots[ordinal].used = true;
        return row.slots[ordinal].page;
      }
      std::tie(page, bytes) = load();
      row.slots[ordinal].page = page;
    }
    m_budget.added(this, &CachedChunks::drop, rank, ordinal, bytes);
    return page;
  }
  /// Calls `use` with the page if it is there.
  template <typename Use>
  bool with(Rank rank, std::size_t ordinal, Use&& use) {
    Row& row = m_rows[static_cast<std::size_t>(rank)];
    const std::lock_guard lock(row.mutex);
    if (ordinal >= row.slots.size() || row.slots[ordinal].page == nullptr) {
      return false;
    }
    row.slots[ordinal].used = true;
    use(*row.slots[ordinal].page);
    return true;
  }

 private:
  struct Slot {
    std::shared_ptr<const P> page;
    bool used = false;  ///< since it was looked at by the budget
  };
  struct Row {
    std::mutex mutex;
    std::vector<Slot> slots;
  };
  static bool drop(void* shelf, Rank rank, std::size_t ordinal) {
    Row& row = static_cast<CachedChunks*>(shelf)->m_rows[static_cast<std::size_t>(rank)];
    std::shared_ptr<const P> gone;  // freed without the lock
    const std::unique_lock lock(row.mutex, std::try_to_lock);
    if (!lock) {
      return false;  // perhaps by this thread, which makes a page of others
    }
    if (row.slots[ordinal].used) {
      row.slots[ordinal].used = false;
      return false;
    }
    gone.swap(row.slots[ordinal].page);
    return true;
  }

  CacheBudget& m_budget;
  std::deque<Row> m_rows;
};

class ChunkCache {
 public:
  static constexpr std::size_t kMostBytes = std::size_t{192} << 20U;

  ChunkCache(std::shared_ptr<const ExecutionChunks> source, std::size_t ranks,
             std::size_t mostBytes = kMostBytes);

  [[nodiscard]] std::size_t rankCount() const { return m_firstMessage.size() - 1; }
  /// The chunk that has value `i` of T's stream, the value's number in it, and a chunk's first
  /// value.
  template <typename T>
  [[nodiscard]] std::size_t chunkOf(std::size_t i) const {
    return i >> shift<T>();
  }
  template <typename T>
  [[nodiscard]] std::size_t within(std::size_t i) const {
    return i & ((std::size_t{1} << shift<T>()) - 1);
  }
  template <typename T>
  [[nodiscard]] std::size_t firstOf(std::size_t ordinal) const {
    return ordinal << shift<T>();
  }
  [[nodiscard]] std::span<const ChunkInfo> chunks(Rank rank, ChunkStream stream) const {
    return m_source->chunks(rank, stream);
  }
  template <typename T>
  [[nodiscard]] std::size_t count(Rank rank) const {
    const std::span<const ChunkInfo> all = chunks(rank, kStreamOf<T>);
    return all.empty() ? 0 : firstOf<T>(all.size() - 1) + all.back().values;
  }
  /// For the time in which many pages are read (ExecutionChunks).
  [[nodiscard]] std::shared_ptr<const void> hold() const { return m_source->hold(); }
  /// Never null; shorter than the chunk where that cannot be read.
  template <typename T>
  [[nodiscard]] std::shared_ptr<const std::vector<T>> page(Rank rank, std::size_t ordinal) const {
    return shelf<T>().get(rank, ordinal, [&] {
      auto values = std::make_shared<std::vector<T>>();
      if (!m_source->read(rank, ordinal, *values)) {
        values->clear();
      }
      const std::size_t bytes = values->capacity() * sizeof(T);
      return std::pair(std::shared_ptr<const std::vector<T>>(std::move(values)), bytes);
    });
  }
  /// Calls `visit` with each value of a stream, and its number, of the chunks for which `meets`
  /// holds. Chunks of which nothing begins or completes at an event of [first, last] may be left
  /// out.
  template <typename T, typename Meets, typename Visit>
  void forEach(Rank rank, Serial first, Serial last, Meets&& meets, Visit&& visit) const {
    const std::span<const ChunkInfo> all = chunks(rank, kStreamOf<T>);
    const auto [begin, end] = chunksAt(rank, kStreamOf<T>, first, last);
    for (std::size_t ordinal = begin; ordinal < end; ++ordinal) {
      if (meets(all[ordinal])) {
        const auto values = page<T>(rank, ordinal);
        for (std::size_t i = 0; i < values->size(); ++i) {
          visit((*values)[i], firstOf<T>(ordinal) + i);
        }
      }
    }
  }
  template <typename T>
  [[nodiscard]] T value(Rank rank, std::size_t i) const {
    const std::size_t ordinal = chunkOf<T>(i);
    const std::size_t at = within<T>(i);
    T out{};
    const auto take = [&](const std::vector<T>& values) {
      out = at < values.size() ? values[at] : T{};
    };
    if (!shelf<T>().with(rank, ordinal, take)) {
      take(*page<T>(rank, ordinal));
    }
    return out;
  }
  /// The logical time of event `i`, from 0. Of a chunk that cannot be read its first: the times of
  /// a rank still do not fall.
  [[nodiscard]] std::uint32_t step(Rank rank, std::size_t i) const;
  /// Value `i` in the page that `held` has or gets; null: it cannot be read. Good while it is held.
  template <typename T>
  [[nodiscard]] const T* in(HeldChunk<T>& held, Rank rank, std::size_t i) const {
    const std::size_t ordinal = chunkOf<T>(i);
    if (held.rank != rank || held.ordinal != ordinal) {
      held = {page<T>(rank, ordinal), rank, ordinal};
    }
    const std::size_t at = within<T>(i);
    return at < held.values->size() ? &(*held.values)[at] : nullptr;
  }

  /// Of the events of chunk `ordinal`; event n of it is n.
  [[nodiscard]] std::shared_ptr<const EventLinks> links(Rank rank, std::size_t ordinal) const;

  [[nodiscard]] std::size_t messageCount() const { return m_firstMessage.back(); }
  /// The number of a rank's first message; of rankCount(): of all.
  [[nodiscard]] std::size_t firstMessage(Rank rank) const {
    return m_firstMessage[static_cast<std::size_t>(rank)];
  }
  /// The rank that sent message `m`.
  [[nodiscard]] Rank senderOf(std::size_t m) const;
  [[nodiscard]] std::size_t bytes() const { return m_budget.bytes(); }

 private:
  template <typename T>
  [[nodiscard]] CachedChunks<std::vector<T>>& shelf() const;
  template <typename T>
  [[nodiscard]] unsigned shift() const {
    return m_shift[static_cast<std::size_t>(kStreamOf<T>)];
  }
  [[nodiscard]] EventLinks makeLinks(Rank rank, std::size_t ordinal) const;

  /// Events of a chunk and of those on one side of it.
  struct Reach {
    Serial last;   ///< of this chunk and those before it
    Serial first;  ///< of this chunk and those after it
  };
  [[nodiscard]] static std::vector<Reach> reachOf(std::span<const ChunkInfo> chunks);
  /// The first one that may have something at an event of [first, last], and one after the last.
  [[nodiscard]] std::pair<std::size_t, std::size_t> chunksAt(Rank rank, ChunkStream stream,
                                                             Serial first, Serial last) const;

  std::shared_ptr<const ExecutionChunks> m_source;
  std::array<std::vector<std::vector<Reach>>, kChunkStreams> m_reach;  ///< [stream][rank][chunk]
  std::array<unsigned, kChunkStreams> m_shift{};
  std::vector<std::size_t> m_firstMessage;
  mutable CacheBudget m_budget;
  mutable CachedChunks<std::vector<TimedEvent>> m_events;
  mutable CachedChunks<std::vector<ReceivedHere>> m_receives;
  mutable CachedChunks<std::vector<ProbeHit>> m_probes;
  mutable CachedChunks<std::vector<SentHere>> m_sends;
  mutable CachedChunks<std::vector<CollectivePart>> m_collectives;
  mutable CachedChunks<std::vector<EventTime>> m_times;
  mutable CachedChunks<std::vector<EventStep>> m_steps;
  mutable CachedChunks<std::vector<SendEnds>> m_sendEnds;
  mutable CachedChunks<std::vector<ReceiveEnds>> m_receiveEnds;
  mutable CachedChunks<EventLinks> m_links;
};

template <>
inline CachedChunks<std::vector<TimedEvent>>& ChunkCache::shelf() const {
  return m_events;
}
template <>
inline CachedChunks<std::vector<ReceivedHere>>& ChunkCache::shelf() const {
  return m_receives;
}
template <>
inline CachedChunks<std::vector<EventStep>>& ChunkCache::shelf() const {
  return m_steps;
}
template <>
inline CachedChunks<std::vector<SendEnds>>& ChunkCache::shelf() const {
  return m_sendEnds;
}
template <>
inline CachedChunks<std::vector<ReceiveEnds>>& ChunkCache::shelf() const {
  return m_receiveEnds;
}
template <>
inline CachedChunks<std::vector<ProbeHit>>& ChunkCache::shelf() const {
  return m_probes;
}
template <>
inline CachedChunks<std::vector<SentHere>>& ChunkCache::shelf() const {
  return m_sends;
}
template <>
inline CachedChunks<std::vector<CollectivePart>>& ChunkCache::shelf() const {
  return m_collectives;
}
template <>
inline CachedChunks<std::vector<EventTime>>& ChunkCache::shelf() const {
  return m_times;
}

}  // namespace pf::views
