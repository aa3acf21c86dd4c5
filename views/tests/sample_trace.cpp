// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/tests/sample_trace.h"

#include <algorithm>

namespace pf::views::test {

TraceBuilder::TraceBuilder(int ranks) {
  const std::size_t n = index(ranks);
  m_data.execution.ranks.resize(n);
  m_data.logicalTimes.resize(n);
  m_data.ends.resize(n);
  m_clocks.resize(n);
  Communicator world;
  world.name = "MPI_COMM_WORLD";
  for (Rank r = 0; r < ranks; ++r) {
    world.group.push_back(r);
  }
  m_data.execution.communicators.push_back(world);
}

std::uint16_t TraceBuilder::call(const std::string& name) {
  auto& names = m_data.execution.callNames;
  const auto it = std::find(names.begin(), names.end(), name);
  if (it != names.end()) {
    return static_cast<std::uint16_t>(it - names.begin());
  }
  names.push_back(name);
  return static_cast<std::uint16_t>(names.size() - 1);
}

std::uint32_t TraceBuilder::site(const std::string& file, int line, const std::string& function) {
  CallSite out;
  out.module = "/home/user/app";
  out.file = file;
  out.line = line;
  out.function = function;
  m_data.execution.sites.push_back(out);
  return static_cast<std::uint32_t>(m_data.execution.sites.size() - 1);
}

EventRef TraceBuilder::add(Rank rank, EventKind kind, const std::string& name, std::uint32_t where,
                           const std::vector<EventRef>& causes) {
  RankHistory& history = m_data.execution.ranks[index(rank)];
  Event event;
  event.kind = kind;
  event.call = call(name);
  event.site = where;
  event.comm = 0;
  history.events.push_back(event);
  auto& times = m_data.logicalTimes[index(rank)];
  std::uint32_t time = times.empty() ? 1 : times.back() + 1;
  std::vector<Serial> clock = m_clocks[index(rank)].empty()
                                  ? std::vector<Serial>(m_clocks.size(), 0)
                                  : m_clocks[index(rank)].back();
  for (const EventRef cause : causes) {
    time = std::max(time, m_data.logicalTimes[index(cause.rank)][cause.serial - 1] + 1);
    const auto& other = m_clocks[index(cause.rank)][cause.serial - 1];
    for (std::size_t r = 0; r < clock.size(); ++r) {
      clock[r] = std::max(clock[r], other[r]);
    }
  }
  times.push_back(time);
  clock[index(rank)] = history.events.size();
  m_clocks[index(rank)].push_back(clock);
  return {rank, history.events.size()};
}

bool TraceBuilder::before(EventRef a, EventRef b) const {
  return m_clocks[index(b.rank)][b.serial - 1][index(a.rank)] >= a.serial;
}

std::uint32_t TraceBuilder::send(Rank from, Rank to, Tag tag, std::uint64_t bytes,
                                 std::uint32_t where) {
  const EventRef ref = add(from, EventKind::Send, "MPI_Send", where, {});
  RankHistory& history = m_data.execution.ranks[index(from)];
  history.events.back().peer = to;
  history.events.back().tag = tag;
  history.events.back().bytes = bytes;
  history.sends.push_back({ref.serial, 0, to, tag, false, 0});
  Message message;
  message.send = ref;
  message.sendIndex = static_cast<std::uint32_t>(history.sends.size() - 1);
  message.dest = to;
  message.comm = 0;
  message.tag = tag;
  m_data.execution.messages.push_back(message);
  return static_cast<std::uint32_t>(m_data.execution.messages.size() - 1);
}

Serial TraceBuilder::receive(Rank rank, Rank wanted, Tag tag, std::uint32_t m,
                             std::uint32_t where) {
  Message& message = m_data.execution.messages[m];
  const EventRef ref = add(rank, EventKind::Receive, "MPI_Recv", where, {message.send});
  RankHistory& history = m_data.execution.ranks[index(rank)];
  history.events.back().peer = wanted;
  history.events.back().tag = tag;
  message.post = static_cast<std::uint32_t>(history.receives.size());
  message.completion = ref.serial;
  history.receives.push_back({ref.serial, ref.serial, 0, wanted, tag, ReceiveState::Complete,
                              message.send.rank, message.tag, m});
  return ref.serial;
}

std::uint32_t TraceBuilder::post(Rank rank, Rank wanted, Tag tag, std::uint32_t where) {
  const EventRef ref = add(rank, EventKind::Post, "MPI_Irecv", where, {});
  RankHistory& history = m_data.execution.ranks[index(rank)];
  history.events.back().peer = wanted;
  history.events.back().tag = tag;
  history.receives.push_back(
      {ref.serial, 0, 0, wanted, tag, ReceiveState::Pending, kUnknownRank, kAnyTag, kNone});
  return static_cast<std::uint32_t>(history.receives.size() - 1);
}

Serial TraceBuilder::wait(Rank rank,
                          const std::vector<std::pair<std::uint32_t, std::uint32_t>>& done,
                          std::uint32_t where) {
  std::vector<EventRef> causes;
  for (const auto& [receive, message] : done) {
    causes.push_back(m_data.execution.messages[message].send);
  }
  const EventRef ref = add(rank, EventKind::Completion,
                           done.size() == 1 ? "MPI_Wait" : "MPI_Waitall", where, causes);
  for (const auto& [receive, m] : done) {
    Message& message = m_data.execution.messages[m];
    PostedReceive& posted = m_data.execution.ranks[index(rank)].receives[receive];
    posted.completion = ref.serial;
    posted.state = ReceiveState::Complete;
    posted.source = message.send.rank;
    posted.tag = message.tag;
    posted.message = m;
    message.post = receive;
    message.completion = ref.serial;
  }
  return ref.serial;
}

void TraceBuilder::probe(Rank rank, Rank wanted, Tag tag, std::uint32_t m, std::uint32_t where) {
  const Message& message = m_data.execution.messages[m];
  const EventRef ref = add(rank, EventKind::Probe, "MPI_Probe", where, {message.send});
  RankHistory& history = m_data.execution.ranks[index(rank)];
  history.probes.push_back({ref.serial, 0, wanted, tag, message.send.rank, message.tag,
                            static_cast<std::uint32_t>(history.receives.size()), m});
}

void TraceBuilder::collective(const std::string& name, std::uint32_t where) {
  std::vector<EventRef> last;
  for (std::size_t r = 0; r < m_clocks.size(); ++r) {
    if (!m_clocks[r].empty()) {
      last.push_back({static_cast<Rank>(r), m_clocks[r].size()});
    }
  }
  for (std::size_t r = 0; r < m_clocks.size(); ++r) {
    const EventRef ref = add(static_cast<Rank>(r), EventKind::Collective, name, where, last);
    auto& parts = m_data.execution.ranks[r].collectives;
    const auto ordinal = static_cast<std::uint32_t>(parts.size());
    parts.push_back(
        {ref.serial, ref.serial, 0, ordinal, CollectiveFlow::AllToAll, kUnknownRank, true, true});
  }
}

Serial TraceBuilder::local(Rank rank, const std::string& name, std::uint32_t where) {
  return add(rank, EventKind::Local, name, where, {}).serial;
}

void TraceBuilder::fail(Rank rank, Serial serial, const QString& reason) {
  m_data.failure = {{rank, serial}, reason};
}

void TraceBuilder::end(Rank rank, RankEndKind kind, const QString& text) {
  m_data.ends[index(rank)] = {kind, text};
}

void TraceBuilder::findRaces() {
  const auto& messages = m_data.execution.messages;
  std::vector<std::vector<std::uint32_t>> to(m_clocks.size());
  for (std::size_t m = 0; m < messages.size(); ++m) {
    to[index(messages[m].dest)].push_back(static_cast<std::uint32_t>(m));
  }
  for (std::size_t r = 0; r < m_clocks.size(); ++r) {
    const auto& receives = m_data.execution.ranks[r].receives;
    for (std::size_t i = 0; i < receives.size(); ++i) {
      const PostedReceive& receive = receives[i];
      if (receive.wantedSource != kAnySource || receive.message == kNone) {
        continue;
      }
      Race race{static_cast<Rank>(r), false, static_cast<std::uint32_t>(i), receive.message, {}};
      std::vector<bool> seen(m_clocks.size(), false);
      for (const std::uint32_t m : to[r]) {
        const Message& c = messages[m];
        const bool matches = (receive.wantedTag == kAnyTag || receive.wantedTag == c.tag) &&
                             c.send.rank != receive.source && (c.post == kNone || c.post > i) &&
                             !seen[index(c.send.rank)];
        if (matches) {
          seen[index(c.send.rank)] = true;
          if (!before({race.rank, receive.completion}, c.send)) {
            race.alternatives.push_back(m);
          }
        }
      }
      if (!race.alternatives.empty()) {
        std::sort(race.alternatives.begin(), race.alternatives.end(),
                  [&](auto a, auto b) { return messages[a].send.rank < messages[b].send.rank; });
        m_data.races.push_back(race);
      }
    }
  }
}

TraceDataPtr TraceBuilder::build(const QString& title) {
  m_data.title = title;
  findRaces();
  m_data.pyramid = std::make_shared<const KeptCutLevels>(
      densityPyramid(m_data.execution, m_data.races.list(), m_data.logicalTimes));
  return std::make_shared<const TraceData>(std::move(m_data));
}

TraceDataPtr masterWorker() {
  TraceBuilder b(4);
  const std::string file = "/home/user/pool/master.c";
  const auto init = b.site(file, 31, "main");
  const auto hand = b.site(file, 58, "hand_out");
  const auto collect = b.site(file, 88, "collect");
  const auto stop = b.site(file, 97, "collect");
  const auto take = b.site("/home/user/pool/worker.c", 24, "work");
  const auto give = b.site("/home/user/pool/worker.c", 40, "work");
  for (Rank r = 0; r < 4; ++r) {
    b.local(r, "MPI_Init", init);
  }
  b.collective("MPI_Bcast", init);
  std::vector<std::uint32_t> tasks;
  for (Rank r = 1; r < 4; ++r) {
    tasks.push_back(b.send(0, r, 1, 64, hand));
  }
  std::vector<std::uint32_t> results(4, kNone);
  for (Rank r = 1; r < 4; ++r) {
    b.receive(r, 0, 1, tasks[index(r) - 1], take);
    results[index(r)] = b.send(r, 0, 7, 1536, give);
  }
  int tag = 1;
  for (const Rank from : {2, 1, 3, 2, 1}) {
    b.receive(0, kAnySource, 7, results[index(from)], collect);
    const auto task = b.send(0, from, tag, 64, hand);
    b.receive(from, 0, tag, task, take);
    results[index(from)] = b.send(from, 0, 7, 1536, give);
  }
  const auto early = b.post(0, kAnySource, 7, collect);
  const auto posted = b.post(0, kAnySource, 7, collect);
  b.wait(0, {{early, results[3]}, {posted, results[1]}}, collect);
  b.receive(0, kAnySource, 7, results[2], collect);
  const Serial abort = b.local(0, "MPI_Abort", stop);
  const auto lost = b.send(1, 3, 9, 16, give);
  (void)lost;
  b.fail(0, abort, QStringLiteral("MPI_Abort(1): total is 4711, expected 4712"));
  b.end(0, RankEndKind::Aborted, QStringLiteral("MPI_Abort(1)"));
  for (Rank r = 1; r < 4; ++r) {
    b.end(r, RankEndKind::Killed, QStringLiteral("killed by mpirun"));
  }
  return b.build(QStringLiteral("pool, 4 ranks"));
}

TraceDataPtr stencil(int ranks, int steps) {
  TraceBuilder b(ranks);
  const auto halo = b.site("/home/user/heat/heat.c", 120, "exchange");
  const auto norm = b.site("/home/user/heat/heat.c", 144, "residual");
  const auto report = b.site("/home/user/heat/report.c", 17, "report");
  for (int step = 0; step < steps; ++step) {
    std::vector<std::uint32_t> right(index(ranks), kNone);
    std::vector<std::uint32_t> left(index(ranks), kNone);
    for (Rank r = 0; r < ranks; ++r) {
      right[index(r)] = r + 1 < ranks ? b.send(r, r + 1, 1, 4096, halo) : kNone;
      left[index(r)] = r > 0 ? b.send(r, r - 1, 2, 4096, halo) : kNone;
    }
    for (Rank r = 0; r < ranks; ++r) {
      if (r > 0) {
        b.receive(r, r - 1, 1, right[index(r) - 1], halo);
      }
      if (r + 1 < ranks) {
        b.receive(r, r + 1, 2, left[index(r) + 1], halo);
      }
    }
    if (step % 4 == 3) {
      b.collective("MPI_Allreduce", norm);
    }
    if (step % 7 == 5) {
      std::vector<std::uint32_t> notes;
      for (Rank r = ranks - 1; r > 0; r -= 9) {
        notes.push_back(b.send(r, 0, 5, 32, report));
      }
      for (const std::uint32_t m : notes) {
        b.receive(0, kAnySource, 5, m, report);
      }
    }
  }
  for (Rank r = 0; r < ranks; ++r) {
    b.local(r, "MPI_Finalize");
    b.end(r, RankEndKind::Finished, {});
  }
  return b.build(QStringLiteral("heat, %1 ranks").arg(ranks));
}

}  // namespace pf::views::test
