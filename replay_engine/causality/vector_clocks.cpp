// SPDX-License-Identifier: GPL-3.0-or-later
#include "replay_engine/causality/vector_clocks.h"

#include <algorithm>

#include "replay_engine/base/large_vector.h"
#include "replay_engine/causality/raise.h"

namespace pf {

VectorClocks::VectorClocks(const Execution& execution, const Chains& chains,
                           const EventGraph& graph, const DeliveryOrder& order,
                           ClockObserver& observer)
    : m_execution(execution),
      m_chains(chains),
      m_graph(graph),
      m_order(order),
      m_observer(observer),
      m_width(chains.count()),
      m_clocks(m_width * m_width, 0),
      m_current(m_width, kNone),
      m_waitingAt(graph.rankCount(), 0),
      m_sent(largeVector(execution.messages.size(), kNone)),
      m_messageUses(graph.uses(LinkKind::Message)),
      m_delivered(largeVector(execution.messages.size(), kNone)),
      m_deliveryUses(graph.uses(LinkKind::Delivery)),
      m_isDelivered(execution.messages.size(), false),
      m_missing(graph.rankCount()),
      m_contributed(graph.members().size(), kNone),
      m_joined(graph.instances().size(), kNone) {
  for (const CollectiveInstance& instance : graph.instances()) {
    m_contributors.push_back(instance.contributors);
    m_takers.push_back(instance.takers);
  }
  for (std::uint32_t message = 0; message < m_sent.size(); ++message) {
    for (const std::uint32_t earlier : order.before(message)) {
      ++m_deliveryUses[earlier];
    }
  }
  for (std::uint32_t message = 0; message < m_sent.size(); ++message) {
    m_messageUses[message] += m_deliveryUses[message] > 0 ? 1U : 0U;
  }
  if (chains.several()) {
    listPosts();
  }
}

void VectorClocks::listPosts() {
  m_receivePosted.assign(m_sent.size(), kNone);
  for (std::uint32_t message = 0; message < m_sent.size(); ++message) {
    if (m_deliveryUses[message] > 0) {
      const Place post = m_graph.origin({LinkKind::Synchronous, message});
      if (m_chains.several(post.rank)) {
        m_posts[{post.rank, post.serial}].push_back(message);
      }
    }
  }
}

void VectorClocks::holdPosts(Place place) {
  if (const auto posts = m_posts.find({place.rank, place.serial}); posts != m_posts.end()) {
    for (const std::uint32_t message : posts->second) {
      m_receivePosted[message] = hold(m_chains.of(place), 1);
    }
  }
}

void VectorClocks::run() {
  Traversal<VectorClocks>(m_graph, m_progress, *this).run();
}

std::span<std::uint32_t> VectorClocks::clock(std::uint32_t chain) {
  return {m_clocks.data() + chain * m_width, m_width};
}

std::span<std::uint32_t> VectorClocks::snapshot(SnapshotId id) {
  return {m_pool.data() + id * m_width, m_width};
}

VectorClocks::SnapshotId VectorClocks::allocate() {
  if (m_free.empty()) {
    m_free.push_back(static_cast<SnapshotId>(m_holders.size()));
    m_holders.push_back(0);
    m_pool.resize(m_pool.size() + m_width);
  }
  const SnapshotId id = m_free.back();
  m_free.pop_back();
  return id;
}

VectorClocks::SnapshotId VectorClocks::hold(std::uint32_t chain, std::uint32_t uses) {
  if (m_current[chain] == kNone) {
    m_current[chain] = allocate();
    m_holders[m_current[chain]] = 1;  // the chain itself, until its clock changes
    std::ranges::copy(clock(chain), snapshot(m_current[chain]).begin());
  }
  m_holders[m_current[chain]] += uses;
  return m_current[chain];
}

void VectorClocks::release(SnapshotId& id) {
  if (id != kNone && --m_holders[id] == 0) {
    m_free.push_back(id);
    id = kNone;
  }
}

void VectorClocks::forgetCurrent(std::uint32_t chain) {
  release(m_current[chain]);
  m_current[chain] = kNone;
}

bool VectorClocks::tryEnter(Place place) {
  m_waitingAt[place.rank] = 0;
  followThreads(place);
  holdPosts(place);
  const std::uint32_t chain = m_chains.of(place);
  for (const Link link : m_graph.outgoing(place)) {
    if (link.kind == LinkKind::Collective) {
      contribute(link.index);
    } else if (link.kind == LinkKind::Synchronous) {
      m_posted.resize(m_sent.size(), kNone);
      m_posted[link.index] = hold(chain, 1);
    } else {
      m_observer.onSend(link.index, {clock(chain), {}});
      if (m_messageUses[link.index] > 0) {
        m_sent[link.index] = hold(chain, m_messageUses[link.index]);
      }
    }
  }
  return true;
}

/// What the program makes the event's thread wait for.
void VectorClocks::followThreads(Place place) {
  for (const ThreadLink& link : m_chains.linksTo(place)) {
    const Place before{place.rank, static_cast<std::uint32_t>(link.before)};
    const auto left = m_threadLeft.find({before.rank, before.serial});
    if (left == m_threadLeft.end()) {
      continue;
    }
    join(m_chains.of(place), left->second.clock, m_chains.at(before));
    release(left->second.clock);
    if (--left->second.uses == 0) {
      m_threadLeft.erase(left);
    }
  }
}

void VectorClocks::contribute(std::uint32_t member) {
  const CollectiveMember& part = m_graph.members()[member];
  const CollectiveInstance& instance = m_graph.instances()[part.instance];
  const std::uint32_t chain = m_chains.of(part.entry);
  --m_contributors[part.instance];
  if (m_takers[part.instance] == 0) {
    return;
  }
  if (instance.flow == CollectiveFlow::FromLower) {
    m_contributed[member] = hold(chain, 1);
    return;
  }
  SnapshotId& joined = m_joined[part.instance];
  if (joined == kNone) {
    joined = allocate();
    m_holders[joined] = 1;
    std::ranges::fill(snapshot(joined), 0U);
  }
  raise(snapshot(joined), clock(chain));
  // The call itself counts: a rank that has taken from it knows that it was made.
  snapshot(joined)[chain] = std::max(snapshot(joined)[chain], part.entry.serial);
}

bool VectorClocks::isReady(std::uint32_t rank, Link link) {
  if (link.kind == LinkKind::Delivery) {
    return tryDeliver(rank, link.index);
  }
  return link.kind == LinkKind::Collective ? isReadyCollective(link.index)
                                           : m_progress.isEntered(m_graph.origin(link));
}

bool VectorClocks::isReadyCollective(std::uint32_t member) const {
  const std::vector<CollectiveMember>& members = m_graph.members();
  const std::uint32_t index = members[member].instance;
  if (m_graph.instances()[index].flow != CollectiveFlow::FromLower) {
    return m_contributors[index] == 0;
  }
  const std::uint32_t end = m_graph.sourcesEnd(member);
  for (std::uint32_t i = m_graph.instances()[index].begin; i < end; ++i) {
    if (members[i].contributes && !m_progress.isEntered(members[i].entry)) {
      return false;
    }
  }
  return true;
}

bool VectorClocks::tryLeave(Place place) {
  const std::span<const Link> links = m_graph.incoming(place);
  std::size_t& waitingAt = m_waitingAt[place.rank];
  while (waitingAt < links.size()) {
    if (!isReady(place.rank, links[waitingAt])) {
      return false;
    }
    ++waitingAt;
  }
  leave(place);
  return true;
}

void VectorClocks::leave(Place place) {
  for (const Link link : m_graph.incoming(place)) {
    follow(place, link);
  }
  const std::uint32_t chain = m_chains.of(place);
  clock(chain)[chain] = place.serial;
  if (m_order.isCancelBefore(place.rank, place.serial)) {
    m_cancelled[{place.rank, place.serial}] = hold(chain, 1);
  }
  if (const std::uint32_t uses = m_chains.linksFrom(place); uses > 0) {
    m_threadLeft[{place.rank, place.serial}] = {hold(chain, uses), uses};
  }
  m_observer.onLeave(place, {clock(chain), {}});
}

void VectorClocks::follow(Place place, Link link) {
  switch (link.kind) {
    case LinkKind::Collective:
      take(m_chains.of(place), link.index);
      return;
    case LinkKind::Delivery:
      followDelivery(place, link.index);
      return;
    case LinkKind::Synchronous:
      if (isReady(place.rank, link)) {
        join(m_chains.of(place), m_posted[link.index], posted(link.index));
        release(m_posted[link.index]);
      }
      return;
    case LinkKind::Message:
      --m_messageUses[link.index];
      if (isReady(place.rank, link)) {
        join(m_chains.of(place), m_sent[link.index], beforeSend(link.index));
        release(m_sent[link.index]);
      }
  }
}

/// The send itself is not finished: only what its thread did before it is known.
Step VectorClocks::beforeSend(std::uint32_t message) const {
  return m_chains.before(m_graph.origin({LinkKind::Message, message}));
}

/// The same goes for the post of a receive, unless it blocks: see
/// DeliveryOrder::synchronousExits().
Step VectorClocks::posted(std::uint32_t message) const {
  const Place post = m_graph.origin({LinkKind::Synchronous, message});
  const bool blocking =
      m_execution.messages[message].completion == post.serial && !m_chains.several(post.rank);
  return blocking ? m_chains.at(post) : m_chains.before(post);
}

/// Delivers the message, after its prerequisites and theirs, if all were sent. `rank` asks.
bool VectorClocks::tryDeliver(std::uint32_t rank, std::uint32_t message) {
  if (m_isDelivered[message]) {
    return true;
  }
  if (!m_progress.isEntered(m_missing[rank])) {
    return false;
  }
  m_stack.assign(1, message);
  while (!m_stack.empty()) {
    const std::uint32_t next = m_stack.back();
    const std::span<const std::uint32_t> before = m_order.before(next);
    const auto waitsFor = std::ranges::find_if(
        before, [this](std::uint32_t earlier) { return !m_isDelivered[earlier]; });
    if (waitsFor != before.end()) {
      m_stack.push_back(*waitsFor);
    } else if (canArrive(rank, next)) {
      deliver(next);
      m_stack.pop_back();
    } else {
      return false;
    }
  }
  return true;
}

/// Is it sent, and its receive posted and free to take it?
bool VectorClocks::canArrive(std::uint32_t rank, std::uint32_t message) {
  const Place post = m_graph.origin({LinkKind::Synchronous, message});
  for (const Place place : {m_graph.origin({LinkKind::Message, message}), post}) {
    if (!m_progress.isEntered(place)) {
      m_missing[rank] = place;
      return false;
    }
  }
  return m_progress.isLeft({post.rank, m_order.cancelBefore(message)});
}

void VectorClocks::deliver(std::uint32_t message) {
  const Step left = beforeSend(message);
  m_isDelivered[message] = true;
  --m_messageUses[message];
  const bool posted = !m_receivePosted.empty() && m_receivePosted[message] != kNone;
  const bool merges =
      posted || !m_order.before(message).empty() || m_order.cancelBefore(message) != 0;
  const SnapshotId id = merges ? merge(message) : m_sent[message];
  m_observer.onDelivery(message, {snapshot(id), left});
  m_delivered[message] = id;
  m_holders[id] += m_deliveryUses[message];
  release(m_sent[message]);
}

/// A new snapshot, without holders, of all that comes before the delivery.
VectorClocks::SnapshotId VectorClocks::merge(std::uint32_t message) {
  const SnapshotId id = allocate();
  const std::span<std::uint32_t> merged = snapshot(id);
  const auto add = [&](SnapshotId from, Step left) {
    raise(merged, snapshot(from));
    merged[left.chain] = std::max(merged[left.chain], left.serial);
  };
  std::ranges::fill(merged, 0U);
  add(m_sent[message], beforeSend(message));
  for (const std::uint32_t earlier : m_order.before(message)) {
    add(m_delivered[earlier], beforeSend(earlier));
    useDelivery(earlier);
  }
  if (!m_receivePosted.empty() && m_receivePosted[message] != kNone) {
    add(m_receivePosted[message],
        m_chains.before(m_graph.origin({LinkKind::Synchronous, message})));
    release(m_receivePosted[message]);
  }
  if (const std::uint32_t cancel = m_order.cancelBefore(message); cancel != 0) {
    const auto rank = static_cast<std::uint32_t>(m_execution.messages[message].dest);
    add(m_cancelled.at({rank, cancel}), m_chains.at({rank, cancel}));
  }
  return id;
}

void VectorClocks::followDelivery(Place place, std::uint32_t message) {
  if (tryDeliver(place.rank, message)) {
    join(m_chains.of(place), m_delivered[message], beforeSend(message));
  }
  useDelivery(message);
}

void VectorClocks::useDelivery(std::uint32_t message) {
  --m_deliveryUses[message];
  release(m_delivered[message]);
}

void VectorClocks::take(std::uint32_t chain, std::uint32_t member) {
  const std::vector<CollectiveMember>& members = m_graph.members();
  const CollectiveMember& part = members[member];
  const CollectiveInstance& instance = m_graph.instances()[part.instance];
  if (isReadyCollective(member)) {
    if (instance.flow != CollectiveFlow::FromLower) {
      join(chain, m_joined[part.instance], {chain, 0});
    }
    for (std::uint32_t i = instance.begin; i < m_graph.sourcesEnd(member); ++i) {
      if (instance.flow == CollectiveFlow::FromLower && members[i].contributes) {
        join(chain, m_contributed[i], m_chains.at(members[i].entry));
      }
    }
  }
  if (--m_takers[part.instance] == 0) {
    release(m_joined[part.instance]);
    for (std::uint32_t i = instance.begin; i < instance.end; ++i) {
      release(m_contributed[i]);
    }
  }
}

void VectorClocks::join(std::uint32_t chain, SnapshotId from, Step known) {
  if (from == kNone) {
    return;
  }
  const std::uint32_t own = clock(chain)[chain];
  bool changed = raise(clock(chain), snapshot(from));
  if (clock(chain)[known.chain] < known.serial) {
    clock(chain)[known.chain] = known.serial;
    changed = true;
  }
  // Whatever came back about this chain itself is not more than what it has finished.
  clock(chain)[chain] = own;
  if (changed) {
    forgetCurrent(chain);
  }
}

void VectorClocks::resolveStall(const std::vector<std::uint32_t>& ranks) {
  // Only a damaged record has such a cycle. Cut it: go on without what is missing.
  const std::uint32_t rank = ranks.front();
  leave({rank, m_progress.left[rank] + 1});
  m_progress.left[rank] += 1;
}

}  // namespace pf
