// SPDX-License-Identifier: MIT
// Where the program reads and writes its files: shared with every copy, so the rank that goes on moves it.
#pragma once

#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstddef>

#include "replay_engine/rank/snapshots/proc_files.h"

namespace pf {

class FileOffsets {
 public:
  static constexpr std::size_t kMost = 64;

  void take() {
    m_count = 0;
    m_all = eachNumberIn("/proc/self/fd", [this](int fd) { add(fd); }) && m_count <= kMost;
  }
  /// Whether there were at most `kMost` of them, and all are kept.
  [[nodiscard]] bool all() const { return m_all; }
  void giveBack() const {
    for (std::size_t i = 0; i < m_count; ++i) {
      ::lseek(m_files[i].fd, m_files[i].offset, SEEK_SET);
    }
  }

 private:
  struct File {
    int fd;
    off_t offset;
  };
  void add(int fd) {
    struct stat info {};
    if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) {
      return;
    }
    if (m_count < kMost) {
      m_files[m_count] = {fd, ::lseek(fd, 0, SEEK_CUR)};
    }
    ++m_count;
  }

  std::array<File, kMost> m_files{};
  std::size_t m_count = 0;
  bool m_all = false;
};

}  // namespace pf
