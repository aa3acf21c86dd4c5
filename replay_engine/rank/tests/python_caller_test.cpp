// SPDX-License-Identifier: MIT
// Calls of MPI from Python: the line is that of the innermost frame. The interpreter is one of version 3.11 that is put
// together here; those that there are take part in tests/e2e/python_test.py.
#include "replay_engine/rank/engine/python_caller.h"

#include <array>
#include <cstring>
#include <deque>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "replay_engine/rank/tests/rank_run.h"

namespace {
void* g_thread = nullptr;  ///< of the interpreter; null: it knows no thread
}

// What CPython exports. NOLINTBEGIN
#define PF_EXPORTED __attribute__((visibility("default")))
extern "C" {
PF_EXPORTED std::array<std::uint64_t, 128> _PyRuntime{};
PF_EXPORTED std::uint64_t Py_Version = 0x030B02F0;
PF_EXPORTED void* PyGILState_GetThisThreadState();
}
void* PyGILState_GetThisThreadState() {
  return g_thread;
}
// NOLINTEND

namespace pf {
namespace {

/// Structures of bytes, by offset.
class Bytes {
 public:
  explicit Bytes(std::size_t size) : m_bytes(size) {}
  template <typename T>
  Bytes& set(std::size_t at, T value) {
    std::memcpy(m_bytes.data() + at, &value, sizeof value);
    return *this;
  }
  Bytes& text(std::size_t at, const std::string& value) {
    std::memcpy(m_bytes.data() + at, value.data(), value.size());
    return *this;
  }
  char* data() { return m_bytes.data(); }

 private:
  std::vector<char> m_bytes;
};

/// An interpreter of 3.11, of one thread with one frame; offsets as cpython/layout.cpp has them.
class Interpreter {
 public:
  Interpreter() {
    m_interpreter.set(40, static_cast<void*>(_PyRuntime.data()));
    m_thread.set(16, m_interpreter.data()).set(56, m_cframe.data());
    m_cframe.set(8, m_frame.data());
  }

  /// The frame executes an instruction of a function whose lines are one each, from `line` on.
  void stand(const std::string& file, const std::string& function, int line, int instruction) {
    m_code.set(8, type("code", 0)).set(72, line).set(112, str(file)).set(128, str(function));
    // Entries of one instruction, the first on the function's line, each other one line below.
    std::string table{"\xD0\0\0", 3};
    for (int i = 0; i < 20; ++i) {
      table += std::string{"\xD8\0\0", 3};
    }
    m_code.set(136, object("bytes", 27, 16, std::uint64_t{table.size()}, 32, table));
    m_frame.set(32, m_code.data()).set(56, m_code.data() + 184 + 2 * instruction);
    m_frame.set(69, std::uint8_t{0});
    g_thread = m_thread.data();
  }

 private:
  char* type(const std::string& name, unsigned flag) {
    char* const text = m_made.emplace_back(64).text(0, name).data();
    return m_made.emplace_back(256).set(24, text).set(168, std::uint64_t{1} << flag).data();
  }
  char* object(const std::string& of, unsigned flag, std::size_t sizeAt, std::uint64_t size,
               std::size_t at, const std::string& contents) {
    return m_made.emplace_back(at + contents.size() + 1)
        .set(8, type(of, flag))
        .set(sizeAt, size)
        .text(at, contents)
        .data();
  }
  char* str(const std::string& text) {
    char* const made = object("str", 28, 16, text.size(), 48, text);
    const std::uint32_t state = 1U << 2U | 1U << 5U | 1U << 6U;
    std::memcpy(made + 32, &state, sizeof state);
    return made;
  }

