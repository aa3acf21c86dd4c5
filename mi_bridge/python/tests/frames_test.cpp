// SPDX-License-Identifier: GPL-3.0-or-later
#include "mi_bridge/python/frames.h"

#include <algorithm>
#include <random>

#include <gtest/gtest.h>

#include "mi_bridge/python/objects.h"
#include "mi_bridge/python/paged_memory.h"
#include "mi_bridge/python/tests/fake_interpreter.h"
#include "replay_engine/python_text/text.h"

namespace pf::mi::python {
namespace {

class PythonFrames : public testing::TestWithParam<int> {
 protected:
  PythonFrames() : m_python(GetParam()) {
    m_python.push("<module>", "/src/a.py", 30, true);
    m_python.push("main", "/src/a.py", 20, false);
    m_inner = m_python.push(
        "main.<locals>.<lambda>", "/src/a.py", 10, true,
        {{"x", m_python.makeInt(7)}, {"unset", 0}, {"name", m_python.makeStr("it's")}});
  }
  [[nodiscard]] Result<std::vector<Frame>> read(ThreadKey key = {FakeInterpreter::kPthread, 0}) {
    return readFrames(m_python.memory, m_python.layout, m_python.runtime, key);
  }
  [[nodiscard]] std::string failure() {
    const auto frames = read();
    return frames ? "" : frames.error().message;
  }
  FakeInterpreter m_python;
  std::uint64_t m_inner = 0;
};

TEST_P(PythonFrames, FunctionFileAndLineOfEachFrame) {
  const auto frames = read();
  ASSERT_TRUE(frames) << frames.error().message;
  std::vector<Frame> shown;
  for (const Frame& frame : *frames) {
    if (frame.shown) {
      shown.push_back(frame);
    }
  }
  ASSERT_EQ(shown.size(), 3U);
  EXPECT_EQ(shown[0].function, "main.<locals>.<lambda>");
  EXPECT_EQ(shown[0].file, "/src/a.py");
  EXPECT_EQ(shown[0].line, 10);
  EXPECT_EQ(shown[1].function, "main");
  EXPECT_EQ(shown[1].line, 20);
  EXPECT_EQ(shown[2].function, "<module>");
  EXPECT_EQ(
      std::count_if(frames->begin(), frames->end(), [](const Frame& each) { return each.entry; }),
      2);
  EXPECT_TRUE(frames->back().entry);
}

TEST_P(PythonFrames, AThreadIsFoundByEitherOfItsNumbers) {
  EXPECT_FALSE(read({0, FakeInterpreter::kNative})->empty());
  EXPECT_FALSE(read({0, 0})->empty()) << "there is one only";
  const std::uint64_t other = m_python.memory.make(1024);
  m_python.memory.set(other + m_python.layout.threadInterpreter, m_python.interpreter);
  m_python.memory.set(m_python.thread + m_python.layout.threadNext, other);
  EXPECT_TRUE(read({1, 2})->empty());
  EXPECT_FALSE(read()->empty());
}

TEST_P(PythonFrames, VariablesThatHaveAValue) {
  const auto locals = readLocals(m_python.memory, m_python.layout, m_inner, Names::All);
  ASSERT_TRUE(locals) << locals.error().message;
  EXPECT_EQ(*locals,
            (std::vector<Variable>{{"x", "int", "7", false}, {"name", "str", "\"it's\"", false}}));
}

TEST_P(PythonFrames, ACycleOfFramesIsSaidSo) {
  m_python.memory.set(m_inner + m_python.layout.framePrevious, m_inner);
  EXPECT_NE(failure().find("its list of frames is broken"), std::string::npos) << failure();
}

TEST_P(PythonFrames, AFrameThatLeadsNowhereIsSaidSo) {
  m_python.memory.set(m_inner + m_python.layout.framePrevious, std::uint64_t{0x123450});
  EXPECT_NE(failure().find("its list of frames is broken"), std::string::npos) << failure();
}

TEST_P(PythonFrames, AThreadOfAnotherInterpreterIsSaidSo) {
  m_python.memory.set(m_python.thread + m_python.layout.threadInterpreter, std::uint64_t{8});
  EXPECT_NE(failure().find("a thread does not belong to its interpreter"), std::string::npos)
      << failure();
}

TEST_P(PythonFrames, EndlessListsEnd) {
  m_python.memory.set(m_python.thread + m_python.layout.threadNext, m_python.thread);
  m_python.memory.set(m_python.interpreter + m_python.layout.interpreterNext, m_python.interpreter);
  EXPECT_TRUE(read());
}

TEST_P(PythonFrames, HugeLengthsAreNotFollowed) {
  const std::uint64_t text = m_python.makeStr("abc");
  m_python.memory.set(text + 16, std::uint64_t{1} << 62U);
  const Objects objects(m_python.memory, m_python.layout);
  EXPECT_EQ(objects.valueText(text), "<cannot be read>");
  const std::uint64_t number = m_python.makeInt(1);
  m_python.memory.set(number + 16, std::uint64_t{1} << 63U);
  EXPECT_EQ(objects.valueText(number), "<cannot be read>");
  const std::uint64_t tuple = m_python.makeTuple({text});
  m_python.memory.set(tuple + 16, std::uint64_t{1} << 62U);
  EXPECT_EQ(objects.valueText(tuple), "<cannot be read>");
}

/// Any bytes anywhere: an answer or an error, in bounded time, and no access outside of containers.
TEST_P(PythonFrames, ChangedBytesNeitherHangNorCrash) {
  std::mt19937 random(static_cast<unsigned>(GetParam()));
  std::vector<std::uint64_t> places;
  for (const auto& [address, byte] : m_python.memory.bytes) {
    places.push_back(address);
  }
  const FakeMemory whole = m_python.memory;
  for (int turn = 0; turn < 800; ++turn) {
    m_python.memory = whole;
    for (unsigned i = 0; i < 1 + random() % 8; ++i) {
      const std::uint64_t place = places[random() % places.size()] & ~std::uint64_t{7};
      const std::uint64_t value = random() % 2 != 0 ? places[random() % places.size()]
                                                    : std::uint64_t{random()} << random() % 40;
      m_python.memory.set(place, value);
    }
    const auto frames = read();
    if (frames) {
      EXPECT_LE(frames->size(), kMostFrames);
      for (const Frame& frame : *frames) {
        (void)readLocals(m_python.memory, m_python.layout, frame.address, Names::All);
        (void)readGlobals(m_python.memory, m_python.layout, frame.address, Names::Own);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Versions, PythonFrames, testing::Values(11, 12, 13));

/// Memory that is random, and the same at each reading.
class RandomMemory final : public Memory {
 public:
  explicit RandomMemory(std::uint64_t seed) : m_seed(seed) {}
  [[nodiscard]] bool read(std::uint64_t address, void* to, std::size_t size) override {
    for (std::size_t i = 0; i < size; ++i) {
      std::uint64_t mixed = ((address + i) / 8 + m_seed) * 0x9E3779B97F4A7C15U;
      mixed ^= mixed >> 29U;
      mixed *= 0xBF58476D1CE4E5B9U;
      mixed = mixed >> 17U & 0xFFFF8U;  // pointers lead somewhere
      static_cast<unsigned char*>(to)[i] =
          static_cast<unsigned char>(mixed >> ((address + i) % 8 * 8) & 0xFFU);
    }
    return true;
  }

 private:
  std::uint64_t m_seed;
};

TEST(PythonReader, RandomMemoryIsAnAnswerOrAnError) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    for (const std::uint64_t version : {0x030B02F0U, 0x030C01F0U, 0x030D00F0U}) {
      RandomMemory memory(seed);
      auto layout = layoutOf(memory, 0x5000, version);
      if (!layout) {
        EXPECT_EQ(version >> 16U, 0x030DU) << "random bytes do not describe themselves";
        FakeInterpreter described(13);
        layout = described.layout;
      }
      (void)readFrames(memory, *layout, 0x5000, {seed, seed});
      (void)readLocals(memory, *layout, seed * 64, Names::All);
      const Objects objects(memory, *layout);
      EXPECT_FALSE(objects.valueText(seed * 8 + 4096).empty());
    }
  }
}

TEST(PythonReader, AVersionThatIsNotKnownIsNamedWithWhatToDo) {
  FakeMemory memory;
  const auto error = [&](std::uint64_t version) {
    return layoutOf(memory, 4096, version).error().text();
  };
  EXPECT_EQ(error(0x030E00F0),
            "the frames of Python 3.14 are not known\n  run the ranks with CPython 3.11, 3.12 or "
            "3.13, as Debian's package python3");
  EXPECT_NE(error(0).find("older than 3.11"), std::string::npos);
  EXPECT_NE(error(0x030A00F0).find("3.10"), std::string::npos);
  EXPECT_NE(error(0x0100000000000000U).find("are not known"), std::string::npos);
  EXPECT_NE(error(0x030D00F0).find("does not describe"), std::string::npos);
}

TEST(PythonReader, AFreeThreadedBuildIsNotRead) {
  FakeInterpreter python(13);
  python.memory.set(python.runtime + 16, std::uint64_t{1});
  EXPECT_NE(
      layoutOf(python.memory, python.runtime, python.version).error().message.find("free-threaded"),
      std::string::npos);
}

TEST(PythonText, FloatsAsPythonWritesThem) {
  EXPECT_EQ(python_text::floatText(0.0), "0.0");
  EXPECT_EQ(python_text::floatText(-0.0), "-0.0");
  EXPECT_EQ(python_text::floatText(1e15), "1000000000000000.0");
  EXPECT_EQ(python_text::floatText(1e16), "1e+16");
  EXPECT_EQ(python_text::floatText(0.0001), "0.0001");
  EXPECT_EQ(python_text::floatText(0.00001), "1e-05");
  EXPECT_EQ(python_text::floatText(0.1 + 0.2), "0.30000000000000004");
  EXPECT_EQ(python_text::floatText(5e-324), "5e-324");
}

TEST(PythonText, IntegersOfManyDigits) {
  EXPECT_EQ(python_text::integerText({}, false), "0");
  EXPECT_EQ(python_text::integerText({0, 1}, true), "-1073741824");
  EXPECT_EQ(python_text::integerText({0x3FFFFFFF, 0x3FFFFFFF, 0x3FFFFFFF}, false),
            "1237940039285380274899124223");
}

TEST(PythonText, WhatTurnsATerminalIsEscaped) {
  EXPECT_EQ(python_text::plainText({'a', 0x1B, '[', 0x202E}), "a\\x1b[\\u202e");
  EXPECT_EQ(python_text::quotedText({'\'', '"', '\\'}, true), "'\\'\"\\\\'…");
  EXPECT_EQ(python_text::quotedBytes("\xFF\0a", false), "b'\\xff'");
}

TEST(PagedMemory, WhatIsMissedIsThereTheNextTime) {
  PagedMemory memory(4);
  std::uint64_t value = 0;
  EXPECT_FALSE(memory.read(8192 - 4, &value, sizeof value));
  EXPECT_EQ(memory.takeMissing(), (std::vector<std::uint64_t>{4096, 8192}));
  memory.add(4096, std::string(4096, '\1'));
  memory.add(8192, std::string(4096, '\2'));
  EXPECT_TRUE(memory.read(8192 - 4, &value, sizeof value));
  EXPECT_EQ(value, 0x0202020201010101U);
  EXPECT_TRUE(memory.takeMissing().empty());
}

TEST(PagedMemory, WhatCannotBeReadIsNotAskedForAgain) {
  PagedMemory memory(4);
  std::uint64_t value = 0;
  EXPECT_FALSE(memory.read(4096, &value, sizeof value));
  EXPECT_EQ(memory.takeMissing().size(), 1U);
  memory.add(4096, "too short");
  EXPECT_FALSE(memory.read(4096, &value, sizeof value));
  EXPECT_TRUE(memory.takeMissing().empty());
  EXPECT_FALSE(memory.read(~std::uint64_t{0} - 3, &value, sizeof value))
      << "the end of all addresses";
  EXPECT_FALSE(memory.read(0, &value, sizeof value));
  EXPECT_TRUE(memory.takeMissing().empty());
}

TEST(PagedMemory, NoMorePagesThanAllowed) {
  PagedMemory memory(3);
  std::vector<char> much(10 * PagedMemory::kPage);
  EXPECT_FALSE(memory.read(4096, much.data(), much.size()));
  EXPECT_EQ(memory.takeMissing().size(), 3U);
  EXPECT_TRUE(memory.exhausted());
}

}  // namespace
}  // namespace pf::mi::python
