// SPDX-License-Identifier: GPL-3.0-or-later
#include "replay_engine/causality/send_order.h"

#include "replay_engine/causality/vector_clocks.h"

namespace pf {

/// Keeps what is known of the sender's own threads where they send.
class SendOrder::Clocks final : public ClockObserver {
 public:
  explicit Clocks(SendOrder& order) : m_order(order) {}

  void onSend(std::uint32_t message, const Knowledge& known) override {
    const auto rank = static_cast<std::uint32_t>(m_order.m_execution.messages[message].send.rank);
    const Chains& chains = m_order.m_chains;
    if (!chains.several(rank)) {
      return;
    }
    m_order.m_at[message] = m_order.m_known.size();
    for (std::uint32_t chain = chains.first(rank); chain < chains.end(rank); ++chain) {
      m_order.m_known.push_back(known.of(chain));
    }
  }
  void onDelivery(std::uint32_t /*message*/, const Knowledge& /*known*/) override {}
  void onLeave(Place /*place*/, const Knowledge& /*known*/) override {}

 private:
  SendOrder& m_order;
};

SendOrder::SendOrder(const Execution& execution, const Chains& chains)
    : m_execution(execution), m_chains(chains) {
  if (!chains.several()) {
    return;
  }
  m_at.assign(execution.messages.size(), 0);
  m_known.assign(chains.count(), 0);  // of what is never sent: nothing
  Clocks clocks(*this);
  const DeliveryOrder none(execution, NoDeliveries{});
  const EventGraph graph(execution);
  VectorClocks(execution, chains, graph, none, clocks).run();
}

bool SendOrder::before(std::uint32_t one, std::uint32_t other) const {
  const Message& first = m_execution.messages[one];
  const Message& second = m_execution.messages[other];
  const auto rank = static_cast<std::uint32_t>(first.send.rank);
  const auto place = [&](const Message& message) {
    return Place{rank, static_cast<std::uint32_t>(message.send.serial)};
  };
  if (!m_chains.several(rank)) {
    return first.sendIndex < second.sendIndex;
  }
  const std::uint32_t chain = m_chains.of(place(first));
  if (chain == m_chains.of(place(second))) {
    return first.sendIndex < second.sendIndex;
  }
  return m_known[m_at[other] + chain - m_chains.first(rank)] >= first.send.serial;
}

}  // namespace pf
