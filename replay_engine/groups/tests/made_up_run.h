// SPDX-License-Identifier: GPL-3.0-or-later
// An execution that is made up call by call, and what it logs, counted message by message as the table of traffic.h says:
// no code is shared with it.
#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "replay_engine/groups/traffic.h"

namespace pf::test {

class MadeUpRun {
 public:
  explicit MadeUpRun(std::size_t ranks) : m_sizes(ranks), m_ordinals(1) {
    execution.ranks.resize(ranks);
    Communicator world;
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      world.group.push_back(static_cast<Rank>(rank));
    }
    execution.communicators.push_back(world);
  }

  std::uint32_t communicator(std::vector<Rank> group, std::vector<Rank> remote = {}) {
    Communicator made;
    made.key = execution.communicators.size();
    made.group = std::move(group);
    made.remote = std::move(remote);
    execution.communicators.push_back(made);
    m_ordinals.emplace_back();
    return static_cast<std::uint32_t>(execution.communicators.size() - 1);
  }

  void message(Rank from, Rank to, std::uint64_t bytes, bool received = true) {
    const Serial sent = event(from, EventKind::Send, "MPI_Send");
    auto& sends = execution.ranks[index(from)].sends;
    Message made;
    made.send = EventRef{from, sent};
    made.sendIndex = static_cast<std::uint32_t>(sends.size());
    made.dest = to;
    SentMessage send;
    send.event = sent;
    send.dest = to;
    sends.push_back(send);
    m_sizes[index(from)].sent.push_back(bytes);
    if (received) {
      made.completion = event(to, EventKind::Receive, "MPI_Recv");
      pairs[{from, to}] += bytes;
    }
    execution.messages.push_back(made);
  }

  /// One part; kNoSize: it gives nothing.
  void part(Rank rank, const std::string& call, std::uint32_t comm, Rank root,
            std::uint64_t gives) {
    CollectivePart made;
    made.event = made.completion = event(rank, EventKind::Collective, call);
    made.comm = comm;
    made.ordinal = comm < m_ordinals.size() ? m_ordinals[comm][rank]++ : 0;
    made.root = root;
    execution.ranks[index(rank)].collectives.push_back(made);
    m_sizes[index(rank)].given.push_back(gives);
  }

  /// The part that this rank made last is a start of its communicator's `number`-th persistent collective, from 1.
  void isStartOf(Rank rank, std::uint32_t number) {
    m_sizes[index(rank)].started[execution.ranks[index(rank)].collectives.size() - 1] = number;
  }

  /// `gives`: of each member, those of the remote group last.
  void collective(const std::string& call, std::uint32_t comm, Rank root,
                  const std::vector<std::uint64_t>& gives) {
    const Communicator c = execution.communicators[comm];
    for (std::size_t side = 0; side < (c.remote.empty() ? 1U : 2U); ++side) {
      const std::vector<Rank>& own = side == 0 ? c.group : c.remote;
      const std::vector<Rank>& others = c.remote.empty() || side == 1 ? c.group : c.remote;
      for (std::size_t m = 0; m < own.size(); ++m) {
        const bool mine = std::ranges::find(own, root) != own.end();  // the root's own group
        const Rank said = !c.remote.empty() && mine ? kUnknownRank : root;
        const std::uint64_t bytes = gives[side * c.group.size() + m];
        part(own[m], call, comm, said, bytes);
        if (bytes != kNoSize) {
          count(call, own[m], m, own, others, root, bytes, !c.remote.empty() && mine);
        }
      }
    }
  }

  [[nodiscard]] Result<Traffic> traffic() const { return trafficOf(execution, m_sizes); }

  [[nodiscard]] std::uint64_t bytesToLog(const ReplayGroups& groups) const {
    std::uint64_t bytes = 0;
    for (const auto& [pair, each] : pairs) {
      bytes += groups.groupOf(pair.first) != groups.groupOf(pair.second) ? each : 0;
    }
    for (const Whole& whole : m_results) {
      const bool outside = std::ranges::any_of(
          whole.of, [&](Rank rank) { return groups.groupOf(rank) != groups.groupOf(whole.at); });
      bytes += outside ? whole.bytes : 0;
    }
    return bytes;
  }

  Execution execution;
  std::map<std::pair<Rank, Rank>, std::uint64_t> pairs;

 private:
  struct Whole {
    Rank at;
    std::vector<Rank> of;
    std::uint64_t bytes;
  };

  Serial event(Rank rank, EventKind kind, const std::string& call) {
    auto found = std::ranges::find(execution.callNames, call);
    if (found == execution.callNames.end()) {
      found = execution.callNames.insert(found, call);
    }
    Event made;
    made.kind = kind;
    made.call = static_cast<std::uint16_t>(found - execution.callNames.begin());
    execution.ranks[index(rank)].events.push_back(made);
    return execution.ranks[index(rank)].events.size();
  }

  void toOthers(Rank from, const std::vector<Rank>& others, std::uint64_t bytes) {
    for (const Rank to : others) {
      if (to != from) {
        pairs[{from, to}] += bytes;
      }
    }
  }

  void count(const std::string& call, Rank rank, std::size_t place, const std::vector<Rank>& own,
             const std::vector<Rank>& others, Rank root, std::uint64_t bytes, bool ofRootsGroup) {
    const auto is = [&call](const char* name) { return call.find(name) != std::string::npos; };
    const std::uint64_t peers = others.size();
    if (is("eighbor")) {
      toOthers(rank, others, bytes / (&own == &others || own == others ? peers - 1 : peers));
    } else if (is("educe_scatter")) {
      m_results.push_back({rank, others, bytes / own.size()});
    } else if (is("llreduce")) {
      m_results.push_back({rank, others, bytes});
    } else if (is("educe")) {
      if (own == others ? rank == root : !ofRootsGroup && place == 0) {
        m_results.push_back({root, own, bytes});
      }
    } else if (is("can")) {
      m_results.push_back(
          {rank, {own.begin(), own.begin() + static_cast<std::ptrdiff_t>(place)}, bytes});
    } else if (is("lltoall")) {
      toOthers(rank, others, bytes / peers);
    } else if (is("llgather")) {
      toOthers(rank, others, bytes);
    } else if (is("ather")) {
      if (rank != root) {
        pairs[{rank, root}] += bytes;
      }
    } else if (is("catter") && rank == root) {
      toOthers(rank, others, bytes / peers);
    } else if (is("cast") && rank == root) {
      toOthers(rank, others, bytes);
    }
  }

  std::vector<SizesOfRank> m_sizes;
  std::vector<std::map<Rank, std::uint32_t>> m_ordinals;  // by communicator
  std::vector<Whole> m_results;
};

/// The groups of a SPEC that is one.
inline ReplayGroups groupsOf(std::string_view spec, std::size_t ranks) {
  return *ReplayGroups::parse(spec, static_cast<std::int32_t>(ranks));
}

}  // namespace pf::test
