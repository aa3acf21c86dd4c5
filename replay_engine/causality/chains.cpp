// SPDX-License-Identifier: GPL-3.0-or-later
#include "replay_engine/causality/chains.h"

#include <algorithm>
#include <iterator>
#include <unordered_map>
#include <utility>

namespace pf {
namespace {

bool hasThreads(const RankHistory& history) {
  return std::ranges::any_of(history.events, [](const Event& event) { return event.lane != 0; });
}

/// What a damaged record may hold and no execution.
std::vector<ThreadLink> validLinks(const RankHistory& history) {
  std::vector<ThreadLink> links;
  std::ranges::copy_if(history.threadLinks, std::back_inserter(links), [&](const ThreadLink& link) {
    return link.before >= 1 && link.before < link.after && link.after <= history.events.size();
  });
  std::ranges::stable_sort(links, {}, &ThreadLink::after);
  return links;
}

std::span<const ThreadLink> linksOf(const std::vector<ThreadLink>& links, Serial serial) {
  const auto begin = std::ranges::lower_bound(links, serial, {}, &ThreadLink::after);
  const auto end = std::ranges::upper_bound(links, serial, {}, &ThreadLink::after);
  return {begin, end};
}

}  // namespace

Chains::Chains(const Execution& execution) {
  m_first.push_back(0);
  for (std::size_t rank = 0; rank < execution.ranks.size(); ++rank) {
    std::uint32_t count = 1;
    if (hasThreads(execution.ranks[rank])) {
      RankChains found = chainsOf(execution.ranks[rank], count);
      if (count > 1) {
        m_ranks.resize(execution.ranks.size());
        m_ranks[rank] = std::move(found);
      }
    }
    m_first.push_back(m_first.back() + count);
  }
}

Chains::Chains(std::size_t ranks) {
  for (std::uint32_t rank = 0; rank <= ranks; ++rank) {
    m_first.push_back(rank);
  }
}

/// A thread goes on with the chain of one that had ended when it began, as far as the links say.
Chains::RankChains Chains::chainsOf(const RankHistory& history, std::uint32_t& count) {
  RankChains found;
  found.links = validLinks(history);
  const std::size_t events = history.events.size();
  found.chain.resize(events);
  found.previous.resize(events);
  found.uses.assign(events, 0);
  std::unordered_map<std::uint32_t, Serial> lastOfLane;
  for (Serial serial = 1; serial <= events; ++serial) {
    lastOfLane[history.events[serial - 1].lane] = serial;
  }
  std::unordered_map<std::uint32_t, std::uint32_t> strandOfLane;
  std::vector<std::uint32_t> last;  // by chain
  for (std::uint32_t serial = 1; serial <= events; ++serial) {
    const std::span<const ThreadLink> links = linksOf(found.links, serial);
    const auto [chain, isNew] = strandOfLane.try_emplace(history.events[serial - 1].lane, 0);
    if (isNew) {
      const auto ended = std::ranges::find_if(links, [&](const ThreadLink& link) {
        return lastOfLane[history.events[link.before - 1].lane] == link.before &&
               last[found.chain[link.before - 1]] == link.before;
      });
      chain->second = ended != links.end() ? found.chain[ended->before - 1]
                                           : static_cast<std::uint32_t>(last.size());
      last.resize(std::max<std::size_t>(last.size(), chain->second + 1U), 0);
    }
    found.chain[serial - 1] = chain->second;
    found.previous[serial - 1] = last[chain->second];
    last[chain->second] = serial;
    for (const ThreadLink& link : links) {
      ++found.uses[link.before - 1];
    }
  }
  count = std::max<std::uint32_t>(1, static_cast<std::uint32_t>(last.size()));
  return found;
}

std::span<const ThreadLink> Chains::linksTo(Place place) const {
  if (!several(place.rank)) {
    return {};
  }
  return linksOf(m_ranks[place.rank].links, place.serial);
}

}  // namespace pf
