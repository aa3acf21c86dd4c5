// Causal past, future and partners of an event, along messages, collectives and program order.
#include <algorithm>
#include <deque>
#include <optional>
#include <utility>

#include "views/trace_index.h"

namespace pf::views {

namespace {

std::size_t index(Rank rank) {
  return static_cast<std::size_t>(rank);
}

/// Whether a comes before b in the group of a communicator.
bool isLower(const ExecutionView& execution, std::uint32_t comm, Rank a, Rank b) {
  if (comm >= execution.communicators.size()) {
    return a < b;
  }
  const std::vector<Rank>& group = execution.communicators[comm].group;
  return std::find(group.begin(), group.end(), a) < std::find(group.begin(), group.end(), b);
}

bool flows(const ExecutionView& execution, const CollectivePart& from, Rank fromRank,
           const CollectivePart& to, Rank toRank) {
  if (!from.contributes || !to.takes) {
    return false;
  }
  switch (from.flow) {
    case CollectiveFlow::None:
      return false;
    case CollectiveFlow::AllToAll:
      return true;
    case CollectiveFlow::FromRoot:
      return fromRank == from.root;
    case CollectiveFlow::ToRoot:
      return toRank == from.root;
    case CollectiveFlow::FromLower:
      return isLower(execution, from.comm, fromRank, toRank);
  }
  return false;
}

std::optional<CollectivePart> partAt(const RankView& history, Serial event) {
  const Sequence<CollectivePart>& parts = history.collectives;
  Sequence<CollectivePart>::Page page;
  std::size_t first = 0;
  for (std::size_t last = parts.size(); first < last;) {
    const std::size_t middle = (first + last) / 2;
    if (parts.at(middle, page).event < event) {
      first = middle + 1;
    } else {
      last = middle;
    }
  }
  if (first == parts.size()) {
    return std::nullopt;
  }
  const CollectivePart part = parts.at(first, page);
  return part.event == event ? std::optional(part) : std::nullopt;
}

}  // namespace

/// Whether all that comes into an event is a collective that joins all its ranks and has been met
/// at another of them: what feeds it is known then. Else notes that it has been met. `parts`: those
/// that end at the event.
static bool joinsAgain(const TraceIndex& trace, EventRef event, const LinkedItems& parts,
                       std::vector<bool>& joined) {
  if (parts.size() != 1 || !trace.completedAt(event).empty() ||
      !trace.synchronousDoneAt(event).empty()) {
    return false;
  }
  const CollectivePart part = trace.execution().ranks[index(event.rank)].collectives[parts[0]];
  const std::uint32_t group = trace.collectiveAt({event.rank, part.event});
  if (group == kNone || part.flow != CollectiveFlow::AllToAll || !part.takes) {
    return false;
  }
  const bool again = joined[group];
  joined[group] = true;
  return again;
}

std::vector<EventRef> TraceIndex::feeding(Rank rank, std::uint32_t part) const {
  std::vector<EventRef> out;
  const CollectivePart own = execution().ranks[index(rank)].collectives[part];
  const std::uint32_t group = collectiveAt({rank, own.event});
  if (group == kNone) {
    return out;
  }
  for (const EventRef other : m_groups[group].parts) {
    if (other.rank == rank) {
      continue;
    }
    const auto theirs = partAt(execution().ranks[index(other.rank)], other.serial);
    if (theirs && flows(execution(), *theirs, other.rank, own, rank)) {
      out.push_back(other);
    }
  }
  return out;
}

std::vector<EventRef> TraceIndex::causes(EventRef ref) const {
  std::vector<EventRef> out;
  const RankView& history = execution().ranks[index(ref.rank)];
  const auto& messages = execution().messages;
  for (const std::uint32_t r : completedAt(ref)) {
    const std::uint32_t m = history.receives[r].message;
    if (m < messages.size()) {
      out.push_back(messages[m].send);
    }
  }
  for (const std::uint32_t m : synchronousDoneAt(ref)) {
    Message unobserved = messages[m];
    if (unobserved.post != kNone) {
      unobserved.completion = 0;  // what the sender knows is that the receive was posted
      out.push_back(arrival(unobserved));
    }
  }
  for (const std::uint32_t p : collectivesDoneAt(ref)) {
    const std::vector<EventRef> parts = feeding(ref.rank, p);
    out.insert(out.end(), parts.begin(), parts.end());
  }
  return out;
}

void TraceIndex::collectiveEffects(EventRef event, const CollectivePart& own, std::uint32_t group,
                                   const std::function<void(EventRef)>& visit) const {
  for (const EventRef part : m_groups[group].parts) {
    if (part.rank == event.rank) {
      continue;
    }
    const auto other = partAt(execution().ranks[index(part.rank)], part.serial);
    if (other && flows(execution(), own, event.rank, *other, part.rank)) {
      visit({part.rank, other->completion});
    }
  }
}

std::vector<EventRef> TraceIndex::effects(EventRef ref) const {
  std::vector<EventRef> out;
  const RankView& history = execution().ranks[index(ref.rank)];
  const auto& messages = execution().messages;
  for (const std::uint32_t m : sentAt(ref)) {
    if (const Message message = messages[m]; message.completion != 0) {
      out.push_back({message.dest, message.completion});
    }
  }
  for (const std::uint32_t r : postedAt(ref)) {
    const std::uint32_t m = history.receives[r].message;
    const Message message = m < messages.size() ? messages[m] : Message();
    if (!contains(message.send)) {
      continue;
    }
    const auto& sends = execution().ranks[index(message.send.rank)].sends;
    if (message.sendIndex < sends.size()) {
      out.push_back({message.send.rank, sends[message.sendIndex].syncCompletion});
    }
  }
  const std::uint32_t group = collectiveAt(ref);
  const auto own = group == kNone ? std::nullopt : partAt(history, ref.serial);
  if (own) {
    collectiveEffects(ref, *own, group, [&out](EventRef effect) { out.push_back(effect); });
  }
  return out;
}

/// What comes into events of a rank that follow each other, and what goes out of them. `visit` is
/// called with each event that it comes from or goes to. Collectives that join all their ranks are
/// followed once.
class TraceIndex::Flows {
 public:
  explicit Flows(const TraceIndex& trace) : m_trace(trace), m_joined(trace.m_groups.size()) {}

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

