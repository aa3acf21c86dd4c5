// SPDX-License-Identifier: GPL-3.0-or-later
#include "replay_engine/races/tests/random_threads.h"

#include <algorithm>
#include <random>
#include <tuple>

namespace pf::oracle {
namespace {

void link(RankHistory& history, Serial before, Serial after) {
  if (before >= 1 && before < after &&
      history.events[before - 1].lane != history.events[after - 1].lane) {
    history.threadLinks.push_back({before, after});
  }
}

/// What a program has to order: a request is completed, or cancelled, after it was made.
void linkRequests(const Execution& execution, RankHistory& history) {
  for (const PostedReceive& receive : history.receives) {
    link(history, receive.post, receive.completion);
    for (Serial serial = receive.post + 1; serial <= history.events.size(); ++serial) {
      const Event& event = history.events[serial - 1];
      if (event.kind == EventKind::Local && execution.callNames[event.call] == "MPI_Cancel") {
        link(history, receive.post, serial);
        if (serial < receive.completion) {
          link(history, serial, receive.completion);
        }
      }
    }
  }
  for (const SentMessage& send : history.sends) {
    link(history, send.event, send.syncCompletion);
  }
  for (const CollectivePart& part : history.collectives) {
    link(history, part.event, part.completion);
  }
}

}  // namespace

void giveThreads(Execution& execution, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto below = [&](std::uint64_t n) { return random() % n; };
  for (RankHistory& history : execution.ranks) {
    if (below(100) < 35) {
      continue;
    }
    const std::uint64_t lanes = 2 + below(2);
    std::uint32_t lane = 0;
    for (Event& event : history.events) {
      lane = below(100) < 50 ? static_cast<std::uint32_t>(below(lanes)) : lane;
      event.lane = lane;
    }
    linkRequests(execution, history);
    const std::uint64_t percent = below(3) * 15;
    for (Serial after = 2; after <= history.events.size(); ++after) {
      if (below(100) < percent) {
        link(history, 1 + below(after - 1), after);
      }
    }
    std::sort(history.threadLinks.begin(), history.threadLinks.end(),
              [](const ThreadLink& a, const ThreadLink& b) {
                return std::tie(a.after, a.before) < std::tie(b.after, b.before);
              });
  }
}

}  // namespace pf::oracle
