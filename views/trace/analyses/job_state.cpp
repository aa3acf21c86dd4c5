// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/trace/analyses/job_state.h"

#include <algorithm>
#include <set>

#include <QStringList>

#include "views/trace/analyses/calls_now.h"
#include "views/trace/analyses/trace_causality.h"
#include "views/trace/analyses/trace_text.h"
#include "views/values/text.h"

namespace pf::views {

namespace {

/// Events of a rank that are over or have begun.
Serial begun(const JobCut& cut, Rank rank) {
  return cut.done[index(rank)] + (cut.inside[index(rank)] ? 1 : 0);
}

std::uint64_t bytesOf(const TraceIndex& trace, const Message& message) {
  return trace.contains(message.send) ? trace.event(message.send).bytes : 0;
}

/// Collects what one rank's next event waits for.
class NextEvent {
 public:
  NextEvent(const TraceIndex& trace, const JobCut& cut, Rank rank)
      : m_trace(trace), m_cut(cut), m_history(trace.execution().ranks[index(rank)]) {
    m_wait.rank = rank;
    m_wait.event = {rank, cut.done[index(rank)] + 1};
  }

  /// Its `why` is empty if it waits for nobody.
  RankWait find() {
    if (!m_trace.contains(m_wait.event)) {
      return m_wait;
    }
    receives();
    probes();
    synchronousSends();
    collectives();
    const bool neverEnded =
        m_cut.inside[index(m_wait.rank)] && m_wait.event.serial == m_trace.lastSerial(m_wait.rank);
    if (neverEnded && m_on.empty()) {
      hungSend();
      hungCompletion();
    }
    m_wait.on.assign(m_on.begin(), m_on.end());
    if (!m_wait.on.empty() || !m_wait.sure) {
      m_wait.why = callName(m_trace, m_wait.event) + m_detail;
    }
    return m_wait;
  }

 private:
  void needs(EventRef other) {
    if (m_trace.contains(other) && other.rank != m_wait.rank &&
        other.serial > begun(m_cut, other.rank)) {
      m_on.insert(other.rank);
    }
  }

  void needsMessage(std::uint32_t message, Rank wanted, Tag tag, std::uint32_t comm) {
    const auto& messages = m_trace.execution().messages;
    const std::size_t before = m_on.size();
    if (message < messages.size()) {
      needs(messages[message].send);
    } else if (wanted >= 0) {
      if (wanted != m_wait.rank && index(wanted) < m_trace.rankCount()) {
        m_on.insert(wanted);
      }
    } else {
      const auto& communicators = m_trace.execution().communicators;
      if (comm < communicators.size()) {
        const Communicator& c = communicators[comm];
        for (const Rank rank : c.remote.empty() ? c.group : c.remote) {
          if (rank != m_wait.rank && index(rank) < m_trace.rankCount()) {
            m_on.insert(rank);
          }
        }
      }
      m_wait.anyOne = m_on.size() > before + 1;
    }
    if (m_on.size() > before && m_detail.isEmpty()) {
      m_detail = u" from %1, %2"_s.arg(rankText(wanted), tagText(tag));
    }
  }

  void receives() {
    for (const std::uint32_t r : m_trace.links().completedAt(m_wait.event)) {
      const PostedReceive& receive = m_history.receives[r];
      needsMessage(receive.message, receive.wantedSource, receive.wantedTag, receive.comm);
    }
    const EventKind kind = m_trace.event(m_wait.event).kind;
    if (kind != EventKind::Receive && kind != EventKind::SendReceive) {
      return;
    }
    for (const std::uint32_t r : m_trace.links().postedAt(m_wait.event)) {
      const PostedReceive& receive = m_history.receives[r];
      if (receive.completion == 0 && receive.state == ReceiveState::Pending) {  // it hung here
        needsMessage(receive.message, receive.wantedSource, receive.wantedTag, receive.comm);
      }
    }
  }

  void probes() {
    for (const std::uint32_t p : m_trace.links().probesAt(m_wait.event)) {
      const ProbeHit& probe = m_history.probes[p];
      needsMessage(probe.message, probe.wantedSource, probe.wantedTag, probe.comm);
    }
  }

  void synchronousSends() {
    for (const std::uint32_t m : m_trace.links().synchronousDoneAt(m_wait.event)) {
      const Message& message = m_trace.execution().messages[m];
      const std::size_t before = m_on.size();
      Message posted = message;
      posted.completion = 0;
      needs(m_trace.messages().arrival(posted));
      if (m_on.size() > before && m_detail.isEmpty()) {
        m_detail = u" to rank %1, %2"_s.arg(message.dest).arg(tagText(message.tag));
      }
    }
  }

