// SPDX-License-Identifier: GPL-3.0-or-later
// What a rank reads of its own Python (replay_engine/cpython/code_place.h), in the interpreters that are put together here.
#include "replay_engine/cpython/code_place.h"

#include <array>
#include <random>
#include <string>

#include <gtest/gtest.h>

#include "mi_bridge/python/tests/fake_interpreter.h"

namespace pf::mi::python {
namespace {

using cpython::CodePlace;
using cpython::Instruction;

class CodePlaceTest : public ::testing::TestWithParam<int> {
 protected:
  /// The code of the frame that is pushed.
  std::uint64_t codeOf(std::uint64_t frame) {
    return readPointer(m_python.memory, frame + m_python.layout.frameCode);
  }
  bool describe(std::uint64_t frame) {
    return cpython::describe(
        m_python.memory, m_python.layout,
        {codeOf(frame), readPointer(m_python.memory, frame + m_python.layout.frameInstruction)},
        m_table, m_place);
  }

  FakeInterpreter m_python{GetParam()};
  std::array<char, 64> m_table{};
  CodePlace m_place;
};

TEST_P(CodePlaceTest, FileFunctionAndLine) {
  ASSERT_TRUE(describe(m_python.push("Worker.run", "/home/me/prog.py", 17, true)));
  EXPECT_EQ(m_place.file.view(), "/home/me/prog.py");
  EXPECT_EQ(m_place.function.view(), "Worker.run");
  EXPECT_EQ(m_place.line, 17);
}

TEST_P(CodePlaceTest, TheInnermostFrameBehindEntries) {
  const auto innermost = [&] {
    return cpython::FrameWalk(m_python.memory, m_python.layout, m_python.thread).next().code;
  };
  EXPECT_EQ(innermost(), 0U);
  const std::uint64_t outer = m_python.push("outer", "a.py", 1, true);
  EXPECT_EQ(innermost(), codeOf(outer));
  const std::uint64_t inner = m_python.push("inner", "a.py", 9, true);
  EXPECT_EQ(innermost(), codeOf(inner));
  if (GetParam() > 11) {  // the interpreter was entered, and has no frame of code yet
    m_python.enter();
    EXPECT_EQ(innermost(), codeOf(inner));
  }
  EXPECT_FALSE(cpython::FrameWalk(m_python.memory, m_python.layout, 0).next().known());
}

TEST_P(CodePlaceTest, AnImportIsWhereItIsWritten) {
  const auto caller = [&] {
    return describeCaller(m_python.memory, m_python.layout, m_python.thread, m_table, m_place);
  };
  EXPECT_FALSE(caller());
  m_python.push("_call", "<frozen importlib._bootstrap>", 241, true);
  EXPECT_FALSE(caller());
  m_python.push("<module>", "prog.py", 4, true);
  m_python.push("_find", "<frozen importlib._bootstrap>", 1176, true);
  m_python.push("_call", "<frozen importlib._bootstrap_external>", 241, false);
  ASSERT_TRUE(caller());
  EXPECT_EQ(m_place.file.view(), "prog.py");
  EXPECT_EQ(m_place.line, 4);
}

TEST_P(CodePlaceTest, AListOfFramesThatDoesNotEnd) {
  const std::uint64_t frame = m_python.push("_call", "<frozen importlib._bootstrap>", 241, false);
  m_python.memory.set(frame + m_python.layout.framePrevious, frame);
  EXPECT_FALSE(describeCaller(m_python.memory, m_python.layout, m_python.thread, m_table, m_place));
}

TEST_P(CodePlaceTest, TheSecondIsNotBehindTheFirst) {
  ASSERT_TRUE(describe(m_python.push("outer", "/a/long/path/of/the/first.py", 3, true)));
  ASSERT_TRUE(describe(m_python.push("f", "b.py", 5, false)));
  EXPECT_EQ(m_place.file.view(), "b.py");
  EXPECT_EQ(m_place.function.view(), "f");
  EXPECT_EQ(m_place.line, 5);
}

TEST_P(CodePlaceTest, WideTextsAreUtf8) {
  const std::uint64_t frame = m_python.push("f", "x.py", 1, true);
  const Layout& layout = m_python.layout;
  // "é€𝄞" in characters of four bytes.
  const std::uint64_t wide = m_python.makeStr(std::string(64, ' '));
  m_python.memory.set(wide + 16, std::uint64_t{3});
  m_python.memory.set(wide + 32, std::uint32_t{4U << 2U | 1U << 5U});
  const std::array<std::uint32_t, 3> text{0xE9, 0x20AC, 0x1D11E};
  m_python.memory.put(wide + layout.compactSize, text.data(), sizeof text);
  m_python.memory.set(codeOf(frame) + layout.codeFile, wide);
  ASSERT_TRUE(describe(frame));
  EXPECT_EQ(m_place.file.view(), "é€𝄞");
}

TEST_P(CodePlaceTest, WhatIsTooLongIsNoFileAndACutFunction) {
  ASSERT_TRUE(describe(m_python.push(std::string(500, 'f'), std::string(300, 'p'), 1, true)));
  EXPECT_EQ(m_place.file.view(), std::string(300, 'p'));
  EXPECT_EQ(m_place.function.view(), std::string(200, 'f'));
  EXPECT_FALSE(describe(m_python.push("f", std::string(301, 'p'), 1, true)));
}

TEST_P(CodePlaceTest, WhatIsNoCodeIsRefused) {
  const std::uint64_t frame = m_python.push("f", "x.py", 1, true);
  const auto refused = [&](std::uint64_t code) {
    return !cpython::describe(m_python.memory, m_python.layout, {code, code + 8}, m_table, m_place);
  };
  EXPECT_TRUE(refused(0));
  EXPECT_TRUE(refused(m_python.makeInt(3)));
  EXPECT_TRUE(refused(codeOf(frame) + 8));
  m_python.memory.set(codeOf(frame) + m_python.layout.codeFile, m_python.makeInt(3));
  EXPECT_TRUE(refused(codeOf(frame)));
}

TEST_P(CodePlaceTest, AnyMemoryIsAccepted) {
  std::mt19937 random(7);
  const std::uint64_t frame = m_python.push("function", "/home/me/prog.py", 17, true);
  const std::map<std::uint64_t, char> whole = m_python.memory.bytes;
  for (int turn = 0; turn < 2000; ++turn) {
    m_python.memory.bytes = whole;
    for (int i = 0; i < 6; ++i) {
      auto at = m_python.memory.bytes.begin();
      std::advance(at, static_cast<std::ptrdiff_t>(random() % whole.size()));
      at->second = static_cast<char>(random());
    }
    if (describe(frame)) {
      EXPECT_FALSE(m_place.file.view().empty());
      EXPECT_GE(m_place.line, 0);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Versions, CodePlaceTest, ::testing::Values(11, 12, 13));

}  // namespace
}  // namespace pf::mi::python
