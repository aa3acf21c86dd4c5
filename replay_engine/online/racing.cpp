#include "online/racing.h"

#include <cstring>
#include <new>

namespace pf::online {

/// Sets runStart of the entries from `from` on.
void CompletedWildcards::startRuns(std::uint32_t from) {
  for (std::uint32_t i = from; i < m_entries.size(); ++i) {
    const bool goesOn = i > 0 && m_entries[i - 1].source == m_entries[i].source;
    m_entries[i].runStart = goesOn ? m_entries[i - 1].runStart : i;
  }
}

bool CompletedWildcards::races(const Delivery& delivery) const {
  for (std::uint32_t i = m_entries.size(); i-- > 0 && m_entries[i].completion > delivery.known;) {
    const Entry& entry = m_entries[i];
    if (entry.source == delivery.source) {
      i = entry.runStart;
    } else if (entry.after <= delivery.post) {
      return true;
    }
  }
  return false;
}

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

void CompletedWildcards::dropKnown(std::uint32_t knownToAll, std::uint32_t most) {
  std::uint32_t known = 0;
  while (known < m_entries.size() && m_entries[known].completion <= knownToAll) {
    ++known;
  }
  m_entries.eraseFront(known);
  startRuns(0);
  m_dropAt = m_entries.size() < 512 ? 1024 : 2 * m_entries.size();
  m_dropAt = m_dropAt < most ? m_dropAt : most;
}

void CompletedWildcards::prune(std::uint32_t firstPending) {
  const auto effective = [&](std::uint32_t after) { return after <= firstPending ? 0 : after; };
  std::uint32_t kept = m_entries.size();  // those from here on are kept
  for (std::uint32_t i = m_entries.size(); i-- > 0;) {
    const Entry entry = m_entries[i];
    std::int32_t source = kNobody;
    bool stoodFor = false;
    for (std::uint32_t later = m_entries.size(); later-- > kept && !stoodFor;) {
      const Entry& other = m_entries[later];
      if (effective(other.after) <= effective(entry.after)) {
        stoodFor = other.source == entry.source || (source != kNobody && other.source != source);
        source = other.source;
      }
    }
    if (!stoodFor) {
      m_entries[--kept] = entry;
    }
  }
  m_entries.eraseFront(kept);
  startRuns(0);
  m_pruneAt = 2 * m_entries.size() + 2;
}

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
  m_rows.forEach([](CompletedWildcards* each) { delete each; });
  std::free(m_knownTo);
}

CompletedWildcards* Tracer::findRow(std::uint64_t name) {
  CompletedWildcards** const found = m_rows.find(scramble(name));
  if (found == nullptr) {
    return nullptr;
  }
  m_lastName = name;
  m_lastRow = *found;
  return m_lastRow;
}

CompletedWildcards& Tracer::makeRow(std::uint32_t comm, std::int32_t tag) {
  m_anyTag = m_anyTag || tag == kAny;
  CompletedWildcards*& made = m_rows[scramble(nameOf(comm, tag))];
  if (made == nullptr) {
    made = new (std::nothrow) CompletedWildcards;
  }
  if (made == nullptr) {
    std::abort();  // the program cannot go on without memory either
  }
  return *made;
}

namespace {

bool accepts(const PendingReceive& receive, const Delivery& delivery) {
  return receive.source == kAny && receive.comm == delivery.comm &&
         (receive.tag == kAny || receive.tag == delivery.tag);
}

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

__attribute__((always_inline)) inline void Tracer::rememberAll(const Delivery& delivery, std::uint32_t after, CompletedWildcards* known) {
  CompletedWildcards& mine =
      known != nullptr ? *known : rowFor(delivery.comm, delivery.wantedTag);
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
  CompletedWildcards* const ofTag = row(delivery.comm, delivery.tag);
  if (ofTag != nullptr) {
    ofTag->takeRacing(delivery, [&](const auto& entry) { keep(entry.wildNumber); });
  }
  CompletedWildcards* const ofAny = m_anyTag ? row(delivery.comm, kAny) : nullptr;
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
  const CompletedWildcards* const ofTag = row(delivery.comm, delivery.tag);
  const CompletedWildcards* const ofAny = m_anyTag ? row(delivery.comm, kAny) : nullptr;
  bool traced = (ofTag != nullptr && ofTag->races(delivery)) ||
                (ofAny != nullptr && ofAny->races(delivery));
  if (!traced && open.pending.wild() != 0) {
    open.pending.before(delivery.post, [&](const PendingReceive& receive) {
      traced = accepts(receive, delivery);
      return !traced;
    });
  }
  if (delivery.wild && (!traced || m_algorithm == Algorithm::NetzerMiller)) {
    remember(delivery, open);
  }
  return traced;
}

void Tracer::remember(const Delivery& delivery, const OpenReceives& open) {
  CompletedWildcards& mine = rowFor(delivery.comm, delivery.wantedTag);
  mine.add({delivery.post + 1, delivery.source, delivery.completion, delivery.wildNumber, 0});
  if (m_algorithm != Algorithm::AlgorithmA && mine.shouldPrune()) {
    mine.prune(open.first());
  }
}

}  // namespace pf::online
