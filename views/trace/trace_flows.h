// SPDX-License-Identifier: GPL-3.0-or-later
// Where events flow from and to along messages and collectives: what past and future of an event
// are worked out with (trace_causality.cpp).
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <vector>

#include "views/trace/trace_index.h"

namespace pf::views {

/// The part of a rank in the collective that begins at an event; none: none does.
[[nodiscard]] std::optional<CollectivePart> partAt(const RankView& history, Serial event);

/// Whether all that comes into an event is a collective that joins all its ranks and has been met
/// at another of them: what feeds it is known then. Else notes that it has been met. `parts`: those
/// that end at the event.
[[nodiscard]] bool joinsAgain(const TraceIndex& trace, EventRef event, const LinkedItems& parts,
                              std::vector<bool>& joined);

/// What comes into events of a rank that follow each other, and what goes out of them. `visit` is
/// called with each event that it comes from or goes to. Collectives that join all their ranks are
/// followed once.
class TraceIndex::Flows {
 public:
  explicit Flows(const TraceIndex& trace)
      : m_trace(trace),
        m_joined(trace.m_groups.size()),
        m_hold(trace.m_pages != nullptr ? trace.m_pages->hold() : nullptr) {}

  template <typename Visit>
  void into(Rank rank, Serial first, Serial last, Visit&& visit) {
    if (first > last) {
      return;
    }
    if (m_trace.m_pages == nullptr) {
      intoKept(rank, first, last, visit);
    } else {
      intoChunks(rank, first, last, visit);
    }
  }
  template <typename Visit>
  void outOf(Rank rank, Serial first, Serial last, Visit&& visit) {
    if (first > last) {
      return;
    }
    if (m_trace.m_pages == nullptr) {
      outOfKept(rank, first, last, visit);
    } else {
      outOfChunks(rank, first, last, visit);
    }
  }
  /// The last collective of `event`'s rank up to `event` in which each rank has learnt from all
  /// what they did before it; null: none is near.
  [[nodiscard]] const CollectiveGroup* meetingUpTo(EventRef event) const;
  /// The first one from `event` on.
  [[nodiscard]] const CollectiveGroup* meetingFrom(EventRef event) const;

 private:
  template <typename Visit>
  void intoKept(Rank rank, Serial first, Serial last, Visit& visit);
  template <typename Visit>
  void outOfKept(Rank rank, Serial first, Serial last, Visit& visit);
  template <typename Visit>
  void intoChunks(Rank rank, Serial first, Serial last, Visit& visit);
  template <typename Visit>
  void outOfChunks(Rank rank, Serial first, Serial last, Visit& visit);
  template <typename Visit>
  void joins(Rank rank, Serial first, Serial last, Visit& visit);
  template <typename Visit>
  void collectivesInto(Rank rank, Serial first, Serial last, Visit& visit);
  template <typename Visit>
  void collectiveOutOf(EventRef event, Visit& visit);

