// SPDX-License-Identifier: GPL-3.0-or-later
// Each class of MPI calls in each mode of a rank. To record must change nothing that the program
// sees, and a replay must show it what it saw in the recording, whatever comes when.
#include <map>
#include <ostream>
#include <string>
#include <tuple>

#include <gtest/gtest.h>

#include "replay_engine/rank/tests/call_cases.h"
#include "replay_engine/rank/tests/log_text.h"
#include "replay_engine/rank/tests/shadow_replay.h"

namespace pf::test {
namespace {

enum class Mode {
  RecordChoices,            ///< by the fast path (fast_path.h)
  RecordChoicesInHandlers,  ///< as with jitter, or threads
  RecordRaces,              ///< and follows clocks
  RecordEvents,
  RecordEventsOfThreads,
  ReplayChoices,
  ReplayRaces,
  ReplayEvents,  ///< and compare them
  ReplayEventsOfThreads,
  ReplayByTags,  ///< messages come over shadows
  Survey         ///< replays choices and records all events
};

constexpr const char* kModeNames[] = {"recordChoices",
                                      "recordChoicesInHandlers",
                                      "recordRaces",
                                      "recordEvents",
                                      "recordEventsOfThreads",
                                      "replayChoices",
                                      "replayRaces",
                                      "replayEvents",
                                      "replayEventsOfThreads",
                                      "replayByTags",
                                      "survey"};

void PrintTo(const Mode mode, std::ostream* out) {
  *out << kModeNames[static_cast<std::size_t>(mode)];
}

bool isOfThreads(Mode mode) {
  return mode == Mode::RecordEventsOfThreads || mode == Mode::ReplayEventsOfThreads;
}

bool isReplay(Mode mode) {
  return mode >= Mode::ReplayChoices;
}

class CallTable : public testing::TestWithParam<std::tuple<CallCase, Mode>> {
 protected:
  [[nodiscard]] static const CallCase& ofCase() { return std::get<0>(GetParam()); }

  /// What a mode does to the scripts.
  [[nodiscard]] static fake::Script scriptFor(fake::Script script, bool threads) {
    script.threadLevel = threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE;
    return script;
  }

  /// What the program sees without the interposer.
  [[nodiscard]] static std::string seen(const fake::Script& script) {
    return run(script, ofCase().program, {}).said;
  }
  [[nodiscard]] static const std::string& seenRecorded() {
    std::string& said = known().said;
    if (said.empty()) {
      said = seen(ofCase().recorded);
    }
    return said;
  }

  [[nodiscard]] static const RankRun& recorded(std::uint32_t mode, bool fast = true,
                                               bool threads = false) {
    const auto [at, isNew] = known().recordings.try_emplace({mode, fast, threads});
    if (isNew) {
      at->second = run(scriptFor(ofCase().recorded, threads), ofCase().program,
                       {.mode = mode, .fast = fast, .threads = threads});
    }
    return at->second;
  }

  [[nodiscard]] static RankRun replayed(const RankRun& before, std::uint32_t mode,
                                        bool threads = false) {
    return run(scriptFor(ofCase().replayed, threads), ofCase().program,
               {.mode = mode | kReplay, .threads = threads, .schedule = scheduleOf(before)});
  }

  static void expectRecorded(const RankRun& run) {
    EXPECT_EQ(run.ending, Ending::Finished);
    EXPECT_NE(run.said, "");
    EXPECT_EQ(run.said, seenRecorded());
    const RankLog log = logOf(run);
    EXPECT_TRUE(log.complete) << log.cut;
    EXPECT_EQ(log.serials, run.events);
  }

  static void expectReplayed(const RankRun& run, const RankRun& before) {
    EXPECT_EQ(run.ending, Ending::Finished) << "expected " << run.expected << ", got " << run.got;
    EXPECT_EQ(run.said, before.said);
    EXPECT_EQ(run.events, before.events);
    EXPECT_FALSE(run.pastEnd);
  }

