// SPDX-License-Identifier: GPL-3.0-or-later
// The logs of all ranks as one execution.
#include "mpi_calls.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <tuple>

#include "replay_engine/log/event_times.h"
#include "replay_engine/log/rank_log.h"
#include "replay_engine/races/races.h"

namespace pf {
namespace {

class Assembler {
 public:
  explicit Assembler(Execution& execution) : m_execution(execution) {}

  void add(RankLog& log) {
    RankHistory history = std::move(log.history);
    std::vector<std::uint32_t> comms;
    for (const LoggedCommunicator& c : log.communicators) {
      comms.push_back(communicator(c, log.rank));
    }
    std::vector<std::uint32_t> sites;
    for (const LoggedSite& site : log.sites) {
      sites.push_back(callSite(log, site));
    }
    const auto mapped = [](const std::vector<std::uint32_t>& map, std::uint32_t i) {
      return i < map.size() ? map[i] : kNone;
    };
    for (Event& event : history.events) {
      event.comm = mapped(comms, event.comm);
      event.site = mapped(sites, event.site);
    }
    for (PostedReceive& receive : history.receives) {
      receive.comm = mapped(comms, receive.comm);
    }
    for (ProbeHit& probe : history.probes) {
      probe.comm = mapped(comms, probe.comm);
    }
    for (SentMessage& send : history.sends) {
      send.comm = mapped(comms, send.comm);
    }
    for (CollectivePart& part : history.collectives) {
      part.comm = mapped(comms, part.comm);
    }
    m_execution.ranks.push_back(std::move(history));
  }

 private:
  std::uint32_t communicator(const LoggedCommunicator& logged, Rank rank) {
    const auto [found, fresh] = m_byKey.try_emplace(
        logged.key, static_cast<std::uint32_t>(m_execution.communicators.size()));
    if (fresh) {
      Communicator c;
      c.key = logged.key;
      const auto split = logged.members.begin() + static_cast<std::ptrdiff_t>(std::min<std::size_t>(
                                                      logged.groupSize, logged.members.size()));
      c.group.assign(logged.members.begin(), split);
      c.remote.assign(split, logged.members.end());
      const char* by = logged.madeBy < kCallCount ? kCallNames[logged.madeBy] : "?";
      if (logged.key == 0) {
        c.name = "MPI_COMM_WORLD";
      } else if (logged.madeBy == kCallInit) {
        c.name = "MPI_COMM_SELF of rank " + std::to_string(rank);
      } else {
        c.name = std::string(by) + " #" + std::to_string(m_execution.communicators.size());
      }
      m_execution.communicators.push_back(std::move(c));
    }
    return found->second;
  }

  std::uint32_t callSite(const RankLog& log, const LoggedSite& site) {
    const std::string module =
        site.module < log.modules.size() ? log.modules[site.module] : std::string();
    const std::string file =
        site.file < log.sourceFiles.size() ? log.sourceFiles[site.file] : std::string();
    const auto [found, fresh] =
        m_bySite.try_emplace({module, site.address, file, site.line},
                             static_cast<std::uint32_t>(m_execution.sites.size()));
    if (fresh) {
      m_execution.sites.push_back(CallSite{module, site.address, site.function, file,
                                           static_cast<std::int32_t>(site.line)});
    }
    return found->second;
  }

  Execution& m_execution;
  std::map<std::uint64_t, std::uint32_t> m_byKey;
  /// By module, address, and source and line of the caller in Python.
  std::map<std::tuple<std::string, std::uint64_t, std::string, std::uint32_t>, std::uint32_t>
      m_bySite;
};

/// The collectives of one communicator, by their ordinals.
class Operations {
 public:
  /// `persistent`: 0, or StartedCollective::number of the one whose start it is, the `ordinal`-th.
  std::uint32_t number(std::uint32_t persistent, std::uint32_t ordinal) {
    const auto next = static_cast<std::uint32_t>(m_known.size());
    return m_known.try_emplace({persistent, ordinal}, next).first->second;
  }

