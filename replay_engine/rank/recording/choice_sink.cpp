// SPDX-License-Identifier: MIT
#include "replay_engine/rank/recording/choice_sink.h"

namespace pf {

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
