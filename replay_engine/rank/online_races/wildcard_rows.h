// SPDX-License-Identifier: MIT
// The wildcards of one rank that were completed and may still race with what comes, by communicator
// and tag asked for.
#pragma once

#include <cstdint>

#include "replay_engine/rank/online_races/flat_table.h"
#include "replay_engine/rank/online_races/streams.h"

namespace pf::online {

/// A message as a receive took it. Times are numbers of completions of wildcard receives of this
/// rank.
struct Delivery {
  std::uint32_t post;
  std::uint32_t comm;   ///< number of the communicator
  std::int32_t source;  ///< in it
  std::uint32_t from;   ///< its rank in the job
  std::int32_t tag;
  std::int32_t wantedTag;  ///< or any (-1)
  bool wild;
  std::uint32_t wildNumber;  ///< if wild; kUndecided for a matched probe, whose choice is traced
  std::uint32_t completion;  ///< if wild: its number among the completions, from 1
  std::uint32_t known;       ///< how many of them the sender knew of
};

/// Whether this receive, a wildcard that is pending, could have had the message.
inline bool accepts(const PendingReceive& receive, const Delivery& delivery) {
  return receive.source == kAny && receive.comm == delivery.comm &&
         (receive.tag == kAny || receive.tag == delivery.tag);
}

/// Untraced (or, for Netzer and Miller and for Meehan, all) wildcards that were completed and may
/// still race with what comes: those of one communicator and tag asked for, in the order of
/// completion. Walks skip what came from one source in a row, as that never races with it.
class CompletedWildcards {
 public:
  struct Entry {
    std::uint32_t after;  ///< receives posted from here on came later: its post + 1
    std::int32_t source;
    std::uint32_t completion;
    std::uint32_t wildNumber;
    std::uint32_t runStart;  ///< index of the first of those in a row with this source
  };

  void add(const Entry& entry) {
    const std::uint32_t at = m_entries.size();
    m_entries.push(entry);
    Entry& added = m_entries[at];
    added.runStart = at;
    if (at > 0 && m_entries[at - 1].source == entry.source) {
      added.runStart = m_entries[at - 1].runStart;
    }
  }
  /// Could one of them have had this message?
  [[nodiscard]] bool races(const Delivery& delivery) const;
  /// Takes out all that could have had it, each by `raced(entry)`.
  template <typename Raced>
  void takeRacing(const Delivery& delivery, Raced raced) {
    std::uint32_t end = m_entries.size();
    while (end != 0 && mayRace(m_entries[end - 1], delivery)) {
      raced(m_entries[--end]);
    }
    m_entries.resize(end);
    if (end != 0 && !allKnown(end, delivery)) [[unlikely]] {
      takeRacingBelow(delivery, raced);
    }
  }
  /// Drops those that later ones stand for (Karmarkar, Vaidya and Netzer, Theorem 1): one with the
  /// same source, or two with different ones. All that comes is posted after those before
  /// `firstPending`.
  void prune(std::uint32_t firstPending);
  /// Takes out the first `count`.
  template <typename Gone>
  void takeOldest(std::uint32_t count, Gone gone);
  [[nodiscard]] std::uint32_t size() const { return m_entries.size(); }
  [[nodiscard]] bool shouldPrune() const { return m_entries.size() >= m_pruneAt; }
  [[nodiscard]] bool shouldDrop() const { return m_entries.size() >= m_dropAt; }
  /// Drops those that are known to all who may still send: nothing that comes races with them. To
  /// be done again when there are many more, or `most`.
  void dropKnown(std::uint32_t knownToAll, std::uint32_t most);
  /// Whether one of them, or one of them and `other`, stands for this wildcard as in prune(), for
  /// what comes from now on. `other`: the source of one that does, kNobody for none.
  [[nodiscard]] bool cover(const Delivery& delivery, std::uint32_t firstPending,
                           std::int32_t* other) const;

