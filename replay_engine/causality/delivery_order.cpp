// SPDX-License-Identifier: GPL-3.0-or-later
#include "replay_engine/causality/delivery_order.h"

#include <algorithm>
#include <numeric>
#include <tuple>

#include "replay_engine/base/large_vector.h"
#include "replay_engine/execution/record_checks.h"

namespace pf {

DeliveryOrder::DeliveryOrder(const Execution& execution, NoDeliveries /*none*/)
    : m_execution(execution),
      m_deliveries(largeVector(execution.messages.size(), Delivery())),
      m_cancels(execution.ranks.size()) {}

DeliveryOrder::DeliveryOrder(const Execution& execution, const Chains& chains,
                             const SendOrder& sends)
    : DeliveryOrder(execution, NoDeliveries{}) {
  m_chains = &chains;
  m_synchronous = std::ranges::any_of(execution.ranks, [](const RankHistory& history) {
    return std::ranges::any_of(
        history.sends, [&](const SentMessage& send) { return observedSynchronous(history, send); });
  });
  for (std::uint32_t rank = 0; rank < execution.ranks.size(); ++rank) {
    addRank(chains, sends, rank);
    findExits(rank);
    std::sort(m_cancels[rank].begin(), m_cancels[rank].end());
  }
}

std::uint32_t DeliveryOrder::cancelBefore(std::uint32_t message) const {
  const auto found = m_cancelBefore.find(message);
  return found == m_cancelBefore.end() ? 0 : found->second;
}

bool DeliveryOrder::isCancelBefore(std::uint32_t rank, std::uint32_t serial) const {
  return std::binary_search(m_cancels[rank].begin(), m_cancels[rank].end(), serial);
}

std::span<const DeliveryOrder::Exit> DeliveryOrder::synchronousExits(std::uint32_t message) const {
  const auto found = m_exits.find(message);
  return found == m_exits.end() ? std::span<const Exit>() : found->second;
}

/// Receives in posting order, each probe before the receives posted after it.
void DeliveryOrder::addRank(const Chains& chains, const SendOrder& sends, std::uint32_t rank) {
  const RankHistory& history = m_execution.ranks[rank];
  std::vector<std::uint32_t> probes(history.probes.size());
  std::iota(probes.begin(), probes.end(), 0U);
  std::stable_sort(probes.begin(), probes.end(), [&](std::uint32_t a, std::uint32_t b) {
    return std::tie(history.probes[a].postsBefore, history.probes[a].event) <
           std::tie(history.probes[b].postsBefore, history.probes[b].event);
  });
  EarlierPosts earlier(m_execution, chains, sends, rank);
  auto probe = probes.begin();
  for (std::uint32_t index = 0; index < history.receives.size(); ++index) {
    for (; probe != probes.end() && history.probes[*probe].postsBefore <= index; ++probe) {
      addProbe(earlier, rank, history.probes[*probe]);
    }
    addReceive(earlier, rank, index);
  }
  for (; probe != probes.end(); ++probe) {
    addProbe(earlier, rank, history.probes[*probe]);
  }
}

void DeliveryOrder::addReceive(EarlierPosts& earlier, std::uint32_t rank, std::uint32_t index) {
  const RankHistory& history = m_execution.ranks[rank];
  const PostedReceive& receive = history.receives[index];
  if (!hasMessage(m_execution, history, receive)) {
    return;
  }
  const std::uint32_t message = receive.message;
  earlier.advance(index, receive.post);
  const Prerequisites& found = earlier.of(message, receive.wantedTag == kAnyTag);
  m_deliveries[message].before = m_before.size();
  m_before.insert(m_before.end(), found.deliveries.begin(), found.deliveries.end());
  m_deliveries[message].count = static_cast<std::uint32_t>(found.deliveries.size());
  if (found.cancel != 0) {
    m_cancelBefore[message] = found.cancel;
    m_cancels[rank].push_back(found.cancel);
  }
}

void DeliveryOrder::addProbe(EarlierPosts& earlier, std::uint32_t rank, const ProbeHit& probe) {
  if (probe.message >= m_execution.messages.size() ||
      !isEvent(m_execution.ranks[rank], probe.event)) {
    return;
  }
  earlier.advance(probe.postsBefore, probe.event);
  for (const std::uint32_t message :
       earlier.of(probe.message, probe.wantedTag == kAnyTag).deliveries) {
    m_probeWaits.push_back({rank, probe.event, message});
    const auto event = static_cast<std::uint32_t>(probe.event);
    if (m_chains->several(rank)) {
      addExit(message, {m_chains->at({rank, event}), 0});
    } else {
      showAt(message, event);
    }
  }
}

void DeliveryOrder::findExits(std::uint32_t rank) {
  const RankHistory& history = m_execution.ranks[rank];
  for (const PostedReceive& receive : history.receives) {
    if (hasMessage(m_execution, history, receive)) {
      addOwnExits(rank, receive);
    }
  }
  for (std::size_t index = history.receives.size(); index-- > 0;) {
    const PostedReceive& receive = history.receives[index];
    if (!hasMessage(m_execution, history, receive)) {
      continue;
    }
    const std::uint32_t shownAt = m_deliveries[receive.message].shownAt;
    if (const auto exits = m_exits.find(receive.message); exits != m_exits.end()) {
      std::erase_if(exits->second, [&](const Exit& exit) { return exit.post > shownAt; });
    }
    for (const std::uint32_t earlier : before(receive.message)) {
      showAt(earlier, shownAt);
      addExitsOf(receive.message, earlier);
    }
  }
}

void DeliveryOrder::addOwnExits(std::uint32_t rank, const PostedReceive& receive) {
  if (isCompleted(m_execution.ranks[rank], receive)) {
    const auto completion = static_cast<std::uint32_t>(receive.completion);
    if (m_chains->several(rank)) {
      addExit(receive.message, {m_chains->at({rank, completion}), receive.post});
    } else {
      showAt(receive.message, completion);
    }
  }
  if (!m_synchronous) {
    return;  // else each send is looked at
  }
  const Message& message = m_execution.messages[receive.message];
  const RankHistory& sender = m_execution.ranks[static_cast<std::size_t>(message.send.rank)];
  const SentMessage& send = sender.sends[message.sendIndex];
  if (observedSynchronous(sender, send) &&
      (receive.post != receive.completion || m_chains->several(rank))) {
    addExit(receive.message, {m_chains->at({static_cast<std::uint32_t>(message.send.rank),
                                            static_cast<std::uint32_t>(send.syncCompletion)}),
                              receive.post});
  }
}

void DeliveryOrder::showAt(std::uint32_t message, std::uint32_t event) {
  m_deliveries[message].shownAt = std::min(m_deliveries[message].shownAt, event);
}

void DeliveryOrder::addExit(std::uint32_t message, const Exit& exit) {
  std::vector<Exit>& exits = m_exits[message];
  const auto same = std::find_if(exits.begin(), exits.end(), [&](const Exit& other) {
    return other.step.chain == exit.step.chain;
  });
  if (same == exits.end()) {
    exits.push_back(exit);
  } else if (exit.step.serial < same->step.serial) {
    *same = exit;
  }
}

/// Adds the exits of a later receive's delivery to those of an earlier one's.
void DeliveryOrder::addExitsOf(std::uint32_t later, std::uint32_t message) {
  const auto from = m_exits.find(later);
  if (from == m_exits.end()) {
    return;
  }
  const std::vector<Exit> added = from->second;
  for (const Exit& exit : added) {
    if (exit.post <= m_deliveries[message].shownAt) {
      addExit(message, exit);
    }
  }
}

}  // namespace pf
