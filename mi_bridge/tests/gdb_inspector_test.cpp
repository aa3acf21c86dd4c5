// SPDX-License-Identifier: GPL-3.0-or-later
#include "mi_bridge/gdb_inspector.h"

#include <gtest/gtest.h>

#include "mi_bridge/tests/support/fakes.h"

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
  gdb.session.inspect().children("var1", 100, 50, [&](Result<VarPage> p) { page = *p; });
  EXPECT_EQ(gdb.sent[gdb.sent.size() - 2].substr(gdb.sent[gdb.sent.size() - 2].find('-')),
            "-var-set-update-range \"var1\" 0 150\n");
  gdb.answer("-var-list-children --simple-values \"var1\" 100 150",
             R"(^done,numchild="1",children=[child={name="var1.x",exp="x"}],has_more="1")");
  EXPECT_EQ(page.children.size(), 1U);
  EXPECT_TRUE(page.hasMore);
}

TEST_F(InspectorTest, ControlCharactersNeverReachGdb) {
  const std::size_t before = gdb.sent.size();
  int refused = 0;
  const std::string bad = "x\n-gdb-exit";
  const auto count = [&refused](const auto& result) { refused += result.ok() ? 0 : 1; };
  GdbInspector& inspector = gdb.session.inspect();
  inspector.evaluate({}, bad, count);
  inspector.createVar({}, bad, count);
  inspector.children(bad, 0, 1, count);
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

}  // namespace
}  // namespace pf::mi::test
