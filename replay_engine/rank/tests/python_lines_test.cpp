// SPDX-License-Identifier: MIT
// Lines that a debugger wants, and its steps: a CPython that is put together here tells of calls, lines and returns. Real
// ones take part in tests/e2e/python_lines_test.py.
#include "replay_engine/rank/engine/python_lines.h"

#include <unistd.h>

#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace {

struct FakeFrame {
  std::string file;
  int line = 0;
  long flags = 0;
};

using Trace = int (*)(void*, void*, int, void*);
Trace g_trace = nullptr;
int g_locks = 0;  ///< of the interpreter, and how often it was taken
int g_timesLocked = 0;
bool g_ended = false;  ///< the interpreter is no more
bool g_tracesItself = false;
bool g_raises = false;     ///< an exception is on its way
int g_conditionValue = 1;  ///< of conditions; below 0: they fail
std::string g_condition;   ///< the last one
int g_owned = 0;
std::vector<std::uint64_t> g_stops;  ///< `reached` at each

}  // namespace

// NOLINTBEGIN: what CPython exports
#define PF_EXPORTED __attribute__((visibility("default")))
extern "C" {
PF_EXPORTED int _Py_NoneStruct = 0;
PF_EXPORTED int Py_IsInitialized() {
  return g_ended ? 0 : 1;
}
PF_EXPORTED void* PyGILState_GetThisThreadState() {
  return &g_locks;
}
PF_EXPORTED int PyGILState_Ensure() {
  ++g_timesLocked;
  return g_locks++;
}
PF_EXPORTED void PyGILState_Release(int before) {
  EXPECT_EQ(--g_locks, before);
}
PF_EXPORTED void PyEval_SetTrace(Trace trace, void*) {
  EXPECT_EQ(g_locks, 1);
  g_trace = trace;
}
PF_EXPORTED int PyFrame_GetLineNumber(void* frame) {
  return static_cast<FakeFrame*>(frame)->line;
}
PF_EXPORTED void* PyFrame_GetCode(void* frame) {
  ++g_owned;
  return frame;
}
PF_EXPORTED void* PyFrame_GetGlobals(void* frame) {
  ++g_owned;
  return frame;
}
PF_EXPORTED void* PyFrame_GetLocals(void* frame) {
  ++g_owned;
  return frame;
}
PF_EXPORTED void* PyObject_GetAttrString(void* code, const char* name) {
  EXPECT_TRUE(std::strcmp(name, "co_filename") == 0 || std::strcmp(name, "co_flags") == 0);
  ++g_owned;
  return code;
}
PF_EXPORTED const char* PyUnicode_AsUTF8(void* name) {
  return static_cast<FakeFrame*>(name)->file.c_str();
}
PF_EXPORTED long PyLong_AsLong(void* flags) {
  return static_cast<FakeFrame*>(flags)->flags;
}
PF_EXPORTED void Py_DecRef(void*) {
  --g_owned;
}
PF_EXPORTED void* PySys_GetObject(const char* name) {
  EXPECT_STREQ(name, "gettrace");
  return &g_tracesItself;
}
PF_EXPORTED void* PyObject_CallNoArgs(void*) {
  ++g_owned;
  return g_tracesItself ? static_cast<void*>(&g_tracesItself) : &_Py_NoneStruct;
}
PF_EXPORTED void* Py_CompileString(const char* text, const char*, int) {
  g_condition = text;
  ++g_owned;
  return &g_condition;
}
PF_EXPORTED void* PyEval_EvalCode(void*, void*, void*) {
  ++g_owned;
  return &g_condition;
}
PF_EXPORTED int PyObject_IsTrue(void*) {
  return g_conditionValue;
}
PF_EXPORTED void* PyErr_Occurred() {
  return g_raises ? &g_raises : nullptr;
}
PF_EXPORTED void PyErr_Clear() {
  EXPECT_FALSE(g_raises);
}
void pf_python_line() {
  const std::uint64_t reached = pf_python.reached;
  g_stops.push_back(reached);
}
}
// NOLINTEND

namespace pf {
namespace {

using cpython::LineStep;

constexpr std::uint64_t kStep = std::uint64_t{1} << cpython::kStepBit;

class PythonLinesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::memset(const_cast<cpython::LineStops*>(&pf_python), 0, sizeof pf_python);
  }
  void TearDown() override {
    pf_python.wanted = 0;
    pf_python.step = 0;
    g_tracesItself = false;
    g_conditionValue = 1;
    event();
    EXPECT_EQ(g_trace, nullptr);
    EXPECT_EQ(g_owned, 0);
    g_stops.clear();
  }

