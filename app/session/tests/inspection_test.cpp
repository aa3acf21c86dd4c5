// SPDX-License-Identifier: GPL-3.0-or-later
// What is looked at in a rank that has stopped: answers, refusals, and answers that come too late.
#include <cstring>

#include <gtest/gtest.h>

#include <QFile>
#include <QRegularExpression>
#include <QSignalSpy>
#include <QTest>

#include "app/session/array_reader.h"
#include "app/session/tests/session_fixture.h"
#include "replay_engine/steering/logical_stops.h"

namespace pf::session {
namespace {

class InspectionTest : public test::SessionFixture {
 protected:
  InspectionTest() {
    QObject::connect(
        &session().machine(), &MachineInspector::rowsArrived,
        [this](Look, const QList<QStringList>& rows, int current, const QString& problem) {
          m_rows = rows;
          m_current = current;
          m_problem = problem;
        });
  }
  WhichMessage whichMessage(const char* expression) {
    WhichMessage answer;
    session().buffers().ask(QLatin1String(expression),
                            [&answer](const WhichMessage& which) { answer = which; });
    pump();
    return answer;
  }
  QList<values::RankValue> across() {
    return m_across.isEmpty() ? QList<values::RankValue>()
                              : m_across.last()[1].value<QList<values::RankValue>>();
  }
  /// Little-endian, as GDB gives memory.
  static std::string hex(std::initializer_list<std::uint64_t> words) {
    std::string digits;
    for (const std::uint64_t word : words) {
      QByteArray bytes(8, '\0');
      std::memcpy(bytes.data(), &word, 8);
      digits += bytes.toHex().toStdString();
    }
    return digits;
  }
  static std::string memory(std::initializer_list<std::uint64_t> words) {
    return "^done,memory=[{contents=\"" + hex(words) + "\"}]";
  }
  static std::string value(const char* text) { return std::string("^done,value=\"") + text + "\""; }

