// SPDX-License-Identifier: GPL-3.0-or-later
#include "replay_engine/agent/python_place.h"

#include <vector>

#include "replay_engine/agent/read_context.h"
#include "replay_engine/base/shown_text.h"
#include "replay_engine/cpython/code_place.h"

namespace pf::agent {
namespace {

class MemoryOfProcess final : public cpython::Memory {
 public:
  explicit MemoryOfProcess(pid_t pid) : m_pid(pid) {}

  [[nodiscard]] bool read(std::uint64_t address, void* to, std::size_t size) override {
    return readMemory(m_pid, address, to, size);
  }

 private:
  pid_t m_pid;
};

}  // namespace

std::string pythonPlaceOf(pid_t pid, const RankPage& page) {
  if (page.pythonRuntime == 0 || page.outermostAt == 0 ||
      page.waitAddress.load(std::memory_order_relaxed) != 0) {
    return {};
  }
  MemoryOfProcess memory(pid);
  cpython::Layout layout;
  cpython::CodePlace place;
  std::vector<char> table(std::size_t{256} << 10U);
  if (findLayout(memory, page.pythonRuntime, page.pythonVersion, layout) !=
          cpython::LayoutProblem::None ||
      !describeCaller(memory, layout, page.pythonThread, table, place)) {
    return {};
  }
  const std::string file(place.file.view());
  std::string text = file.substr(file.rfind('/') + 1);
  if (place.line > 0) {
    text += ":" + std::to_string(place.line);
  }
  if (!place.function.view().empty()) {
    text += " (" + std::string(place.function.view()) + ")";
  }
  return shown(text);
}

}  // namespace pf::agent
