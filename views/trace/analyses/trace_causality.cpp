// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/trace/analyses/trace_causality.h"

#include <algorithm>
#include <deque>
#include <utility>

#include "views/trace/analyses/trace_flows.h"

namespace pf::views {

/// Ranks that are to be looked at, each up to one of its events or from one on.
class Work {
 public:
  explicit Work(std::size_t ranks) : m_wanted(ranks, 0), m_waits(ranks, false) {}
  /// Up to the latest event, or from the earliest on.
  void wantUpTo(EventRef event) { want(event, event.serial > m_wanted[index(event.rank)]); }
  void wantFrom(EventRef event) {
    const Serial wanted = m_wanted[index(event.rank)];
    want(event, wanted == 0 || event.serial < wanted);
  }
  [[nodiscard]] bool empty() const { return m_ranks.empty(); }
  EventRef take() {
    const Rank rank = m_ranks.front();
    m_ranks.pop_front();
    m_waits[index(rank)] = false;
    return {rank, m_wanted[index(rank)]};
  }

 private:
  void want(EventRef event, bool more) {
    if (!more) {
      return;
    }
    m_wanted[index(event.rank)] = event.serial;
    if (!m_waits[index(event.rank)]) {
      m_waits[index(event.rank)] = true;
      m_ranks.push_back(event.rank);
    }
  }
  std::vector<Serial> m_wanted;  ///< by rank; 0: none
  std::vector<bool> m_waits;
  std::deque<Rank> m_ranks;
};

/// The clock checkpoints of a trace, wherever they are.
class Checkpoints {
 public:
  explicit Checkpoints(const TraceIndex& trace)
      : m_trace(trace), m_kept(trace.data().clocks), m_rows(trace.data().clockRows.get()) {}
  /// 0: there are none.
  [[nodiscard]] std::uint32_t every() const {
    return m_rows != nullptr ? m_rows->every() : m_kept.every;
  }
  /// Of a rank, from 1.
  [[nodiscard]] std::size_t count(Rank rank) const {
    return m_rows != nullptr ? m_trace.lastSerial(rank) / m_rows->every() : m_kept.count(rank);
  }
  [[nodiscard]] std::span<const std::uint32_t> past(Rank rank, std::size_t n) {
    return m_rows != nullptr ? m_rows->past(rank, n - 1, m_row) : m_kept.pastOf(rank, n - 1);
  }
  [[nodiscard]] std::span<const std::uint32_t> future(Rank rank, std::size_t n) {
    return m_rows != nullptr ? m_rows->future(rank, n - 1, m_row) : m_kept.futureOf(rank, n - 1);
  }

