// SPDX-License-Identifier: GPL-3.0-or-later
#include "replay_engine/prediction/program_model.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "replay_engine/execution/record_checks.h"

namespace pf::prediction {
namespace {

class Modeller {
 public:
  Modeller(const Execution& execution, const std::vector<bool>& cut) : m_execution(execution) {
    m_model.cut = cut;
    m_model.cut.resize(execution.ranks.size(), false);
  }

  ProgramModel run() {
    for (const RankHistory& history : m_execution.ranks) {
      m_model.ranks.emplace_back(history.events.size());
    }
    forEachRank(&Modeller::addMessages);
    forEachRank(&Modeller::addReceives);
    forEachRank(&Modeller::addProbes);
    forEachRank(&Modeller::listParts);
    forEachRank(&Modeller::addCollectives);
    forEachRank(&Modeller::lookAtEvents);
    forEachRank(&Modeller::sortOpenRequests);
    m_model.notModelled.assign(m_notModelled.begin(), m_notModelled.end());
    return std::move(m_model);
  }

 private:
  struct Request {
    Wait wait;
    Serial begun;
    Serial at;
    Completes completes;
    bool listed = false;  ///< an earlier completion of one or some may have completed it
  };

  void forEachRank(void (Modeller::*add)(Rank)) {
    for (std::size_t rank = 0; rank < m_execution.ranks.size(); ++rank) {
      (this->*add)(static_cast<Rank>(rank));
    }
  }

  [[nodiscard]] const RankHistory& history(Rank rank) const {
    return m_execution.ranks[index(rank)];
  }

  [[nodiscard]] std::string_view nameOf(Rank rank, Serial serial) const {
    const std::uint16_t call = history(rank).events[serial - 1].call;
    return call < m_execution.callNames.size() ? std::string_view(m_execution.callNames[call])
                                               : std::string_view();
  }

  /// Also where MPI 4's large counts are used: "MPI_Send_c".
  [[nodiscard]] bool isCall(Rank rank, Serial serial, std::string_view name) const {
    const std::string_view called = nameOf(rank, serial);
    return called == name ||
           (called.size() == name.size() + 2 && called.starts_with(name) && called.ends_with("_c"));
  }

  ModelEvent& event(Rank rank, Serial serial) { return m_model.ranks[index(rank)][serial - 1]; }

  void refuse(std::string what) { m_notModelled.insert(std::move(what)); }
  void refuseCall(Rank rank, Serial serial, const char* why) {
    refuse(std::string(nameOf(rank, serial)) + why);
  }

  void addMessages(Rank rank) {
    const std::vector<SentMessage>& sends = history(rank).sends;
    for (std::size_t i = 0; i < sends.size(); ++i) {
      const SentMessage& send = sends[i];
      if (!isEvent(history(rank), send.event) || !isRank(m_execution, send.dest)) {
        continue;  // to MPI_PROC_NULL, or it failed
      }
      const auto number = static_cast<std::uint32_t>(m_model.messages.size());
      m_model.messages.push_back({rank, send.event, send.dest, send.comm, send.tag, kNone, kNone});
      m_messageOfSend[{rank, i}] = number;
      if (send.synchronous && isEvent(history(rank), send.syncCompletion)) {
        addRequest(rank, send.syncCompletion, {WaitKind::SynchronousSend, number}, send.event);
      } else if (!send.synchronous && waitsAsStandardSend(rank, send.event)) {
        event(rank, send.event).standardSend = number;
      } else if (send.synchronous && isCall(rank, send.event, "MPI_Ssend")) {
        addRequest(rank, send.event, {WaitKind::SynchronousSend, number}, send.event);
      } else if (send.synchronous) {
        leaveOpen(rank, {WaitKind::SynchronousSend, number}, send.event);
      }
    }
  }

  [[nodiscard]] bool waitsAsStandardSend(Rank rank, Serial serial) const {
    return isCall(rank, serial, "MPI_Send") || isCall(rank, serial, "MPI_Sendrecv") ||
           isCall(rank, serial, "MPI_Sendrecv_replace");
  }

  void addReceives(Rank rank) {
    if (rank == 0) {
      matchRecorded();
    }
    const std::vector<PostedReceive>& posted = history(rank).receives;
    for (std::size_t i = 0; i < posted.size(); ++i) {
      const PostedReceive& receive = posted[i];
      if (!isEvent(history(rank), receive.post)) {
        continue;
      }
      const auto number = static_cast<std::uint32_t>(m_model.receives.size());
      ModelReceive model{rank,
                         receive.post,
                         static_cast<std::uint32_t>(i),
                         receive.comm,
                         receive.wantedSource,
                         receive.wantedTag,
                         0,
                         kNone,
                         kNone};
      if (receive.state == ReceiveState::Cancelled) {
        refuse("MPI_Cancel of a receive");
      }
      if (receive.state == ReceiveState::Pending && receive.completion != 0) {
        refuse("a receive that failed");
      }
      const auto taken = m_modelOfMessage.find(receive.message);
      if (taken != m_modelOfMessage.end() && hasMessage(m_execution, history(rank), receive)) {
        model.taken = taken->second;
        m_model.messages[taken->second].taker = number;
      }
      m_model.receives.push_back(model);
      if (isCompleted(history(rank), receive)) {
        addRequest(rank, receive.completion, {WaitKind::Receive, number}, receive.post);
      } else if (blocksWherePosted(rank, receive.post)) {
        addRequest(rank, receive.post, {WaitKind::Receive, number}, receive.post);
      } else {
        leaveOpen(rank, {WaitKind::Receive, number}, receive.post);
      }
    }
  }

