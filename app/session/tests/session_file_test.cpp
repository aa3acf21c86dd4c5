// SPDX-License-Identifier: GPL-3.0-or-later
// Sessions that somebody sent, or that were damaged: a whole session, or a sentence of what is
// wrong.
#include "app/session/records/session_file.h"

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <random>

#include <gtest/gtest.h>

#include <QTemporaryDir>

#include "app/session/records/breakpoint_text.h"

namespace pf::session {
namespace {

using Random = std::mt19937;

class SessionFileTest : public testing::Test {
 protected:
  [[nodiscard]] std::string at(const char* name) const {
    return m_directory.filePath(QString::fromLatin1(name)).toStdString();
  }
  [[nodiscard]] SessionFile usual() const {
    SessionFile session;
    session.trace = m_directory.filePath(QStringLiteral("a.pft"));
    session.command = {QStringLiteral("touch"), QString::fromStdString(at("mark")),
                       QStringLiteral("a b"), QString()};
    session.directory = m_directory.path();
    session.input = QStringLiteral("words.txt");
    for (const char* typed : {"steady.c:30", "serve", "*0x4005d0", "watch state", "catch mpi error",
                              "receive 0#3", "any receive"}) {
      session.breakpoints.append(parseBreakpoint(QString::fromLatin1(typed)).value());
    }
    values::Breakpoint& first = session.breakpoints.first();
    first.condition =
        QStringLiteral("system(\"touch %1\")").arg(QString::fromStdString(at("mark")));
    first.commands = {QStringLiteral("shell touch %1").arg(QString::fromStdString(at("mark")))};
    first.ranks = QStringLiteral("0, 2-4");
    first.group = QStringLiteral("0-1");
    first.stops = values::StopsWho::Group;
    first.ignoreCount = 2;
    session.watches = {QStringLiteral("state"), QStringLiteral("größe")};
    session.groups = {{QStringLiteral("odd"), {1, 3}}};
    session.focus = {0, 1};
    session.currentRank = 2;
    session.part = QList<int>{1, 2};
    session.expression = QStringLiteral("rank");
    session.ranksShown = QStringLiteral("{}");
    session.geometry = QByteArray("\0\1\2", 3);
    return session;
  }
  [[nodiscard]] Result<SessionFile> read(const std::string& bytes) const {
    std::filesystem::remove(at("s.pfs"));  // a file that is cut and written anew waits for the disk
    std::ofstream(at("s.pfs"), std::ios::binary) << bytes;
    return readSessionFile(QString::fromStdString(at("s.pfs")));
  }
  [[nodiscard]] std::string good() const {
    EXPECT_TRUE(writeSessionFile(QString::fromStdString(at("good.pfs")), usual()).ok());
    std::ifstream in(at("good.pfs"), std::ios::binary);
    return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  }
  /// Whether it is a session: then a whole one, which can be saved, is the same after that, and
  /// holds nothing that a trace, GDB or the system could not be given.
  bool check(const std::string& bytes, bool save = true) const {
    const Result<SessionFile> session = read(bytes);
    if (!session) {
      EXPECT_FALSE(session.error().message.empty()) << bytes;
      EXPECT_FALSE(session.error().advice.empty()) << bytes;
      return false;
    }
    EXPECT_TRUE(!session->trace.isEmpty() || !session->command.isEmpty());
    for (const QString& word :
         session->command + QStringList{session->trace, session->directory, session->input}) {
      EXPECT_FALSE(word.contains(QChar(0))) << bytes;
    }
    for (const int rank : session->focus + session->part.value_or(QList<int>())) {
      EXPECT_GE(rank, 0) << bytes;
    }
    for (const values::Breakpoint& breakpoint : session->breakpoints) {
      EXPECT_GE(breakpoint.ignoreCount, 0) << bytes;
      EXPECT_TRUE(breakpoint.file.isEmpty() || breakpoint.line > 0) << bytes;
      (void)toRow(breakpoint);
    }
    if (!save) {
      return true;
    }
    const QString again = QString::fromStdString(at("again.pfs"));
    EXPECT_TRUE(writeSessionFile(again, *session).ok());
    const Result<SessionFile> second = readSessionFile(again);
    EXPECT_TRUE(second.ok()) << bytes << (second ? "" : second.error().message);
    EXPECT_TRUE(second && same(*session, *second)) << bytes;
    return true;
  }
  static bool same(const SessionFile& a, const SessionFile& b) {
    return a.trace == b.trace && a.command == b.command && a.directory == b.directory &&
           a.input == b.input && a.breakpoints == b.breakpoints && a.watches == b.watches &&
           a.groups == b.groups && a.focus == b.focus && a.currentRank == b.currentRank &&
           a.part == b.part && a.expression == b.expression && a.ranksShown == b.ranksShown &&
           a.geometry == b.geometry && a.layout == b.layout && a.workspace == b.workspace;
  }
  [[nodiscard]] std::ptrdiff_t files() const {
    return std::distance(std::filesystem::directory_iterator(m_directory.path().toStdString()), {});
  }

