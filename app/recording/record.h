// SPDX-License-Identifier: GPL-3.0-or-later
// photofinish record: run a program, keep what MPI chose.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "app/collation/collate.h"
#include "replay_engine/base/result.h"

namespace pf::app {

class RepeatedInput;

struct RecordOptions {
  std::vector<std::string> command;  ///< launcher, its options, program, arguments
  std::string output;                ///< trace file; empty = PROGRAM-N.pft here
  bool replace = false;              ///< a trace of that name goes; else it is kept under a number
  std::string mode = "outcomes";     ///< "outcomes", "races" or "all"
  std::string algorithm = "meehan";  ///< of mode races: see race_reduction.h
  std::uint32_t window = 0;          ///< of mode races: decisions of algorithm-b delayed by it
  std::string
      groups;  ///< SPEC (replay_engine/groups): contents from outside of each group are kept; empty: none are
  std::uint64_t jitterSeed = 0;  ///< 0 = none
  bool cycles = false;           ///< the rdtsc instruction, too
  bool sameAddresses = false;    ///< the program's memory lies where it does in each replay
  bool endStuck = false;  ///< end the program once it cannot get on for certain, or at stallLimit
  /// Every rank waits: until that is told, and how long they may at all; 0 = by itself, never.
  std::chrono::milliseconds stallAfter{0};
  std::chrono::milliseconds stallLimit{0};
  std::chrono::milliseconds runLimit{0};  ///< the program is ended then; 0 = never
  bool runLimitEndsAll = false;           ///< of several runs: whoever is ended so has not failed
  bool quiet = false;                     ///< no summary line
  RepeatedInput* input = nullptr;         ///< of one recording of several; null: our standard input
  int standardOutput = 1;                 ///< where the launcher's goes
};

struct Recorded {
  std::string trace;
  int exitStatus = 0;  ///< of the launcher
  std::uint64_t racing = 0;
  std::optional<WhatFailed> failed;  ///< with a trace; nothing: it ended well
  bool interrupted = false;          ///< by Ctrl-C or SIGTERM to us
  bool timeWasUp = false;            ///< runLimit: it has failed by that
  std::vector<std::string> details;  ///< of where records end, and what is not in them: lines
};

/// The first of BASE-1.pft, BASE-2.pft … that is free and not `taken`.
std::string freeTraceName(const std::string& base,
                          const std::function<bool(const std::string& name)>& taken);

/// The name that the trace will have: where the options give none, the first of the program's that is free and not `taken`.
/// Usage: it is no command of a launcher.
Result<std::string> nameOfTrace(const RecordOptions& options,
                                const std::function<bool(const std::string& name)>& taken);

/// Runs the program to its end and makes the trace. Says what happened on standard error.
Result<Recorded> record(const RecordOptions& options);

/// Before a recording begins: nothing but a trace will be overwritten by it, and logs that an
/// earlier recorder has left are a trace before the name is taken.
Status makePlace(const std::string& trace, bool replace);

/// Directory of the logs of a recording that writes `trace`.
std::string logDirectoryOf(const std::string& trace);

/// Makes the trace `to` of what a recording that goes on, of `trace`, has so far; the program does
/// not notice. Usage where nothing is being recorded under this name, NotFound before MPI_Init.
Result<Collated> peek(const std::string& trace, const std::string& to);

/// What there is of a recording that may go on.
struct RecordingNow {
  bool logs = false;
  bool recorder = false;  ///< somebody is at work on them: who records, or makes the trace of them
  bool trace = false;     ///< its trace is there: it is finished
  std::uint64_t grown = 0;  ///< larger with each event, and with contents that are kept
};
RecordingNow recordingNow(const std::string& trace);

/// The traces that recorders of this host make now, as far as this user may see them.
std::vector<std::string> recordingsThatGoOn();

/// Makes `trace` of the logs of a recording whose recorder was killed, if they are there; a file of
/// that name is kept under a number. Where the file is of a later recording than the logs, theirs
/// gets the number. True if `trace` was made.
Result<bool> recoverTrace(const std::string& trace);

}  // namespace pf::app
