// SPDX-License-Identifier: GPL-3.0-or-later
// What flows between the parts of a collective call, and where all ranks meet.
#include <algorithm>

#include "views/trace/collective_index.h"

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

std::vector<EventRef> CollectiveIndex::feeding(Rank rank, std::uint32_t part) const {
  std::vector<EventRef> out;
  const ExecutionView& execution = m_events.execution();
  const CollectivePart own = execution.ranks[index(rank)].collectives[part];
  const std::uint32_t group = at({rank, own.event});
  if (group == kNone) {
    return out;
  }
  for (const EventRef other : m_groups[group].parts) {
    if (other.rank == rank) {
      continue;
    }
    const auto theirs = partAt(execution.ranks[index(other.rank)], other.serial);
    if (theirs && flows(execution, *theirs, other.rank, own, rank)) {
      out.push_back(other);
    }
  }
  return out;
}

void CollectiveIndex::forEachFedBy(EventRef event, const CollectivePart& own, std::uint32_t group,
                                   const std::function<void(EventRef)>& visit) const {
  const ExecutionView& execution = m_events.execution();
  for (const EventRef part : m_groups[group].parts) {
    if (part.rank == event.rank) {
      continue;
    }
    const auto other = partAt(execution.ranks[index(part.rank)], part.serial);
    if (other && flows(execution, own, event.rank, *other, part.rank)) {
      visit({part.rank, other->completion});
    }
  }
}

const CollectiveGroup* CollectiveIndex::meetingUpTo(EventRef event) const {
  const std::size_t first = m_events.firstId(event.rank);
  FirstMeeting meeting{m_groups};
  m_groupAt->findBack(first, m_events.id(event), meeting);
  return meeting.found;
}

const CollectiveGroup* CollectiveIndex::meetingFrom(EventRef event) const {
  const std::size_t last = m_events.id({event.rank, m_events.lastSerial(event.rank)});
  FirstMeeting meeting{m_groups};
  m_groupAt->find(m_events.id(event), last, meeting);
  return meeting.found;
}

}  // namespace pf::views
