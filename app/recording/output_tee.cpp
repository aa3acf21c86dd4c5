// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/recording/output_tee.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <thread>

#include "app/collation/printed_text.h"

namespace pf::app {

/// Bytes of each stream.
struct OutputTee::Counters {
  std::array<std::atomic<std::uint64_t>, 2> read{};
  std::array<std::atomic<std::uint64_t>, 2> forwarded{};
};

void OutputTee::Unmap::operator()(Counters* counters) const {
  ::munmap(counters, sizeof(Counters));
}

namespace {

constexpr std::chrono::milliseconds kLook(2);
constexpr std::chrono::seconds kQuiet(1);     // who still could print is not waited for
constexpr std::chrono::seconds kBlocked(30);  // nobody reads where it goes

// What a carrier does. It is a fork of a process that may have threads: system calls only.

bool writeAt(int file, const void* data, std::size_t size, std::size_t place) {
  return ::pwrite(file, data, size, static_cast<off_t>(place)) == static_cast<ssize_t>(size);
}

/// Byte number `total` and those after it. False: the file takes no more.
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
  const std::uint64_t now = total + size;
  return writeAt(file, &now, sizeof now, offsetof(PrintedHeader, total) + stream * sizeof now);
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

void closeFrom(int first) {
  if (::close_range(static_cast<unsigned>(first), ~0U, 0) != 0) {  // Linux before 5.9
    const long most = std::clamp(::sysconf(_SC_OPEN_MAX), 256L, 65536L);
    for (int fd = first; fd < most; ++fd) {
      ::close(fd);
    }
  }
}

/// The streams at descriptors 0 and 1 (closed: not its business), to 2 and 3; keeps in 4.
class Carrying {
 public:
  Carrying(std::array<std::atomic<std::uint64_t>, 2>& read,
           std::array<std::atomic<std::uint64_t>, 2>& forwarded)
      : m_read(read), m_forwarded(forwarded) {}

  [[noreturn]] void run() {
    std::array<pollfd, 2> from{{{isOpen(0) ? 0 : -1, POLLIN, 0}, {isOpen(1) ? 1 : -1, POLLIN, 0}}};
    while (from[0].fd >= 0 || from[1].fd >= 0) {
      if (::poll(from.data(), from.size(), -1) < 0 && errno != EINTR) {
        break;
      }
      for (std::size_t stream = 0; stream < from.size(); ++stream) {
        if (from[stream].fd >= 0 && from[stream].revents != 0 && !pass(stream)) {
          ::close(from[stream].fd);  // who prints next is told so by the system, as without us
          from[stream].fd = -1;
        }
      }
    }
    ::_exit(0);
  }

 private:
  static bool isOpen(int fd) { return ::fcntl(fd, F_GETFD) >= 0; }

  /// False: at its end, or nobody takes it.
  bool pass(std::size_t stream) {
    static char bytes[std::size_t{64} << 10];
    const ssize_t n = ::read(static_cast<int>(stream), bytes, sizeof bytes);
    if (n <= 0) {
      return n < 0 && errno == EINTR;
    }
    const auto size = static_cast<std::size_t>(n);
    m_keeps = m_keeps && keep(4, stream, m_read[stream], bytes, size);
    m_read[stream] += size;
    const bool taken = forward(2 + static_cast<int>(stream), bytes, size);
    m_forwarded[stream] += size;
    return taken;
  }