  QTemporaryDir m_directory;
};

/// Where a value begins: behind a ':' or in a list.
std::size_t someValue(const std::string& bytes, Random& random) {
  const std::size_t from = random() % bytes.size();
  return std::min(bytes.find_first_of(":[", from), bytes.size() - 1) + 1;
}

std::size_t endOfValue(const std::string& bytes, std::size_t at) {
  return std::min(bytes.find_first_of(",]}\n", at), bytes.size());
}

void change(std::string& bytes, Random& random) {
  static constexpr std::string_view kLikely = "{}[]\",:0-9eE.\\u\xff \n";
  static constexpr std::array kValues{"-1",
                                      "0",
                                      "1",
                                      "2147483647",
                                      "2147483648",
                                      "-9223372036854775808",
                                      "1e308",
                                      "0.5",
                                      "null",
                                      "true",
                                      "{}",
                                      "[]",
                                      "\"\"",
                                      "\"\\u0000\"",
                                      "\"\\ud800\"",
                                      "\"../../../../etc/passwd\"",
                                      "\"/dev/zero\"",
                                      "\"0-1048576,0-1048576\"",
                                      "\"3-1\"",
                                      "\"-x\"",
                                      "[[]]",
                                      "[1,\"a\",{}]",
                                      "[-1]",
                                      "[99999999999]",
                                      "\"hit 3 of serve\"",
                                      "\"watch system(1)\"",
                                      "\"a:99999999\"",
                                      "\"race 1\"",
                                      "\"a\\nb\"",
                                      "\"x:\""};
  if (bytes.empty()) {
    return;
  }
  const std::size_t at = random() % bytes.size();
  switch (random() % 8) {
    case 0:
      bytes[at] = static_cast<char>(static_cast<unsigned char>(bytes[at]) ^ 1U << random() % 8);
      break;
    case 1:
      bytes[at] = kLikely[random() % kLikely.size()];
      break;
    case 2:
      bytes.erase(at, 1 + random() % 30);
      break;
    case 3:  // a piece once more: keys that are there twice
      bytes.insert(random() % bytes.size(), bytes.substr(at, 1 + random() % 120));
      break;
    case 4:
      if (random() % 8 == 0) {
        bytes.resize(at);
      }
      break;
    case 5: {  // a line of the file, with its key, elsewhere
      const std::size_t begin = std::min(bytes.find('\n', at), bytes.size());
      const std::size_t end =
          std::min(bytes.find('\n', std::min(begin + 1, bytes.size())), bytes.size());
      const std::string line = bytes.substr(begin, end - begin);
      bytes.insert(std::min(bytes.find('\n', random() % bytes.size()), bytes.size()), line);
      break;
    }
    default: {
      const std::size_t value = someValue(bytes, random);
      bytes.replace(value, endOfValue(bytes, value) - value, kValues[random() % kValues.size()]);
      break;
    }
  }
}

TEST_F(SessionFileTest, IsForItsUserAloneWhateverTheUmaskAndWhatWasThere) {
  const mode_t before = ::umask(0);
  std::ofstream(at("older.pfs")) << "older";
  for (const char* name : {"new.pfs", "older.pfs"}) {
    EXPECT_TRUE(writeSessionFile(QString::fromStdString(at(name)), usual()).ok());
    struct stat there {};
    EXPECT_EQ(::lstat(at(name).c_str(), &there), 0);
    EXPECT_EQ(there.st_mode & 07777U, 0600U) << name;
  }
  ::umask(before);
}

TEST_F(SessionFileTest, ComesBack) {
  const Result<SessionFile> session = read(good());
  ASSERT_TRUE(session.ok()) << session.error().message;
  EXPECT_TRUE(same(*session, usual()));
}

TEST_F(SessionFileTest, MutationsGiveAWholeSessionOrAnError) {
  constexpr int kRounds = 24000;
  const std::string bytes = good();
  Random random(17);
  int sessions = 0;
  const auto began = std::chrono::steady_clock::now();
  for (int round = 0; round < kRounds; ++round) {
    std::string changed = bytes;
    for (unsigned changes = 1 + random() % 4; changes > 0; --changes) {
      change(changed, random);
    }
    sessions += check(changed, random() % 16 == 0) ? 1 : 0;  // on disk, which takes its time
    if (testing::Test::HasFailure()) {
      FAIL() << "in round " << round;
    }
  }
  std::cout << sessions << " of " << kRounds << " are sessions\n";
  EXPECT_GT(sessions, kRounds / 50) << "else little of it was reached";
  EXPECT_LT(sessions, kRounds * 9 / 10);
  EXPECT_LT(std::chrono::steady_clock::now() - began,
            std::chrono::seconds(60));  // 3 on an idle machine
  EXPECT_EQ(files(), 3) << "good, changed, and saved again: nothing else is made";
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1);
  EXPECT_EQ(errno, ECHILD) << "something was run";
}

TEST_F(SessionFileTest, EveryTruncationIsRefused) {
  const std::string bytes = good();
  for (std::size_t size = 0; size + 2 < bytes.size(); ++size) {
    EXPECT_FALSE(check(bytes.substr(0, size))) << size;
  }
}

TEST_F(SessionFileTest, DeepAndHugeOnesAreAnsweredSoon) {
  const auto began = std::chrono::steady_clock::now();
  for (const char* nested : {"[", "{\"a\":", "{\"photofinishSession\":1,\"breakpoints\":["}) {
    std::string deep;
    for (int i = 0; i < 100000; ++i) {
      deep += nested;
    }
    EXPECT_FALSE(check(deep));
  }
  const std::string head = R"({"photofinishSession":1,"trace":"a.pft",)";
  const std::string huge(std::size_t{4} << 20U, 'x');
  EXPECT_FALSE(check(head + R"("breakpoints":[{"at":"-)" + huge + "\"}]}"));
  const Result<SessionFile> one = read(head + R"("expression":")" + huge + "\"}");
  ASSERT_TRUE(one.ok()) << one.error().message.substr(0, 300);
  EXPECT_FALSE(check(head + "\"expression\":\"" + huge + huge + huge + huge + huge + "\"}"))
      << "more than is read";
  std::string ranks;
  std::string many;
  for (int i = 0; i < 100000; ++i) {
    ranks += "0-1048576,";
    many += std::string(i == 0 ? "" : ",") + R"({"at":"f","ranks":"0-1048576"})";
  }
  EXPECT_FALSE(check(head + R"("breakpoints":[{"at":"f","ranks":")" + ranks + "\"}]}"))
      << "fills no memory";
  EXPECT_FALSE(check(head + R"("breakpoints":[)" + many + "]}"));
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(60));
}

