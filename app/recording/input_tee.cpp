// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/recording/input_tee.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

namespace pf::app {

Result<InputTee> InputTee::start(const std::string& copy, RepeatedInput* repeated) {
  InputTee tee;
  tee.m_repeated = repeated;
  tee.m_path = copy;
  tee.m_copy.reset(open(copy.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!tee.m_copy.valid()) {
    return systemError("cannot make " + copy, errno);
  }
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) {
    return systemError("cannot make a pipe", errno);
  }
  tee.m_launcherEnd.reset(ends[0]);
  tee.m_pipe.reset(ends[1]);
  fcntl(ends[1], F_SETFL, O_NONBLOCK);
  return tee;
}

pollfd InputTee::waiting() const {
  if (!m_pipe.valid()) {
    return {-1, 0, 0};
  }
  if (!m_pending.empty()) {
    return {m_pipe.get(), POLLOUT, 0};
  }
  // In the background of a terminal, to read would stop us.
  const bool background = isatty(STDIN_FILENO) != 0 && tcgetpgrp(STDIN_FILENO) != getpgrp();
  const int source = m_repeated != nullptr ? m_repeated->source() : STDIN_FILENO;
  return {background ? -1 : source, POLLIN, 0};
}

void InputTee::pump() {
  if (!m_pipe.valid()) {
    return;
  }
  if (m_pending.empty()) {
    read();
    return;
  }
  const ssize_t n = write(m_pipe.get(), m_pending.data(), m_pending.size());
  if (n >= 0) {
    m_pending.erase(m_pending.begin(), m_pending.begin() + n);
  } else if (errno != EAGAIN && errno != EINTR) {
    m_pipe.reset();  // nobody reads any more
  }
}

void InputTee::read() {
  m_pending.resize(std::size_t{64} << 10);
  const ssize_t n = m_repeated != nullptr
                        ? m_repeated->read(m_pending.data(), m_pending.size())
                        : ::read(STDIN_FILENO, m_pending.data(), m_pending.size());
  if (n < 0 && (errno == EAGAIN || errno == EINTR)) {
    m_pending.clear();
    return;
  }
  m_pending.resize(n > 0 ? static_cast<std::size_t>(n) : 0);
  if (n <= 0) {
    m_pipe.reset();  // the end of the input
  }
  keep();
}

void InputTee::keep() {
  if (tooLong()) {
    return;
  }
  m_kept += m_pending.size();
  const bool written = tooLong() || write(m_copy.get(), m_pending.data(), m_pending.size()) ==
                                        static_cast<ssize_t>(m_pending.size());
  if (tooLong() || !written) {
    m_kept = kMostInput + 1;
    [[maybe_unused]] const int emptied = ftruncate(m_copy.get(), 0);
    if (rename(m_path.c_str(), (m_path + kLeftOut).c_str()) != 0) {
      unlink(m_path.c_str());
    }
  }
}

}  // namespace pf::app