  std::array<std::atomic<std::uint64_t>, 2>& m_read;
  std::array<std::atomic<std::uint64_t>, 2>& m_forwarded;
  bool m_keeps = true;
};

}  // namespace

bool areOnePlace(int first, int second) {
  struct stat one {};
  struct stat other {};
  return ::fstat(first, &one) == 0 && ::fstat(second, &other) == 0 && one.st_dev == other.st_dev &&
         one.st_ino == other.st_ino;
}

Result<OutputTee> OutputTee::start(const std::string& file, int output, int error) {
  const std::string what = "cannot keep what the program prints";
  OutputTee tee;
  tee.m_file.reset(::open(file.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  const PrintedHeader header;
  if (!tee.m_file.valid() || !writeAt(tee.m_file.get(), &header, sizeof header, 0)) {
    return systemError(what + " in " + file, errno);
  }
  void* const shared =
      ::mmap(nullptr, sizeof(Counters), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) {
    return systemError(what, errno);
  }
  tee.m_counters.reset(new (shared) Counters);
  const std::array<int, 2> targets{output, error};
  std::array<UniqueFd, 2> from;
  for (std::size_t stream = 0; stream < 2; ++stream) {
    int ends[2];
    if (targets[stream] >= 0) {
      if (::pipe2(ends, O_CLOEXEC) != 0) {
        return systemError(what, errno);
      }
      from[stream].reset(ends[0]);
      tee.m_ends[stream].reset(ends[1]);
    }
  }
  if (output >= 0 && error >= 0 && areOnePlace(output, error)) {
    const Status status = tee.carry(from, targets);
    return status ? Result<OutputTee>(std::move(tee)) : Result<OutputTee>(status.error());
  }
  for (std::size_t stream = 0; stream < 2; ++stream) {
    std::array<UniqueFd, 2> one;
    one[stream] = std::move(from[stream]);
    const Status status = one[stream].valid() ? tee.carry(one, targets) : Status();
    if (!status) {
      return status.error();
    }
  }
  return tee;
}

Status OutputTee::carry(const std::array<UniqueFd, 2>& from, const std::array<int, 2>& targets) {
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
    const std::array<int, 5> wanted{from[0].get(), from[1].get(), targets[0], targets[1],
                                    m_file.get()};
    std::array<int, 5> copies{};  // first: a descriptor may be one of those that are replaced
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      copies[i] = wanted[i] >= 0 ? ::fcntl(wanted[i], F_DUPFD, 10) : -1;
    }
    for (int i = 0; i < static_cast<int>(wanted.size()); ++i) {
      const int copy = copies[static_cast<std::size_t>(i)];
      copy >= 0 ? ::dup2(copy, i) : ::close(i);
    }
    closeFrom(static_cast<int>(wanted.size()));  // locks and pipes of ours end with us
    Carrying(m_counters->read, m_counters->forwarded).run();
  }
  for (std::size_t stream = 0; stream < 2; ++stream) {
    m_carriers[stream] = from[stream].valid() ? pid : m_carriers[stream];
  }
  return {};
}

void OutputTee::launched() {
  for (UniqueFd& end : m_ends) {
    end.reset();
  }
}

/// Whether all have ended.
bool OutputTee::reap() {
  for (const pid_t carrier : m_carriers) {
    const pid_t ended = carrier > 0 ? ::waitpid(carrier, nullptr, WNOHANG) : 0;
    if (carrier > 0 && (ended == carrier || (ended < 0 && errno == ECHILD))) {
      std::ranges::replace(m_carriers, carrier, -1);
      break;  // the other one may have been the same; it is asked the next time
    }
  }
  return m_carriers[0] <= 0 && m_carriers[1] <= 0;
}

void OutputTee::drain(const std::function<bool()>& givenUp) {
  launched();
  auto lastNews = std::chrono::steady_clock::now();
  std::array<std::uint64_t, 4> before{};
  while (!reap() && !givenUp()) {
    const std::array<std::uint64_t, 4> now{m_counters->read[0], m_counters->forwarded[0],
                                           m_counters->read[1], m_counters->forwarded[1]};
    lastNews = now != before ? std::chrono::steady_clock::now() : lastNews;
    before = now;
    const auto isThrough = [&](std::size_t stream) {
      return m_carriers[stream] <= 0 || now[2 * stream] == now[2 * stream + 1];
    };
    if (std::chrono::steady_clock::now() - lastNews >=
        (isThrough(0) && isThrough(1) ? kQuiet : kBlocked)) {
      return;
    }
    std::this_thread::sleep_for(kLook);
  }
}

}  // namespace pf::app
