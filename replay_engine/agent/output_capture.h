// SPDX-License-Identifier: GPL-3.0-or-later
// The program's output, when the session wants it: a pty for stdout (so that the program writes
// whole lines, as on a terminal), a pipe for stderr.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "replay_engine/base/result.h"
#include "replay_engine/base/unique_fd.h"

namespace pf::agent {

class OutputCapture {
 public:
  /// Makes pty and pipe.
  [[nodiscard]] Status open();
  // For the program.
  [[nodiscard]] int programOut() const { return m_programOut.get(); }
  [[nodiscard]] int programErr() const { return m_programErr.get(); }
  /// After the fork: only the program holds its ends now.
  void closeProgramEnds();

  /// For poll(): stream 0 = stdout, 1 = stderr; -1 if closed.
  [[nodiscard]] int fd(std::size_t stream) const { return m_from[stream].get(); }
  [[nodiscard]] bool open(std::size_t stream) const { return m_from[stream].valid(); }
  /// At most one chunk; empty if there is nothing now. Closes the stream at its end.
  [[nodiscard]] std::string read(std::size_t stream);

  /// Copies to our own stdout and stderr: queue, then write when poll() says so.
  void echo(std::size_t stream, const std::string& bytes) { m_echo[stream] += bytes; }
  [[nodiscard]] std::size_t echoQueued(std::size_t stream) const { return m_echo[stream].size(); }
  void writeEcho(std::size_t stream);

 private:
  std::array<UniqueFd, 2> m_from;
  std::array<std::string, 2> m_echo;
  UniqueFd m_programOut;
  UniqueFd m_programErr;
};

}  // namespace pf::agent
