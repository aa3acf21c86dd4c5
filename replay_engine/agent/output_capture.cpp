// SPDX-License-Identifier: GPL-3.0-or-later
#include "replay_engine/agent/output_capture.h"

#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "replay_engine/protocol/messages.h"

namespace pf::agent {

Status OutputCapture::open() {
  std::array<char, 64> name{};
  UniqueFd master(::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC));
  if (!master.valid() || ::grantpt(master.get()) != 0 || ::unlockpt(master.get()) != 0 ||
      ::ptsname_r(master.get(), name.data(), name.size()) != 0) {
    return systemError("cannot make a pty for the program's output", errno);
  }
  m_programOut.reset(::open(name.data(), O_RDWR | O_NOCTTY | O_CLOEXEC));
  std::array<int, 2> pipe{-1, -1};
  if (!m_programOut.valid() || ::pipe2(pipe.data(), O_CLOEXEC) != 0) {
    return systemError("cannot open a pty for the program's output", errno);
  }
  termios mode{};
  ::tcgetattr(m_programOut.get(), &mode);
  ::cfmakeraw(&mode);  // bytes go through as they are
  ::tcsetattr(m_programOut.get(), TCSANOW, &mode);
  m_programErr.reset(pipe[1]);
  m_from[0] = std::move(master);
  m_from[1].reset(pipe[0]);
  for (const UniqueFd& fd : m_from) {
    ::fcntl(fd.get(), F_SETFL, ::fcntl(fd.get(), F_GETFL) | O_NONBLOCK);
  }
  return {};
}

void OutputCapture::closeProgramEnds() {
  m_programOut.reset();
  m_programErr.reset();
}

std::string OutputCapture::read(std::size_t stream) {
  std::string bytes(protocol::kMaxChunk, '\0');
  ssize_t n = -1;
  do {
    n = ::read(m_from[stream].get(), bytes.data(), bytes.size());
  } while (n < 0 && errno == EINTR);
  if (n == 0 || (n < 0 && errno != EAGAIN)) {  // a pty ends with EIO
    m_from[stream].reset();
  }
  bytes.resize(n > 0 ? static_cast<std::size_t>(n) : 0);
  return bytes;
}

/// Writes no more than a pipe takes without blocking once it is ready.
void OutputCapture::writeEcho(std::size_t stream) {
  std::string& queue = m_echo[stream];
  const std::size_t size = std::min<std::size_t>(queue.size(), PIPE_BUF);
  const int fd = stream == 0 ? STDOUT_FILENO : STDERR_FILENO;
  const ssize_t n = ::write(fd, queue.data(), size);
  if (n > 0) {
    queue.erase(0, static_cast<std::size_t>(n));
  } else if (n < 0 && errno != EINTR && errno != EAGAIN) {
    queue.clear();  // nobody reads any more
  }
}

}  // namespace pf::agent
