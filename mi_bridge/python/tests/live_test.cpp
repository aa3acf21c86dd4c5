// SPDX-License-Identifier: GPL-3.0-or-later
// Real interpreters say what they execute, and what their variables are; the same is read out of their memory.
#include <fcntl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include <gtest/gtest.h>

#include "mi_bridge/python/frames.h"
#include "mi_bridge/python/parts.h"

namespace pf::mi::python {
namespace {

class ProcessMemory final : public Memory {
 public:
  explicit ProcessMemory(pid_t pid)
      : m_file(open(("/proc/" + std::to_string(pid) + "/mem").c_str(), O_RDONLY | O_CLOEXEC)) {}
  ~ProcessMemory() { close(m_file); }
  ProcessMemory(const ProcessMemory&) = delete;
  ProcessMemory& operator=(const ProcessMemory&) = delete;
  [[nodiscard]] bool read(std::uint64_t address, void* to, std::size_t size) override {
    return pread(m_file, to, size, static_cast<off_t>(address)) == static_cast<ssize_t>(size);
  }

 private:
  int m_file;
};

struct ToldFrame {
  std::string text;
  std::vector<std::string> locals;
  std::vector<std::string> parts;
};

/// tests/reported_frames.py, until the object ends.
class ReportingPython {
 public:
  ReportingPython(const std::string& python, int seed) {
    int in[2];
    int out[2];
    if (pipe(in) != 0 || pipe(out) != 0) {
      return;
    }
    m_pid = fork();
    if (m_pid == 0) {
      dup2(in[0], 0);
      dup2(out[1], 1);
      close(in[1]);
      execlp(python.c_str(), python.c_str(), "-B", PF_REPORTED_FRAMES, std::to_string(seed).c_str(),
             nullptr);
      _exit(127);
    }
    close(in[0]);
    close(out[1]);
    m_go = in[1];
    std::FILE* const lines = fdopen(out[0], "r");
    char* line = nullptr;
    std::size_t size = 0;
    while (!m_ready && getline(&line, &size, lines) > 0) {
      take(line);
    }
    m_ready = m_ready && waits();
    std::free(line);  // NOLINT(cppcoreguidelines-no-malloc)
    std::fclose(lines);
  }
  ~ReportingPython() {
    close(m_go);
    waitpid(m_pid, nullptr, 0);
  }
  ReportingPython(const ReportingPython&) = delete;
  ReportingPython& operator=(const ReportingPython&) = delete;

  [[nodiscard]] bool ready() const { return m_ready; }
  [[nodiscard]] pid_t pid() const { return m_pid; }
  std::uint64_t runtime = 0;
  std::uint64_t version = 0;
  std::map<std::uint64_t, std::vector<ToldFrame>> threads;

 private:
  /// It has come to where it reads its standard input.
  [[nodiscard]] bool waits() const {
    for (int turn = 0; turn < 2000; ++turn) {
      std::ifstream file("/proc/" + std::to_string(m_pid) + "/syscall");
      std::string number;
      std::string descriptor;
      if (file >> number >> descriptor && number == std::to_string(SYS_read) &&
          descriptor == "0x0") {
        return true;
      }
      usleep(5000);
    }
    return false;
  }
  void take(std::string line) {
    line.pop_back();
    const std::string rest = line.substr(line.find_first_of("\t ") + 1);
    if (line.starts_with("RUNTIME\t")) {
      std::istringstream(rest) >> runtime >> version;
    } else if (line.starts_with("THREAD ")) {
      m_last = &threads[std::stoull(rest)];
    } else if (line.starts_with("FRAME\t")) {
      m_last->push_back({rest, {}, {}});
    } else if (line.starts_with("LOCAL\t")) {
      m_last->back().locals.push_back(rest);
    } else if (line.starts_with("PART\t")) {
      m_last->back().parts.push_back(rest);
    }
    m_ready = line == "READY";
  }

  pid_t m_pid = -1;
  int m_go = -1;
  bool m_ready = false;
  std::vector<ToldFrame>* m_last = nullptr;
};

/// Interpreters of this machine. PF_PYTHONS: more, with a colon between.
std::vector<std::string> pythons() {
  std::vector<std::string> all{"/usr/bin/python3"};
  std::istringstream more(std::getenv("PF_PYTHONS") != nullptr ? std::getenv("PF_PYTHONS") : "");
  for (std::string each; std::getline(more, each, ':');) {
    all.push_back(each);
  }
  return all;
}

/// How many were compared.
int compareParts(Memory& memory, const Layout& layout, std::uint64_t frame,
                 const std::vector<std::string>& told) {
  for (const std::string& each : told) {
    const auto path = pathOf(each.substr(0, each.find('\t')));
    EXPECT_TRUE(path) << each;
    const auto value = path ? readPath(memory, layout, frame, *path)
                            : Result<Value>(Error{ErrorCode::Usage, "no path", {}});
    EXPECT_EQ(each.substr(0, each.find('\t') + 1) + (value ? value->text : value.error().message),
              each);
  }
  return static_cast<int>(told.size());
}

int compareThread(Memory& memory, const Layout& layout, std::uint64_t runtime, std::uint64_t ident,
                  const std::vector<ToldFrame>& told) {
  auto frames = readFrames(memory, layout, runtime, {ident, 0});
  EXPECT_TRUE(frames) << (frames ? "" : frames.error().text());
  if (!frames) {
    return 0;
  }
  std::erase_if(*frames, [](const Frame& frame) { return !frame.shown; });
  EXPECT_EQ(frames->size(), told.size());
  int values = 0;
  for (std::size_t i = 0; i < std::min(frames->size(), told.size()); ++i) {
    const Frame& frame = (*frames)[i];
    EXPECT_EQ(frame.function + "\t" + frame.file + "\t" + std::to_string(frame.line), told[i].text);
    if (told[i].locals.empty()) {
      continue;
    }
    const auto locals = readLocals(memory, layout, frame.address, Names::All);
    EXPECT_TRUE(locals);
    std::vector<std::string> texts;
    for (const Variable& each : locals ? *locals : std::vector<Variable>{}) {
      texts.push_back(each.name + "\t" + each.value);
    }
    std::vector<std::string> expected = told[i].locals;
    std::sort(texts.begin(), texts.end());
    std::sort(expected.begin(), expected.end());
    EXPECT_EQ(texts, expected) << frame.function;
    values += static_cast<int>(texts.size());
    values += compareParts(memory, layout, frame.address, told[i].parts);
  }
  return values;
}

TEST(PythonLive, FramesAndVariablesAreThoseThatTheInterpreterTells) {
  for (const std::string& python : pythons()) {
    int values = 0;
    for (int seed = 0; seed < 10; ++seed) {
      SCOPED_TRACE(python + ", seed " + std::to_string(seed));
      const ReportingPython told(python, seed);
      ASSERT_TRUE(told.ready());
      ProcessMemory memory(told.pid());
      const auto layout = layoutOf(memory, told.runtime, told.version);
      ASSERT_TRUE(layout) << layout.error().text();
      ASSERT_EQ(told.threads.size(), 2U);
      for (const auto& [ident, frames] : told.threads) {
        values += compareThread(memory, *layout, told.runtime, ident, frames);
      }
    }
    EXPECT_GT(values, 500) << python;
  }
}

}  // namespace
}  // namespace pf::mi::python

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  if (!std::filesystem::exists("/usr/bin/python3")) {
    std::puts("skipped: no /usr/bin/python3");
    return 77;
  }
  return RUN_ALL_TESTS();
}
