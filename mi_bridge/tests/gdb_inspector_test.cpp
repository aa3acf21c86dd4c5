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

/// Values of Fortran come from GDB's Python: of sections GDB's own variable objects have the wrong elements.
class FortranTest : public InspectorTest {
 protected:
  FortranTest() {
    gdb.session.inspect().frames(1, 0, 20, [](const Result<std::vector<Frame>>&) {});
    gdb.answer("-stack-list-frames",
               R"(^done,stack=[frame={level="0",addr="0x10",func="w",file="w.F90",line="3"}])");
    gdb.session.inspect().evaluate({1, 0}, "0", [](const Result<std::string>&) {});
    gdb.answer("python exec", "^done");
    say("photofinish-value 0", "0");
  }
  /// What Python says, as the message of an error.
  void say(const std::string& question, const std::string& answer, const char* how = "answer") {
    std::string escaped;
    for (const char c : answer) {
      escaped += c == '"' || c == '\\' ? std::string{'\\', c} : std::string{c};
    }
    gdb.answer(question, R"(^error,msg="photofinish )" + std::string(how) + ": " + escaped + '"');
  }
  void isElsewhere(const std::string& question) {
    say(question, "this frame is of another language", "problem");
  }
  VarObject make(const std::string& expression) {
    Result<VarObject> object = Error{};
    gdb.session.inspect().createVar({1, 2}, expression,
                                    [&](const Result<VarObject>& o) { object = o; });
    say("--thread 1 --frame 2 console \"photofinish-object - " + expression,
        R"~(exp="a",numchild="4",value="[4]",type="real(kind=8) (3,4)")~");
    return object ? *object : VarObject{};
  }
  bool sentNow(const char* part) const { return gdb.sent.back().find(part) != std::string::npos; }
};

TEST_F(FortranTest, LocalsComeFromPython) {
  std::vector<Variable> variables;
  gdb.session.inspect().variables({1, 0}, VariableDetail::SimpleValues,
                                  [&](Result<std::vector<Variable>> all) { variables = *all; });
  say("photofinish-locals", R"~(variables=[{name="a",type="real(kind=8) (3)",arg="1"},)~"
                            R"~({name="n",type="integer(kind=4)",value="2"}])~");
  ASSERT_EQ(variables.size(), 2U);
  EXPECT_TRUE(variables[0].argument);
  EXPECT_FALSE(variables[0].value);
  EXPECT_EQ(variables[1].value, "2");
}

TEST_F(FortranTest, PartsAreAskedForByTheirPlace) {
  const VarObject object = make("a b");
  EXPECT_EQ(object.expression, "a b");
  EXPECT_EQ(object.children, 4);
  VarPage page;
  gdb.session.inspect().children(object.name, {2, 2, 'x'}, [&](Result<VarPage> p) { page = *p; });
  say("--thread 1 --frame 2 console \"photofinish-parts 2 2 x - a b\"",
      R"~(children=[child={exp="3",numchild="3",value="[3]",type="real(kind=8) (3)"},)~"
      R"~(child={exp="4",numchild="3",value="\303\244",type="real(kind=8) (3)"}],has_more="1")~");
  ASSERT_EQ(page.children.size(), 2U);
  EXPECT_TRUE(page.hasMore);
  EXPECT_EQ(page.children[1].expression, "4");
  EXPECT_EQ(page.children[1].value, "\303\244");
  gdb.session.inspect().children(page.children[1].name, {0, 100}, [](const Result<VarPage>&) {});
  say("photofinish-parts 0 100 - 3 a b", "children=[],has_more=\"0\"");
}

TEST_F(FortranTest, PartsHaveAnExpressionAndCanBeChanged) {
  VarPage page;
  const auto keep = [&](const Result<VarPage>& p) { page = *p; };
  gdb.session.inspect().children(make("a").name, {0, 1}, keep);
  say("photofinish-parts 0 1 - - a", R"(children=[child={exp="1",numchild="3",value="[3]"}])");
  gdb.session.inspect().children(page.children[0].name, {2, 1}, keep);
  say("photofinish-parts 2 1 - 0 a", R"(children=[child={exp="3",numchild="0",value="1"}])");
  std::string path;
  const std::string name = page.children[0].name;
  gdb.session.inspect().pathOf(name, [&](const Result<std::string>& p) { path = *p; });
  say("photofinish-path 0.2 a", "a(3,1)");
  EXPECT_EQ(path, "a(3,1)");
  std::string value;
  gdb.session.inspect().assignVar(name, "1 + 1", [&](const Result<std::string>& v) { value = *v; });
  say("photofinish-assign 0.2 1 a 1 + 1", "2");
  EXPECT_EQ(value, "2");
  const std::size_t before = gdb.sent.size();
  bool deleted = false;
  gdb.session.inspect().deleteVar(name, [&](const Status& status) { deleted = status.ok(); });
  EXPECT_TRUE(deleted);
  EXPECT_EQ(gdb.sent.size(), before) << "GDB has nothing of it";
}

