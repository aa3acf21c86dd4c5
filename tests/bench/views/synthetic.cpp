// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/bench/views/synthetic.h"

#include <algorithm>
#include <array>
#include <csignal>
#include <ctime>
#include <random>
#include <utility>
#include <vector>

#include "db/store/trace_writer.h"
#include "replay_engine/base/large_vector.h"
#include "replay_engine/races/race_classes.h"
#include "replay_engine/races/races.h"

namespace pf::bench {
namespace {

enum Call : std::uint16_t { Init, Irecv, Send, Wait, Recv, Allreduce, Finalize };
constexpr Tag kHalo = 1;
constexpr Tag kBurst = 7;
constexpr Tag kRandom = 9;

class Maker {
 public:
  explicit Maker(const Traffic& traffic)
      : m_traffic(traffic), m_random(traffic.seed), m_waiting(index(traffic.ranks)) {
    m_execution.callNames = {"MPI_Init", "MPI_Irecv",     "MPI_Send",    "MPI_Wait",
                             "MPI_Recv", "MPI_Allreduce", "MPI_Finalize"};
    Communicator world{0, "MPI_COMM_WORLD", {}, {}};
    for (Rank rank = 0; rank < traffic.ranks; ++rank) {
      world.group.push_back(rank);
    }
    m_execution.communicators = {world};
    for (std::int32_t line = 10; line < 20; ++line) {
      m_execution.sites.push_back(
          {"/home/user/stencil", 0x1000 + 16U * static_cast<std::uint64_t>(line),
           line < 15 ? "exchange" : "collect", "/home/user/stencil.c", line});
    }
    m_execution.ranks.resize(index(traffic.ranks));
  }

  Execution make() {
    reserve();
    for (Rank rank = 0; rank < m_traffic.ranks; ++rank) {
      event(rank, EventKind::Local, Init, 0, kUnknownRank, kAnyTag, 0);
    }
    std::size_t done = index(m_traffic.ranks);
    for (int round = 1; done < m_traffic.events; ++round) {
      done += playRound(round);
    }
    for (Rank rank = 0; rank < m_traffic.ranks; ++rank) {
      event(rank, EventKind::Local, Finalize, 9, kUnknownRank, kAnyTag, 0);
    }
    return std::move(m_execution);
  }

 private:
  RankHistory& history(Rank rank) { return m_execution.ranks[index(rank)]; }
  [[nodiscard]] Rank wrapped(Rank rank) const { return (rank + m_traffic.ranks) % m_traffic.ranks; }

  Serial event(Rank rank, EventKind kind, Call call, std::uint32_t site, Rank peer, Tag tag,
               std::uint64_t bytes) {
    Event made;
    made.kind = kind;
    made.call = call;
    made.site = site;
    made.comm = kind == EventKind::Local || kind == EventKind::Completion ? kNone : 0;
    made.peer = peer;
    made.tag = tag;
    made.bytes = bytes;
    history(rank).events.push_back(made);
    return history(rank).events.size();
  }

  void send(Rank rank, Rank to, Tag tag, std::uint32_t site, std::uint64_t bytes) {
    SentMessage sent;
    sent.event = event(rank, EventKind::Send, Send, site, to, tag, bytes);
    sent.comm = 0;
    sent.dest = to;
    sent.tag = tag;
    history(rank).sends.push_back(sent);
  }

  void receive(Rank rank, Rank wanted, Rank from, Tag tag, std::uint32_t site) {
    PostedReceive made;
    made.post = event(rank, EventKind::Receive, Recv, site, wanted, tag, 0);
    made.completion = made.post;
    made.comm = 0;
    made.wantedSource = wanted;
    made.wantedTag = tag;
    made.state = ReceiveState::Complete;
    made.source = from;
    made.tag = tag;
    history(rank).receives.push_back(made);
  }

  /// As the decoder of a log does, which knows its length.
  void reserve() {
    const std::size_t each = m_traffic.events / index(m_traffic.ranks);
    for (RankHistory& rank : m_execution.ranks) {
      reserveLarge(rank.events, each + each / 8);
      reserveLarge(rank.sends, each / 2);
      reserveLarge(rank.receives, each / 2);
    }
  }

