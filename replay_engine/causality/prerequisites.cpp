// SPDX-License-Identifier: GPL-3.0-or-later
#include "replay_engine/causality/prerequisites.h"

#include <algorithm>

#include "replay_engine/execution/record_checks.h"

namespace pf {

EarlierPosts::EarlierPosts(const Execution& execution, const Chains& chains, const SendOrder& sends,
                           std::uint32_t rank)
    : m_execution(execution),
      m_history(execution.ranks[rank]),
      m_chains(chains),
      m_sends(sends),
      m_threads(chains.several(rank)) {
  const auto takesAnyTag = [](const auto& wanted) { return wanted.wantedTag == kAnyTag; };
  m_asksForAnyTag = std::ranges::any_of(m_history.receives, takesAnyTag) ||
                    std::ranges::any_of(m_history.probes, takesAnyTag);
}

std::uint32_t EarlierPosts::chainOf(std::uint32_t message) const {
  const EventRef send = m_execution.messages[message].send;
  return m_chains.of(
      {static_cast<std::uint32_t>(send.rank), static_cast<std::uint32_t>(send.serial)});
}

void EarlierPosts::advance(std::uint32_t posts, Serial begin) {
  for (; m_posts < posts && m_posts < m_history.receives.size(); ++m_posts) {
    add(m_history.receives[m_posts]);
  }
  m_begin = begin;
  if (m_openUntil < begin && !m_posted.empty()) {
    m_posted.clear();
    m_taken.clear();
  }
}

void EarlierPosts::add(const PostedReceive& receive) {
  const Envelope wanted{receive.wantedSource, receive.comm, receive.wantedTag};
  if (receive.state == ReceiveState::Cancelled) {
    if (const std::uint32_t cancel = cancelOf(receive); cancel != 0) {
      Posted& posted = m_posted[wanted];
      posted.cancel = std::max(posted.cancel, cancel);
      m_openUntil = std::max(m_openUntil, m_threads ? Serial{kNone} : Serial{cancel});
    }
    return;
  }
  if (!hasMessage(m_execution, m_history, receive) ||
      (receive.completion == receive.post && !m_threads)) {
    return;
  }
  const bool told = receive.state == ReceiveState::Complete && !m_threads;
  const Serial seen = told ? receive.completion : Serial{kNone};
  m_openUntil = std::max(m_openUntil, seen);
  Posted& posted = m_posted[wanted];
  posted.message = receive.message;
  posted.seen = seen;
  if (!m_asksForAnyTag || receive.wantedTag == kAnyTag) {
    return;
  }
  std::vector<TagStream>& streams =
      m_taken[{m_execution.messages[receive.message].send.rank, receive.comm, kAnyTag}];
  const std::uint32_t chain = chainOf(receive.message);
  auto stream = std::find_if(streams.begin(), streams.end(), [&](const TagStream& other) {
    return other.tag == receive.wantedTag && other.chain == chain;
  });
  if (stream == streams.end()) {
    stream = streams.insert(streams.end(), {receive.wantedTag, chain, {}});
  }
  stream->taken.push_back({receive.message, seen});
}

std::uint32_t EarlierPosts::cancelOf(const PostedReceive& receive) {
  listCancels();
  const auto cancel = std::upper_bound(m_cancels.begin(), m_cancels.end(), receive.post);
  const bool found = cancel != m_cancels.end() && *cancel < receive.completion;
  return found ? static_cast<std::uint32_t>(*cancel) : 0;
}

void EarlierPosts::listCancels() {
  if (m_cancelsListed) {
    return;
  }
  m_cancelsListed = true;
  for (std::size_t i = 0; i < m_history.events.size(); ++i) {
    if (isCancel(m_execution, m_history.events[i])) {
      m_cancels.push_back(i + 1);
    }
  }
}

const Prerequisites& EarlierPosts::of(std::uint32_t message, bool anyTag) {
  m_found.deliveries.clear();
  m_found.cancel = 0;
  if (m_openUntil < m_begin) {
    return m_found;
  }
  const Message& m = m_execution.messages[message];
  for (const Rank source : {m.send.rank, kAnySource}) {
    for (const Tag tag : {m.tag, kAnyTag}) {
      const auto posted = m_posted.find({source, m.comm, tag});
      if (posted == m_posted.end()) {
        continue;
      }
      if (posted->second.message != kNone && posted->second.seen >= m_begin) {
        m_found.deliveries.push_back(posted->second.message);
      }
      if (posted->second.cancel >= m_begin || (m_threads && posted->second.cancel != 0)) {
        m_found.cancel = std::max(m_found.cancel, posted->second.cancel);
      }
    }
  }
  if (anyTag) {
    addOtherTags(message);
  }
  return m_found;
}

void EarlierPosts::addOtherTags(std::uint32_t message) {
  const Message& m = m_execution.messages[message];
  const auto found = m_taken.find({m.send.rank, m.comm, kAnyTag});
  if (found == m_taken.end()) {
    return;
  }
  std::vector<TagStream>& streams = found->second;
  std::erase_if(streams,
                [&](const TagStream& stream) { return stream.taken.back().seen < m_begin; });
  for (const TagStream& stream : streams) {
    if (stream.tag == m.tag) {
      continue;
    }
    const auto last =
        std::find_if(stream.taken.rbegin(), stream.taken.rend(),
                     [&](const Taken& taken) { return m_sends.before(taken.message, message); });
    if (last != stream.taken.rend() && last->seen >= m_begin) {
      m_found.deliveries.push_back(last->message);
    }
  }
}

}  // namespace pf
