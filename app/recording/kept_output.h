// SPDX-License-Identifier: GPL-3.0-or-later
// What a program prints, kept in memory until it is known whether somebody wants to see it.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>

#include "replay_engine/base/result.h"
#include "replay_engine/base/unique_fd.h"

namespace pf::app {

/// Where it was too long, its beginning and its end.
struct Printed {
  std::string beginning;
  std::uint64_t leftOut = 0;  ///< bytes
  std::string end;
};

/// A thread takes it from a pipe: the program never waits for more than that.
class KeptOutput {
 public:
  /// `most`: bytes of the beginning, and of the end.
  static Result<std::unique_ptr<KeptOutput>> start(std::size_t most);
  ~KeptOutput();
  KeptOutput(const KeptOutput&) = delete;
  KeptOutput& operator=(const KeptOutput&) = delete;

  /// For the program.
  [[nodiscard]] int writeEnd() const { return m_writeEnd.get(); }

  /// What was printed until now. Who still has the pipe is not waited for. Once only.
  Printed take();

 private:
  explicit KeptOutput(std::size_t most) : m_most(most) {}
  void readAll();
  /// As read(2).
  ssize_t readOnce();
  void stop();

  const std::size_t m_most;
  UniqueFd m_readEnd;
  UniqueFd m_writeEnd;
  UniqueFd m_over;  ///< an eventfd
  std::thread m_thread;
  Printed m_printed;  ///< the thread's, while that runs; `end` may be longer than `most` here
};

}  // namespace pf::app
