// SPDX-License-Identifier: GPL-3.0-or-later
#include "replay_engine/rank/tests/shadow_replay.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <tuple>

#include "replay_engine/log/shadow_routes.h"

namespace pf::test {
namespace {

/// Communicator as the log numbers it, rank in it, tag.
using Stream = std::tuple<std::uint32_t, int, int>;
/// The posts that took a stream's messages, in their order.
using Takers = std::map<Stream, std::vector<std::uint32_t>>;

/// The log has MPI_COMM_SELF behind MPI_COMM_WORLD, and then those that the program makes.
std::uint32_t commInLog(int ofScript) {
  return ofScript == fake::kWorld ? 0 : static_cast<std::uint32_t>(ofScript) + 1;
}

Stream streamIn(const RankLog& log, std::uint32_t comm, Rank world, Tag tag) {
  const std::vector<Rank>& members = log.communicators.at(comm).members;
  const auto at = std::find(members.begin(), members.end(), world);
  return {comm, static_cast<int>(at - members.begin()), tag};
}

/// Receives of one stream take its messages in the order in which they were posted.
Takers takersIn(const RankLog& log) {
  Takers takers;
  std::uint32_t post = 0;
  for (const PostedReceive& receive : log.history.receives) {
    if (receive.state == ReceiveState::Complete) {
      takers[streamIn(log, receive.comm, receive.source, receive.tag)].push_back(post);
    }
    ++post;
  }
  return takers;
}

void addReceives(RouteCollation& routes, const RankLog& log, const Takers& takers) {
  for (const auto& [stream, posts] : takers) {
    const auto& [comm, source, tag] = stream;
    const LoggedCommunicator& known = log.communicators.at(comm);
    std::uint32_t number = 0;
    for (const std::uint32_t post : posts) {
      routes.add({known.key, known.members.at(static_cast<std::size_t>(source)), 0, tag, ++number,
                  post, source});
    }
  }
}

/// A probe saw the first message of its stream that had not been received.
void addProbes(RouteCollation& routes, const RankLog& log, const Takers& takers) {
  std::uint32_t number = 0;
  for (const ProbeHit& hit : log.history.probes) {
    const auto found = takers.find(streamIn(log, hit.comm, hit.source, hit.tag));
    if (found != takers.end()) {
      const auto taker =
          std::lower_bound(found->second.begin(), found->second.end(), hit.postsBefore);
      if (taker != found->second.end()) {
        routes.see(0, number, *taker);
      }
    }
    ++number;
  }
}

}  // namespace

ShadowReplay taggedReplay(const RankRun& recorded, const fake::Script& script) {
  const RankLog log = logOf(recorded);
  const Takers takers = takersIn(log);
  RouteCollation routes(static_cast<std::size_t>(log.size));
  routes.force(0);
  addReceives(routes, log, takers);
  routes.sort();
  addProbes(routes, log, takers);
  const ShadowRoutes all = routes.finish();

  ShadowReplay replay{compileSchedule(log, &all.ranks[0], all.lastPost), script};
  const auto range = static_cast<std::uint32_t>(script.highestTag + 1);
  std::map<Stream, std::size_t> sent;
  for (fake::Arrival& message : replay.script.arrivals) {
    const Stream stream{commInLog(message.comm), message.source, message.tag};
    const std::size_t number = sent[stream]++;
    const auto found = takers.find(stream);
    if (found != takers.end() && number < found->second.size()) {
      const std::uint32_t post = found->second[number];
      message.source =
          log.communicators[std::get<0>(stream)].members[static_cast<std::size_t>(message.source)];
      message.tag = static_cast<int>(post % range);
      message.comm = fake::shadow(static_cast<int>(post / range));
    }
  }
  return replay;
}

}  // namespace pf::test
