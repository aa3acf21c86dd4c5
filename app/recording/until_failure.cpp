// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/recording/until_failure.h"

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string_view>

#include "app/files/paths.h"
#include "app/recording/kept_output.h"
#include "app/recording/repeated_input.h"
#include "app/traces/own_traces.h"
#include "app/traces/trace_place.h"
#include "replay_engine/base/shown_text.h"
#include "replay_engine/base/unique_fd.h"

namespace pf::app {
namespace fs = std::filesystem;
namespace {

using Clock = std::chrono::steady_clock;

volatile std::sig_atomic_t g_searchEnded = 0;
extern "C" void onSearchEnd(int /*signal*/) {
  g_searchEnded = 1;
}

/// Ctrl-C between two runs ends the search, not this program.
class StayForTheSearch {
 public:
  StayForTheSearch() {
    g_searchEnded = 0;
    struct sigaction stay {};
    stay.sa_handler = onSearchEnd;
    stay.sa_flags = SA_RESTART;
    sigaction(SIGINT, &stay, &m_before);
  }
  ~StayForTheSearch() { sigaction(SIGINT, &m_before, nullptr); }
  StayForTheSearch(const StayForTheSearch&) = delete;
  StayForTheSearch& operator=(const StayForTheSearch&) = delete;

 private:
  struct sigaction m_before {};
};

Status moved(const std::string& from, const std::string& to) {
  std::error_code error;
  fs::rename(from, to, error);
  return error ? Status(systemError("cannot rename " + from + " to " + to, error.value()))
               : Status();
}

std::string timingText(std::uint64_t seed) {
  return seed == 0 ? "native timing" : "jitter " + std::to_string(seed);
}

/// The runs, one after the other.
class Search {
 public:
  Search(const UntilFailure& wish, const std::string& trace, std::uint64_t firstSeed,
         const TryOnce& once)
      : m_wish(wish),
        m_trace(trace),
        m_seed(firstSeed),
        m_jitterOnly(firstSeed != 0),
        m_once(once) {}

  Result<Tried> run() {
    const auto begun = Clock::now();
    while (m_tried.runs < m_wish.runs && (!m_wish.time || Clock::now() - begun < *m_wish.time)) {
      if (g_searchEnded != 0) {
        return interrupted(128 + SIGINT);
      }
      const Result<bool> over = tryNext();
      if (!over) {
        if (!m_tried.good.empty()) {
          tell("the last good one is " + m_tried.good);
        }
        return over.error();
      }
      if (*over) {
        return m_tried;
      }
    }
    const std::string text = m_tried.runs == 1
                                 ? "the one run did not fail"
                                 : "none of " + std::to_string(m_tried.runs) + " runs failed";
    tell(text + (m_tried.good.empty() ? "" : "; the last one is " + m_tried.good));
    return m_tried;
  }

 private:
  /// True: it was the last one.
  Result<bool> tryNext() {
    ++m_tried.runs;
    const bool jitters = m_jitterOnly || m_tried.runs % 2 == 0;
    const std::uint64_t seed = jitters ? nextSeed() : 0;
    const auto begun = Clock::now();
    Result<TriedRun> run = m_once(m_trace, seed);
    if (!run) {
      return run.error();
    }
    if (run->interrupted) {
      m_timeWasUp = run->timeWasUp;
      m_tried.ended = run->traced ? m_trace : std::string();
      const int status = run->exitStatus != 0 ? run->exitStatus : 128 + SIGINT;
      interrupted(run->timeWasUp ? 0 : status);  // no run has failed
      return true;
    }
    const double seconds = std::chrono::duration<double>(Clock::now() - begun).count();
    std::array<char, 32> time{};
    std::snprintf(time.data(), time.size(), "%.1f s", seconds);
    tell("run " + std::to_string(m_tried.runs) + " (" + timingText(seed) + ", " + time.data() +
         "): " + run->failure.value_or("ended well"));
    if (!run->failure) {
      if (Status status = moved(m_trace, goodName(m_trace)); !status) {
        return status.error();
      }
      m_tried.good = goodName(m_trace);
      return false;
    }
    m_tried.failing = m_trace;
    m_tried.exitStatus = run->exitStatus != 0 ? run->exitStatus : 1;
    for (const std::string& line : run->details) {
      tell(line);
    }
    tellFailing();
    return true;
  }

