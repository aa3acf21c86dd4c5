// SPDX-License-Identifier: MIT
#include "replay_engine/rank/online_races/wildcard_rows.h"

#include <new>

namespace pf::online {
namespace {

/// All that comes is posted after those before `firstPending`: among these the order of posts does
/// not matter any more.
std::uint32_t effective(std::uint32_t after, std::uint32_t firstPending) {
  return after <= firstPending ? 0 : after;
}

}  // namespace

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
  std::uint32_t kept = m_entries.size();  // those from here on are kept
  for (std::uint32_t i = m_entries.size(); i-- > 0;) {
    const Entry entry = m_entries[i];
    std::int32_t source = kNobody;
    bool stoodFor = false;
    for (std::uint32_t later = m_entries.size(); later-- > kept && !stoodFor;) {
      const Entry& other = m_entries[later];
      if (effective(other.after, firstPending) <= effective(entry.after, firstPending)) {
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

bool CompletedWildcards::cover(const Delivery& delivery, std::uint32_t firstPending,
                               std::int32_t* other) const {
  for (std::uint32_t i = m_entries.size();
       i-- > 0 && m_entries[i].completion >= delivery.completion;) {
    const Entry& entry = m_entries[i];
    if (effective(entry.after, firstPending) > effective(delivery.post + 1, firstPending)) {
      continue;
    }
    if (entry.source == delivery.source || (*other != kNobody && *other != entry.source)) {
      return true;
    }
    *other = entry.source;
  }
  return false;
}

WildcardRows::~WildcardRows() {
  m_rows.forEach([](CompletedWildcards* each) { delete each; });
}

CompletedWildcards* WildcardRows::findRow(std::uint64_t name) {
  CompletedWildcards** const found = m_rows.find(scramble(name));
  if (found == nullptr) {
    return nullptr;
  }
  m_lastName = name;
  m_lastRow = *found;
  return m_lastRow;
}

CompletedWildcards& WildcardRows::makeRow(std::uint32_t comm, std::int32_t tag) {
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

bool WildcardRows::race(const Delivery& delivery) {
  const CompletedWildcards* const ofTag = row(delivery.comm, delivery.tag);
  const CompletedWildcards* const ofAny = anyTag(delivery.comm);
  return (ofTag != nullptr && ofTag->races(delivery)) ||
         (ofAny != nullptr && ofAny->races(delivery));
}

void WildcardRows::remember(const Delivery& delivery, const OpenReceives* open) {
  CompletedWildcards& mine = rowFor(delivery.comm, delivery.wantedTag);
  mine.add({delivery.post + 1, delivery.source, delivery.completion, delivery.wildNumber, 0});
  if (open != nullptr && mine.shouldPrune()) {
    mine.prune(open->first());
  }
}

bool WildcardRows::cover(const Delivery& delivery, std::uint32_t firstOpen) {
  std::int32_t other = kNobody;
  const CompletedWildcards* const ofTag = row(delivery.comm, delivery.wantedTag);
  if (ofTag != nullptr && ofTag->cover(delivery, firstOpen, &other)) {
    return true;
  }
  const CompletedWildcards* const ofAny =
      delivery.wantedTag == kAny ? nullptr : anyTag(delivery.comm);
  return ofAny != nullptr && ofAny->cover(delivery, firstOpen, &other);
}

}  // namespace pf::online
