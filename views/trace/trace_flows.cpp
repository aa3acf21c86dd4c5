// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/trace/trace_flows.h"

#include <algorithm>

namespace pf::views {

namespace {

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

}  // namespace

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

bool joinsAgain(const TraceIndex& trace, EventRef event, const LinkedItems& parts,
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

namespace {

/// Takes the first collective in which all ranks meet, of those that it is called with; gives up
/// where none is near.
struct FirstMeeting {
  static constexpr std::size_t kNear = 64;
  const std::vector<CollectiveGroup>& groups;
  const CollectiveGroup* found = nullptr;
  std::size_t seen = 0;

  bool operator()(std::uint32_t number) {
    found = groups[number].meets ? &groups[number] : nullptr;
    return found != nullptr || ++seen == kNear;
  }
};

}  // namespace

const CollectiveGroup* TraceIndex::Flows::meetingUpTo(EventRef event) const {
  const std::size_t base = m_trace.m_base[index(event.rank)];
  FirstMeeting meeting{m_trace.m_groups};
  m_trace.m_links->groupAt.findBack(base, base + (event.serial - 1), meeting);
  return meeting.found;
}

const CollectiveGroup* TraceIndex::Flows::meetingFrom(EventRef event) const {
  const std::size_t base = m_trace.m_base[index(event.rank)];
  const std::size_t last = base + (m_trace.lastSerial(event.rank) - 1);
  FirstMeeting meeting{m_trace.m_groups};
  m_trace.m_links->groupAt.find(base + (event.serial - 1), last, meeting);
  return meeting.found;
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

}  // namespace pf::views
