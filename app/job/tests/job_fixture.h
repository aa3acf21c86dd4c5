// SPDX-License-Identifier: GPL-3.0-or-later
// Jobs for tests: their launcher is a shell script, their daemon that of daemon_script.cpp.
#pragma once

#include <fcntl.h>
#include <poll.h>
#include <signal.h>

#include <chrono>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "app/job/job.h"
#include "app/job/tests/made_programs.h"

namespace pf::app::test {

/// Of a launcher: until the test has made the file.
inline constexpr const char* kWaitToGo =
    "while [ ! -e \"$(dirname \"$0\")/go\" ]; do sleep 0.02; done; ";

class JobFixture : public testing::Test {
 protected:
  JobFixture() {
    m_programs.make("app");
    daemonSays("");
    setenv("PF_DAEMON_HEARD", m_programs.at("heard").c_str(), 1);
  }
  static void daemonSays(const char* words) { setenv("PF_DAEMON_SAYS", words, 1); }

  /// A job whose launcher is this script.
  Result<std::unique_ptr<Job>> start(const std::string& script, JobOptions options = {},
                                     const char* launcher = "mpirun") {
    const auto command =
        parseLaunch({m_programs.make(launcher, script), "-n", "2", m_programs.at("app"), "a"});
    EXPECT_TRUE(command.ok());
    options.command = *command;
    options.session.logDirectory = m_programs.path();
    options.output = options.error = m_null.get();
    return Job::start(std::move(options));
  }
  std::unique_ptr<Job> started(const std::string& script, JobOptions options = {},
                               const char* launcher = "mpirun") {
    auto job = start(script, std::move(options), launcher);
    EXPECT_TRUE(job.ok()) << job.error().text();
    return job ? std::move(*job) : nullptr;
  }
  /// Listens until it is so; false: it was not within ten seconds.
  static bool waitFor(Job& job, const std::function<bool()>& so) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    for (;;) {
      (void)job.listen([](const protocol::Message&) { return true; });
      if (so()) {
        return true;
      }
      if (std::chrono::steady_clock::now() > end) {
        return false;
      }
      pollfd waiting{job.connection() != nullptr ? job.connection()->fd() : -1, POLLIN, 0};
      poll(&waiting, 1, 5);
    }
  }
  static std::optional<int> statusOf(Job& job) {
    waitFor(job, [&job] { return job.launcherStatus().has_value(); });
    return job.launcherStatus();
  }
  /// The process that has written its number there. What the daemon says meanwhile is left for later.
  pid_t processOf(const char* file) const {
    for (int i = 0; i < 2000 && !m_programs.read(file).ends_with('\n'); ++i) {
      poll(nullptr, 0, 5);
    }
    return std::atoi(m_programs.read(file).c_str());
  }
  static bool isThere(pid_t pid) { return kill(pid, 0) == 0; }
  bool heard(const char* words) const {
    return m_programs.read("heard").find(words) != std::string::npos;
  }
  /// Until notices() says a line with these words.
  static bool isNoticed(Job& job, const std::string& words) {
    return waitFor(job, [&] {
      for (const std::string& line : job.notices()) {
        if (line.find(words) != std::string::npos) {
          return true;
        }
      }
      return false;
    });
  }

  MadePrograms m_programs;
  UniqueFd m_null{open("/dev/null", O_RDWR | O_CLOEXEC)};
};

}  // namespace pf::app::test
