// SPDX-License-Identifier: GPL-3.0-or-later
// Which line is the line before, and how a walk goes on.
#include "app/session/line_walk.h"

#include <gtest/gtest.h>

namespace pf::session {
namespace {

using mi::RunKind;

LinePlace at(const char* function, int line, int depth) {
  return {function, "m.c", line, depth, static_cast<std::uint64_t>(line)};
}

TEST(LineWalk, WhatIsCalledIsSteppedOverAndWhatCallsIsSteppedThrough) {
  LineWalk walk(LineMove::Next, 2);
  walk.beginsBeforeEvent();
  EXPECT_EQ(walk.onwards(), RunKind::Step) << "how deep that is is not known";
  walk.came(at("main", 10, 1));
  EXPECT_EQ(walk.onwards(), RunKind::Step) << "into what the rank is in";
  walk.came(at("f", 3, 2));
  EXPECT_EQ(walk.onwards(), RunKind::Next);
  walk.came(at("g", 30, 3));
  EXPECT_EQ(walk.onwards(), RunKind::Finish);
  EXPECT_EQ(walk.stepsTo(3), (std::vector<RunKind>{RunKind::Step, RunKind::Step, RunKind::Next}));
}

TEST(LineWalk, AStepBackGoesThroughAll) {
  LineWalk walk(LineMove::Step, 1);
  walk.came(at("main", 10, 1));
  walk.came(at("f", 3, 2));
  EXPECT_EQ(walk.onwards(), RunKind::Step);
  EXPECT_EQ(walk.before(LineMove::Step, 1), 1U);
  EXPECT_EQ(walk.before(LineMove::Next, 1), 0U);
}

TEST(LineWalk, OutIsToTheCallAndNotIntoWhatItIsGiven) {
  LineWalk walk(LineMove::Finish, 2);
  walk.beginsBeforeEvent();
  walk.came(at("main", 16, 1));
  EXPECT_EQ(walk.onwards(), RunKind::Next);
  walk.came(at("g", 5, 2));  // the walk may have begun in there
  EXPECT_EQ(walk.before(LineMove::Finish, 2), 1U);
}

TEST(LineWalk, BeforeAnEventIsTheLastResort) {
  LineWalk walk(LineMove::Next, 1);
  walk.beginsBeforeEvent();
  EXPECT_EQ(walk.before(LineMove::Next, 1), 0U);
  walk.clear();
  EXPECT_EQ(walk.before(LineMove::Next, 1), std::nullopt);
}

/// Where a call has returned that the walk began in, the rank is in the midst of a line, or at the begin of the next one.
TEST(LineWalk, TheMidstOfALineIsNotItsBegin) {
  LineWalk walk(LineMove::Next, 1);
  walk.came(at("f", 3, 2));
  walk.came(at("main", 16, 1));
  EXPECT_EQ(walk.before(LineMove::Next, 1), std::nullopt);
  EXPECT_EQ(walk.before(LineMove::Next, 1, true), 1U);
  walk.clear();
  walk.came(at("main", 16, 1));
  walk.came(at("f", 3, 2));
  walk.came(at("main", 16, 1));
  EXPECT_EQ(walk.before(LineMove::Next, 1), 0U) << "before the call was made";
  walk.endAt(1);
  walk.came(at("main", 17, 1));
  EXPECT_EQ(walk.before(LineMove::Next, 1), 2U);
}

TEST(LineWalk, TheEntryOfAFunctionIsNoLine) {
  LineWalk walk(LineMove::Next, 2);
  walk.beginsAtEntry(at("f", 2, 2));
  EXPECT_EQ(walk.before(LineMove::Next, 2), std::nullopt);
  EXPECT_TRUE(walk.wasIn(at("f", 7, 2)));
  EXPECT_FALSE(walk.wasIn(at("f", 7, 3)));
}

TEST(LineWalk, LinesOfWhatWasSteppedOverAreNotKnown) {
  LineWalk all(LineMove::Step, 1);
  all.came(at("main", 3, 1));
  all.came(at("main", 4, 1));
  EXPECT_TRUE(all.knows(LineMove::Step));
  EXPECT_TRUE(all.knows(LineMove::Next));
  EXPECT_FALSE(all.knows(LineMove::Finish));
  LineWalk over(LineMove::Next, 1);
  over.came(at("main", 3, 1));
  over.came(at("main", 4, 1));
  EXPECT_FALSE(over.knows(LineMove::Step));
  EXPECT_TRUE(over.knows(LineMove::Next));
  over.goesOnBy(mi::RunKind::Step);
  over.came(at("f", 1, 2));
  EXPECT_TRUE(over.knows(LineMove::Step)) << "nothing was stepped over since the line before";
}

TEST(LineWalk, HowDeepAPlaceIsMayBeKnownLater) {
  LineWalk walk;
  walk.came(at("main", 3, 1));
  walk.goesOnBy(mi::RunKind::Step);
  walk.came(at("f", 1, 0));
  walk.goesOnBy(mi::RunKind::Finish);
  walk.came(at("main", 3, 0));
  walk.isDeep(1, 2);
  walk.isDeep(2, 1);
  EXPECT_EQ(walk.before(LineMove::Next, 1), 0U) << "in the midst of the line that has called";
  EXPECT_EQ(walk.before(LineMove::Step, 1), 1U);
}

}  // namespace
}  // namespace pf::session