  void collectives() {
    const LinkedItems done = m_trace.links().collectivesDoneAt(m_wait.event);
    for (const std::uint32_t p : done) {
      for (const EventRef part : m_trace.collectives().feeding(m_wait.rank, p)) {
        needs(part);
      }
    }
    const std::uint32_t number = m_trace.collectives().at(m_wait.event);
    if (m_trace.event(m_wait.event).kind == EventKind::Collective && number != kNone &&
        done.empty()) {  // it hung here: some rank never came
      needsAbsent(m_trace.collectives().groups()[number]);
    }
  }

  /// A send that never ended waits for its receive. MPI_Send may also have been about to end: MPI buffers what is small.
  void hungSend() {
    const Event event = m_trace.event(m_wait.event);
    const bool other =
        event.peer >= 0 && event.peer != m_wait.rank && index(event.peer) < m_trace.rankCount();
    if ((event.kind != EventKind::Send && event.kind != EventKind::SendReceive) || !other) {
      return;
    }
    m_on.insert(event.peer);
    m_wait.sure = callName(m_trace, m_wait.event) == u"MPI_Ssend"_s;
    m_detail = u" to rank %1, %2"_s.arg(event.peer).arg(tagText(event.tag));
  }

  /// A wait that completed nothing: for receives that are posted and not seen complete. It is not recorded which of them,
  /// nor whether a send was waited for, which needs one that does not block.
  void hungCompletion() {
    if (m_trace.event(m_wait.event).kind != EventKind::Completion) {
      return;
    }
    std::size_t pending = 0;
    for (const PostedReceive& receive : m_history.receives) {
      if (receive.post < m_wait.event.serial && receive.completion == 0 &&
          receive.state == ReceiveState::Pending) {
        needsMessage(receive.message, receive.wantedSource, receive.wantedTag, receive.comm);
        ++pending;
      }
    }
    m_wait.sure = pending > 0 && !m_on.empty() && !mayHaveSent();
    if (pending > 1) {
      m_wait.anyOne = m_on.size() > 1;
      m_detail = u" of %1 posted receives"_s.arg(pending);
    }
  }

  /// Whether the rank has sent without blocking, or more than is looked through.
  [[nodiscard]] bool mayHaveSent() const {
    constexpr Serial kMostLookedAt = 20'000;
    if (m_wait.event.serial > kMostLookedAt) {
      return true;
    }
    for (Serial serial = 1; serial < m_wait.event.serial; ++serial) {
      const EventRef each{m_wait.rank, serial};
      const EventKind kind = m_trace.event(each).kind;
      if (kind == EventKind::Start || kind == EventKind::CollectivePost ||
          (kind == EventKind::Send && callName(m_trace, each).startsWith(u"MPI_I"_s))) {
        return true;
      }
    }
    return false;
  }

  void needsAbsent(const CollectiveGroup& group) {
    std::set<Rank> there;
    for (const EventRef part : group.parts) {
      there.insert(part.rank);
    }
    if (group.comm < m_trace.execution().communicators.size()) {
      for (const Rank rank : m_trace.execution().communicators[group.comm].group) {
        if (there.count(rank) == 0 && index(rank) < m_trace.rankCount()) {
          m_on.insert(rank);
        }
      }
    }
  }