  Bytes m_interpreter{4096};
  Bytes m_thread{512};
  Bytes m_cframe{64};
  Bytes m_frame{128};
  Bytes m_code{512};
  std::deque<Bytes> m_made;
};

/// "MPI_Barrier's line" of each event.
std::string lines(const test::RankRun& run) {
  const RankLog log = test::logOf(run);
  std::string all;
  for (const Event& event : log.history.events) {
    const LoggedSite& site = log.sites.at(event.site);
    all += site.file == kNone ? "-"
                              : log.sourceFiles.at(site.file) + ":" + std::to_string(site.line) +
                                    " " + site.function;
    all += ", ";
  }
  return all;
}

TEST(PythonCaller, EachLineIsAPlaceOfItsOwn) {
  Interpreter python;
  const test::RankRun run = test::run(
      {},
      [&] {
        for (const int instruction : {0, 3, 0}) {
          python.stand("/home/me/prog.py", "main", 10, instruction);
          MPI_Barrier(MPI_COMM_SELF);
        }
        python.stand("/home/me/other.py", "Worker.run", 10, 0);  // where the other code lay
        MPI_Barrier(MPI_COMM_SELF);
        g_thread = nullptr;  // a thread that is not Python's
        MPI_Barrier(MPI_COMM_SELF);
      },
      {.mode = kRecordEvents,
       .early = [&] { python.stand("/home/me/prog.py", "<module>", 1, 0); }});
  ASSERT_EQ(run.ending, test::Ending::Finished);
  EXPECT_EQ(lines(run),
            "/home/me/prog.py:1 <module>, /home/me/prog.py:10 main, /home/me/prog.py:13 main, "
            "/home/me/prog.py:10 main, /home/me/other.py:10 Worker.run, -, -, ");
}

/// exec() in a loop: what was first keeps its line, what comes late has the library's place, none has another's line.
TEST(PythonCaller, CodeThatIsMadeAnewEachTime) {
  Interpreter python;
  constexpr int kTimes = 3000;
  const test::RankRun run = test::run(
      {},
      [&] {
        for (int i = 1; i <= kTimes; ++i) {
          python.stand("made.py", "f", i, 0);
          MPI_Barrier(MPI_COMM_SELF);
        }
        g_thread = nullptr;
        MPI_Barrier(MPI_COMM_WORLD);
      },
      {.mode = kRecordEvents, .early = [&] { python.stand("made.py", "<module>", 1, 0); }});
  ASSERT_EQ(run.ending, test::Ending::Finished);
  const RankLog log = test::logOf(run);
  ASSERT_EQ(log.history.events.size(), std::size_t{kTimes} + 3);
  int known = 0;
  for (int i = 1; i <= kTimes; ++i) {
    const LoggedSite& site = log.sites.at(log.history.events[static_cast<std::size_t>(i)].site);
    known += site.file != kNone ? 1 : 0;
    EXPECT_TRUE(site.file == kNone || site.line == static_cast<std::uint32_t>(i)) << i;
  }
  EXPECT_EQ(known, 2047);  // and MPI_Init
  const LoggedSite& native = log.sites.at(log.history.events[kTimes + 1].site);
  EXPECT_EQ(native.file, kNone);
}

TEST(PythonCaller, AnInterpreterOfAnotherVersionIsLeftAlone) {
  Interpreter python;
  const test::RankRun run = test::run({}, [&] { MPI_Barrier(MPI_COMM_SELF); },
                                      {.mode = kRecordEvents, .early = [&] {
                                         Py_Version = 0x030A02F0;
                                         python.stand("/home/me/prog.py", "main", 10, 0);
                                       }});
  ASSERT_EQ(run.ending, test::Ending::Finished);
  EXPECT_EQ(lines(run), "-, -, -, ");
}

TEST(PythonCaller, AThreadOfAnotherInterpreterIsNotRead) {
  Interpreter python;
  const test::RankRun run = test::run({}, [&] { MPI_Barrier(MPI_COMM_SELF); },
                                      {.mode = kRecordEvents, .early = [&] {
                                         python.stand("/home/me/prog.py", "main", 10, 0);
                                         g_thread = static_cast<char*>(g_thread) + 8;
                                       }});
  ASSERT_EQ(run.ending, test::Ending::Finished);
  EXPECT_EQ(lines(run), "-, -, -, ");
}

}  // namespace
}  // namespace pf