  std::size_t playRound(int round) {
    const Rank ranks = m_traffic.ranks;
    const bool burst = round % m_traffic.burstEvery == 0;
    std::size_t made = 3 * index(ranks);
    std::vector<std::uint32_t> posts;
    for (Rank rank = 0; rank < ranks; ++rank) {
      PostedReceive halo;
      halo.post = event(rank, EventKind::Post, Irecv, 1, wrapped(rank - 1), kHalo, 0);
      halo.comm = 0;
      halo.wantedSource = wrapped(rank - 1);
      halo.wantedTag = kHalo;
      posts.push_back(static_cast<std::uint32_t>(history(rank).receives.size()));
      history(rank).receives.push_back(halo);
      send(rank, wrapped(rank + 1), kHalo, 2, 1024);
      if (burst) {
        send(rank, wrapped(rank - 1), kBurst, 5, 8);
        send(rank, wrapped(rank + 1), kBurst, 6, 8);
      }
      if (static_cast<int>(m_random() % 100) < m_traffic.randomPercent) {
        const Rank to = wrapped(rank + 1 + static_cast<Rank>(m_random() % (index(ranks) - 1)));
        send(rank, to, kRandom, 7, 64 + m_random() % 4096);
        m_waiting[index(to)].push_back(rank);
        made += 2;
      }
    }
    for (Rank rank = 0; rank < ranks; ++rank) {
      PostedReceive& halo = history(rank).receives[posts[index(rank)]];
      halo.completion = event(rank, EventKind::Completion, Wait, 3, kUnknownRank, kAnyTag, 0);
      halo.state = ReceiveState::Complete;
      halo.source = halo.wantedSource;
      halo.tag = kHalo;
      finishRound(rank, burst);
    }
    made += burst ? 4 * index(ranks) : 0;
    if (round % m_traffic.collectiveEvery == 0) {
      collective();
      made += index(ranks);
    }
    return made;
  }

  void finishRound(Rank rank, bool burst) {
    if (burst) {
      std::array<Rank, 2> from{wrapped(rank - 1), wrapped(rank + 1)};
      if (m_random() % 2 == 0) {
        std::swap(from[0], from[1]);
      }
      receive(rank, kAnySource, from[0], kBurst, 4);
      receive(rank, kAnySource, from[1], kBurst, 4);
    }
    for (const Rank from : m_waiting[index(rank)]) {
      receive(rank, from, from, kRandom, 8);
    }
    m_waiting[index(rank)].clear();
  }

  void collective() {
    for (Rank rank = 0; rank < m_traffic.ranks; ++rank) {
      CollectivePart part;
      part.event = event(rank, EventKind::Collective, Allreduce, 9, kUnknownRank, kAnyTag, 0);
      part.completion = part.event;
      part.comm = 0;
      part.ordinal = m_collectives;
      part.flow = CollectiveFlow::AllToAll;
      history(rank).collectives.push_back(part);
    }
    ++m_collectives;
  }

  const Traffic& m_traffic;
  std::mt19937 m_random;
  std::vector<std::vector<Rank>> m_waiting;  ///< senders of random messages, by receiver
  std::uint32_t m_collectives = 0;
  Execution m_execution;
};

db::RunInfo runInfo(const Traffic& traffic) {
  db::RunInfo run;
  run.createdUtc = run.finishedUtc = "2026-11-22T00:00:00Z";
  run.command = {"mpirun", "-n", std::to_string(traffic.ranks), "/home/user/stencil"};
  run.workingDirectory = "/home/user";
  run.launcher = "mpirun";
  run.program = "/home/user/stencil";
  run.ranks = traffic.ranks;
  if (!traffic.groups.empty()) {
    run.groups = traffic.groups;
  }
  run.mode = "all";
  run.host = "synthetic";
  run.exitStatus = 0;
  run.complete = true;
  return run;
}

}  // namespace

double processSeconds() {
  timespec now{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

Execution makeExecution(const Traffic& traffic) {
  return Maker(traffic).make();
}

Result<CollationTimes> writeSyntheticTrace(const std::string& path, const Traffic& traffic) {
  return writeTraceOf(path, traffic, makeExecution(traffic));
}

Result<CollationTimes> writeTraceOf(const std::string& path, const Traffic& traffic,
                                    Execution execution) {
  CollationTimes times;
  double start = processSeconds();
  const auto lap = [&start] {
    const double now = processSeconds();
    return now - std::exchange(start, now);
  };
  matchMessages(execution);
  times.match = lap();
  const std::vector<Race> races = findRaces(execution);
  times.races = lap();
  const db::LogicalTimes steps = logicalTimes(execution);
  times.logicalTimes = lap();
  Result<db::TraceWriter> writer = db::TraceWriter::create(path, db::Existing::Replace);
  if (!writer) {
    return writer.error();
  }
  writer->setRun(runInfo(traffic));
  for (Rank rank = 0; rank < traffic.ranks; ++rank) {
    db::RankInfo info;
    info.rank = rank;
    info.host = "synthetic";
    info.executable = "/home/user/stencil";
    info.exitStatus = 0;
    info.state = "finished";
    info.lastSerial = execution.ranks[index(rank)].events.size();
    info.complete = rank != traffic.crashed;
    if (!info.complete) {
      info.exitStatus.reset();
      info.exitSignal = SIGSEGV;
      info.state = "ended by SIGSEGV";
    }
    times.events += info.lastSerial;
    writer->addRank(info);
  }
  db::RaceClasses classes;
  classes.of = classesOfRaces(execution, races);
  classes.exact = true;
  for (const std::uint32_t number : classes.of) {
    if (number == classes.texts.size()) {
      classes.texts.emplace_back("stencil.c:14 <- stencil.c:15 stencil.c:16");
    }
  }
  Status status = writer->writeExecution(execution, races, steps, classes);
  if (status.ok()) {
    status = writer->finish();
  }
  if (!status) {
    return status.error();
  }
  times.write = lap();
  times.messages = execution.messages.size();
  times.racing = races.size();
  return times;
}

}  // namespace pf::bench
