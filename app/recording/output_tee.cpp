// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/recording/output_tee.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <thread>

#include "app/collation/printed_text.h"

namespace pf::app {
namespace {

constexpr std::chrono::milliseconds kLook(2);
constexpr std::chrono::milliseconds kQuiet(
    200);  // all that was printed has gone on: who still could print is not waited for
constexpr std::chrono::seconds kBlocked(30);  // nobody reads where it goes

/// All below runs in a fork of a process that may have threads: system calls only.
bool writeAt(int file, const void* data, std::size_t size, std::size_t place) {
  return ::pwrite(file, data, size, static_cast<off_t>(place)) == static_cast<ssize_t>(size);
}

/// False: the file takes no more.
bool keep(int file, std::size_t stream, std::uint64_t total, const char* bytes, std::size_t size) {
  std::size_t done = 0;
  while (done < size) {
    const std::uint64_t number = total + done;
    const std::uint64_t room = number < kFirstPrinted
                                   ? kFirstPrinted - number
                                   : kLastPrinted - (number - kFirstPrinted) % kLastPrinted;
    const std::size_t part = std::min<std::size_t>(size - done, room);
    if (!writeAt(file, bytes + done, part, placeOfPrinted(stream, number))) {
      return false;
    }
    done += part;
  }
  return true;
}

bool forward(int target, const char* bytes, std::size_t size) {
  std::size_t done = 0;
  while (done < size) {
    const ssize_t n = ::write(target, bytes + done, size - done);
    if (n > 0) {
      done += static_cast<std::size_t>(n);
    } else if (n < 0 && errno == EAGAIN) {  // a terminal or pipe that others have made so
      pollfd waiting{target, POLLOUT, 0};
      ::poll(&waiting, 1, -1);
    } else if (n < 0 && errno != EINTR) {
      return false;
    }
  }
  return true;
}

/// From descriptor 0 to 1, until the end of either; notes in descriptor 2.
[[noreturn]] void carryOn(std::size_t stream) {
  constexpr std::size_t kPiece = std::size_t{64} << 10;
  static char bytes[kPiece];
  std::uint64_t total = 0;
  bool keeps = true;
  for (;;) {
    const ssize_t n = ::read(0, bytes, kPiece);
    if (n < 0 && errno == EINTR) {
      continue;
    }
    if (n <= 0) {
      ::_exit(0);
    }
    const auto size = static_cast<std::size_t>(n);
    keeps = keeps && keep(2, stream, total, bytes, size);
    total += size;
    const auto note = [&](std::size_t place) {
      keeps = keeps && writeAt(2, &total, sizeof total, place + stream * sizeof total);
    };
    note(offsetof(PrintedHeader, total));
    if (!forward(1, bytes, size)) {
      ::_exit(0);  // the next one who prints is told so by the system, as without us
    }
    note(offsetof(PrintedHeader, forwarded));
  }
}

}  // namespace

Result<OutputTee> OutputTee::start(const std::string& file, int output, int error) {
  OutputTee tee;
  tee.m_file.reset(::open(file.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  const PrintedHeader header;
  if (!tee.m_file.valid() || !writeAt(tee.m_file.get(), &header, sizeof header, 0)) {
    return systemError("cannot keep what the program prints in " + file, errno);
  }
  const std::array<int, 2> targets{output, error};
  for (std::size_t stream = 0; stream < 2; ++stream) {
    const Status status = targets[stream] >= 0 ? tee.carry(stream, targets[stream]) : Status();
    if (!status) {
      return status.error();
    }
  }
  return tee;
}

Status OutputTee::carry(std::size_t stream, int target) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) {
    return systemError("cannot make a pipe for what the program prints", errno);
  }
  const UniqueFd from(ends[0]);
  m_ends[stream].reset(ends[1]);
  const pid_t pid = ::fork();
  if (pid < 0) {
    return systemError("cannot start what carries the program's output", errno);
  }
  if (pid == 0) {
    for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE}) {
      ::signal(number, SIG_IGN);  // it ends with who prints
    }
    sigset_t none;
    sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    ::prctl(PR_SET_NAME, "photofinish-out");
    // Copies first: a descriptor may be one of those that are replaced.
    const int copies[3] = {::fcntl(from.get(), F_DUPFD, 10), ::fcntl(target, F_DUPFD, 10),
                           ::fcntl(m_file.get(), F_DUPFD, 10)};
    for (int i = 0; i < 3; ++i) {
      ::dup2(copies[i], i);
    }
    ::close_range(3, ~0U, 0);  // locks and pipes of ours end with us
    carryOn(stream);
  }
  m_carriers[stream] = pid;
  return {};
}

void OutputTee::launched() {
  for (UniqueFd& end : m_ends) {
    end.reset();
  }
}

/// Whether both have ended.
bool OutputTee::reap() {
  for (pid_t& carrier : m_carriers) {
    const pid_t ended = carrier > 0 ? ::waitpid(carrier, nullptr, WNOHANG) : 0;
    if (ended == carrier || (ended < 0 && errno == ECHILD)) {
      carrier = -1;
    }
  }
  return m_carriers[0] <= 0 && m_carriers[1] <= 0;
}

void OutputTee::drain() {
  launched();
  using Clock = std::chrono::steady_clock;
  const auto begun = Clock::now();
  auto lastNews = begun;
  PrintedHeader before;
  while (!reap() && Clock::now() - lastNews < kBlocked) {
    PrintedHeader now;
    if (::pread(m_file.get(), &now, sizeof now, 0) != static_cast<ssize_t>(sizeof now)) {
      return;
    }
    const bool news = !std::ranges::equal(now.total, before.total) ||
                      !std::ranges::equal(now.forwarded, before.forwarded);
    lastNews = news ? Clock::now() : lastNews;
    if (std::ranges::equal(now.total, now.forwarded) && Clock::now() - lastNews >= kQuiet) {
      return;
    }
    before = now;
    std::this_thread::sleep_for(kLook);
  }
}

}  // namespace pf::app
