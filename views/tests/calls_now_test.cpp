// SPDX-License-Identifier: GPL-3.0-or-later
// Who waits for whom in a job that was not recorded: what the arguments tell, and no more.
#include "views/trace/analyses/calls_now.h"

#include <memory>

#include <gtest/gtest.h>

#include "views/trace/analyses/waits_text.h"

namespace pf::views {
namespace {

using Kind = CallNow::Kind;

CallNow callOf(Rank rank, Kind kind, const char* name, std::optional<Rank> peer = {},
               std::optional<Tag> tag = {}, std::optional<bool> ofWorld = true) {
  CallNow call;
  call.rank = rank;
  call.kind = kind;
  call.call = QString::fromLatin1(name);
  call.peer = peer;
  call.tag = tag;
  call.ofWorld = ofWorld;
  call.place = kind == Kind::NoCall ? QString() : QStringLiteral("a.c:7");
  return call;
}

CallNow receive(Rank rank, std::optional<Rank> source, std::optional<bool> ofWorld = true) {
  return callOf(rank, Kind::Receive, "MPI_Recv", source, 5, ofWorld);
}

std::string remarks(const std::vector<CallNow>& calls, std::size_t ranks) {
  return remarksOnCalls(calls, ranks).join(QStringLiteral("; ")).toStdString();
}

TEST(CallsNow, AReceiveAndASendWaitForTheirPeer) {
  const auto waits = waitsOfCalls({receive(0, 1), callOf(2, Kind::Send, "MPI_Ssend", 0, 9)}, 3);
  ASSERT_EQ(waits.size(), 2U);
  EXPECT_EQ(waits[0].on, std::vector<Rank>{1});
  EXPECT_FALSE(waits[0].sure) << "the message may be on its way";
  EXPECT_EQ(waits[0].why.toStdString(), "MPI_Recv from rank 1, tag 5 at a.c:7");
  EXPECT_EQ(waits[1].on, std::vector<Rank>{0});
  EXPECT_EQ(waits[1].why.toStdString(), "MPI_Ssend to rank 0, tag 9 at a.c:7");
}

TEST(CallsNow, WhatIsNotKnownIsNotGuessed) {
  std::vector<CallNow> calls = {receive(0, std::nullopt), receive(1, 0, false),
                                receive(2, 0, std::nullopt), receive(3, 77),
                                callOf(4, Kind::Completion, "MPI_Waitall", {}, {}, {})};
  const auto waits = waitsOfCalls(calls, 5);
  ASSERT_EQ(waits.size(), 5U);
  for (const RankWait& wait : waits) {
    EXPECT_TRUE(wait.on.empty()) << wait.why.toStdString();
  }
  EXPECT_EQ(waits[0].why.toStdString(), "MPI_Recv from a rank that is not known, tag 5 at a.c:7");
  EXPECT_EQ(waits[1].why.toStdString(),
            "MPI_Recv from rank 0, tag 5 of another communicator than MPI_COMM_WORLD at a.c:7");
  EXPECT_EQ(waits[4].why.toStdString(), "MPI_Waitall at a.c:7, for which requests is not known");
}

TEST(CallsNow, AnySourceIsOneOfAllOthers) {
  CallNow any = receive(1, std::nullopt);
  any.anySource = true;
  const auto waits = waitsOfCalls({any}, 3);
  ASSERT_EQ(waits.size(), 1U);
  EXPECT_EQ(waits[0].on, (std::vector<Rank>{0, 2}));
  EXPECT_TRUE(waits[0].anyOne);
}

TEST(CallsNow, NobodyWaitsForMpiProcNull) {
  CallNow nobody = receive(0, std::nullopt);
  nobody.nobody = true;
  EXPECT_TRUE(waitsOfCalls({nobody}, 2).empty());
}

TEST(CallsNow, ACircleIsADeadlockUnlessAMessageIsOnItsWay) {
  EXPECT_EQ(
      remarks({receive(0, 1), receive(1, 2), receive(2, 1)}, 3),
      "rank 1 waits for rank 2, which waits for rank 1: a deadlock, if no message is on its way");
  EXPECT_EQ(remarks({receive(0, 1), receive(1, 2), callOf(2, Kind::NoCall, "")}, 3),
            "rank 2 is in no call of MPI");
}

TEST(CallsNow, RanksInDifferentCollectivesAreNamed) {
  const std::vector<CallNow> calls = {callOf(0, Kind::Collective, "MPI_Allreduce"),
                                      callOf(1, Kind::Collective, "MPI_Bcast", 0),
                                      callOf(2, Kind::Collective, "MPI_Allreduce")};
  EXPECT_EQ(remarks(calls, 3),
            "ranks 0, 2 are in MPI_Allreduce at a.c:7, rank 1 is in MPI_Bcast at a.c:7: all ranks "
            "must call the collectives of MPI_COMM_WORLD in the same order");
  const auto waits = waitsOfCalls(calls, 3);
  EXPECT_EQ(waits[0].on, std::vector<Rank>{1});
  EXPECT_EQ(waits[1].on, (std::vector<Rank>{0, 2}));
  EXPECT_EQ(remarks({calls[0], callOf(1, Kind::Collective, "MPI_Allreduce")}, 2), "");
  EXPECT_EQ(remarks({callOf(0, Kind::Collective, "MPI_Barrier", {}, {}, false),
                     callOf(1, Kind::Collective, "MPI_Bcast", 0, {}, false)},
                    2),
            "")
      << "of which communicators is not known";
}

TEST(CallsNow, TheTextSaysOfWhomNothingIsKnown) {
  auto data = std::make_shared<TraceData>();
  data->execution.ranks.resize(3);
  data->logicalTimes.resize(3);
  data->calls = {receive(0, 1)};
  const TraceIndexPtr index = makeIndex(data);
  const JobState state = jobStateAt(*index, cutAtEnd(*index));
  const std::string text = waitsText(*index, state, {}).toStdString();
  EXPECT_EQ(text,
            "where 1 of 3 ranks stand; which messages there are is not known of a job that was not "
            "recorded\n"
            "of ranks 1-2 nothing is known: not stopped by a debugger\n"
            "rank 0 waits, it seems, for rank 1: MPI_Recv from rank 1, tag 5 at a.c:7\n");
}

}  // namespace
}  // namespace pf::views
