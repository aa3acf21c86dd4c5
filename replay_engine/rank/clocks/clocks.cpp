// SPDX-License-Identifier: MIT
#include "replay_engine/rank/clocks/clocks.h"

#include "replay_engine/rank/clocks/rank_clocks.h"
#include "replay_engine/rank/engine/real_calls.h"

namespace pf {
namespace {

using online::kUndecided;

constexpr std::int32_t kNoHits[2] = {online::kNobody, online::kNobody};

/// How many receives posted before `post` and still pending took a message of (comm, source, tag).
/// All that would accept one have taken something: else the receive `post`, or a probe in its
/// place, would not have had such a message. What, MPI says only of those that are complete.
online::MessageNumber earlierOf(std::uint32_t comm, int source, int tag, std::uint32_t post) {
  online::MessageNumber earlier;
  clocks().open.pending.before(post, [&](const online::PendingReceive& receive) {
    if (receive.comm != comm || (receive.source != source && receive.source != online::kAny) ||
        (receive.tag != tag && receive.tag != online::kAny)) {
      return true;
    }
    if (receive.source == source && receive.tag == tag && !receive.cancelled) {
      ++earlier.least;
      return true;
    }
    int done = 0;
    MPI_Status status;
    if (receive.handle == nullptr || g_engine.threads ||  // another thread may be waiting for it
        !mayBeLookedAt(g_engine.requests.find(requestOf(receive.handle))) ||
        PF_REAL(Request_get_status)(requestOf(receive.handle), &done, &status) != MPI_SUCCESS ||
        done == 0) {
      earlier.exact = false;
      return true;
    }
    int cancelled = 0;
    PF_REAL(Test_cancelled)(&status, &cancelled);
    const bool one = cancelled == 0 && status.MPI_SOURCE == source && status.MPI_TAG == tag;
    earlier.least += one ? 1U : 0U;
    return true;
  });
  return earlier;
}

void logTraced(const online::Delivery& delivery, std::uint32_t number) {
  g_engine.log.put<RecordKind::Traced>({delivery.post, delivery.comm, delivery.source, delivery.tag,
                                        number == kUndecided ? 0 : number});
}

/// The message that a probe saw may be traced later. `number`: of the message, 0 if not known.
void logSeen(std::uint32_t comm, int source, int tag, std::uint32_t number) {
  const online::Algorithm algorithm = clocks().tracer.algorithm();
  if (algorithm == online::Algorithm::Meehan || algorithm == online::Algorithm::Naive) {
    return;
  }
  g_engine.log.put<RecordKind::Seen>({g_engine.probes - 1, comm, source, tag, number});
}

const RankClocks::Recent& receivedOf(MPI_Comm comm, int source, int tag) {
  return streamOf(clocks().receivedFrom, clocks().receives, comm, source, tag);
}

std::uint32_t inStream(MPI_Comm comm, int source, int tag) {
  return receivedOf(comm, source, tag).stream;
}

/// Tells the tracer of a message that was observed. `number`: in its stream; `known`: of this
/// rank's completions, by its sender.
__attribute__((always_inline)) inline void tell(RankClocks& own, online::Delivery& now, int from,
                                                std::uint32_t number, std::uint32_t known,
                                                const std::int32_t (&hits)[2]) {
  now.from = static_cast<std::uint32_t>(from);
  now.known = known;
  if (now.wild) {
    now.completion = own.board.tick();
  }
  if (own.window != nullptr) [[unlikely]] {
    own.window->delivered(now, number, own.open);
    logDecisions(*own.window);
  } else if (own.tracer.delivered(now, hits, own.open)) {
    logTraced(now, number);
    g_engine.log.publish();
  }
  g_engine.page->races.store(own.found(), std::memory_order_relaxed);
}

/// A message was observed: number `number` of its stream (kNoStream: of nobody that we know).
void deliver(online::Delivery& now, std::uint32_t stream, online::MessageNumber number,
             const std::int32_t (&hits)[2]) {
  RankClocks& own = clocks();
  static constexpr online::ClockRecord kNothing{};
  const online::ClockRecord* record = &kNothing;
  int from = -1;
  const bool silent = own.board.silent();
  if (stream != kNoStream) {
    from = own.receives.peerOf(stream);
    ++own.received[from];
    record = &own.receives.observe(own.board, stream, number, silent);
    if (own.open.pending.none()) {
      own.receives.settle(stream);
    }
  }
  if (silent && !now.wild && own.open.pending.wild() == 0) {
    return;  // no wildcard has been completed anywhere
  }
  const bool known = stream != kNoStream && number.exact;
  tell(own, now, from, known ? own.receives.messageOf(stream, number.least) : kUndecided,
       record->known, hits);
  if (from >= 0) {
    own.board.learn(from, *record);
  }
}

/// The same where no receive is pending and all is in order, as mostly. False: it is not so.
__attribute__((noinline)) bool deliverInOrder(RankClocks& own, online::Delivery& now,
                                              std::uint32_t stream) {
  const bool silent = own.board.silent();
  online::ReceiveStreams::Passed passed;
  if (stream == kNoStream || !own.open.pending.none() ||
      !own.receives.pass(own.board, stream, silent, &passed)) {
    return false;
  }
  ++own.received[passed.peer];
  if (!silent || now.wild) {
    tell(own, now, passed.peer, passed.number, passed.record->known, kNoHits);
    if (passed.news) {
      own.board.learn(passed.peer, *passed.record);
    }
  }
  return true;
}

void deliverTaken(const Taken& taken, const std::int32_t (&hits)[2]) {
  RankClocks& own = clocks();
  const RankClocks::Recent& in = receivedOf(taken.comm, taken.source, taken.tag);
  const std::uint32_t stream = in.stream;
  online::MessageNumber number;
  if (stream != kNoStream) {
    online::MessageNumber earlier;
    if (!own.open.pending.none()) {
      earlier = earlierOf(in.number, taken.source, taken.tag, taken.post);
    }
    number = own.receives.take(stream, taken.post, earlier, own.open.pending.first());
  }
  online::Delivery delivery{taken.post,      in.number,  taken.source,     0, taken.tag,
                            taken.wantedTag, taken.wild, taken.wildNumber, 0, 0};
  deliver(delivery, stream, number, hits);
}

void deliverAssigned(const online::AssignedReceive& receive) {
  online::Delivery delivery{receive.post, receive.comm, receive.source, 0, receive.tag,
                            receive.tag,  false,        kUndecided,     0, 0};
  deliver(delivery, receive.stream, {receive.number, true}, kNoHits);
}

}  // namespace

void logDecisions(const online::Window& window) {
  const online::FlatArray<online::Window::Traced>& traced = window.traced();
  for (std::uint32_t i = 0; i < traced.size(); ++i) {
    logTraced(traced[i].delivery, traced[i].number);
  }
  if (traced.size() != 0) {
    g_engine.log.publish();
  }
}

void clockFastSend(MPI_Comm comm, int dest, int tag) {
  clockSend(comm, dest, tag);
}

void publishClock(online::SendStream& out) {
  online::ClockBoard& board = clocks().board;
  if (board.publish(out.peer, out.id, out.sent)) {
    out.epoch = board.epoch();
  }
}

void clockUnsend(MPI_Comm comm, int dest, int tag) {
  if (const std::uint32_t stream = sentStream(comm, dest, tag); stream != kNoStream) {
    online::SendStream& out = clocks().sends[stream];
    --clocks().sent[out.peer];
    --out.sent;
  }
}

bool clockAssigns(int source, int tag) {
  return source >= 0 && tag >= 0 && clocks().open.pending.none();
}

void clockAssign(std::uint32_t post, MPI_Comm comm, int source, int tag, MPI_Request request) {
  RankClocks& own = clocks();
  if (const std::uint32_t stream = inStream(comm, source, tag); stream != kNoStream) {
    own.open.assigned.add({pointerOf(request), post, g_engine.comms.number(comm), source, tag,
                           stream, own.receives.assign(stream)});
  }
}

Request* clockPromote(MPI_Request request) {
  online::AssignedReceive receive{};
  if (!clocks().open.assigned.take(pointerOf(request), &receive)) {
    return nullptr;
  }
  clocks().open.promoted.add(receive);
  Request entry;
  entry.handle = request;
  entry.kind = RequestKind::Receive;
  entry.active = true;
  entry.number = receive.post;
  entry.peer = receive.source;
  entry.tag = receive.tag;
  Request* const inserted = g_engine.requests.insert(entry);
  RequestDetails& details = g_engine.requests.detail(*inserted);
  details.stream = receive.stream + 1;
  details.streamNumber = receive.number;
  details.commNumber = receive.comm;
  return inserted;
}

void clockPost(std::uint32_t post, MPI_Comm comm, int source, int tag, MPI_Request request) {
  clocks().open.pending.add({post,
                             g_engine.comms.number(comm) & 0x3FFFFFFFU,
                             true,
                             false,
                             source == MPI_ANY_SOURCE ? online::kAny : source,
                             tag == MPI_ANY_TAG ? online::kAny : tag,
                             {online::kNobody, online::kNobody},
                             pointerOf(request)});
}

void clockCancel(const Request& entry) {
  RankClocks& own = clocks();
  if (online::PendingReceive* const receive = own.open.pending.find(entry.number);
      receive != nullptr) {
    receive->cancelled = true;
  } else if (entry.details != nullptr && entry.details->stream != 0) {
    // Whether it still takes a message is decided by now, and numbers after it depend on it.
    int done = 0;
    int cancelled = 0;
    MPI_Status status;
    if (PF_REAL(Request_get_status)(entry.handle, &done, &status) == MPI_SUCCESS && done != 0) {
      PF_REAL(Test_cancelled)(&status, &cancelled);
    }
    if (cancelled != 0) {
      own.receives.cancel(entry.details->stream - 1, entry.details->streamNumber);
    }
  }
}

void clockForget(const Request& entry) {
  online::OpenReceives& open = clocks().open;
  online::AssignedReceive gone{};
  if (online::PendingReceive* const receive = open.pending.find(entry.number); receive != nullptr) {
    receive->handle = nullptr;
  } else if (entry.details != nullptr && entry.details->stream != 0) {
    open.promoted.take(pointerOf(entry.handle), &gone);
  }
}

void clockForgetComm() {
  clocks().forgetRecent();
}

void clockTaken(const Taken& taken) {
  const RankClocks::Recent& in = receivedOf(taken.comm, taken.source, taken.tag);
  online::Delivery delivery{taken.post,      in.number,  taken.source,     0, taken.tag,
                            taken.wantedTag, taken.wild, taken.wildNumber, 0, 0};
  if (!deliverInOrder(clocks(), delivery, in.stream)) [[unlikely]] {
    deliverTaken(taken, kNoHits);
  }
}

void clockWildcardReceive(std::uint32_t post, std::uint32_t wildNumber, MPI_Comm comm,
                          int wantedTag, int source, int tag) {
  const RankClocks::Recent& in = receivedOf(comm, source, tag);
  online::Delivery delivery{post, in.number, source, 0, tag, wantedTag, true, wildNumber, 0, 0};
  if (!deliverInOrder(clocks(), delivery, in.stream)) [[unlikely]] {
    deliverTaken({post, true, wildNumber, comm, wantedTag, source, tag}, kNoHits);
  }
}

void clockDone(const Request& entry, int source, int tag) {
  Taken taken{entry.number,
              entry.wild,
              entry.wildNumber,
              entry.comm,
              entry.tag == MPI_ANY_TAG ? online::kAny : entry.tag,
              source,
              tag};
  taken.handle = entry.handle;
  if (entry.details != nullptr) {
    taken.stream = entry.details->stream;
    taken.streamNumber = entry.details->streamNumber;
    taken.commNumber = entry.details->commNumber;
  }
  clocks().done.push(taken);
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
    const Taken& each = done[i];
    if (each.stream != 0) {
      online::AssignedReceive gone{};
      own.open.promoted.take(pointerOf(each.handle), &gone);
      if (each.source >= 0) {
        deliverAssigned({nullptr, each.post, each.commNumber, each.source, each.tag,
                         each.stream - 1, each.streamNumber});
      }
      continue;
    }
    std::int32_t hits[2] = {online::kNobody, online::kNobody};
    if (const online::PendingReceive* const receive = own.open.pending.find(each.post);
        receive != nullptr) {
      hits[0] = receive->hits[0];
      hits[1] = receive->hits[1];
    }
    own.open.pending.remove(each.post);
    if (each.source >= 0) {
      deliverTaken(each, hits);
    }
  }
  done.resize(0);
}