  static void event() { lookAtPythonLines(); }
  static void want(std::size_t place, const std::string& file, unsigned line,
                   const std::string& condition = {}) {
    auto& stops = const_cast<cpython::LineStops&>(pf_python);
    std::strcpy(stops.places[place].file, file.c_str());
    std::strcpy(stops.places[place].condition, condition.c_str());
    stops.lines[place] = line;
    pf_python.wanted = 1;
  }
  static void step(LineStep step, int outer = 0) {
    pf_python.step = static_cast<std::uint32_t>(step);
    pf_python.stepOuter = outer;
    pf_python.stepIsNew = 1;
  }
  static void tell(int what, const std::string& file, int line, long flags = 0) {
    FakeFrame frame{file, line, flags};
    ASSERT_NE(g_trace, nullptr);
    EXPECT_EQ(g_trace(nullptr, &frame, what, nullptr), 0);
  }
  static void call() { tell(0, "/src/a.py", 1); }
  static void leave(long flags = 0) { tell(3, "/src/a.py", 1, flags); }
  /// What the debugger is told at this line; 0: it is not stopped.
  static std::uint64_t at(int line, const std::string& file = "/src/a.py") {
    g_stops.clear();
    tell(2, file, line);
    return g_stops.empty() ? 0 : g_stops.front();
  }
};

TEST_F(PythonLinesTest, NothingIsTracedWhileNothingIsWanted) {
  event();
  EXPECT_EQ(g_trace, nullptr);
  want(0, "/src/a.py", 7);
  event();
  ASSERT_NE(g_trace, nullptr);
  EXPECT_EQ(pf_python.telling, static_cast<std::uint32_t>(getpid()));
  EXPECT_EQ(g_timesLocked, 1);
  (void)at(6);
  event();
  EXPECT_EQ(g_timesLocked, 1) << "it is heard: there is nothing to do";
  pf_python.wanted = 0;
  event();
  EXPECT_EQ(g_trace, nullptr);
  EXPECT_EQ(pf_python.telling, 0U);
}

TEST_F(PythonLinesTest, AnExceptionOnItsWayIsLetPass) {
  want(0, "/src/a.py", 7);
  g_raises = true;
  event();
  EXPECT_EQ(g_trace, nullptr);
  g_raises = false;
  event();
  EXPECT_NE(g_trace, nullptr);
}

TEST_F(PythonLinesTest, AnotherThreadIsNotTraced) {
  want(0, "/src/a.py", 7);
  std::thread([] { event(); }).join();
  EXPECT_EQ(g_trace, nullptr);
  event();
  EXPECT_NE(g_trace, nullptr);
}

TEST_F(PythonLinesTest, PathsAreComparedWithoutTheirDots) {
  want(0, "/p/lib.py", 7);
  event();
  for (const char* same : {"/p/tests/../lib.py", "/p/./lib.py", "/p/a/b/../../lib.py", "lib.py",
                           "./lib.py", "/../p/lib.py", "x/../lib.py"}) {
    EXPECT_EQ(at(7, same), 1U) << same;
  }
  for (const char* other :
       {"/p/lib.py/..", "../lib.py", "/q/../lib.py", "/p/../lib.py", "..", "/"}) {
    EXPECT_EQ(at(7, other), 0U) << other;
  }
  want(0, "../../lib.py", 7);
  EXPECT_EQ(at(7, "/q/../../lib.py"), 0U);
  EXPECT_EQ(at(7, "a/../../../lib.py"), 1U);
}

TEST_F(PythonLinesTest, AChildHasNone) {
  want(0, "/src/a.py", 7);
  event();
  forgetPythonLines();
  EXPECT_EQ(at(7), 0U);
}

TEST_F(PythonLinesTest, StopsAtTheLinesOfTheFilesThatAreMeant) {
  want(0, "/src/a.py", 7);
  want(5, "lib/b.py", 7);
  want(62, "/src/a.py", 7);
  event();
  EXPECT_EQ(at(6), 0U);
  EXPECT_EQ(at(7), (std::uint64_t{1} << 62U) | 1U);
  EXPECT_EQ(at(7, "/usr/lib/b.py"), std::uint64_t{1} << 5U);
  EXPECT_EQ(at(7, "b.py"), std::uint64_t{1} << 5U);
  EXPECT_EQ(at(7, "/usr/mylib/b.py"), 0U);
  EXPECT_EQ(at(7, "a.py"), (std::uint64_t{1} << 62U) | 1U);
  EXPECT_EQ(at(7, "ba.py"), 0U);
  EXPECT_EQ(at(7, ""), 0U);
}

