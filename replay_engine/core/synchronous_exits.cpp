#include "synchronous_exits.h"

#include <algorithm>

namespace pf {

void SynchronousExits::ask(std::uint32_t taken, std::uint32_t other,
                           const Prerequisites& prerequisites) {
  if (m_order.synchronousExits(taken).empty()) {
    return;
  }
  m_sends.push_back({{kNone, other}, taken, other});
  for (const std::uint32_t delivery : prerequisites.deliveries) {
    m_deliveries.push_back({{kNone, delivery}, taken, other});
  }
  if (prerequisites.cancel != 0) {
    const auto rank = static_cast<std::uint32_t>(m_execution.messages[taken].dest);
    m_cancels.push_back({{rank, prerequisites.cancel}, taken, other});
  }
}

void SynchronousExits::drop(const EventGraph& graph, std::vector<Race>& races) {
  if (m_sends.empty()) {
    return;
  }
  for (std::vector<Question>* questions : {&m_sends, &m_deliveries, &m_cancels}) {
    std::ranges::sort(*questions, {}, &Question::key);
  }
  VectorClocks(m_execution, graph, m_order, *this).run();
  std::ranges::sort(m_reached);
  for (Race& race : races) {
    if (!race.probe && !m_order.synchronousExits(race.taken).empty()) {
      std::erase_if(race.alternatives, [&](std::uint32_t other) {
        return std::ranges::binary_search(m_reached, std::pair(race.taken, other));
      });
    }
  }
  std::erase_if(races, [](const Race& race) { return race.alternatives.empty(); });
}

void SynchronousExits::onSend(std::uint32_t message, const Knowledge& known) {
  answer(m_sends, {kNone, message}, known);
}

void SynchronousExits::onDelivery(std::uint32_t message, const Knowledge& known) {
  answer(m_deliveries, {kNone, message}, known);
}

void SynchronousExits::onLeave(Place place, const Knowledge& known) {
  answer(m_cancels, {place.rank, place.serial}, known);
}

void SynchronousExits::answer(const std::vector<Question>& questions, Key key,
                              const Knowledge& known) {
  auto question = std::ranges::lower_bound(questions, key, {}, &Question::key);
  for (; question != questions.end() && question->key == key; ++question) {
    const auto exits = m_order.synchronousExits(question->taken);
    if (std::ranges::any_of(exits, [&](const DeliveryOrder::Exit& exit) {
          return known.includes({static_cast<std::uint32_t>(exit.rank), exit.serial});
        })) {
      m_reached.emplace_back(question->taken, question->other);
    }
  }
}

}  // namespace pf
