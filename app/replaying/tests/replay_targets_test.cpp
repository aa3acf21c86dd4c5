// SPDX-License-Identifier: GPL-3.0-or-later
// What a replay may be asked to stop at, and where its ranks stop.
#include <csignal>

#include <gtest/gtest.h>

#include "app/replaying/replay.h"
#include "app/replaying/tests/trace_fixture.h"

namespace pf::app {
namespace {

using Cut = std::vector<Serial>;

/// The trace of db::smallContent(): rank 0 receives of 2 (posted at 2, completed at 3), and of 1 (5); a barrier is event 6 of
/// rank 0, and 3 of the others, where rank 2 is inside.
class ReplayTargetsTest : public test::TraceFixture {
 protected:
  ReplayTargetsTest() { open(db::smallContent()); }

  [[nodiscard]] Result<Cut> cut(const std::vector<EventRef>& events,
                                const std::vector<Rank>& running = {}) const {
    return cutBeforeAll(*m_store, m_execution, running, events);
  }
  [[nodiscard]] std::string whyNot(const std::vector<EventRef>& events,
                                   const std::vector<Rank>& running = {}) const {
    const Result<Cut> made = cut(events, running);
    EXPECT_FALSE(made.ok());
    return made ? "" : made.error().message;
  }

  const Execution m_execution = db::smallContent().execution;
};

TEST_F(ReplayTargetsTest, EventsThatThereAre) {
  EXPECT_TRUE(eventIsThere(*m_store, {0, 1}).ok());
  EXPECT_TRUE(eventIsThere(*m_store, {2, 7}).ok()) << "as the rank's log says";
  EXPECT_EQ(eventIsThere(*m_store, {0, 0}).error().message, "rank 0 has no event 0");
  EXPECT_EQ(eventIsThere(*m_store, {0, 8}).error().advice,
            "Its events are 1 to 7; 'photofinish events' lists them.");
  EXPECT_EQ(eventIsThere(*m_store, {3, 1}).error().message, "the recording has no rank 3");
  EXPECT_EQ(eventIsThere(*m_store, {-1, 1}).error().code, ErrorCode::Usage);
}

TEST_F(ReplayTargetsTest, OthersHaveDoneWhatTheEventNeeds) {
  for (const Result<Destination>& to :
       {destinationIn(m_execution, {0, 5}), destinationOf(m_path, {0, 5})}) {
    ASSERT_TRUE(to.ok());
    EXPECT_EQ(to->event, "MPI_Recv from any source, tag 7 at main.c:42");
    EXPECT_EQ(to->cut, (Cut{4, 2, 2})) << "rank 2's message was taken, rank 1's was probed";
  }
}

/// As a survey that was cut short leaves it.
TEST_F(ReplayTargetsTest, AnEventThatNobodySawIsNoDestination) {
  const Result<Destination> behind = destinationOf(m_path, {1, 5});
  ASSERT_FALSE(behind.ok());
  EXPECT_NE(behind.error().message.find("did not come to event 5 of rank 1"), std::string::npos);
  EXPECT_EQ(destinationIn(m_execution, {1, 5}).error().code, ErrorCode::Divergence);
  EXPECT_EQ(destinationIn(m_execution, {7, 1}).error().code, ErrorCode::Divergence);
  EXPECT_EQ(destinationOf(m_path, {3, 1}).error().code, ErrorCode::Usage);
}

TEST_F(ReplayTargetsTest, ACutNamesEachRankOnce) {
  EXPECT_EQ(*cut({{2, 3}, {0, 3}, {1, 1}}), (Cut{2, 0, 2}));
  EXPECT_EQ(whyNot({{0, 1}, {1, 1}}), "the cut has no event of rank 2");
  EXPECT_EQ(whyNot({{0, 1}, {1, 1}, {2, 1}, {1, 2}}), "the cut names rank 1 twice");
  EXPECT_EQ(whyNot({{0, 1}, {1, 1}, {2, 9}}), "rank 2 has no event 9");
}

TEST_F(ReplayTargetsTest, AMessageFromBehindTheCutIsToldWithBothEnds) {
  const Result<Cut> made = cut({{0, 4}, {1, 3}, {2, 2}});
  ASSERT_FALSE(made.ok());
  EXPECT_EQ(
      made.error().message,
      "this is no consistent cut: the message of rank 2 event 2 (MPI_Send to rank 0, tag 7 at "
      "?), which is behind the cut, is needed by rank 0 event 3 (MPI_Wait at main.c:42), "
      "which is before it");
  EXPECT_EQ(made.error().advice, "Let rank 2 do that event, too, or stop rank 0 earlier.");
}

TEST_F(ReplayTargetsTest, OfAPartTheOthersAreWhereItNeedsThem) {
  EXPECT_EQ(*cut({{0, 6}}, {0}), (Cut{5, 2, 2}));
  EXPECT_EQ(*cut({{0, 3}}, {0}), (Cut{2, 0, 0}));
  EXPECT_EQ(*cut({{0, 3}, {1, 2}}, {0, 1}), (Cut{2, 1, 0}));
  EXPECT_NE(whyNot({{2, 1}}, {0, 1}).find("which does not run in this replay"), std::string::npos);
  EXPECT_EQ(whyNot({{0, 1}}, {0, 1}), "the cut has no event of rank 1");
}

TEST_F(ReplayTargetsTest, RacesByTheirNumbers) {
  EXPECT_EQ(*racingReceiveOf(m_path, 1), (EventRef{0, 2})) << "where it was posted";
  EXPECT_EQ(*racingReceiveOf(m_path, 2), (EventRef{0, 4})) << "a probe";
  for (const std::uint64_t number : {0U, 3U}) {
    const Result<EventRef> race = racingReceiveOf(m_path, number);
    ASSERT_FALSE(race.ok());
    EXPECT_EQ(race.error().message, "there is no race " + std::to_string(number));
    EXPECT_NE(race.error().advice.find("They are 1 to 2"), std::string::npos);
  }
}

TEST_F(ReplayTargetsTest, TheFailingReceive) {
  Result<EventRef> event = failingReceiveOf(m_path);
  ASSERT_TRUE(event.ok()) << event.error().text();
  EXPECT_EQ(*event, (EventRef{0, 5})) << "the last message that rank 0 took";
  db::Content content = db::smallContent();
  content.run.exitStatus = 0;
  for (db::RankInfo& rank : content.ranks) {
    rank.exitStatus = 0;
    rank.exitSignal.reset();
    rank.complete = true;
  }
  open(content);
  event = failingReceiveOf(m_path);
  ASSERT_FALSE(event.ok());
  EXPECT_EQ(event.error().message, "no rank of this run has failed");
}

TEST_F(ReplayTargetsTest, EachRankIsHeldWhereItsRecordEnds) {
  std::vector<std::uint64_t> ends;
  for (const db::RankInfo& rank : m_store->ranks()) {
    ends.push_back(rank.complete ? 0 : rank.lastSerial + 1);
  }
  EXPECT_EQ(stopsAtEnd(*m_store), ends);
  db::Content content = db::smallContent();
  content.run.complete = true;
  open(content);
  EXPECT_TRUE(stopsAtEnd(*m_store).empty()) << "it ends by itself";
}

TEST_F(ReplayTargetsTest, EventsAreKnownOrNot) {
  EXPECT_FALSE(*needsSurvey(m_path));
  EXPECT_TRUE(surveyIfNeeded(m_path).ok());
  EXPECT_EQ(needsSurvey(m_directory.file("none.pft")).error().code, ErrorCode::NotFound);
}

/// What is not the user's own work is never run, whatever its name is.
TEST_F(ReplayTargetsTest, NeitherTracesOfOthersNorWithoutContentsBecomeJobs) {
  const auto why = [&] {
    const Result<JobOptions> job = replayJob(*m_store, {}, 0, {}, false);
    EXPECT_FALSE(job.ok());
    return job ? "" : job.error().message;
  };
  EXPECT_FALSE(why().empty());
  db::Content content = db::smallContent();
  content.run.redacted = true;
  open(content);
  EXPECT_NE(why().find("redact"), std::string::npos) << why();
}

}  // namespace
}  // namespace pf::app
