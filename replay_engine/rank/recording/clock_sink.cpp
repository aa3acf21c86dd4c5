// SPDX-License-Identifier: MIT
#include "replay_engine/rank/recording/clock_sink.h"

#include "replay_engine/rank/clocks/rank_clocks.h"

namespace pf {
namespace {

int clockTag(int tag) {
  return tag == MPI_ANY_TAG ? online::kAny : tag;
}

}  // namespace

void ClockSink::sends(const CallPlace&, RecordKind, Envelope envelope, const Contents&) {
  clockSend(envelope.comm, envelope.peer, envelope.tag);
}

void ClockSink::sendFailed(Envelope envelope) {
  clockUnsend(envelope.comm, envelope.peer, envelope.tag);
}

void ClockSink::posted(std::uint32_t post, Envelope envelope, MPI_Request request) {
  clockPost(post, envelope.comm, envelope.peer, envelope.tag, request);
}

void ClockSink::received(const CallPlace& place, const Posted& posted, Envelope envelope,
                         const MPI_Status* status) {
  ChoiceSink::received(place, posted, envelope, status);
  if (status != nullptr) {
    clockTaken({posted.post, posted.wild, posted.wildNumber, envelope.comm, clockTag(envelope.tag),
                status->MPI_SOURCE, status->MPI_TAG});
  }
}

void ClockSink::started(const Request& entry, const Contents&) {
  if (entry.kind == RequestKind::PersistentSend) {
    clockSend(entry.comm, entry.peer, entry.tag);
  } else {
    clockPost(entry.number, entry.comm, entry.peer, entry.tag, entry.handle);
  }
}

void ClockSink::exchanges(const ExchangeEnvelopes& envelopes) {
  if (envelopes.dest != MPI_PROC_NULL) {
    clockSend(envelopes.comm, envelopes.dest, envelopes.sendTag);
  }
}

void ClockSink::exchangePosts(const CallPlace&, const ExchangeEnvelopes& envelopes,
                              const Contents&) {
  exchanges(envelopes);
}

void ClockSink::probed(const CallPlace&, RecordKind kind, Envelope envelope,
                       const MPI_Status& status) {
  const bool wild = isWild(envelope.peer);
  if (kind == RecordKind::Receive) {
    clockTaken({g_engine.posts - 1, wild, kNone, envelope.comm, clockTag(envelope.tag),
                status.MPI_SOURCE, status.MPI_TAG});
  } else {
    clockProbed(wild, envelope.comm, envelope.tag, status.MPI_SOURCE, status.MPI_TAG);
  }
}

void ClockSink::told() {
  ChoiceSink::told();
  clockObserved();
}

void ClockSink::cancelled(const Request& entry) {
  clockCancel(entry);
}

void ClockSink::letGo(const Request& entry) {
  clockForget(entry);
}

CollectiveClock ClockSink::enters(const CallPlace&, RecordKind, const CollectivePartOfRank& part,
                                  const Contents&) {
  return part.flow == CollectiveFlow::None ? CollectiveClock{} : clockEnter(part);
}

void ClockSink::leaves(MPI_Comm comm, const CollectiveClock& part) {
  clockLeave(comm, part);
}

void ClockSink::collectivePosted(MPI_Request request, std::uint32_t number, MPI_Comm comm,
                                 const CollectiveClock& part) {
  g_engine.requests.detail(*keepCollective(request, number, comm)).collective = part;
}

void ClockSink::communicatorFreed() {
  clockForgetComm();
}

void ClockSink::ends() {
  clockUnobserved();
  logClocks();
}

void ClockSink::took(const Request& entry, int source, int tag) {
  ChoiceSink::took(entry, source, tag);
  clockDone(entry, source, tag);
}

void ClockSink::tookNothing(const Request& entry, bool cancelled) {
  ChoiceSink::tookNothing(entry, cancelled);
  clockDone(entry, -1, -1);
}

void ClockSink::collectiveRequestDone(const Request& entry) {
  if (entry.details != nullptr) {
    clockLeave(entry.comm, entry.details->collective);
  }
}

}  // namespace pf
