// SPDX-License-Identifier: MIT
// Choices that MPI may make and seldom does, in recordings with jitter: of the messages that are
// there, and of the receives that are complete.
#include <algorithm>

#include "replay_engine/rank/engine/engine.h"
#include "replay_engine/rank/engine/given.h"
#include "replay_engine/rank/engine/real_calls.h"
#include "replay_engine/rank/engine/send_halves.h"
#include "replay_engine/rank/forcing/jitter.h"

namespace pf {
namespace {

bool provokes() {
  return g_engine.jitter && g_engine.record && !g_engine.replay && !g_engine.threads;
}

/// Negative: MPI refuses to look.
int isThere(int source, int tag, MPI_Comm comm) {
  int found = 0;
  const InLayer look;
  const int result = PF_REAL(Iprobe)(source, tag, comm, &found, MPI_STATUS_IGNORE);
  return result != MPI_SUCCESS ? -1 : found;
}

/// Senders of whom a probe has shown a message: MPI 3.1, 3.8.1 has a later probe see it, too, until
/// it is received.
struct Shown {
  MPI_Comm comm;
  int source;
};
constexpr std::uint32_t kShown = 256;
Shown g_shown[kShown];
std::uint32_t g_shownCount = 0;  ///< more than kShown: some are not known any more

bool wasShown(int peers, int tag, MPI_Comm comm) {
  if (g_shownCount > kShown) {
    return true;
  }
  for (std::uint32_t i = 0; i < g_shownCount;
       ++i) {  // the handle may be that of another communicator by now
    const Shown& shown = g_shown[i];
    if (shown.comm == comm && shown.source < peers && isThere(shown.source, tag, comm) > 0) {
      return true;
    }
  }
  return false;
}

/// One of several, as they are met: the best of `weight`, or any.
class BestOffer {
 public:
  void offer(int what, std::uint64_t priority) {
    ++m_offered;
    const std::uint64_t weight = g_jitter.favours ? priority : nextRandom();
    if (m_best < 0 || weight > m_weight) {
      m_best = what;
      m_weight = weight;
    }
  }
  [[nodiscard]] int best() const { return m_best; }
  [[nodiscard]] int offered() const { return m_offered; }

 private:
  int m_best = -1;
  int m_offered = 0;
  std::uint64_t m_weight = 0;
};

BestOffer choiceOf(int peers, int tag, MPI_Comm comm) {
  BestOffer choice;
  int there = 0;
  for (int source = 0; source < peers && there >= 0; ++source) {
    there = isThere(source, tag, comm);
    if (there > 0) {
      choice.offer(source, jitterPriority(g_engine.comms.worldRank(comm, source)));
    }
  }
  return choice;
}

bool isTag(int tag) {
  return tag >= 0 || tag == MPI_ANY_TAG;
}

}  // namespace

int jitteredSource(int source, int tag, MPI_Comm comm) {
  if (!provokes() || !isWild(source) || !isTag(tag)) {
    return source;
  }
  const int peers = peersOf(comm);
  if (g_jitter.piles && nextRandom() % 4 != 0) {
    // Messages of all others: no more is to be waited for.
    holdUntilQuiet(RankPace::Waiting, false, [&] {
      const int there = choiceOf(peers, tag, comm).offered();
      g_jitter.board.say(there > 0 ? RankPace::Piling : RankPace::Waiting);
      return there >= peers - 1;
    });
  } else if (nextRandom() % 4 == 0) {
    return source;
  }
  const int chosen = choiceOf(peers, tag, comm).best();
  return chosen < 0 ? source : chosen;
}

void jitteredProbe(int source, MPI_Comm comm) {
  for (std::uint32_t i = 0; i < std::min(g_shownCount, kShown); ++i) {
    if (g_shown[i].comm == comm && g_shown[i].source == source) {
      return;
    }
  }
  if (g_shownCount < kShown) {
    g_shown[g_shownCount] = {comm, source};
  }
  g_shownCount = std::min(g_shownCount + 1, kShown + 1);
}

bool jitteredPoll(int* source, int tag, MPI_Comm comm) {
  static std::int64_t since = 0;  ///< a message is there, and has not been told of
  if (!provokes() || !isWild(*source) || !isTag(tag)) {
    return true;
  }
  const int peers = peersOf(comm);
  const BestOffer choice = choiceOf(peers, tag, comm);
  if (choice.best() < 0) {
    return true;
  }
  const bool more =
      choice.offered() < peers - 1 && g_jitter.piles && mayHold() && !wasShown(peers, tag, comm);
  const std::int64_t now = jitterNow();
  since = more && since == 0 ? now : since;
  if (more && now - since < g_jitter.most &&
      !(g_jitter.board.quiet(false) && now - since > g_jitter.grace)) {
    spend(100'000);
    return false;
  }
  since = 0;
  *source = choice.best();
  return true;
}

int jitteredIndex(int count, const MPI_Request* requests) {
  if (!provokes()) {
    return -1;
  }
  const auto complete = [&] {
    BestOffer choice;
    for (int i = 0; i < count; ++i) {
      const Request* entry = g_engine.requests.find(requests[i]);
      const bool receives =
          entry != nullptr && (entry->kind == RequestKind::Receive ||
                               (entry->kind == RequestKind::PersistentReceive && entry->active));
      int done = 0;
      const InLayer look;
      if (receives && mayBeLookedAt(entry) && (!entry->exchange || isSendHalfDone(requests[i])) &&
          PF_REAL(Request_get_status)(requests[i], &done, MPI_STATUS_IGNORE) == MPI_SUCCESS &&
          done != 0) {
        choice.offer(i, nextRandom());
      }
    }
    return choice;
  };
  if (g_jitter.piles) {
    holdUntilQuiet(RankPace::Waiting, false, [&] { return complete().offered() >= count; });
    g_jitter.board.say(RankPace::Waiting);  // until the call is over
  }
  return complete().best();
}

}  // namespace pf
