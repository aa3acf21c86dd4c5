// SPDX-License-Identifier: GPL-3.0-or-later
// Where events flow from and to along messages and collectives: what past and future of an event
// are worked out with (trace_causality.cpp).
#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "views/trace/trace_index.h"

namespace pf::views {

/// Whether all that comes into an event is a collective that joins all its ranks and has been met
/// at another of them: what feeds it is known then. Else notes that it has been met. `parts`: those
/// that end at the event.
[[nodiscard]] bool joinsAgain(const TraceIndex& trace, EventRef event, const LinkedItems& parts,
                              std::vector<bool>& joined);

/// Events from which something comes into an event, and those that something from it goes to.
[[nodiscard]] std::vector<EventRef> causesOf(const TraceIndex& trace, EventRef ref);
[[nodiscard]] std::vector<EventRef> effectsOf(const TraceIndex& trace, EventRef ref);

/// What comes into events of a rank that follow each other, and what goes out of them. `visit` is
/// called with each event that it comes from or goes to. Collectives that join all their ranks are
/// followed once.
class Flows {
 public:
  explicit Flows(const TraceIndex& trace)
      : m_trace(trace),
        m_joined(trace.collectives().groups().size()),
        m_hold(trace.pages() != nullptr ? trace.pages()->hold() : nullptr) {}

  template <typename Visit>
  void into(Rank rank, Serial first, Serial last, Visit&& visit) {
    if (first > last) {
      return;
    }
    if (m_trace.pages() == nullptr) {
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
    if (m_trace.pages() == nullptr) {
      outOfKept(rank, first, last, visit);
    } else {
      outOfChunks(rank, first, last, visit);
    }
  }

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
void Flows::intoKept(Rank rank, Serial first, Serial last, Visit& visit) {
  const EventLinkIndex& links = m_trace.links();
  const std::size_t firstId = m_trace.events().id({rank, first});
  for (Serial s = first; s <= last; ++s) {
    if (!links.takes(firstId + (s - first))) {
      continue;  // most events: nothing comes in
    }
    if (joinsAgain(m_trace, {rank, s}, links.collectivesDoneAt({rank, s}), m_joined)) {
      continue;
    }
    for (const EventRef cause : causesOf(m_trace, {rank, s})) {
      visit(cause);
    }
  }
}

template <typename Visit>
void Flows::outOfKept(Rank rank, Serial first, Serial last, Visit& visit) {
  const EventLinkIndex& links = m_trace.links();
  const std::size_t firstId = m_trace.events().id({rank, first});
  for (Serial s = first; s <= last; ++s) {
    const EventRef here{rank, s};
    const std::uint32_t group = m_trace.collectives().at(here);
    if (!links.gives(firstId + (s - first)) && group == kNone) {
      continue;  // most events: nothing goes out
    }
    if (group != kNone && links.sentAt(here).empty() && links.postedAt(here).empty()) {
      const auto part = partAt(m_trace.execution().ranks[index(rank)], s);
      if (part && part->flow == CollectiveFlow::AllToAll && part->contributes) {
        if (m_joined[group]) {
          continue;  // another rank's part of it leads to the same completions
        }
        m_joined[group] = true;
      }
    }
    for (const EventRef effect : effectsOf(m_trace, here)) {
      visit(effect);
    }
  }
}

/// The other parts of the collectives that join, either way.
template <typename Visit>
void Flows::joins(Rank rank, Serial first, Serial last, Visit& visit) {
  m_trace.collectives().forEachIn(rank, first, last, [&](EventRef, std::uint32_t number) {
    const CollectiveGroup& group = m_trace.collectives().groups()[number];
    if (group.joins && !m_joined[number]) {
      m_joined[number] = true;
      std::ranges::for_each(group.parts, visit);
    }
  });
}

template <typename Visit>
void Flows::intoChunks(Rank rank, Serial first, Serial last, Visit& visit) {
  const ChunkCache& pages = *m_trace.pages();
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
          visit(m_trace.messages().arrival(unobserved));
        }
      });
  joins(rank, first, last, visit);
  if (!m_trace.collectives().allJoin()) {
    collectivesInto(rank, first, last, visit);
  }
}

/// Those that do not join.
template <typename Visit>
void Flows::collectivesInto(Rank rank, Serial first, Serial last, Visit& visit) {
  const ChunkCache& pages = *m_trace.pages();
  pages.forEach<CollectivePart>(
      rank, first, last,
      [&](const ChunkInfo& chunk) {
        return chunk.lastCompletion >= first && chunk.firstCompletion <= last;
      },
      [&](const CollectivePart& part, std::size_t i) {
        if (part.completion < first || part.completion > last) {
          return;
        }
        const std::uint32_t group = m_trace.collectives().at({rank, part.event});
        if (group == kNone || m_trace.collectives().groups()[group].joins) {
          return;
        }
        if (part.flow == CollectiveFlow::AllToAll && part.takes) {
          if (m_joined[group]) {
            return;
          }
          m_joined[group] = true;
        }
        std::ranges::for_each(m_trace.collectives().feeding(rank, static_cast<std::uint32_t>(i)),
                              visit);
      });
}

template <typename Visit>
void Flows::outOfChunks(Rank rank, Serial first, Serial last, Visit& visit) {
  const ChunkCache& pages = *m_trace.pages();
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
  if (m_trace.links().hasSynchronous()) {
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
              const auto& sends = m_trace.execution().ranks[index(message.send.rank)].sends;
              visit(EventRef{message.send.rank, sends[message.sendIndex].syncCompletion});
            }
          }
        });
  }
  joins(rank, first, last, visit);
  if (!m_trace.collectives().allJoin()) {
    m_trace.collectives().forEachIn(rank, first, last, [&](EventRef event, std::uint32_t number) {
      if (!m_trace.collectives().groups()[number].joins) {
        collectiveOutOf(event, visit);
      }
    });
  }
}

/// Of one that does not join.
template <typename Visit>
void Flows::collectiveOutOf(EventRef event, Visit& visit) {
  const std::uint32_t group = m_trace.collectives().at(event);
  const auto own = partAt(m_trace.execution().ranks[index(event.rank)], event.serial);
  if (!own) {
    return;
  }
  if (own->flow == CollectiveFlow::AllToAll && own->contributes) {
    if (m_joined[group]) {
      return;
    }
    m_joined[group] = true;
  }
  m_trace.collectives().forEachFedBy(event, *own, group, visit);
}

}  // namespace pf::views
