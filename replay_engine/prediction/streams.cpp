// SPDX-License-Identifier: GPL-3.0-or-later
#include "replay_engine/prediction/streams.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace pf::prediction {
namespace {

void listStreams(const ProgramModel& model, Streams& made) {
  std::map<std::tuple<Rank, Rank, std::uint32_t, Tag>, std::uint32_t> known;
  for (std::uint32_t number = 0; number < model.messages.size(); ++number) {
    const ModelMessage& message = model.messages[number];
    const auto [found, isNew] =
        known.try_emplace({message.dest, message.source, message.comm, message.tag},
                          static_cast<std::uint32_t>(made.streams.size()));
    if (isNew) {
      made.streams.emplace_back();
    }
    made.streams[found->second].push_back(number);
    made.streamOf.push_back(found->second);
  }
}

void listClasses(const ProgramModel& model, Streams& made) {
  std::map<std::tuple<Rank, std::uint32_t, Rank, Tag>, std::uint32_t> known;
  for (std::uint32_t number = 0; number < model.receives.size(); ++number) {
    const ModelReceive& receive = model.receives[number];
    const auto [found, isNew] =
        known.try_emplace({receive.rank, receive.comm, receive.source, receive.tag},
                          static_cast<std::uint32_t>(made.classes.size()));
    if (isNew) {
      ReceiveClass& one = made.classes.emplace_back();
      for (std::uint32_t stream = 0; stream < made.streams.size(); ++stream) {
        if (accepts(receive, model.messages[made.streams[stream].front()])) {
          one.streams.push_back(stream);
        }
      }
    }
    made.classes[found->second].receives.push_back(number);
  }
}

bool share(const ReceiveClass& a, const ReceiveClass& b) {
  return std::ranges::any_of(a.streams, [&](std::uint32_t stream) {
    return std::ranges::binary_search(b.streams, stream);
  });
}

void countRivals(Streams& made) {
  for (ReceiveClass& one : made.classes) {
    one.rivals.assign(one.receives.size(), 0);
    for (const ReceiveClass& other : made.classes) {
      if (!share(one, other)) {
        continue;
      }
      for (std::size_t i = 0; i < one.receives.size(); ++i) {
        one.rivals[i] += static_cast<std::uint32_t>(
            std::ranges::lower_bound(other.receives, one.receives[i]) - other.receives.begin());
      }
    }
  }
}

void listGroups(const ProgramModel& model, Streams& made) {
  std::map<std::pair<Rank, std::uint32_t>, ReceiveGroup> groups;
  for (std::uint32_t number = 0; number < model.receives.size(); ++number) {
    const ModelReceive& receive = model.receives[number];
    groups[{receive.rank, receive.comm}].receives.push_back(number);
  }
  for (std::uint32_t stream = 0; stream < made.streams.size(); ++stream) {
    const ModelMessage& first = model.messages[made.streams[stream].front()];
    if (const auto found = groups.find({first.dest, first.comm}); found != groups.end()) {
      found->second.streams.push_back(stream);
    }
  }
  std::map<std::pair<Rank, std::uint32_t>, std::size_t> classes;
  for (const ReceiveClass& one : made.classes) {
    const ModelReceive& receive = model.receives[one.receives.front()];
    ++classes[{receive.rank, receive.comm}];
  }
  for (auto& [key, group] : groups) {
    if (classes[key] > 1 && !group.streams.empty()) {
      made.groups.push_back(std::move(group));
    }
  }
}

}  // namespace

Streams streamsOf(const ProgramModel& model) {
  Streams made;
  listStreams(model, made);
  listClasses(model, made);
  countRivals(made);
  listGroups(model, made);
  return made;
}

}  // namespace pf::prediction
