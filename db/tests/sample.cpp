// SPDX-License-Identifier: GPL-3.0-or-later
#include "db/tests/sample.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <random>
#include <sstream>
#include <type_traits>
#include <utility>

#include "replay_engine/base/unique_fd.h"
#include "replay_engine/rank/payload/payload_writer.h"

namespace pf::db {
namespace {

/// Writes values one after another, strings with their length.
class Dump {
 public:
  template <typename... T>
  Dump& operator()(const T&... values) {
    (put(values), ...);
    m_out << '\n';
    return *this;
  }
  [[nodiscard]] std::string text() const { return m_out.str(); }

 private:
  template <typename T>
  void put(const T& value) {
    if constexpr (std::is_enum_v<T>) {
      m_out << static_cast<int>(value) << ' ';
    } else {
      m_out << +value << ' ';
    }
  }
  void put(const std::string& value) { m_out << value.size() << ':' << value << ' '; }
  void put(const char* value) { m_out << value << ' '; }
  template <typename T>
  void put(const std::optional<T>& value) {
    value.has_value() ? put(*value) : put("null");
  }
  template <typename T>
  void put(const std::vector<T>& values) {
    m_out << '[';
    for (const T& value : values) {
      put(value);
    }
    m_out << ']';
  }
  std::ostringstream m_out;
};

void addMessage(Execution& execution, Rank from, SentMessage send, std::uint32_t post,
                Serial completion) {
  RankHistory& source = execution.ranks[static_cast<std::size_t>(from)];
  Message message;
  message.send = {from, send.event};
  message.sendIndex = static_cast<std::uint32_t>(source.sends.size());
  message.dest = send.dest;
  message.comm = send.comm;
  message.tag = send.tag;
  message.post = post;
  message.completion = completion;
  source.sends.push_back(send);
  execution.messages.push_back(message);
}

Execution smallExecution() {
  Execution e;
  e.callNames = {"MPI_Init", "MPI_Send",  "MPI_Recv",   "MPI_Irecv",
                 "MPI_Wait", "MPI_Probe", "MPI_Barrier"};
  e.communicators = {{0, "MPI_COMM_WORLD", {0, 1, 2}, {}},
                     {0xF000000000000001U, "it's \"dup\"; DROP TABLE event; --", {2, 1}, {0}}};
  e.sites = {{"/home/u/a.out", 0x1234, "main", "/home/u/main.c", 42},
             {"/lib/libm.so", 0xFFFFFFFFFFFFFFF0U, "", "", 0}};
  e.ranks.resize(3);
  const auto event = [&](std::size_t rank, EventKind kind, std::uint16_t call, Rank peer, Tag tag) {
    e.ranks[rank].events.push_back(
        {kind, call, rank == 2 ? kNone : 0U, 0, peer, tag, kind == EventKind::Send ? 8U : 0U});
  };
  event(0, EventKind::Local, 0, kUnknownRank, kAnyTag);
  event(0, EventKind::Post, 3, kAnySource, kAnyTag);
  event(0, EventKind::Completion, 4, kUnknownRank, kAnyTag);
  event(0, EventKind::Probe, 5, kAnySource, 7);
  event(0, EventKind::Receive, 2, kAnySource, 7);
  event(0, EventKind::Collective, 6, kUnknownRank, kAnyTag);
  event(0, EventKind::Post, 3, 2, 9);
  for (const std::size_t rank : {1U, 2U}) {
    event(rank, EventKind::Local, 0, kUnknownRank, kAnyTag);
    event(rank, EventKind::Send, 1, 0, 7);
    event(rank, EventKind::Collective, 6, kUnknownRank, kAnyTag);
    event(rank, EventKind::Send, 1, 0, 2147483647);
  }
  e.ranks[0].receives = {{2, 3, 0, kAnySource, kAnyTag, ReceiveState::Complete, 2, 7, 2},
                         {5, 5, 0, kAnySource, 7, ReceiveState::Complete, 1, 7, 0},
                         {7, 0, 0, 2, 9, ReceiveState::Pending, kUnknownRank, kAnyTag, kNone}};
  e.ranks[0].probes = {{4, 0, kAnySource, 7, 1, 7, 1, 0}};
  for (std::size_t rank = 0; rank < 3; ++rank) {
    const Serial serial = rank == 0 ? 6 : 3;
    e.ranks[rank].collectives = {{serial, rank == 2 ? 0 : serial, 0, 0, CollectiveFlow::AllToAll,
                                  kUnknownRank, rank != 1, true}};
  }
  addMessage(e, 1, {2, 0, 0, 7, true, 2}, 1, 5);
  addMessage(e, 1, {4, 0, 0, 2147483647, false, 0}, kNone, 0);
  addMessage(e, 2, {2, 0, 0, 7, false, 0}, 0, 3);
  addMessage(e, 2, {4, 0, 0, 2147483647, false, 0}, kNone, 0);
  return e;
}

void fillSession(Content& c) {
  c.breakpoints = {{1,
                    "line",
                    "/home/u/it's.c",
                    42,
                    "main",
                    "  x = \"y\";",
                    "i == 3 && s == \"'\"",
                    2,
                    true,
                    {}},
                   {2, "function", "", 0, "worker", "", "", 0, false, {0, 2}},
                   {3,
                    "watch",
                    "",
                    0,
                    "",
                    "",
                    "",
                    0,
                    true,
                    {1},
                    "a[i]->b",
                    true,
                    {"bt", "p \"x\""},
                    "{i} \n",
                    "0, 2-4"}};
  c.watches = {{1, "a[i]->b"}, {5, "\xE2\x82\xAC"}};
  c.cycles = {{1, "2026-11-20T13:50:00Z", "2026-11-20T13:51:00Z", "abc", "first",
               0xFFFFFFFFFFFFFFFFU, true, 134},
              {2, "2026-11-20T13:52:00Z", "", "abc", "again", {}, {}, {}}};
  c.stops = {{1, 1, 0, 5, "breakpoint", "/home/u/main.c", 42}, {2, 2, 1, 3, "receive", "", 0}};
  c.hits = {{1, 1, 1, 0, 5, 3}, {2, 1, 3, 1, 6, 1, {"a[i]->b", "-1", "s", "\"\303\251\""}}};
  c.notes = {{1, 0, 5, "the wrong one", "2026-11-20T13:55:00Z", true},
             {2, kUnknownRank, 0, "whole run", "2026-11-20T13:56:00Z", false},
             {6, 1, 3, "failing receive", "2026-11-20T13:59:01Z", true}};
  c.groups = {{3, "left \"half\"", "0, 2"}};
  c.arrangements = {{4, "1", "waiting", {"left \"half\"", "0, 2"}}};
  c.benign = {{5, "f.c:1 <- g.c:2", "it is\nso", "2026-11-20T13:59:00Z"}};
}

template <typename T>
Status addAll(TraceStore& store, const std::vector<T>& values) {
  std::vector<T> copy = values;
  return copy.empty() ? Status() : store.session().addAll(copy);
}

template <typename T>
Status readAll(TraceStore& store, std::vector<T>& values) {
  Result<std::vector<T>> all = store.session().all<T>();
  if (!all) {
    return all.error();
  }
  values = std::move(all).value();
  return {};
}

}  // namespace

Content smallContent() {
  Content c;
  c.run.uuid = "11111111-2222-4333-8444-555555555555";
  c.run.createdUtc = "2026-11-20T13:49:59Z";
  c.run.finishedUtc = "2026-11-20T13:50:10Z";
  c.run.command = {"mpirun",
                   "-n",
                   "3",
                   "./a out",
                   "it's",
                   "\"q\"\\",
                   "tab\there",
                   "\xFF\xC3"
                   "bad",
                   "\xE2\x82\xAC"};
  c.run.workingDirectory = "/home/u/it's; DROP TABLE run; --";
  c.run.launcher = "/usr/bin/mpirun";
  c.run.program = "/home/u/a out";
  c.run.ranks = 3;
  c.run.mode = "outcomes";
  c.run.mpiLibrary = "Open MPI v4.1.4";
  c.run.host = "node1";
  c.run.version = "0.1.0";
  c.run.exitStatus = 134;
  c.run.complete = false;
  c.run.salt = 0xDEADBEEFCAFEF00DU;
  c.run.input = RawBytes{std::string("3 4\n\0\xff", 6)};
  c.execution = smallExecution();
  c.run.messages = 4;
  c.run.wildcardReceives = 2;
  c.run.racingReceives = 2;
  c.races = {{0, false, 0, 2, {0}}, {0, true, 0, 0, {2, 3}}};
  c.raceClasses = {"benign", ""};
  for (const RankHistory& history : c.execution.ranks) {
    std::vector<std::uint32_t>& times = c.times.emplace_back();
    for (std::size_t i = 0; i < history.events.size(); ++i) {
      times.push_back(static_cast<std::uint32_t>(2 * i + 1));
    }
  }
  c.logs.resize(3);
  for (Rank r = 0; r < 3; ++r) {
    const auto rank = static_cast<std::size_t>(r);
    for (std::size_t ordinal = 0; ordinal <= rank; ++ordinal) {
      std::vector<std::uint8_t>& data = c.logs[rank].emplace_back();
      for (std::size_t i = 0; i < 700 * (ordinal + 1) * rank; ++i) {
        data.push_back(static_cast<std::uint8_t>(i * 31 + rank));
      }
    }
    RankInfo info{r, 1000 + r,      "node1", "/home/u/a out", "abcdef",  1, {},
                  6, "in MPI_Recv", 7,       r == 1,          "SIGABRT", 0, 0};
    info.logChunks = c.logs[rank].size();
    for (const auto& data : c.logs[rank]) {
      info.logBytes += data.size();
    }
    info.probesAnswered = rank;
    info.tscReads = r == 1 ? std::optional<std::uint64_t>(7) : std::nullopt;
    info.wildcardReceives = 4;
    info.racesFoundBy = "window-8";
    info.racesFound = rank + 1;
    info.sourcesKept = 3;
    info.routesKept = r == 2 ? std::optional<std::uint64_t>(3) : std::nullopt;
    c.ranks.push_back(info);
  }
  c.run.sameAddresses = true;
  c.run.longestWait = 2500;
  c.launch = {{0, LaunchFact::kAll, "argument", "0", "a out"},
              {0, LaunchFact::kAll, "environ", "HOME", "/home/u"},
              {0, LaunchFact::kAll, "version", "1", ""},
              {1, LaunchFact::kAlso, "library", "libm.so", "build-id ab"},
              {1, LaunchFact::kLacks, "environ", "HOME", "/home/u"}};
  c.inputs = {{0, "file", "in%.dat", 12, -5}, {2, "variable", "SEED", 0, 0}};
  c.notGuaranteed = {{0, "MPI_Accumulate at rma.c:12"}};
  c.modules = {{"/home/u/a out", "abcdef"}, {"/lib/libm.so", ""}};
  fillSession(c);
  return c;
}

Content groupContent() {
  Content c = smallContent();
  c.run.groups = "0; 1, 2";
  const Directory directory;
  for (const Rank rank : {1, 2}) {
    PayloadWriter writer;
    const std::string path = directory.file(std::to_string(rank));
    EXPECT_TRUE(writer.open(path.c_str(), c.run.salt, rank, c.run.ranks));
    for (std::uint64_t i = 1; i <= 5; ++i) {
      const std::string content = "content " + std::to_string(i * 7919U * i) + " of a message";
      writer.begin(i == 3 ? PayloadKind::Collective : PayloadKind::Message, 0, 7, i);
      writer.add(content.data(), content.size() - i);
      writer.end();
    }
    writer.close(rank == 1);
    c.payloadFiles[rank] = readFile(path);
    c.payloads.push_back({rank, c.run.salt, 5, c.payloadFiles[rank].size() - kPayloadHeaderSize, 0,
                          1, rank == 1 ? PayloadInfo::kComplete : PayloadInfo::kCut});
  }
  c.parts = {{3, "1-2"}};
  c.judged = {{2, "MPI_Recv collect: MPI_Recv(&x);\nMPI_Send work: MPI_Send(&x);", "bug",
               "issue 12", "2026-11-28T13:59:00Z"}};
  c.printed = {{1, RawBytes{std::string("one\0\xff", 5)}, 0, {}},
               {2, RawBytes{"begin"}, 7, RawBytes{"end\n"}}};
  c.branches = {{1, "00000000-0000-4000-8000-00000000abcd", "/home/a/app.pft", "flip"}};
  c.flips = {{1, 0, 3, 2, 1, "MPI_Recv at a.c:7"}, {2, 1, 2, 0, 5, ""}};
  return c;
}

Execution largeExecution(int ranks, std::size_t events) {
  Execution e;
  const auto count = static_cast<std::size_t>(ranks);
  e.callNames = {"MPI_Send", "MPI_Recv"};
  e.communicators = {{0, "MPI_COMM_WORLD", {}, {}}};
  e.sites = {{"/a.out", 1, "f", "f.c", 1}, {"/a.out", 2, "g", "g.c", 2}};
  e.ranks.resize(count);
  const std::size_t rounds = events / count / 2;
  for (std::size_t r = 0; r < count; ++r) {
    const auto right = static_cast<Rank>((r + 1) % count);
    const auto left = static_cast<Rank>((r + count - 1) % count);
    RankHistory& history = e.ranks[r];
    for (std::size_t i = 0; i < rounds; ++i) {
      history.events.push_back({EventKind::Send, 0, 0, 0, right, 5, 1024});
      history.events.push_back({EventKind::Receive, 1, 1, 0, kAnySource, 5, 0});
      history.receives.push_back(
          {2 * i + 2, 2 * i + 2, 0, kAnySource, 5, ReceiveState::Complete, left, 5,
           static_cast<std::uint32_t>(static_cast<std::size_t>(left) * rounds + i)});
      addMessage(e, static_cast<Rank>(r), {2 * i + 1, 0, right, 5, false, 0},
                 static_cast<std::uint32_t>(i), 2 * i + 2);
    }
  }
  return e;
}

namespace {

/// Completions that come later than the calls, some of them never; parts of collectives.
void delayCompletions(Execution& e) {
  for (RankHistory& history : e.ranks) {
    const Serial last = history.events.size();
    for (std::size_t i = 0; i < history.receives.size(); ++i) {
      PostedReceive& receive = history.receives[i];
      receive.completion = i % 11 == 3 ? 0 : std::min(last, receive.post + (i * 7) % 5);
    }
    for (std::size_t i = 0; i < history.sends.size(); ++i) {
      SentMessage& send = history.sends[i];
      send.synchronous = i % 3 == 0;
      send.syncCompletion = i % 9 == 0 ? std::min(last, send.event + i % 4) : 0;
    }
    for (Serial serial = 5; serial <= last; serial += 50) {
      history.collectives.push_back({serial, serial % 100 == 5 ? 0 : std::min(last, serial + 30), 0,
                                     static_cast<std::uint32_t>(serial / 50),
                                     CollectiveFlow::AllToAll, kUnknownRank, true, true});
    }
  }
}

/// Races of the first `count` receives of a rank: each other rank has a message to give, and the one
/// that is taken gives place to a later one.
void addRaces(Content& c, Rank rank, std::uint32_t count, std::mt19937& random) {
  const std::size_t sends = c.execution.ranks[0].sends.size();
  std::vector<std::uint32_t> front;
  for (std::size_t source = 0; source < c.execution.ranks.size(); ++source) {
    front.push_back(static_cast<std::uint32_t>(source * sends));
  }
  for (std::uint32_t i = 0; i < count; ++i) {
    const auto other = static_cast<std::size_t>(rank) + 1 +
                       (random() % 16 == 0 ? random() : i) % (front.size() - 1);
    const std::size_t taken = other % front.size();
    Race& race = c.races.emplace_back();
    race.rank = rank;
    race.index = i;
    race.taken = front[taken];
    for (std::size_t source = 0; source < front.size(); ++source) {
      if (source != taken && source != static_cast<std::size_t>(rank)) {
        race.alternatives.push_back(front[source]);
      }
    }
    front[taken] = std::min(front[taken] + (i % 8 == 0 ? 2U : 1U),
                            static_cast<std::uint32_t>((taken + 1) * sends - 1));
    c.raceClasses.emplace_back(i % 100 == 0 ? "" : (i % 7 == 0 ? "f.c:1 <- g.c:2" : "f.c:1 <-"));
  }
}

}  // namespace

Content racingContent() {
  Content c = smallContent();
  c.execution = largeExecution(4, 36000);
  c.run.ranks = 4;
  delayCompletions(c.execution);
  c.races.clear();
  c.raceClasses.clear();
  std::mt19937 random(8);
  addRaces(c, 0, 4300, random);
  addRaces(c, 2, 300, random);
  c.run.messages = c.execution.messages.size();
  c.run.wildcardReceives = 18000;
  c.run.racingReceives = c.races.size();
  c.times.assign(4, {});
  for (std::size_t rank = 0; rank < 4; ++rank) {
    for (std::size_t i = 0; i < c.execution.ranks[rank].events.size(); ++i) {
      c.times[rank].push_back(static_cast<std::uint32_t>(2 * i + rank + 1));
      c.execution.ranks[rank].times.push_back({1000 * i, 1000 * i + i % 7});
    }
  }
  c.execution.timeOrigin = TimeOrigin::Recording;
  return c;
}

Status writeContent(const std::string& path, const Content& content) {
  Result<TraceWriter> writer = TraceWriter::create(path, Existing::Replace);
  if (!writer) {
    return writer.error();
  }
  writer->setRun(content.run);
  for (const RankInfo& rank : content.ranks) {
    writer->addRank(rank);
  }
  std::vector<Status> all;
  for (const LaunchFact& fact : content.launch) {
    writer->addLaunchFact(fact);
  }
  for (const SeenInput& input : content.inputs) {
    writer->addSeenInput(input);
  }
  for (const Printed& printed : content.printed) {
    writer->addPrinted(printed);
  }
  for (const NotGuaranteed& use : content.notGuaranteed) {
    writer->addNotGuaranteed(use);
  }
  for (const ModuleInfo& module : content.modules) {
    all.push_back(writer->addModule(module));
  }
  for (std::size_t rank = 0; rank < content.logs.size(); ++rank) {
    for (std::size_t i = 0; i < content.logs[rank].size(); ++i) {
      all.push_back(writer->addLogChunk(static_cast<Rank>(rank), i, content.logs[rank][i]));
    }
  }
  for (const auto& [rank, bytes] : content.payloadFiles) {
    const UniqueFd file(::memfd_create("payload", MFD_CLOEXEC));
    EXPECT_EQ(::write(file.get(), bytes.data(), bytes.size()), std::ssize(bytes));
    const Result<PayloadInfo> added = writer->addPayload(rank, file.get());
    all.push_back(added ? Status() : Status(added.error()));
  }
  all.push_back(
      writer->writeExecution(content.execution, content.races, content.times, content.raceClasses));
  all.push_back(writer->finish());
  for (const Status& status : all) {
    if (!status) {
      return status;
    }
  }
  Result<TraceStore> store = TraceStore::open(path, TraceStore::Mode::ReadWrite);
  if (!store) {
    return store.error();
  }
  for (const Status& status :
       {addAll(*store, content.breakpoints), addAll(*store, content.watches),
        addAll(*store, content.cycles), addAll(*store, content.stops), addAll(*store, content.hits),
        addAll(*store, content.notes), addAll(*store, content.groups),
        addAll(*store, content.arrangements), addAll(*store, content.benign),
        addAll(*store, content.parts), addAll(*store, content.judged),
        addAll(*store, content.branches), addAll(*store, content.flips)}) {
    if (!status) {
      return status;
    }
  }
  return {};
}

Result<Content> readContent(const std::string& path) {
  Result<TraceStore> store = TraceStore::open(path, TraceStore::Mode::ReadOnly);
  if (!store) {
    return store.error();
  }
  Content c;
  c.run = store->run();
  c.ranks = store->ranks();
  Result<std::vector<LaunchFact>> launch = store->launchFacts();
  Result<std::vector<SeenInput>> inputs = store->seenInputs();
  Result<std::vector<NotGuaranteed>> notGuaranteed = store->notGuaranteed();
  Result<std::vector<Printed>> printed = store->printed();
  Result<std::vector<ModuleInfo>> modules = store->modules();
  Result<Execution> execution = store->readExecution(&c.times);
  Result<std::vector<StoredRace>> races = store->races();
  for (const Status& status :
       {launch ? Status() : Status(launch.error()), inputs ? Status() : Status(inputs.error()),
        notGuaranteed ? Status() : Status(notGuaranteed.error()),
        printed ? Status() : Status(printed.error()), modules ? Status() : Status(modules.error()),
        execution ? Status() : Status(execution.error()),
        races ? Status() : Status(races.error())}) {
    if (!status) {
      return status.error();
    }
  }
  c.launch = *launch;
  c.inputs = *inputs;
  c.printed = *printed;
  c.notGuaranteed = *notGuaranteed;
  c.modules = *modules;
  c.execution = std::move(execution).value();
  for (const StoredRace& race : *races) {
    c.races.push_back(race.race);
    c.raceClasses.push_back(race.raceClass);
  }
  for (const RankInfo& rank : c.ranks) {
    auto& log = c.logs.emplace_back();
    const Status status = store->logChunks(rank.rank, [&](std::uint64_t, Bytes data) {
      log.emplace_back(data.begin(), data.end());
      return Status();
    });
    if (!status) {
      return status.error();
    }
  }
  Result<std::vector<PayloadInfo>> payloads = store->payloads();
  if (!payloads) {
    return payloads.error();
  }
  c.payloads = std::move(*payloads);
  for (const PayloadInfo& payload : c.payloads) {
    const Directory directory;
    if (Status status = store->extractPayload(payload.rank, directory.file("payload")); !status) {
      return status.error();
    }
    c.payloadFiles[payload.rank] = readFile(directory.file("payload"));
  }
  for (const Status& status :
       {readAll(*store, c.breakpoints), readAll(*store, c.watches), readAll(*store, c.cycles),
        readAll(*store, c.stops), readAll(*store, c.hits), readAll(*store, c.notes),
        readAll(*store, c.groups), readAll(*store, c.arrangements), readAll(*store, c.benign),
        readAll(*store, c.parts), readAll(*store, c.judged), readAll(*store, c.branches),
        readAll(*store, c.flips)}) {
    if (!status) {
      return status.error();
    }
  }
  return c;
}

std::string dump(const Execution& e) {
  Dump d;
  for (const RankHistory& h : e.ranks) {
    d("rank");
    for (const Event& v : h.events) {
      d("event", v.kind, v.call, v.site, v.comm, v.peer, v.tag, v.bytes);
    }
    for (const EventTime& v : h.times) {
      d("time", v.begin, v.end);
    }
    for (const PostedReceive& v : h.receives) {
      d("receive", v.post, v.completion, v.comm, v.wantedSource, v.wantedTag, v.state, v.source,
        v.tag, v.message);
    }
    for (const ProbeHit& v : h.probes) {
      d("probe", v.event, v.comm, v.wantedSource, v.wantedTag, v.source, v.tag, v.postsBefore,
        v.message);
    }
    for (const SentMessage& v : h.sends) {
      d("send", v.event, v.comm, v.dest, v.tag, v.synchronous, v.syncCompletion);
    }
    for (const CollectivePart& v : h.collectives) {
      d("collective", v.event, v.completion, v.comm, v.ordinal, v.flow, v.root, v.contributes,
        v.takes);
    }
  }
  for (const Communicator& v : e.communicators) {
    d("communicator", v.key, v.name, v.group, v.remote);
  }
  for (const CallSite& v : e.sites) {
    d("site", v.module, v.offset, v.function, v.file, v.line);
  }
  for (const Message& v : e.messages) {
    d("message", v.send.rank, v.send.serial, v.sendIndex, v.dest, v.comm, v.tag, v.post,
      v.completion);
  }
  d("calls", e.callNames);
  d("times", e.timeOrigin);
  return d.text();
}

std::string dump(const std::vector<Race>& races, const std::vector<std::string>& classes) {
  Dump d;
  for (const Race& v : races) {
    d("race", v.rank, v.probe, v.index, v.taken, v.alternatives);
  }
  d("classes", classes);
  return d.text();
}

std::string dump(const Content& c) {
  Dump d;
  const RunInfo& r = c.run;
  d("run", r.uuid, r.createdUtc, r.finishedUtc, r.command, r.workingDirectory, r.launcher,
    r.program, r.ranks, r.mode);
  d(r.mpiLibrary, r.host, r.version, r.exitStatus, r.complete, r.salt,
    r.input ? r.input->bytes : "none", r.messages, r.wildcardReceives, r.racingReceives);
  d(r.sameAddresses, r.longestWait, r.redacted, r.groups.value_or("no groups"));
  for (const PayloadInfo& v : c.payloads) {
    d("payload", v.rank, v.salt, v.entries, v.bytes, v.chunks, v.ending, v.detail);
  }
  for (const auto& [rank, bytes] : c.payloadFiles) {
    d("payload of", rank, std::string(bytes.begin(), bytes.end()));
  }
  for (const RankInfo& v : c.ranks) {
    d("rank", v.rank, v.pid, v.host, v.executable, v.buildId, v.threadLevel, v.exitStatus,
      v.exitSignal, v.state);
    d(v.lastSerial, v.complete, v.cutReason, v.logBytes, v.logChunks);
    d(v.probesAnswered, v.tscReads, v.wildcardReceives, v.racesFoundBy, v.racesFound, v.sourcesKept,
      v.routesKept);
  }
  for (const LaunchFact& v : c.launch) {
    d("launch", v.rank, v.relation, v.kind, v.name, v.value);
  }
  for (const Printed& v : c.printed) {
    d("printed", v.stream, v.leftOut, v.beginning ? v.beginning->bytes : "-",
      v.end ? v.end->bytes : "-");
  }
  for (const SeenInput& v : c.inputs) {
    d("input", v.rank, v.kind, v.name, v.size, v.stamp);
  }
  for (const NotGuaranteed& v : c.notGuaranteed) {
    d("not guaranteed", v.rank, v.what);
  }
  for (const ModuleInfo& v : c.modules) {
    d("module", v.path, v.buildId);
  }
  for (const auto& log : c.logs) {
    for (const auto& data : log) {
      d("log", std::string(data.begin(), data.end()));
    }
    d("end");
  }
  d("times", c.times);
  for (const Breakpoint& v : c.breakpoints) {
    d("breakpoint", v.id, v.kind, v.file, v.line, v.function, v.lineText, v.condition,
      v.ignoreCount, v.enabled, v.ranks, v.expression, v.temporary, v.commands, v.log, v.stops);
  }
  for (const Watch& v : c.watches) {
    d("watch", v.id, v.expression);
  }
  for (const Cycle& v : c.cycles) {
    d("cycle", v.id, v.startedUtc, v.finishedUtc, v.buildId, v.reason, v.jitterSeed,
      v.matchedRecording, v.exitStatus);
  }
  for (const CycleStop& v : c.stops) {
    d("stop", v.id, v.cycle, v.rank, v.serial, v.reason, v.file, v.line);
  }
  for (const BreakpointHit& v : c.hits) {
    d("hit", v.id, v.cycle, v.breakpoint, v.rank, v.serial, v.hits, v.watched);
  }
  for (const Note& v : c.notes) {
    d("note", v.id, v.rank, v.serial, v.text, v.createdUtc, v.failing);
  }
  for (const RankGroup& v : c.groups) {
    d("group", v.id, v.name, v.ranks);
  }
  for (const RankArrangement& v : c.arrangements) {
    d("arrangement", v.id, v.hidden, v.rowOrder, v.sharedRows);
  }
  for (const BenignRace& v : c.benign) {
    d("benign", v.id, v.raceClass, v.reason, v.createdUtc);
  }
  for (const JudgedRace& v : c.judged) {
    d("judged", v.id, v.raceClass, v.verdict, v.reason, v.createdUtc);
  }
  for (const Branch& v : c.branches) {
    d("branch", v.id, v.parentUuid, v.parentFile, v.madeBy);
  }
  for (const BranchFlip& v : c.flips) {
    d("flip", v.id, v.rank, v.serial, v.sendRank, v.sendSerial, v.text);
  }
  for (const PartOfJob& v : c.parts) {
    d("part", v.id, v.ranks);
  }
  return d.text() + dump(c.execution) + dump(c.races, c.raceClasses);
}

}  // namespace pf::db
