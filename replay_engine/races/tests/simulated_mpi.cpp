// SPDX-License-Identifier: GPL-3.0-or-later
#include "replay_engine/races/tests/simulated_mpi.h"

#include <algorithm>
#include <utility>

namespace pf::oracle {

SimulatedMpi::SimulatedMpi(std::size_t ranks, std::vector<Communicator> communicators)
    : m_processes(ranks), m_takers(ranks) {
  m_execution.ranks.resize(ranks);
  m_execution.communicators = std::move(communicators);
}

void SimulatedMpi::begin(Rank rank, EventKind kind, const char* name) {
  auto& names = m_execution.callNames;
  const auto found = std::find(names.begin(), names.end(), name);
  Event event;
  event.kind = kind;
  event.call = static_cast<std::uint16_t>(found - names.begin());
  if (found == names.end()) {
    names.emplace_back(name);
  }
  history(rank).events.push_back(event);
  process(rank).inEvent = true;
}

std::uint32_t SimulatedMpi::send(Rank rank, Rank dest, Tag tag, std::uint32_t comm,
                                 bool synchronous) {
  const auto index = static_cast<std::uint32_t>(history(rank).sends.size());
  SentMessage sent;
  sent.event = history(rank).events.size();
  sent.comm = comm;
  sent.dest = dest;
  sent.tag = tag;
  sent.synchronous = synchronous;
  history(rank).sends.push_back(sent);
  m_takers[static_cast<std::size_t>(rank)].push_back(kNone);
  m_network[{rank, dest, comm}].push_back({rank, index, dest, comm, tag});
  return index;
}

std::uint32_t SimulatedMpi::post(Rank rank, Rank source, Tag tag, std::uint32_t comm) {
  Process& p = process(rank);
  const auto index = static_cast<std::uint32_t>(history(rank).receives.size());
  PostedReceive receive;
  receive.post = history(rank).events.size();
  receive.comm = comm;
  receive.wantedSource = source;
  receive.wantedTag = tag;
  history(rank).receives.push_back(receive);
  p.got.emplace_back();
  const auto match = std::find_if(p.unexpected.begin(), p.unexpected.end(),
                                  [&](const Packet& packet) { return accepts(receive, packet); });
  if (match == p.unexpected.end()) {
    p.posted.push_back(index);
  } else {
    take(rank, index, *match);
    p.unexpected.erase(match);
  }
  return index;
}

void SimulatedMpi::probe(Rank rank, Rank source, Tag tag, std::uint32_t comm) {
  ProbeHit probe;
  probe.event = history(rank).events.size();
  probe.comm = comm;
  probe.wantedSource = source;
  probe.wantedTag = tag;
  probe.postsBefore = static_cast<std::uint32_t>(history(rank).receives.size());
  process(rank).probes = static_cast<std::uint32_t>(history(rank).probes.size());
  history(rank).probes.push_back(probe);
}

void SimulatedMpi::enter(Rank rank, CollectivePart part) {
  part.event = history(rank).events.size();
  history(rank).collectives.push_back(part);
}

bool SimulatedMpi::cancel(Rank rank, std::uint32_t post) {
  auto& posted = process(rank).posted;
  const auto found = std::find(posted.begin(), posted.end(), post);
  if (found == posted.end()) {
    return false;
  }
  posted.erase(found);
  history(rank).receives[post].state = ReceiveState::Cancelled;
  return true;
}

bool SimulatedMpi::canFinish(Rank rank) const {
  const Process& p = process(rank);
  return p.inEvent && (!p.probes || probed(rank) != nullptr) &&
         std::all_of(p.waits.begin(), p.waits.end(),
                     [&](const Request& r) { return done(rank, r); });
}

void SimulatedMpi::finish(Rank rank) {
  RankHistory& record = history(rank);
  Process& p = process(rank);
  const Serial serial = record.events.size();
  for (const Request& request : p.waits) {
    if (request.thing == Thing::SyncSend) {
      record.sends[request.index].syncCompletion = serial;
    } else if (request.thing == Thing::Collective) {
      record.collectives[request.index].completion = serial;
    } else {
      PostedReceive& receive = record.receives[request.index];
      receive.completion = serial;
      if (p.got[request.index]) {
        receive.state = ReceiveState::Complete;
        receive.source = p.got[request.index]->source;
        receive.tag = p.got[request.index]->tag;
      }
    }
  }
  if (p.probes) {
    const Packet* packet = probed(rank);
    record.probes[*p.probes].source = packet->source;
    record.probes[*p.probes].tag = packet->tag;
  }
  p.waits.clear();
  p.probes.reset();
  p.inEvent = false;
}

std::vector<SimulatedMpi::Channel> SimulatedMpi::busyChannels() const {
  std::vector<Channel> channels;
  for (const auto& [channel, packets] : m_network) {
    if (!packets.empty()) {
      channels.push_back(channel);
    }
  }
  return channels;
}

std::uint32_t SimulatedMpi::takerOf(const Packet& packet) const {
  for (const std::uint32_t post : process(packet.dest).posted) {
    if (accepts(history(packet.dest).receives[post], packet)) {
      return post;
    }
  }
  return kNone;
}

void SimulatedMpi::arrive(const Channel& channel) {
  const Packet packet = m_network[channel].front();
  m_network[channel].pop_front();
  Process& p = process(packet.dest);
  const std::uint32_t taker = takerOf(packet);
  if (taker == kNone) {
    p.unexpected.push_back(packet);
    return;
  }
  take(packet.dest, taker, packet);
  p.posted.erase(std::find(p.posted.begin(), p.posted.end(), taker));
}

void SimulatedMpi::preferUnexpected(Rank rank, std::size_t place) {
  auto& queue = process(rank).unexpected;
  if (place >= queue.size()) {
    return;
  }
  const Packet chosen = queue[place];
  const auto here = queue.begin() + static_cast<std::ptrdiff_t>(place);
  const bool first = std::none_of(queue.begin(), here, [&](const Packet& other) {
    return other.source == chosen.source && other.comm == chosen.comm;
  });
  if (first) {
    std::rotate(queue.begin(), here, here + 1);
  }
}

bool SimulatedMpi::accepts(const PostedReceive& receive, const Packet& packet) const {
  return receive.comm == packet.comm &&
         (receive.wantedSource == kAnySource || receive.wantedSource == packet.source) &&
         (receive.wantedTag == kAnyTag || receive.wantedTag == packet.tag);
}

bool SimulatedMpi::done(Rank rank, const Request& request) const {
  switch (request.thing) {
    case Thing::Receive:
      return process(rank).got[request.index].has_value() ||
             history(rank).receives[request.index].state == ReceiveState::Cancelled;
    case Thing::SyncSend:
      return m_takers[static_cast<std::size_t>(rank)][request.index] != kNone;
    case Thing::Collective:
      return collectiveDone(rank, history(rank).collectives[request.index]);
  }
  return false;
}

std::vector<Packet> SimulatedMpi::comingTo(Rank rank) const {
  std::vector<Packet> packets = process(rank).unexpected;
  for (const auto& [channel, queue] : m_network) {
    if (std::get<1>(channel) == rank) {
      packets.insert(packets.end(), queue.begin(), queue.end());
    }
  }
  return packets;
}

const CollectivePart* SimulatedMpi::partOf(Rank rank, std::uint32_t comm,
                                           std::uint32_t ordinal) const {
  for (const CollectivePart& part : history(rank).collectives) {
    if (part.comm == comm && part.ordinal == ordinal) {
      return &part;
    }
  }
  return nullptr;
}

const Packet* SimulatedMpi::probed(Rank rank) const {
  const ProbeHit& probe = history(rank).probes[*process(rank).probes];
  PostedReceive wish;
  wish.comm = probe.comm;
  wish.wantedSource = probe.wantedSource;
  wish.wantedTag = probe.wantedTag;
  for (const Packet& packet : process(rank).unexpected) {
    if (accepts(wish, packet)) {
      return &packet;
    }
  }
  return nullptr;
}

bool SimulatedMpi::contributes(Rank rank, std::uint32_t comm, std::uint32_t ordinal) {
  return (static_cast<std::uint32_t>(rank) * 7U + comm * 3U + ordinal * 5U) % 11U != 0U;
}

bool SimulatedMpi::collectiveDone(Rank rank, const CollectivePart& mine) const {
  bool lower = true;  // `other` comes before me in the group
  for (const Rank other : m_execution.communicators[mine.comm].group) {
    lower = lower && other != rank;
    const bool flows = mine.flow == CollectiveFlow::AllToAll ||
                       (mine.flow == CollectiveFlow::FromRoot && other == mine.root) ||
                       (mine.flow == CollectiveFlow::ToRoot && rank == mine.root) ||
                       (mine.flow == CollectiveFlow::FromLower && lower);
    if (flows && mine.takes && other != rank && contributes(other, mine.comm, mine.ordinal) &&
        partOf(other, mine.comm, mine.ordinal) == nullptr) {
      return false;
    }
  }
  return true;
}

void SimulatedMpi::take(Rank rank, std::uint32_t post, const Packet& packet) {
  process(rank).got[post] = packet;
  m_takers[static_cast<std::size_t>(packet.source)][packet.send] = post;
}

}  // namespace pf::oracle
