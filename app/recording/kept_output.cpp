// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/recording/kept_output.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>

namespace pf::app {
namespace {

constexpr std::size_t kBlock = std::size_t{64} << 10;
/// What a pipe can hold at most (pipe(7): pipe-max-size): when all have ended, there is no more.
constexpr std::size_t kMostInPipe = std::size_t{1} << 20;

/// Drops all but the last `most` bytes.
void shorten(Printed& printed, std::size_t most) {
  if (printed.end.size() > most) {
    printed.leftOut += printed.end.size() - most;
    printed.end.erase(0, printed.end.size() - most);
  }
}

}  // namespace

Result<std::unique_ptr<KeptOutput>> KeptOutput::start(std::size_t most) {
  std::unique_ptr<KeptOutput> output(new KeptOutput(most));
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) {
    return systemError("cannot make a pipe", errno);
  }
  output->m_readEnd.reset(ends[0]);
  output->m_writeEnd.reset(ends[1]);
  output->m_over.reset(eventfd(0, EFD_CLOEXEC));
  if (!output->m_over.valid() || fcntl(ends[0], F_SETFL, O_NONBLOCK) != 0) {
    return systemError("cannot keep what the program prints", errno);
  }
  // Signals are for the thread that waits for the program.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  output->m_thread = std::thread([keeper = output.get()] { keeper->readAll(); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return output;
}

KeptOutput::~KeptOutput() {
  stop();
}

void KeptOutput::stop() {
  m_writeEnd.reset();
  if (m_thread.joinable()) {
    eventfd_write(m_over.get(), 1);
    m_thread.join();
  }
}

Printed KeptOutput::take() {
  stop();
  shorten(m_printed, m_most);
  return std::move(m_printed);
}

void KeptOutput::readAll() {
  std::array<pollfd, 2> waiting{{{m_readEnd.get(), POLLIN, 0}, {m_over.get(), POLLIN, 0}}};
  while (waiting[1].revents == 0) {
    poll(waiting.data(), waiting.size(), -1);
    if (waiting[0].revents != 0) {
      readOnce();
    }
  }
  ssize_t n = 1;
  for (std::size_t read = 0; n > 0 && read < kMostInPipe; read += static_cast<std::size_t>(n)) {
    n = readOnce();
  }
}

ssize_t KeptOutput::readOnce() {
  std::array<char, kBlock> bytes{};
  const ssize_t n = read(m_readEnd.get(), bytes.data(), bytes.size());
  if (n <= 0) {
    return n;
  }
  const std::size_t size = static_cast<std::size_t>(n);
  const std::size_t first = std::min(size, m_most - m_printed.beginning.size());
  m_printed.beginning.append(bytes.data(), first);
  m_printed.end.append(bytes.data() + first, size - first);
  if (m_printed.end.size() > 2 * m_most) {
    shorten(m_printed, m_most);
  }
  return n;
}

}  // namespace pf::app
