// SPDX-License-Identifier: GPL-3.0-or-later
// What is judged and said of a replay, from what its daemon says.
#include "app/replaying/verdict_text.h"

#include <gtest/gtest.h>

namespace pf::app {
namespace {

/// One rank: a receive from any source at a.c:7.
Execution oneReceive() {
  Execution execution;
  execution.callNames = {"MPI_Recv"};
  execution.sites.resize(1);
  execution.sites[0].file = "/home/u/a.c";
  execution.sites[0].line = 7;
  Event event;
  event.kind = EventKind::Receive;
  event.peer = kAnySource;
  event.tag = 3;
  event.site = 0;
  execution.ranks.resize(1);
  execution.ranks[0].events = {event};
  return execution;
}

TEST(DivergenceTextTest, NamesTheRecordedEventAndWhatTheRankDidBefore) {
  protocol::RankDiverged diverged;
  diverged.rank = 0;
  diverged.serial = 1;
  diverged.expected = "MPI_Recv";
  diverged.got = "MPI_Send to rank 2";
  diverged.place.text = "b.c:9";
  diverged.history = {{4, 0, "MPI_Recv", -1, -1, {}}, {5, 0, "MPI_Barrier", -2, -1, {}}};
  const DivergenceText text = divergenceText(oneReceive(), diverged);
  EXPECT_EQ(text.expected, "MPI_Recv from any source, tag 3 at a.c:7");
  EXPECT_EQ(text.got, "MPI_Send to rank 2 at b.c:9");
  EXPECT_EQ(text.history,
            "\n  its last events before that:\n    4  MPI_Recv any source, any tag\n"
            "    5  MPI_Barrier");
}

TEST(DivergenceTextTest, SaysWhatTheDaemonSaysWhereTheEventIsNotKnown) {
  protocol::RankDiverged diverged;
  diverged.rank = 3;
  diverged.serial = 9;
  diverged.expected = "MPI_Recv";
  EXPECT_EQ(divergenceText(oneReceive(), diverged).expected, "MPI_Recv");
  diverged.rank = 0;
  diverged.serial = 1;
  diverged.expected = "the end of its record";
  EXPECT_EQ(divergenceText(oneReceive(), diverged).expected, "the end of its record");
}

TEST(DivergenceTextTest, KeepsTheSizeOfOtherContents) {
  protocol::RankDiverged differs;
  differs.rank = 0;
  differs.serial = 1;
  differs.goesOn = true;
  differs.expected = "MPI_Send, 64 bytes";
  EXPECT_EQ(divergenceText(oneReceive(), differs).expected,
            "MPI_Recv from any source, tag 3 at a.c:7, 64 bytes");
}

TEST(OtherContentsTest, TheFirstIsTheFirstInTime) {
  OtherContents contents;
  EXPECT_TRUE(contents.none());
  protocol::RankDiverged differs;
  differs.rank = 1;
  differs.serial = 3;
  differs.time = 200;
  contents.note(differs);
  EXPECT_EQ(contents.atEnd(),
            "the replay did what the recorded run did, but with other contents than recorded, "
            "first at rank 1, event 3");
  differs.rank = 2;
  differs.serial = 8;
  differs.time = 100;
  contents.note(differs);
  EXPECT_EQ(contents.first(), "other contents than recorded, first at rank 2, event 8");
  EXPECT_EQ(contents.atEnd(),
            "the replay did what the recorded run did, but with other contents than recorded, "
            "first at rank 2, event 8 (of 2 ranks)");
}

TEST(StallTest, OnlyOfARecordingThatEndsSoIsItAsRecorded) {
  protocol::Verdict verdict;
  db::RunInfo run;
  for (const bool complete : {false, true}) {
    for (const bool asRecorded : {false, true}) {
      for (const bool proven : {false, true}) {
        run.complete = complete;
        verdict.asRecorded = asRecorded;
        verdict.proven = proven;
        EXPECT_EQ(meaningOf(verdict, run), asRecorded && !complete ? Stall::AsRecorded
                                           : proven                ? Stall::Proven
                                                                   : Stall::MayGoOn)
            << complete << asRecorded << proven;
      }
    }
  }
}

}  // namespace
}  // namespace pf::app
