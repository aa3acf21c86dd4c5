// SPDX-License-Identifier: GPL-3.0-or-later
// What GDB says, as plain values: the records of the MI grammar and the parts of them that a
// debugger asks for. Every extract accepts any Value: a missing field leaves the default.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "mi_bridge/value.h"

namespace pf::mi {

// --- records, named as in the GDB manual ("GDB/MI Output Syntax")
// ---------------------------------

enum class ResultClass { Done, Running, Connected, Error, Exit, Other };

struct ResultRecord {
  std::optional<std::uint64_t> token;
  ResultClass resultClass = ResultClass::Other;
  Value results;  ///< a tuple, also when there are none

  [[nodiscard]] const std::string& errorMessage() const { return results.str("msg"); }
};

enum class AsyncKind { Exec, Status, Notify };

struct AsyncRecord {
  std::optional<std::uint64_t> token;
  AsyncKind kind = AsyncKind::Notify;
  std::string asyncClass;  ///< "stopped", "breakpoint-modified", …
  Value results;
};

enum class StreamKind { Console, Target, Log };

struct StreamRecord {
  StreamKind kind = StreamKind::Console;
  std::string text;
};

/// `(gdb)`.
struct PromptRecord {};

using Record = std::variant<ResultRecord, AsyncRecord, StreamRecord, PromptRecord>;

// --- extracts
// ---------------------------------------------------------------------------------------

/// A local variable or argument. `value` is absent for structures, arrays and with --no-values.
struct Variable {
  std::string name;
  std::string type;
  std::optional<std::string> value;
  bool argument = false;
  std::string opened = {};  ///< what its parts are asked for by, if that is known already

  bool operator==(const Variable&) const = default;
};

struct Frame {
  int level = 0;     ///< its place in the stack as it is shown
  int gdbLevel = 0;  ///< GDB's number; another one behind frames of Python
  std::uint64_t address = 0;
  std::string function;
  std::string file;          ///< as in the debug information
  std::string fullname;      ///< absolute
  int line = 0;              ///< 0: no line information
  std::string from;          ///< the shared library; "" for the program itself
  std::uint64_t python = 0;  ///< CPython's own frame, which this frame of Python is; 0: native
  std::vector<Variable> arguments;

  [[nodiscard]] bool known() const { return address != 0 || !function.empty(); }
  bool operator==(const Frame&) const = default;
};

enum class StopReason {
  Attached,  ///< GDB has just attached
  Breakpoint,
  Watchpoint,
  WatchpointScope,
  Step,      ///< end of step, next, stepi, nexti
  Finished,  ///< end of finish
  Location,  ///< the line of runTo is reached
  Paused,    ///< the user's pause
  Signal,
  Event,  ///< Photofinish stopped the rank at an event
  Exited,
  ExitedBySignal,
  Other,
};

[[nodiscard]] std::string_view toString(StopReason reason);

struct StopEvent {
  StopReason reason = StopReason::Other;
  std::string reasonText;  ///< as GDB calls it; "" when it gives none
  int breakpointNumber = 0;
  bool temporary = false;
  std::string signalName;
  std::string signalMeaning;
  int thread = 0;
  bool allThreads = true;
  Frame frame;
  std::optional<int> exitCode;
  std::string watchExpression;
  std::string oldValue;
  std::string newValue;
  std::string returnValue;  ///< of finish

  /// The interposer stopped the rank: an int3 of its own, in a function named pf_stop….
  [[nodiscard]] bool stoppedAtEvent() const;
  [[nodiscard]] bool exited() const {
    return reason == StopReason::Exited || reason == StopReason::ExitedBySignal;
  }
  /// One line for a person: "Breakpoint 2 hit", "Signal SIGSEGV: Segmentation fault".
  [[nodiscard]] std::string describe() const;
  bool operator==(const StopEvent&) const = default;
};

struct BreakpointLocation {
  std::string number;  ///< "1.2"
  bool enabled = true;
  std::uint64_t address = 0;
  std::string function;
  std::string file;
  std::string fullname;
  int line = 0;

