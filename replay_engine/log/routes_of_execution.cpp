// SPDX-License-Identifier: GPL-3.0-or-later
// What is traced of an execution of which everything is known.
#include <algorithm>
#include <set>

#include "replay_engine/log/shadow_routes.h"
#include "replay_engine/races/tracing.h"

namespace pf {
namespace {

class Namer {
 public:
  explicit Namer(const Execution& execution)
      : m_execution(execution), m_numbers(execution.messages.size()) {
    std::map<std::tuple<Rank, Rank, std::uint32_t, Tag>, std::uint32_t> last;
    for (std::size_t i = 0; i < execution.messages.size();
         ++i) {  // those of a sender in sending order
      const Message& message = execution.messages[i];
      m_numbers[i] = ++last[{message.send.rank, message.dest, message.comm, message.tag}];
    }
  }

  /// False: it has no name that its sender knows.
  bool name(Rank rank, std::uint32_t post, RoutedMessage& out) const {
    const RankHistory& history = m_execution.ranks[static_cast<std::size_t>(rank)];
    if (post >= history.receives.size()) {
      return false;
    }
    const PostedReceive& receive = history.receives[post];
    if (receive.message >= m_execution.messages.size() ||
        receive.comm >= m_execution.communicators.size()) {
      return false;
    }
    const Message& message = m_execution.messages[receive.message];
    const Communicator& comm = m_execution.communicators[receive.comm];
    const bool inGroup = std::ranges::find(comm.group, rank) != comm.group.end();
    const std::vector<Rank>& peers = comm.remote.empty() || !inGroup ? comm.group : comm.remote;
    const auto peer = std::ranges::find(peers, message.send.rank);
    if (peer == peers.end()) {
      return false;
    }
    out = {comm.key,
           message.send.rank,
           rank,
           message.tag,
           m_numbers[receive.message],
           post,
           static_cast<std::int32_t>(peer - peers.begin())};
    return true;
  }

 private:
  const Execution& m_execution;
  std::vector<std::uint32_t> m_numbers;  ///< in its stream, by message
};

/// Ranks that may be sent messages by other jobs: those cannot be told how to send them.
std::set<Rank> ranksOfOpenWorlds(const Execution& execution) {
  std::set<Rank> open;
  const auto unknown = [](Rank rank) { return rank < 0; };
  for (const Communicator& comm : execution.communicators) {
    if (std::ranges::any_of(comm.group, unknown) || std::ranges::any_of(comm.remote, unknown)) {
      open.insert(comm.group.begin(), comm.group.end());
      open.insert(comm.remote.begin(), comm.remote.end());
    }
  }
  return open;
}

}  // namespace

ShadowRoutes routesOf(const Execution& execution, const std::vector<bool>& which) {
  std::vector<std::optional<std::vector<std::uint32_t>>> traced(execution.ranks.size());
  for (std::size_t i = 0; i < traced.size(); ++i) {
    if (i < which.size() && which[i]) {
      traced[i].emplace();
    }
  }
  for (const TracedReceive& each :
       traceWith(TracingAlgorithm::NetzerMiller, TracingRules::Mpi, execution)) {
    if (auto& posts = traced[static_cast<std::size_t>(each.rank)]; posts && !each.probe) {
      posts->push_back(each.receive);
    }
  }
  return routesOf(execution, traced);
}

ShadowRoutes routesOf(const Execution& execution,
                      const std::vector<std::optional<std::vector<std::uint32_t>>>& traced) {
  const Namer namer(execution);
  const std::set<Rank> open = ranksOfOpenWorlds(execution);
  RouteCollation routes(execution.ranks.size());
  for (std::size_t i = 0; i < execution.ranks.size(); ++i) {
    const auto rank = static_cast<Rank>(i);
    if (i >= traced.size() || !traced[i] || open.count(rank) != 0) {
      continue;
    }
    std::vector<RoutedMessage> messages;
    const bool all = std::ranges::all_of(*traced[i], [&](std::uint32_t post) {
      return namer.name(rank, post, messages.emplace_back());
    });
    if (!all) {
      continue;
    }
    routes.force(rank);
    std::ranges::for_each(messages, [&](const RoutedMessage& message) { routes.add(message); });
    const std::set<std::uint32_t> posts(traced[i]->begin(), traced[i]->end());
    const std::vector<ProbeHit>& probes = execution.ranks[i].probes;
    for (std::uint32_t p = 0; p < probes.size(); ++p) {
      const std::uint32_t message = probes[p].message;
      if (message < execution.messages.size() &&
          posts.count(execution.messages[message].post) != 0) {
        routes.see(rank, p, execution.messages[message].post);
      }
    }
  }
  routes.sort();
  return routes.finish();
}

}  // namespace pf