 private:
  static bool mayRace(const Entry& entry, const Delivery& delivery) {
    return entry.completion > delivery.known && entry.source != delivery.source &&
           entry.after <= delivery.post;
  }
  /// Whether the sender knew all of the first `end` but a last run from its own rank.
  [[nodiscard]] bool allKnown(std::uint32_t end, const Delivery& delivery) const {
    const Entry& last = m_entries[end - 1];
    if (last.completion <= delivery.known) {
      return true;
    }
    return last.source == delivery.source &&
           (last.runStart == 0 || m_entries[last.runStart - 1].completion <= delivery.known);
  }
  template <typename Raced>
  void takeRacingBelow(const Delivery& delivery, Raced raced);
  void startRuns(std::uint32_t from);

  FlatArray<Entry> m_entries;
  std::uint32_t m_pruneAt = 4;
  std::uint32_t m_dropAt = 1024;  ///< at most what is remembered
};

template <typename Raced>
void CompletedWildcards::takeRacingBelow(const Delivery& delivery, Raced raced) {
  std::uint32_t first = m_entries.size();  // of those taken out
  for (std::uint32_t i = m_entries.size(); i-- > 0 && m_entries[i].completion > delivery.known;) {
    Entry& entry = m_entries[i];
    if (entry.source == delivery.source) {
      i = entry.runStart;
    } else if (entry.after <= delivery.post) {
      raced(entry);
      entry.completion = 0;
      first = i;
    }
  }
  std::uint32_t kept = first;
  for (std::uint32_t i = first; i < m_entries.size(); ++i) {
    if (m_entries[i].completion != 0) {
      m_entries[kept++] = m_entries[i];
    }
  }
  if (kept != m_entries.size()) {
    m_entries.resize(kept);
    startRuns(first);
  }
}

template <typename Gone>
void CompletedWildcards::takeOldest(std::uint32_t count, Gone gone) {
  for (std::uint32_t i = 0; i < count; ++i) {
    gone(m_entries[i]);
  }
  m_entries.eraseFront(count);
  startRuns(0);
}

/// The rows of all communicators and tags.
class WildcardRows {
 public:
  WildcardRows() = default;
  WildcardRows(const WildcardRows&) = delete;
  WildcardRows& operator=(const WildcardRows&) = delete;
  ~WildcardRows();

  /// The row of wildcards that ask for this communicator and tag; null if there is none.
  CompletedWildcards* row(std::uint32_t comm, std::int32_t tag) {
    const std::uint64_t name = nameOf(comm, tag);
    return name == m_lastName ? m_lastRow : findRow(name);
  }
  /// That of any tag.
  CompletedWildcards* anyTag(std::uint32_t comm) { return m_anyTag ? row(comm, kAny) : nullptr; }
  /// row(), made if need be.
  CompletedWildcards& rowFor(std::uint32_t comm, std::int32_t tag) {
    CompletedWildcards* const found = row(comm, tag);
    return found != nullptr ? *found : makeRow(comm, tag);
  }

  /// Could one of them have had this message?
  [[nodiscard]] bool race(const Delivery& delivery);
  /// Adds a wildcard. With `open` only those are kept that matter (CompletedWildcards::prune).
  void remember(const Delivery& delivery, const OpenReceives* open);
  /// Will everything that could have gone to this wildcard, and comes from now on, race with one of
  /// them? `firstOpen`: the first post that is open.
  [[nodiscard]] bool cover(const Delivery& delivery, std::uint32_t firstOpen);

 private:
  static std::uint64_t nameOf(std::uint32_t comm, std::int32_t tag) {
    return std::uint64_t{comm} << 32 | static_cast<std::uint32_t>(tag);
  }
  CompletedWildcards* findRow(std::uint64_t name);
  CompletedWildcards& makeRow(std::uint32_t comm, std::int32_t tag);

  FlatTable<CompletedWildcards*> m_rows;
  bool m_anyTag = false;                         ///< there are rows of wildcards with any tag
  std::uint64_t m_lastName = ~std::uint64_t{0};  ///< of no communicator
  CompletedWildcards* m_lastRow = nullptr;
};

}  // namespace pf::online