 private:
  /// Runs of a case that several of its modes look at; the tests of a case come in a row.
  struct Known {
    const char* name = nullptr;
    std::string said;
    std::map<std::tuple<std::uint32_t, bool, bool>, RankRun> recordings;
  };
  static Known& known() {
    static Known last;
    if (last.name != ofCase().name) {
      last = {ofCase().name, {}, {}};
    }
    return last;
  }
};

void expectText(const char* expected, const std::string& text) {
  if (expected != nullptr) {
    EXPECT_EQ(text, expected);
  }
}

void expectEvents(const CallCase& of, const RankLog& log) {
  expectText(of.events, eventsIn(log));
  expectText(of.receives, receivesIn(log));
  expectText(of.choices, choicesIn(log));
  expectText(of.sends, sendsIn(log));
}

/// Logs of the same run, of choices only.
void expectSameChoices(const RankLog& a, const RankLog& b) {
  EXPECT_EQ(choicesIn(a), choicesIn(b));
  EXPECT_EQ(wildcardsIn(a), wildcardsIn(b));
  EXPECT_EQ(a.cancelledPosts, b.cancelledPosts);
  EXPECT_EQ(a.serials, b.serials);
}

TEST_P(CallTable, doesAsItSays) {
  const CallCase& of = ofCase();
  const Mode mode = std::get<1>(GetParam());
  if ((!of.inThreads && isOfThreads(mode)) || (!of.replays && isReplay(mode))) {
    return;
  }
  const bool races = mode == Mode::RecordRaces || mode == Mode::ReplayRaces;
  const bool choices = races || mode == Mode::RecordChoices ||
                       mode == Mode::RecordChoicesInHandlers || mode == Mode::ReplayChoices ||
                       mode == Mode::Survey;
  const RankRun before =
      recorded((choices ? kRecordChoices : kRecordEvents) | (races ? kRecordRaces : 0U),
               mode != Mode::RecordChoicesInHandlers, isOfThreads(mode));
  expectRecorded(before);
  if (mode == Mode::RecordChoicesInHandlers) {
    expectSameChoices(logOf(before), logOf(recorded(kRecordChoices)));
    expectSameChoices(logOf(before), logOf(recorded(kRecordEvents)));
  } else if (mode == Mode::RecordRaces) {
    expectSameChoices(logOf(before), logOf(recorded(kRecordChoices)));
    EXPECT_TRUE(logOf(before).races.has_value());
  } else if (mode == Mode::RecordEvents) {
    expectEvents(of, logOf(before));
  } else if (mode == Mode::Survey) {
    const RankRun survey = replayed(before, kRecordEvents);
    expectReplayed(survey, before);
    expectEvents(of, logOf(survey));
    EXPECT_EQ(logOf(survey).checks, logOf(recorded(kRecordEvents)).checks);
  } else if (mode == Mode::ReplayByTags) {
    const ShadowReplay routed = taggedReplay(before, of.replayed);
    expectReplayed(run(routed.script, of.program, {.mode = kReplay, .schedule = routed.schedule}),
                   before);
  } else if (isReplay(mode)) {
    EXPECT_EQ(seen(of.replayed) != seenRecorded(), of.tempts);
    expectReplayed(replayed(before, 0, isOfThreads(mode)), before);
  }
}

std::vector<CallCase> allCases() {
  std::vector<CallCase> all;
  for (const auto& some : {receiveCases(), completionCases(), probeCases(), sendCases(),
                           collectiveCases(), exchangeCases(), failureCases()}) {
    all.insert(all.end(), some.begin(), some.end());
  }
  return all;
}

INSTANTIATE_TEST_SUITE_P(
    Calls, CallTable,
    testing::Combine(testing::ValuesIn(allCases()),
                     testing::Values(Mode::RecordChoices, Mode::RecordChoicesInHandlers,
                                     Mode::RecordRaces, Mode::RecordEvents,
                                     Mode::RecordEventsOfThreads, Mode::ReplayChoices,
                                     Mode::ReplayRaces, Mode::ReplayEvents,
                                     Mode::ReplayEventsOfThreads, Mode::ReplayByTags,
                                     Mode::Survey)),
    [](const auto& each) {
      return std::string(std::get<0>(each.param).name) + "_" +
             kModeNames[static_cast<std::size_t>(std::get<1>(each.param))];
    });

}  // namespace

void PrintTo(const CallCase& of, std::ostream* out) {
  *out << of.name;
}

}  // namespace pf::test