  const TraceIndex& m_trace;
  std::vector<bool> m_joined;
  std::shared_ptr<const void> m_hold;  ///< of the pages
};

template <typename Visit>
void TraceIndex::Flows::intoKept(Rank rank, Serial first, Serial last, Visit& visit) {
  const std::vector<bool>& takes = m_trace.m_links->events.takes;
  for (Serial s = first; s <= last; ++s) {
    if (!takes[m_trace.m_base[static_cast<std::size_t>(rank)] + (s - 1)]) {
      continue;  // most events: nothing comes in
    }
    if (joinsAgain(m_trace, {rank, s}, m_trace.collectivesDoneAt({rank, s}), m_joined)) {
      continue;
    }
    for (const EventRef cause : m_trace.causes({rank, s})) {
      visit(cause);
    }
  }
}

template <typename Visit>
void TraceIndex::Flows::outOfKept(Rank rank, Serial first, Serial last, Visit& visit) {
  const std::vector<bool>& gives = m_trace.m_links->events.gives;
  for (Serial s = first; s <= last; ++s) {
    const EventRef here{rank, s};
    const std::uint32_t group = m_trace.collectiveAt(here);
    if (!gives[m_trace.m_base[static_cast<std::size_t>(rank)] + (s - 1)] && group == kNone) {
      continue;  // most events: nothing goes out
    }
    if (group != kNone && m_trace.sentAt(here).empty() && m_trace.postedAt(here).empty()) {
      const auto part = partAt(m_trace.execution().ranks[static_cast<std::size_t>(rank)], s);
      if (part && part->flow == CollectiveFlow::AllToAll && part->contributes) {
        if (m_joined[group]) {
          continue;  // another rank's part of it leads to the same completions
        }
        m_joined[group] = true;
      }
    }
    for (const EventRef effect : m_trace.effects(here)) {
      visit(effect);
    }
  }
}

/// The other parts of the collectives that join, either way.
template <typename Visit>
void TraceIndex::Flows::joins(Rank rank, Serial first, Serial last, Visit& visit) {
  const std::size_t base = m_trace.m_base[static_cast<std::size_t>(rank)];
  m_trace.m_links->groupAt.in(base + (first - 1), base + (last - 1),
                              [&](std::size_t, std::uint32_t number) {
                                const CollectiveGroup& group = m_trace.m_groups[number];
                                if (group.joins && !m_joined[number]) {
                                  m_joined[number] = true;
                                  std::ranges::for_each(group.parts, visit);
                                }
                              });
}

template <typename Visit>
void TraceIndex::Flows::intoChunks(Rank rank, Serial first, Serial last, Visit& visit) {
  const ChunkCache& pages = *m_trace.m_pages;
  const auto here = [&](Serial serial) { return serial >= first && serial <= last; };
  const auto completes = [&](const ChunkInfo& chunk) {
    return chunk.lastCompletion >= first && chunk.firstCompletion <= last;
  };
  const auto& messages = m_trace.execution().messages;
  pages.forEach<ReceiveEnds>(rank, first, last, completes,
                             [&](const ReceiveEnds& receive, std::size_t) {
                               if (!here(receive.completion)) {
                                 return;
                               }
                               if (receive.sent != 0) {
                                 visit(EventRef{receive.source, receive.sent});
                               } else if (receive.message < messages.size()) {
                                 visit(messages[receive.message].send);
                               }
                             });
  const std::size_t firstMessage = pages.firstMessage(rank);
  pages.forEach<SendEnds>(
      rank, first, last,
      [&](const ChunkInfo& chunk) { return chunk.lastCompletion != 0 && completes(chunk); },
      [&](const SendEnds& send, std::size_t i) {
        Message unobserved = here(send.syncCompletion) ? messages[firstMessage + i] : Message();
        if (unobserved.post != kNone) {
          unobserved.completion = 0;  // what the sender knows is that the receive was posted
          visit(m_trace.arrival(unobserved));
        }
      });
  joins(rank, first, last, visit);
  if (!m_trace.m_onlyJoins) {
    collectivesInto(rank, first, last, visit);
  }
}

/// Those that do not join.
template <typename Visit>
void TraceIndex::Flows::collectivesInto(Rank rank, Serial first, Serial last, Visit& visit) {
  const ChunkCache& pages = *m_trace.m_pages;
  pages.forEach<CollectivePart>(
      rank, first, last,
      [&](const ChunkInfo& chunk) {
        return chunk.lastCompletion >= first && chunk.firstCompletion <= last;
      },
      [&](const CollectivePart& part, std::size_t i) {
        if (part.completion < first || part.completion > last) {
          return;
        }
        const std::uint32_t group = m_trace.collectiveAt({rank, part.event});
        if (group == kNone || m_trace.m_groups[group].joins) {
          return;
        }
        if (part.flow == CollectiveFlow::AllToAll && part.takes) {
          if (m_joined[group]) {
            return;
          }
          m_joined[group] = true;
        }
        std::ranges::for_each(m_trace.feeding(rank, static_cast<std::uint32_t>(i)), visit);
      });
}

template <typename Visit>
void TraceIndex::Flows::outOfChunks(Rank rank, Serial first, Serial last, Visit& visit) {
  const ChunkCache& pages = *m_trace.m_pages;
  const auto here = [&](Serial serial) { return serial >= first && serial <= last; };
  const auto begins = [&](const ChunkInfo& chunk) {
    return chunk.lastSerial >= first && chunk.firstSerial <= last;
  };
  pages.forEach<SendEnds>(rank, first, last, begins, [&](const SendEnds& send, std::size_t) {
    if (here(send.event) && send.completion != 0) {
      visit(EventRef{send.dest, send.completion});
    }
  });
  const auto& messages = m_trace.execution().messages;
  if (m_trace.m_synchronous) {
    pages.forEach<ReceiveEnds>(
        rank, first, last, begins, [&](const ReceiveEnds& receive, std::size_t) {
          if (!here(receive.post)) {
            return;
          }
          if (receive.sent != 0) {
            visit(EventRef{receive.source, receive.senderDone});
          } else if (receive.message < messages.size()) {
            const Message message = messages[receive.message];
            if (m_trace.contains(message.send)) {
              const auto& sends =
                  m_trace.execution().ranks[static_cast<std::size_t>(message.send.rank)].sends;
              visit(EventRef{message.send.rank, sends[message.sendIndex].syncCompletion});
            }
          }
        });
  }
  joins(rank, first, last, visit);
  if (!m_trace.m_onlyJoins) {
    const std::size_t base = m_trace.m_base[static_cast<std::size_t>(rank)];
    m_trace.m_links->groupAt.in(base + (first - 1), base + (last - 1),
                                [&](std::size_t event, std::uint32_t number) {
                                  if (!m_trace.m_groups[number].joins) {
                                    collectiveOutOf({rank, event - base + 1}, visit);
                                  }
                                });
  }
}

/// Of one that does not join.
template <typename Visit>
void TraceIndex::Flows::collectiveOutOf(EventRef event, Visit& visit) {
  const std::uint32_t group = m_trace.collectiveAt(event);
  const auto own =
      partAt(m_trace.execution().ranks[static_cast<std::size_t>(event.rank)], event.serial);
  if (!own) {
    return;
  }
  if (own->flow == CollectiveFlow::AllToAll && own->contributes) {
    if (m_joined[group]) {
      return;
    }
    m_joined[group] = true;
  }
  m_trace.collectiveEffects(event, *own, group, visit);
}

}  // namespace pf::views
