// SPDX-License-Identifier: MIT
#include "replay_engine/base/allocate_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <ctime>

namespace pf {
namespace {

/// `change()` returns an errno.
template <typename Change>
int withoutSignal(Change change) {
  sigset_t limit;
  sigset_t before;
  sigemptyset(&limit);
  sigaddset(&limit, SIGXFSZ);
  pthread_sigmask(SIG_BLOCK, &limit, &before);
  const int error = change();
  const timespec now{0, 0};
  while (error != 0 && sigtimedwait(&limit, nullptr, &now) == SIGXFSZ) {
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return error;
}

}  // namespace

int allocateFile(int fd, std::uint64_t offset, std::uint64_t size) {
  return withoutSignal(
      [&] { return posix_fallocate(fd, static_cast<off_t>(offset), static_cast<off_t>(size)); });
}

int extendFile(int fd, std::uint64_t size) {
  return withoutSignal([&] { return ftruncate(fd, static_cast<off_t>(size)) == 0 ? 0 : errno; });
}

}  // namespace pf
