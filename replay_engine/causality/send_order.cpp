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
    const Strands& strands = m_order.m_strands;
    if (!strands.several(rank)) {
      return;
    }
    m_order.m_at[message] = m_order.m_known.size();
    for (std::uint32_t strand = strands.first(rank); strand < strands.end(rank); ++strand) {
      m_order.m_known.push_back(known.of(strand));
    }
  }
  void onDelivery(std::uint32_t /*message*/, const Knowledge& /*known*/) override {}
  void onLeave(Place /*place*/, const Knowledge& /*known*/) override {}

 private:
  SendOrder& m_order;
};

SendOrder::SendOrder(const Execution& execution, const Strands& strands)
    : m_execution(execution), m_strands(strands) {
  if (!strands.several()) {
    return;
  }
  m_at.assign(execution.messages.size(), 0);
  m_known.assign(strands.count(), 0);  // of what is never sent: nothing
  Clocks clocks(*this);
  const DeliveryOrder none(execution, NoDeliveries{});
  const EventGraph graph(execution);
  VectorClocks(execution, strands, graph, none, clocks).run();
}

bool SendOrder::before(std::uint32_t one, std::uint32_t other) const {
  const Message& first = m_execution.messages[one];
  const Message& second = m_execution.messages[other];
  const auto rank = static_cast<std::uint32_t>(first.send.rank);
  const auto place = [&](const Message& message) {
    return Place{rank, static_cast<std::uint32_t>(message.send.serial)};
  };
  if (!m_strands.several(rank)) {
    return first.sendIndex < second.sendIndex;
  }
  const std::uint32_t strand = m_strands.of(place(first));
  if (strand == m_strands.of(place(second))) {
    return first.sendIndex < second.sendIndex;
  }
  return m_known[m_at[other] + strand - m_strands.first(rank)] >= first.send.serial;
}

}  // namespace pf
