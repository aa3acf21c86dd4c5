// SPDX-License-Identifier: GPL-3.0-or-later
// Values that the application hands to the debugger views, and the words of what users ask for.
// QtCore only; compared and copied freely.
#pragma once

#include <QDateTime>
#include <QList>
#include <QString>
#include <QStringList>

#include "replay_engine/execution/execution.h"
#include "views/values/namespaces.h"

namespace pf::values {

/// What a rank does now.
enum class RankActivity {
  NotStarted,
  Gated,
  Running,
  InCall,
  Stopped,
  Failed,
  Finished,
  Lost,
  NotInReplay,  ///< other ranks are replayed without it
  NotHere,  ///< of a job that was not recorded: neither a process nor a core file of it is known
};

/// Whether there is nothing of the rank to look at.
inline bool isAbsent(RankActivity activity) {
  return activity == RankActivity::NotInReplay || activity == RankActivity::NotHere;
}

struct RankState {
  Rank rank = 0;
  RankActivity activity = RankActivity::NotStarted;
  Serial serial = 0;  ///< last event begun, 0 = none
  QString where;      ///< "collect() at master.c:88"
  QString detail;     ///< "waiting in MPI_Recv for any source, tag 7", "breakpoint 2", "SIGSEGV"
  bool debugger = false;  ///< a GDB is attached
  QString host;
  qint64 pid = 0;
  bool inside = false;  ///< of the event that it has begun last
  friend bool operator==(const RankState&, const RankState&) = default;
};

enum class RankAction { Continue, Pause, Step, Next, Finish };

struct StackFrame {
  int level = 0;
  QString function;
  QString arguments;
  QString file;  ///< full path, empty if unknown
  int line = 0;
  QString module;
  QString address;
  int gdbLevel = 0;    ///< GDB's number
  quint64 python = 0;  ///< of a frame of Python: which of the interpreter's it is
  friend bool operator==(const StackFrame&, const StackFrame&) = default;
};

/// The stack of one rank: the program's own frames, the innermost one first. A rank inside of MPI
/// has its call as innermost frame, without a file.
struct RankStack {
  Rank rank = 0;
  QList<StackFrame> frames;
  bool debugger = false;  ///< told by its GDB
  QString note;           ///< why there are no frames, or none of Python
  friend bool operator==(const RankStack&, const RankStack&) = default;
};

/// One variable or member. `path` identifies it ("locals/result/x"); children come later, on
/// request.
struct Variable {
  QString path;
  QString name;
  QString value;
  QString type;
  bool hasChildren = false;
  bool argument = false;
  bool editable = true;
  friend bool operator==(const Variable&, const Variable&) = default;
};

/// Value of a watched expression on one rank.
struct WatchValue {
  Rank rank = 0;
  QString value;
  QString error;  ///< instead of a value: "No symbol \"x\" in current context."
  /// The value at the stop before, in the same function; empty: it is the same one, or not known.
  QString before = {};
  bool hasParts = false;  ///< of a structure, an array or a pointer: it may be opened
  friend bool operator==(const WatchValue&, const WatchValue&) = default;
};

enum class BreakpointState { Set, Pending, Failed };

struct CycleHits {
  int cycle = 0;
  int hits = 0;
  friend bool operator==(const CycleHits&, const CycleHits&) = default;
};

/// What a breakpoint is on. Code: `file` and `line`, or `function`; all others: `expression`.
enum class BreakpointKind { Code, Address, Watch, ReadWatch, AccessWatch, Catch, Logical };
/// Who stops with the rank that has come to a breakpoint.
enum class StopsWho { Alone, Group, All };

struct Breakpoint {
  int id = 0;
  bool enabled = true;
  BreakpointState state = BreakpointState::Pending;
  QString file;  ///< source breakpoint
  int line = 0;
  QString function;    ///< function breakpoint
  QString expression;  ///< watched; an address; what is caught; a logical breakpoint's text
  EventRef event;      ///< of a logical breakpoint, the only one or the first one
  QString condition;
  int ignoreCount = 0;
  QString ranks;  ///< "" = all, else "0,2-4"
  QString note;   ///< error of GDB, or the user's own words
  QList<CycleHits> hits;
  BreakpointKind kind = BreakpointKind::Code;
  StopsWho stops = StopsWho::Alone;
  QString group;  ///< of StopsWho::Group: "0,2-4"
  bool temporary = false;
  QStringList commands;  ///< of GDB, at each stop
  QString log;       ///< a logpoint writes this and goes on; {EXPRESSION} is replaced by its value
  QString lineText;  ///< of `file` and `line`, when it was set
  QList<EventRef> events;  ///< that a logical breakpoint stands for
  friend bool operator==(const Breakpoint&, const Breakpoint&) = default;
};

/// An expression and its value, or GDB's error, at a stop.
struct WatchedValue {
  QString expression;
  QString value;
  friend bool operator==(const WatchedValue&, const WatchedValue&) = default;
};

/// A breakpoint's hit in a cycle. The n-th hit of a breakpoint by a rank is the n-th in the cycle's
/// list.
struct BreakpointHit {
  int breakpoint = 0;
  Rank rank = 0;
  Serial serial = 0;  ///< event that comes next for a logical one; else events begun
  QList<WatchedValue> values;
  friend bool operator==(const BreakpointHit&, const BreakpointHit&) = default;
};

/// A line that a logpoint has written.
struct LogEntry {
  int cycle = 0;
  Rank rank = 0;
  Serial serial = 0;  ///< events begun
  int breakpoint = 0;
  QString text;
  friend bool operator==(const LogEntry&, const LogEntry&) = default;
};

enum class CycleMatch { Unknown, Matches, Diverged };

struct CycleStop {
  Rank rank = 0;
  Serial serial = 0;
  QString where;
  QString why;
  friend bool operator==(const CycleStop&, const CycleStop&) = default;
};

struct Cycle {
  int number = 0;
  QDateTime started;
  bool running = false;
  QString summary;  ///< "stopped at breakpoint 1", "ran to the end"
  int hits = 0;     ///< breakpoint hits
  CycleMatch match = CycleMatch::Unknown;
  QString divergence;  ///< rank, event, expected, got
  QString inputs;      ///< "inputs differ: in.dat (changed)": as recorded all the same, or why not
  QList<CycleStop> stops;
  QList<BreakpointHit> recorded;  ///< the hits, in their order
  QString build;                  ///< build-id of the program
  QList<int> ranks;               ///< that ran, without the others; empty: all
  bool stands = false;            ///< of one that is running: it has stopped where `summary` says
  friend bool operator==(const Cycle&, const Cycle&) = default;
};

enum class OutputStream { Out, Err };

/// "all", "0", "0-3, 7".
[[nodiscard]] QString rankSetText(QList<int> ranks);
/// Parses rankSetText()'s form; `ok` false on anything else. Empty text gives an empty list.
[[nodiscard]] QList<int> parseRankSet(const QString& text, bool& ok);
/// Its summary, with its inputs and ranks where these are not as recorded.
[[nodiscard]] QString outcomeText(const Cycle& cycle);
[[nodiscard]] QString activityText(RankActivity activity);
[[nodiscard]] QString actionText(RankAction action);
/// "master.c:88", "collect()", "*0x4011d6", "watch x", "catch throw", "receive 2#4", "rank 2, event
/// 17".
[[nodiscard]] QString breakpointPlace(const Breakpoint& breakpoint);
/// "rank", "all" or the group's ranks.
[[nodiscard]] QString stopsText(const Breakpoint& breakpoint);
/// Sets who stops from stopsText()'s form; false on anything else.
bool setStops(Breakpoint& breakpoint, const QString& text);

}  // namespace pf::values
