// SPDX-License-Identifier: MIT
#include "replay_engine/rank/recording/choice_sink.h"

#include "replay_engine/rank/engine/contents.h"

namespace pf {
namespace {

void putOutgoing(RecordKind kind, std::uint64_t skipped, const Contents& contents) {
  const std::uint32_t form = contents.operation << 1 | (contents.digested ? 1U : 0U);
  unsigned char* p =
      putRecord(g_engine.log.reserve(), kind, records::Outgoing{skipped, form, contents.bytes});
  if (contents.digested) {
    __builtin_memcpy(p, &contents.digest, sizeof contents.digest);
    p += sizeof contents.digest;
  }
  g_engine.log.commit(p);
  g_engine.log.publish();
}

}  // namespace

void ChoiceSink::outgoing(const Contents& contents) {
  putOutgoing(RecordKind::Outgoing, g_engine.sends - g_engine.outgoingLogged, contents);
  g_engine.outgoingLogged = g_engine.sends + 1;
}

void ChoiceSink::outgoingGiven(const Contents& given) {
  putOutgoing(RecordKind::OutgoingGiven, g_engine.serial - g_engine.outgoingGivenLogged - 1, given);
  g_engine.outgoingGivenLogged = g_engine.serial;
}

void ChoiceSink::received(const CallPlace&, const Posted& posted, Envelope,
                          const MPI_Status* status) {
  if (posted.wild && status != nullptr) {
    logWild(posted.wildNumber, status->MPI_SOURCE);
  }
}

void ChoiceSink::exchanged(const CallPlace& place, const Posted& posted,
                           const ExchangeEnvelopes& envelopes, const Contents&,
                           const MPI_Status* status) {
  received(place, posted, {envelopes.comm, envelopes.source, envelopes.receiveTag}, status);
}

void ChoiceSink::matched(const Request& entry, const MPI_Status& status) {
  receiveDone(entry, &status, MPI_SUCCESS);
}

void ChoiceSink::took(const Request& entry, int source, int) {
  if (entry.wild) {
    logWild(entry.wildNumber, source);
  }
}

void ChoiceSink::tookNothing(const Request& entry, bool cancelled) {
  if (cancelled) {
    g_engine.log.put<RecordKind::CancelledPost>({entry.number});
  }
}

}  // namespace pf