 private:
  const TraceIndex& m_trace;
  const ClockCheckpoints& m_kept;
  const ClockRows* m_rows;
  std::vector<std::uint32_t> m_row;
};

/// Raises the cut to where all ranks met last before `event`: all that is before it has happened
/// before all of it. That holds where the record does not wait for itself: there are clocks then.
static void raiseToMeeting(const Checkpoints& clocks, const CollectiveGroup* meeting, Rank rank,
                           std::vector<Serial>& cut) {
  if (clocks.every() == 0 || meeting == nullptr ||
      cut[index(rank)] >= meeting->parts[index(rank)].serial) {
    return;
  }
  for (std::size_t other = 0; other < cut.size(); ++other) {
    cut[other] = std::max(cut[other], meeting->parts[other].serial);
  }
}

/// Lowers it to where all ranks meet first after it: 0 = none so far.
static void lowerToMeeting(const Checkpoints& clocks, const CollectiveGroup* meeting, Rank rank,
                           std::vector<Serial>& cut) {
  if (clocks.every() == 0 || meeting == nullptr ||
      (cut[index(rank)] != 0 && cut[index(rank)] <= meeting->parts[index(rank)].serial)) {
    return;
  }
  for (std::size_t other = 0; other < cut.size(); ++other) {
    const Serial part = meeting->parts[other].serial;
    cut[other] = cut[other] == 0 ? part : std::min(cut[other], part);
  }
}

/// Raises the cut to what the last checkpoint up to `event` says, and lists what that leaves to be
/// looked at: the last events of the other ranks.
static void raiseToCheckpoint(Checkpoints& clocks, EventRef event, std::vector<Serial>& cut,
                              Work& work) {
  const std::size_t n = clocks.every() == 0 ? 0 : event.serial / clocks.every();
  if (n == 0 || n > clocks.count(event.rank) || n * clocks.every() <= cut[index(event.rank)]) {
    return;
  }
  const auto row = clocks.past(event.rank, n);
  for (std::size_t other = 0; other < row.size(); ++other) {
    if (row[other] > cut[other]) {
      cut[other] = row[other] - 1;
      work.wantUpTo({static_cast<Rank>(other), row[other]});
    }
  }
  cut[index(event.rank)] = row.empty() ? cut[index(event.rank)] : n * clocks.every();
}

/// The same for what happens after it: `cut` has the first event of each rank, 0 = none.
static void lowerToCheckpoint(Checkpoints& clocks, EventRef event, const std::vector<Serial>& ends,
                              std::vector<Serial>& cut, Work& work) {
  const std::size_t n =
      clocks.every() == 0 ? 0 : (event.serial + clocks.every() - 1) / clocks.every();
  const Serial known = cut[index(event.rank)];
  if (n == 0 || n > clocks.count(event.rank) || (known != 0 && known <= n * clocks.every())) {
    return;
  }
  const auto row = clocks.future(event.rank, n);
  for (std::size_t other = 0; other < row.size(); ++other) {
    if (row[other] != 0 && (cut[other] == 0 || row[other] < cut[other])) {
      cut[other] = row[other] < ends[other] ? row[other] + 1 : 0;
      work.wantFrom({static_cast<Rank>(other), row[other]});
    }
  }
  cut[index(event.rank)] = row.empty() ? known : n * clocks.every();
}

std::vector<Serial> pastOf(const TraceIndex& trace, EventRef ref) {
  std::vector<Serial> cut(trace.rankCount(), 0);
  Flows flows(trace);
  Checkpoints clocks(trace);
  Work work(trace.rankCount());
  if (trace.contains(ref)) {
    work.wantUpTo(ref);
  }
  while (!work.empty()) {
    const EventRef top = work.take();
    raiseToMeeting(clocks, trace.collectives().meetingUpTo(top), top.rank, cut);
    raiseToCheckpoint(clocks, top, cut, work);
    Serial& reached = cut[index(top.rank)];
    const Serial first = std::exchange(reached, std::max(reached, top.serial)) + 1;
    flows.into(top.rank, first, top.serial, [&](EventRef cause) {
      if (trace.contains(cause) && cause.serial > cut[index(cause.rank)]) {
        work.wantUpTo(cause);
      }
    });
  }
  return cut;
}

std::vector<Serial> futureOf(const TraceIndex& trace, EventRef ref) {
  std::vector<Serial> cut(trace.rankCount(), 0);
  std::vector<Serial> ends;
  for (std::size_t rank = 0; rank < trace.rankCount(); ++rank) {
    ends.push_back(trace.lastSerial(static_cast<Rank>(rank)));
  }
  Flows flows(trace);
  Checkpoints clocks(trace);
  Work work(trace.rankCount());
  if (trace.contains(ref)) {
    work.wantFrom(ref);
  }
  while (!work.empty()) {
    const EventRef top = work.take();
    lowerToMeeting(clocks, trace.collectives().meetingFrom(top), top.rank, cut);
    lowerToCheckpoint(clocks, top, ends, cut, work);
    Serial& reached = cut[index(top.rank)];
    const Serial stop = reached == 0 ? ends[index(top.rank)] + 1 : reached;
    if (top.serial >= stop) {
      continue;
    }
    reached = top.serial;
    flows.outOf(top.rank, top.serial, stop - 1, [&](EventRef effect) {
      const Serial known = trace.contains(effect) ? cut[index(effect.rank)] : 1;
      if (trace.contains(effect) && (known == 0 || effect.serial < known)) {
        work.wantFrom(effect);
      }
    });
  }
  return cut;
}

std::vector<EventRef> partnersOf(const TraceIndex& trace, EventRef ref) {
  std::vector<EventRef> out;
  if (!trace.contains(ref)) {
    return out;
  }
  const RankView& history = trace.execution().ranks[index(ref.rank)];
  const auto addSend = [&](std::uint32_t message) {
    if (message < trace.execution().messages.size()) {
      out.push_back(trace.execution().messages[message].send);
    }
  };
  for (const std::uint32_t r : trace.links().completedAt(ref)) {
    addSend(history.receives[r].message);
  }
  for (const std::uint32_t r : trace.links().postedAt(ref)) {
    addSend(history.receives[r].message);
  }
  for (const std::uint32_t p : trace.links().probesAt(ref)) {
    addSend(history.probes[p].message);
  }
  for (const std::uint32_t m : trace.links().sentAt(ref)) {
    out.push_back(trace.messages().arrival(trace.execution().messages[m]));
  }
  if (const std::uint32_t group = trace.collectives().at(ref); group != kNone) {
    const std::vector<EventRef>& parts = trace.collectives().groups()[group].parts;
    out.insert(out.end(), parts.begin(), parts.end());
  }
  std::erase_if(out, [&](EventRef e) { return !trace.contains(e) || e == ref; });
  std::vector<EventRef> unique;
  for (const EventRef e : out) {
    if (std::find(unique.begin(), unique.end(), e) == unique.end()) {
      unique.push_back(e);
    }
  }
  return unique;
}

}  // namespace pf::views
