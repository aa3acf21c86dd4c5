// SPDX-License-Identifier: GPL-3.0-or-later
#include "replay_engine/causality/event_graph.h"

#include <algorithm>
#include <tuple>

#include "replay_engine/base/large_vector.h"
#include "replay_engine/causality/delivery_order.h"
#include "replay_engine/execution/record_checks.h"

namespace pf {
namespace {

/// A collective part as recorded, with what it is paired and ordered by.
struct RecordedPart {
  std::uint32_t rank;
  const CollectivePart* part;
  std::uint32_t position;  ///< in the communicator's group, where that matters
};

/// Positions of the ranks in the groups of communicators, worked out when first asked for.
class GroupPositions {
 public:
  explicit GroupPositions(const Execution& execution)
      : m_execution(execution), m_positions(execution.communicators.size()) {}

  std::uint32_t of(std::uint32_t rank, std::uint32_t comm) {
    if (comm >= m_positions.size()) {
      return 0;
    }
    if (m_positions[comm].empty()) {
      fill(comm);
    }
    return m_positions[comm][rank];
  }

 private:
  void fill(std::uint32_t comm) {
    m_positions[comm].assign(m_execution.ranks.size(), kNone);
    std::uint32_t position = 0;
    for (const Rank rank : m_execution.communicators[comm].group) {
      if (isRank(m_execution, rank)) {
        m_positions[comm][static_cast<std::size_t>(rank)] = position++;
      }
    }
  }

