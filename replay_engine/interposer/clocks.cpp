#include "clocks.h"

#include "online/clock_board.h"
#include "online/racing.h"
#include "online/streams.h"
#include "rank_link.h"
#include "real_calls.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>

namespace pf {

/// Everything that a rank knows of clocks and races.
struct RankClocks {
  explicit RankClocks(online::Algorithm algorithm) : tracer(algorithm) {}

  int rank = 0;
  int size = 0;
  online::ClockBoard board;
  online::SendStreams sends;
  online::ReceiveStreams receives;
  online::PendingReceives pending;
  online::Tracer tracer;
  std::uint32_t* clock = nullptr;     ///< by rank
  std::uint32_t* sent = nullptr;      ///< messages to each rank
  std::uint32_t* received = nullptr;  ///< messages observed of each rank
  online::FlatArray<Taken> done;  ///< by the call that is under way, without a message: source < 0
};

namespace {

using online::kUndecided;

RankClocks& clocks() {
  return *g_engine.clocks;
}

/// This rank knows what `rank` knew at `epoch`.
void learn(int rank, std::uint64_t epoch) {
  RankClocks& own = clocks();
  own.board.read(rank, epoch, [&](int of, std::uint32_t value) {
    if (of >= 0 && of < own.size && value > own.clock[of]) {
      own.clock[of] = value;
      own.board.change(of, value);
    }
  });
}

/// A wildcard has been completed: its number.
std::uint32_t tick() {
  RankClocks& own = clocks();
  const std::uint32_t now = ++own.clock[own.rank];
  own.board.change(own.rank, now);
  return now;
}

/// How many receives posted before `post` and still pending took a message of (comm, source, tag).
/// All that would accept one have taken something: else the receive `post`, or a probe in its
/// place, would not have had such a message.
std::uint32_t earlierOf(std::uint32_t comm, int source, int tag, std::uint32_t post) {
  std::uint32_t count = 0;
  clocks().pending.before(post, [&](const online::PendingReceive& receive) {
    if (receive.comm != comm || (receive.source != source && receive.source != online::kAny) ||
        (receive.tag != tag && receive.tag != online::kAny)) {
      return true;
    }
    if (receive.source == source && receive.tag == tag && !receive.cancelled) {
      ++count;
      return true;
    }
    int done = 0;
    MPI_Status status;
    if (receive.handle == nullptr ||
        PF_REAL(Request_get_status)(static_cast<MPI_Request>(receive.handle), &done, &status) !=
            MPI_SUCCESS ||
        done == 0) {
      count = kUndecided;
      return false;
    }
    int cancelled = 0;
    PF_REAL(Test_cancelled)(&status, &cancelled);
    count += cancelled == 0 && status.MPI_SOURCE == source && status.MPI_TAG == tag ? 1U : 0U;
    return true;
  });
  return count;
}

void logTraced(const Taken& taken, std::uint32_t comm, std::uint32_t number) {
  unsigned char* p = putKind(g_engine.log.reserve(), RecordKind::Traced);
  p = putVarint(p, taken.post);
  p = putVarint(p, comm);
  p = putVarint(p, static_cast<std::uint32_t>(taken.source));
  p = putVarint(p, static_cast<std::uint32_t>(taken.tag));
  g_engine.log.commit(putVarint(p, number == kUndecided ? 0 : number));
}

void publishFound() {
  g_engine.page->races.store(clocks().tracer.found(), std::memory_order_relaxed);
}

void deliver(const Taken& taken, const std::int32_t (&hits)[2]) {
  RankClocks& own = clocks();
  KnownCommunicator& comm = g_engine.comms.of(taken.comm);
  const int from = taken.source < comm.peers ? comm.world[taken.source] : -1;
  online::Delivery delivery{};
  std::uint32_t number = kUndecided;
  online::ClockRecord record{};
  if (from >= 0) {
    ++own.received[from];
    const std::uint64_t stream = online::streamOf(comm.key, taken.tag);
    const std::uint32_t earlier =
        own.pending.none() ? 0 : earlierOf(comm.number, taken.source, taken.tag, taken.post);
    number = own.receives.take(stream, from, taken.post, earlier, own.pending.first(kUndecided));
    record = own.receives.claim(own.board, stream, from, number, earlier);
  }
  delivery.post = taken.post;
  delivery.comm = comm.number;
  delivery.source = taken.source;
  delivery.tag = taken.tag;
  delivery.wantedTag = taken.wantedTag;
  delivery.wild = taken.wild;
  delivery.wildNumber = taken.wildNumber;
  delivery.known = record.known;
  if (taken.wild) {
    delivery.completion = tick();
  }
  const std::uint32_t found = own.tracer.found();
  if (own.tracer.delivered(delivery, hits, own.pending)) {
    logTraced(taken, comm.number, number);
    g_engine.log.publish();
  }
  if (own.tracer.found() != found) {
    publishFound();
  }
  if (from >= 0) {
    learn(from, record.epoch);
  }
}

void fail(const char* why) {
  std::fprintf(stderr,
               "photofinish: rank %d: cannot follow the clocks of the other ranks (%s): choices "
               "are recorded, races are found by 'photofinish races'\n",
               g_engine.page->rank, why);
}

}  // namespace

void startClocks() {
  const RankPage& page = *g_engine.page;
  const auto algorithm = static_cast<online::Algorithm>(page.algorithm);
  auto* own = new (std::nothrow) RankClocks(algorithm);
  const auto size = static_cast<std::size_t>(page.size);
  auto* words = static_cast<std::uint32_t*>(std::calloc(3 * size, sizeof(std::uint32_t)));
  if (own == nullptr || words == nullptr || algorithm > online::Algorithm::Naive) {
    fail("no memory");
    return;
  }
  char path[sizeof page.boardPath];
  std::memcpy(path, page.boardPath, sizeof path);
  path[sizeof path - 1] = '\0';
  if (!own->board.open(path, page.rank, page.size)) {
    fail(std::strerror(errno));
    return;
  }
  own->rank = page.rank;
  own->size = page.size;
  own->clock = words;
  own->sent = words + size;
  own->received = words + 2 * size;
  g_engine.clocks = own;
}

void clockSend(MPI_Comm comm, int dest, int tag) {
  RankClocks& own = clocks();
  KnownCommunicator& known = g_engine.comms.of(comm);
  const int to = dest < known.peers ? known.world[dest] : -1;
  if (to < 0) {
    return;
  }
  ++own.sent[to];
  const std::uint64_t stream = online::streamOf(known.key, tag);
  online::SendStreams::Stream& out = own.sends.of(stream, to);
  ++out.sent;
  if (out.epoch != own.board.epoch() &&
      own.board.publish(to, {stream, out.sent, own.clock[to], own.board.epoch()})) {
    out.epoch = own.board.epoch();
  }
}

void clockUnsend(MPI_Comm comm, int dest, int tag) {
  RankClocks& own = clocks();
  KnownCommunicator& known = g_engine.comms.of(comm);
  const int to = dest < known.peers ? known.world[dest] : -1;
  if (to >= 0) {
    --own.sent[to];
    --own.sends.of(online::streamOf(known.key, tag), to).sent;
  }
}

void clockPost(std::uint32_t post, MPI_Comm comm, int source, int tag, MPI_Request ask) {
  clocks().pending.add({post,
                        g_engine.comms.number(comm),
                        source == MPI_ANY_SOURCE ? online::kAny : source,
                        tag == MPI_ANY_TAG ? online::kAny : tag,
                        {online::kNobody, online::kNobody},
                        true,
                        false,
                        ask});
}

void clockCancel(std::uint32_t post) {
  if (online::PendingReceive* const receive = clocks().pending.find(post); receive != nullptr) {
    receive->cancelled = true;
  }
}

void clockForget(std::uint32_t post) {
  if (online::PendingReceive* const receive = clocks().pending.find(post); receive != nullptr) {
    receive->handle = nullptr;
  }
}

void clockTaken(const Taken& taken) {
  constexpr std::int32_t kNoHits[2] = {online::kNobody, online::kNobody};
  deliver(taken, kNoHits);
}

void clockDone(const Request& entry, int source, int tag) {
  clocks().done.push({entry.number, entry.wild, entry.wildNumber, entry.comm,
                      entry.tag == MPI_ANY_TAG ? online::kAny : entry.tag, source, tag});
}

void clockObserved() {
  RankClocks& own = clocks();
  online::FlatArray<Taken>& done = own.done;
  for (std::uint32_t i = 1; i < done.size(); ++i) {  // mostly sorted
    const Taken moved = done[i];
    std::uint32_t at = i;
    for (; at > 0 && done[at - 1].post > moved.post; --at) {
      done[at] = done[at - 1];
    }
    done[at] = moved;
  }
  for (std::uint32_t i = 0; i < done.size(); ++i) {
    std::int32_t hits[2] = {online::kNobody, online::kNobody};
    if (const online::PendingReceive* const receive = own.pending.find(done[i].post);
        receive != nullptr) {
      hits[0] = receive->hits[0];
      hits[1] = receive->hits[1];
    }
    own.pending.remove(done[i].post);
    if (done[i].source >= 0) {
      deliver(done[i], hits);
    }
  }
  done.resize(0);
}

void clockUnobserved() {
  clocks().done.resize(0);
}

void clockProbed(bool wild, MPI_Comm comm, int wantedTag, int source, int tag) {
  RankClocks& own = clocks();
  KnownCommunicator& known = g_engine.comms.of(comm);
  const int from = source >= 0 && source < known.peers ? known.world[source] : -1;
  if (from < 0) {
    return;
  }
  const std::uint64_t stream = online::streamOf(known.key, tag);
  const std::uint32_t earlier =
      own.pending.none() ? 0 : earlierOf(known.number, source, tag, g_engine.posts);
  const std::uint32_t number = own.receives.nextOf(stream, from, earlier);
  const online::ClockRecord record = own.receives.claim(own.board, stream, from, number, earlier);
  if (wild) {
    online::Delivery hit{};
    hit.post = g_engine.posts;
    hit.comm = known.number;
    hit.source = source;
    hit.tag = tag;
    hit.wantedTag = wantedTag == MPI_ANY_TAG ? online::kAny : wantedTag;
    hit.wild = true;
    hit.wildNumber = kUndecided;
    hit.completion = tick();
    own.tracer.probed(hit);
  }
  learn(from, record.epoch);
}

CollectiveClock clockEnter(MPI_Comm comm, CollectiveFlow flow, int root, bool contributes,
                           bool takes) {
  KnownCommunicator& known = g_engine.comms.of(comm);
  const CollectiveClock part{known.key, known.collectives++, flow, root, takes};
  if (contributes && flow != CollectiveFlow::None) {
    clocks().board.contribute(part.comm, part.ordinal);
  }
  return part;
}

void clockLeave(MPI_Comm comm, const CollectiveClock& part) {
  RankClocks& own = clocks();
  if (!part.takes || part.flow == CollectiveFlow::None) {
    return;
  }
  const KnownCommunicator& known = g_engine.comms.of(comm);
  int first = 0;
  int last = known.peers;
  const auto self = [&](int peer) { return known.world[peer] == own.rank; };
  if (part.flow == CollectiveFlow::FromRoot) {
    if (part.root < 0 || part.root >= known.peers) {
      return;
    }
    first = part.root;
    last = first + 1;
  } else if (part.flow == CollectiveFlow::ToRoot &&
             (part.root < 0 || part.root >= known.peers || !self(part.root))) {
    return;
  }
  for (int peer = first; peer < last; ++peer) {
    if (self(peer)) {
      if (part.flow == CollectiveFlow::FromLower) {
        return;
      }
    } else if (known.world[peer] >= 0) {
      const int world = known.world[peer];
      learn(world, own.board.contribution(world, part.comm, part.ordinal));
    }
  }
}

void logClocks() {
  const RankClocks& own = clocks();
  unsigned char* p = putKind(g_engine.log.reserve(), RecordKind::Races);
  p = putVarint(p, static_cast<std::uint32_t>(own.tracer.algorithm()));
  p = putVarint(p, own.tracer.found());
  g_engine.log.commit(putVarint(p, g_engine.wildPosts));
  for (int rank = 0; rank < own.size; ++rank) {
    if (own.sent[rank] != 0 || own.received[rank] != 0) {
      p = putKind(g_engine.log.reserve(), RecordKind::Exchanged);
      p = putVarint(p, static_cast<std::uint32_t>(rank));
      p = putVarint(p, own.sent[rank]);
      g_engine.log.commit(putVarint(p, own.received[rank]));
    }
  }
  // Which wildcards a trace must keep: runs that it need not, and need, in turn.
  std::uint32_t number = 0;
  while (number < g_engine.wildPosts) {
    p = putKind(g_engine.log.reserve(), RecordKind::Kept);
    std::uint32_t runs[2] = {0, 0};
    for (const bool kept : {false, true}) {
      while (number < g_engine.wildPosts && own.tracer.kept().kept(number) == kept) {
        ++number;
        ++runs[kept ? 1 : 0];
      }
    }
    p = putVarint(p, runs[0]);
    g_engine.log.commit(putVarint(p, runs[1]));
  }
}

}  // namespace pf