  std::uint64_t nextSeed() {
    if (!m_jitterOnly) {
      return ++m_seed;
    }
    const std::uint64_t seed = m_seed++;
    m_seed = std::max<std::uint64_t>(m_seed, 1);  // 0 would be native timing
    return seed;
  }

  const Tried& interrupted(int exitStatus) {
    m_tried.exitStatus = exitStatus;
    tell((m_timeWasUp ? "the time of the search was up in run " : "the search was ended in run ") +
         std::to_string(m_tried.runs) + ", before one had failed" +
         (m_tried.good.empty() ? "" : "; the last good one is " + m_tried.good));
    if (!m_tried.ended.empty()) {
      tell("  what that run had done until then is " + m_tried.ended + ": 'photofinish " +
           shownWord(m_tried.ended) + "' opens it");
    }
    return m_tried;
  }

  void tellFailing() const {
    tell("  run " + std::to_string(m_tried.runs) + " of at most " + std::to_string(m_wish.runs) +
         " failed and is " + m_trace + ": 'photofinish " + shownWord(m_trace) + "' opens it");
    if (m_tried.good.empty()) {
      tell("  there is no good one to compare it with: the first run failed");
      return;
    }
    tell("  the good one before it is " + m_tried.good + ": 'photofinish diff " +
         shownWord(m_tried.good) + " " + shownWord(m_trace) + "' says where they part");
  }

