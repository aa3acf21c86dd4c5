// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/traces/own_traces.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>

#include <gtest/gtest.h>

#include "app/files/sha256.h"
#include "app/traces/known_runs.h"
#include "db/store/trace_store.h"
#include "db/store/trace_writer.h"
#include "db/tests/sample.h"
#include "replay_engine/base/unique_fd.h"
#include "replay_engine/rank/payload/tests/payload_file.h"

namespace pf::app {
namespace {

namespace fs = std::filesystem;

TEST(Sha256, IsThatOfTheStandard) {
  EXPECT_EQ(sha256(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(sha256(std::string(1000000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
  EXPECT_EQ(sha256(std::string(64, '\xff')),  // made by sha256sum
            "8667e718294e9e0df1d30600ba3eeb201f764aad2dad72748643e4a285e1d1f7");
}

class OwnTraces : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "pf-own.XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    m_dir = name;
    setenv("XDG_STATE_HOME", (name + "/state").c_str(), 1);
  }
  void TearDown() override { fs::remove_all(m_dir); }

  /// A trace of a run that nobody has noted.
  std::string write(const std::string& name, std::uint64_t salt,
                    std::vector<std::string> command = {"mpirun", "./a"}) {
    const std::string path = m_dir + "/" + name;
    Result<db::TraceWriter> writer = db::TraceWriter::create(path);
    EXPECT_TRUE(writer);
    db::RunInfo run;
    run.command = std::move(command);
    run.program = "./a";
    run.mode = "outcomes";
    run.salt = salt;
    run.ranks = 0;
    writer->setRun(run);
    EXPECT_TRUE(writer->finish());
    return path;
  }

  std::string m_dir;
};

/// With the digest that a Photofinish made whose traces had format 11: a later one knows it.
TEST_F(OwnTraces, WhatWasTakenOverByAnEarlierVersionStaysSo) {
  db::Content content = db::smallContent();
  const std::string path = m_dir + "/t.pft";
  ASSERT_TRUE(keepMark(Mark::Taken, "16045690984503111693",
                       "44bdcf7de06e25d9dc2cd4331556a7e78630cf6d0d6bfd7b69565c2a0b0b7580")
                  .ok());
  ASSERT_TRUE(db::writeContent(path, content).ok());
  EXPECT_EQ(ownerOf(path), Owner::TakenOver);
  content.launch.back().relation = db::LaunchFact::kAlso;
  EXPECT_FALSE(db::writeContent(path, content).ok());  // nobody adds to what is a stranger's
  EXPECT_EQ(ownerOf(path), Owner::Foreign);
}

TEST_F(OwnTraces, WhatIsMadeOfNotedLogsIsOwn) {
  RunFacts facts;
  facts.salt = 17;
  const std::string logs = m_dir + "/t.pft.d";
  fs::create_directory(logs);
  ASSERT_TRUE(noteStart(facts, logs));
  const std::string trace = write("t.pft", 17);
  EXPECT_EQ(ownerOf(trace), Owner::Foreign);
  noteTrace(facts, logs, trace, {});
  EXPECT_EQ(ownerOf(trace), Owner::Own);
  EXPECT_EQ(ownerOf(write("changed.pft", 17, {"sh"})), Owner::Foreign);
  EXPECT_EQ(ownerOf(write("other.pft", 18)), Owner::Foreign);
  EXPECT_EQ(fs::status(m_dir + "/state/photofinish").permissions(), fs::perms::owner_all);
  EXPECT_EQ(fs::status(m_dir + "/state/photofinish/known.db").permissions(),
            fs::perms::owner_read | fs::perms::owner_write);
}

TEST_F(OwnTraces, LogsThatCameBackFromElsewhereAreNot) {
  RunFacts facts;
  facts.salt = 19;
  const std::string logs = m_dir + "/t.pft.d";
  fs::create_directory(logs);
  ASSERT_TRUE(noteStart(facts, logs));
  fs::create_directory(m_dir + "/back");  // another inode
  std::ofstream(m_dir + "/back/rank-0.world") << "variable LD_PRELOAD evil.so\n";
  const std::string trace = write("t.pft", 19);
  noteTrace(facts, m_dir + "/back", trace, {});
  EXPECT_EQ(ownerOf(trace), Owner::Foreign);
  facts.command = {"sh"};
  noteTrace(facts, logs, trace, {});
  EXPECT_EQ(ownerOf(trace), Owner::Foreign);
}

TEST_F(OwnTraces, LogsThatWereKeptAreWhereverTheyAreCopied) {
  RunFacts facts;
  facts.salt = 31;
  const std::string logs = m_dir + "/t.pft.d";
  fs::create_directory(logs);
  ASSERT_TRUE(noteStart(facts, logs));
  std::ofstream(logs + "/rank-0.world") << "variable TZ UTC\n";
  ASSERT_TRUE(noteStart(facts, logs));  // the trace could not be made
  fs::copy(logs, m_dir + "/copy");
  const std::string trace = write("t.pft", 31);
  noteTrace(facts, m_dir + "/copy", trace, {});
  EXPECT_EQ(ownerOf(trace), Owner::Own);
}

TEST_F(OwnTraces, AStrangersIsReadAloneUntilItIsTakenOver) {
  const std::string trace = write("t.pft", 23);
  const Status may = mayRun(trace);
  ASSERT_FALSE(may);
  EXPECT_EQ(may.error().code, ErrorCode::Usage);
  EXPECT_NE(may.error().message.find("mpirun ./a"), std::string::npos) << may.error().text();
  EXPECT_FALSE(db::TraceStore::open(trace, db::TraceStore::Mode::ReadWrite));
  std::ofstream(trace + "-journal") << "anything that is long enough to be looked at";
  EXPECT_TRUE(db::TraceStore::open(trace, db::TraceStore::Mode::ReadOnly));
  EXPECT_TRUE(fs::exists(trace + "-journal"));
  fs::remove(trace + "-journal");
  EXPECT_TRUE(takeOver(trace));
  EXPECT_TRUE(mayRun(trace));
  EXPECT_EQ(ownerOf(trace), Owner::TakenOver);
  EXPECT_TRUE(db::TraceStore::open(trace, db::TraceStore::Mode::ReadWrite));
}

TEST_F(OwnTraces, ADirectoryThatOthersCanWriteKnowsNothing) {
  const std::string trace = write("t.pft", 29);
  fs::create_directories(m_dir + "/state/photofinish");
  fs::permissions(m_dir + "/state/photofinish", fs::perms::all);
  EXPECT_FALSE(keepMark(Mark::Words, "", "x"));
  EXPECT_TRUE(hasMark(Mark::Words, "", "x")) << "in this process";
}

/// Traces of runs of three ranks, of which some have contents from outside of their groups.
class OwnContents : public OwnTraces {
 protected:
  using Contents = std::map<Rank, std::string>;
  static constexpr std::int32_t kRanks = 3;
  inline static std::uint64_t s_lastSalt = 41;
  const std::uint64_t m_salt = ++s_lastSalt;  ///< what is known is known to this process, too

  /// One message a rank, which is larger than a chunk where its text is.
  std::vector<ContentsDigest> writeContents(const std::string& path, const Contents& contents,
                                            const std::string& groups = "each") {
    Result<db::TraceWriter> writer = db::TraceWriter::create(path, db::Existing::Replace);
    EXPECT_TRUE(writer);
    db::RunInfo run;
    run.command = {"mpirun", "./a"};
    run.mode = "outcomes";
    run.salt = m_salt;
    run.ranks = kRanks;
    run.groups = groups;
    writer->setRun(run);
    for (Rank rank = 0; rank < kRanks; ++rank) {
      db::RankInfo info;
      info.rank = rank;
      writer->addRank(info);
    }
    std::vector<ContentsDigest> digests;
    for (const auto& [rank, text] : contents) {
      ContentsDigester digester(rank);
      const UniqueFd file(open(payloadFile(rank, text).c_str(), O_RDONLY | O_CLOEXEC));
      EXPECT_TRUE(writer->addPayload(rank, file.get(), &digester));
      digests.push_back(digester.digest());
    }
    const Status finished = writer->finish();
    EXPECT_TRUE(finished) << finished.error().text();
    return digests;
  }

  /// A trace of this user's.
  std::string recorded(const Contents& contents) {
    RunFacts facts;
    facts.salt = m_salt;
    const std::string logs = m_dir + "/t.pft.d";
    fs::create_directory(logs);
    EXPECT_TRUE(noteStart(facts, logs));
    std::string path = m_dir + "/t.pft";
    noteTrace(facts, logs, path, writeContents(path, contents));
    EXPECT_EQ(ownerOf(path), Owner::Own);
    return path;
  }

  /// As for a replay.
  Status extracted(const std::string& trace, Rank rank) const {
    fs::remove(out());
    Result<db::TraceStore> store = db::TraceStore::open(trace, db::TraceStore::Mode::ReadOnly);
    if (!store) {
      return store.error();
    }
    KnownContents known(store->run(), rank);
    return store->extractPayload(rank, out(), &known);
  }
  void expectRefused(const std::string& trace, Rank rank) const {
    const Status status = extracted(trace, rank);
    ASSERT_FALSE(status);
    EXPECT_EQ(status.error().code, ErrorCode::Usage) << status.error().text();
    EXPECT_NE(status.error().message.find("not those that were recorded"), std::string::npos);
    EXPECT_FALSE(fs::exists(out()));
  }
  static void damage(const std::string& trace, int chunk) {
    const std::string command =
        "sqlite3 " + trace + " \"UPDATE payload_chunk SET data = zeroblob(100) WHERE ordinal = " +
        std::to_string(chunk) + "\"";
    ASSERT_EQ(std::system(command.c_str()), 0) << command;  // NOLINT(concurrency-mt-unsafe)
  }
  [[nodiscard]] std::string out() const { return m_dir + "/out"; }

 private:
  std::string payloadFile(Rank rank, const std::string& text) const {
    std::string path = m_dir + "/payload";
    fs::remove(path);
    PayloadWriter writer;
    EXPECT_TRUE(writer.open(path.c_str(), m_salt, rank, kRanks));
    writer.begin(PayloadKind::Message, 0, 5, 3);
    writer.add(text.data(), text.size());
    writer.end();
    writer.close(true);
    return path;
  }
};

const std::string& longText() {  // of three chunks
  static const std::string kText = test::contentOf(5U << 19, 1);
  return kText;
}

TEST_F(OwnContents, ThatWereRecordedPass) {
  const std::string trace = recorded({{0, "zero"}, {1, longText()}});
  for (const Rank rank : {0, 1}) {
    const Status status = extracted(trace, rank);
    EXPECT_TRUE(status) << status.error().text();
  }
  EXPECT_FALSE(*takeOverContents(trace)) << "nothing is new to it";
}

TEST_F(OwnContents, ThatWereChangedUnderTheirChecksumsAreRefused) {
  const std::string trace = recorded({{0, "zero"}, {1, longText()}});
  std::string text = longText();
  for (const std::size_t at : {std::size_t{0}, text.size() - 1}) {
    text[at] ^= 1;
    writeContents(trace, {{0, "zero"}, {1, text}});
    EXPECT_EQ(ownerOf(trace), Owner::Own);
    expectRefused(trace, 1);
    EXPECT_TRUE(extracted(trace, 0)) << "the others are as good as ever";
    text = longText();
  }
  writeContents(trace, {{0, "zero"}, {1, "short"}});
  expectRefused(trace, 1);
  EXPECT_TRUE(*takeOverContents(trace)) << "they are others";
  EXPECT_TRUE(extracted(trace, 1)) << "and consented to";
  EXPECT_FALSE(*takeOverContents(trace));
}

TEST_F(OwnContents, OfOtherRanksOrOtherGroupsAreRefused) {
  const std::string trace = recorded({{0, "zero"}});
  writeContents(trace, {{0, "zero"}, {2, "zero"}});
  expectRefused(trace, 2);
  writeContents(trace, {{0, "zero"}}, "0,1;2");
  expectRefused(trace, 0);
}

TEST_F(OwnContents, OfATraceThatAFormerVersionNotedPass) {
  const std::string trace = m_dir + "/t.pft";
  writeContents(trace, {{1, "one"}});
  EXPECT_TRUE(extracted(trace, 1));
}

TEST_F(OwnContents, ThatAreDamagedPassUpToTheDamage) {
  const std::string trace = recorded({{1, longText()}});
  damage(trace, 2);
  const Status damaged = extracted(trace, 1);
  ASSERT_FALSE(damaged);
  EXPECT_EQ(damaged.error().code, ErrorCode::Damaged) << damaged.error().text();
  EXPECT_TRUE(fs::exists(out()));
  std::string text = longText();
  text[0] ^= 1;
  writeContents(trace, {{1, text}});
  damage(trace, 2);
  expectRefused(trace, 1);
}

TEST_F(OwnContents, ThatSalvageSavesAreKnownIfTheyWere) {
  const std::string trace = recorded({{0, "zero"}, {1, longText()}});
  damage(trace, 2);
  ASSERT_TRUE(db::salvageTrace(trace, m_dir + "/saved.pft"));
  noteCopy(trace, m_dir + "/saved.pft");
  EXPECT_TRUE(extracted(m_dir + "/saved.pft", 1));
  std::string text = longText();
  text[0] ^= 1;
  writeContents(trace, {{0, "other"}, {1, text}});
  damage(trace, 2);
  ASSERT_TRUE(db::salvageTrace(trace, m_dir + "/forged.pft"));
  noteCopy(trace, m_dir + "/forged.pft");
  expectRefused(m_dir + "/forged.pft", 0);
}

TEST_F(OwnContents, OfAStrangerAreTakenOverWithTheTrace) {
  const std::string trace = m_dir + "/t.pft";
  writeContents(trace, {{1, "one"}});
  ASSERT_TRUE(takeOver(trace));
  EXPECT_TRUE(extracted(trace, 1));
  writeContents(trace, {{1, "two"}});
  EXPECT_EQ(ownerOf(trace), Owner::TakenOver);
  expectRefused(trace, 1);
}

TEST(Loaders, AreKnownByName) {
  for (const char* name : {"LD_PRELOAD",
                           "LD_LIBRARY_PATH",
                           "LD_AUDIT",
                           "GLIBC_TUNABLES",
                           "PYTHONPATH",
                           "PYTHONSTARTUP",
                           "PYTHONHOME",
                           "GCONV_PATH",
                           "PATH",
                           "BASH_ENV",
                           "ENV",
                           "OMPI_MCA_mca_base_component_path",
                           "OMPI_MCA_orte_launch_agent",
                           "OMPI_MCA_plm_rsh_agent",
                           "OPAL_PREFIX",
                           "OMP_TOOL_LIBRARIES",
                           "PERL5LIB",
                           "RUBYLIB",
                           "JAVA_TOOL_OPTIONS",
                           "QT_PLUGIN_PATH",
                           "HYDRA_LAUNCHER_EXEC"}) {
    EXPECT_TRUE(loadsCode(name)) << name;
  }
  for (const char* name : {"LANG", "LC_ALL", "TZ", "OMP_NUM_THREADS", "OMP_STACKSIZE",
                           "PYTHONHASHSEED", "MKL_NUM_THREADS", "OMPI_MCA_btl",
                           "OMPI_MCA_coll_tuned_use_dynamic_rules", "OMP_PROC_BIND"}) {
    EXPECT_FALSE(loadsCode(name)) << name;
  }
  EXPECT_EQ(withoutLoaders(std::vector<std::string>{"LD_PRELOAD=a", "TZ=UTC", "LD_AUDIT", "LANG"}),
            (std::vector<std::string>{"TZ=UTC", "LANG"}));
}

TEST(Shown, IsOneLineThatNoTerminalObeys) {
  EXPECT_EQ(shownWord("./a.out"), "./a.out");
  EXPECT_EQ(shownWord(""), "''");
  EXPECT_EQ(shownWord("a b'c"), "'a b'\\''c'");
  EXPECT_EQ(shownWord("a\033]0;x\a\n'\\"), "$'a\\x1b]0;x\\x07\\n\\'\\\\'");
  EXPECT_EQ(shownWord("\u00e4\u202e\u0085"), "$'\u00e4\\xe2\\x80\\xae\\xc2\\x85'");
}

TEST_F(OwnTraces, WordsAreWhatADebuggerWouldBeGiven) {
  db::Breakpoint breakpoint;
  breakpoint.kind = "line";
  breakpoint.file = "a.c";
  EXPECT_EQ(wordsOf(breakpoint), "");
  breakpoint.function = "main";
  EXPECT_EQ(wordsOf(breakpoint), "");
  breakpoint.commands = {"print x"};
  EXPECT_FALSE(areKnownWords(wordsOf(breakpoint)));
  keepWords(wordsOf(breakpoint));
  EXPECT_TRUE(areKnownWords(wordsOf(breakpoint)));
  breakpoint.condition = "f()";
  EXPECT_FALSE(areKnownWords(wordsOf(breakpoint)));
}

}  // namespace
}  // namespace pf::app
