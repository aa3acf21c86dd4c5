// SPDX-License-Identifier: GPL-3.0-or-later
// A rank that runs Python, as the rest of a session sees it: GDB answers out of a made-up interpreter.
#include <algorithm>
#include <map>

#include <gtest/gtest.h>

#include <QSignalSpy>
#include <QTest>

#include "app/session/tests/session_fixture.h"
#include "mi_bridge/python/tests/fake_interpreter.h"

namespace pf::session {
namespace {

constexpr const char* kNative =
    R"(^done,stack=[frame={level="0",addr="0x1",func="PMPI_Recv",from="/lib/libmpi.so.40"},)"
    R"(frame={level="1",addr="0x2",func="??",from="/l/mpi4py/MPI.cpython-311-x86_64-linux-gnu.so"},)"
    R"(frame={level="2",addr="0x3",func="PyObject_Vectorcall"},frame={level="3",addr="0x4",func="_PyEval_EvalFrameDefault"},)"
    R"(frame={level="4",addr="0x5",func="Py_RunMain"},frame={level="5",addr="0x6",func="__libc_start_main",from="/lib/libc.so.6"}])";

class PythonFramesTest : public test::SessionFixture {
 protected:
  PythonFramesTest() : m_python(11) {
    const std::uint64_t module = m_python.makeDict(
        {{"UNIT", m_python.makeStr("kg")}, {"__name__", m_python.makeStr("main")}});
    const std::uint64_t outer = m_python.push("<module>", "/src/a.py", 30, true);
    m_inner =
        m_python.push("Scale.weigh", "/src/a.py", 20, false, {{"grams", m_python.makeInt(25)}});
    for (const std::uint64_t frame : {outer, m_inner}) {
      m_python.memory.set(frame + m_python.layout.frameGlobals, module);
    }
  }
  void standInPython(const std::string& version = "f0020b03") {
    std::vector<test::FakeTarget::Reply> replies{
        {"-stack-list-frames", kNative},
        {"-thread-info",
         R"x(^done,threads=[{id="1",target-id="Thread 0x7f0000001000 (LWP 102)"}])x"},
        {"&pf_python 16",
         R"(^done,memory=[{begin="0x50000",contents="00000000000000000100000066000000"}])"},
        {"&_PyRuntime 8", R"(^done,memory=[{begin="0x10000",contents="0000000000000000"}])"},
        {"&Py_Version 8",
         R"(^done,memory=[{begin="0x9000",contents=")" + version + R"(00000000"}])"}};
    for (const std::uint64_t page : m_python.pages()) {
      replies.push_back(
          {"-data-read-memory-bytes " + std::to_string(page) + " 4096", m_python.pageAnswer(page)});
    }
    session().debuggers().setFocus({0, 1, 2, 3});
    session().replayTo({2, 40});
    pump();
    target().replies = replies;
    target().allGated();
    pump();
    target().comeToTheirStops();
    pump();
  }
  Inspector& inspector() { return session().inspector(); }
  mi::python::FakeInterpreter m_python;
  std::uint64_t m_inner = 0;
};

TEST_F(PythonFramesTest, TheFunctionOfTheUserIsSelectedAndItsFrameOfGdb) {
  QSignalSpy stacks(&inspector(), &Inspector::stackChanged);
  standInPython();
  ASSERT_FALSE(stacks.isEmpty());
  QStringList shown;
  for (const values::StackFrame& frame : stacks.last()[1].value<QList<values::StackFrame>>()) {
    shown << QStringLiteral("%1 %2 %3:%4")
                 .arg(frame.level)
                 .arg(frame.function, frame.file)
                 .arg(frame.line);
  }
  EXPECT_EQ(shown, (QStringList{QStringLiteral("0 PMPI_Recv :0"), QStringLiteral("1 ?? :0"),
                                QStringLiteral("2 Scale.weigh /src/a.py:20"),
                                QStringLiteral("3 <module> /src/a.py:30"),
                                QStringLiteral("4 __libc_start_main :0")}))
      << shown.join(QLatin1Char('\n')).toStdString();
  EXPECT_EQ(inspector().frame(), 2);
  EXPECT_EQ(inspector().frameRef().level, 3);
  EXPECT_EQ(inspector().valueRef().python, m_inner);
}

TEST_F(PythonFramesTest, VariablesAreReadOnlyAndGlobalsComeWhenTheyAreOpened) {
  QSignalSpy variables(&inspector(), &Inspector::variablesChanged);
  QSignalSpy children(&inspector(), &Inspector::childrenArrived);
  standInPython();
  ASSERT_FALSE(variables.isEmpty());
  const auto shown = variables.last()[1].value<QList<values::Variable>>();
  ASSERT_EQ(shown.size(), 2);
  EXPECT_EQ(shown[0].name + shown[0].value, QLatin1String("grams25"));
  EXPECT_FALSE(shown[0].editable);
  EXPECT_EQ(shown[1].name, QLatin1String("globals of a.py"));
  inspector().expand(shown[1].path, 0, {});
  pump();
  ASSERT_EQ(children.size(), 1);
  const auto globals = children.first()[1].value<QList<values::Variable>>();
  ASSERT_EQ(globals.size(), 1);
  EXPECT_EQ(globals[0].name + globals[0].value, QLatin1String("UNIT'kg'"));
  QString value;
  inspector().evaluate(QStringLiteral("UNIT"), [&value](const QString& text) { value = text; });
  pump();
  EXPECT_EQ(value, QLatin1String("'kg'"));
  inspector().edit(shown[0].path, QStringLiteral("3"));
  pump();
  ASSERT_FALSE(m_problems.isEmpty());
  EXPECT_TRUE(m_problems.last().contains(QLatin1String("cannot be changed")))
      << m_problems.last().toStdString();
  EXPECT_FALSE(inspector().isAltered());
}

TEST_F(PythonFramesTest, ValuesAreOpenedAndWatchesToo) {
  const std::uint64_t inside = m_python.makeTuple({m_python.makeInt(5)});
  const std::uint64_t frame =
      m_python.push("f", "/src/a.py", 7, false, {{"w", m_python.makeList({inside, inside})}});
  m_python.memory.set(frame + m_python.layout.frameGlobals,
                      m_python.makeDict({{"GRID", m_python.makeList({m_python.makeInt(6)})}}));
  QSignalSpy variables(&inspector(), &Inspector::variablesChanged);
  QSignalSpy children(&inspector(), &Inspector::childrenArrived);
  QSignalSpy watches(&session().watches(), &Watches::arrived);
  standInPython();
  ASSERT_FALSE(variables.isEmpty());
  const auto shown = variables.last()[1].value<QList<values::Variable>>();
  EXPECT_TRUE(shown[0].hasChildren);
  const auto opened = [&](const QString& path, const QString& expression = {}) {
    children.clear();
    inspector().expand(path, 0, expression);
    pump();
    return children.isEmpty() ? QList<values::Variable>()
                              : children.last()[1].value<QList<values::Variable>>();
  };
  const auto parts = opened(shown[0].path);
  ASSERT_EQ(parts.size(), 2);
  EXPECT_EQ(parts[1].name + parts[1].value, QLatin1String("[1](5,)"));
  EXPECT_TRUE(parts[1].hasChildren);
  EXPECT_FALSE(parts[1].editable);
  const auto numbers = opened(parts[1].path);
  ASSERT_EQ(numbers.size(), 1);
  EXPECT_EQ(numbers[0].value, QLatin1String("5"));
  EXPECT_FALSE(numbers[0].hasChildren);
  QString told;
  inspector().expressionOf(numbers[0].path, [&told](const QString& text) { told = text; });
  EXPECT_EQ(told, QLatin1String("w[1][0]"));
  const auto globals = opened(shown[1].path);
  ASSERT_EQ(globals.size(), 1);
  EXPECT_EQ(opened(globals[0].path).size(), 1);
  session().watches().set({QStringLiteral("w[1]"), QStringLiteral("w[1][0]")});
  pump();
  std::map<QString, values::WatchValue> arrived;
  for (const QList<QVariant>& each : watches) {
    arrived[each[0].toString()] = each[1].value<QList<values::WatchValue>>().first();
  }
  EXPECT_EQ(arrived[QStringLiteral("w[1]")].value, QLatin1String("(5,)"));
  EXPECT_TRUE(arrived[QStringLiteral("w[1]")].hasParts);
  EXPECT_EQ(arrived[QStringLiteral("w[1][0]")].value, QLatin1String("5"));
  EXPECT_FALSE(arrived[QStringLiteral("w[1][0]")].hasParts);
  EXPECT_EQ(opened(QStringLiteral("w/1"), QStringLiteral("w[1]")).size(), 1);
  inspector().edit(numbers[0].path, QStringLiteral("3"));
  pump();
  EXPECT_FALSE(inspector().isAltered());
}

TEST_F(PythonFramesTest, StepsGoByLinesOfTheSelectedFrame) {
  standInPython();
  target().replies.push_back({"-break-insert", R"(^done,bkpt={number="9",func="pf_python_line"})"});
  const auto step = [this](values::RankAction action, const char* words) {
    target().forgetOrders();
    session().act(action, {2});
    pump();
    EXPECT_TRUE(target().wasTold(2, std::string("327700 ") + words)) << target().toGdb[2];
    EXPECT_TRUE(target().wasTold(
        2, R"(-f -t -c "(*(unsigned long*)327680 >> 63) & 1" --function "pf_python_line")"))
        << target().toGdb[2];
    EXPECT_TRUE(target().wasTold(2, "-exec-continue"));
    EXPECT_FALSE(target().wasTold(2, "-exec-next"));
    target().gdbSays(2, R"(=breakpoint-deleted,id="9")");
    target().gdbStops(2, R"(reason="breakpoint-hit",disp="del",bkptno="9")");
    pump();
    EXPECT_EQ(session().debugger(2)->stop().reason, action == values::RankAction::Finish
                                                        ? mi::StopReason::Finished
                                                        : mi::StopReason::Step);
  };
  target().gdbSays(
      2,
      R"(=library-loaded,id="m",target-name="/l/mpi4py/MPI.abi3.so",ranges=[{from="0x1",to="0x2"}])");
  step(values::RankAction::Next, "020000000100000000000000");
  step(values::RankAction::Finish, "030000000100000000000000");
  inspector().selectFrame(3);
  pump();
  step(values::RankAction::Step, "010000000100000001000000");
  // What has no caller in Python is not stepped out of, and the rank stays where it is.
  inspector().selectFrame(3);
  pump();
  target().forgetOrders();
  session().act(values::RankAction::Finish, {2});
  pump();
  EXPECT_FALSE(target().wasTold(2, "-exec-")) << target().toGdb[2];
  // Nor is a rank that was stopped in Python's code before CPython tells of it.
  const auto teller =
      std::ranges::find(target().replies, "&pf_python 16", &test::FakeTarget::Reply::part);
  ASSERT_NE(teller, target().replies.end());
  teller->result =
      R"(^done,memory=[{begin="0x50000",contents="00000000000000000100000000000000"}])";
  inspector().selectFrame(2);
  pump();
  session().act(values::RankAction::Next, {2});
  pump();
  EXPECT_FALSE(target().wasTold(2, "-exec-")) << target().toGdb[2];
}

TEST_F(PythonFramesTest, AnUnknownVersionIsSaidOnceAndInStacks) {
  QSignalSpy stacks(&session().stacks(), &AllStacks::arrived);
  standInPython("f0000e03");
  EXPECT_EQ(m_problems.filter(QLatin1String("Python 3.14 are not known")).size(), 1);
  session().stacks().ask();
  ASSERT_TRUE(QTest::qWaitFor([&stacks] { return !stacks.isEmpty(); }));
  const auto all = stacks.last()[0].value<QList<values::RankStack>>();
  ASSERT_FALSE(all.isEmpty());
  EXPECT_FALSE(all.first().frames.isEmpty());
  EXPECT_TRUE(all.first().note.contains(QLatin1String("Python 3.14 are not known")))
      << all.first().note.toStdString();
}

}  // namespace
}  // namespace pf::session
