// SPDX-License-Identifier: GPL-3.0-or-later
// The part of rule 4 of races.h that goes through synchronous sends: their completion proves a
// delivery on another rank than the receiver's. Where the receiver has several threads, all of rule
// 4. Private to the analysis.
#pragma once

#include <cstdint>
#include <tuple>
#include <utility>
#include <vector>

#include "replay_engine/causality/delivery_order.h"
#include "replay_engine/causality/prerequisites.h"
#include "replay_engine/causality/vector_clocks.h"
#include "replay_engine/races/races.h"

namespace pf {

/// Collects questions, then runs the clocks once more to answer them, instead of keeping a clock
/// for every message. Most executions have none.
class SynchronousExits final : public ClockObserver {
 public:
  SynchronousExits(const Execution& execution, const Chains& chains, const DeliveryOrder& order)
      : m_execution(execution), m_chains(chains), m_order(order) {}

  /// "Is `other`'s send, or one of the prerequisites of taking it, reached from the delivery of
  /// what the receive of `race` took (from the end of the probe)?"
  void ask(const Race& race, std::uint32_t other, const Prerequisites& prerequisites);

  /// Removes from the races the alternatives that are.
  void drop(const EventGraph& graph, std::vector<Race>& races);

  void onSend(std::uint32_t message, const Knowledge& known) override;
  void onDelivery(std::uint32_t message, const Knowledge& known) override;
  void onLeave(Place place, const Knowledge& known) override;

 private:
  /// What a question waits for: a message (rank kNone), or an event.
  using Key = std::pair<std::uint32_t, std::uint32_t>;
  struct Question {
    Key key;
    std::uint32_t taken;
    std::uint32_t probe;  ///< number of the probe of the destination, kNone = a receive
    std::uint32_t other;
  };
  using Answer = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>;

  [[nodiscard]] bool isReached(const Question& question, const Knowledge& known) const;
  void answer(const std::vector<Question>& questions, Key key, const Knowledge& known);

  const Execution& m_execution;
  const Chains& m_chains;
  const DeliveryOrder& m_order;
  std::vector<Question> m_sends;
  std::vector<Question> m_deliveries;
  std::vector<Question> m_cancels;
  std::vector<Answer> m_reached;  ///< taken, probe, other
};

}  // namespace pf
