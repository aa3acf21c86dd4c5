// SPDX-License-Identifier: MIT
// What /proc tells of this process, without an allocation.
#pragma once

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>

namespace pf {

/// Calls visit(number) for each entry of a directory that is a number: of descriptors, of threads. False: it cannot be read.
template <class Visit>
bool eachNumberIn(const char* path, Visit visit) {
  const int folder = ::open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) {
    return false;
  }
  alignas(std::uint64_t) char names[2048];
  long n = 0;
  while ((n = syscall(SYS_getdents64, folder, names, sizeof names)) > 0) {
    for (long at = 0; at < n;) {
      std::uint16_t size = 0;
      std::memcpy(&size, names + at + 16, sizeof size);
      const char* const name = names + at + 19;
      if (const int number = std::atoi(name); *name >= '0' && *name <= '9' && number != folder) {
        visit(number);
      }
      at += size;
    }
  }
  ::close(folder);
  return n == 0;
}

/// Calls visit(line, cut) for each line of a file; it has the first 500 bytes of long ones. False: it cannot be read.
template <class Visit>
bool eachLineOf(const char* path, Visit visit) {
  const int fd = ::open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) {
    return false;
  }
  char line[501];
  std::size_t used = 0;
  bool cut = false;
  const auto end = [&] {
    line[used] = '\0';
    visit(static_cast<const char*>(line), cut);
    used = 0;
    cut = false;
  };
  char bytes[4096];
  ssize_t n = 0;
  while ((n = ::read(fd, bytes, sizeof bytes)) > 0) {
    for (ssize_t i = 0; i < n; ++i) {
      if (bytes[i] == '\n') {
        end();
      } else if (used + 1 < sizeof line) {
        line[used++] = bytes[i];
      } else {
        cut = true;
      }
    }
  }
  ::close(fd);
  if (used > 0) {
    end();
  }
  return n == 0;
}

}  // namespace pf
