// SPDX-License-Identifier: GPL-3.0-or-later
// Power cuts: what a disk that reorders and tears what was not forced to it (lossy_disk.h) may hold
// at any moment of a change. It is the trace before the change or after it, whole; the one after it
// once the call has come back.
#include <zstd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <optional>

#include <gtest/gtest.h>
#include <sqlite3.h>

#include "db/tests/lossy_disk.h"
#include "db/tests/sample.h"

namespace pf::db {
namespace {

using Step = std::function<bool(const std::string& path)>;

/// How many cuts, where a scenario has `usual` of them.
int cuts(int usual) {
  const char* const wanted = std::getenv("PF_POWER_CUTS");  // NOLINT(concurrency-mt-unsafe)
  const bool full = std::getenv("PF_FULL") != nullptr;      // NOLINT(concurrency-mt-unsafe)
  return wanted != nullptr ? std::atoi(wanted) : (full ? 10 * usual : usual);
}

/// A trace as everything that a user can see of it; nothing: there is no file.
std::string contentOf(const std::string& path) {
  if (!std::filesystem::exists(path)) {
    return {};
  }
  const Result<Content> read = readContent(path);
  return read ? dump(*read) : "error: " + read.error().text();
}

/// What a user did in a trace.
struct Scenario {
  Directory directory{};
  std::string name = "a.pft";
  std::string kept{};  ///< name of the first state where the trace is the last; empty: it has none
  std::optional<LossyDisk> disk{};
  std::vector<std::string> states{};  ///< contents before the first step and behind each
  std::vector<std::size_t> ends{};    ///< calls that each step had made, and those before it

  [[nodiscard]] std::string path() const { return directory.file(name); }

