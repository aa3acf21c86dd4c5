// SPDX-License-Identifier: GPL-3.0-or-later
#include "mi_bridge/gdb_inspector.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "mi_bridge/tests/support/fakes.h"
#include "mi_bridge/value_format.h"

namespace pf::mi::test {
namespace {

class InspectorTest : public ::testing::Test {
 protected:
  InspectorTest() { gdb.attached(); }
  FakeSession gdb;
};

TEST_F(InspectorTest, FramesGetTheirLibrary) {
  gdb.line(
      R"(=library-loaded,target-name="/l/libphotofinish_mpi.so",ranges=[{from="0x100",to="0x200"}])");
  std::vector<Frame> frames;
  gdb.session.inspect().frames(1, 0, 20, [&](Result<std::vector<Frame>> f) { frames = *f; });
  gdb.answer(
      "-stack-list-frames --thread 1 0 20",
      R"(^done,stack=[frame={level="0",addr="0x150",func="MPI_Recv",file="w.c",line="3"},frame={level="1",addr="0x10",func="main"}])");
  ASSERT_EQ(frames.size(), 2U);
  EXPECT_EQ(frames[0].from, "/l/libphotofinish_mpi.so");
  EXPECT_EQ(firstUserFrame(frames), 1U);
  gdb.line(R"(=library-unloaded,target-name="/l/libphotofinish_mpi.so")");
  gdb.session.inspect().frames(1, 0, 20, [&](Result<std::vector<Frame>> f) { frames = *f; });
  gdb.answer("-stack-list-frames", R"(^done,stack=[frame={level="0",addr="0x150"}])");
  EXPECT_EQ(frames[0].from, "");
}

TEST_F(InspectorTest, ChildrenLimitTheUpdateRangeFirst) {
  VarPage page;
  gdb.session.inspect().children("var1", {100, 50}, [&](Result<VarPage> p) { page = *p; });
  EXPECT_EQ(gdb.sent[gdb.sent.size() - 2].substr(gdb.sent[gdb.sent.size() - 2].find('-')),
            "-var-set-update-range \"var1\" 0 150\n");
  gdb.answer("-var-list-children --simple-values \"var1\" 100 150",
             R"(^done,numchild="1",children=[child={name="var1.x",exp="x"}],has_more="1")");
  EXPECT_EQ(page.children.size(), 1U);
  EXPECT_TRUE(page.hasMore);
}

/// Those of C++ are GDB's, not the program's.
TEST_F(InspectorTest, MembersAreInPlaceOfTheirAccessGroups) {
  VarPage page;
  gdb.session.inspect().children("var1", {0, 50}, [&](Result<VarPage> p) { page = *p; });
  gdb.answer("-var-list-children --simple-values \"var1\" 0 50",
             R"(^done,numchild="3",children=[child={name="var1.B",exp="B",numchild="1",type="B"},)"
             R"(child={name="var1.public",exp="public",numchild="2"},)"
             R"(child={name="var1.private",exp="private",numchild="1"}],has_more="0")");
  EXPECT_TRUE(page.children.empty()) << "it comes whole";
  gdb.answer("-var-list-children --simple-values \"var1.public\"",
             R"(^done,children=[child={name="var1.public.x",exp="x",value="1",type="int"},)"
             R"(child={name="var1.public.y",exp="y",value="2",type="int"}],has_more="0")");
  gdb.answer("-var-list-children --simple-values \"var1.private\"", R"(^error,msg="no")");
  std::string names;
  for (const VarObject& child : page.children) {
    names += child.name + " ";
  }
  EXPECT_EQ(names, "var1.B var1.public.x var1.public.y var1.private ");
}

TEST_F(InspectorTest, FormatsAreAskedOfPythonAndComeWhole) {
  Result<std::string> value = Error{};
  const auto keep = [&](const Result<std::string>& v) { value = v; };
  gdb.session.inspect().evaluate({1, 2}, "/x flags", keep);
  gdb.answer("python exec", "^done");
  gdb.answer(R"(--thread 1 --frame 2 console "photofinish-value /x flags")",
             R"(^error,msg="photofinish answer: {a = 0x1}")");
  ASSERT_TRUE(value.ok());
  EXPECT_EQ(*value, "{a = 0x1}");
  gdb.session.inspect().evaluate({1, 2}, "/x nosuch", keep);
  gdb.answer("photofinish-value",
             R"(^error,msg="photofinish problem: No symbol \"nosuch\" in current context.")");
  ASSERT_FALSE(value.ok());
  EXPECT_EQ(value.error().message, "No symbol \"nosuch\" in current context.");
  gdb.session.inspect().evaluate({1, 2}, "/x silent", keep);
  gdb.answer("photofinish-value", "^done");
  EXPECT_FALSE(value.ok()) << "no answer is no value";
}

TEST(ValueFormat, IsALetterOfPrintAndABlank) {
  EXPECT_EQ(askedValue("/x flags"), (AskedValue{'x', "flags"}));
  EXPECT_EQ(askedValue(" /t\t a / b"), (AskedValue{'t', "a / b"}));
  for (const char* none : {"a /x b", "/xflags", "/x", "/x ", "/q a", "/ x a", ""}) {
    EXPECT_EQ(askedValue(none), (AskedValue{0, none}));
  }
}

TEST_F(InspectorTest, ControlCharactersNeverReachGdb) {
  const std::size_t before = gdb.sent.size();
  int refused = 0;
  const std::string bad = "x\n-gdb-exit";
  const auto count = [&refused](const auto& result) { refused += result.ok() ? 0 : 1; };
  GdbInspector& inspector = gdb.session.inspect();
  inspector.evaluate({}, bad, count);
  inspector.createVar({}, bad, count);
  inspector.children(bad, {0, 1}, count);
  inspector.updateVar(bad, count);
  inspector.assignVar("v", bad, count);
  inspector.assignVar(bad, "1", count);
  inspector.deleteVar(bad, count);
  inspector.readMemory(bad, 4, count);
  inspector.substitutePath(bad, "/x", count);
  EXPECT_EQ(refused, 9);
  EXPECT_EQ(gdb.sent.size(), before);
}

TEST_F(InspectorTest, RegistersGetNames) {
  std::vector<Register> registers;
  gdb.session.inspect().registers({1, 0}, [&](Result<std::vector<Register>> r) { registers = *r; });
  gdb.answer("-data-list-register-names", R"(^done,register-names=["rax","rbx"])");
  gdb.answer("-data-list-register-values --thread 1 --frame 0 x",
             R"(^done,register-values=[{number="1",value="0x2"}])");
  EXPECT_EQ(registers, (std::vector<Register>{{"rbx", "0x2"}}));
}

TEST_F(InspectorTest, InstructionsOutsideOfAFunctionAreAPieceOfCode) {
  std::vector<Instruction> found;
  const auto keep = [&](const Result<std::vector<Instruction>>& list) { found = *list; };
  gdb.session.inspect().instructions({1, 2}, "$pc", keep);
  gdb.answer(
      "-data-disassemble --thread 1 --frame 2 -a \"$pc\" -- 0",
      R"(^done,asm_insns=[{address="0x401136",func-name="main",offset="4",inst="nop"},{address="0x401137",inst="ret"}])");
  EXPECT_EQ(found,
            (std::vector<Instruction>{{"0x401136", "main", 4, "nop"}, {"0x401137", "", 0, "ret"}}));
  gdb.session.inspect().instructions({1, 2}, "0x10", keep);
  gdb.answer("-data-disassemble", R"(^error,msg="No function contains address 0x10.")");
  gdb.answer("-data-disassemble --thread 1 --frame 2 -s \"0x10\" -e \"0x10 + 128\" -- 0",
             R"(^done,asm_insns=[{address="0x10",inst="hlt"}])");
  EXPECT_EQ(found, (std::vector<Instruction>{{"0x10", "", 0, "hlt"}}));
}

TEST_F(InspectorTest, QuestionsAreDroppedByAStep) {
  std::string error;
  gdb.session.inspect().evaluate({1, 0}, "x",
                                 [&](const Result<std::string>& v) { error = v.error().message; });
  gdb.session.run({RunKind::Next, 0, {}, 0}, [](const Status&) {});
  EXPECT_NE(error.find("dropped"), std::string::npos);
}

// -- arrays

TEST_F(InspectorTest, GdbIsToldOnceHowToReadArrays) {
  const ArrayRequest request{"it's \\ a\tb", "/tmp/d", 10, 20};
  std::vector<bool> answered;
  const auto note = [&](const Result<ArrayQueryEnd>& end) {
    answered.push_back(end.ok() && *end == ArrayQueryEnd::Answered);
  };
  gdb.session.inspect().taught().readArray({1, 2}, request, note);
  const auto setups = [this] {
    return std::count_if(gdb.sent.begin(), gdb.sent.end(), [](const std::string& line) {
      return line.find("python exec") != std::string::npos;
    });
  };
  EXPECT_EQ(setups(), 1);
  gdb.answer("python exec", "^done");
  EXPECT_EQ(gdb.sent.back().substr(gdb.sent.back().find('-')),
            "-interpreter-exec --thread 1 --frame 2 console \"python gdb.photofinish_array("
            "'it\\\\x27s \\\\x5c a\\\\x09b', '/tmp/d', 10, 20)\"\n");
  gdb.answer("photofinish_array", "^done");
  gdb.session.inspect().taught().readArray({1, 2}, request, note);
  gdb.answer("photofinish_array", R"(^error,msg="No frame.")");
  EXPECT_EQ(answered, (std::vector<bool>{true, false}));
  EXPECT_EQ(setups(), 1);
}

TEST_F(InspectorTest, AGdbWithoutPythonReadsNoArrays) {
  std::vector<std::string> ends;
  const auto note = [&](const Result<ArrayQueryEnd>& end) {
    ends.push_back(!end                              ? end.error().message
                   : *end == ArrayQueryEnd::NoPython ? "no Python"
                                                     : "answered");
  };
  gdb.session.inspect().taught().readArray({1, 0}, {"a", "/d", 1, 1}, note);
  gdb.answer("python exec",
             R"(^error,msg="Python scripting is not supported in this copy of GDB.")");
  gdb.session.inspect().taught().readArray({1, 0}, {"a", "/d", 1, 1}, note);
  gdb.answer("python exec", R"(^error,msg="Remote connection closed")");
  EXPECT_EQ(ends, (std::vector<std::string>{"no Python", "Remote connection closed"}));
}

TEST_F(InspectorTest, TheCallThatAThreadStandsIn) {
  std::vector<Result<std::optional<StandingCall>>> calls;
  const auto note = [&](const Result<std::optional<StandingCall>>& call) { calls.push_back(call); };
  const auto ask = [&](const char* reply) {
    gdb.session.inspect().taught().standingCall({1, 0}, note);
    if (calls.empty()) {
      gdb.answer("python exec", "^done");
    }
    gdb.answer("photofinish_mpi_call()", "^done");
    gdb.answer("-data-evaluate-expression $photofinish_mpi_call", reply);
  };
  ask(R"(^done,value="\"recv 1 17 world my file.c:12\"")");
  ask(R"(^done,value="'bcast 3 ? other ?'")");
  ask(R"(^done,value="0")");
  ask(R"(^error,msg="The program is not being run.")");
  ask(R"(^done,value="void")");
  ASSERT_EQ(calls.size(), 5U);
  StandingCall receive;
  receive.name = "MPI_Recv";
  receive.peer = 1;
  receive.tag = 17;
  receive.comm = StandingCall::Comm::World;
  receive.place = "my file.c:12";
  EXPECT_EQ(**calls[0], receive);
  StandingCall broadcast;
  broadcast.name = "MPI_Bcast";
  broadcast.peer = 3;
  broadcast.comm = StandingCall::Comm::Other;
  EXPECT_EQ(**calls[1], broadcast);
  EXPECT_FALSE(calls[2]->has_value());
  EXPECT_FALSE(calls[3].ok());
  EXPECT_FALSE(calls[4].ok()) << "it could not look: that is not to be in no call";
}

TEST(StandingCalls, AreReadFromAStrangersText) {
  for (const char* none : {"", "0", "\"", "\"\"", "\" 1 2 world\"", "recv 1 2 world x"}) {
    EXPECT_FALSE(standingCallIn(none)) << none;
  }
  const auto odd = standingCallIn("\"recv -4 99999999999999999999 moon\"");
  ASSERT_TRUE(odd);
  EXPECT_FALSE(odd->peer || odd->tag || odd->anySource || odd->anyTag);
  EXPECT_EQ(odd->comm, StandingCall::Comm::Unknown);
  EXPECT_TRUE(standingCallIn("\"recv any any world x\"")->anySource);
  EXPECT_TRUE(standingCallIn("\"send none 1 world x\"")->nobody);
}

/// GDB 13 ends by itself when it words the type of some CHARACTER arrays.
class FortranTest : public InspectorTest {
 protected:
  FortranTest() {
    gdb.session.inspect().frames(1, 0, 20, [](const Result<std::vector<Frame>>&) {});
    gdb.answer("-stack-list-frames",
               R"(^done,stack=[frame={level="0",addr="0x10",func="w",file="w.F90",line="3"}])");
  }
  /// GDB has looked for types without a name.
  void found(const char* names) {
    gdb.answer("photofinish_unnamed('", "^done");
    gdb.answer("-data-evaluate-expression $photofinish_unnamed",
               std::string("^done,value=\"") + names + "\"");
  }
  bool sentNow(const char* part) const { return gdb.sent.back().find(part) != std::string::npos; }
};

TEST_F(FortranTest, VariablesWithoutATypesNameAreNotAskedFor) {
  std::vector<Variable> variables;
  gdb.session.inspect().variables({1, 0}, VariableDetail::SimpleValues,
                                  [&](Result<std::vector<Variable>> all) { variables = *all; });
  gdb.answer("python exec", "^done");
  found("'s,t'");
  ASSERT_TRUE(sentNow("--no-values"));
  gdb.answer("-stack-list-variables", R"(^done,variables=[{name="s",arg="1"},{name="n"}])");
  ASSERT_EQ(variables.size(), 2U);
  EXPECT_EQ(variables[0].type, "CHARACTER array");
  EXPECT_TRUE(variables[0].value && variables[0].value->find("Array") != std::string::npos);
  EXPECT_FALSE(variables[1].value);
}

TEST_F(FortranTest, OthersAreAskedForAsEver) {
  gdb.session.inspect().variables({1, 0}, VariableDetail::SimpleValues,
                                  [](const Result<std::vector<Variable>>&) {});
  gdb.answer("python exec", "^done");
  found("0");
  EXPECT_TRUE(sentNow("--simple-values"));
  gdb.answer("-stack-list-variables", "^done,variables=[]");
  Result<VarObject> object = Error{};
  gdb.session.inspect().createVar({1, 0}, "n", [&](const Result<VarObject>& o) { object = o; });
  found("0");
  EXPECT_TRUE(sentNow("-var-create"));
}

/// What holds for a frame does not hold for that of the next stop.
TEST_F(FortranTest, NothingIsAskedOfTheNextStop) {
  bool failed = false;
  gdb.session.inspect().variables(
      {1, 1}, VariableDetail::SimpleValues,
      [&](const Result<std::vector<Variable>>& all) { failed = !all.ok(); });
  gdb.answer("python exec", "^done");
  gdb.session.run({}, [](const Status&) {});
  EXPECT_TRUE(failed);
  for (const std::string& sent : gdb.sent) {
    EXPECT_EQ(sent.find("-stack-list-variables"), std::string::npos) << sent;
  }
}

TEST_F(FortranTest, NoObjectIsMadeOfWhatHasNoType) {
  Result<VarObject> object = VarObject{};
  gdb.session.inspect().createVar({1, 0}, "x", [&](const Result<VarObject>& o) { object = o; });
  gdb.answer("python exec", "^done");
  found("'x'");
  ASSERT_FALSE(object.ok());
  EXPECT_FALSE(sentNow("-var-create"));
}

TEST_F(FortranTest, WithoutPythonGdbIsAskedAtOnce) {
  gdb.session.inspect().variables({1, 0}, VariableDetail::SimpleValues,
                                  [](const Result<std::vector<Variable>>&) {});
  gdb.answer("python exec",
             R"(^error,msg="Python scripting is not supported in this copy of GDB.")");
  EXPECT_TRUE(sentNow("--simple-values"));
}

TEST(FortranSources, AreKnownByTheirNames) {
  for (const char* file : {"a.f90", "/x/b.F90", "c.f", "d.FOR", "e.f03"}) {
    EXPECT_TRUE(isFortranSource(file)) << file;
  }
  for (const char* file : {"a.c", "f90", "", ".f90/x.c", "a.f90.cpp"}) {
    EXPECT_FALSE(isFortranSource(file)) << file;
  }
}

}  // namespace
}  // namespace pf::mi::test