  QList<QStringList> m_rows;
  int m_current = -2;
  QString m_problem;
  QSignalSpy m_across{&session().across(), &AcrossRanks::arrived};
};

// -- registers, memory, instructions, threads

TEST_F(InspectionTest, RegistersHaveTheirNames) {
  stand({{"-data-list-register-names", R"(^done,register-names=["rax","rbx"])"},
         {"-data-list-register-values",
          R"(^done,register-values=[{number="1",value="0x7"},{number="9",value="0x8"}])"}});
  session().machine().askRegisters();
  pump();
  ASSERT_EQ(m_rows.size(), 2);
  EXPECT_EQ(m_rows[0], (QStringList{QStringLiteral("rbx"), QStringLiteral("0x7")}));
  EXPECT_EQ(m_rows[1][0], QString()) << "GDB has named no such register";
}

TEST_F(InspectionTest, MemoryIsReadFromTheNumberOfItsAddress) {
  stand({{"(unsigned long)(&x)", value("4096")},
         {"-data-read-memory-bytes \"0x1000\"", memory({0x6867666564636261, 1})}});
  session().machine().askMemory(QStringLiteral("&x"));
  pump();
  ASSERT_FALSE(m_rows.isEmpty()) << m_problem.toStdString();
  EXPECT_TRUE(m_rows[0][0].endsWith(QLatin1String("1000")));
  EXPECT_TRUE(m_rows[0].last().startsWith(QLatin1String("abcdefgh")));
}

TEST_F(InspectionTest, MemoryThatCannotBeReadIsSaidWhy) {
  stand({{"(unsigned long)(s)", value("{...}")},
         {"(unsigned long)(&y)", R"(^error,msg="No symbol \"y\" in current context.")"},
         {"(unsigned long)(0)", value("0")},
         {"-data-read-memory-bytes", R"(^error,msg="Unable to read memory.")"}});
  for (const auto& [asked, problem] :
       {std::pair{"s", "That has no address."}, std::pair{"&y", "No symbol \"y\""},
        std::pair{"0", "Unable to read memory."}}) {
    session().machine().askMemory(QLatin1String(asked));
    pump();
    EXPECT_TRUE(m_problem.startsWith(QLatin1String(problem))) << m_problem.toStdString();
    EXPECT_TRUE(m_rows.isEmpty());
  }
}

TEST_F(InspectionTest, TheInstructionOfTheSelectedFrameIsMarked) {
  stand({{"-data-disassemble",
          R"(^done,asm_insns=[{address="0x1",func-name="collect",offset="0",inst="push"},)"
          R"({address="0x2",func-name="collect",offset="1",inst="call"}])"}});
  session().machine().askInstructions({});
  pump();
  ASSERT_EQ(m_rows.size(), 2);
  EXPECT_EQ(m_current, 1) << "the frame's address is 0x2";
  EXPECT_EQ(m_rows[1], (QStringList{QStringLiteral("0x2"), QStringLiteral("collect+1"),
                                    QStringLiteral("call")}));
}

TEST_F(InspectionTest, AThreadThatIsChosenIsAskedUntilTheNextStop) {
  stand(
      {{"-thread-info",
        R"(^done,threads=[{id="1",target-id="main",state="stopped",frame={level="0",addr="0x1",)"
        R"(func="main",file="/src/m.c",line="4"}},{id="2",target-id="worker",state="running"}])"}});
  session().machine().askThreads();
  pump();
  ASSERT_EQ(m_rows.size(), 2);
  EXPECT_EQ(m_rows[0][3], QLatin1String("main() m.c:4"));
  EXPECT_EQ(m_rows[1][2], QLatin1String("running"));
  EXPECT_EQ(m_current, 0);
  target().forgetOrders();
  session().inspector().selectThread(2);
  pump();
  EXPECT_TRUE(target().wasTold(session().currentRank(), "-stack-list-frames --thread 2"));
  session().machine().askThreads();
  pump();
  EXPECT_EQ(m_current, 1);
  session().act(values::RankAction::Continue, {session().currentRank()});
  pump();
  target().gdbStops(session().currentRank(), R"(reason="breakpoint-hit",bkptno="9")");
  pump();
  EXPECT_EQ(session().inspector().thread(), 0);
}

TEST_F(InspectionTest, ARankThatRunsHasNothingToShow) {
  stand();
  session().act(values::RankAction::Continue, {session().currentRank()});
  pump();
  session().machine().askThreads();
  EXPECT_TRUE(m_problem.contains(QLatin1String("runs: pause it first.")))
      << m_problem.toStdString();
  bool evaluated = false;
  session().inspector().evaluate(QStringLiteral("n"), [&](const QString&) { evaluated = true; });
  session().inspector().edit(QStringLiteral("v/n"), QStringLiteral("5"));
  pump();
  EXPECT_FALSE(evaluated);
  EXPECT_FALSE(session().inspector().isAltered());
}

// -- across ranks

TEST_F(InspectionTest, OfTwoExpressionsTheLastOneIsAnswered) {
  stand({{"-data-evaluate-expression", value("5")}});
  session().across().ask(QStringLiteral("a"));
  session().across().ask(QStringLiteral("b"));
  pump();
  ASSERT_EQ(m_across.size(), 1) << "answers for the first one count for nothing";
  EXPECT_EQ(m_across.last()[0].toString(), QLatin1String("b"));
  EXPECT_EQ(across()[3].value, QLatin1String("5"));
}

TEST_F(InspectionTest, ARankWhoseGdbGoesWhileItIsAskedDoesNotHoldUpTheOthers) {
  stand({{"-data-evaluate-expression", value("5")}});
  session().across().ask(QStringLiteral("n"));
  target().gdbIs(1, protocol::GdbCondition::Died, "gdb ended");
  pump();
  ASSERT_EQ(across().size(), test::kRanks);
  EXPECT_FALSE(across()[1].error.isEmpty());
  EXPECT_EQ(across()[2].value, QLatin1String("5"));
}

TEST_F(InspectionTest, WhereNothingRunsThereAreNoValues) {
  session().across().ask(QStringLiteral("n"));
  ASSERT_EQ(m_across.size(), 1);
  EXPECT_TRUE(across().isEmpty());
}

// -- consoles

TEST_F(InspectionTest, AnswersThatDifferOnlyInAddressesAreOne) {
  stand();
  for (int rank = 0; rank < 2; ++rank) {
    target().replies.push_back({"\"bt\"", "^done",
                                "#0  0x00007f" + std::to_string(rank) + "0 in collect (p=0x55" +
                                    std::to_string(rank) + "0) at m.c:12",
                                rank});
  }
  QSignalSpy text(&session().consoles(), &GdbConsoles::consoleText);
  session().consoles().sendToAll({0, 1}, QStringLiteral("bt"), 0);
  pump();
  ASSERT_EQ(text.size(), 1);
  EXPECT_TRUE(text[0][1].toString().startsWith(QStringLiteral("[0-1] #0  collect (p=0x…)")))
      << text[0][1].toString().toStdString();
}

TEST_F(InspectionTest, RanksWithoutGdbAndErrorsAreAnswersToo) {
  session().debuggers().setFocus({0, 1});
  session().replayTo({2, 40});
  gate({{"print n", R"(^error,msg="No symbol \"n\" in current context.")", {}, 1}});
  target().comeToTheirStops();
  pump();
  QStringList told;
  QObject::connect(&session().consoles(), &GdbConsoles::consoleText,
                   [&told](int, const QString& text, bool) { told << text; });
  session().consoles().sendToAll({0, 1, 3}, QStringLiteral("print n"), 0);
  pump();
  ASSERT_EQ(told.size(), 3);
  EXPECT_EQ(told[0], QLatin1String("[0] done\n"));
  EXPECT_TRUE(told[1].startsWith(QLatin1String("[1] No symbol")));
  EXPECT_EQ(told[2], QLatin1String("[3] no debugger\n"));
}

TEST_F(InspectionTest, WhatLeavesTheProgramIsRefusedInAConsole) {
  stand();
  target().forgetOrders();
  QSignalSpy text(&session().consoles(), &GdbConsoles::consoleText);
  session().consoles().send(1, QStringLiteral("shell rm x"));
  pump();
  EXPECT_EQ(text.size(), 1);
  EXPECT_FALSE(target().wasTold(1, "shell"));
}

// -- which message filled a buffer

TEST_F(InspectionTest, WhichMessageNeedsARankThatHasStopped) {
  EXPECT_TRUE(whichMessage("buf").text.contains(QLatin1String("known in a replay only")));
  session().debuggers().setFocus({1});
  run({2, 40});
  session().setCurrentRank(0);
  EXPECT_TRUE(whichMessage("buf").text.contains(QLatin1String("Rank 0 has no debugger")));
  session().setCurrentRank(1);
  EXPECT_TRUE(whichMessage(" ").text.contains(QLatin1String("Name a variable")));
  session().act(values::RankAction::Continue, {1});
  pump();
  EXPECT_TRUE(whichMessage("buf").text.contains(QLatin1String("Rank 1 runs")));
}

TEST_F(InspectionTest, TheLastReceiveThatIsOverHasFilledIt) {
  const RankHistory& history = session().trace()->execution.ranks[1];
  const PostedReceive& over = history.receives[2];
  session().setCurrentRank(1);
  stand({{"&(buf)", value("4096")},
         {"sizeof(buf)", value("8")},
         {"pf_events_begun", memory({512})},
         {"\"512\"", memory({over.completion})},
         {"pf_noted_buffers", memory({3, 65536, 16})},
         {"\"65536\"", memory({4096, 5120, 0, 2,       // the first receive
                               4096, 5120, 2, 8,       // the third one
                               8192, 9216, 1, 5})}});  // into another buffer
  session().setCurrentRank(1);
  pump();
  const WhichMessage which = whichMessage("buf");
  EXPECT_FALSE(which.problem) << which.text.toStdString();
  EXPECT_EQ(which.event, (EventRef{1, over.completion})) << which.text.toStdString();
  EXPECT_TRUE(which.text.startsWith(QLatin1String("buf was filled last by MPI_")));
  EXPECT_TRUE(which.text.contains(
      QStringLiteral("the message of rank %1 with tag %2").arg(over.source).arg(over.tag)))
      << which.text.toStdString();
  EXPECT_TRUE(which.text.contains(QLatin1String("sent by MPI_Send")));
}

TEST_F(InspectionTest, ABufferThatNoReceiveWritesToIsSaidSo) {
  stand({{"&(buf)", value("4096")},
         {"sizeof(buf)", value("8")},
         {"pf_noted_buffers", memory({0, 0, 0})}});
  const WhichMessage which = whichMessage("buf");
  EXPECT_FALSE(which.event.valid());
  EXPECT_TRUE(which.text.startsWith(QLatin1String("No receive that rank")))
      << which.text.toStdString();
  target().replies.insert(target().replies.begin() + 1,
                          {"(unsigned long)", R"(^error,msg="Attempt to take address")"});
  target().replies.erase(target().replies.begin() + 2);
  EXPECT_TRUE(whichMessage("1+1").text.contains(QLatin1String("has no address")));
}

// -- arrays

/// Of a GDB that has no Python.
class ArrayTest : public InspectionTest {
 protected:
  /// Two doubles at 4096; what GDB dumps is written by the test.
  void standWithArray() {
    stand(
        {{"python exec", R"(^error,msg="Python scripting is not supported in this copy of GDB.")"},
         {"_M_finish", R"(^error,msg="There is no member named _M_impl.")"},
         {"_M_elems", R"(^error,msg="There is no member named _M_elems.")"},
         {"(char*)&", value("true")},
         {"/2) != 0", value("true")},
         {"-1) < 0", value("true")},
         {"sizeof((a)[0])", value("8")},
         {"sizeof((a))", value("16")},
         {"(unsigned long)&", value("4096")},
         {"1e-25", value("false")}});
    target().hears = [this](int, const std::string& command) {
      static const QRegularExpression kDump(
          QStringLiteral("dump binary memory (\\S+) ([0-9]+) ([0-9]+)"));
      const auto dump = kDump.match(QString::fromStdString(command));
      if (dump.hasMatch()) {
        m_dumped = dump.captured(2) + QLatin1Char(' ') + dump.captured(3);
        QFile file(dump.captured(1));
        EXPECT_TRUE(file.open(QIODevice::WriteOnly));
        file.write(reinterpret_cast<const char*>(m_numbers), m_bytes);
      }
    };
  }
  /// The last word: what GDB is told has all of these names in it.
  void withoutPython() {
    target().replies.push_back(
        {"python exec", R"(^error,msg="Python scripting is not supported in this copy of GDB.")"});
  }
  QString failure(const char* expression) {
    if (!m_targets.isEmpty()) {
      withoutPython();
    }
    QSignalSpy failed(&m_reader, &ArrayReader::failed);
    m_reader.read(QLatin1String(expression));
    for (int i = 0; i < 50 && failed.isEmpty(); ++i) {
      pump();
      QTest::qWait(10);
    }
    return failed.isEmpty() ? QString() : failed.last()[0].toString();
  }

  ArrayReader m_reader{session()};
  double m_numbers[2] = {1.5, -2.0};
  qint64 m_bytes = 16;
  QString m_dumped;
};

TEST_F(ArrayTest, ComesWithItsKindAndItsBytes) {
  standWithArray();
  withoutPython();
  QSignalSpy arrived(&m_reader, &ArrayReader::arrived);
  m_reader.read(QStringLiteral("a"));
  pump();
  ASSERT_TRUE(arrived.size() == 1 || arrived.wait(5000));
  EXPECT_EQ(m_dumped, QLatin1String("4096 4112"));
  const auto array = arrived.last()[0].value<values::ArraySummaryPtr>();
  EXPECT_EQ(array->text(),
            QLatin1String("2 elements of double: least -2 at [1], most 1.5 at [0], mean -0.25 "
                          "(this GDB has no Python: one dimension, of C and C++ only)"));
}

TEST_F(ArrayTest, IsNotReadHalf) {
  standWithArray();
  m_bytes = 12;
  EXPECT_TRUE(failure("a").contains(QLatin1String("cannot be read: it is too short")));
}

TEST_F(ArrayTest, APointerHasToSayHowMany) {
  standWithArray();
  target().replies.push_back({"(char*)&", value("false")});
  EXPECT_TRUE(failure("a").startsWith(QLatin1String("a is a pointer: say how many elements")));
}

TEST_F(ArrayTest, RowsThatLieElsewhereAreNotReadAsOne) {
  standWithArray();
  target().replies.push_back({"_M_finish", value("2")});
  target().replies.push_back({"_M_start)[0])/2)", R"(^error,msg="not a number")"});
  target().replies.push_back({"(char*)&", value("false")});
  target().replies.push_back({"_M_start)[0])\"", value("24")});
  const QString text = failure("a");
  EXPECT_TRUE(text.startsWith(QLatin1String("the elements of 'a' are pointers or containers")))
      << text.toStdString();
  EXPECT_TRUE(text.contains(QLatin1String("(a)[0]")));
  EXPECT_TRUE(m_dumped.isEmpty());
}

TEST_F(ArrayTest, FortranIsRefusedInWords) {
  standWithArray();
  target().replies.push_back(
      {"(char*)&", R"(^error,msg="No symbol \"char\" in current context.")"});
  const QString text = failure("a");
  EXPECT_TRUE(text.contains(QLatin1String("is in a frame of Fortran"))) << text.toStdString();
  target().replies.push_back(  // what GDB 13 says of REAL m(3,4)
      {"(char*)&", R"DELIM(^error,msg="A syntax error in expression, near `[0])'.")DELIM"});
  EXPECT_TRUE(failure("a").contains(QLatin1String("is in a frame of Fortran")));
}

TEST_F(ArrayTest, NoMoreThanAProcessCanAddress) {
  standWithArray();
  target().replies.push_back({"\"((-1))\"", value("-1")});
  EXPECT_TRUE(failure("a@-1").startsWith(QLatin1String("no array has -1 elements")))
      << failure("a@-1").toStdString();
}

TEST_F(ArrayTest, NeedsARankThatHasStopped) {
  EXPECT_TRUE(failure("a").startsWith(QLatin1String("Rank 0 is not stopped under a debugger")));
}

/// Of one that has: what its Python writes is written by the test.
class PythonArrayTest : public InspectionTest {
 protected:
  void standWithAnswer(const QByteArray& answer, const QByteArray& bytes) {
    stand();
    target().hears = [this, answer, bytes](int, const std::string& command) {
      static const QRegularExpression kAsked(
          QStringLiteral("photofinish_array\\('([^']*)', '([^']*)', 40000000, 536870912\\)"));
      const auto asked = kAsked.match(QString::fromStdString(command));
      if (asked.hasMatch()) {
        m_expressions << asked.captured(1);
        write(asked.captured(2) + QStringLiteral("/answer"), answer);
        write(asked.captured(2) + QStringLiteral("/bytes"), bytes);
      }
    };
  }
  static void write(const QString& path, const QByteArray& text) {
    QFile file(path);
    EXPECT_TRUE(file.open(QIODevice::WriteOnly));
    file.write(text);
  }
  /// What comes: the array in words, or why there is none.
  QString read(const char* expression) {
    QSignalSpy arrived(&m_reader, &ArrayReader::arrived);
    QSignalSpy failed(&m_reader, &ArrayReader::failed);
    m_reader.read(QLatin1String(expression));
    for (int i = 0; i < 50 && arrived.isEmpty() && failed.isEmpty(); ++i) {
      pump();
      QTest::qWait(10);
    }
    return !failed.isEmpty()    ? failed.last()[0].toString()
           : !arrived.isEmpty() ? arrived.last()[0].value<values::ArraySummaryPtr>()->text()
                                : QStringLiteral("nothing");
  }

  ArrayReader m_reader{session()};
  QStringList m_expressions;
};

TEST_F(PythonArrayTest, ComesWithItsBounds) {
  standWithAnswer(
      R"J({"kind":"signed","size":2,"unit":1,"type":"integer(kind=2)","quad":false,"fortran":true,)J"
      R"J("dims":[[-1,1,2,2,2],[5,1,2,2,4]],"note":"","offset":0})J",
      QByteArray::fromHex("0100fdff0300f4ff"));
  EXPECT_EQ(read("  grid "),
            QStringLiteral("-1:0 × 5:6 of integer(kind=2): least -12 at (0,6), most 3 at (-1,6), "
                           "mean -2.75"));
  EXPECT_EQ(m_expressions, QStringList{QStringLiteral("grid")});
}

TEST_F(PythonArrayTest, GdbsWordsAreTheReason) {
  standWithAnswer(R"({"error":"No symbol \"nosuch\" in current context.","advice":"look"})", {});
  EXPECT_EQ(read("nosuch"), QLatin1String("No symbol \"nosuch\" in current context. look"));
}

TEST_F(PythonArrayTest, NoAnswerIsNoArray) {
  standWithAnswer("{", {});
  EXPECT_TRUE(
      read("a").startsWith(QLatin1String("what GDB has written of the array cannot be used")));
}

}  // namespace
}  // namespace pf::session
