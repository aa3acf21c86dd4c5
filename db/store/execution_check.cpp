// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <functional>

#include "db/columns/execution_rows.h"

namespace pf::db {
namespace {

/// Remembers the first thing that is wrong.
class Checker {
 public:
  explicit Checker(const Execution& execution) : m_execution(execution) {}

  void require(bool condition, const char* what, Rank rank, std::size_t index) {
    if (!condition && m_what.empty()) {
      m_what = std::string(what) + " (rank " + std::to_string(rank) + ", number " +
               std::to_string(index) + ")";
    }
  }
  [[nodiscard]] bool isRank(Rank rank) const {
    return rank >= kUnknownRank &&
           (rank < 0 || static_cast<std::size_t>(rank) < m_execution.ranks.size());
  }
  [[nodiscard]] bool isCommunicator(std::uint32_t comm) const {
    return comm == kNone || comm < m_execution.communicators.size();
  }
  [[nodiscard]] bool isMessage(std::uint32_t message) const {
    return message == kNone || message < m_execution.messages.size();
  }
  [[nodiscard]] const std::string& what() const { return m_what; }

  void history(Rank rank, const RankHistory& history);
  void messages();

 private:
  const Execution& m_execution;
  std::string m_what;
};

void Checker::history(Rank rank, const RankHistory& history) {
  const Serial last = history.events.size();
  const auto isEvent = [last](Serial serial) { return serial >= 1 && serial <= last; };
  for (std::size_t i = 0; i < history.events.size(); ++i) {
    const Event& event = history.events[i];
    require(event.call < m_execution.callNames.size(), "an event has a call without a name", rank,
            i);
    require(event.site == kNone || event.site < m_execution.sites.size(),
            "an event has a call site that is not there", rank, i);
    require(isCommunicator(event.comm) && isRank(event.peer), "an event has a wrong peer", rank, i);
  }
  require(history.times.empty() || history.times.size() == history.events.size(),
          "events and times are not as many", rank, history.times.size());
  for (std::size_t i = 0; i < history.times.size(); ++i) {
    const std::uint64_t before = i == 0 ? 0 : history.times[i - 1].end;
    require(before <= history.times[i].begin && history.times[i].begin <= history.times[i].end &&
                history.times[i].end <= static_cast<std::uint64_t>(INT64_MAX),
            "a time runs backwards", rank, i);
  }
  for (std::size_t i = 0; i < history.receives.size(); ++i) {
    const PostedReceive& receive = history.receives[i];
    require(isEvent(receive.post) && receive.completion <= last, "a receive has no event", rank, i);
    require(isCommunicator(receive.comm) && isRank(receive.wantedSource) && isRank(receive.source),
            "a receive has a wrong source", rank, i);
    require(isMessage(receive.message), "a receive has a message that is not there", rank, i);
  }
  for (std::size_t i = 0; i < history.probes.size(); ++i) {
    const ProbeHit& probe = history.probes[i];
    require(isEvent(probe.event) && probe.postsBefore <= history.receives.size(),
            "a probe has no event", rank, i);
    require(isCommunicator(probe.comm) && isRank(probe.wantedSource) && isRank(probe.source),
            "a probe has a wrong source", rank, i);
    require(isMessage(probe.message), "a probe has a message that is not there", rank, i);
  }
  for (std::size_t i = 0; i < history.sends.size(); ++i) {
    const SentMessage& send = history.sends[i];
    require(isEvent(send.event) && send.syncCompletion <= last, "a send has no event", rank, i);
    require(isCommunicator(send.comm) && isRank(send.dest), "a send has a wrong destination", rank,
            i);
  }
  for (std::size_t i = 0; i < history.collectives.size(); ++i) {
    const CollectivePart& part = history.collectives[i];
    require(isEvent(part.event) && part.completion <= last, "a collective has no event", rank, i);
    require(isCommunicator(part.comm) && isRank(part.root), "a collective has a wrong root", rank,
            i);
  }
}

void Checker::messages() {
  std::size_t sends = 0;
  std::vector<std::vector<bool>> seen;
  std::vector<std::size_t> first;
  for (const RankHistory& history : m_execution.ranks) {
    first.push_back(sends);
    sends += history.sends.size();
    seen.emplace_back(history.sends.size());
  }
  require(sends == m_execution.messages.size(), "the number of messages is not that of sends",
          kUnknownRank, sends);
  for (std::size_t i = 0; i < m_execution.messages.size() && m_what.empty(); ++i) {
    const Message& message = m_execution.messages[i];
    const Rank rank = message.send.rank;
    const bool hasSend =
        rank >= 0 && isRank(rank) &&
        message.sendIndex < m_execution.ranks[static_cast<std::size_t>(rank)].sends.size();
    require(hasSend, "a message has no send", rank, i);
    if (!hasSend) {
      return;
    }
    const auto source = static_cast<std::size_t>(rank);
    const SentMessage& send = m_execution.ranks[source].sends[message.sendIndex];
    require(!seen[source][message.sendIndex], "two messages have one send", rank, i);
    require(first[source] + message.sendIndex == i,
            "the messages are not in the order of ranks and sends", rank, i);
    seen[source][message.sendIndex] = true;
    require(message.send.serial == send.event && message.dest == send.dest &&
                message.comm == send.comm && message.tag == send.tag,
            "a message differs from its send", rank, i);
    if (message.dest < 0 || !isRank(message.dest)) {
      require(message.post == kNone && message.completion == 0, "a message was received nowhere",
              rank, i);
    } else {
      const RankHistory& dest = m_execution.ranks[static_cast<std::size_t>(message.dest)];
      require((message.post == kNone || message.post < dest.receives.size()) &&
                  message.completion <= dest.events.size(),
              "a message was received by nothing", rank, i);
    }
  }
}

}  // namespace

Status checkExecution(const Execution& execution) {
  Checker checker(execution);
  for (std::size_t rank = 0; rank < execution.ranks.size(); ++rank) {
    checker.history(static_cast<Rank>(rank), execution.ranks[rank]);
  }
  for (std::size_t i = 0; i < execution.communicators.size(); ++i) {
    const Communicator& comm = execution.communicators[i];
    const auto isRank = [&](Rank rank) { return checker.isRank(rank); };
    checker.require(std::all_of(comm.group.begin(), comm.group.end(), isRank) &&
                        std::all_of(comm.remote.begin(), comm.remote.end(), isRank),
                    "a communicator has a member that is not there", kUnknownRank, i);
  }
  checker.messages();
  if (!checker.what().empty()) {
    return Error{ErrorCode::Usage, "the execution contradicts itself: " + checker.what(), {}};
  }
  return {};
}

Status checkRaces(const Execution& execution, const std::vector<Race>& races) {
  const auto isMessage = [&](std::uint32_t message) { return message < execution.messages.size(); };
  Rank former = 0;
  for (const Race& race : races) {
    if (race.rank < former ||
        std::adjacent_find(race.alternatives.begin(), race.alternatives.end(),
                           std::greater_equal<>()) != race.alternatives.end()) {
      return Error{ErrorCode::Usage,
                   "the races of rank " + std::to_string(race.rank) +
                       " are not in the order of ranks, or their alternatives not in that of sends",
                   {}};
    }
    former = race.rank;
    bool good = race.rank >= 0 && static_cast<std::size_t>(race.rank) < execution.ranks.size();
    if (good) {
      const RankHistory& history = execution.ranks[static_cast<std::size_t>(race.rank)];
      good = race.index < (race.probe ? history.probes.size() : history.receives.size());
    }
    good = good && (race.taken == kNone || isMessage(race.taken)) &&
           std::all_of(race.alternatives.begin(), race.alternatives.end(), isMessage);
    if (!good) {
      return Error{
          ErrorCode::Usage,
          "a race of rank " + std::to_string(race.rank) + " names what is not in the execution",
          {}};
    }
  }
  return {};
}

}  // namespace pf::db
