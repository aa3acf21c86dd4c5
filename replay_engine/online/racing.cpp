#include "online/racing.h"

#include <cstring>
#include <new>

namespace pf::online {

void CompletedWildcards::add(const Entry& entry) {
  const std::uint32_t at = m_entries.size();
  const bool goesOn = at > 0 && m_entries[at - 1].source == entry.source;
  m_entries.push(entry);
  m_entries[at].runStart = goesOn ? m_entries[at - 1].runStart : at;
}

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
void CompletedWildcards::takeRacing(const Delivery& delivery, Raced raced) {
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

void CompletedWildcards::dropKnown(std::uint32_t knownToAll) {
  std::uint32_t known = 0;
  while (known < m_entries.size() && m_entries[known].completion <= knownToAll) {
    ++known;
  }
  m_entries.eraseFront(known);
  startRuns(0);
  m_dropAt = m_entries.size() < 512 ? 1024 : 2 * m_entries.size();
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

void KeptWildcards::keep(std::uint32_t number) {
  if (number / 64 >= m_words) {
    const std::uint32_t words = number / 64 < 512 ? 512 : number / 64 * 2;
    m_bits = static_cast<std::uint64_t*>(std::realloc(m_bits, words * sizeof(std::uint64_t)));
    if (m_bits == nullptr) {
      std::abort();
    }
    std::memset(m_bits + m_words, 0, (words - m_words) * sizeof(std::uint64_t));
    m_words = words;
  }
  m_bits[number / 64] |= std::uint64_t{1} << (number % 64);
}

Tracer::~Tracer() {
  m_rows.forEach([](CompletedWildcards* each) { delete each; });
  std::free(m_knownTo);
}

CompletedWildcards* Tracer::row(std::uint32_t comm, std::int32_t tag, bool make) {
  if (tag == kAny && !make && !m_anyTag) {
    return nullptr;
  }
  const std::uint64_t name = std::uint64_t{comm} << 32 | static_cast<std::uint32_t>(tag);
  if (m_lastRow != nullptr && m_lastName == name) {
    return m_lastRow;
  }
  const std::uint64_t key = scramble(name);
  if (!make) {
    CompletedWildcards** const found = m_rows.find(key);
    if (found != nullptr) {
      m_lastName = name;
      m_lastRow = *found;
    }
    return found == nullptr ? nullptr : *found;
  }
  m_anyTag = m_anyTag || tag == kAny;
  CompletedWildcards*& made = m_rows[key];
  if (made == nullptr) {
    made = new (std::nothrow) CompletedWildcards;
  }
  return made;
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

/// The first of two racing deliveries is traced (Meehan 5.1.1), its receive at least: what could
/// have had this message, completed or pending, and this receive if it could have had a message
/// that went to a later one.
void Tracer::meehan(const Delivery& delivery, const std::int32_t (&hits)[2], OpenReceives& open) {
  if (m_knownTo == nullptr) {
    m_knownTo = static_cast<std::uint32_t*>(std::calloc(m_ranks, sizeof(std::uint32_t)));
  }
  if (m_knownTo != nullptr && delivery.from < m_ranks &&
      delivery.known > m_knownTo[delivery.from]) {
    m_knownTo[delivery.from] = delivery.known;
  }
  const auto takeRacing = [&](std::int32_t tag) {
    CompletedWildcards* const found = row(delivery.comm, tag, false);
    if (found != nullptr) {
      found->takeRacing(delivery,
                        [&](const CompletedWildcards::Entry& entry) { keep(entry.wildNumber); });
    }
    return found;
  };
  CompletedWildcards* const ofTag = takeRacing(delivery.tag);
  CompletedWildcards* const ofAny = m_anyTag ? takeRacing(kAny) : nullptr;
  if (open.pending.wild() != 0) {
    open.pending.before(delivery.post, [&](PendingReceive& receive) {
      if (accepts(receive, delivery)) {
        addHit(receive, delivery.source);
      }
      return true;
    });
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

void Tracer::keep(std::uint32_t wildNumber) {
  ++m_found;
  if (wildNumber != kUndecided) {
    m_kept.keep(wildNumber);
  }
}

void Tracer::rememberAll(const Delivery& delivery, std::uint32_t after, CompletedWildcards* known) {
  CompletedWildcards& mine =
      known != nullptr ? *known : *row(delivery.comm, delivery.wantedTag, true);
  if (mine.shouldDrop()) {
    mine.dropKnown(knownToAll());
  }
  if (mine.size() == kRemembered) {  // the older half may race with what comes: it is traced
    mine.takeOldest(kRemembered / 2, [&](const CompletedWildcards::Entry& entry) {
      if (entry.wildNumber != kUndecided) {
        m_kept.keep(entry.wildNumber);
      }
    });
  }
  mine.add({after, delivery.source, delivery.completion, delivery.wildNumber, 0});
}

/// The second of two racing deliveries is traced (Netzer and Miller, Figure 3a; Karmarkar, Vaidya
/// and Netzer, Figures 6 and 10).
bool Tracer::second(const Delivery& delivery, OpenReceives& open) {
  bool traced = false;
  for (const std::int32_t tag : {delivery.tag, kAny}) {
    const CompletedWildcards* const found = row(delivery.comm, tag, false);
    traced = traced || (found != nullptr && found->races(delivery));
  }
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
  CompletedWildcards& mine = *row(delivery.comm, delivery.wantedTag, true);
  mine.add({delivery.post + 1, delivery.source, delivery.completion, delivery.wildNumber, 0});
  if (m_algorithm != Algorithm::AlgorithmA && mine.shouldPrune()) {
    mine.prune(open.first());
  }
}

}  // namespace pf::online
