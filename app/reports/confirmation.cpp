// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/reports/confirmation.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <thread>
#include <vector>

#include "app/collation/failure.h"
#include "app/files/paths.h"
#include "app/replaying/replay.h"
#include "app/replaying/report_parts.h"

namespace pf::app {
namespace {

constexpr int kFlipImpossible =
    3;  ///< exit status of photofinish flip without a trace: a sentence says why
constexpr int kBadUse = 2;
constexpr std::chrono::milliseconds kToEnd{10000};

std::string eventWords(EventRef event) {
  return std::to_string(event.rank) + ":" + std::to_string(event.serial);
}

std::vector<std::string> flipArguments(const Prediction& prediction) {
  std::vector<std::string> words;
  for (const PredictedMatch& flip : prediction.flips) {
    words.push_back(eventWords(flip.receive) + "=" + eventWords(flip.send));
  }
  return words;
}

/// In a process group of its own, without input or output. -1: it could not be started.
pid_t start(const std::vector<std::string>& words) {
  std::vector<char*> arguments;
  for (const std::string& word : words) {
    arguments.push_back(const_cast<char*>(word.c_str()));  // NOLINT: POSIX takes them so
  }
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t quiet;
  posix_spawn_file_actions_init(&quiet);
  posix_spawn_file_actions_addopen(&quiet, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&quiet, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addopen(&quiet, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawnattr_t apart;
  posix_spawnattr_init(&apart);
  posix_spawnattr_setflags(&apart, POSIX_SPAWN_SETPGROUP);
  posix_spawnattr_setpgroup(&apart, 0);
  pid_t child = -1;
  const int error =
      posix_spawn(&child, words.front().c_str(), &quiet, &apart, arguments.data(), environ);
  posix_spawnattr_destroy(&apart);
  posix_spawn_file_actions_destroy(&quiet);
  return error == 0 ? child : -1;
}

/// Whether it ended in this time; its status then.
bool ended(pid_t child, std::chrono::milliseconds most, int& status) {
  const auto until = std::chrono::steady_clock::now() + most;
  for (;;) {
    const pid_t found = waitpid(child, &status, WNOHANG);
    if (found == child || (found < 0 && errno != EINTR)) {
      return true;
    }
    if (std::chrono::steady_clock::now() >= until) {
      return false;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

/// Gently first: what ends by a signal writes its trace.
void end(pid_t child) {
  int status = 0;
  kill(-child, SIGTERM);
  if (!ended(child, kToEnd, status)) {
    kill(-child, SIGKILL);
    waitpid(child, &status, 0);
  }
}

std::string statusWords(int status) {
  return WIFSIGNALED(status) ? "it ended by signal " + std::to_string(WTERMSIG(status))
                             : "it ended with exit status " + std::to_string(WEXITSTATUS(status));
}

/// Whether the message that `event` sends is taken by no receive of the run in `trace`.
Result<bool> isLeft(const std::string& trace, EventRef event) {
  const Result<Loaded> loaded = load(trace);
  if (!loaded) {
    return loaded.error();
  }
  for (const Message& message : loaded->execution.messages) {
    if (EventRef(message.send) == event) {
      return message.post == kNone;
    }
  }
  return false;
}

/// Nothing: the run in `trace` ended well.
Result<std::optional<WhatFailed>> howItFailed(const std::string& trace) {
  Result<db::TraceStore> store = openTrace(trace, db::TraceStore::Mode::ReadOnly);
  return store ? Result<std::optional<WhatFailed>>(
                     whatFailed(store->ranks(), store->run().exitStatus))
               : Result<std::optional<WhatFailed>>(store.error());
}

Confirmation judgeEnd(const FlipRun& run, const Prediction& prediction, int status) {
  Confirmation made;
  made.trace = isFile(run.output) ? run.output : "";
  made.state = Confirmation::State::Otherwise;
  made.why = statusWords(status);
  const bool good = WIFEXITED(status) && WEXITSTATUS(status) == 0;
  const bool deadlock = prediction.kind == PredictionKind::Deadlock;
  if ((deadlock || prediction.kind == PredictionKind::Truncation) && !good && !made.trace.empty()) {
    const Result<std::optional<WhatFailed>> failed = howItFailed(made.trace);
    if (!failed) {
      return {Confirmation::State::NotTried, failed.error().message, made.trace};
    }
    // A deadlock: flip has ended a run that could not get on.
    if (*failed && (deadlock ? (*failed)->hangs : (*failed)->rank == prediction.receive.rank)) {
      made.state = Confirmation::State::Confirmed;
    }
    made.why = *failed ? (*failed)->sentence : made.why;
  }
  if (prediction.kind == PredictionKind::Unreceived && good && !made.trace.empty()) {
    const Result<bool> left = isLeft(made.trace, prediction.send);
    if (!left) {
      return {Confirmation::State::NotTried, left.error().message, made.trace};
    }
    made.state = *left ? Confirmation::State::Confirmed : Confirmation::State::Otherwise;
    made.why = *left ? "the message is received by nobody" : "the message is received";
  }
  return made;
}

Confirmation judgeHang(const FlipRun& run, const Prediction& prediction) {
  const std::string trace = isFile(run.output) ? run.output : "";
  const std::string after =
      "it had not ended after " + std::to_string(run.most.count() / 1000) + " s";
  if (prediction.kind == PredictionKind::Deadlock) {
    return {Confirmation::State::Confirmed, after, trace};
  }
  return {Confirmation::State::Otherwise, after, trace};
}

}  // namespace

std::string flipWords(const Prediction& prediction) {
  std::string text;
  for (const std::string& word : flipArguments(prediction)) {
    text += (text.empty() ? "" : " ") + word;
  }
  return text;
}

Confirmation confirmByFlip(const FlipRun& run, const Prediction& prediction) {
  if (prediction.flips.empty()) {
    return {Confirmation::State::NotTried,
            "no message has to be taken otherwise: whether MPI buffers a send is not forced", ""};
  }
  std::vector<std::string> words = {run.program, "flip", run.trace};
  for (std::string& word : flipArguments(prediction)) {
    words.push_back(std::move(word));
  }
  words.insert(words.end(), {"-o", run.output});
  const pid_t child = start(words);
  if (child < 0) {
    return {Confirmation::State::NotTried, "photofinish flip could not be started", ""};
  }
  int status = 0;
  if (!ended(child, run.most, status)) {
    end(child);
    return judgeHang(run, prediction);
  }
  const int exit = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
  if ((exit == kFlipImpossible || exit == kBadUse) && !isFile(run.output)) {
    return {Confirmation::State::NotTried,
            "photofinish flip could not force it (exit status " +
                std::to_string(WEXITSTATUS(status)) + ")",
            ""};
  }
  return judgeEnd(run, prediction, status);
}

}  // namespace pf::app