  [[nodiscard]] bool blocksWherePosted(Rank rank, Serial post) const {
    const EventKind kind = history(rank).events[post - 1].kind;
    return kind == EventKind::Receive || kind == EventKind::SendReceive;
  }

  void matchRecorded() {
    for (std::size_t i = 0; i < m_execution.messages.size(); ++i) {
      const Message& message = m_execution.messages[i];
      const auto found = m_messageOfSend.find({message.send.rank, message.sendIndex});
      if (found != m_messageOfSend.end()) {
        m_model.messages[found->second].recorded = static_cast<std::uint32_t>(i);
        m_modelOfMessage[static_cast<std::uint32_t>(i)] = found->second;
      }
    }
  }

  void addProbes(Rank rank) {
    std::set<std::uint32_t> used;
    for (const ProbeHit& hit : history(rank).probes) {
      if (!isEvent(history(rank), hit.event)) {
        continue;
      }
      const auto number = static_cast<std::uint32_t>(m_model.probes.size());
      ModelProbe probe{rank, hit.event, hit.comm, hit.wantedSource, hit.wantedTag, hit.postsBefore};
      m_model.probes.push_back(probe);
      event(rank, hit.event).probe = number;
      carryOut(rank, hit, number, used);
    }
  }

  /// The receive that names what a wildcard probe saw would name what it sees in another order.
  void carryOut(Rank rank, const ProbeHit& hit, std::uint32_t probe,
                std::set<std::uint32_t>& used) {
    const auto taken = m_modelOfMessage.find(hit.message);
    if (taken == m_modelOfMessage.end()) {
      return;
    }
    const std::uint32_t number = m_model.messages[taken->second].taker;
    if (number == kNone || m_model.receives[number].number < hit.postsBefore ||
        !used.insert(number).second) {
      return;
    }
    ModelReceive& receive = m_model.receives[number];
    if (receive.rank != rank) {
      return;
    }
    const bool sourceFromProbe = hit.wantedSource == kAnySource && receive.source == hit.source;
    const bool tagFromProbe = hit.wantedTag == kAnyTag && receive.tag == hit.tag;
    if (sourceFromProbe || tagFromProbe) {
      receive.source = sourceFromProbe ? kAnySource : receive.source;
      receive.tag = tagFromProbe ? kAnyTag : receive.tag;
      receive.probe = probe;
    }
  }

  void listParts(Rank rank) {
    for (const CollectivePart& part : history(rank).collectives) {
      if (isEvent(history(rank), part.event)) {
        m_parts[{part.comm, part.ordinal}][rank] = &part;
      }
    }
  }

  void addCollectives(Rank rank) {
    for (const CollectivePart& part : history(rank).collectives) {
      if (!isEvent(history(rank), part.event)) {
        continue;
      }
      const bool known = part.comm < m_execution.communicators.size();
      if (!known || !m_execution.communicators[part.comm].remote.empty()) {
        refuseCall(rank, part.event, " on an inter-communicator");
        continue;
      }
      if (part.flow == CollectiveFlow::None && waitsForSomeUnknown(rank, part.event)) {
        refuseCall(rank, part.event, "");
        continue;
      }
      const auto number = static_cast<std::uint32_t>(m_model.collectives.size());
      m_model.collectives.push_back(partOf(rank, part));
      if (isEvent(history(rank), part.completion)) {
        addRequest(rank, part.completion, {WaitKind::Collective, number}, part.event);
      } else if (history(rank).events[part.event - 1].kind == EventKind::Collective) {
        addRequest(rank, part.event, {WaitKind::Collective, number}, part.event);
      } else {
        leaveOpen(rank, {WaitKind::Collective, number}, part.event);
      }
    }
  }

  [[nodiscard]] bool waitsForSomeUnknown(Rank rank, Serial serial) const {
    const std::string_view name = nameOf(rank, serial);
    return name.find("eighbor") != std::string_view::npos || name == "MPI_Comm_create_group" ||
           name.starts_with("MPI_Start");
  }

