// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/collation/printed_text.h"

#include <cstdlib>
#include <cstring>
#include <fstream>

#include <gtest/gtest.h>

#include "db/tests/sample.h"

namespace pf::app {
namespace {

std::vector<db::Printed> both(const char* out, const char* error) {
  return {{1, db::RawBytes{out}, 0, {}}, {2, db::RawBytes{error}, 0, {}}};
}

TEST(LastPrinted, IsOfStandardErrorIfThereIsOne) {
  EXPECT_EQ(lastPrinted(both("sum 3\nWRONG ANSWER\n", "")).line, "WRONG ANSWER");
  EXPECT_EQ(lastPrinted(both("sum 3\n", "lost a row\n\n")).line, "lost a row");
  EXPECT_EQ(lastPrinted(both("", "")).line, "");
  EXPECT_EQ(lastPrinted({}).line, "");
}

TEST(LastPrinted, IsNoneOfALauncher) {
  const char* const openMpi =
      "KeyError: 'x'\n"
      "--------------------------------------------------------------------------\n"
      "MPI_ABORT was invoked on rank 0 in communicator MPI_COMM_WORLD\nwith errorcode 1.\n"
      "--------------------------------------------------------------------------\n"
      "[node1:04711] *** Process received signal ***\n"
      "mpirun: killing job...\n";
  EXPECT_EQ(lastPrinted(both("", openMpi)).line, "KeyError: 'x'");
  const char* const mpich =
      "row 7 is missing\n\n"
      "===================================================================================\n"
      "=   BAD TERMINATION OF ONE OF YOUR APPLICATION PROCESSES\n"
      "===================================================================================\n"
      "YOUR APPLICATION TERMINATED WITH THE EXIT STRING: Aborted (signal 6)\n"
      "This typically refers to a problem with your application.\n";
  EXPECT_EQ(lastPrinted(both("out\n", mpich)).line, "row 7 is missing");
  EXPECT_EQ(lastPrinted(both("out\n", "mpirun: nothing else\n")).line, "out");
  EXPECT_EQ(lastPrinted(both("[1,0]<stdout>:tagged\r\n", "")).line, "tagged");
  EXPECT_EQ(lastPrinted(both("[0] of a rank\n", "")).line, "[0] of a rank");
}

TEST(LastPrinted, IsShownWhateverItIs) {
  EXPECT_EQ(lastPrinted(both("\x1b[31mred\xff\n", "")).line, "\\x1b[31mred\\xff");
  const std::string cut = lastPrinted(both(std::string(1000, 'a').c_str(), "")).line;
  EXPECT_TRUE(cut.size() < 210 && cut.ends_with(" …")) << cut;
}

TEST(LastPrinted, AnExceptionOfPythonIsToldWithItsPlace) {
  const std::string head = "Traceback (most recent call last):\n";
  const std::string own = "  File \"/src/a.py\", line 12, in work\n    f(x)\n    ^^^^\n";
  const std::string library =
      "  File \"/usr/lib/python3/dist-packages/n.py\", line 3, in g\n    raise\n";
  const std::string what = "ValueError: 3\n";
  EXPECT_EQ(lastPrinted(both("", (head + own + what).c_str())).line,
            "ValueError: 3 (raised at a.py:12, in work)");
  EXPECT_EQ(lastPrinted(both("", ("x\n" + head + own + library + what + "\n").c_str())).line,
            "ValueError: 3 (raised at a.py:12, in work)");
  EXPECT_EQ(lastPrinted(both("", (head + library + what).c_str())).line,
            "ValueError: 3 (raised at n.py:3, in g)");
  std::string tagged;
  for (const char* line : {"Traceback (most recent call last):",
                           "  File \"/src/a.py\", line 12, in work", "ValueError: 3"}) {
    tagged += std::string("[1,0]<stderr>:") + line + "\n";
  }
  EXPECT_EQ(lastPrinted(both("", tagged.c_str())).line,
            "ValueError: 3 (raised at a.py:12, in work)");
  const LastPrinted deep = lastPrinted(both("", (head + own + library + what).c_str()));
  ASSERT_EQ(deep.traceback.size(), 2U);
  EXPECT_EQ(deep.traceback[0].file, "/src/a.py");
  EXPECT_EQ(deep.traceback[0].line, 12);
  EXPECT_EQ(deep.traceback[0].function, "work");
  EXPECT_TRUE(deep.traceback[0].own);
  EXPECT_FALSE(deep.traceback[1].own);
  EXPECT_EQ(raisedIn(deep.traceback), deep.traceback.data());
  EXPECT_TRUE(lastPrinted(both("", "sum 3\n")).traceback.empty());
  // Numbers that are none, and of another kind.
  for (const char* line : {"99999999999", "-", "x", ""}) {
    const std::string text = head + "  File \"a.py\", line " + line + "\n" + what;
    EXPECT_EQ(lastPrinted(both("", text.c_str())).line, "ValueError: 3") << line;
  }
  // Another rank has printed in between, or it is no traceback.
  EXPECT_EQ(lastPrinted(both("", (head + own + "other\n" + what).c_str())).line, "ValueError: 3");
  EXPECT_EQ(lastPrinted(both("", (own + what).c_str())).line, "ValueError: 3");
  EXPECT_EQ(lastPrinted(both("", (head + "  File \"a.py\", 3\n" + what).c_str())).line,
            "ValueError: 3");
}

class PrintedInTest : public ::testing::Test {
 protected:
  void write(const std::string& bytes) {
    std::ofstream(m_directory.file(kPrintedFile), std::ios::binary) << bytes;
  }
  static std::string fileOf(const PrintedHeader& header, std::size_t size) {
    std::string bytes(sizeof header + size, 'x');
    std::memcpy(bytes.data(), &header, sizeof header);
    return bytes;
  }
  db::Directory m_directory;
};

TEST_F(PrintedInTest, NothingThatIsNotWhole) {
  EXPECT_TRUE(printedIn(m_directory.path()).empty());
  write("short");
  EXPECT_TRUE(printedIn(m_directory.path()).empty());
  PrintedHeader header;
  header.total[0] = 5;
  write(fileOf(header, 4));
  EXPECT_TRUE(printedIn(m_directory.path()).empty());
  header.total[0] = ~0ULL;
  write(fileOf(header, 100));
  EXPECT_TRUE(printedIn(m_directory.path()).empty());
  header.total[0] = 5;
  header.magic = 0;
  write(fileOf(header, 100));
  EXPECT_TRUE(printedIn(m_directory.path()).empty());
  header.magic = kPrintedMagic;
  write(fileOf(header, 100));
  const std::vector<db::Printed> whole = printedIn(m_directory.path());
  ASSERT_EQ(whole.size(), 1U);
  EXPECT_EQ(whole[0], (db::Printed{1, db::RawBytes{"xxxxx"}, 0, {}}));
}

}  // namespace
}  // namespace pf::app
