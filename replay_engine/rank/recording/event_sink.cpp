// SPDX-License-Identifier: MIT
#include "replay_engine/rank/recording/event_sink.h"

#include <cstring>

#include "replay_engine/rank/engine/contents.h"
#include "replay_engine/rank/engine/engine.h"
#include "replay_engine/rank/engine/event_times.h"
#include "replay_engine/rank/engine/records.h"

namespace pf {
namespace {

/// Behind the record of what was sent.
void putContents(const Contents& contents) {
  if (contents.digested) {
    g_engine.log.put<RecordKind::Contents>({contents.digest});
  }
}

void putGiven(const Contents& given) {
  unsigned char* p = putRecord<RecordKind::Given>(
      g_engine.log.reserve(), {given.operation, given.bytes, given.digested ? 1U : 0U});
  if (given.digested) {
    std::memcpy(p, &given.digest, sizeof given.digest);
    p += sizeof given.digest;
  }
  g_engine.log.commit(p);
}

/// A record that has nothing but its call site.
void putSite(RecordKind kind, const CallPlace& place) {
  commitSite(kind, place);
  g_engine.log.publish();
}

}  // namespace

void EventSink::local(const CallPlace& place) {
  putSite(RecordKind::Local, place);
}

void EventSink::sends(const CallPlace& place, RecordKind kind, Envelope envelope,
                      const Contents& contents) {
  g_eventClock.moment = kind == RecordKind::Send && contents.bytes <= kShortMessage;
  const std::uint32_t site = siteNumber(place);
  const std::uint32_t number = g_engine.comms.number(envelope.comm);
  g_engine.log.put(kind, records::Send{site, number, envelope.peer, envelope.tag, contents.bytes});
  putContents(contents);
  g_engine.log.publish();
}

void EventSink::sendFailed(Envelope) {
  g_engine.log.put<RecordKind::SendFailed>({});
  g_engine.log.publish();
}

void EventSink::synchronousPosted(MPI_Request request, std::uint32_t number) {
  Request entry;
  entry.handle = request;
  entry.kind = RequestKind::SynchronousSend;
  entry.number = number;
  g_engine.requests.insert(entry);
}

void EventSink::synchronousDone(const CallPlace& place, std::uint32_t number) {
  commitSite(RecordKind::Completion, place);
  g_engine.log.put<RecordKind::DoneSend>({number});
  g_engine.log.publish();
}

void EventSink::posts(const CallPlace& place, Envelope envelope) {
  const std::uint32_t site = siteNumber(place);
  const std::uint32_t number = g_engine.comms.number(envelope.comm);
  g_engine.log.put<RecordKind::Post>(
      {site, number, reportedPeer(envelope.peer), reportedTag(envelope.tag)});
  g_engine.log.publish();
}

void EventSink::received(const CallPlace& place, const Posted&, Envelope envelope,
                         const MPI_Status* status) {
  const std::uint32_t site = siteNumber(place);
  const std::uint32_t number = g_engine.comms.number(envelope.comm);
  g_engine.log.put<RecordKind::Receive>(
      {site, number, reportedPeer(envelope.peer), reportedTag(envelope.tag),
       status != nullptr ? status->MPI_SOURCE : -1, status != nullptr ? status->MPI_TAG : -1});
  g_engine.log.publish();
}

void EventSink::starts(const CallPlace& place) {
  commitSite(RecordKind::Start, place);
}

void EventSink::started(const Request& entry, const Contents& contents) {
  const std::uint32_t number = g_engine.comms.number(entry.comm);
  if (entry.kind == RequestKind::PersistentSend) {
    g_engine.log.put<RecordKind::SubSend>({entry.mode == SendMode::Synchronous ? 1U : 0U, number,
                                           entry.peer, entry.tag, contents.bytes});
    putContents(contents);
  } else {
    g_engine.log.put<RecordKind::SubPost>(
        {number, reportedPeer(entry.peer), reportedTag(entry.tag)});
  }
  g_engine.log.publish();
}

void EventSink::exchanged(const CallPlace& place, const Posted&, const ExchangeEnvelopes& envelopes,
                          const Contents& sent, const MPI_Status* status) {
  const std::uint32_t site = siteNumber(place);
  const std::uint32_t number = g_engine.comms.number(envelopes.comm);
  g_engine.log.put<RecordKind::SendReceive>(
      {site, number, envelopes.dest == MPI_PROC_NULL ? -1 : envelopes.dest, envelopes.sendTag,
       sent.bytes, envelopes.source == MPI_PROC_NULL ? -2 : reportedPeer(envelopes.source),
       reportedTag(envelopes.receiveTag), status != nullptr ? status->MPI_SOURCE : -1,
       status != nullptr ? status->MPI_TAG : -1});
  putContents(sent);
  g_engine.log.publish();
}

void EventSink::exchangePosts(const CallPlace& place, const ExchangeEnvelopes& envelopes,
                              const Contents& sent) {
  commitSite(RecordKind::Start, place);
  const std::uint32_t number = g_engine.comms.number(envelopes.comm);
  if (envelopes.dest != MPI_PROC_NULL) {
    g_engine.log.put<RecordKind::SubSend>(
        {0, number, envelopes.dest, envelopes.sendTag, sent.bytes});
    putContents(sent);
  }
  if (envelopes.source != MPI_PROC_NULL) {
    g_engine.log.put<RecordKind::SubPost>(
        {number, reportedPeer(envelopes.source), reportedTag(envelopes.receiveTag)});
  }
  g_engine.log.publish();
}

void EventSink::probed(const CallPlace& place, RecordKind kind, Envelope envelope,
                       const MPI_Status& status) {
  const std::uint32_t site = siteNumber(place);
  const std::uint32_t number = g_engine.comms.number(envelope.comm);
  if (kind == RecordKind::Receive) {
    g_engine.log.put<RecordKind::Receive>({site, number, reportedPeer(envelope.peer),
                                           reportedTag(envelope.tag), status.MPI_SOURCE,
                                           status.MPI_TAG});
  } else {
    g_engine.log.put<RecordKind::Probe>({site, number, reportedPeer(envelope.peer),
                                         reportedTag(envelope.tag), status.MPI_SOURCE,
                                         status.MPI_TAG});
  }
}

void EventSink::probeRefused(const CallPlace& place) {
  putSite(RecordKind::Refused, place);
}

void EventSink::completes(const CallPlace& place) {
  commitSite(RecordKind::Completion, place);
}

void EventSink::matched(const Request& entry, const MPI_Status& status) {
  int cancelled = 0;
  PF_REAL(Test_cancelled)(&status, &cancelled);
  if (cancelled != 0) {
    receiveDone(entry, &status, MPI_SUCCESS);
  } else {
    g_engine.log.put<RecordKind::Matched>({entry.number, status.MPI_SOURCE, status.MPI_TAG});
  }
}

CollectiveClock EventSink::enters(const CallPlace& place, RecordKind kind,
                                  const CollectivePartOfRank& part, const Contents& given) {
  const std::uint32_t site = siteNumber(place);
  const std::uint32_t number = g_engine.comms.number(part.comm);
  g_engine.log.put(kind, records::Collective{site, number, static_cast<std::uint32_t>(part.flow),
                                             part.root >= 0 ? part.root : -1,
                                             (part.contributes ? 1U : 0U) | (part.takes ? 2U : 0U) |
                                                 part.persistent << 2});
  if (given.known) {
    putGiven(given);
  }
  g_engine.log.publish();
  return {};
}

void EventSink::collectivePosted(MPI_Request request, std::uint32_t number, MPI_Comm comm,
                                 const CollectiveClock&) {
  keepCollective(request, number, comm);
}

void EventSink::collectiveDone(const CallPlace& place, std::uint32_t number) {
  commitSite(RecordKind::Completion, place);
  g_engine.log.put<RecordKind::DoneCollective>({number});
  g_engine.log.publish();
}

void EventSink::took(const Request& entry, int source, int tag) {
  g_engine.log.put<RecordKind::DoneReceive>({entry.number, source, tag});
}

void EventSink::tookNothing(const Request& entry, bool cancelled) {
  if (cancelled) {
    g_engine.log.put<RecordKind::DoneCancelled>({entry.number});
  } else {
    g_engine.log.put<RecordKind::DoneReceive>({entry.number, -1, -1});
  }
}

void EventSink::sendDone(const Request& entry) {
  g_engine.log.put<RecordKind::DoneSend>({entry.number});
}

void EventSink::collectiveRequestDone(const Request& entry) {
  g_engine.log.put<RecordKind::DoneCollective>({entry.number});
}

}  // namespace pf
