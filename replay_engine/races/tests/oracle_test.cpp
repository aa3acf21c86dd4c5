// SPDX-License-Identifier: GPL-3.0-or-later
// findRaces() and the brute-force oracle against answers worked out by hand: the paper's figures,
// and the cases where MPI's matching goes beyond the paper.
#include "replay_engine/races/tests/oracle.h"

#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "replay_engine/races/races.h"

namespace pf::oracle {
namespace {

/// Writes an execution down event by event, each rank's in its order.
class Script {
 public:
  explicit Script(int ranks) {
    m_execution.ranks.resize(static_cast<std::size_t>(ranks));
    Communicator world{0, "MPI_COMM_WORLD", {}, {}};
    for (Rank rank = 0; rank < ranks; ++rank) {
      world.group.push_back(rank);
    }
    m_execution.communicators.push_back(world);
    m_execution.callNames = {"MPI_Call", "MPI_Cancel"};
  }

  Serial send(Rank rank, Rank dest, Tag tag = 0) {
    return sendPart(rank, event(rank, EventKind::Send), dest, tag);
  }
  Serial ssend(Rank rank, Rank dest, Tag tag = 0) {
    const Serial serial = send(rank, dest, tag);
    history(rank).sends.back().synchronous = true;
    history(rank).sends.back().syncCompletion = serial;
    return serial;
  }
  void recv(Rank rank, Rank wanted, Tag wantedTag, Rank source, Tag tag = 0) {
    const std::uint32_t r = postPart(rank, event(rank, EventKind::Receive), wanted, wantedTag);
    complete(rank, r, history(rank).events.size(), source, tag);
  }
  void sendrecv(Rank rank, Rank dest, Rank wanted, Rank source) {
    const Serial serial = event(rank, EventKind::SendReceive);
    sendPart(rank, serial, dest, 0);
    complete(rank, postPart(rank, serial, wanted, kAnyTag), serial, source, 0);
  }
  std::uint32_t irecv(Rank rank, Rank wanted, Tag wantedTag = kAnyTag) {
    return postPart(rank, event(rank, EventKind::Post), wanted, wantedTag);
  }
  void wait(Rank rank, std::uint32_t receive, Rank source, Tag tag = 0) {
    complete(rank, receive, event(rank, EventKind::Completion), source, tag);
  }
  void cancelAndWait(Rank rank, std::uint32_t receive) {
    history(rank).events[event(rank, EventKind::Local) - 1].call = 1;
    history(rank).receives[receive].state = ReceiveState::Cancelled;
    history(rank).receives[receive].completion = event(rank, EventKind::Completion);
  }
  void probe(Rank rank, Rank wanted, Tag wantedTag, Rank source, Tag tag = 0) {
    RankHistory& h = history(rank);
    const Serial serial = event(rank, EventKind::Probe);
    h.probes.push_back({serial, 0, wanted, wantedTag, source, tag,
                        static_cast<std::uint32_t>(h.receives.size()), kNone});
  }
  void collective(Rank rank, CollectiveFlow flow, Rank root = kUnknownRank) {
    const Serial serial = event(rank, EventKind::Collective);
    const auto ordinal = static_cast<std::uint32_t>(history(rank).collectives.size());
    history(rank).collectives.push_back({serial, serial, 0, ordinal, flow, root, true, true});
  }

  Execution matched() {
    Execution copy = m_execution;
    matchMessages(copy);
    return copy;
  }

 private:
  RankHistory& history(Rank rank) { return m_execution.ranks[static_cast<std::size_t>(rank)]; }
  Serial event(Rank rank, EventKind kind) {
    Event e;
    e.kind = kind;
    e.call = 0;
    e.comm = 0;
    history(rank).events.push_back(e);
    return history(rank).events.size();
  }
  Serial sendPart(Rank rank, Serial serial, Rank dest, Tag tag) {
    SentMessage sent;
    sent.event = serial;
    sent.comm = 0;
    sent.dest = dest;
    sent.tag = tag;
    history(rank).sends.push_back(sent);
    return serial;
  }
  std::uint32_t postPart(Rank rank, Serial serial, Rank wanted, Tag wantedTag) {
    PostedReceive receive;
    receive.post = serial;
    receive.comm = 0;
    receive.wantedSource = wanted;
    receive.wantedTag = wantedTag;
    history(rank).receives.push_back(receive);
    return static_cast<std::uint32_t>(history(rank).receives.size() - 1);
  }
  void complete(Rank rank, std::uint32_t index, Serial serial, Rank source, Tag tag) {
    PostedReceive& receive = history(rank).receives[index];
    receive.completion = serial;
    receive.state = ReceiveState::Complete;
    receive.source = source;
    receive.tag = tag;
  }