  bool operator==(const BreakpointLocation&) const = default;
};

struct Breakpoint {
  int number = 0;
  std::string type;  ///< "breakpoint", "hw watchpoint", …
  bool temporary = false;
  bool enabled = true;
  std::uint64_t address = 0;
  std::string function;
  std::string file;
  std::string fullname;
  int line = 0;
  std::string condition;
  int ignoreCount = 0;
  int hits = 0;
  std::string pending;  ///< the location as given, while no code is known for it
  std::string what;     ///< the expression of a watchpoint
  std::string originalLocation;
  std::vector<BreakpointLocation> locations;

  bool operator==(const Breakpoint&) const = default;
};

struct ThreadInfo {
  int id = 0;
  std::string target;
  std::string name;
  bool running = false;
  Frame frame;

  bool operator==(const ThreadInfo&) const = default;
};

/// A variable object of GDB: one row of a tree of values that is expanded on demand.
struct VarObject {
  std::string name;        ///< GDB's handle
  std::string expression;  ///< what to show
  std::string type;
  std::string value;
  int children = 0;  ///< known children; more may come when `hasMore`
  bool dynamic = false;
  bool hasMore = false;
  std::string displayHint;  ///< "array", "map", "string" or ""

  [[nodiscard]] bool expandable() const { return children > 0 || hasMore; }
  bool operator==(const VarObject&) const = default;
};

struct VarPage {
  std::vector<VarObject> children;
  bool hasMore = false;
};

struct VarChange {
  std::string name;
  std::optional<std::string> value;
  bool inScope = true;
  bool invalid = false;  ///< the object must be deleted
  std::optional<std::string> newType;
  std::optional<int> newChildren;
  bool hasMore = false;

  bool operator==(const VarChange&) const = default;
};

struct Library {
  std::string name;
  std::uint64_t from = 0;
  std::uint64_t to = 0;
};

[[nodiscard]] Frame frameOf(const Value& value);
[[nodiscard]] std::vector<Frame> framesOf(const Value& stack);
[[nodiscard]] StopEvent stopEventOf(const Value& results);
[[nodiscard]] Breakpoint breakpointOf(const Value& bkpt);
[[nodiscard]] Variable variableOf(const Value& value);
[[nodiscard]] std::vector<Variable> variablesOf(const Value& list);
[[nodiscard]] std::vector<ThreadInfo> threadsOf(const Value& list);
[[nodiscard]] VarObject varObjectOf(const Value& value);
[[nodiscard]] VarPage varPageOf(const Value& results);
[[nodiscard]] std::vector<VarChange> varChangesOf(const Value& list);
[[nodiscard]] std::vector<Library> librariesOf(const Value& results);

/// How many frames of a stack are asked for where firstUserFrame() is looked for.
inline constexpr int kFramesToUser = 63;

/// Whether the frame is in MPI, in Photofinish's interposer or in the C library.
[[nodiscard]] bool isLibraryFrame(const Frame& frame);
/// A wrapper may have left its place on the stack to its second part (restRecv): that frame is
/// named as the program calls it (MPI_Recv). `from` has to be known.
void nameCall(Frame& frame);
/// Index of the first frame of the program itself; nothing if there is none. In a stack with frames of Python: the first one
/// of these, or of native code whose source is known.
[[nodiscard]] std::optional<std::size_t> firstUserFrame(const std::vector<Frame>& frames);
/// Index of the call into MPI that the program is in, where a stack begins to be shown; 0 if it is in none.
[[nodiscard]] std::size_t firstShownFrame(const std::vector<Frame>& frames);

/// Major and minor number out of GDB's first version line; nothing if it is not one.
[[nodiscard]] std::optional<std::pair<int, int>> gdbVersionOf(std::string_view text);

}  // namespace pf::mi
