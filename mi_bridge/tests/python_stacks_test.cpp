// SPDX-License-Identifier: GPL-3.0-or-later
#include "mi_bridge/python_stacks.h"

#include <gtest/gtest.h>

#include "mi_bridge/python/tests/fake_interpreter.h"
#include "mi_bridge/tests/support/fakes.h"

namespace pf::mi::test {
namespace {

Frame native(int level, const std::string& function, const std::string& from = {}, int line = 0,
             const std::string& file = {}) {
  Frame frame;
  frame.level = frame.gdbLevel = level;
  frame.address = 0x1000U + static_cast<unsigned>(level);
  frame.function = function;
  frame.from = from;
  frame.line = line;
  frame.file = frame.fullname = file;
  return frame;
}

python::Frame inPython(const std::string& function, bool entry, bool shown = true) {
  return {0x100 + function.size(), function, "/src/a.py", 7, shown, entry};
}

std::vector<std::string> functions(const std::vector<Frame>& frames) {
  std::vector<std::string> out;
  for (const Frame& frame : frames) {
    out.push_back(std::to_string(frame.level) + "/" + std::to_string(frame.gdbLevel) + " " +
                  frame.function);
  }
  return out;
}

using Texts = std::vector<std::string>;

const std::vector<Frame> kNative{
    native(0, "MPI_Recv", "/l/libphotofinish_mpi.so"),
    native(1, "??", "/l/MPI.cpython-311-x86_64-linux-gnu.so", 99, "src/MPI.c"),
    native(2, "cfunction_call"),
    native(3, "_PyEval_EvalFrameDefault"),
    native(4, "PyObject_CallOneArg"),
    native(5, "slow_sort", "/l/extension.so", 12, "/src/extension.c"),
    native(6, "_PyEval_EvalFrameDefault"),
    native(7, "Py_RunMain"),
    native(8, "__libc_start_main", "/l/libc.so.6"),
};

TEST(PythonStacks, TheInterpretersFramesBecomePythons) {
  const std::vector<Frame> mixed =
      mixFrames(kNative, {inPython("inner", false), inPython("key", true), inPython("main", false),
                          inPython("<module>", true)});
  EXPECT_EQ(functions(mixed),
            (Texts{"0/0 MPI_Recv", "1/1 ??", "2/3 inner", "3/3 key", "4/5 slow_sort", "5/6 main",
                   "6/6 <module>", "7/8 __libc_start_main"}));
  EXPECT_EQ(mixed[3].fullname, "/src/a.py");
  EXPECT_EQ(mixed[3].line, 7);
  EXPECT_EQ(firstUserFrame(mixed), 2U) << "not mpi4py's, although its lines are known";
  EXPECT_EQ(firstShownFrame(mixed), 0U);
  EXPECT_EQ(refOf(2, mixed[3]).level, 3);
  EXPECT_EQ(refOf(2, mixed[3]).python, mixed[3].python);
}

TEST(PythonStacks, AFrameThatPythonDoesNotShowIsNotShown) {
  const std::vector<Frame> mixed = mixFrames(
      kNative, {inPython("new", true, false), inPython("main", false), inPython("", true, false)});
  EXPECT_EQ(functions(mixed), (Texts{"0/0 MPI_Recv", "1/1 ??", "2/5 slow_sort", "3/6 main",
                                     "4/8 __libc_start_main"}));
}

TEST(PythonStacks, ACallThatExecutesNothingYetStaysNative) {
  const std::vector<Frame> mixed = mixFrames(kNative, {inPython("main", true)});
  EXPECT_EQ(functions(mixed), (Texts{"0/0 MPI_Recv", "1/1 ??", "2/3 _PyEval_EvalFrameDefault",
                                     "3/5 slow_sort", "4/6 main", "5/8 __libc_start_main"}));
}

TEST(PythonStacks, WithoutPythonAllStaysAsItIs) {
  EXPECT_EQ(mixFrames(kNative, {}), kNative);
  const std::vector<Frame> none{native(0, "main")};
  EXPECT_EQ(mixFrames(none, {inPython("main", true)}), none);
}

TEST(PythonStacks, OnlyTheInterpretersModuleIsFolded) {
  std::vector<Frame> embedded = kNative;
  for (const std::size_t i : {2U, 3U, 4U, 6U}) {
    embedded[i].from = "/l/libpython3.11.so.1.0";
  }
  embedded[7] = native(7, "main", {}, 40, "/src/host.c");
  const std::vector<Frame> mixed = mixFrames(embedded, {inPython("f", true), inPython("g", true)});
  EXPECT_EQ(functions(mixed), (Texts{"0/0 MPI_Recv", "1/1 ??", "2/3 f", "3/5 slow_sort", "4/6 g",
                                     "5/7 main", "6/8 __libc_start_main"}));
}

TEST(PythonStacks, AboveAnImportTheUsersLineComesFirst) {
  std::vector<Frame> mixed =
      mixFrames(kNative, {inPython("_find_and_load", true), inPython("<module>", true)});
  mixed[2].file = "<frozen importlib._bootstrap>";
  EXPECT_EQ(firstUserFrame(mixed), 3U) << "the extension, whose source is known";
}

/// A GDB that answers what a stack of Python asks for, out of a made-up interpreter.
class PythonSession : public testing::Test {
 protected:
  PythonSession() : m_python(11) {
    EXPECT_EQ(m_python.runtime, 0x10000U);
    m_python.push("main", "/src/a.py", 20, true, {{"x", m_python.makeInt(7)}});
    m_gdb.attached();
  }
  void askStack() {
    m_gdb.session.inspect().frames(1, 0, 63, [this](const Result<std::vector<Frame>>& frames) {
      m_asked = true;
      m_error = frames ? "" : frames.error().message;
      m_frames = frames ? *frames : std::vector<Frame>();
    });
    m_gdb.answer(
        "-stack-list-frames",
        R"(^done,stack=[frame={level="0",addr="0x1",func="_PyEval_EvalFrameDefault"},frame={level="1",addr="0x2",func="_start"}])");
    m_gdb.answer("-thread-info 1",
                 R"x(^done,threads=[{id="1",target-id="Thread 0x7f0000001000 (LWP 5)"}])x");
  }
  void answerSymbols(const std::string& version) {
    m_gdb.answer("-data-read-memory-bytes &_PyRuntime 8",
                 R"(^done,memory=[{begin="0x10000",contents="0000000000000000"}])");
    m_gdb.answer("-data-read-memory-bytes &Py_Version 8",
                 R"(^done,memory=[{begin="0x200000",contents=")" + version + R"(00000000"}])");
  }
  /// Pages, until nothing is asked for any more.
  void answerPages() {
    constexpr std::string_view kRead = "-data-read-memory-bytes ";
    for (; m_seen < m_gdb.sent.size() && !m_asked; ++m_seen) {
      const std::string line = m_gdb.sent[m_seen];
      const auto at = line.find(kRead);
      if (at != std::string::npos && line[at + kRead.size()] != '&') {
        m_gdb.line(line.substr(0, at) +
                   m_python.pageAnswer(std::stoull(line.substr(at + kRead.size()))));
      }
    }
  }
  python::FakeInterpreter m_python;
  FakeSession m_gdb;
  std::vector<Frame> m_frames;
  std::string m_error;
  bool m_asked = false;
  std::size_t m_seen = 0;  ///< lines that were sent
};

TEST_F(PythonSession, AStackAndItsVariablesComeThroughGdb) {
  askStack();
  answerSymbols("f0020b03");
  answerPages();
  ASSERT_EQ(m_frames.size(), 1U) << m_error;
  EXPECT_EQ(m_frames[0].function, "main");
  EXPECT_EQ(m_frames[0].line, 20);
  EXPECT_TRUE(m_gdb.session.inspect().pythonProblem().empty());

  m_asked = false;
  std::vector<Variable> variables;
  m_gdb.session.inspect().variables(refOf(1, m_frames[0]), VariableDetail::SimpleValues,
                                    [&](const Result<std::vector<Variable>>& found) {
                                      m_asked = true;
                                      variables = found ? *found : variables;
                                    });
  answerSymbols("f0020b03");
  answerPages();
  EXPECT_EQ(variables, (std::vector<Variable>{{"x", "int", "7", false}}));
}

TEST_F(PythonSession, AValueIsOpenedAndItsPartsToo) {
  const std::uint64_t inner = m_python.makeTuple({m_python.makeInt(5)});
  m_python.push("f", "/src/a.py", 1, false, {{"w", m_python.makeList({inner})}});
  askStack();
  answerSymbols("f0020b03");
  answerPages();
  ASSERT_EQ(m_frames.size(), 2U) << m_error;
  GdbInspector& inspector = m_gdb.session.inspect();
  const auto asking = [this](const std::function<void()>& ask) {
    m_asked = false;
    ask();
    answerSymbols("f0020b03");
    answerPages();
  };
  VarObject object;
  asking([&] {
    inspector.createVar(refOf(1, m_frames[0]), "w[-1]", [&](const Result<VarObject>& made) {
      m_asked = true;
      object = made ? *made : object;
    });
  });
  EXPECT_EQ(object.value, "(5,)");
  EXPECT_EQ(object.type, "tuple");
  EXPECT_EQ(object.children, 1);
  VarPage page;
  asking([&] {
    inspector.children(object.name, {0, 100, 0}, [&](const Result<VarPage>& found) {
      m_asked = true;
      page = found ? *found : page;
    });
  });
  ASSERT_EQ(page.children.size(), 1U);
  EXPECT_EQ(page.children[0].value, "5");
  EXPECT_FALSE(page.children[0].expandable());
  const std::size_t before = m_gdb.sent.size();
  std::string told;
  inspector.pathOf(page.children[0].name, [&](const Result<std::string>& path) { told = *path; });
  EXPECT_EQ(told, "w[-1][0]");
  inspector.assignVar(page.children[0].name, "1", [&](const Result<std::string>& value) {
    told = value ? "" : value.error().message;
  });
  EXPECT_NE(told.find("cannot be changed"), std::string::npos);
  inspector.deleteVar(object.name, [&](const Status& status) { EXPECT_TRUE(status); });
  EXPECT_EQ(m_gdb.sent.size(), before);
}

TEST_F(PythonSession, AnUnknownVersionLeavesNativeFramesAndSaysWhatToDo) {
  askStack();
  answerSymbols("f0000e03");
  EXPECT_EQ(functions(m_frames), (Texts{"0/0 _PyEval_EvalFrameDefault", "1/1 _start"}));
  EXPECT_EQ(m_gdb.session.inspect().pythonProblem(),
            "No Python is shown: the frames of Python 3.14 are not known; run the ranks with "
            "CPython 3.11, 3.12 or 3.13, as "
            "Debian's package python3.");
}

TEST_F(PythonSession, WithoutSymbolsTheRemedyIsNamed) {
  askStack();
  m_gdb.answer("-data-read-memory-bytes &_PyRuntime 8",
               R"(^error,msg="No symbol \"_PyRuntime\" in current context.")");
  m_gdb.answer("-data-read-memory-bytes &Py_Version 8",
               R"(^error,msg="No symbol \"Py_Version\" in current context.")");
  EXPECT_EQ(m_frames.size(), 2U);
  EXPECT_NE(m_gdb.session.inspect().pythonProblem().find("python3-dbg"), std::string::npos);
}

TEST_F(PythonSession, OfALongStackMoreFramesAreAskedFor) {
  std::size_t frames = 0;
  m_gdb.session.inspect().frames(
      1, 0, 1, [&](const Result<std::vector<Frame>>& found) { frames = found->size(); });
  const std::string two =
      R"(^done,stack=[frame={level="0",addr="0x1",func="f"},frame={level="1",addr="0x2",func="_PyEval_EvalFrameDefault"})";
  m_gdb.answer("-stack-list-frames --thread 1 0 1", two + "]");
  m_gdb.answer("-stack-list-frames --thread 1 0 511",
               two + R"(,frame={level="2",addr="0x3",func="main",file="m.c",line="3"}])");
  m_gdb.answer("-thread-info 1",
               R"x(^done,threads=[{id="1",target-id="Thread 0x7f0000001000 (LWP 5)"}])x");
  answerSymbols("f0000e03");
  EXPECT_EQ(frames, 3U);
}

TEST_F(PythonSession, MemoryThatCannotBeReadIsSaidSo) {
  askStack();
  answerSymbols("f0020b03");
  m_gdb.answer("-data-read-memory-bytes", R"(^error,msg="Unable to read memory.")");
  EXPECT_EQ(m_frames.size(), 2U);
  EXPECT_NE(m_gdb.session.inspect().pythonProblem().find("_PyRuntime is not there"),
            std::string::npos);
}

TEST_F(PythonSession, AnInterpreterThatDoesNotExecuteTheThreadIsSaidSo) {
  m_python.memory.set(m_python.interpreter + m_python.layout.threadsHead, std::uint64_t{0});
  askStack();
  answerSymbols("f0020b03");
  answerPages();
  EXPECT_EQ(m_frames.size(), 2U);
  EXPECT_NE(m_gdb.session.inspect().pythonProblem().find("does not know this thread"),
            std::string::npos);
}

TEST_F(PythonSession, ARankThatGoesOnMeanwhileHasNoStack) {
  askStack();
  answerSymbols("f0020b03");
  m_gdb.session.run({RunKind::Continue, 0, {}, 0}, [](const Status&) {});
  EXPECT_TRUE(m_asked);
  EXPECT_NE(m_error, "");
  EXPECT_TRUE(m_gdb.session.inspect().pythonProblem().empty());
}

TEST_F(PythonSession, InAFrameOfPythonOnlyWaysToPartsAreEvaluated) {
  const std::size_t before = m_gdb.sent.size();
  for (const std::string text : {"x + 1", "x = 3", "f()", "", "a.b()", "a[i]", "x\n-gdb-exit"}) {
    std::string error;
    m_gdb.session.inspect().evaluate({1, 3, 0x100}, text, [&](const Result<std::string>& value) {
      error = value ? "" : value.error().message;
    });
    EXPECT_NE(error.find("is no name"), std::string::npos) << text;
  }
  EXPECT_EQ(m_gdb.sent.size(), before);
}

}  // namespace
}  // namespace pf::mi::test
