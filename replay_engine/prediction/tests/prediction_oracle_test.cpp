// SPDX-License-Identifier: GPL-3.0-or-later
// Random single-path programs: what is predicted from one run = what all executions show (brute_force.h).
#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <sstream>

#include <gtest/gtest.h>

#include "replay_engine/prediction/prediction.h"
#include "replay_engine/prediction/tests/brute_force.h"

namespace pf::prediction::test {
namespace {

std::string eventText(EventRef event) {
  return std::to_string(event.rank) + "@" + std::to_string(event.serial);
}

std::string deadlockText(const Execution& execution, const Prediction& prediction) {
  std::string waiting;
  std::string collectives;
  for (const BlockedRank& blocked : prediction.blocked) {
    const Event& event =
        execution.ranks[index(blocked.event.rank)].events[blocked.event.serial - 1];
    (event.kind == EventKind::Collective ? collectives : waiting) += eventText(blocked.event) + " ";
  }
  return waiting.empty() ? collectives : waiting;
}

Outcomes predicted(const Recording& recording, const Predictions& predictions) {
  Outcomes outcomes;
  for (const Prediction& each : predictions.found) {
    if (each.kind == PredictionKind::Unreceived) {
      outcomes.unreceived.insert(eventText(each.send));
    } else if (each.kind == PredictionKind::Truncation) {
      outcomes.truncations.insert(eventText(each.receive) + "<" + eventText(each.send));
    } else {
      const bool waits = std::any_of(each.blocked.begin(), each.blocked.end(),
                                     [](const BlockedRank& rank) { return rank.standardSend; });
      (waits ? outcomes.synchronousDeadlocks : outcomes.deadlocks)
          .insert(deadlockText(recording.execution, each));
    }
  }
  return outcomes;
}

/// What is so in the record is not predicted.
void dropRecorded(const Execution& execution, Outcomes& outcomes) {
  for (const Message& message : execution.messages) {
    const std::string send = eventText(message.send);
    if (message.post == kNone) {
      outcomes.unreceived.erase(send);
      continue;
    }
    const Serial post = execution.ranks[index(message.dest)].receives[message.post].post;
    outcomes.truncations.erase(eventText({message.dest, post}) + "<" + send);
  }
}

std::set<std::string> words(const std::string& text) {
  std::istringstream stream(text);
  return {std::istream_iterator<std::string>(stream), std::istream_iterator<std::string>()};
}

/// Deadlocks that are expected and in which no predicted one is contained: who waits there waits there without the others.
std::set<std::string> missed(const Outcomes& found, const std::set<std::string>& expected) {
  std::set<std::string> left;
  for (const std::string& each : expected) {
    const auto contains = [all = words(each)](const std::string& other) {
      return std::ranges::includes(all, words(other));
    };
    if (std::ranges::none_of(found.deadlocks, contains) &&
        std::ranges::none_of(found.synchronousDeadlocks, contains)) {
      left.insert(each);
    }
  }
  return left;
}

std::set<std::string> wrong(const std::set<std::string>& found,
                            const std::set<std::string>& expected) {
  std::set<std::string> more;
  std::ranges::set_difference(found, expected, std::inserter(more, more.end()));
  return more;
}

std::uint64_t programs() {
  const char* text = std::getenv("PF_PREDICTIONS");
  return text == nullptr ? 700 : std::strtoull(text, nullptr, 10);
}

TEST(PredictionOracle, RandomProgramsPredictExactlyWhatBruteForceFinds) {
  std::size_t looked = 0;
  std::size_t deadlocks = 0;
  std::size_t synchronous = 0;
  std::size_t unreceived = 0;
  std::size_t truncations = 0;
  for (std::uint64_t seed = 1; looked < programs(); ++seed) {
    const Program program = randomProgram(seed);
    Recording recording;
    for (std::uint64_t run = 0; run < 10 && !recording.ended; ++run) {
      recording = record(program, seed * 100 + run);
    }
    if (!recording.ended || recording.idle) {
      continue;
    }
    Outcomes expected = bruteForce(program);
    if (!expected.whole) {
      continue;
    }
    dropRecorded(recording.execution, expected);
    PredictionLimits limits;
    limits.most = 10000;
    limits.countFirst = seed % 2 == 0 ? 0 : 1000;
    const auto predictions = predict(recording.execution, recording.facts, limits);
    ASSERT_TRUE(predictions.ok()) << predictions.error().text() << toText(program);
    ASSERT_TRUE(predictions->decided);
    const Outcomes found = predicted(recording, *predictions);
    std::string where = "program " + std::to_string(seed) + "\n" + toText(program) + "predicted:";
    for (const std::string& each : found.deadlocks) {
      where += " " + each + ",";
    }
    const std::set<std::string> none;
    ASSERT_EQ(wrong(found.deadlocks, expected.deadlocks), none) << where;
    ASSERT_EQ(wrong(found.synchronousDeadlocks, expected.synchronousDeadlocks), none) << where;
    Outcomes buffered = found;
    buffered.synchronousDeadlocks.clear();
    ASSERT_EQ(missed(buffered, expected.deadlocks), none) << where;
    ASSERT_EQ(missed(found, expected.synchronousDeadlocks), none) << where;
    ASSERT_EQ(found.unreceived, expected.unreceived) << where;
    ASSERT_EQ(found.truncations, expected.truncations) << where;
    ++looked;
    deadlocks += expected.deadlocks.empty() ? 0U : 1U;
    synchronous += expected.synchronousDeadlocks.empty() ? 0U : 1U;
    unreceived += expected.unreceived.empty() ? 0U : 1U;
    truncations += expected.truncations.empty() ? 0U : 1U;
  }
  std::printf(
      "%zu programs; of them with deadlocks %zu, with some where sends wait %zu, messages left "
      "%zu, "
      "truncation %zu\n",
      looked, deadlocks, synchronous, unreceived, truncations);
  EXPECT_GT(deadlocks, looked / 20);
  EXPECT_GT(synchronous, looked / 20);
  EXPECT_GT(unreceived, looked / 50);
  EXPECT_GT(truncations, looked / 50);
}

}  // namespace
}  // namespace pf::prediction::test
