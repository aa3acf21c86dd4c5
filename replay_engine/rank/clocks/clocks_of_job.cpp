// SPDX-License-Identifier: MIT
// The begin and the end of a rank's clocks, and its part in collectives.
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>

#include "replay_engine/rank/clocks/rank_clocks.h"
#include "replay_engine/rank/engine/real_calls.h"
#include "replay_engine/rank/engine/record_sink.h"

namespace pf {
namespace {

void fail(const char* why) {
  std::fprintf(stderr,
               "photofinish: rank %d: cannot follow the clocks of the other ranks (%s): choices "
               "are recorded, races are found by 'photofinish races'\n",
               g_engine.page->rank, why);
}

}  // namespace

void startClocks() {
  const RankPage& page = *g_engine.page;
  // For measurements: clocks as in a job of more ranks.
  const char* more = std::getenv("PHOTOFINISH_CLOCK_RANKS");
  const int ranks = more != nullptr && std::atoi(more) > page.size ? std::atoi(more) : page.size;
  const bool delayed = page.algorithm >= kWindowAlgorithm;
  const std::uint32_t window = delayed ? page.algorithm - kWindowAlgorithm : 0;
  const auto algorithm =
      delayed ? online::Algorithm::AlgorithmB : static_cast<online::Algorithm>(page.algorithm);
  auto* own = new (std::nothrow) RankClocks(algorithm, ranks);
  const auto size = static_cast<std::size_t>(ranks);
  auto* words = static_cast<std::uint32_t*>(std::calloc(2 * size, sizeof(std::uint32_t)));
  if (own == nullptr || words == nullptr || algorithm > online::Algorithm::Naive) {
    fail("no memory");
    return;
  }
  // First of all: all ranks take part, whatever becomes of them.
  if (own->remote.start(page.rank, page.size)) {
    own->board.setRemote(own->remote.isRemote(), &own->remote);
  }
  char path[sizeof page.boardPath];
  std::memcpy(path, page.boardPath, sizeof path);
  path[sizeof path - 1] = '\0';
  if (!own->board.open(path, page.rank, ranks)) {
    fail(std::strerror(errno));
    return;
  }
  own->rank = page.rank;
  own->size = ranks;
  own->sent = words;
  own->received = words + size;
  own->forgetRecent();
  if (window != 0) {
    own->window = new (std::nothrow) online::Window(window);
    if (own->window == nullptr) {
      fail("no memory");
      return;
    }
  }
  g_engine.clocks = own;
}

CollectiveClock clockEnter(const CollectivePartOfRank& entered) {
  KnownCommunicator& known = g_engine.comms.of(entered.comm);
  CollectiveClock part{known.key, 0, entered.flow, entered.root, entered.takes};
  if (entered.persistent == 0) {
    part.ordinal = known.collectives++;
  } else {
    // The ranks may start them in different orders: they meet by what is started.
    part.comm ^= entered.persistent * std::uint64_t{0x9E3779B97F4A7C15};
    part.ordinal = entered.start;
  }
  if (entered.contributes && entered.flow != CollectiveFlow::None) {
    clocks().board.contribute(part.comm, part.ordinal);
  }
  return part;
}

void clockLeave(MPI_Comm comm, const CollectiveClock& part) {
  RankClocks& own = clocks();
  if (!part.takes || part.flow == CollectiveFlow::None) {
    return;
  }
  const KnownCommunicator& known = g_engine.comms.of(comm);
  int first = 0;
  int last = known.peers;
  const auto self = [&](int peer) { return known.world[peer] == own.rank; };
  if (part.flow == CollectiveFlow::FromRoot) {
    if (part.root < 0 || part.root >= known.peers) {
      return;
    }
    first = part.root;
    last = first + 1;
  } else if (part.flow == CollectiveFlow::ToRoot &&
             (part.root < 0 || part.root >= known.peers || !self(part.root))) {
    return;
  }
  for (int peer = first; peer < last; ++peer) {
    if (self(peer)) {
      if (part.flow == CollectiveFlow::FromLower) {
        return;
      }
    } else if (known.world[peer] >= 0) {
      own.board.learnContribution(known.world[peer], part.comm, part.ordinal);
    }
  }
}

void logClocks() {
  RankClocks& own = clocks();
  own.remote.stop();
  if (own.window != nullptr) {
    own.window->end(own.open);
    logDecisions(*own.window);
  }
  g_engine.log.put<RecordKind::Races>({g_engine.page->algorithm, own.found(), g_engine.wildPosts});
  for (int rank = 0; rank < own.size; ++rank) {
    if (own.sent[rank] != 0 || own.received[rank] != 0) {
      g_engine.log.put<RecordKind::Exchanged>(
          {static_cast<std::uint32_t>(rank), own.sent[rank], own.received[rank]});
    }
  }
  // Which wildcards a trace must keep: runs that it need not, and need, in turn.
  std::uint32_t number = 0;
  while (number < g_engine.wildPosts) {
    std::uint32_t runs[2] = {0, 0};
    for (const bool kept : {false, true}) {
      while (number < g_engine.wildPosts && own.tracer.kept().kept(number) == kept) {
        ++number;
        ++runs[kept ? 1 : 0];
      }
    }
    g_engine.log.put<RecordKind::Kept>({runs[0], runs[1]});
  }
}

}  // namespace pf