  const TraceIndex& m_trace;
  const JobCut& m_cut;
  const RankView& m_history;
  RankWait m_wait;
  std::set<Rank> m_on;
  QString m_detail;
};

void addPosted(const TraceIndex& trace, const JobCut& cut, Rank rank, JobState& state) {
  const auto& messages = trace.execution().messages;
  for (const PostedReceive& receive : trace.execution().ranks[index(rank)].receives) {
    if (receive.post > begun(cut, rank)) {
      break;
    }
    // Seen complete or cancelled. The completion of a cancelled one may not be known.
    if (receive.completion != 0 ? receive.completion <= cut.done[index(rank)]
                                : receive.state != ReceiveState::Pending) {
      continue;
    }
    QueueItem item;
    item.rank = rank;
    item.peer = receive.wantedSource;
    item.tag = receive.wantedTag;
    item.comm = receive.comm;
    item.event = {rank, receive.post};
    if (receive.message < messages.size()) {
      const Message& message = messages[receive.message];
      if (message.send.serial <= begun(cut, message.send.rank)) {
        item.message = receive.message;
        item.bytes = bytesOf(trace, message);
      }
    }
    state.items.push_back(item);
  }
}

void addUnexpected(const TraceIndex& trace, const JobCut& cut,
                   std::vector<std::vector<QueueItem>>& byRank) {
  const auto& execution = trace.execution();
  MessageSequence::Page page;
  for (std::uint32_t m = 0; m < trace.messages().count(); ++m) {
    const Message message = execution.messages.at(m, page);
    if (message.dest < 0 || index(message.dest) >= trace.rankCount() ||
        message.send.serial > begun(cut, message.send.rank)) {
      continue;
    }
    if (message.completion != 0 && message.completion <= begun(cut, message.dest)) {
      continue;  // most of them
    }
    const auto& receives = execution.ranks[index(message.dest)].receives;
    if (message.post < receives.size() && receives[message.post].post <= begun(cut, message.dest)) {
      continue;
    }
    byRank[index(message.dest)].push_back({QueueItem::Kind::Unexpected, message.dest,
                                           message.send.rank, message.tag, message.comm,
                                           bytesOf(trace, message), message.send, m});
  }
}

/// A rank that waited for nobody when something ended it.
bool mightHaveGoneOn(const TraceIndex& trace, std::size_t rank) {
  const std::vector<RankEnd>& ends = trace.data().ends;
  if (rank >= ends.size()) {
    return false;
  }
  const RankEndKind kind = ends[rank].kind;
  return kind == RankEndKind::Crashed || kind == RankEndKind::Aborted ||
         kind == RankEndKind::Killed || kind == RankEndKind::Cut;
}

/// Ranks that can never go on: the greatest set of which each waits for what is in the set.
void findStuck(const TraceIndex& trace, const JobCut& cut, JobState& state) {
  std::vector<const RankWait*> waitOf(trace.rankCount(), nullptr);
  for (const RankWait& wait : state.waits) {
    waitOf[index(wait.rank)] = &wait;
  }
  std::vector<bool> free(trace.rankCount());
  for (std::size_t r = 0; r < free.size(); ++r) {
    free[r] = waitOf[r] == nullptr &&
              (cut.done[r] < trace.lastSerial(static_cast<Rank>(r)) || mightHaveGoneOn(trace, r));
    free[r] = free[r] || (waitOf[r] != nullptr && !waitOf[r]->sure);
  }
  const auto isFree = [&](Rank rank) { return free[index(rank)]; };
  for (bool more = true; more;) {
    more = false;
    for (const RankWait& wait : state.waits) {
      if (!free[index(wait.rank)] &&
          (wait.anyOne ? std::any_of(wait.on.begin(), wait.on.end(), isFree)
                       : std::all_of(wait.on.begin(), wait.on.end(), isFree))) {
        free[index(wait.rank)] = more = true;
      }
    }
  }
  for (const RankWait& wait : state.waits) {
    if (!free[index(wait.rank)]) {
      state.stuck.push_back(wait.rank);
    }
  }
  std::vector<Rank> path;
  for (Rank rank = state.stuck.empty() ? kUnknownRank : state.stuck.front(); rank >= 0;) {
    if (const auto seen = std::find(path.begin(), path.end(), rank); seen != path.end()) {
      state.cycle.assign(seen, path.end());
      return;
    }
    path.push_back(rank);
    const RankWait* wait = waitOf[index(rank)];
    const auto next = wait == nullptr ? std::vector<Rank>::const_iterator{}
                                      : std::find_if(wait->on.begin(), wait->on.end(), [&](Rank r) {
                                          return waitOf[index(r)] != nullptr && !isFree(r);
                                        });
    rank = wait == nullptr || next == wait->on.end() ? kUnknownRank : *next;
  }
}

}  // namespace

JobCut cutOf(const TraceIndex& trace, const std::vector<ReplayPosition>& positions) {
  JobCut cut{std::vector<Serial>(trace.rankCount(), 0), std::vector<bool>(trace.rankCount())};
  for (std::size_t r = 0; r < trace.rankCount() && !positions.empty(); ++r) {
    cut.done[r] = trace.lastSerial(static_cast<Rank>(r));
  }
  for (const ReplayPosition& position : positions) {
    if (position.rank >= 0 && index(position.rank) < trace.rankCount() && position.next > 0) {
      cut.done[index(position.rank)] = std::min(position.next - 1, trace.lastSerial(position.rank));
      cut.inside[index(position.rank)] =
          position.inside && position.next <= trace.lastSerial(position.rank);
    }
  }
  return cut;
}

JobCut cutAtEnd(const TraceIndex& trace) {
  JobCut cut{std::vector<Serial>(trace.rankCount(), 0), std::vector<bool>(trace.rankCount())};
  for (std::size_t r = 0; r < trace.rankCount(); ++r) {
    const EventRef last{static_cast<Rank>(r), trace.lastSerial(static_cast<Rank>(r))};
    cut.done[r] = last.serial;
    if (!trace.contains(last)) {
      continue;
    }
    const EventKind kind = trace.event(last).kind;
    const auto& receives = trace.execution().ranks[r].receives;
    const auto posted = trace.links().postedAt(last);
    const bool hangs = ((kind == EventKind::Receive || kind == EventKind::SendReceive) &&
                        std::any_of(posted.begin(), posted.end(),
                                    [&](std::uint32_t p) {
                                      return receives[p].completion == 0 &&
                                             receives[p].state == ReceiveState::Pending;
                                    })) ||
                       (kind == EventKind::Collective && trace.collectives().at(last) != kNone &&
                        trace.links().collectivesDoneAt(last).empty()) ||
                       ((kind == EventKind::Completion || kind == EventKind::Send) &&
                        r < trace.data().ends.size() && trace.data().ends[r].inside);
    if (hangs) {
      --cut.done[r];
      cut.inside[r] = true;
    }
  }
  return cut;
}

JobCut cutJustBefore(const TraceIndex& trace, EventRef event) {
  JobCut cut{pastOf(trace, event), std::vector<bool>(trace.rankCount())};
  if (trace.contains(event)) {
    cut.done[index(event.rank)] = event.serial - 1;
  }
  return cut;
}

JobState jobStateAt(const TraceIndex& trace, const JobCut& cut) {
  JobState state;
  if (const std::vector<CallNow>& calls = trace.data().calls; !calls.empty()) {
    state.waits = waitsOfCalls(calls, trace.rankCount());
    state.cycle = circleOfCalls(calls, trace.rankCount());
    return state;
  }
  std::vector<std::vector<QueueItem>> unexpected(trace.rankCount());
  addUnexpected(trace, cut, unexpected);
  for (std::size_t r = 0; r < trace.rankCount(); ++r) {
    const auto rank = static_cast<Rank>(r);
    addPosted(trace, cut, rank, state);
    state.items.insert(state.items.end(), unexpected[r].begin(), unexpected[r].end());
    if (RankWait wait = NextEvent(trace, cut, rank).find(); !wait.why.isEmpty()) {
      state.waits.push_back(std::move(wait));
    }
  }
  findStuck(trace, cut, state);
  return state;
}

QString queuesCsv(const TraceIndex& trace, const JobState& state) {
  QString out = u"rank,queue,peer,tag,communicator,bytes,event_rank,event_serial,matched\n"_s;
  for (const QueueItem& item : state.items) {
    const bool posted = item.kind == QueueItem::Kind::Posted;
    QString comm = commText(trace, item.comm);
    comm.replace(u'"', u"\"\""_s);
    out += u"%1,%2,%3,%4,\"%5\",%6,%7,%8,%9\n"_s.arg(item.rank)
               .arg(posted ? u"posted"_s : u"unexpected"_s)
               .arg(item.peer)
               .arg(item.tag)
               .arg(comm)
               .arg(item.bytes)
               .arg(item.event.rank)
               .arg(item.event.serial)
               .arg(posted && item.message != kNone ? 1 : 0);
  }
  return out;
}

QString waitsDot(const JobState& state) {
  QString out = u"digraph waits {\n"_s;
  for (const RankWait& wait : state.waits) {
    QString why = wait.why;
    why.replace(u'\\', u"\\\\"_s).replace(u'"', u"\\\""_s);
    for (const Rank on : wait.on) {
      out += u"  %1 -> %2 [label=\"%3\"%4];\n"_s.arg(wait.rank).arg(on).arg(
          why, wait.anyOne ? u", style=dashed"_s : QString());
    }
  }
  for (const Rank rank : state.stuck) {
    out += u"  %1 [color=red];\n"_s.arg(rank);
  }
  return out + u"}\n"_s;
}

}  // namespace pf::views