TEST_F(PythonLinesTest, ConditionsArePythonsAndAFailureStops) {
  want(1, "/src/a.py", 7, "i > 1");
  event();
  g_conditionValue = 0;
  EXPECT_EQ(at(7), 0U);
  EXPECT_EQ(g_condition, "i > 1");
  g_conditionValue = 1;
  EXPECT_EQ(at(7), 2U);
  g_conditionValue = -1;
  EXPECT_EQ(at(7), 2U);
}

TEST_F(PythonLinesTest, IntoIsTheNextLineButOfImports) {
  step(LineStep::Into);
  event();
  EXPECT_EQ(at(9, "<frozen importlib._bootstrap>"), 0U);
  call();
  EXPECT_EQ(at(3), kStep);
  EXPECT_EQ(at(4), 0U);
}

TEST_F(PythonLinesTest, OverStaysInTheFrameAndGoesOnInItsCaller) {
  want(0, "/src/other.py", 1);
  event();
  step(LineStep::Over);
  call();
  EXPECT_EQ(at(3), 0U);
  leave();
  EXPECT_EQ(at(8), kStep);
  step(LineStep::Over);
  leave();
  EXPECT_EQ(at(20), kStep);
}

TEST_F(PythonLinesTest, WhatTheCallerCallsNextIsNotTheEndOfAStep) {
  want(0, "/src/other.py", 1);
  event();
  call();  // f() of f() + g()
  step(LineStep::Over);
  leave();
  call();
  EXPECT_EQ(at(3), 0U) << "in g()";
  leave();
  EXPECT_EQ(at(4), kStep);
  // h() is `return f()`, and its caller does h() + k().
  call();
  call();
  step(LineStep::Out);
  leave();
  leave();
  call();
  EXPECT_EQ(at(5), 0U) << "in k()";
  leave();
  EXPECT_EQ(at(6), kStep);
}

TEST_F(PythonLinesTest, AGeneratorIsGoneOnWithAfterItsYield) {
  want(0, "/src/other.py", 1);
  event();
  call();
  step(LineStep::Over);
  leave(0x20);
  call();
  EXPECT_EQ(at(9), kStep);
  leave();
}

TEST_F(PythonLinesTest, OutIsTheNextLineOfTheCaller) {
  want(0, "/src/other.py", 1);
  event();
  call();
  call();
  step(LineStep::Out);
  EXPECT_EQ(at(3), 0U);
  leave();
  EXPECT_EQ(at(4), kStep);
  call();
  step(LineStep::Out, 1);  // of the frame below
  EXPECT_EQ(at(3), 0U);
  leave();
  EXPECT_EQ(at(4), 0U);
  leave();
  EXPECT_EQ(at(5), kStep);
}

TEST_F(PythonLinesTest, AStepEndsAtABreakpointAsWell) {
  want(3, "/src/a.py", 7);
  event();
  step(LineStep::Over);
  EXPECT_EQ(at(7), kStep | 8U);
  EXPECT_EQ(at(7), 8U);
}

TEST_F(PythonLinesTest, AProgramsOwnTraceFunctionStays) {
  g_tracesItself = true;
  want(0, "/src/a.py", 7);
  event();
  EXPECT_EQ(g_trace, nullptr);
  g_tracesItself = false;
  event();
  EXPECT_NE(g_trace, nullptr) << "it has taken its own away";
}

TEST_F(PythonLinesTest, AnInterpreterThatHasEndedIsLeftAlone) {
  want(0, "/src/a.py", 7);
  event();
  g_ended = true;
  const int before = g_timesLocked;
  event();
  event();
  EXPECT_EQ(pf_python.telling, 0U);
  pf_python.wanted = 0;
  event();
  EXPECT_EQ(g_timesLocked, before);
  g_trace = nullptr;
  g_ended = false;
}

TEST_F(PythonLinesTest, AStepThatWasInterruptedDoesNotDecideTheNext) {
  want(0, "/src/other.py", 1);
  event();
  call();
  step(LineStep::Out);
  call();  // stopped elsewhere, in the function that was called
  step(LineStep::Over);
  EXPECT_EQ(at(3), kStep);
}

TEST_F(PythonLinesTest, AProgramThatTakesThePlaceLaterIsNoticed) {
  want(0, "/src/a.py", 7);
  event();
  g_trace = nullptr;  // by the program
  g_tracesItself = true;
  ::testing::internal::CaptureStderr();
  event();
  EXPECT_EQ(g_trace, nullptr);
  pf_python.wanted = 0;
  g_trace = reinterpret_cast<Trace>(1);
  event();
  EXPECT_EQ(g_trace, reinterpret_cast<Trace>(1)) << "not taken away";
  g_trace = nullptr;
  (void)::testing::internal::GetCapturedStderr();
}

}  // namespace
}  // namespace pf