TEST_F(SessionFileTest, WhatIsNoFileIsNotRead) {
  ASSERT_EQ(::mkfifo(at("pipe.pfs").c_str(), 0600), 0);
  for (const std::string& path :
       {at("pipe.pfs"), at(""), std::string("/dev/zero"), at("nowhere.pfs")}) {
    const Result<SessionFile> session = readSessionFile(QString::fromStdString(path));
    ASSERT_FALSE(session.ok()) << path;
    EXPECT_FALSE(session.error().advice.empty()) << path;
  }
}

/// Consent to one command is none to another.
TEST_F(SessionFileTest, WordsOfARecordingAreOfThatOneOnly) {
  const auto words = [](const char* directory, const char* input, const QStringList& command) {
    SessionFile session;
    session.directory = QString::fromLatin1(directory);
    session.input = QString::fromLatin1(input);
    session.command = command;
    return recordWords(session);
  };
  const QString a = QStringLiteral("a");
  const QString b = QStringLiteral("b");
  EXPECT_EQ(words("/d", "i", {a, b}), "record\n/d\ni\na\nb");
  EXPECT_NE(words("/d", "i", {a, b}), words("/d", "i\na", {b}));
  EXPECT_NE(words("/d", "i", {a, b}), words("/d\ni", "a", {b}));
  EXPECT_NE(words("/d", "i", {a, b}), words("/d", "i", {QStringLiteral("a\nb")}));
  EXPECT_NE(words("/d\ni", "a", {b}), words("/d", "i\na", {b}));
}

}  // namespace
}  // namespace pf::session
