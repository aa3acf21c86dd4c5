// The part of rule 4 of races.h that goes through synchronous sends: their completion proves a
// delivery on another rank than the receiver's. Private to core.
#pragma once

#include "delivery_order.h"
#include "prerequisites.h"
#include "vector_clocks.h"

#include <cstdint>
#include <utility>
#include <vector>

#include "core/races.h"

namespace pf {

/// Collects questions, then runs the clocks once more to answer them, instead of keeping a clock
/// for every message. Most executions have none.
class SynchronousExits final : public ClockObserver {
 public:
  SynchronousExits(const Execution& execution, const DeliveryOrder& order)
      : m_execution(execution), m_order(order) {}

  /// "Is `other`'s send, or one of the prerequisites of taking it, reached from the delivery of
  /// `taken`?"
  void ask(std::uint32_t taken, std::uint32_t other, const Prerequisites& prerequisites);

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
    std::uint32_t other;
  };

  void answer(const std::vector<Question>& questions, Key key, const Knowledge& known);

  const Execution& m_execution;
  const DeliveryOrder& m_order;
  std::vector<Question> m_sends;
  std::vector<Question> m_deliveries;
  std::vector<Question> m_cancels;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> m_reached;  ///< taken, other
};

}  // namespace pf
