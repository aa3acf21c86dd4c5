// SPDX-License-Identifier: GPL-3.0-or-later
// What 'photofinish debug --offline' found, and the two forms that it is written in. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "replay_engine/execution/execution.h"

namespace pf::headless {

/// An event, with its place in the source.
struct ReportEvent {
  EventRef event;
  std::string call;    ///< "MPI_Recv (any source, tag 3)"
  std::string place;   ///< "main.c:57"; empty without debug information
  std::string source;  ///< that line; empty if it could not be read
};

struct ReportFrame {
  std::string function;  ///< "apply()", or a recorded call
  std::string place;
  std::string source;
};

/// Ranks with the same functions and places on their stacks.
struct ReportStack {
  std::vector<Rank> ranks;
  std::vector<ReportFrame> frames;
  std::string note;  ///< "from the recording: this rank had no GDB"
};

/// Adds a rank's stack to those of the same functions and places.
void addStack(std::vector<ReportStack>& stacks, Rank rank, std::vector<ReportFrame> frames,
              std::string note);

/// What all ranks were doing at some moment of the replay.
struct ReportSnapshot {
  double seconds = 0.0;            ///< since the beginning of the replay
  std::string why;                 ///< what asked for it; empty: its time had come
  std::vector<std::string> where;  ///< of each rank: "event 17, waiting in MPI_Recv …"
  std::vector<ReportStack> stacks;
};

struct ReportValue {
  std::string name;
  std::string type;
  std::string value;
};

struct ReportRace {
  ReportEvent receive;
  ReportEvent taken;
  std::vector<ReportEvent> alternatives;
};

struct ReportHit {
  std::string what;  ///< as it was asked for
  EventRef after;    ///< the last event that the rank had begun
  std::string function;
  std::string place;
  std::string value;  ///< of a logpoint; or GDB's reason why there is none
};

struct ReportRank {
  Rank rank = 0;
  std::string end;  ///< how it ended in the recording
  std::uint64_t events = 0;
  std::string executable;
  std::string buildId;
  std::string out;  ///< what it printed in the replay
  std::string err;
  std::uint64_t outLost = 0;  ///< bytes at the beginning that are not kept
  std::uint64_t errLost = 0;
};

struct OfflineReport {
  std::string title;
  std::vector<std::pair<std::string, std::string>> facts;  ///< command, directory, host …
  bool failed = false;
  std::string failure;                    ///< one line: what happened, to which rank
  std::vector<ReportEvent> failingEvent;  ///< at most one: the last receive of the rank that failed
  std::vector<ReportStack> stacks;
  std::string valuesOf;  ///< "rank 0 in collect()": of which frame
  std::vector<ReportValue> values;
  double snapshotEvery = 0.0;  ///< seconds; 0: not by time
  std::vector<ReportSnapshot> snapshots;
  std::vector<ReportRace> races;
  std::uint64_t racesLeftOut = 0;
  std::vector<ReportHit> hits;
  std::vector<std::string> hitTotals;  ///< "harvest.c:120: 13 hits"
  std::vector<ReportRank> ranks;
  std::vector<std::string> notes;
};

/// One file without references to others.
/// "2.0 s after the beginning of the replay", and why it was taken.
std::string snapshotTitle(const ReportSnapshot& snapshot);
/// "Every 2 s …: 3 snapshots"; empty where none was asked for.
std::string snapshotsText(const OfflineReport& report);
std::string toHtml(const OfflineReport& report);
std::string toPlainText(const OfflineReport& report);
/// With &, <, >, ", ' and control characters so that HTML shows them.
std::string htmlEscaped(const std::string& text);
/// "0-3, 7".
std::string rankList(const std::vector<Rank>& ranks);

}  // namespace pf::headless
