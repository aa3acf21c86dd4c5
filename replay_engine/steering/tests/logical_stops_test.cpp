// SPDX-License-Identifier: GPL-3.0-or-later
#include "replay_engine/steering/logical_stops.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "replay_engine/races/tests/execution_builder.h"

namespace pf::test {
namespace {

/// "0@3 1@2" for the events that `text` stands for; "? …" for the error.
std::string events(const Execution& execution, const std::string& text) {
  const Result<LogicalStop> stop = parseLogicalStop(text);
  if (!stop) {
    return "? " + stop.error().message;
  }
  const Result<std::vector<EventRef>> found = eventsOf(*stop, execution, findRaces(execution));
  if (!found) {
    return "? " + found.error().message;
  }
  std::string out;
  for (const EventRef& event : *found) {
    out +=
        (out.empty() ? "" : " ") + std::to_string(event.rank) + "@" + std::to_string(event.serial);
  }
  return out;
}

Execution sample() {
  return parseExecution(R"(comm pair: 0 1
                           0: recv * = 1; irecv *:* a; barrier; wait a = 2:7; recv 1:7@pair; probe 2; recv 2
                           1: send 0; barrier; send 0:7@pair
                           2: send 0:7; barrier; send 0)");
}

TEST(LogicalStops, standForEventsOfTheRecording) {
  const Execution e = sample();
  EXPECT_EQ(events(e, "event 0:4"), "0@4");
  EXPECT_EQ(events(e, "receive 0#1"), "0@1");
  EXPECT_EQ(events(e, "receive 0#2"), "0@4");  // where its completion is observed
  EXPECT_EQ(events(e, "receive 0#4"), "0@7");  // a probe takes nothing
  EXPECT_EQ(events(e, "message from 1"), "0@1 0@5");
  EXPECT_EQ(events(e, "message from 2 tag 7"), "0@4");
  EXPECT_EQ(events(e, "message from 1 to 0 tag 7 comm pair"), "0@5");
  EXPECT_EQ(events(e, "message from 1 comm 0"), "0@1");
  EXPECT_EQ(events(e, "message from 1 to 2"), "");
  EXPECT_EQ(events(e, "any receive"), "0@1 0@4 0@5 0@7");
  EXPECT_EQ(events(e, "collective 1"), "0@3 1@2 2@2");
  EXPECT_EQ(events(e, "divergence"), "");
}

TEST(LogicalStops, racesAreNumberedAsTheyAreListed) {
  const Execution e = parseExecution("0: recv * = 1; recv * = 2\n1: send 0\n2: send 0");
  ASSERT_EQ(findRaces(e).size(), 1U);
  EXPECT_EQ(events(e, "race 1"), "0@1");
  EXPECT_EQ(events(e, "race 2"), "? the recording has no race 2");
}

TEST(LogicalStops, mainBeginsAtTheFirstEventOfEachRankThatHasOne) {
  const Execution e = parseExecution("0: recv * = 1\n1: send 0\n2:");
  EXPECT_EQ(events(e, "start of main"), "0@1 1@1");
}

TEST(LogicalStops, whatIsNotThereIsSaid) {
  const Execution e = sample();
  EXPECT_EQ(events(e, "event 0:8"), "? the recording has no event 8 of rank 0");
  EXPECT_EQ(events(e, "event 3:1"), "? the recording has no rank 3");
  EXPECT_EQ(events(e, "receive 0#5"), "? the recording has no receive 5 of rank 0");
  EXPECT_EQ(events(e, "message from 9"), "? the recording has no rank 9");
  EXPECT_EQ(events(e, "message from 1 comm no such"),
            "? the recording has no communicator 'no such'");
  EXPECT_EQ(events(e, "collective 2"), "? the recording has no collective 2 on MPI_COMM_WORLD");
  const auto error = eventsOf(*parseLogicalStop("receive 0#5"), e, {}).error();
  EXPECT_EQ(error.advice, "Its receives are 1 to 4.");
}

TEST(LogicalStops, textAndBack) {
  for (const char* text :
       {"event 2:17", "receive 0#3", "message from 3", "message from 3 to 1 tag 7 comm a b",
        "race 4", "collective 2", "collective 2 comm MPI_COMM_SELF", "any receive", "start of main",
        "divergence"}) {
    const auto stop = parseLogicalStop(text);
    ASSERT_TRUE(stop) << text;
    EXPECT_EQ(toText(*stop), text);
    EXPECT_TRUE(isLogicalStop(text));
  }
  EXPECT_EQ(toText(*parseLogicalStop("  message  tag 7   from 3 ")), "message from 3 tag 7");
}

TEST(LogicalStops, badTextIsRefusedWithTheForm) {
  for (const char* text : {"",
                           " ",
                           "event",
                           "event 1",
                           "event 1:0",
                           "event 1:",
                           "event :1",
                           "event -1:2",
                           "event 1:2 3",
                           "event 1:99999999999999999999",
                           "receive 0",
                           "receive 0#0",
                           "receive 0:1",
                           "message",
                           "message from",
                           "message from x",
                           "message to 1",
                           "message from 1 from 2",
                           "message from 1 tag",
                           "message from 1 tag -3",
                           "message from 1 comm",
                           "message from 1 size 3",
                           "race",
                           "race 0",
                           "race x",
                           "race 1 2",
                           "collective",
                           "collective 0",
                           "collective 1 comm",
                           "collective 1 on x",
                           "any",
                           "any send",
                           "any receive now",
                           "divergence 1",
                           "start",
                           "start of work",
                           "start of main 2",
                           "main.c:3",
                           "\x01\xff"}) {
    const auto stop = parseLogicalStop(text);
    ASSERT_FALSE(stop) << text;
    EXPECT_EQ(stop.error().code, ErrorCode::Usage);
    EXPECT_NE(stop.error().advice.find("Write '"), std::string::npos) << text;
  }
  EXPECT_EQ(parseLogicalStop("event 3").error().advice, "Write 'event RANK:SERIAL'.");
  EXPECT_FALSE(isLogicalStop("race"));  // may be a function
  EXPECT_FALSE(isLogicalStop("main.c:3"));
  EXPECT_TRUE(isLogicalStop("race x"));
}

}  // namespace
}  // namespace pf::test
