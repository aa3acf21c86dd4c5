// SPDX-License-Identifier: MIT
// Mode all, and surveys: each event with its call site, its messages with their contents' digests.
#pragma once

#include "replay_engine/rank/recording/log_sink.h"

namespace pf {

class EventSink final : public LogSink {
 public:
  void local(const CallPlace& place) override;
  void sends(const CallPlace& place, RecordKind kind, Envelope envelope,
             const Contents& contents) override;
  void sendFailed(Envelope envelope) override;
  void synchronousPosted(MPI_Request request, std::uint32_t number) override;
  void synchronousDone(const CallPlace& place, std::uint32_t number) override;
  void posts(const CallPlace& place, Envelope envelope) override;
  void received(const CallPlace& place, const Posted& posted, Envelope envelope,
                const MPI_Status* status) override;
  void starts(const CallPlace& place) override;
  void started(const Request& entry, const Contents& contents) override;
  void exchanged(const CallPlace& place, const Posted& posted, const ExchangeEnvelopes& envelopes,
                 const Contents& sent, const MPI_Status* status) override;
  void exchangePosts(const CallPlace& place, const ExchangeEnvelopes& envelopes,
                     const Contents& sent) override;
  void probed(const CallPlace& place, RecordKind kind, Envelope envelope,
              const MPI_Status& status) override;
  void probeRefused(const CallPlace& place) override;
  void completes(const CallPlace& place) override;
  void matched(const Request& entry, const MPI_Status& status) override;
  CollectiveClock enters(const CallPlace& place, RecordKind kind, const CollectivePartOfRank& part,
                         const Contents& given) override;
  void collectivePosted(MPI_Request request, std::uint32_t number, MPI_Comm comm,
                        const CollectiveClock& part) override;
  void collectiveDone(const CallPlace& place, std::uint32_t number) override;

 private:
  void took(const Request& entry, int source, int tag) override;
  void tookNothing(const Request& entry, bool cancelled) override;
  void sendDone(const Request& entry) override;
  void collectiveRequestDone(const Request& entry) override;
};

}  // namespace pf
