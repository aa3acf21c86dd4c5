// SPDX-License-Identifier: MIT
// The papers' tracing algorithms as a rank runs them on its own deliveries, while it runs:
// replay_engine/races/tracing.h says what they are and has them offline, as TracingRules::Mpi. Deliveries come in
// the order in which the program observes them, those of one call in the order of posts.
#pragma once

#include <cstdint>

#include "replay_engine/rank/online_races/streams.h"
#include "replay_engine/rank/online_races/wildcard_rows.h"

namespace pf::online {

enum class Algorithm : std::uint32_t { Meehan, NetzerMiller, AlgorithmA, AlgorithmB, Naive };

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
  void meehan(const Delivery& delivery, const std::int32_t (&hits)[2], OpenReceives& open);
  static void hitPending(const Delivery& delivery, OpenReceives& open);
  bool second(const Delivery& delivery, OpenReceives& open);
  /// `known`: its row, where that is at hand.
  void rememberAll(const Delivery& delivery, std::uint32_t after, CompletedWildcards* known);
  void makeRoom(CompletedWildcards& wildcards);
  void keep(std::uint32_t wildNumber);

  [[nodiscard]] std::uint32_t knownToAll() const;

  Algorithm m_algorithm;
  std::uint32_t m_ranks;
  std::uint32_t* m_knownTo = nullptr;  ///< by rank: completions that it knew of when it sent last
  std::uint32_t m_found = 0;
  WildcardRows m_rows;
  KeptWildcards m_kept;
};

}  // namespace pf::online
