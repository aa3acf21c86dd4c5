// SPDX-License-Identifier: GPL-3.0-or-later
#include "replay_engine/prediction/matching_order.h"

#include <algorithm>

namespace pf::prediction {

MatchingOrder::MatchingOrder(const ProgramModel& model) : m_model(model) {
  listMessages();
  listReceives();
  for (const ModelProbe& probe : model.probes) {
    const auto after = std::find_if(
        model.receives.begin(), model.receives.end(), [&](const ModelReceive& receive) {
          return receive.rank > probe.rank ||
                 (receive.rank == probe.rank && receive.number >= probe.postsBefore);
        });
    m_limits.push_back(static_cast<std::uint32_t>(after - model.receives.begin()));
  }
}

void MatchingOrder::listMessages() {
  std::map<std::tuple<Rank, Rank, std::uint32_t>, std::map<Tag, std::uint32_t>> last;
  m_before.resize(m_model.messages.size());
  m_beforeSameTag.resize(m_model.messages.size());
  for (std::uint32_t number = 0; number < m_model.messages.size(); ++number) {
    const ModelMessage& message = m_model.messages[number];
    std::map<Tag, std::uint32_t>& tags = last[{message.source, message.dest, message.comm}];
    for (const auto& [tag, before] : tags) {
      m_before[number].push_back(before);
      if (tag == message.tag) {
        m_beforeSameTag[number].push_back(before);
      }
    }
    tags[message.tag] = number;
  }
}

void MatchingOrder::listReceives() {
  m_sameBefore.assign(m_model.receives.size(), kNone);
  for (std::uint32_t number = 0; number < m_model.receives.size(); ++number) {
    const ModelReceive& receive = m_model.receives[number];
    std::vector<std::uint32_t>& same =
        m_receives[{receive.rank, receive.comm, receive.source, receive.tag}];
    if (!same.empty()) {
      m_sameBefore[number] = same.back();
    }
    same.push_back(number);
  }
}

std::vector<std::uint32_t> MatchingOrder::receivesBefore(std::uint32_t message, std::uint32_t limit,
                                                         Serial begin) const {
  const ModelMessage& sent = m_model.messages[message];
  std::vector<std::uint32_t> found;
  for (const Rank source : {sent.source, kAnySource}) {
    for (const Tag tag : {sent.tag, kAnyTag}) {
      const auto same = m_receives.find({sent.dest, sent.comm, source, tag});
      if (same == m_receives.end()) {
        continue;
      }
      const auto after = std::lower_bound(same->second.begin(), same->second.end(), limit);
      if (after == same->second.begin()) {
        continue;
      }
      const std::uint32_t last = *(after - 1);
      const Serial waitedBy = m_model.receives[last].waitedBy;
      if (waitedBy == 0 || waitedBy >= begin) {
        found.push_back(last);
      }
    }
  }
  return found;
}

}  // namespace pf::prediction
