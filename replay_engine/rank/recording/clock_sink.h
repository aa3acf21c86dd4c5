// SPDX-License-Identifier: MIT
// Mode races: choices, and what the clocks are told by which races are found while the program runs.
#pragma once

#include "replay_engine/rank/recording/choice_sink.h"

namespace pf {

class ClockSink final : public ChoiceSink {
 public:
  void sends(const CallPlace& place, RecordKind kind, Envelope envelope,
             const Contents& contents) override;
  void sendFailed(Envelope envelope) override;
  void posted(std::uint32_t post, Envelope envelope, MPI_Request request) override;
  void received(const CallPlace& place, const Posted& posted, Envelope envelope,
                const MPI_Status* status) override;
  void started(const Request& entry, const Contents& contents) override;
  void exchanges(const ExchangeEnvelopes& envelopes) override;
  void exchangePosts(const CallPlace& place, const ExchangeEnvelopes& envelopes,
                     const Contents& sent) override;
  void probed(const CallPlace& place, RecordKind kind, Envelope envelope,
              const MPI_Status& status) override;
  void told() override;
  void cancelled(const Request& entry) override;
  void letGo(const Request& entry) override;
  CollectiveClock enters(const CallPlace& place, RecordKind kind, const CollectivePartOfRank& part,
                         const Contents& given) override;
  void leaves(MPI_Comm comm, const CollectiveClock& part) override;
  void collectivePosted(MPI_Request request, std::uint32_t number, MPI_Comm comm,
                        const CollectiveClock& part) override;
  void communicatorFreed() override;
  void ends() override;

 private:
  void took(const Request& entry, int source, int tag) override;
  void tookNothing(const Request& entry, bool cancelled) override;
  void collectiveRequestDone(const Request& entry) override;
};

}  // namespace pf
