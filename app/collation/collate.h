// SPDX-License-Identifier: GPL-3.0-or-later
// From the logs of the ranks to a trace file.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "app/collation/contents_digest.h"
#include "app/collation/failure.h"
#include "db/store/former_file.h"
#include "db/store/trace_store.h"
#include "replay_engine/base/result.h"
#include "replay_engine/log/rank_log.h"

namespace pf::app {

/// What a rank waited for, in the call that it was in, when the run could not get on.
struct StuckIn {
  bool proven = false;            ///< nothing that was under way could have ended it
  std::string place;              ///< of the call, as loggedPlace() has it; empty: not known
  std::int32_t peer = kNotKnown;  ///< world rank, or kAny
  std::int32_t tag = kAny;
  static constexpr std::int32_t kAny = -1;
  static constexpr std::int32_t kNotKnown = -2;
};

/// How the program of a rank ended.
struct RankEnd {
  std::optional<StuckIn> stuck;
  std::optional<std::int32_t> status;
  std::optional<std::int32_t> signal;
  std::string host;
  std::string core;      ///< where its core file is, or who has it; empty: there is none
  std::int32_t pid = 0;  ///< not kept
};

/// What only the recorder knows of a run. Kept in LOGS/run.json from the start, so that a run whose
/// recorder was killed can still be collated.
struct RunFacts {
  std::vector<std::string> command;
  std::string workingDirectory;
  std::string launcher;
  std::string program;
  std::string createdUtc;
  std::string mode;  ///< "outcomes", "races" or "all"
  std::uint64_t salt = 0;
  bool sameAddresses = false;
  std::optional<std::int32_t> exitStatus;
  std::optional<std::uint64_t> longestWait;  ///< as of db::RunInfo
  std::optional<std::string> groups;         ///< the same
  std::map<Rank, RankEnd> ends;
  bool goesOn = false;  ///< the ranks still run; not kept
};

Status writeFacts(const std::string& logDirectory, const RunFacts& facts);
Result<RunFacts> readFacts(const std::string& logDirectory);

/// What ranks that looked for races while they ran (mode races) found.
struct RacesFound {
  std::string algorithm;
  std::uint64_t found = 0;  ///< deliveries
  std::uint64_t kept = 0;   ///< wildcard receives whose source is in the trace
  bool threads = false;     ///< of ranks with several threads, whose own races are not among these
};

struct Collated {
  std::string kept;  ///< where the file is that had the trace's name; empty: there was none
  std::int32_t ranks = 0;
  std::uint64_t messages = 0;
  std::uint64_t wildcardReceives = 0;
  std::uint64_t probes = 0;  ///< that saw a message: which, or when, MPI chose
  std::uint64_t racing = 0;
  std::optional<RacesFound> racesFound;
  std::string notReduced;  ///< with racesFound: why sources that do not race are in the trace, too
  bool complete = false;
  bool analysed = false;                 ///< messages and races are known: events were recorded
  std::vector<std::string> cuts;         ///< cutLines() (failure.h)
  std::optional<WhatFailed> failed;      ///< nothing: it ended well, or goes on
  std::vector<std::string> contentsCut;  ///< the same of what came from outside of its group
  std::vector<ContentsDigest> contents;  ///< of what each rank kept of that
  std::vector<std::string> notes;  ///< what was used whose replay is not guaranteed, and where
};

/// Reads logDirectory/rank-*.log and rank-*.payload, and writes the trace `path`; `existing`: what becomes of a file of
/// that name. NotFound if no rank ever called MPI_Init.
Result<Collated> collate(const std::string& logDirectory, const RunFacts& facts,
                         const std::string& path, db::Existing existing = db::Existing::Refuse);

/// Begins the reason why the record of a rank ends that ran on when the trace was made.
inline const std::string kStillRan = "it still ran when this trace was made";

/// What is made from the logs of all ranks.
struct Analysis {
  Execution execution;
  std::vector<Race> races;
  db::LogicalTimes logicalTimes;
  db::RaceClasses raceClasses;
};
/// Assembles, finds the races, resolves call sites. `over`: as assemble() takes it.
Result<Analysis> analyse(const std::vector<RankLog>& logs, bool over = true);

/// Where what a rank received from outside of its group ends: "no more could be kept: No space left on device"; empty: with
/// its record.
[[nodiscard]] std::string contentsEnd(const db::PayloadInfo& payload);

/// Content of logDirectory/rank-N.log for all ranks that have one, by rank.
Result<std::map<Rank, std::vector<unsigned char>>> readLogFiles(const std::string& logDirectory);

/// "main.c:57", or what is known of the place.
std::string siteText(const Execution& execution, std::uint32_t site);
/// The event at which a race's receive shows itself: where a blocking receive or probe is called,
/// where a non-blocking one was posted.
EventRef raceEvent(const Execution& execution, const Race& race);
/// Where a race's receive stands, and where the senders do: "a.c:10 <- a.c:20 b.c:7". Needs matchMessages() first.
std::string racePlaces(const Execution& execution, const Race& race);

std::string utcNow();
std::string hostName();

}  // namespace pf::app
