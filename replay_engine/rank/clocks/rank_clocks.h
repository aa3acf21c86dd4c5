// SPDX-License-Identifier: MIT
// What a rank knows where it looks for races while it runs. Private to clocks*.cpp.
#pragma once

#include <cstdint>

#include "replay_engine/rank/clocks/clocks.h"
#include "replay_engine/rank/clocks/remote_clocks.h"
#include "replay_engine/rank/online_races/clock_board.h"
#include "replay_engine/rank/online_races/racing.h"
#include "replay_engine/rank/online_races/streams.h"
#include "replay_engine/rank/online_races/window.h"

namespace pf {

/// Everything that a rank knows of clocks and races.
struct RankClocks {
  RankClocks(online::Algorithm algorithm, int ranks)
      : tracer(algorithm, static_cast<std::uint32_t>(ranks)) {}

  int rank = 0;
  int size = 0;
  online::ClockBoard board;
  RemoteLink remote;
  online::SendStreams sends;
  online::ReceiveStreams receives;
  online::OpenReceives open;
  online::Tracer tracer;
  online::Window* window = nullptr;   ///< decides in the tracer's place
  std::uint32_t* sent = nullptr;      ///< messages to each rank
  std::uint32_t* received = nullptr;  ///< messages observed of each rank
  online::FlatArray<Taken> done;      ///< by the call under way; without a message: source < 0

  /// Races found so far: deliveries that are traced.
  [[nodiscard]] std::uint32_t found() const {
    return window != nullptr ? window->found() : tracer.found();
  }

  /// The streams used last, as the application names them.
  struct Recent {
    MPI_Comm comm;
    int peer;
    int tag;
    std::uint32_t stream;
    std::uint32_t number;  ///< of the communicator
  };
  static constexpr std::uint32_t kRecent = 16;
  Recent sentTo[kRecent];
  Recent receivedFrom[kRecent];
  void forgetRecent() {
    for (std::uint32_t i = 0; i < kRecent; ++i) {
      sentTo[i].comm = receivedFrom[i].comm = MPI_COMM_NULL;
    }
  }
};

inline RankClocks& clocks() {
  return *g_engine.clocks;
}

inline constexpr std::uint32_t kNoStream = 0xFFFFFFFFU;

template <typename StreamTable>
__attribute__((noinline)) void findStream(RankClocks::Recent& last, StreamTable& streams,
                                          MPI_Comm comm, int peer, int tag) {
  const KnownCommunicator& known = g_engine.comms.of(comm);
  last = {comm, peer, tag, kNoStream, g_engine.comms.number(comm)};
  if (peer >= 0 && peer < known.peers && known.world[peer] >= 0) {
    last.stream = streams.indexOf(online::streamOf(known.key, tag), known.world[peer]);
  }
}

/// The stream of messages to, or from, `peer` of `comm` with `tag`, by the ones used last; its
/// index is kNoStream if that is a rank of another job. Valid until the next call.
template <typename StreamTable>
const RankClocks::Recent& streamOf(RankClocks::Recent (&used)[RankClocks::kRecent],
                                   StreamTable& streams, MPI_Comm comm, int peer, int tag) {
  RankClocks::Recent& last =
      used[(static_cast<std::uint32_t>(peer) * 5U + static_cast<std::uint32_t>(tag)) %
           RankClocks::kRecent];
  if (last.comm != comm || last.peer != peer || last.tag != tag) [[unlikely]] {
    findStream(last, streams, comm, peer, tag);
  }
  return last;
}

/// Logs what the window has decided to trace.
void logDecisions(const online::Window& window);

/// Hands the receiver of the message of `out` that is about to leave what this rank knows.
void publishClock(online::SendStream& out);

inline std::uint32_t sentStream(MPI_Comm comm, int dest, int tag) {
  return streamOf(clocks().sentTo, clocks().sends, comm, dest, tag).stream;
}

inline void clockSend(MPI_Comm comm, int dest, int tag) {
  const std::uint32_t stream = sentStream(comm, dest, tag);
  if (stream == kNoStream) {
    return;
  }
  RankClocks& own = clocks();
  online::SendStream& out = own.sends[stream];
  ++own.sent[out.peer];
  ++out.sent;
  if (out.epoch != own.board.epoch()) [[unlikely]] {
    publishClock(out);
  }
}

/// The same, not in the way of what has no clocks.
void clockFastSend(MPI_Comm comm, int dest, int tag);

}  // namespace pf
