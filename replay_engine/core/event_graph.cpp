#include "event_graph.h"

#include "delivery_order.h"
#include "record_checks.h"

#include <algorithm>
#include <tuple>

#include "base/large_vector.h"

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

void LinkTable::reserve(std::size_t leaving, std::size_t awaited) {
  reserveLarge(m_leaving, leaving);
  reserveLarge(m_awaited, awaited);
}

void LinkTable::addLeaving(std::uint32_t serial, Link link) {
  link.leaves = true;
  m_leaving.push_back({serial, link});
}

void LinkTable::finish(std::size_t events) {
  m_first = largeVector(events + 2, std::uint32_t{0});
  for (const std::vector<Pending>* pending : {&m_leaving, &m_awaited}) {
    for (const Pending& each : *pending) {
      ++m_first[each.serial + 1];
    }
  }
  for (std::size_t i = 1; i < m_first.size(); ++i) {
    m_first[i] += m_first[i - 1];
  }
  m_links = largeVector(m_leaving.size() + m_awaited.size(), Link());
  place(m_leaving);
  place(m_awaited);
  // Row s now starts where row s - 1 ended, at m_first[s - 1].
}

/// Each at the end of its row as it is by now.
void LinkTable::place(std::vector<Pending>& pending) {
  for (const Pending& each : pending) {
    m_links[m_first[each.serial]++] = each.link;
  }
  pending = {};
}

EventGraph::EventGraph(const Execution& execution, const DeliveryOrder* order, LinkSides sides)
    : m_execution(execution),
      m_order(order),
      m_sides(sides),
      m_links(execution.ranks.size()),
      m_messageUses(largeVector(execution.messages.size(), std::uint32_t{0})),
      m_deliveryUses(largeVector(execution.messages.size(), std::uint32_t{0})) {
  m_events.reserve(execution.ranks.size());
  for (std::size_t rank = 0; rank < execution.ranks.size(); ++rank) {
    const RankHistory& history = execution.ranks[rank];
    m_events.push_back(static_cast<std::uint32_t>(history.events.size()));
    const bool both = m_sides == LinkSides::Both;
    m_links[rank].reserve(both ? history.sends.size() + history.collectives.size() : 0,
                          history.receives.size() + history.collectives.size());
  }
  addMessages();
  for (std::uint32_t rank = 0; rank < rankCount(); ++rank) {
    addReceiver(rank);
  }
  if (m_order != nullptr) {
    for (const DeliveryOrder::ProbeWait& wait : m_order->probeWaits()) {
      addDeliveryLink(wait.rank, wait.event, wait.message);
    }
  }
  addCollectives();
  for (std::uint32_t rank = 0; rank < rankCount(); ++rank) {
    m_links[rank].finish(m_events[rank]);
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

void EventGraph::addMessages() {
  bool all = true;
  for (std::uint32_t index = 0; index < m_execution.messages.size(); ++index) {
    if (!isSent(index)) {
      all = false;
      continue;
    }
    const EventRef send = m_execution.messages[index].send;
    addOutgoing(send.rank, send.serial, {LinkKind::Message, index});
    addSynchronous(index);
  }
  m_allSent = all;
}

void EventGraph::addOutgoing(Rank rank, Serial serial, Link link) {
  if (m_sides == LinkSides::Both) {
    m_links[static_cast<std::size_t>(rank)].addLeaving(static_cast<std::uint32_t>(serial), link);
  }
}

void EventGraph::addSynchronous(std::uint32_t message) {
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
  m_links[static_cast<std::size_t>(m.send.rank)].addAwaited(
      static_cast<std::uint32_t>(send.syncCompletion), {LinkKind::Synchronous, message});
  addOutgoing(m.dest, receiver.receives[m.post].post, {LinkKind::Synchronous, message});
  if (m_order != nullptr) {
    addDeliveryLink(static_cast<std::uint32_t>(m.send.rank), send.syncCompletion, message);
  }
}

void EventGraph::addReceiver(std::uint32_t rank) {
  const RankHistory& history = m_execution.ranks[rank];
  for (const PostedReceive& receive : history.receives) {
    if (isCompleted(history, receive) && validMessage(receive.message)) {
      m_order == nullptr ? addMessageLink(rank, receive.completion, receive.message)
                         : addDeliveryLink(rank, receive.completion, receive.message);
    }
  }
  for (const ProbeHit& probe : history.probes) {
    if (isEvent(history, probe.event) && validMessage(probe.message)) {
      addMessageLink(rank, probe.event, probe.message);
    }
  }
}

void EventGraph::addMessageLink(std::uint32_t rank, Serial serial, std::uint32_t message) {
  m_links[rank].addAwaited(static_cast<std::uint32_t>(serial), {LinkKind::Message, message});
  ++m_messageUses[message];
}

void EventGraph::addDeliveryLink(std::uint32_t rank, Serial serial, std::uint32_t message) {
  m_links[rank].addAwaited(static_cast<std::uint32_t>(serial), {LinkKind::Delivery, message});
  ++m_deliveryUses[message];
}

void EventGraph::addCollectives() {
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
      addOutgoing(static_cast<Rank>(recorded.rank), added.entry.serial,
                  {LinkKind::Collective, member});
    }
    if (added.takes) {
      ++instance.takers;
      m_links[recorded.rank].addAwaited(added.completion, {LinkKind::Collective, member});
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
