// SPDX-License-Identifier: GPL-3.0-or-later
// What a survey saw is kept only if it saw the recorded run. Private to app/replaying.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "app/replaying/replay.h"

namespace pf::app {

/// What is in `fd`, a file that a launcher wrote to: its last lines, indented; empty where it wrote nothing.
std::string lastWords(int fd);

/// Puts what the survey whose logs lie in `logs` saw into the trace. Divergence, and the trace is as before, where a rank
/// did not come to the end of its record; `words`: what the launcher wrote (lastWords()).
Status keepSurvey(db::TraceStore& store, const std::string& logs, const std::string& words);

/// What the survey of a part of the job saw: other ranks have no events. It is no execution of the trace's.
Result<Execution> seenOfPart(db::TraceStore& store, const std::string& logs,
                             const std::vector<Rank>& ran, const std::string& words);

/// Puts what a survey of a part of the job saw into the trace, and says what that was. With those of the other ranks that are kept
/// there, it is the execution of the trace once it is of all; of a trace that has one, nothing is changed. Divergence: as keepSurvey().
Result<Execution> keepSurveyOfPart(db::TraceStore& store, const std::string& logs,
                                   const std::vector<Rank>& ran, const std::string& words);
/// What surveys of parts saw of these ranks, while the execution of the trace is not known: others have no events. Nothing: not all
/// of them were surveyed so.
Result<std::optional<Execution>> knownOfPart(db::TraceStore& store, const std::vector<Rank>& ran);
/// Ranks whose events nobody has seen.
Result<std::vector<Rank>> ranksNotSurveyed(db::TraceStore& store);

/// Whether the survey of a run that was cut has come to its end. A rank that takes long in a call counts as one that waits, though
/// it will go on.
struct SurveyEnd {
  std::map<Rank, Serial> begun;  ///< events that each rank has begun, as far as is known
  bool goesOn = false;           ///< ranks that ended inside of a call have not begun it yet

  /// All that run wait, or stop at the ends of their records. False: they are to go on to these ends.
  bool isThere(const std::vector<db::RankInfo>& ranks);

 private:
  std::optional<std::chrono::steady_clock::time_point> m_waitsUntil;
};

}  // namespace pf::app
