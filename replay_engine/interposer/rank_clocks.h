// What a rank knows where it looks for races while it runs. Private to clocks*.cpp.
#pragma once

#include "clocks.h"
#include "online/clock_board.h"
#include "online/racing.h"
#include "online/streams.h"
#include "remote_clocks.h"

#include <cstdint>

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
  std::uint32_t* sent = nullptr;      ///< messages to each rank
  std::uint32_t* received = nullptr;  ///< messages observed of each rank
  online::FlatArray<Taken> done;      ///< by the call under way; without a message: source < 0

  /// The streams used last, as the application names them.
  struct Recent {
    MPI_Comm comm;
    int peer;
    int tag;
    std::uint32_t stream;
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

}  // namespace pf
