// SPDX-License-Identifier: GPL-3.0-or-later
// The file of known races: what is written is read again, it stays mergeable, and no bytes are believed.
#include "replay_engine/races/race_baseline.h"

#include <random>
#include <string>

#include <gtest/gtest.h>

namespace pf {
namespace {

const std::string kReceive = placeName("MPI_Recv", "collect", "MPI_Recv(&part, 1);", 1);
const std::string kSend = placeName("MPI_Send", "work", "MPI_Send(&sum, 1);", 1);
const std::string kClass = className(kReceive, {kSend});

const std::string kText =
    "photofinish races 1\n"
    "# ours\n"
    "\n"
    "receive MPI_Recv collect: MPI_Recv(&part, 1);\n"
    "  send MPI_Send work: MPI_Send(&sum, 1);\n"
    "  benign: the sum does not depend on the order\n"
    "\n"
    "outcome deadlock\n"
    "  at MPI_Recv ring: MPI_Recv(&token);\n"
    "  bug: issue 12\n";

std::string errorOf(const std::string& text) {
  const Result<RaceBaseline> read = RaceBaseline::parse(text, "a.races");
  return read ? "none" : read.error().message;
}

TEST(RaceBaseline, namesAPlaceByFunctionAndText) {
  EXPECT_EQ(kReceive, "MPI_Recv collect: MPI_Recv(&part, 1);");
  EXPECT_EQ(placeName("MPI_Recv", "collect", "\t  MPI_Recv(&part,   1); \r", 3),
            "MPI_Recv collect #3: MPI_Recv(&part, 1);");
  EXPECT_EQ(kClass, kReceive + "\n" + kSend);
  EXPECT_EQ(className("r", {"b", "a", "b"}), "r\na\nb");
  EXPECT_EQ(placesOf(kClass), (std::vector<std::string>{kReceive, kSend}));
  EXPECT_EQ(placesOf(""), std::vector<std::string>{""});
}

TEST(RaceBaseline, saysWhichNamesDoNotSurviveEdits) {
  const std::string place = placeNameWithoutLine("MPI_Recv", "", "line 7 of a.c");
  EXPECT_EQ(place, "MPI_Recv ?: [text not known: line 7 of a.c]");
  EXPECT_TRUE(lacksLine(place) && lacksLine(className(kReceive, {place})));
  EXPECT_FALSE(lacksLine(kClass));
}

TEST(RaceBaseline, whatCannotBePrintedIsNotInAName) {
  EXPECT_EQ(lineText("f(\"\x1b[2J\x07\");"), "f(\"?[2J?\");");
  EXPECT_EQ(lineText("f(\"\xC3\xA4\");"), "f(\"\xC3\xA4\");");
  EXPECT_EQ(lineText("f(\"\xFF\");"), "f(\"?\");");
  EXPECT_EQ(lineText("f(\"\xE2\x80\xAE\");"), "f(\"???\");");  // turns the direction of writing
  EXPECT_EQ(lineText(std::string(kLongestLine + 1, 'x')), "");
  EXPECT_EQ(lineText(std::string(kLongestLine, 'x')).size(), kLongestLine);
}

TEST(RaceBaseline, isReadAndWrittenTheSame) {
  const Result<RaceBaseline> read = RaceBaseline::parse(kText, "a.races");
  ASSERT_TRUE(read.ok()) << read.error().text();
  ASSERT_NE(read->ofClass(kClass), nullptr);
  EXPECT_EQ(*read->ofClass(kClass),
            (Judged{RaceVerdict::Benign, "the sum does not depend on the order"}));
  const std::string deadlock = className("deadlock", {"MPI_Recv ring: MPI_Recv(&token);"});
  ASSERT_NE(read->ofOutcome(deadlock), nullptr);
  EXPECT_EQ(*read->ofOutcome(deadlock), (Judged{RaceVerdict::Bug, "issue 12"}));
  EXPECT_EQ(read->ofOutcome("deadlock"), nullptr);
  EXPECT_EQ(read->ofClass(kReceive), nullptr);
  EXPECT_EQ(read->text(), kText);
}

/// A run shows some of the messages that could have raced, and another run others.
TEST(RaceBaseline, holdsForClassesWithFewerSends) {
  RaceBaseline baseline;
  baseline.setClass("r\na\nb", {RaceVerdict::Benign, "ab"});
  EXPECT_EQ(baseline.ofClass("r\na")->reason, "ab");
  EXPECT_EQ(baseline.ofClass("r\nb")->reason, "ab");
  for (const char* other : {"r\nc", "r\na\nc", "r\na\nb\nc", "r", "s\na", "r2\na", ""}) {
    EXPECT_EQ(baseline.ofClass(other), nullptr) << other;
  }
  baseline.setClass("r\na\nc", {RaceVerdict::Unknown, "ac"});
  EXPECT_EQ(baseline.ofClass("r\na")->reason, "ac");
  baseline.setClass("r\na\nd", {RaceVerdict::Bug, "ad"});
  EXPECT_EQ(baseline.ofClass("r\na")->reason, "ad");
  EXPECT_EQ(baseline.ofClass("r\nb")->reason, "ab");
  EXPECT_EQ(baseline.ofClass("r\nb\nc"), nullptr);
  baseline.setClass("r\na", {RaceVerdict::Benign, "a"});
  EXPECT_EQ(baseline.ofClass("r\na")->reason, "a");  // of it itself
}

/// Whoever adds a class first: the file is the same.
TEST(RaceBaseline, isSorted) {
  std::string first;
  for (const bool turned : {false, true}) {
    RaceBaseline baseline;
    for (const int i : turned ? std::vector<int>{3, 1, 2} : std::vector<int>{1, 2, 3}) {
      baseline.setClass(className("r" + std::to_string(i), {"s"}), {RaceVerdict::Unknown, {}});
      baseline.setOutcome("exit " + std::to_string(i), {RaceVerdict::Bug, "a\nb"});
    }
    first = turned ? first : baseline.text();
    EXPECT_EQ(baseline.text(), first);
  }
  EXPECT_NE(first.find("\nreceive r2\n  send s\n  unknown\n"), std::string::npos) << first;
  EXPECT_NE(first.find("\noutcome exit 2\n  bug: a b\n"), std::string::npos) << first;
  EXPECT_NE(first.find("\n# "), std::string::npos) << first;  // it says how it is edited
}

TEST(RaceBaseline, keepsCommentsAndTakesBothSidesOfAMerge) {
  const std::string text =
      "photofinish races 1\r\n# ours\r\n\r\n# why\r\nreceive r\r\n# odd\r\n  send t\r\n  send "
      "s\r\n  bug\r\n"
      "receive r\n  send s\n  send t\n  bug\n\n# the end\n";
  const Result<RaceBaseline> read = RaceBaseline::parse(text, "a.races");
  ASSERT_TRUE(read.ok()) << read.error().text();
  EXPECT_EQ(read->text(),
            "photofinish races 1\n# ours\n\n# why\n# odd\nreceive r\n  send s\n  send t\n  "
            "bug\n\n# the end\n");
}

TEST(RaceBaseline, saysWhatIsWrongAndWhere) {
  const std::string head = "photofinish races 1\n";
  EXPECT_EQ(errorOf(""), "a.races:1: it is empty");
  EXPECT_EQ(errorOf("SQLite format 3"),
            "a.races is no file of known races: it does not begin with 'photofinish races 1'");
  EXPECT_EQ(errorOf("photofinish races 2\n"),
            "a.races is of version 2 of the format; this Photofinish reads version 1");
  EXPECT_EQ(RaceBaseline::parse("photofinish races 2\n", "a").error().code, ErrorCode::Version);
  EXPECT_EQ(errorOf(head + "\nhello\n"),
            "a.races:3: here begins neither 'receive …' nor 'outcome …': 'hello'");
  EXPECT_EQ(
      errorOf(head + "receive r\n  send s\n  harmless\n"),
      "a.races:4: '  harmless' is neither 'send …' nor 'benign: WHY', 'bug: WHAT' or 'unknown'");
  EXPECT_EQ(errorOf(head + "receive r\n  at s\n  bug\n"),
            "a.races:3: '  at s' is neither 'send …' nor 'benign: WHY', 'bug: WHAT' or 'unknown'");
  EXPECT_EQ(errorOf(head + "receive r\n  send s\n\nreceive t\n  send s\n  bug\n"),
            "a.races:2: nothing is said of this entry: its last line is 'benign: WHY', 'bug: WHAT' "
            "or 'unknown'");
  EXPECT_EQ(errorOf(head + "receive r\n  bug\n"), "a.races:2: the class has no 'send …'");
  EXPECT_EQ(errorOf(head + "receive  \n"), "a.races:2: it names nothing");
  EXPECT_EQ(errorOf(head + "receive r\n  send s\n  bug\n  bug\n"),
            "a.races:5: behind what is said of an entry comes the next: '  bug'");
  EXPECT_EQ(errorOf(head + "receive r\n  send s\n  bug\nreceive r\n  send s\n  benign: x\n"),
            "a.races:5: something else is said of this entry in line 2");
  EXPECT_EQ(errorOf(head + "<<<<<<< HEAD\n"),
            "a.races:2: here are two versions that git could not merge");
  EXPECT_EQ(errorOf(head + "receive a\x1b[2Jb\n"),
            "a.races:2: the line has control characters: 'receive a\\x1b[2Jb'");
  EXPECT_EQ(errorOf(head + "receive \xFF\n"),
            "a.races:2: the line has what is no UTF-8, or turns the direction of writing: 'receive "
            "\\xff'");
  EXPECT_EQ(errorOf(head + std::string(20'000, 'x')),
            "a.races:2: the line is longer than 16384 bytes");
  EXPECT_EQ(errorOf(std::string(std::size_t{17} << 20U, '\n')),
            "a.races has more than 16 MiB and is no file of known races");
}

TEST(RaceBaseline, hasNotTooMuch) {
  std::string many = "photofinish races 1\nreceive r\n";
  for (int i = 0; i < 10'001; ++i) {
    many += "  send s\n";
  }
  EXPECT_EQ(errorOf(many + "  bug\n"), "a.races:10003: the entry has too many places");
  std::string entries = "photofinish races 1\n";
  for (int i = 0; i < 100'002; ++i) {
    entries += "outcome " + std::to_string(i) + "\n  bug\n";
  }
  EXPECT_NE(errorOf(entries).find("the file has more than 100000 entries"), std::string::npos);
}

/// Bytes changed, cut and doubled at random: an error, or a file that is read again as the same.
TEST(RaceBaseline, damagedFilesAreRefusedOrReadTheSame) {
  std::mt19937 random(1);
  const auto below = [&random](std::size_t n) { return random() % n; };
  int read = 0;
  for (int turn = 0; turn < 20'000; ++turn) {
    std::string text = kText;
    for (std::size_t change = 0; change < 3 && !text.empty(); change += 1 + below(3)) {
      const std::size_t at = below(text.size());
      switch (below(4)) {
        case 0:
          text[at] = static_cast<char>(below(256));
          break;
        case 1:
          text.erase(at, below(30));
          break;
        case 2:
          text.insert(at, text.substr(below(text.size()), below(60)));
          break;
        default:
          text.resize(at + 1);
      }
    }
    const Result<RaceBaseline> one = RaceBaseline::parse(text, "a.races");
    if (!one) {
      EXPECT_FALSE(one.error().message.empty());
      continue;
    }
    ++read;
    const Result<RaceBaseline> again = RaceBaseline::parse(one->text(), "b.races");
    ASSERT_TRUE(again.ok()) << one->text() << again.error().text();
    ASSERT_EQ(again->text(), one->text());
    ASSERT_EQ(again->classes(), one->classes());
    ASSERT_EQ(again->outcomes(), one->outcomes());
  }
  EXPECT_GT(read, 1000);
}

}  // namespace
}  // namespace pf
