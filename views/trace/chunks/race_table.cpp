// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/trace/chunks/race_table.h"

#include <algorithm>
#include <functional>

namespace pf::views {

RaceTable::RaceTable(const std::vector<Race>& races) {
  for (const Race& race : races) {
    push_back(race);
  }
  finish();
}

void RaceTable::push_back(const Race& race) {
  RaceFacts facts;
  facts.rank = race.rank;
  facts.probe = race.probe;
  facts.index = race.index;
  facts.taken = race.taken;
  facts.alternatives = race.alternatives;
  add(facts);
}

/// Of the race that comes next.
template <typename T, typename V>
void RaceTable::put(std::vector<T>& column, std::optional<V> value) {
  if (column.size() != size()) {
    return;
  }
  if (value) {
    column.push_back(static_cast<T>(*value));
  } else {
    column.clear();
  }
}

void RaceTable::add(const RaceFacts& race) {
  const std::optional<RacePlace>& place = race.place;
  const std::optional<TakenMessage>& message = race.message;
  const auto of = [](const auto& from, auto member) {
    return from ? std::optional((*from).*member) : std::nullopt;
  };
  put(m_chosen, of(place, &RacePlace::chosen));
  put(m_observed, of(place, &RacePlace::observed));
  put(m_chosenStep, of(place, &RacePlace::chosenStep));
  put(m_observedStep, of(place, &RacePlace::observedStep));
  put(m_sent, of(message, &TakenMessage::serial));
  put(m_tag, of(message, &TakenMessage::tag));
  put(m_class, race.raceClass == kNone ? std::nullopt : std::optional(race.raceClass));
  if (empty() || m_rankOfRun.back() != race.rank) {
    m_firstOfRun.push_back(static_cast<std::uint32_t>(size()));
    m_rankOfRun.push_back(race.rank);
  }
  addAlternatives(size(), race.alternatives);
  m_probe.push_back(race.probe);
  m_taken.push_back(race.taken);
  m_index.push_back(race.index);
}

void RaceTable::addAlternatives(std::size_t race, std::span<const std::uint32_t> messages) {
  const std::size_t within = race % kBlock;
  if (within == 0) {
    m_firstOfBlock.push_back(static_cast<std::uint32_t>(m_messages.size()));
    m_open.clear();
  }
  if (!std::is_sorted(messages.begin(), messages.end(), std::less_equal<>())) {
    m_odd[race].assign(messages.begin(), messages.end());
    m_open.clear();
    return;
  }
  m_next.clear();
  auto open = m_open.begin();
  for (const std::uint32_t message : messages) {
    while (open != m_open.end() && open->message < message) {
      ++open;
    }
    if (open != m_open.end() && open->message == message) {
      ++m_count[open->span];
      m_next.push_back(*open);
    } else {
      m_next.push_back({message, m_messages.size()});
      m_messages.push_back(message);
      m_first.push_back(static_cast<std::uint8_t>(within));
      m_count.push_back(1);
    }
  }
  m_open.swap(m_next);
}

void RaceTable::finish() {
  const auto trim = [](auto&... columns) { (columns.shrink_to_fit(), ...); };
  trim(m_index, m_probe, m_taken, m_firstOfBlock, m_messages, m_first, m_count, m_chosen,
       m_observed, m_chosenStep, m_observedStep, m_sent, m_tag, m_class);
}

std::size_t RaceTable::bytes() const {
  const auto sum = [](const auto&... columns) {
    return (std::size_t{0} + ... + (columns.capacity() * sizeof(columns[0])));
  };
  return m_probe.capacity() / 8 + sum(m_firstOfRun, m_rankOfRun, m_index, m_taken, m_firstOfBlock,
                                      m_messages, m_first, m_count, m_chosen, m_observed,
                                      m_chosenStep, m_observedStep, m_sent, m_tag, m_class);
}

Race RaceTable::operator[](std::size_t race) const {
  Race out{rank(race), isProbe(race), index(race), taken(race), {}};
  if (const auto* odd = oddAlternatives(race)) {
    out.alternatives = *odd;
    return out;
  }
  const Spans spans = block(race / kBlock);
  const std::size_t within = race % kBlock;
  for (std::size_t i = 0; i < spans.messages.size() && spans.first[i] <= within; ++i) {
    if (within < std::size_t{spans.first[i]} + spans.count[i]) {
      out.alternatives.push_back(spans.messages[i]);
    }
  }
  std::sort(out.alternatives.begin(), out.alternatives.end());
  return out;
}

std::vector<Race> RaceTable::list() const {
  std::vector<Race> races;
  races.reserve(size());
  for (std::size_t race = 0; race < size(); ++race) {
    races.push_back((*this)[race]);
  }
  return races;
}

Rank RaceTable::rank(std::size_t race) const {
  const auto after = std::upper_bound(m_firstOfRun.begin(), m_firstOfRun.end(), race);
  return m_rankOfRun[static_cast<std::size_t>(after - m_firstOfRun.begin()) - 1];
}

std::size_t RaceTable::alternatives(std::size_t race) const {
  if (const auto* odd = oddAlternatives(race)) {
    return odd->size();
  }
  const Spans spans = block(race / kBlock);
  const std::size_t within = race % kBlock;
  std::size_t n = 0;
  for (std::size_t i = 0; i < spans.messages.size() && spans.first[i] <= within; ++i) {
    n += within < std::size_t{spans.first[i]} + spans.count[i] ? 1U : 0U;
  }
  return n;
}

RaceTable::Spans RaceTable::block(std::size_t number) const {
  const std::size_t first = m_firstOfBlock[number];
  const std::size_t last =
      number + 1 < m_firstOfBlock.size() ? m_firstOfBlock[number + 1] : m_messages.size();
  return {std::span(m_messages).subspan(first, last - first),
          std::span(m_first).subspan(first, last - first),
          std::span(m_count).subspan(first, last - first)};
}

const std::vector<std::uint32_t>* RaceTable::oddAlternatives(std::size_t race) const {
  const auto found = m_odd.empty() ? m_odd.end() : m_odd.find(race);
  return found == m_odd.end() ? nullptr : &found->second;
}

}  // namespace pf::views