 private:
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> m_known;
};

/// Blocking and non-blocking collectives come in one order on every rank of a communicator, and so do the starts of a persistent
/// one; but not those of several, nor one beside the other (MPI 4.0, 6.13). As the first rank has them, so they are numbered.
void numberStarted(Execution& execution,
                   const std::vector<std::vector<StartedCollective>>& started) {
  std::map<std::uint32_t, Operations> comms;
  for (std::size_t rank = 0; rank < started.size(); ++rank) {
    for (const StartedCollective& each : started[rank]) {
      comms.try_emplace(execution.ranks[rank].collectives[each.part].comm);
    }
  }
  for (std::size_t rank = 0; rank < started.size() && !comms.empty(); ++rank) {
    std::vector<CollectivePart>& parts = execution.ranks[rank].collectives;
    auto next = started[rank].begin();
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const bool isStart = next != started[rank].end() && next->part == i;
      if (const auto comm = comms.find(parts[i].comm); comm != comms.end()) {
        parts[i].ordinal = comm->second.number(isStart ? next->number : 0, parts[i].ordinal);
      }
      next += isStart ? 1 : 0;
    }
  }
}

/// Nanoseconds: exports let arrows leave and arrive within the calls, a nanosecond from their edges.
constexpr std::uint64_t kPassage = 4;

/// When the last event of a rank that was cut came to its end is not in its log: not before what it took was sent.
void endLastEvents(Execution& execution) {
  for (RankHistory& rank : execution.ranks) {
    for (const PostedReceive& receive : rank.receives) {
      if (!rank.times.empty() && receive.completion == rank.times.size() &&
          receive.message < execution.messages.size()) {
        const EventRef send = execution.messages[receive.message].send;
        const std::vector<EventTime>& sender =
            execution.ranks[static_cast<std::size_t>(send.rank)].times;
        const std::uint64_t sent =
            send.serial >= 1 && send.serial <= sender.size() ? sender[send.serial - 1].begin : 0;
        rank.times.back().end = std::max(rank.times.back().end, sent + kPassage);
      }
    }
  }
}

/// The record of an MPI_Sendrecv is written at its end. Where a rank never came out of one (`inside`: of which rank that is
/// known), a message of that rank that was taken, and that it has no other send for, can only be its (MPI 4.0, 3.5: messages do
/// not overtake). True: there are such.
bool addSendsOfCutExchanges(Execution& execution, const std::vector<bool>& inside) {
  std::map<Rank, std::vector<SentMessage>> taken;
  for (std::size_t dest = 0; dest < execution.ranks.size(); ++dest) {
    for (const PostedReceive& receive : execution.ranks[dest].receives) {
      const auto source = static_cast<std::size_t>(std::max(receive.source, 0));
      if (receive.state != ReceiveState::Complete || receive.message != kNone ||
          receive.source < 0 || source >= execution.ranks.size() || !inside[source]) {
        continue;
      }
      const std::vector<Event>& events = execution.ranks[source].events;
      if (!events.empty() && events.back().kind == EventKind::SendReceive &&
          events.back().comm == receive.comm) {
        taken[receive.source].push_back(
            {events.size(), receive.comm, static_cast<Rank>(dest), receive.tag, false, 0});
      }
    }
  }
  bool added = false;
  for (const auto& [source, sends] : taken) {
    if (sends.size() == 1) {  // of several nobody knows which
      execution.ranks[static_cast<std::size_t>(source)].sends.push_back(sends.front());
      added = true;
    }
  }
  return added;
}

}  // namespace

Result<Execution> assemble(std::vector<RankLog> logs, bool over) {
  Execution execution;
  execution.callNames.assign(std::begin(kCallNames), std::end(kCallNames));
  Assembler assembler(execution);
  std::vector<std::int64_t> ahead;
  std::vector<std::vector<StartedCollective>> started;
  std::vector<bool> inside;
  for (std::size_t i = 0; i < logs.size(); ++i) {
    if (logs[i].rank != static_cast<Rank>(i)) {
      return Error{ErrorCode::Damaged, "the log of rank " + std::to_string(i) + " is missing",
                   "Record the program again."};
    }
    ahead.push_back(logs[i].realTimeAhead);
    inside.push_back(over && logs[i].insideLast);
    started.push_back(std::move(logs[i].startedCollectives));
    assembler.add(logs[i]);
  }
  numberStarted(execution, started);
  alignTimes(execution.ranks, ahead);
  if (hasTimes(execution)) {
    execution.timeOrigin = TimeOrigin::Recording;
  } else {
    for (RankHistory& rank : execution.ranks) {
      rank.times.clear();
    }
  }
  matchMessages(execution);
  if (addSendsOfCutExchanges(execution, inside)) {
    matchMessages(execution);
  }
  endLastEvents(execution);
  return execution;
}

}  // namespace pf
