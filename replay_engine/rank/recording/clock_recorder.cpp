// SPDX-License-Identifier: MIT
#include "replay_engine/rank/recording/clock_recorder.h"

#include "replay_engine/rank/clocks/rank_clocks.h"

namespace pf {
namespace {

int clockTag(int tag) {
  return tag == MPI_ANY_TAG ? online::kAny : tag;
}

}  // namespace

void ClockRecorder::sends(const CallPlace&, RecordKind, const Envelope& envelope, const Contents&) {
  clockSend(envelope.comm, envelope.peer, envelope.tag);
}

void ClockRecorder::sendFailed(const Envelope& envelope) {
  clockUnsend(envelope.comm, envelope.peer, envelope.tag);
}

void ClockRecorder::posted(std::uint32_t post, const Envelope& envelope, MPI_Request request) {
  clockPost(post, envelope.comm, envelope.peer, envelope.tag, request);
}

void ClockRecorder::received(const CallPlace& place, const Posted& posted, const Envelope& envelope,
                             const MPI_Status* status) {
  ChoiceRecorder::received(place, posted, envelope, status);
  if (status != nullptr) {
    clockTaken({posted.post, posted.wild, posted.wildNumber, envelope.comm, clockTag(envelope.tag),
                status->MPI_SOURCE, status->MPI_TAG});
  }
}

void ClockRecorder::started(const Request& entry, const Contents&) {
  if (entry.kind == RequestKind::PersistentSend) {
    clockSend(entry.comm, entry.peer, entry.tag);
  } else {
    clockPost(entry.number, entry.comm, entry.peer, entry.tag, entry.handle);
  }
}

void ClockRecorder::exchanges(const ExchangeEnvelopes& envelopes) {
  if (envelopes.dest != MPI_PROC_NULL) {
    clockSend(envelopes.comm, envelopes.dest, envelopes.sendTag);
  }
}

void ClockRecorder::exchangePosts(const CallPlace&, const ExchangeEnvelopes& envelopes,
                                  const Contents&) {
  exchanges(envelopes);
}

void ClockRecorder::probed(const CallPlace&, RecordKind kind, const Envelope& envelope,
                           const MPI_Status& status) {
  const bool wild = isWild(envelope.peer);
  if (kind == RecordKind::Receive) {
    clockTaken({g_engine.posts - 1, wild, kNone, envelope.comm, clockTag(envelope.tag),
                status.MPI_SOURCE, status.MPI_TAG});
  } else {
    clockProbed(wild, envelope.comm, envelope.tag, status.MPI_SOURCE, status.MPI_TAG);
  }
}

void ClockRecorder::told() {
  ChoiceRecorder::told();
  clockObserved();
}

void ClockRecorder::cancelled(const Request& entry) {
  clockCancel(entry);
}

void ClockRecorder::letGo(const Request& entry) {
  clockForget(entry);
}

CollectiveClock ClockRecorder::enters(const CallPlace&, RecordKind,
                                      const CollectivePartOfRank& part, const Contents&) {
  return part.flow == CollectiveFlow::None
             ? CollectiveClock{}
             : clockEnter(part.comm, part.flow, part.root, part.contributes, part.takes);
}

void ClockRecorder::leaves(MPI_Comm comm, const CollectiveClock& part) {
  clockLeave(comm, part);
}

void ClockRecorder::collectivePosted(MPI_Request request, std::uint32_t number, MPI_Comm comm,
                                     const CollectiveClock& part) {
  Request entry;
  entry.handle = request;
  entry.kind = RequestKind::Collective;
  entry.number = number;
  entry.comm = comm;
  g_engine.requests.detail(*g_engine.requests.insert(entry)).collective = part;
}

void ClockRecorder::communicatorFreed() {
  clockForgetComm();
}

void ClockRecorder::ends() {
  clockUnobserved();
  logClocks();
}

void ClockRecorder::took(const Request& entry, int source, int tag) {
  ChoiceRecorder::took(entry, source, tag);
  clockDone(entry, source, tag);
}

void ClockRecorder::tookNothing(const Request& entry, bool cancelled) {
  ChoiceRecorder::tookNothing(entry, cancelled);
  clockDone(entry, -1, -1);
}

void ClockRecorder::collectiveRequestDone(const Request& entry) {
  if (entry.details != nullptr) {
    clockLeave(entry.comm, entry.details->collective);
  }
}

}  // namespace pf