  const Execution& m_execution;
  std::vector<std::vector<std::uint32_t>> m_positions;
};

/// All parts that order anything, those of one operation side by side.
std::vector<RecordedPart> recordedParts(const Execution& execution) {
  std::vector<RecordedPart> parts;
  GroupPositions positions(execution);
  for (std::uint32_t rank = 0; rank < execution.ranks.size(); ++rank) {
    const RankHistory& history = execution.ranks[rank];
    for (const CollectivePart& part : history.collectives) {
      if (part.flow != CollectiveFlow::None && isEvent(history, part.event)) {
        const bool ordered = part.flow == CollectiveFlow::FromLower;
        parts.push_back({rank, &part, ordered ? positions.of(rank, part.comm) : 0});
      }
    }
  }
  std::sort(parts.begin(), parts.end(), [](const RecordedPart& a, const RecordedPart& b) {
    return std::tie(a.part->comm, a.part->ordinal, a.position, a.rank, a.part->event) <
           std::tie(b.part->comm, b.part->ordinal, b.position, b.rank, b.part->event);
  });
  return parts;
}

bool flowsFrom(const CollectivePart& part, std::uint32_t rank) {
  const bool root = part.root == static_cast<Rank>(rank);
  return part.contributes && (part.flow != CollectiveFlow::FromRoot || root) &&
         (part.flow != CollectiveFlow::ToRoot || !root);
}

bool flowsTo(const CollectivePart& part, std::uint32_t rank) {
  const bool root = part.root == static_cast<Rank>(rank);
  return part.takes && (part.flow != CollectiveFlow::FromRoot || !root) &&
         (part.flow != CollectiveFlow::ToRoot || root);
}

}  // namespace

LinkTable::LinkTable(std::size_t events, const LinkList& own, const LinkList& others)
    : m_first(largeVector(events + 2, std::uint32_t{0})) {
  const auto lists = {&own.leaving(), &others.leaving(), &own.awaited(), &others.awaited()};
  std::size_t links = 0;
  for (const std::vector<LinkList::Entry>* list : lists) {
    links += list->size();
    for (const LinkList::Entry& entry : *list) {
      ++m_first[entry.serial + 1];
    }
  }
  for (std::size_t i = 1; i < m_first.size(); ++i) {
    m_first[i] += m_first[i - 1];
  }
  m_links = largeVector(links, Link());
  for (const std::vector<LinkList::Entry>* list : lists) {
    for (const LinkList::Entry& entry : *list) {
      m_links[m_first[entry.serial]++] = entry.link;  // at the end of its row as it is by now
    }
  }
  // Row s now starts where row s - 1 ended, at m_first[s - 1].
}

EventGraph::EventGraph(const Execution& execution, const DeliveryOrder* order, LinkSides sides)
    : m_execution(execution), m_order(order), m_sides(sides) {
  m_events.reserve(execution.ranks.size());
  for (const RankHistory& history : execution.ranks) {
    m_events.push_back(static_cast<std::uint32_t>(history.events.size()));
  }
  std::vector<Making> ranks(execution.ranks.size());
  addMessages(ranks);
  if (m_order != nullptr) {
    for (const DeliveryOrder::ProbeWait& wait : m_order->probeWaits()) {
      ranks[wait.rank].others.addAwaited(static_cast<std::uint32_t>(wait.event),
                                         {LinkKind::Delivery, wait.message});
    }
  }
  addCollectives(ranks);
  m_links.reserve(ranks.size());
  LinkList own;
  for (std::uint32_t rank = 0; rank < rankCount(); ++rank) {
    own.clear();
    addOwn(rank, ranks[rank], own);
    m_links.emplace_back(m_events[rank], own, ranks[rank].others);
    ranks[rank] = {};
  }
}

bool EventGraph::exists(Rank rank, Serial serial) const {
  return isRank(m_execution, rank) && serial >= 1 &&
         serial <= m_events[static_cast<std::size_t>(rank)];
}

bool EventGraph::isSent(std::uint32_t message) const {
  const EventRef send = m_execution.messages[message].send;
  return exists(send.rank, send.serial);
}

std::vector<std::uint32_t> EventGraph::uses(LinkKind kind) const {
  std::vector<std::uint32_t> uses = largeVector(messageCount(), std::uint32_t{0});
  for (const LinkTable& table : m_links) {
    for (const Link& link : table.all()) {
      if (link.kind == kind && !link.leaves) {
        ++uses[link.index];
      }
    }
  }
  return uses;
}

/// Where those of each rank are: side by side, as matchMessages() has them, and else with others
/// between them.
void EventGraph::addMessages(std::vector<Making>& ranks) {
  m_allSent = true;
  for (std::uint32_t index = 0; index < m_execution.messages.size(); ++index) {
    if (!isSent(index)) {
      m_allSent = false;
      continue;
    }
    Making& sender = ranks[static_cast<std::size_t>(m_execution.messages[index].send.rank)];
    sender.firstMessage = std::min(sender.firstMessage, index);
    sender.endOfMessages = index + 1;
    addSynchronous(index, ranks);
  }
}

void EventGraph::addLeaving(Serial serial, Link link, LinkList& links) const {
  if (m_sides == LinkSides::Both) {
    links.addLeaving(static_cast<std::uint32_t>(serial), link);
  }
}

void EventGraph::addSynchronous(std::uint32_t message, std::vector<Making>& ranks) {
  const Message& m = m_execution.messages[message];
  const RankHistory& sender = m_execution.ranks[static_cast<std::size_t>(m.send.rank)];
  if (m.sendIndex >= sender.sends.size() || !isRank(m_execution, m.dest)) {
    return;
  }
  const SentMessage& send = sender.sends[m.sendIndex];
  const RankHistory& receiver = m_execution.ranks[static_cast<std::size_t>(m.dest)];
  if (!observedSynchronous(sender, send) || m.post >= receiver.receives.size() ||
      !hasMessage(m_execution, receiver, receiver.receives[m.post])) {
    return;
  }
  LinkList& links = ranks[static_cast<std::size_t>(m.send.rank)].others;
  const auto completion = static_cast<std::uint32_t>(send.syncCompletion);
  links.addAwaited(completion, {LinkKind::Synchronous, message});
  if (m_order != nullptr) {
    links.addAwaited(completion, {LinkKind::Delivery, message});
  }
  addLeaving(receiver.receives[m.post].post, {LinkKind::Synchronous, message},
             ranks[static_cast<std::size_t>(m.dest)].others);
}

/// The messages that a rank sends, and those that it waits for.
void EventGraph::addOwn(std::uint32_t rank, const Making& making, LinkList& links) const {
  for (std::uint32_t m = making.firstMessage; m < making.endOfMessages; ++m) {
    const EventRef send = m_execution.messages[m].send;
    if (send.rank == static_cast<Rank>(rank) && (m_allSent || isSent(m))) {
      addLeaving(send.serial, {LinkKind::Message, m}, links);
    }
  }
  const RankHistory& history = m_execution.ranks[rank];
  const LinkKind taken = m_order == nullptr ? LinkKind::Message : LinkKind::Delivery;
  for (const PostedReceive& receive : history.receives) {
    if (isCompleted(history, receive) && validMessage(receive.message)) {
      links.addAwaited(static_cast<std::uint32_t>(receive.completion), {taken, receive.message});
    }
  }
  for (const ProbeHit& probe : history.probes) {
    if (isEvent(history, probe.event) && validMessage(probe.message)) {
      links.addAwaited(static_cast<std::uint32_t>(probe.event), {LinkKind::Message, probe.message});
    }
  }
}

void EventGraph::addCollectives(std::vector<Making>& ranks) {
  const std::vector<RecordedPart> parts = recordedParts(m_execution);
  m_members.reserve(parts.size());
  for (const RecordedPart& recorded : parts) {
    const CollectivePart& part = *recorded.part;
    const auto member = static_cast<std::uint32_t>(m_members.size());
    const bool sameCall = member > 0 && parts[member - 1].part->comm == part.comm &&
                          parts[member - 1].part->ordinal == part.ordinal;
    if (!sameCall) {
      m_instances.push_back({part.flow, member, member, 0, 0});
    }
    CollectiveInstance& instance = m_instances.back();
    // Ranks that disagree about the operation are a damaged record: the first one is believed.
    const CollectivePart& first = *parts[instance.begin].part;
    const bool agrees = part.flow == first.flow && part.root == first.root;
    const RankHistory& history = m_execution.ranks[recorded.rank];
    const bool completed = isEvent(history, part.completion) && part.completion >= part.event;
    CollectiveMember& added = m_members.emplace_back();
    added.entry = {recorded.rank, static_cast<std::uint32_t>(part.event)};
    added.completion = completed ? static_cast<std::uint32_t>(part.completion) : 0;
    added.instance = static_cast<std::uint32_t>(m_instances.size() - 1);
    added.contributes = agrees && flowsFrom(part, recorded.rank);
    added.takes = agrees && completed && flowsTo(part, recorded.rank);
    instance.end = member + 1;
    if (added.contributes) {
      ++instance.contributors;
      addLeaving(added.entry.serial, {LinkKind::Collective, member}, ranks[recorded.rank].others);
    }
    if (added.takes) {
      ++instance.takers;
      ranks[recorded.rank].others.addAwaited(added.completion, {LinkKind::Collective, member});
    }
  }
}

Place EventGraph::origin(Link link) const {
  const Message& message = m_execution.messages[link.index];
  if (link.kind == LinkKind::Synchronous) {
    const RankHistory& receiver = m_execution.ranks[static_cast<std::size_t>(message.dest)];
    return {static_cast<std::uint32_t>(message.dest),
            static_cast<std::uint32_t>(receiver.receives[message.post].post)};
  }
  return {static_cast<std::uint32_t>(message.send.rank),
          static_cast<std::uint32_t>(message.send.serial)};
}

bool EventGraph::isRendezvous(Link link) const {
  if (link.kind != LinkKind::Synchronous) {
    return false;
  }
  const Message& message = m_execution.messages[link.index];
  const SentMessage& send =
      m_execution.ranks[static_cast<std::size_t>(message.send.rank)].sends[message.sendIndex];
  const PostedReceive& receive =
      m_execution.ranks[static_cast<std::size_t>(message.dest)].receives[message.post];
  return send.syncCompletion == send.event && receive.completion == receive.post;
}

std::uint32_t EventGraph::sourcesEnd(std::uint32_t member) const {
  const CollectiveInstance& instance = m_instances[m_members[member].instance];
  return instance.flow == CollectiveFlow::FromLower ? member : instance.end;
}

}  // namespace pf
