// SPDX-License-Identifier: GPL-3.0-or-later
#include "replay_engine/rank/fixed_heap/tests/test_thread.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>

#include "replay_engine/rank/fixed_heap/threads.h"

namespace pf::memory {
namespace {

ThreadHeaps* g_owner = nullptr;
test::Calls::As g_as = test::Calls::As::Program;

}  // namespace

ThreadHeaps* ownerOf(const void* /*caller*/, const void* /*frame*/) {
  return g_owner;
}

bool isLibc(const void* /*caller*/) {
  return g_as != test::Calls::As::Program;
}

bool isStreamBuffer(const void* /*caller*/) {
  return g_as == test::Calls::As::StreamBuffer;
}

namespace test {

TestThread::TestThread() {
  constexpr std::uintptr_t kRoom = kTiB / 64;
  static std::uintptr_t next = 18 * kTiB;
  key = next;
  program.range = {next, next, next + kRoom};
  libc.range = {next + kRoom, next + kRoom, next + 2 * kRoom};
  maps = {next + 2 * kRoom, next + 3 * kRoom, next + 3 * kRoom};
  next += 3 * kRoom;
}

void* TestThread::take(std::size_t size, std::size_t alignment, bool* fresh) {
  bool unused = false;
  return program.allocate(*this, size, alignment, fresh != nullptr ? fresh : &unused);
}

std::vector<std::uintptr_t> inAProcess(const std::function<std::vector<std::uintptr_t>()>& made) {
  int ends[2] = {};
  if (::pipe(ends) != 0) {
    std::abort();
  }
  const pid_t child = ::fork();
  if (child == 0) {
    const std::vector<std::uintptr_t> values = made();
    const std::size_t size = values.size() * sizeof values[0];
    _exit(::write(ends[1], values.data(), size) == static_cast<ssize_t>(size) ? 0 : 1);
  }
  ::close(ends[1]);
  std::vector<std::uintptr_t> values;
  for (std::uintptr_t value = 0; ::read(ends[0], &value, sizeof value) == sizeof value;) {
    values.push_back(value);
  }
  ::close(ends[0]);
  ::waitpid(child, nullptr, 0);
  return values;
}

Calls::Calls(ThreadHeaps* owner, As as) : m_owner(g_owner), m_as(g_as) {
  g_owner = owner;
  g_as = as;
}

Calls::~Calls() {
  g_owner = m_owner;
  g_as = m_as;
}

}  // namespace test
}  // namespace pf::memory
