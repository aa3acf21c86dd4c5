// SPDX-License-Identifier: GPL-3.0-or-later
// The commands that are carried out by other programs of ours, as they need Qt:
// photofinish-headless.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "app/replaying/part_of_job.h"
#include "replay_engine/base/result.h"

namespace pf::cli {

/// Becomes the program `name` that lies beside this one. Returns only if there is none.
void become(const std::string& name, std::vector<std::string> words);
/// Becomes photofinish-headless, or says why not.
Error becomeHeadless(const std::vector<std::string>& words);

/// photofinish debug --offline
struct OfflineOptions {
  bool offline = false;
  std::string output;
  std::vector<std::string> breaks;          ///< FILE:LINE
  std::vector<std::string> logs;            ///< FILE:LINE EXPRESSION
  std::string transcripts;                  ///< directory, or empty
  double snapshotEvery = 0.0;               ///< seconds; 0: when SIGUSR1 asks for one
  std::chrono::milliseconds stallAfter{0};  ///< as app::RecordOptions
  bool trusted = false;                     ///< a trace that is given is taken over
  app::PartOfJob part;                      ///< of a trace: which ranks run
};

/// Usage where a part is wanted of a job that is not recorded yet.
Status isNoPart(const app::PartOfJob& part);
/// The words that name it to photofinish-headless; none: it is whole.
std::vector<std::string> partWords(const app::PartOfJob& part);

/// Lists the jobs that run on this host, for photofinish attach.
std::string runningJobsText();
/// The words for the window: what is to be attached to, or the core files. Checks both first.
Result<std::vector<std::string>> attachWords(int pid);
Result<std::vector<std::string>> coreWords(const std::vector<std::string>& files,
                                           const std::string& program);

/// What is wrong with a FILE:LINE (with an expression behind it, or not); "" if nothing is.
std::string wrongPlace(const std::string& text, bool expression);

/// Records `words` (unless it is one trace), and becomes the program that replays it and writes the
/// report. Returns the program's exit status if there is no trace to report on.
Result<int> debugOffline(const std::vector<std::string>& words, const OfflineOptions& options);

}  // namespace pf::cli
