// SPDX-License-Identifier: GPL-3.0-or-later
#include "replay_engine/races/synchronous_exits.h"

#include <algorithm>

namespace pf {

void SynchronousExits::ask(const Race& race, std::uint32_t other,
                           const Prerequisites& prerequisites) {
  const std::uint32_t probe = race.probe ? race.index : kNone;
  if (!race.probe && m_order.synchronousExits(race.taken).empty()) {
    return;
  }
  m_sends.push_back({{kNone, other}, race.taken, probe, other});
  for (const std::uint32_t delivery : prerequisites.deliveries) {
    m_deliveries.push_back({{kNone, delivery}, race.taken, probe, other});
  }
  if (prerequisites.cancel != 0) {
    const auto rank = static_cast<std::uint32_t>(race.rank);
    m_cancels.push_back({{rank, prerequisites.cancel}, race.taken, probe, other});
  }
}

void SynchronousExits::drop(const EventGraph& graph, std::vector<Race>& races) {
  if (m_sends.empty()) {
    return;
  }
  for (std::vector<Question>* questions : {&m_sends, &m_deliveries, &m_cancels}) {
    std::ranges::sort(*questions, {}, &Question::key);
  }
  VectorClocks(m_execution, m_chains, graph, m_order, *this).run();
  std::ranges::sort(m_reached);
  for (Race& race : races) {
    const std::uint32_t probe = race.probe ? race.index : kNone;
    std::erase_if(race.alternatives, [&](std::uint32_t other) {
      return std::ranges::binary_search(m_reached, Answer(race.taken, probe, other));
    });
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

bool SynchronousExits::isReached(const Question& question, const Knowledge& known) const {
  if (question.probe != kNone) {
    const auto rank = static_cast<std::uint32_t>(m_execution.messages[question.taken].dest);
    const Serial event = m_execution.ranks[rank].probes[question.probe].event;
    return known.includes(m_chains.at({rank, static_cast<std::uint32_t>(event)}));
  }
  return std::ranges::any_of(
      m_order.synchronousExits(question.taken),
      [&](const DeliveryOrder::Exit& exit) { return known.includes(exit.step); });
}

void SynchronousExits::answer(const std::vector<Question>& questions, Key key,
                              const Knowledge& known) {
  auto question = std::ranges::lower_bound(questions, key, {}, &Question::key);
  for (; question != questions.end() && question->key == key; ++question) {
    if (isReached(*question, known)) {
      m_reached.emplace_back(question->taken, question->probe, question->other);
    }
  }
}

}  // namespace pf