  void run(const std::vector<Step>& steps) {
    states.push_back(contentOf(path()));
    disk.emplace(directory.path());
    for (const Step& step : steps) {
      ASSERT_TRUE(step(path()));
      ends.push_back(disk->calls().size());
      states.push_back(contentOf(path()));
      ASSERT_FALSE(states.back().starts_with("error")) << states.back();
    }
  }
  /// Steps that had come back after so many calls.
  [[nodiscard]] std::size_t doneAfter(std::size_t count) const {
    return static_cast<std::size_t>(
        std::count_if(ends.begin(), ends.end(), [&](std::size_t end) { return end <= count; }));
  }
};

struct Tally {
  int before = 0;
  int after = 0;
  int undone = 0;  ///< with a journal
};

bool adds(const std::string& path) {
  Result<TraceStore> store = TraceStore::open(path, TraceStore::Mode::ReadWrite);
  Note note;
  note.text = "later";
  return store.ok() && store->session().add(note).ok();
}

/// Whether the trace on a disk after a cut is one of `states`, whole, however it is opened, and can
/// be written; which one. Nothing where it is not.
std::optional<std::string> findWhole(const Files& files, const std::string& name, bool former,
                                     const std::vector<std::string>& states) {
  const Directory directory;
  const std::string path = directory.file(name);
  putFiles(files, directory.path());
  const auto isWhole = [&] {
    const Result<std::vector<Finding>> found = checkTrace(path);
    return found.ok() && found->empty();
  };
  std::string now = contentOf(path);
  if (std::find(states.begin(), states.end(), now) == states.end()) {
    ADD_FAILURE() << now.substr(0, 300);
    return std::nullopt;
  }
  if (!files.contains(name)) {
    return now;
  }
  EXPECT_TRUE(isWhole());
  EXPECT_TRUE(former || filesOf(directory.path()) == files) << "reading has changed something";
  EXPECT_TRUE(adds(path));
  EXPECT_FALSE(std::filesystem::exists(path + "-journal"));
  EXPECT_TRUE(isWhole());
  const Result<Content> read = readContent(path);
  if (!read || read->notes.empty() || read->notes.back().text != "later") {
    ADD_FAILURE() << "what is added is not there";
    return std::nullopt;
  }
  Content without = *read;
  without.notes.pop_back();
  EXPECT_EQ(dump(without), now);
  return now;
}

/// Undoes what was interrupted, and cuts the power while it does.
Files cutAgain(const Files& files, const std::string& name, std::mt19937& random) {
  const Directory directory;
  putFiles(files, directory.path());
  const LossyDisk disk(directory.path());
  EXPECT_TRUE(TraceStore::open(directory.file(name), TraceStore::Mode::ReadWrite).ok());
  return disk.cutAfter(random() % (disk.calls().size() + 1), random);
}

/// Any, but often where a step comes to its end: before the names are on disk, or thereabouts.
std::size_t momentIn(const Scenario& scenario, std::mt19937& random) {
  const std::size_t calls = scenario.disk->calls().size();
  const std::size_t end = scenario.ends[random() % scenario.ends.size()];
  switch (random() % 4) {
    case 0:
      return end - 1;
    case 1:
      return std::min(calls, end - std::min(end, random() % 8) + 2);
    default:
      return random() % (calls + 1);
  }
}

Tally cutThePower(const Scenario& scenario, int times, bool former = false) {
  Tally tally;
  for (int cut = 0; cut < times && !testing::Test::HasFailure(); ++cut) {
    SCOPED_TRACE("cut " + std::to_string(cut));
    std::mt19937 random(static_cast<std::uint32_t>(cut));
    const std::size_t count = momentIn(scenario, random);
    const std::size_t done = scenario.doneAfter(count);
    Files files = scenario.disk->cutAfter(count, random);
    tally.undone += files.contains(scenario.name + "-journal") ? 1 : 0;
    if (files.contains(scenario.name) && random() % 4 == 0) {
      files = cutAgain(files, scenario.name, random);
    }
    const std::vector<std::string> states(
        scenario.states.begin() + static_cast<std::ptrdiff_t>(done),
        scenario.states.begin() +
            static_cast<std::ptrdiff_t>(std::min(done + 2, scenario.states.size())));
    const std::optional<std::string> found = findWhole(files, scenario.name, former, states);
    if (found && !scenario.kept.empty() && *found == scenario.states.back()) {
      const Directory directory;
      putFiles(files, directory.path());
      EXPECT_EQ(contentOf(directory.file(scenario.kept)), scenario.states.front());
    }
    if (found) {
      ++(*found == states.front() ? tally.before : tally.after);
    }
  }
  std::printf("%zu calls, %d cuts: %d times as before, %d as after, %d with a journal\n",
              scenario.disk->calls().size(), times, tally.before, tally.after, tally.undone);
  return tally;
}

/// All of it must have happened, or the disk loses nothing.
void expectAll(const Tally& tally) {
  EXPECT_GT(tally.before, 0);
  EXPECT_GT(tally.after, 0);
  EXPECT_GT(tally.undone, 0);
}

Step inSession(const std::function<bool(SessionTables)>& change) {
  return [change](const std::string& path) {
    Result<TraceStore> store = TraceStore::open(path, TraceStore::Mode::ReadWrite);
    return store.ok() && change(store->session());
  };
}

TEST(PowerCut, inASessionGivesEachChangeOrNot) {
  Scenario scenario;
  ASSERT_TRUE(writeContent(scenario.path(), smallContent()).ok());
  Breakpoint point;
  point.kind = "line";
  point.file = "ring.c";
  point.line = 17;
  scenario.run({inSession([&](SessionTables tables) {
                  point.id = tables.add(point).value();
                  return true;
                }),
                inSession([&](SessionTables tables) {
                  point.condition = std::string(9000, 'x');  // its pages are new
                  return tables.update(point).ok();
                }),
                adds, inSession([&](SessionTables tables) {
                  return tables.remove<Breakpoint>(point.id).ok();
                })});
  expectAll(cutThePower(scenario, cuts(400)));
}

/// The same by one store that stays open, as a window has it.
TEST(PowerCut, inALongSessionGivesEachChangeOrNot) {
  Scenario scenario;
  ASSERT_TRUE(writeContent(scenario.path(), smallContent()).ok());
  Result<TraceStore> store = TraceStore::open(scenario.path(), TraceStore::Mode::ReadWrite);
  ASSERT_TRUE(store.ok());
  const Step add = [&](const std::string&) { return store->session().add(Watch{0, "x"}).ok(); };
  scenario.run({add, add, add, add});
  expectAll(cutThePower(scenario, cuts(250)));
}

Execution another(const Execution& execution) {
  Execution other = execution;
  other.callNames[0] = "MPI_Ssend";
  for (Event& event : other.ranks[0].events) {
    event.bytes += 3;
  }
  return other;
}

TEST(PowerCut, inALaterSurveyGivesTheFormerOrTheNew) {
  for (const bool littleMemory : {false, true}) {
    Scenario scenario;
    Content content = smallContent();
    content.execution = largeExecution(3, 9000);
    content.races.clear();
    content.raceClasses.clear();
    content.times.clear();
    content.hits.clear();
    ASSERT_TRUE(writeContent(scenario.path(), content).ok());
    const Execution other = another(content.execution);
    if (littleMemory) {  // pages go to the file before the end
      sqlite3_soft_heap_limit64(1);
    }
    scenario.run({[&](const std::string& path) {
                    Result<TraceStore> store = TraceStore::open(path, TraceStore::Mode::ReadWrite);
                    return store.ok() && store->replaceExecution(other, {}, {}).ok();
                  },
                  adds});
    sqlite3_soft_heap_limit64(0);
    expectAll(cutThePower(scenario, cuts(50)));
  }
}

/// One of a former format is read as what it is now, before and after: what it was not, it is not.
TEST(PowerCut, whileAFormerFormatIsBroughtUpToDate) {
  Scenario scenario;
  const FileBytes packed = readFile(PF_DB_DATA "/format11.pft.zst");
  FileBytes bytes(ZSTD_getFrameContentSize(packed.data(), packed.size()));
  ASSERT_EQ(ZSTD_decompress(bytes.data(), bytes.size(), packed.data(), packed.size()),
            bytes.size());
  writeFile(scenario.path(), bytes);
  scenario.disk.emplace(scenario.directory.path());
  scenario.states.assign(2, contentOf(scenario.path()));  // brings it up to date
  scenario.ends = {scenario.disk->calls().size()};
  ASSERT_GT(scenario.ends.front(), 10U);
  ASSERT_NE(readFile(scenario.path()), bytes);
  const Tally tally = cutThePower(scenario, cuts(120), true);
  EXPECT_GT(tally.undone, 0);
}

Step writes(const Content& content, Existing existing) {
  return [&content, existing](const std::string& path) {
    Result<TraceWriter> writer = TraceWriter::create(path, existing);
    writer->setRun(content.run);
    for (const RankInfo& rank : content.ranks) {
      writer->addRank(rank);
    }
    return writer
               ->writeExecution(content.execution, content.races, content.times,
                                content.raceClasses)
               .ok() &&
           writer->finish().ok();
  };
}

Content recorded() {
  Content content = smallContent();
  content.logs.clear();
  return content;
}

TEST(PowerCut, whileATraceIsMadeGivesItsNameToAWholeOne) {
  const Content first = recorded();
  Content second = first;
  second.execution = another(first.execution);
  for (const Existing existing : {Existing::Refuse, Existing::Replace, Existing::Keep}) {
    Scenario scenario;
    if (existing != Existing::Refuse) {
      ASSERT_TRUE(writes(first, Existing::Refuse)(scenario.path()));
    }
    scenario.kept = existing == Existing::Keep ? "a.1.pft" : "";
    scenario.run({writes(second, existing)});
    const Tally tally = cutThePower(scenario, cuts(60));
    EXPECT_GT(tally.before, 0);
    EXPECT_GT(tally.after, 0);
  }
}

/// The trace that is replaced was left in the middle of a change: with its journal it is whole, and
/// the new one is none of that journal's.
TEST(PowerCut, whileAnInterruptedTraceIsReplaced) {
  const Content first = recorded();
  Content second = first;
  second.execution = another(first.execution);
  for (const Existing existing : {Existing::Replace, Existing::Keep}) {
    Scenario scenario;
    {
      Scenario interrupted;
      ASSERT_TRUE(writes(first, Existing::Refuse)(interrupted.path()));
      interrupted.run({adds});
      const auto isAfterIt = [](const DiskCall& call) {
        return call.kind == DiskCall::Kind::Remove;
      };
      const std::vector<DiskCall>& calls = interrupted.disk->calls();
      const auto end = std::find_if(calls.begin(), calls.end(), isAfterIt) - calls.begin();
      std::mt19937 random(1);
      Files files = interrupted.disk->cutAfter(static_cast<std::size_t>(end), random);
      ASSERT_TRUE(files.contains("a.pft-journal"));
      putFiles(files, scenario.directory.path());
    }
    scenario.kept = existing == Existing::Keep ? "a.1.pft" : "";
    scenario.run({writes(second, existing)});
    cutThePower(scenario, cuts(120));
  }
}

}  // namespace
}  // namespace pf::db