  Execution m_execution;
};

using Lines = std::set<std::string>;  // "0 r0: 1:1 | 3:1": see toLines()

/// All three answers are the one worked out by hand.
void expectRaces(Script& script, const Lines& expected) {
  const Execution execution = script.matched();
  EXPECT_TRUE(unreachableEvents(execution).empty()) << toText(execution);
  EXPECT_EQ(toLines(execution, oracleRaces(execution)), expected) << "oracle\n"
                                                                  << toText(execution);
  EXPECT_EQ(toLines(execution, largestFrontierRaces(execution)), expected) << "largest\n"
                                                                           << toText(execution);
  EXPECT_EQ(toLines(execution, findRaces(execution)), expected) << "findRaces\n"
                                                                << toText(execution);
}

constexpr Rank kAny = kAnySource;

TEST(PaperFigures, Figure1TwoMessagesRaceForTheFirstReceive) {
  Script s(3);
  s.send(0, 1);
  s.send(2, 1);
  s.recv(1, kAny, kAnyTag, 0);
  s.recv(1, kAny, kAnyTag, 2);
  expectRaces(s, {"1 r0: 0:1 | 2:1"});
}

TEST(PaperFigures, Figure2AFrontierWithEventsBeforeIt) {
  Script s(3);
  s.send(1, 0);  // before the frontier
  s.recv(0, 1, kAnyTag, 1);
  s.send(0, 2);
  s.recv(2, 0, kAnyTag, 0);
  s.send(1, 0);                 // a
  s.send(2, 0);                 // c
  s.recv(0, kAny, kAnyTag, 1);  // r
  s.recv(0, kAny, kAnyTag, 2);  // d
  expectRaces(s, {"0 r1: 1:2 | 2:2"});
}

TEST(PaperFigures, Figure3bPreviousReceiveDoesNotHappenBeforeTheSend) {
  Script s(3);
  s.send(0, 1);
  s.recv(1, kAny, kAnyTag, 0);
  s.send(1, 0);  // something else
  s.recv(0, 1, kAnyTag, 1);
  s.send(2, 1);
  s.recv(1, kAny, kAnyTag, 2);
  expectRaces(s, {"1 r0: 0:1 | 2:1"});
}

TEST(PaperFigures, Figure3cPreviousReceiveHappensBeforeTheSend) {
  Script s(3);
  s.send(0, 1);
  s.recv(1, kAny, kAnyTag, 0);
  s.send(1, 2);
  s.recv(2, 1, kAnyTag, 1);
  s.send(2, 1);
  s.recv(1, kAny, kAnyTag, 2);
  expectRaces(s, {});
}

TEST(PaperFigures, Figure5aTransitiveRaces) {
  Script s(4);
  for (Rank rank = 1; rank < 4; ++rank) {
    s.send(rank, 0);
    s.recv(0, kAny, kAnyTag, rank);
  }
  expectRaces(s, {"0 r0: 1:1 | 2:1 3:1", "0 r1: 2:1 | 3:1"});
}

// The paper's receives ask for sets of channels; in MPI tags make such sets.
TEST(PaperFigures, Figure5bRacesThatAreNotTransitive) {
  Script s(4);
  s.send(1, 0, 1);
  s.send(2, 0, 1);
  s.send(3, 0, 2);
  s.recv(0, kAny, 1, 1, 1);
  s.recv(0, kAny, kAnyTag, 2, 1);
  s.recv(0, kAny, 2, 3, 2);
  expectRaces(s, {"0 r0: 1:1 | 2:1", "0 r1: 2:1 | 3:1"});
}

TEST(MpiMatching, PrePostedReceiveRacesTillItsCompletionIsSeen) {
  Script s(3);
  const auto r0 = s.irecv(0, kAny);
  s.send(0, 2);  // the post happens before rank 2's send, the completion does not
  s.recv(2, 0, kAnyTag, 0);
  s.send(1, 0);
  s.send(2, 0);
  s.recv(0, kAny, kAnyTag, 2);
  s.wait(0, r0, 1);
  expectRaces(s, {"0 r0: 1:1 | 2:2"});
}

TEST(MpiMatching, ReceiveIsMatchedBeforeALaterPostedOneThatCompletes) {
  Script s(4);
  const auto r0 = s.irecv(0, kAny);
  const auto r1 = s.irecv(0, kAny);
  s.send(1, 0);
  s.send(1, 0);
  s.wait(0, r1, 1);  // rank 1's second message is in r1, so its first is in r0
  s.send(0, 2);
  s.recv(2, 0, kAnyTag, 0);
  s.send(2, 0);  // comes too late for r0, though r0's completion is not yet seen
  s.wait(0, r0, 1);
  s.recv(0, kAny, kAnyTag, 2);
  expectRaces(s, {});
}

TEST(MpiMatching, AnEarlierPostedReceiveTakesTheAlternative) {
  Script s(3);
  const auto r0 = s.irecv(0, kAny, 1);
  s.send(1, 0, 2);
  s.recv(0, kAny, kAnyTag, 1, 2);  // r1: rank 2's message has tag 1, and r0 still waits for one
  s.send(0, 1, 5);
  s.recv(1, 0, 5, 0, 5);
  s.send(1, 0, 1);
  s.send(2, 0, 1);
  s.wait(0, r0, 1, 1);
  s.recv(0, kAny, 1, 2, 1);
  expectRaces(s, {"0 r0: 1:3 | 2:1"});
}

TEST(MpiMatching, SynchronousSendEndsTheRace) {
  Script s(3);
  const auto r0 = s.irecv(0, kAny);
  s.ssend(1, 0);
  s.send(1, 2);
  s.recv(2, 1, kAnyTag, 1);
  s.send(2, 0);
  s.wait(0, r0, 1);
  s.recv(0, kAny, kAnyTag, 2);
  expectRaces(s, {});
}

TEST(MpiMatching, SynchronousSendIsAfterThePostOfItsReceive) {
  Script s(4);
  s.send(1, 0);
  s.recv(0, kAny, 0, 1);
  s.recv(0, 2, 7, 2, 7);
  s.ssend(2, 0, 7);  // so the first receive is over
  s.send(2, 0);
  s.recv(0, kAny, 0, 2);
  expectRaces(s, {});
}

TEST(MpiMatching, SendrecvSendsBeforeItReceives) {
  Script s(3);
  s.send(1, 0);
  s.recv(0, kAny, kAnyTag, 1);
  s.send(0, 2);
  s.sendrecv(2, 0, 0, 0);  // receives after rank 0's first receive; sends without waiting for that
  s.recv(0, kAny, kAnyTag, 2);
  expectRaces(s, {"0 r0: 1:1 | 2:1"});
}

TEST(MpiMatching, BarrierOrders) {
  Script s(3);
  s.send(1, 0);
  s.recv(0, kAny, kAnyTag, 1);
  for (Rank rank = 0; rank < 3; ++rank) {
    s.collective(rank, CollectiveFlow::AllToAll);
  }
  s.send(2, 0);
  s.recv(0, kAny, kAnyTag, 2);
  expectRaces(s, {});
}

TEST(MpiMatching, BroadcastFromAnotherRankDoesNotOrder) {
  Script s(3);
  s.send(1, 0);
  s.recv(0, kAny, kAnyTag, 1);
  for (Rank rank = 0; rank < 3; ++rank) {
    s.collective(rank, CollectiveFlow::FromRoot, 1);
  }
  s.send(2, 0);
  s.recv(0, kAny, kAnyTag, 2);
  expectRaces(s, {"0 r0: 1:1 | 2:2"});
}

TEST(MpiMatching, WildcardProbeMakesTheChoice) {
  Script s(3);
  s.send(1, 0);
  s.send(2, 0);
  s.probe(0, kAny, kAnyTag, 1);
  s.recv(0, 1, kAnyTag, 1);
  s.recv(0, kAny, kAnyTag, 2);
  expectRaces(s, {"0 p0: 1:1 | 2:1"});
}

TEST(MpiMatching, OnlyTheFirstMessageOfASourceIsAnAlternative) {
  Script s(3);
  s.send(1, 0);
  s.send(2, 0);
  s.send(2, 0);
  s.recv(0, kAny, kAnyTag, 1);
  s.recv(0, kAny, kAnyTag, 2);
  s.recv(0, kAny, kAnyTag, 2);
  expectRaces(s, {"0 r0: 1:1 | 2:1"});
}

TEST(MpiMatching, MessageThatNobodyReceivedIsAnAlternative) {
  Script s(3);
  s.send(1, 0);
  s.send(2, 0);
  s.recv(0, kAny, kAnyTag, 1);
  expectRaces(s, {"0 r0: 1:1 | 2:1"});
}

TEST(MpiMatching, CancelledReceiveStandsInTheWayTillItIsCancelled) {
  Script s(3);
  const auto r0 = s.irecv(0, kAny, 1);
  s.send(1, 0, 2);
  s.recv(0, kAny, kAnyTag, 1, 2);
  s.cancelAndWait(0, r0);
  s.send(2, 0, 1);  // would go to r0 before the cancellation
  s.recv(0, kAny, 1, 2, 1);
  expectRaces(s, {});
}

}  // namespace
}  // namespace pf::oracle