bool NamedSourceBatch::noneAssigned() {
  return clocks().open.assigned.none();
}

NamedSourceBatch::NamedSourceBatch(int count, const MPI_Request* requests) {
  online::AssignedReceives& assigned = clocks().open.assigned;
  for (int i = 0; i < count && !assigned.none(); ++i) {
    online::AssignedReceive receive{};
    if (requests[i] == MPI_REQUEST_NULL || !assigned.take(pointerOf(requests[i]), &receive)) {
      continue;
    }
    int at = m_count++;
    for (; at > 0 && m_receives[at - 1].post > receive.post; --at) {
      m_receives[at] = m_receives[at - 1];
    }
    m_receives[at] = receive;
  }
}

void NamedSourceBatch::observed() const {
  for (int i = 0; i < m_count; ++i) {
    deliverAssigned(m_receives[i]);
  }
}

void clockUnobserved() {
  clocks().done.resize(0);
}

void clockProbed(bool wild, MPI_Comm comm, int wantedTag, int source, int tag) {
  RankClocks& own = clocks();
  const std::uint32_t stream = inStream(comm, source, tag);
  if (stream == kNoStream) {
    return;
  }
  const std::uint32_t number = g_engine.comms.number(comm);
  online::MessageNumber earlier;
  if (!own.open.pending.none()) {
    earlier = earlierOf(number, source, tag, g_engine.posts);
  }
  const online::MessageNumber next = own.receives.nextOf(stream, earlier);
  logSeen(number, source, tag, next.exact ? own.receives.messageOf(stream, next.least) : 0);
  const online::ClockRecord& record = own.receives.see(own.board, stream, next);
  if (wild) {
    online::Delivery hit{};
    hit.post = g_engine.posts;
    hit.comm = number;
    hit.source = source;
    hit.tag = tag;
    hit.wantedTag = wantedTag == MPI_ANY_TAG ? online::kAny : wantedTag;
    hit.wild = true;
    hit.wildNumber = kUndecided;
    hit.completion = own.board.tick();
    own.tracer.probed(hit);
  }
  own.board.learn(own.receives.peerOf(stream), record);
}

}  // namespace pf