TEST_F(FortranTest, ValuesOfExpressionsComeFromPython) {
  Result<std::string> value = Error{};
  const auto keep = [&](const Result<std::string>& v) { value = v; };
  gdb.session.inspect().evaluate({1, 2}, "s(1)", keep);
  say("photofinish-value s(1)", "8");
  EXPECT_EQ(*value, "8");
  gdb.session.inspect().evaluate({1, 2}, "s(9)", keep);
  say("photofinish-value s(9)", "index 9 is not one of 1:5", "problem");
  ASSERT_FALSE(value.ok());
  EXPECT_EQ(value.error().message, "index 9 is not one of 1:5");
}

TEST_F(FortranTest, WhatIsDamagedIsNoValue) {
  Result<VarObject> object = VarObject{};
  const auto keep = [&](const Result<VarObject>& o) { object = o; };
  gdb.session.inspect().createVar({1, 0}, "x", keep);
  say("photofinish-object - x", "exp=\"x");
  EXPECT_FALSE(object.ok());
  gdb.session.inspect().createVar({1, 0}, "x", keep);
  say("photofinish-object - x", "it is nested too deep", "problem");
  ASSERT_FALSE(object.ok());
  EXPECT_EQ(object.error().message, "it is nested too deep");
  bool failed = false;
  gdb.session.inspect().children("fortran 1", {0, 1},
                                 [&](const Result<VarPage>& page) { failed = !page.ok(); });
  EXPECT_TRUE(failed);
}

TEST_F(FortranTest, FramesOfOtherLanguagesAreGdbs) {
  gdb.session.inspect().variables({1, 0}, VariableDetail::SimpleValues,
                                  [](const Result<std::vector<Variable>>&) {});
  isElsewhere("photofinish-locals");
  EXPECT_TRUE(sentNow("--simple-values"));
  gdb.answer("-stack-list-variables", "^done,variables=[]");
  gdb.session.inspect().createVar({1, 0}, "n", [](const Result<VarObject>&) {});
  isElsewhere("photofinish-object - n");
  EXPECT_TRUE(sentNow("-var-create"));
  gdb.answer("-var-create", R"(^done,name="var1",numchild="0",value="1",type="int")");
  gdb.session.inspect().evaluate({1, 0}, "n", [](const Result<std::string>&) {});
  isElsewhere("photofinish-value n");
  EXPECT_TRUE(sentNow("-data-evaluate-expression"));
}

TEST_F(FortranTest, WhatGdbWouldWatchElsewhereIsRefused) {
  std::vector<bool> answers;
  const auto note = [&](const Status& status) { answers.push_back(status.ok()); };
  gdb.session.inspect().watchable("s(1)", note);
  say("photofinish-watchable s(1)", "");
  gdb.session.inspect().watchable("s(2)", note);
  say("photofinish-watchable s(2)", "GDB cannot watch 's(2)'", "problem");
  gdb.session.inspect().watchable("x", note);
  isElsewhere("photofinish-watchable x");
  EXPECT_EQ(answers, (std::vector<bool>{true, false, true}));
}

/// What holds for a frame does not hold for that of the next stop.
TEST_F(FortranTest, NothingIsAskedOfTheNextStop) {
  bool failed = false;
  gdb.session.inspect().variables(
      {1, 1}, VariableDetail::SimpleValues,
      [&](const Result<std::vector<Variable>>& all) { failed = !all.ok(); });
  gdb.session.run({}, [](const Status&) {});
  EXPECT_TRUE(failed);
  for (const std::string& sent : gdb.sent) {
    EXPECT_EQ(sent.find("-stack-list-variables"), std::string::npos) << sent;
  }
}

TEST_F(InspectorTest, WithoutPythonArraysOfFortranAreRefused) {
  gdb.session.inspect().frames(1, 0, 20, [](const Result<std::vector<Frame>>&) {});
  gdb.answer("-stack-list-frames",
             R"(^done,stack=[frame={level="0",addr="0x10",func="w",file="w.F90",line="3"}])");
  const auto create = [this](const char* type, const char* children) {
    Result<VarObject> object = Error{};
    gdb.session.inspect().createVar({1, 0}, "x", [&](const Result<VarObject>& o) { object = o; });
    gdb.answer("python exec",
               R"(^error,msg="Python scripting is not supported in this copy of GDB.")");
    gdb.answer("-var-create", std::string(R"(^done,name="var1",value="[3]",type=")") + type +
                                  "\",numchild=\"" + children + '"');
    return object.ok();
  };
  EXPECT_FALSE(create("real(kind=8) (6)", "6"));
  EXPECT_FALSE(create("Type cell", "2"));
  EXPECT_TRUE(create("real(kind=8)", "0"));
  EXPECT_TRUE(create("struct cell", "2"));
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