  /// Along real flow of data only: MPI lets a root, or a rank that gives only, go on (MPI 3.1, 5.1).
  ModelCollective partOf(Rank rank, const CollectivePart& part) {
    ModelCollective model;
    const bool done = isEvent(history(rank), part.completion) &&
                      (part.completion != part.event || !m_model.cut[index(rank)] ||
                       part.event != history(rank).events.size());
    bool lower = true;
    for (const Rank other : m_execution.communicators[part.comm].group) {
      lower = lower && other != rank;
      if (other == rank || !part.takes || !flows(part, rank, other, lower)) {
        continue;
      }
      const auto& parts = m_parts[{part.comm, part.ordinal}];
      const auto found = parts.find(other);
      if (found == parts.end()) {
        model.never = model.never || !done;
      } else if (found->second->contributes) {
        model.awaits.push_back({other, found->second->event});
      }
    }
    return model;
  }

  static bool flows(const CollectivePart& part, Rank rank, Rank other, bool lower) {
    switch (part.flow) {
      case CollectiveFlow::AllToAll:
        return true;
      case CollectiveFlow::FromRoot:
        return other == part.root;
      case CollectiveFlow::ToRoot:
        return rank == part.root;
      case CollectiveFlow::FromLower:
        return lower;
      case CollectiveFlow::None:
        break;
    }
    return false;
  }

  void lookAtEvents(Rank rank) {
    for (const Event& one : history(rank).events) {
      if (one.lane != 0) {
        refuse("calls of several threads of a rank");
      }
    }
  }

  /// Remembers where the record completes it; a completion of one or some may complete others instead.
  void addRequest(Rank rank, Serial at, Wait wait, Serial begun) {
    const Completes completes = completesAt(rank, at);
    m_requests[rank].push_back({wait, begun, at, completes, false});
    ModelEvent& where = event(rank, at);
    where.completes = completes;
    if (completes == Completes::All) {
      where.waits.push_back(wait);
      if (wait.kind == WaitKind::Receive) {
        m_model.receives[wait.index].waitedBy = at;
      }
    }
  }

  /// A request that the record never completes. A completion of one or some may, in another order.
  void leaveOpen(Rank rank, Wait wait, Serial begun) {
    m_requests[rank].push_back(
        {wait, begun, std::numeric_limits<Serial>::max(), Completes::Some, false});
  }

  [[nodiscard]] Completes completesAt(Rank rank, Serial at) const {
    if (isCall(rank, at, "MPI_Waitany") || isCall(rank, at, "MPI_Testany") ||
        isCall(rank, at, "MPI_Request_get_status_any")) {
      return Completes::One;
    }
    const bool some = isCall(rank, at, "MPI_Waitsome") || isCall(rank, at, "MPI_Testsome") ||
                      isCall(rank, at, "MPI_Request_get_status_some");
    return some ? Completes::Some : Completes::All;
  }

  /// Of completions of one or some: all requests that are open there. Which of them the call named is not in the
  /// record. An MPI_Waitall of what such a call left over waits for whatever it leaves over in another order.
  void sortOpenRequests(Rank rank) {
    std::vector<Request>& requests = m_requests[rank];
    for (Serial serial = 1; serial <= m_model.ranks[index(rank)].size(); ++serial) {
      ModelEvent& where = event(rank, serial);
      if (where.completes != Completes::All) {
        listOpen(requests, serial, where);
      } else if (isCall(rank, serial, "MPI_Waitall") || isCall(rank, serial, "MPI_Testall")) {
        addLeftOver(requests, serial, where);
      }
    }
  }

  static void listOpen(std::vector<Request>& requests, Serial serial, ModelEvent& where) {
    for (Request& request : requests) {
      const bool all = request.completes == Completes::All;
      const bool closed = all && (request.at < serial || request.at == request.begun);
      if (request.begun < serial && !closed) {
        request.listed = true;
        where.open.push_back(request.wait);
      }
    }
  }

  static void addLeftOver(std::vector<Request>& requests, Serial serial, ModelEvent& where) {
    const bool shares = std::any_of(requests.begin(), requests.end(), [&](const Request& request) {
      return request.at == serial && request.listed;
    });
    for (Request& request : requests) {
      if (shares && request.listed && request.at < serial && request.completes != Completes::All) {
        where.waits.push_back(request.wait);
        request.completes = Completes::All;
        request.at = serial;
      }
    }
  }

  const Execution& m_execution;
  ProgramModel m_model;
  std::set<std::string> m_notModelled;
  std::map<std::pair<Rank, std::size_t>, std::uint32_t> m_messageOfSend;
  std::map<std::uint32_t, std::uint32_t> m_modelOfMessage;  ///< by index into Execution::messages
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::map<Rank, const CollectivePart*>> m_parts;
  std::map<Rank, std::vector<Request>> m_requests;
};

}  // namespace

ProgramModel modelOf(const Execution& execution, const std::vector<bool>& cut) {
  return Modeller(execution, cut).run();
}

}  // namespace pf::prediction
