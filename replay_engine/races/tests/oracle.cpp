// SPDX-License-Identifier: GPL-3.0-or-later
#include "replay_engine/races/tests/oracle.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "replay_engine/races/tests/oracle_model.h"

namespace pf::oracle {
namespace {

using Visit = std::function<void(const Frontier&, const Flags&)>;

/// Every frontier that can be reached from here, each once, but no more than `most`.
void visitFrontiers(const Model& model, const Frontier& frontier, Flags delivered,
                    std::set<Frontier>& seen, const Visit& visit, std::size_t most = SIZE_MAX) {
  if (seen.size() >= most || !seen.insert(frontier).second) {
    return;
  }
  model.deliver(frontier, delivered);
  visit(frontier, delivered);
  for (std::size_t thread = 0; thread < frontier.size(); ++thread) {
    if (model.canFinish(frontier, delivered, thread)) {
      Frontier next = frontier;
      ++next[thread];
      visitFrontiers(model, next, delivered, seen, visit, most);
    }
  }
}

/// The largest frontier, found by running until nothing moves.
void visitLargest(const Model& model, const Visit& visit) {
  Frontier frontier = model.nothingDone();
  Flags delivered = model.nothingDelivered();
  bool moved = true;
  while (moved) {
    moved = false;
    model.deliver(frontier, delivered);
    for (std::size_t thread = 0; thread < frontier.size(); ++thread) {
      while (model.canFinish(frontier, delivered, thread)) {
        ++frontier[thread];
        moved = true;
        model.deliver(frontier, delivered);
      }
    }
  }
  visit(frontier, delivered);
}

std::optional<Race> makeRace(const Execution& execution, const Chooser& chooser,
                             const std::set<std::uint32_t>& found) {
  if (found.empty()) {
    return std::nullopt;
  }
  Race race{
      chooser.rank, chooser.probe, chooser.index, chooser.message, {found.begin(), found.end()}};
  std::sort(race.alternatives.begin(), race.alternatives.end(),
            [&](std::uint32_t a, std::uint32_t b) {
              const Message& x = execution.messages[a];
              const Message& y = execution.messages[b];
              return std::tie(x.send.rank, x.sendIndex) < std::tie(y.send.rank, y.sendIndex);
            });
  return race;
}

/// Adds what the chooser could accept at this frontier, if its own message is sent or about to be.
/// Non-overtaking makes alternatives of the same source impossible; only a record that is cut short
/// can seem to show one (its true receive is not recorded), which the source check drops.
void addAlternatives(const Execution& execution, const Model& model, const Chooser& chooser,
                     const Frontier& frontier, const Flags& delivered,
                     std::set<std::uint32_t>& found) {
  const Message& taken = execution.messages[chooser.message];
  if (!model.begun(frontier, chooser.rank, chooser.begins) ||
      !model.begun(frontier, taken.send.rank, taken.send.serial)) {
    return;
  }
  for (std::uint32_t m = 0; m < execution.messages.size(); ++m) {
    const Message& candidate = execution.messages[m];
    const bool other = candidate.send.rank != taken.send.rank || model.atOnce(m, chooser.message);
    if (m != chooser.message && other &&
        model.couldAccept(frontier, model.leftFor(chooser, delivered), chooser, m)) {
      found.insert(m);
    }
  }
}

using Search = std::function<std::set<std::uint32_t>(Model&, const Chooser&)>;

std::vector<Race> racesOfAll(const Execution& execution, const Search& search) {
  Model model(execution);
  std::vector<Race> races;
  for (std::size_t rank = 0; rank < execution.ranks.size(); ++rank) {
    for (const auto* choosers : {&model.receives()[rank], &model.probes()[rank]}) {
      for (const Chooser& chooser : *choosers) {
        if (chooser.message == kNone) {
          continue;
        }
        if (auto race = makeRace(execution, chooser, search(model, chooser))) {
          races.push_back(std::move(*race));
        }
      }
    }
  }
  return races;
}

}  // namespace

std::vector<Race> oracleRaces(const Execution& execution) {
  return racesOfAll(execution, [&](Model& model, const Chooser& chooser) {
    std::set<std::uint32_t> found;
    std::set<Frontier> seen;
    model.hold(&chooser);
    visitFrontiers(model, model.nothingDone(), model.nothingDelivered(), seen,
                   [&](const Frontier& frontier, const Flags& delivered) {
                     addAlternatives(execution, model, chooser, frontier, delivered, found);
                   });
    return found;
  });
}

std::vector<Race> largestFrontierRaces(const Execution& execution) {
  return racesOfAll(execution, [&](Model& model, const Chooser& chooser) {
    std::set<std::uint32_t> found;
    if (chooser.wantedSource != kAnySource && !model.hasThreads(chooser.wantedSource)) {
      return found;
    }
    model.hold(&chooser);
    visitLargest(model, [&](const Frontier& frontier, const Flags& delivered) {
      addAlternatives(execution, model, chooser, frontier, delivered, found);
    });
    return found;
  });
}

std::string explain(const Execution& execution, Rank rank, bool probe, std::uint32_t index,
                    std::uint32_t message) {
  Model model(execution);
  const Chooser& chooser = (probe ? model.probes() : model.receives())[at(rank)][index];
  const Message& candidate = execution.messages[message];
  if (chooser.message == kNone || !acceptsEnvelope(chooser, candidate)) {
    return "its envelope does not fit, or the receive took no message of the record";
  }
  if (candidate.send.rank == execution.messages[chooser.message].send.rank &&
      !model.atOnce(message, chooser.message)) {
    return "same source as the message taken";
  }
  std::string answer;
  model.hold(&chooser);
  visitLargest(model, [&](const Frontier& frontier, const Flags& delivered) {
    if (!model.begun(frontier, candidate.send.rank, candidate.send.serial)) {
      answer = "it cannot be sent before the delivery that it would replace";
    } else if (delivered[message]) {
      answer = "an earlier posted receive took it";
    } else if (model.firstInTheWay(delivered, chooser, message) != kNone) {
      answer = "an earlier message of its source comes first";
    } else if (model.earlierReceiveWaits(frontier, delivered, chooser, candidate)) {
      answer = "an earlier posted receive waits for it";
    } else {
      answer = model.couldAccept(frontier, delivered, chooser, message)
                   ? "an alternative"
                   : "the receive is never posted";
    }
  });
  return answer;
}

namespace {

/// A pending receive by source and tag from which a later receive, or probe, would not have got its
/// message. One that may have been cancelled is none.
bool mustHaveTaken(const Execution& execution, const RankHistory& history, std::uint32_t post) {
  const PostedReceive& pending = history.receives[post];
  const auto sameStream = [&](const auto& later) {
    return later.comm == pending.comm && later.source == pending.wantedSource &&
           later.tag == pending.wantedTag;
  };
  if (pending.state != ReceiveState::Pending || pending.completion != 0 ||
      pending.wantedSource == kAnySource || pending.wantedTag == kAnyTag) {
    return false;
  }
  for (Serial serial = pending.post + 1; serial <= history.events.size(); ++serial) {
    const Event& event = history.events[serial - 1];
    if (event.kind == EventKind::Local && event.call < execution.callNames.size() &&
        execution.callNames[event.call] == "MPI_Cancel") {
      return false;
    }
  }
  return std::any_of(history.receives.begin() + post, history.receives.end(),
                     [&](const PostedReceive& later) {
                       return later.state == ReceiveState::Complete && sameStream(later);
                     }) ||
         std::any_of(history.probes.begin(), history.probes.end(), [&](const ProbeHit& probe) {
           return probe.postsBefore > post && sameStream(probe);
         });
}

}  // namespace

void oracleMatch(Execution& execution) {
  execution.messages.clear();
  for (std::size_t rank = 0; rank < execution.ranks.size(); ++rank) {
    const auto sender = static_cast<Rank>(rank);
    for (const SentMessage& sent : execution.ranks[rank].sends) {
      const auto index = static_cast<std::uint32_t>(&sent - execution.ranks[rank].sends.data());
      execution.messages.push_back(
          {{sender, sent.event}, index, sent.dest, sent.comm, sent.tag, kNone, 0});
    }
  }
  for (std::size_t rank = 0; rank < execution.ranks.size(); ++rank) {
    RankHistory& history = execution.ranks[rank];
    // The first message of this envelope that none of the first `posts` receives has taken.
    const auto firstLeft = [&](Rank source, Tag tag, std::uint32_t comm, std::uint32_t posts) {
      for (std::uint32_t m = 0; m < execution.messages.size(); ++m) {
        const Message& message = execution.messages[m];
        if (message.send.rank == source && message.dest == static_cast<Rank>(rank) &&
            message.tag == tag && message.comm == comm &&
            (message.post == kNone || message.post >= posts)) {
          return m;
        }
      }
      return kNone;
    };
    for (std::uint32_t post = 0; post < history.receives.size(); ++post) {
      PostedReceive& receive = history.receives[post];
      receive.message = kNone;
      if (receive.state == ReceiveState::Complete) {
        receive.message = firstLeft(receive.source, receive.tag, receive.comm, post);
      } else if (mustHaveTaken(execution, history, post)) {
        receive.message = firstLeft(receive.wantedSource, receive.wantedTag, receive.comm, post);
      }
      if (receive.message != kNone) {
        execution.messages[receive.message].post = post;
        execution.messages[receive.message].completion = receive.completion;
      }
    }
    for (ProbeHit& probe : history.probes) {
      probe.message = firstLeft(probe.source, probe.tag, probe.comm, probe.postsBefore);
    }
  }
}

bool decided(const Execution& execution) {
  const Model model(execution);
  for (const auto& receives : model.receives()) {
    for (const Chooser& receive : receives) {
      const PostedReceive& posted = execution.ranks[at(receive.rank)].receives[receive.index];
      const bool pending = posted.state == ReceiveState::Pending && posted.message == kNone;
      for (const Message& message : execution.messages) {
        if (pending && acceptsEnvelope(receive, message) && message.post >= receive.index) {
          return false;
        }
      }
    }
  }
  return true;
}

std::vector<EventRef> unreachableEvents(const Execution& execution) {
  const Model model(execution);
  std::vector<EventRef> missing;
  visitLargest(model, [&](const Frontier& frontier, const Flags&) {
    for (std::size_t rank = 0; rank < execution.ranks.size(); ++rank) {
      for (Serial serial = 1; serial <= execution.ranks[rank].events.size(); ++serial) {
        if (!model.finished(frontier, static_cast<Rank>(rank), serial)) {
          missing.push_back({static_cast<Rank>(rank), serial});
        }
      }
    }
  });
  return missing;
}

std::size_t countFrontiers(const Execution& execution, std::size_t most) {
  const Model model(execution);
  std::set<Frontier> seen;
  visitFrontiers(
      model, model.nothingDone(), model.nothingDelivered(), seen,
      [](const Frontier&, const Flags&) {}, most);
  return seen.size();
}

}  // namespace pf::oracle