  /// Calls `visit` with each value, and its number, of the chunks for which `meets` holds.
  template <typename T, typename Meets, typename Visit>
  void each(Rank rank, Meets&& meets, Visit&& visit) const {
    const ExecutionPages& pages = *m_trace.m_pages;
    const std::span<const ChunkInfo> chunks = pages.chunks(rank, kStreamOf<T>);
    for (std::size_t at = 0; at < chunks.size(); ++at) {
      if (meets(chunks[at])) {
        const auto values = pages.page<T>(rank, at);
        for (std::size_t i = 0; i < values->size(); ++i) {
          visit((*values)[i], pages.firstOf<T>(at) + i);
        }
      }
    }
  }

  const TraceIndex& m_trace;
  std::vector<bool> m_joined;
};

template <typename Visit>
void TraceIndex::Flows::intoKept(Rank rank, Serial first, Serial last, Visit& visit) {
  const std::vector<bool>& takes = m_trace.m_links->events.takes;
  for (Serial s = first; s <= last; ++s) {
    if (!takes[m_trace.m_base[index(rank)] + (s - 1)]) {
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
    if (!gives[m_trace.m_base[index(rank)] + (s - 1)] && group == kNone) {
      continue;  // most events: nothing goes out
    }
    if (group != kNone && m_trace.sentAt(here).empty() && m_trace.postedAt(here).empty()) {
      const auto part = partAt(m_trace.execution().ranks[index(rank)], s);
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
  const std::size_t base = m_trace.m_base[index(rank)];
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
  const auto here = [&](Serial serial) { return serial >= first && serial <= last; };
  const auto completes = [&](const ChunkInfo& chunk) {
    return chunk.lastCompletion >= first && chunk.firstCompletion <= last;
  };
  const auto& messages = m_trace.execution().messages;
  each<ReceiveEnds>(rank, completes, [&](const ReceiveEnds& receive, std::size_t) {
    if (!here(receive.completion)) {
      return;
    }
    if (receive.sent != 0) {
      visit(EventRef{receive.source, receive.sent});
    } else if (receive.message < messages.size()) {
      visit(messages[receive.message].send);
    }
  });
  const std::size_t firstMessage = m_trace.m_pages->firstMessage(rank);
  each<SendEnds>(
      rank, [&](const ChunkInfo& chunk) { return chunk.lastCompletion != 0 && completes(chunk); },
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
  each<CollectivePart>(
      rank,
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
  const auto here = [&](Serial serial) { return serial >= first && serial <= last; };
  const auto begins = [&](const ChunkInfo& chunk) {
    return chunk.lastSerial >= first && chunk.firstSerial <= last;
  };
  each<SendEnds>(rank, begins, [&](const SendEnds& send, std::size_t) {
    if (here(send.event) && send.completion != 0) {
      visit(EventRef{send.dest, send.completion});
    }
  });
  const auto& messages = m_trace.execution().messages;
  if (m_trace.m_synchronous) {
    each<ReceiveEnds>(rank, begins, [&](const ReceiveEnds& receive, std::size_t) {
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
  if (!m_trace.m_onlyJoins) {
    const std::size_t base = m_trace.m_base[index(rank)];
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
  m_trace.collectiveEffects(event, *own, group, visit);
}

/// Ranks that are to be looked at, each up to one of its events or from one on.
class Work {
 public:
  explicit Work(std::size_t ranks) : m_wanted(ranks, 0), m_waits(ranks, false) {}
  /// Up to the latest event, or from the earliest on.
  void wantUpTo(EventRef event) { want(event, event.serial > m_wanted[index(event.rank)]); }
  void wantFrom(EventRef event) {
    const Serial wanted = m_wanted[index(event.rank)];
    want(event, wanted == 0 || event.serial < wanted);
  }
  [[nodiscard]] bool empty() const { return m_ranks.empty(); }
  EventRef take() {
    const Rank rank = m_ranks.front();
    m_ranks.pop_front();
    m_waits[index(rank)] = false;
    return {rank, m_wanted[index(rank)]};
  }

 private:
  void want(EventRef event, bool more) {
    if (!more) {
      return;
    }
    m_wanted[index(event.rank)] = event.serial;
    if (!m_waits[index(event.rank)]) {
      m_waits[index(event.rank)] = true;
      m_ranks.push_back(event.rank);
    }
  }
  std::vector<Serial> m_wanted;  ///< by rank; 0: none
  std::vector<bool> m_waits;
  std::deque<Rank> m_ranks;
};

/// The clock checkpoints of a trace, wherever they are.
class Checkpoints {
 public:
  explicit Checkpoints(const TraceIndex& trace)
      : m_trace(trace), m_kept(trace.data().clocks), m_rows(trace.data().clockRows.get()) {}
  /// 0: there are none.
  [[nodiscard]] std::uint32_t every() const {
    return m_rows != nullptr ? m_rows->every() : m_kept.every;
  }
  /// Of a rank, from 1.
  [[nodiscard]] std::size_t count(Rank rank) const {
    return m_rows != nullptr ? m_trace.lastSerial(rank) / m_rows->every() : m_kept.count(rank);
  }
  [[nodiscard]] std::span<const std::uint32_t> past(Rank rank, std::size_t n) {
    return m_rows != nullptr ? m_rows->past(rank, n - 1, m_row) : m_kept.pastOf(rank, n - 1);
  }
  [[nodiscard]] std::span<const std::uint32_t> future(Rank rank, std::size_t n) {
    return m_rows != nullptr ? m_rows->future(rank, n - 1, m_row) : m_kept.futureOf(rank, n - 1);
  }

 private:
  const TraceIndex& m_trace;
  const ClockCheckpoints& m_kept;
  const ClockRows* m_rows;
  std::vector<std::uint32_t> m_row;
};

/// Raises the cut to what the last checkpoint up to `event` says, and lists what that leaves to be
/// looked at: the last events of the other ranks.
static void raiseToCheckpoint(Checkpoints& clocks, EventRef event, std::vector<Serial>& cut,
                              Work& work) {
  const std::size_t n = clocks.every() == 0 ? 0 : event.serial / clocks.every();
  if (n == 0 || n > clocks.count(event.rank) || n * clocks.every() <= cut[index(event.rank)]) {
    return;
  }
  const auto row = clocks.past(event.rank, n);
  for (std::size_t other = 0; other < row.size(); ++other) {
    if (row[other] > cut[other]) {
      cut[other] = row[other] - 1;
      work.wantUpTo({static_cast<Rank>(other), row[other]});
    }
  }
  cut[index(event.rank)] = row.empty() ? cut[index(event.rank)] : n * clocks.every();
}

/// The same for what happens after it: `cut` has the first event of each rank, 0 = none.
static void lowerToCheckpoint(Checkpoints& clocks, EventRef event, const std::vector<Serial>& ends,
                              std::vector<Serial>& cut, Work& work) {
  const std::size_t n =
      clocks.every() == 0 ? 0 : (event.serial + clocks.every() - 1) / clocks.every();
  const Serial known = cut[index(event.rank)];
  if (n == 0 || n > clocks.count(event.rank) || (known != 0 && known <= n * clocks.every())) {
    return;
  }
  const auto row = clocks.future(event.rank, n);
  for (std::size_t other = 0; other < row.size(); ++other) {
    if (row[other] != 0 && (cut[other] == 0 || row[other] < cut[other])) {
      cut[other] = row[other] < ends[other] ? row[other] + 1 : 0;
      work.wantFrom({static_cast<Rank>(other), row[other]});
    }
  }
  cut[index(event.rank)] = row.empty() ? known : n * clocks.every();
}

std::vector<Serial> TraceIndex::past(EventRef ref) const {
  std::vector<Serial> cut(rankCount(), 0);
  Flows flows(*this);
  Checkpoints clocks(*this);
  Work work(rankCount());
  if (contains(ref)) {
    work.wantUpTo(ref);
  }
  while (!work.empty()) {
    const EventRef top = work.take();
    raiseToCheckpoint(clocks, top, cut, work);
    Serial& reached = cut[index(top.rank)];
    const Serial first = std::exchange(reached, std::max(reached, top.serial)) + 1;
    flows.into(top.rank, first, top.serial, [&](EventRef cause) {
      if (contains(cause) && cause.serial > cut[index(cause.rank)]) {
        work.wantUpTo(cause);
      }
    });
  }
  return cut;
}

std::vector<Serial> TraceIndex::future(EventRef ref) const {
  std::vector<Serial> cut(rankCount(), 0);
  std::vector<Serial> ends;
  for (std::size_t rank = 0; rank < rankCount(); ++rank) {
    ends.push_back(lastSerial(static_cast<Rank>(rank)));
  }
  Flows flows(*this);
  Checkpoints clocks(*this);
  Work work(rankCount());
  if (contains(ref)) {
    work.wantFrom(ref);
  }
  while (!work.empty()) {
    const EventRef top = work.take();
    lowerToCheckpoint(clocks, top, ends, cut, work);
    Serial& reached = cut[index(top.rank)];
    const Serial stop = reached == 0 ? ends[index(top.rank)] + 1 : reached;
    if (top.serial >= stop) {
      continue;
    }
    reached = top.serial;
    flows.outOf(top.rank, top.serial, stop - 1, [&](EventRef effect) {
      const Serial known = contains(effect) ? cut[index(effect.rank)] : 1;
      if (contains(effect) && (known == 0 || effect.serial < known)) {
        work.wantFrom(effect);
      }
    });
  }
  return cut;
}

std::vector<EventRef> TraceIndex::partners(EventRef ref) const {
  std::vector<EventRef> out;
  if (!contains(ref)) {
    return out;
  }
  const RankView& history = execution().ranks[index(ref.rank)];
  const auto addSend = [&](std::uint32_t message) {
    if (message < execution().messages.size()) {
      out.push_back(execution().messages[message].send);
    }
  };
  for (const std::uint32_t r : completedAt(ref)) {
    addSend(history.receives[r].message);
  }
  for (const std::uint32_t r : postedAt(ref)) {
    addSend(history.receives[r].message);
  }
  for (const std::uint32_t p : probesAt(ref)) {
    addSend(history.probes[p].message);
  }
  for (const std::uint32_t m : sentAt(ref)) {
    out.push_back(arrival(execution().messages[m]));
  }
  if (const std::uint32_t group = collectiveAt(ref); group != kNone) {
    out.insert(out.end(), m_groups[group].parts.begin(), m_groups[group].parts.end());
  }
  std::erase_if(out, [&](EventRef e) { return !contains(e) || e == ref; });
  std::vector<EventRef> unique;
  for (const EventRef e : out) {
    if (std::find(unique.begin(), unique.end(), e) == unique.end()) {
      unique.push_back(e);
    }
  }
  return unique;
}

}  // namespace pf::views
