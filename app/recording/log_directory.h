// SPDX-License-Identifier: GPL-3.0-or-later
// The directory of a recording's logs. Who looks at a recording sees all of it, locked by the
// recorder, or nothing.
#pragma once

#include <string>

#include "app/collation/collate.h"
#include "replay_engine/base/unique_fd.h"

namespace pf::app {

/// Makes the directory, with `facts` in it, and locks it. Logs that are there already are another
/// recording's: they are kept aside, and refused (Usage) while that one goes on. The lock may be
/// invalid where the file system has none.
Result<UniqueFd> beginLogs(const std::string& path, const RunFacts& facts);

/// Removes it, and what a recorder makes in it. Where it holds something else, it stays with that,
/// which is said.
void endLogs(const std::string& path);

/// Held for as long as a recorder (or one who makes a trace of its logs) is at work in the
/// directory. Invalid: another one is.
UniqueFd lockLogs(const std::string& path);

/// Another one is at work in it, or so it has to be taken where the file system has no locks.
bool areLogsLocked(const std::string& path);

/// A directory (0700) for the logs of a survey of `trace`, which goes with this. Beside the trace,
/// which will have to hold them; where that cannot be written, in $TMPDIR (or /tmp), and in
/// $XDG_RUNTIME_DIR, which is memory, last.
class SurveyLogs {
 public:
  static Result<SurveyLogs> make(const std::string& trace);
  static SurveyLogs none() { return {{}, {}}; }
  ~SurveyLogs();
  SurveyLogs(SurveyLogs&& other) noexcept = default;
  SurveyLogs& operator=(SurveyLogs&&) = delete;
  SurveyLogs(const SurveyLogs&) = delete;
  SurveyLogs& operator=(const SurveyLogs&) = delete;

  [[nodiscard]] const std::string& path() const { return m_path; }

 private:
  SurveyLogs(std::string path, UniqueFd lock) : m_path(std::move(path)), m_lock(std::move(lock)) {}

  std::string m_path;
  UniqueFd m_lock;  ///< valid while the directory is ours
};

}  // namespace pf::app
