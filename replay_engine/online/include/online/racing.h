// The papers' tracing algorithms as a rank runs them on its own deliveries, while it runs:
// core/tracing.h says what they are and has them offline, as TracingRules::Mpi. Deliveries come in
// the order in which the program observes them, those of one call in the order of posts.
#pragma once

#include "online/flat_table.h"
#include "online/streams.h"

#include <cstdint>

namespace pf::online {

enum class Algorithm : std::uint32_t { Meehan, NetzerMiller, AlgorithmA, AlgorithmB, Naive };

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

/// The wildcards of a rank, by number, of which a trace must hold the source.
class KeptWildcards {
 public:
  KeptWildcards() = default;
  KeptWildcards(const KeptWildcards&) = delete;
  KeptWildcards& operator=(const KeptWildcards&) = delete;
  ~KeptWildcards();
  void keep(std::uint32_t number) {
    if (number / 64 >= m_words) [[unlikely]] {
      grow(number / 64);
    }
    m_bits[number / 64] |= std::uint64_t{1} << (number % 64);
  }
  [[nodiscard]] bool kept(std::uint32_t number) const {
    return number / 64 < m_words && (m_bits[number / 64] >> (number % 64) & 1U) != 0;
  }

 private:
  void grow(std::uint32_t word);

  std::uint64_t* m_bits = nullptr;
  std::uint32_t m_words = 0;
};

class Tracer {
 public:
  Tracer(Algorithm algorithm, std::uint32_t ranks);
  Tracer(const Tracer&) = delete;
  Tracer& operator=(const Tracer&) = delete;
  ~Tracer();

  /// True: the delivery itself is to be traced (Netzer and Miller, Algorithms A and B). `open` has
  /// its receive no more; `hits` are those of its PendingReceive.
  bool delivered(const Delivery& delivery, const std::int32_t (&hits)[2], OpenReceives& open);
  /// A wildcard probe that saw a message, as a receive that takes none (Meehan 5.3): `post` is that
  /// of the next receive, there is no wildNumber. Its choice is in every trace.
  void probed(const Delivery& hit);

  [[nodiscard]] Algorithm algorithm() const { return m_algorithm; }
  /// Races found so far: deliveries that are traced.
  [[nodiscard]] std::uint32_t found() const { return m_found; }
  /// Of the algorithms that trace receives (Meehan, naive): which.
  [[nodiscard]] const KeptWildcards& kept() const { return m_kept; }

  /// Wildcards of one communicator and tag that are remembered at most; older ones are taken to
  /// race.
  static constexpr std::uint32_t kRemembered = 65536;

 private:
  /// The row of wildcards that ask for this communicator and tag; null if there is none.
  CompletedWildcards* row(std::uint32_t comm, std::int32_t tag) {
    const std::uint64_t name = nameOf(comm, tag);
    return name == m_lastName ? m_lastRow : findRow(name);
  }
  static std::uint64_t nameOf(std::uint32_t comm, std::int32_t tag) {
    return std::uint64_t{comm} << 32 | static_cast<std::uint32_t>(tag);
  }
  /// The same, made if need be.
  CompletedWildcards& rowFor(std::uint32_t comm, std::int32_t tag) {
    CompletedWildcards* const found = row(comm, tag);
    return found != nullptr ? *found : makeRow(comm, tag);
  }
  CompletedWildcards* findRow(std::uint64_t name);
  CompletedWildcards& makeRow(std::uint32_t comm, std::int32_t tag);
  void meehan(const Delivery& delivery, const std::int32_t (&hits)[2], OpenReceives& open);
  static void hitPending(const Delivery& delivery, OpenReceives& open);
  bool second(const Delivery& delivery, OpenReceives& open);
  void remember(const Delivery& delivery, const OpenReceives& open);
  /// `known`: its row, where that is at hand.
  void rememberAll(const Delivery& delivery, std::uint32_t after, CompletedWildcards* known);
  void makeRoom(CompletedWildcards& wildcards);
  void keep(std::uint32_t wildNumber);

  [[nodiscard]] std::uint32_t knownToAll() const;

  Algorithm m_algorithm;
  std::uint32_t m_ranks;
  std::uint32_t* m_knownTo = nullptr;  ///< by rank: completions that it knew of when it sent last
  std::uint32_t m_found = 0;
  FlatTable<CompletedWildcards*> m_rows;
  bool m_anyTag = false;  ///< there are rows of wildcards with any tag
  std::uint64_t m_lastName = ~std::uint64_t{0};  ///< of no communicator
  CompletedWildcards* m_lastRow = nullptr;
  KeptWildcards m_kept;
};

}  // namespace pf::online
