// SPDX-License-Identifier: MIT
#include "replay_engine/rank/online_races/racing.h"

#include <cstring>
#include <new>

namespace pf::online {

KeptWildcards::~KeptWildcards() {
  std::free(m_bits);
}

void KeptWildcards::grow(std::uint32_t word) {
  const std::uint32_t words = word < 512 ? 512 : word * 2;
  m_bits = static_cast<std::uint64_t*>(std::realloc(m_bits, words * sizeof(std::uint64_t)));
  if (m_bits == nullptr) {
    std::abort();
  }
  std::memset(m_bits + m_words, 0, (words - m_words) * sizeof(std::uint64_t));
  m_words = words;
}

Tracer::Tracer(Algorithm algorithm, std::uint32_t ranks)
    : m_algorithm(algorithm),
      m_ranks(ranks),
      m_knownTo(static_cast<std::uint32_t*>(std::calloc(ranks, sizeof(std::uint32_t)))) {}

Tracer::~Tracer() {
  std::free(m_knownTo);
}

namespace {

void addHit(PendingReceive& receive, std::int32_t source) {
  if (receive.hits[0] == kNobody || receive.hits[0] == source) {
    receive.hits[0] = source;
  } else {
    receive.hits[1] = source;
  }
}

}  // namespace

bool Tracer::delivered(const Delivery& delivery, const std::int32_t (&hits)[2],
                       OpenReceives& open) {
  switch (m_algorithm) {
    case Algorithm::Naive:
      if (delivery.wild && delivery.wildNumber != kUndecided) {
        m_kept.keep(delivery.wildNumber);
      }
      return false;
    case Algorithm::Meehan:
      meehan(delivery, hits, open);
      return false;
    case Algorithm::NetzerMiller:
    case Algorithm::AlgorithmA:
    case Algorithm::AlgorithmB:
      break;
  }
  const bool traced = second(delivery, open);
  m_found += traced ? 1U : 0U;
  return traced;
}

inline void Tracer::keep(std::uint32_t wildNumber) {
  ++m_found;
  if (wildNumber != kUndecided) {
    m_kept.keep(wildNumber);
  }
}

__attribute__((always_inline)) inline void Tracer::rememberAll(const Delivery& delivery,
                                                               std::uint32_t after,
                                                               CompletedWildcards* known) {
  CompletedWildcards& mine =
      known != nullptr ? *known : m_rows.rowFor(delivery.comm, delivery.wantedTag);
  if (mine.shouldDrop()) [[unlikely]] {
    makeRoom(mine);
  }
  mine.add({after, delivery.source, delivery.completion, delivery.wildNumber, 0});
}

/// The first of two racing deliveries is traced (Meehan 5.1.1), its receive at least: what could
/// have had this message, completed or pending, and this receive if it could have had a message
/// that went to a later one.
void Tracer::meehan(const Delivery& delivery, const std::int32_t (&hits)[2], OpenReceives& open) {
  if (m_knownTo != nullptr && delivery.from < m_ranks &&
      delivery.known > m_knownTo[delivery.from]) {
    m_knownTo[delivery.from] = delivery.known;
  }
  CompletedWildcards* const ofTag = m_rows.row(delivery.comm, delivery.tag);
  if (ofTag != nullptr) {
    ofTag->takeRacing(delivery, [&](const auto& entry) { keep(entry.wildNumber); });
  }
  CompletedWildcards* const ofAny = m_rows.anyTag(delivery.comm);
  if (ofAny != nullptr) {
    ofAny->takeRacing(delivery, [&](const auto& entry) { keep(entry.wildNumber); });
  }
  if (open.pending.wild() != 0) [[unlikely]] {
    hitPending(delivery, open);
  }
  if (!delivery.wild) {
    return;
  }
  for (const std::int32_t hit : hits) {
    if (hit != kNobody && hit != delivery.source) {
      keep(delivery.wildNumber);
      return;
    }
  }
  rememberAll(delivery, delivery.post + 1, delivery.wantedTag == kAny ? ofAny : ofTag);
}

/// Pending receives that could have had this message.
void Tracer::hitPending(const Delivery& delivery, OpenReceives& open) {
  open.pending.before(delivery.post, [&](PendingReceive& receive) {
    if (accepts(receive, delivery)) {
      addHit(receive, delivery.source);
    }
    return true;
  });
}

/// A rank that has not sent anything may know nothing.
std::uint32_t Tracer::knownToAll() const {
  std::uint32_t least = kUndecided;
  for (std::uint32_t rank = 0; rank < m_ranks && least != 0; ++rank) {
    const std::uint32_t known = m_knownTo == nullptr ? 0 : m_knownTo[rank];
    least = known < least ? known : least;
  }
  return least;
}

void Tracer::probed(const Delivery& hit) {
  if (m_algorithm == Algorithm::Meehan) {
    rememberAll(hit, hit.post, nullptr);
  }
}

void Tracer::makeRoom(CompletedWildcards& wildcards) {
  wildcards.dropKnown(knownToAll(), kRemembered);
  if (wildcards.size() == kRemembered) {  // the older half may race with what comes: it is traced
    wildcards.takeOldest(kRemembered / 2, [&](const CompletedWildcards::Entry& entry) {
      if (entry.wildNumber != kUndecided) {
        m_kept.keep(entry.wildNumber);
      }
    });
  }
}

/// The second of two racing deliveries is traced (Netzer and Miller, Figure 3a; Karmarkar, Vaidya
/// and Netzer, Figures 6 and 10).
bool Tracer::second(const Delivery& delivery, OpenReceives& open) {
  bool traced = m_rows.race(delivery);
  if (!traced && open.pending.wild() != 0) {
    open.pending.before(delivery.post, [&](const PendingReceive& receive) {
      traced = accepts(receive, delivery);
      return !traced;
    });
  }
  if (delivery.wild && (!traced || m_algorithm == Algorithm::NetzerMiller)) {
    m_rows.remember(delivery, m_algorithm == Algorithm::AlgorithmA ? nullptr : &open);
  }
  return traced;
}

}  // namespace pf::online
