// SPDX-License-Identifier: GPL-3.0-or-later
// Records a program again and again until a run of it fails; keeps that run, and one that did not fail.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "app/recording/kept_output.h"
#include "app/recording/record.h"
#include "replay_engine/base/result.h"

namespace pf::app {

struct UntilFailure {
  int runs = 100;                                     ///< at most
  std::optional<std::chrono::duration<double>> time;  ///< no run goes on after it
  std::string
      check;  ///< for the shell, behind each run that ended well, with what it printed as standard input; empty: none
};

/// How one run of the program ended.
struct TriedRun {
  int exitStatus = 0;
  std::optional<std::string> failure;  ///< the sentence; nothing: it ended well
  bool interrupted = false;            ///< by the user: it is not judged
  bool traced = true;                  ///< false: it was interrupted before it had anything to keep
  std::vector<std::string> details = {};  ///< lines to tell of it if it is the one that fails
  bool timeWasUp = false;                 ///< RecordOptions::runLimitEndsAll: it is not judged
  bool wrong = false;                     ///< it ended well, and the check says that it is wrong
};
/// Records a run into `trace`, with delays by this seed (0: none). An error is none of the program's.
using TryOnce = std::function<Result<TriedRun>(const std::string& trace, std::uint64_t jitterSeed)>;

struct Tried {
  int runs = 0;         ///< that were begun
  int exitStatus = 0;   ///< of the run that failed, not 0; or was interrupted; else 0
  std::string failing;  ///< trace; empty: none failed
  std::string good;     ///< trace of the last run that did not; empty: there was none
  std::string ended;    ///< trace of the run that the user has ended; empty: there is none
};

/// Has a command of the shell judge what a run has printed, its standard input: whether its exit status is 0. NotFound: it
/// cannot be run; Usage: not all that was printed is there.
Result<bool> isRight(const std::string& command, const Printed& printed);
/// Whose output is shown at the end of its run.
enum class ShownOutput : std::uint8_t { OfFailed, OfAll };
/// Records one run into options.output, with standard input from its beginning, and has `check` judge it, if it is not empty. An
/// error is none of the program's. `options.input` is set.
Result<TriedRun> recordAndCheck(RecordOptions& options, const std::string& check,
                                ShownOutput shown);

/// Native timing and delays in turn; from `firstSeed` on, if that is not 0, delays only. `trace` becomes the run that fails;
/// the good one lies beside it (goodName()). Says on standard error how each ended. Usage before any run where one of these
/// names is taken and may not be replaced, or is no trace's. A run that the user ends becomes `trace`, too: only the user knows
/// why.
Result<Tried> tryUntilFailure(const UntilFailure& wish, const std::string& trace, bool replace,
                              std::uint64_t firstSeed, const TryOnce& once);
/// "a.pft": "a-good.pft".
std::string goodName(const std::string& trace);

/// The same with record(). What the program prints on standard output is shown of the run that fails only.
Result<Tried> recordUntilFailure(const RecordOptions& options, const UntilFailure& wish);

}  // namespace pf::app
