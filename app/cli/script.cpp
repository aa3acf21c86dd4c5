// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/script.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

#include "app/cli/headless.h"
#include "app/files/paths.h"
#include "app/recording/record.h"
#include "replay_engine/base/unique_fd.h"

namespace pf::cli {
namespace {

/// Another file in place of a standard one while this lives.
class Instead {
 public:
  Instead(int fd, int other) : m_fd(fd), m_kept(::fcntl(fd, F_DUPFD_CLOEXEC, 3)) {
    ::dup2(other, fd);
  }
  Instead(const Instead&) = delete;
  Instead& operator=(const Instead&) = delete;
  ~Instead() { ::dup2(m_kept.get(), m_fd); }

 private:
  int m_fd;
  UniqueFd m_kept;
};

/// A wrong line is told before the program is run for it. 0: none is.
int checkScript(const std::string& script) {
  const pid_t child = ::fork();
  if (child == 0) {
    (void)becomeHeadless({"check-script", script});
    ::_exit(1);
  }
  int status = 0;
  return child > 0 && ::waitpid(child, &status, 0) == child && WIFEXITED(status)
             ? WEXITSTATUS(status)
             : 1;
}

Result<app::Recorded> record(const std::vector<std::string>& words, bool inputIsScript,
                             std::chrono::milliseconds stallAfter) {
  app::RecordOptions options;
  options.command = words;
  options.endStuck = true;
  options.stallAfter = stallAfter;
  const Instead output(STDOUT_FILENO, STDERR_FILENO);
  const UniqueFd null(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  if (!null.valid()) {  // the program would read the script
    return systemError("cannot open /dev/null", errno);
  }
  const Instead input(STDIN_FILENO, inputIsScript ? null.get() : STDIN_FILENO);
  return app::record(options);
}

}  // namespace

Result<int> debugByScript(const std::vector<std::string>& words, const ScriptOptions& options) {
  const std::string& script = options.script;
  bool trusted = options.trusted;
  const bool fromInput = script == "-";
  if (words.empty()) {
    return Error{ErrorCode::Usage, "there is nothing to debug by the script " + script,
                 "Give a launcher's command, or a trace: photofinish debug --script FILE FILE.pft"};
  }
  if (!fromInput && !app::isFile(script)) {
    return Error{ErrorCode::NotFound, "there is no script " + script,
                 "Give a file with a command a line, or - for standard input."};
  }
  if (const int wrong = fromInput ? 0 : checkScript(script); wrong != 0) {
    return wrong;
  }
  std::string trace = words.size() == 1 ? words.front() : "";
  if (trace.size() < 5 || trace.substr(trace.size() - 4) != ".pft") {
    if (Status whole = isNoPart(options.part); !whole) {
      return whole.error();
    }
    auto recorded = record(words, fromInput, options.stallAfter);
    if (!recorded) {
      return recorded.error();
    }
    if (recorded->trace.empty()) {
      return recorded->exitStatus;
    }
    trace = recorded->trace;
    trusted = true;  // one's own
  }
  std::vector<std::string> become;
  become.emplace_back("script");
  if (trusted) {
    become.emplace_back("--trust");
  }
  become.insert(become.end(), {trace, script});
  const std::vector<std::string> part = partWords(options.part);
  become.insert(become.end(), part.begin(), part.end());
  if (options.force) {
    become.emplace_back("--force");
  }
  if (options.keepGoing) {
    become.emplace_back("--keep-going");
  }
  return becomeHeadless(become);
}

}  // namespace pf::cli
