// SPDX-License-Identifier: GPL-3.0-or-later
#include "replay_engine/agent/loaded_libraries.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <functional>
#include <sstream>

#include "replay_engine/base/shown_text.h"
#include "replay_engine/base/unique_fd.h"

namespace pf::agent {
namespace {

constexpr std::chrono::seconds kMayTake(10);
constexpr std::size_t kMaxAnswer = std::size_t{1} << 20U;
/// MPI_MAX_LIBRARY_VERSION_STRING is 256 in Open MPI, 8192 in MPICH and in the standard's interface.
constexpr std::size_t kVersionSize = 65'536;

std::string readUntilEnd(int fd, std::chrono::steady_clock::time_point end) {
  std::string text;
  std::array<char, 4096> piece{};
  while (text.size() < kMaxAnswer) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        end - std::chrono::steady_clock::now());
    pollfd ready{fd, POLLIN, 0};
    const int found = ::poll(&ready, 1, static_cast<int>(std::max<long>(left.count(), 0)));
    if (found < 0 && errno == EINTR) {
      continue;
    }
    const ssize_t n = found > 0 ? ::read(fd, piece.data(), piece.size()) : 0;
    if (n <= 0) {
      break;
    }
    text.append(piece.data(), static_cast<std::size_t>(n));
  }
  return text;
}

/// What a child writes that does `work` with the descriptor given to it, in the time that it has.
std::string answerOfChild(const std::function<void(int)>& work) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    return {};
  }
  const UniqueFd reader(ends[0]);
  UniqueFd writer(ends[1]);
  const pid_t child = ::fork();
  if (child == 0) {
    sigset_t
        all{};  // a launcher that ends its job signals us and our children: who asks is to have its answer
    ::sigfillset(&all);
    ::sigprocmask(SIG_SETMASK, &all, nullptr);
    const int nowhere = ::open("/dev/null", O_RDWR);
    for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
      ::dup2(nowhere, fd);
    }
    work(writer.get());
    ::_exit(1);
  }
  writer.reset();
  if (child < 0) {
    return {};
  }
  std::string text = readUntilEnd(reader.get(), std::chrono::steady_clock::now() + kMayTake);
  ::kill(child, SIGKILL);  // has closed its end, or had its time
  int status = 0;
  ::waitpid(child, &status, 0);
  return text;
}

}  // namespace

std::vector<ListedLibrary> librariesOfListing(const std::string& listing) {
  std::vector<ListedLibrary> found;
  std::istringstream lines(listing);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t begin = line.find_first_not_of(" \t");
    if (begin == line.npos || begin == 0) {
      continue;
    }
    line.erase(0, begin);
    const std::size_t arrow = line.find(" => ");
    const std::size_t address = line.rfind(" (0x");
    std::string path = line.substr(arrow == line.npos ? 0 : arrow + 4, line.npos);
    path.resize(path.size() - (address == line.npos ? 0 : line.size() - address));
    const bool isPath = path.starts_with('/') || path.find('/') != path.npos;
    std::string name =
        arrow == line.npos ? path.substr(path.rfind('/') + 1) : line.substr(0, arrow);
    name.erase(0, name.rfind('/') + 1);
    if (!name.empty() && (isPath || path == "not found")) {
      found.push_back({std::move(name), isPath ? path : std::string()});
    }
  }
  return found;
}

std::vector<ListedLibrary> loadedLibraries(const std::string& loader, const std::string& program) {
  const auto list = [&](int out) {
    ::dup2(out, STDOUT_FILENO);
    // As ldd does: with --list alone, glibc ends at the first library that it does not find.
    ::setenv("LD_TRACE_LOADED_OBJECTS", "1", 1);
    ::execl(loader.c_str(), loader.c_str(), program.c_str(), nullptr);
  };
  return librariesOfListing(answerOfChild(list));
}

std::string askedVersion(const std::string& path) {
  const auto ask = [&](int out) {
    void* const library = ::dlopen(path.c_str(), RTLD_LAZY | RTLD_LOCAL);
    void* const routine =
        library != nullptr ? ::dlsym(library, "MPI_Get_library_version") : nullptr;
    if (routine == nullptr) {
      return;
    }
    static std::array<char, kVersionSize> text{};
    int length = 0;
    reinterpret_cast<int (*)(char*, int*)>(routine)(text.data(), &length);
    text.back() = '\0';
    const std::string said(text.data());
    static_cast<void>(::write(out, said.data(), said.size()) > 0);
  };
  std::string text = answerOfChild(ask);
  text.resize(std::min(text.size(), text.find_first_of(",\n")));
  std::replace(text.begin(), text.end(), '\t', ' ');
  return shown(text);
}

}  // namespace pf::agent