  const UntilFailure& m_wish;
  const std::string& m_trace;
  std::uint64_t m_seed;
  bool m_jitterOnly;
  const TryOnce& m_once;
  bool m_timeWasUp = false;
  Tried m_tried;
};

/// Of the beginning of what a run prints, and of its end.
constexpr std::size_t kMostPrinted = std::size_t{32} << 20;

void show(const Printed& printed) {
  std::fwrite(printed.beginning.data(), 1, printed.beginning.size(), stdout);
  std::fflush(stdout);
  if (printed.leftOut > 0) {
    tell("… " + std::to_string(printed.leftOut) + " bytes of what it printed are left out here …");
  }
  std::fwrite(printed.end.data(), 1, printed.end.size(), stdout);
  std::fflush(stdout);
}

/// A file in memory, at its beginning.
Result<UniqueFd> fileOf(const Printed& printed) {
  UniqueFd file(memfd_create("photofinish-output", MFD_CLOEXEC));
  for (const std::string_view part :
       {std::string_view(printed.beginning), std::string_view(printed.end)}) {
    for (std::size_t done = 0; file.valid() && done < part.size();) {
      const ssize_t n = write(file.get(), part.data() + done, part.size() - done);
      if (n < 0 && errno != EINTR) {
        return systemError("cannot keep what the program prints", errno);
      }
      done += n > 0 ? static_cast<std::size_t>(n) : 0;
    }
  }
  if (!file.valid() || lseek(file.get(), 0, SEEK_SET) != 0) {
    return systemError("cannot keep what the program prints", errno);
  }
  return file;
}

}  // namespace

Result<bool> isRight(const std::string& command, const Printed& printed) {
  if (printed.leftOut > 0) {
    return Error{ErrorCode::Usage,
                 "the run has printed more than " +
                     std::to_string((printed.beginning.size() + printed.end.size()) >> 20U) +
                     " MiB, and '" + command + "' would not have all of it",
                 "Let the program print less, or write to a file that the check reads."};
  }
  const Result<UniqueFd> input = fileOf(printed);
  if (!input) {
    return input.error();
  }
  const pid_t child = fork();
  if (child == 0) {
    dup2(input->get(), STDIN_FILENO);
    std::signal(SIGPIPE, SIG_DFL);
    execl("/bin/sh", "sh", "-c", command.c_str(), static_cast<char*>(nullptr));
    _exit(127);
  }
  int status = 0;
  while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (child < 0) {
    return systemError("cannot run the check", errno);
  }
  if (WIFEXITED(status) && (WEXITSTATUS(status) == 126 || WEXITSTATUS(status) == 127)) {
    return Error{ErrorCode::NotFound, "the check '" + command + "' cannot be run",
                 "Give a command of the shell to --check."};
  }
  return status == 0;
}

namespace {

/// Has COMMAND judge a run that ended well by what it printed.
Status check(const std::string& command, const Printed& printed, TriedRun& run) {
  const Result<bool> right = isRight(command, printed);
  if (!right) {
    return right.error();
  }
  if (!*right && g_searchEnded != 0) {
    run.interrupted = true;  // the terminal's Ctrl-C is the command's, too
  } else if (!*right) {
    run.failure = "it ended well, and '" + command + "' says that it is wrong";
    run.wrong = true;
  }
  return {};
}

/// The names that the search will give.
Status areFree(const std::string& trace, bool replace) {
  for (const std::string& name : {trace, goodName(trace)}) {
    if (replace) {
      if (Status status = mayBecomeTrace(name); !status) {
        return status;
      }
    } else if (isThere(name)) {
      return Error{ErrorCode::Usage,
                   name + " is there, and " +
                       (name == trace ? "the run that fails" : "a good run") +
                       " will have this name; the program was not started",
                   "Move it away, name another trace with -o, or give --replace."};
    }
  }
  return {};
}

}  // namespace

std::string goodName(const std::string& trace) {
  const fs::path path(trace);
  return (path.parent_path() / (path.stem().string() + "-good.pft")).string();
}

Result<Tried> tryUntilFailure(const UntilFailure& wish, const std::string& trace, bool replace,
                              std::uint64_t firstSeed, const TryOnce& once) {
  if (Status free = areFree(trace, replace); !free) {
    return free.error();
  }
  const StayForTheSearch stay;
  return Search(wish, trace, firstSeed, once).run();
}

Result<TriedRun> recordAndCheck(RecordOptions& options, const std::string& command,
                                ShownOutput whose) {
  if (Status status = options.input->rewind(); !status) {
    return status.error();
  }
  const Result<std::unique_ptr<KeptOutput>> output = KeptOutput::start(kMostPrinted);
  if (!output) {
    return output.error();
  }
  options.standardOutput = (*output)->writeEnd();
  const Result<Recorded> recorded = record(options);
  const Printed printed = (*output)->take();
  const bool traced = recorded && !recorded->trace.empty();
  if (!traced) {
    show(printed);  // it may say why
  }
  if (!recorded) {
    return recorded.error();
  }
  const bool endsAll = recorded->timeWasUp && options.runLimitEndsAll;
  TriedRun run{
      recorded->exitStatus, {}, recorded->interrupted || endsAll, traced, recorded->details};
  run.timeWasUp = endsAll;
  if (!traced && !run.interrupted) {
    return Error{ErrorCode::System, "no trace of this run was made", "See above why."};
  }
  if (recorded->failed) {
    run.failure = recorded->failed->sentence;
  } else if (!command.empty() && !run.interrupted) {
    if (Status status = check(command, printed, run); !status) {
      std::error_code gone;
      fs::remove(recorded->trace, gone);  // nobody has judged it
      return status.error();
    }
  }
  if (traced && (run.failure || run.interrupted || whose == ShownOutput::OfAll)) {
    show(printed);
  }
  return run;
}

Result<Tried> recordUntilFailure(const RecordOptions& options, const UntilFailure& wish) {
  RecordOptions each = options;
  each.quiet = true;
  each.endStuck = true;
  const Result<std::string> trace =
      nameOfTrace(options, [](const std::string& name) { return isThere(goodName(name)); });
  if (!trace) {
    return trace.error();
  }
  Result<RepeatedInput> input = RepeatedInput::start();
  if (!input) {
    return input.error();
  }
  each.input = &*input;
  const auto begun = Clock::now();
  const TryOnce once = [&](const std::string& name, std::uint64_t seed) {
    each.output = name;
    each.jitterSeed = seed;
    each.runLimit = options.runLimit;
    bool isOfAll = false;  // what ends it is the end of the search
    if (wish.time) {
      const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
          *wish.time - (Clock::now() - begun));
      isOfAll = each.runLimit.count() == 0 || left < each.runLimit;
      each.runLimit = isOfAll ? std::max(left, std::chrono::milliseconds(1)) : each.runLimit;
    }
    each.runLimitEndsAll = isOfAll;
    return recordAndCheck(each, wish.check, ShownOutput::OfFailed);
  };
  return tryUntilFailure(wish, *trace, options.replace, options.jitterSeed, once);
}

}  // namespace pf::app
