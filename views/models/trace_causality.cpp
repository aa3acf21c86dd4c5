// Causal past, future and partners of an event, along messages, collectives and program order.
#include <algorithm>
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
    for (const EventRef part : m_groups[group].parts) {
      if (part.rank == ref.rank) {
        continue;
      }
      const auto other = partAt(execution().ranks[index(part.rank)], part.serial);
      if (other && flows(execution(), *own, ref.rank, *other, part.rank)) {
        out.push_back({part.rank, other->completion});
      }
    }
  }
  return out;
}

/// What flows at the events of a rank, one after the other.
class TraceIndex::RankLinks {
 public:
  RankLinks(const TraceIndex& trace, Rank rank) : m_trace(trace), m_rank(rank) {}
  [[nodiscard]] bool takes(Serial serial) { return at(serial, &EventLinks::takes); }
  [[nodiscard]] bool gives(Serial serial) { return at(serial, &EventLinks::gives); }

 private:
  [[nodiscard]] bool at(Serial serial, const std::vector<bool> EventLinks::*which) {
    if (m_trace.m_pages == nullptr) {
      return (m_trace.m_links->events.*which)[m_trace.m_base[index(m_rank)] + (serial - 1)];
    }
    const std::size_t ordinal = m_trace.m_pages->chunkOf(serial - 1);
    if (m_links == nullptr || ordinal != m_ordinal) {
      m_links = m_trace.m_pages->links(m_rank, ordinal);
      m_ordinal = ordinal;
    }
    return ((*m_links).*which)[m_trace.m_pages->within(serial - 1)];
  }

  const TraceIndex& m_trace;
  Rank m_rank;
  std::size_t m_ordinal = 0;
  std::shared_ptr<const EventLinks> m_links;
};

/// Raises the cut to what the last checkpoint up to `event` says, and lists what that leaves to be
/// looked at: the last events of the other ranks.
static void raiseToCheckpoint(const ClockCheckpoints& clocks, EventRef event,
                              std::vector<Serial>& cut, std::vector<EventRef>& work) {
  const std::size_t n = clocks.every == 0 ? 0 : event.serial / clocks.every;
  if (n == 0 || n > clocks.count(event.rank) || n * clocks.every <= cut[index(event.rank)]) {
    return;
  }
  const auto row = clocks.pastOf(event.rank, n - 1);
  for (std::size_t other = 0; other < row.size(); ++other) {
    if (row[other] > cut[other]) {
      cut[other] = row[other] - 1;
      work.push_back({static_cast<Rank>(other), row[other]});
    }
  }
  cut[index(event.rank)] = n * clocks.every;
}

/// The same for what happens after it: `cut` has the first event of each rank, 0 = none.
static void lowerToCheckpoint(const ClockCheckpoints& clocks, EventRef event,
                              const std::vector<Serial>& ends, std::vector<Serial>& cut,
                              std::vector<EventRef>& work) {
  const std::size_t n = clocks.every == 0 ? 0 : (event.serial + clocks.every - 1) / clocks.every;
  const Serial known = cut[index(event.rank)];
  if (n == 0 || n > clocks.count(event.rank) || (known != 0 && known <= n * clocks.every)) {
    return;
  }
  const auto row = clocks.futureOf(event.rank, n - 1);
  for (std::size_t other = 0; other < row.size(); ++other) {
    if (row[other] != 0 && (cut[other] == 0 || row[other] < cut[other])) {
      cut[other] = row[other] < ends[other] ? row[other] + 1 : 0;
      work.push_back({static_cast<Rank>(other), row[other]});
    }
  }
  cut[index(event.rank)] = n * clocks.every;
}

std::vector<Serial> TraceIndex::past(EventRef ref) const {
  std::vector<Serial> cut(rankCount(), 0);
  std::vector<bool> joined(
      m_groups.size());  // collectives whose parts are all looked at or waiting
  std::vector<EventRef> work;
  if (contains(ref)) {
    work.push_back(ref);
  }
  while (!work.empty()) {
    const EventRef top = work.back();
    work.pop_back();
    raiseToCheckpoint(data().clocks, top, cut, work);
    Serial& reached = cut[index(top.rank)];
    RankLinks links(*this, top.rank);
    for (Serial s = std::exchange(reached, std::max(reached, top.serial)) + 1; s <= top.serial;
         ++s) {
      if (!links.takes(s)) {
        continue;  // most events: nothing comes in
      }
      if (joinsAgain(*this, {top.rank, s}, collectivesDoneAt({top.rank, s}), joined)) {
        continue;
      }
      for (const EventRef cause : causes({top.rank, s})) {
        if (contains(cause) && cause.serial > cut[index(cause.rank)]) {
          work.push_back(cause);
        }
      }
    }
  }
  return cut;
}

std::vector<Serial> TraceIndex::future(EventRef ref) const {
  std::vector<Serial> cut(rankCount(), 0);
  std::vector<bool> joined(m_groups.size());
  std::vector<Serial> ends;
  for (std::size_t rank = 0; rank < rankCount(); ++rank) {
    ends.push_back(lastSerial(static_cast<Rank>(rank)));
  }
  std::vector<EventRef> work;
  if (contains(ref)) {
    work.push_back(ref);
  }
  while (!work.empty()) {
    const EventRef top = work.back();
    work.pop_back();
    lowerToCheckpoint(data().clocks, top, ends, cut, work);
    Serial& reached = cut[index(top.rank)];
    const Serial stop = reached == 0 ? lastSerial(top.rank) + 1 : reached;
    if (top.serial >= stop) {
      continue;
    }
    reached = top.serial;
    RankLinks links(*this, top.rank);
    for (Serial s = top.serial; s < stop; ++s) {
      const std::uint32_t group = collectiveAt({top.rank, s});
      if (!links.gives(s) && group == kNone) {
        continue;  // most events: nothing goes out
      }
      if (group != kNone && sentAt({top.rank, s}).empty() && postedAt({top.rank, s}).empty()) {
        const auto part = partAt(execution().ranks[index(top.rank)], s);
        if (part && part->flow == CollectiveFlow::AllToAll && part->contributes) {
          if (joined[group]) {
            continue;  // another rank's part of it leads to the same completions
          }
          joined[group] = true;
        }
      }
      for (const EventRef effect : effects({top.rank, s})) {
        const Serial known = contains(effect) ? cut[index(effect.rank)] : 1;
        if (contains(effect) && (known == 0 || effect.serial < known)) {
          work.push_back(effect);
        }
      }
    }
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
