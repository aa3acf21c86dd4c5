// SPDX-License-Identifier: MIT
// Modes outcomes and races: a log of choices alone, without events. (The fast path, replay_engine/rank/calls/fast_path.h,
// keeps the same books for the calls that are common there.)
#pragma once

#include "replay_engine/rank/engine/engine.h"
#include "replay_engine/rank/recording/log_sink.h"

namespace pf {

/// What the wildcard receive of this number took.
inline void logWild(std::uint32_t wildNumber, int source) {
  if (wildNumber == g_engine.wildLogged && source >= 0 && source < kNextWild) [[likely]] {
    g_engine.log.add(static_cast<unsigned char>(kNextWild | source));
  } else {
    g_engine.log.put<RecordKind::Wild>({wildNumber, source});
  }
  g_engine.wildLogged = wildNumber + 1;
  g_engine.log.publish();
}

class ChoiceSink : public LogSink {
 public:
  void received(const CallPlace& place, const Posted& posted, Envelope envelope,
                const MPI_Status* status) override;
  void exchanged(const CallPlace& place, const Posted& posted, const ExchangeEnvelopes& envelopes,
                 const Contents& sent, const MPI_Status* status) override;
  void matched(const Request& entry, const MPI_Status& status) override;
  void outgoing(const Contents& contents) override;
  void outgoingGiven(const Contents& given) override;

 protected:
  ~ChoiceSink() = default;
  void took(const Request& entry, int source, int tag) override;
  void tookNothing(const Request& entry, bool cancelled) override;
};

}  // namespace pf
