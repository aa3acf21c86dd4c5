// SPDX-License-Identifier: GPL-3.0-or-later
// The GDBs of all ranks in the focus set: group actions, and breakpoints and watch expressions that
// belong to the debugging session, not to a GDB, and so survive every re-execution by themselves.
//
// Usage: add(rank, transport) for each GDB that an agent has started, then startAndAttach(rank,
// pid); bytes, death and time come in through feed, closed and tick. For the next cycle, add again.
// Single-threaded. An observer may call any function but must not destroy the fleet.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "mi_bridge/gdb_session.h"

namespace pf::mi {

using Rank = std::int32_t;

enum class SpecKind { Code, Watch, ReadWatch, AccessWatch, Catch };

/// A breakpoint of the debugging session.
struct BreakpointSpec {
  int id = 0;  ///< given by the fleet
  SpecKind kind = SpecKind::Code;
  std::string source;
  int line = 0;
  std::string function;
  std::string condition;
  int ignoreCount = 0;
  bool enabled = true;
  bool temporary = false;
  std::set<Rank> ranks;  ///< empty: all
  std::string
      expression;  ///< what is watched or caught; of Code: an address, without file and function
  std::vector<std::string> commands;  ///< of GDB, at each stop
  std::string log;                    ///< Code: writes this (logpoint.h) and does not stop

  [[nodiscard]] bool appliesTo(Rank rank) const { return ranks.empty() || ranks.count(rank) != 0; }
  bool operator==(const BreakpointSpec&) const = default;
};

/// What one rank's GDB makes of a spec.
struct BreakpointStatus {
  int spec = 0;
  Rank rank = 0;
  int gdbNumber = 0;      ///< 0: not in this GDB
  bool verified = false;  ///< code was found for it
  int hits = 0;           ///< in this cycle
  std::string fullname;
  int line = 0;
  std::string problem;  ///< why it is not there

  bool operator==(const BreakpointStatus&) const = default;
};

struct WatchValue {
  int watch = 0;
  Rank rank = 0;
  std::string expression;
  bool ok = false;
  std::string text;     ///< the value, or GDB's error
  bool python = false;  ///< of a frame of Python
  bool parts = false;   ///< it has some; known of Python only
};

struct RankFailure {
  Rank rank = 0;
  Error error;
};

/// How far a group action has come.
struct GroupResult {
  std::string action;
  std::size_t asked = 0;
  std::vector<Rank> done;
  std::vector<RankFailure> failed;

  [[nodiscard]] bool complete() const { return done.size() + failed.size() == asked; }
  /// "next: 3 of 4 ranks; rank 2: the program is running".
  [[nodiscard]] std::string summary() const;
};
using GroupDone = std::function<void(const GroupResult&)>;

class FleetObserver {
 public:
  virtual ~FleetObserver() = default;
  virtual void onRankState(Rank rank, SessionState state) = 0;
  virtual void onRankStopped(Rank rank, const StopEvent& stop) = 0;
  virtual void onBreakpointStatus(const BreakpointStatus& status) = 0;
  /// A breakpoint that the user made in a console: no spec has it.
  virtual void onForeignBreakpoint(Rank rank, BreakpointChange change, const Breakpoint& bp) = 0;
  virtual void onWatch(const WatchValue& value) = 0;
  virtual void onRankConsole(Rank rank, StreamKind kind, std::string_view text) = 0;
  virtual void onRankLost(Rank rank, const std::string& text) = 0;
  virtual void onRankEscalate(Rank rank, Escalation escalation) = 0;
  virtual void onRankToolAction(Rank rank, ToolAction action, std::string_view line) = 0;
  virtual void onRankSlow(Rank rank, const std::string& command, bool givenUp) = 0;
  virtual void onRankValuesChanged(Rank rank) = 0;
  /// A logpoint has written a line; `serial`: events that the rank had begun, 0 = not known.
  virtual void onRankLog(Rank /*rank*/, int /*spec*/, std::uint64_t /*serial*/,
                         const std::string& /*text*/) {}
  /// After each rank's answer to a group action; a straggler does not hold the others back.
  virtual void onGroupProgress(const GroupResult& result) = 0;
};

class Fleet {
 public:
  explicit Fleet(FleetObserver& observer);
  ~Fleet();
  Fleet(const Fleet&) = delete;
  Fleet& operator=(const Fleet&) = delete;

  /// A GDB for this rank; one that the rank had before is closed and forgotten.
  GdbSession& add(Rank rank, std::unique_ptr<Transport> transport);
  void remove(Rank rank);
  [[nodiscard]] GdbSession* session(Rank rank);
  [[nodiscard]] std::vector<Rank> ranks() const;

  /// Starts, attaches and inserts every breakpoint that applies; the rank stays stopped.
  void startAndAttach(Rank rank, pid_t pid, Done done);
  /// GDBs that start from now on call no function of the program, whatever expression or condition asks for it. One that
  /// cannot be kept from it does not attach.
  void forbidCalls() { m_mayCall = false; }
  /// Why this machine does not stop at changes of memory: no watchpoint is set then, and a GDB that is told to set one by its
  /// console takes single steps. Empty: it does.
  void refuseWatchpoints(std::string why) { m_noWatchpoints = std::move(why); }
  [[nodiscard]] const std::string& noWatchpoints() const { return m_noWatchpoints; }
  /// The rank is to be another process: ends the one that it is (GdbSession::abandon()).
  void abandon(Rank rank, Done done);
  /// Then: its GDB attaches to that one, with all breakpoints as if they had never been hit.
  void reattach(Rank rank, pid_t pid, Done done);
  void feed(Rank rank, std::string_view bytes);
  /// As GdbSession::closed().
  std::string closed(Rank rank, const std::string& reason);
  void tick(TimePoint now);

  void run(const std::vector<Rank>& ranks, const RunCommand& command, GroupDone done);
  void pause(const std::vector<Rank>& ranks, GroupDone done);
  void detach(const std::vector<Rank>& ranks, GroupDone done);

  /// Gives the spec an id and inserts it wherever it applies.
  int addBreakpoint(BreakpointSpec spec);
  /// Same id: enabled, condition and ignore count change in place, anything else is inserted anew.
  Status changeBreakpoint(const BreakpointSpec& spec);
  void removeBreakpoint(int id);
  [[nodiscard]] std::vector<BreakpointSpec> breakpoints() const;
  [[nodiscard]] BreakpointStatus status(int id, Rank rank) const;
  /// The spec of a stop's breakpoint; 0: none.
  [[nodiscard]] int specOf(Rank rank, int gdbNumber) const;

  int addWatch(std::string expression);
  void removeWatch(int id);
  /// Watches are evaluated for this rank only, now and at each of its stops, in this frame of the thread that stopped.
  void focus(Rank rank, FrameRef frame = {});
  void refreshWatches();

 private:
  class Member;
  friend class Member;
  using Act = std::function<void(GdbSession&, Done)>;

  void group(std::string action, const std::vector<Rank>& ranks, const Act& act, GroupDone done);
  void evaluateWatches(Rank rank);
  void tellWatch(WatchValue watch, const Result<std::string>& value);
  void forEach(const std::function<void(Member&)>& visit);

  FleetObserver& m_observer;
  std::map<Rank, std::unique_ptr<Member>> m_members;
  std::vector<std::unique_ptr<Member>> m_retired;  ///< until no callback can be inside them
  std::map<int, BreakpointSpec> m_specs;
  std::map<int, std::string> m_watches;
  bool m_mayCall = true;
  std::string m_noWatchpoints;
  int m_lastSpec = 0;
  int m_lastWatch = 0;
  Rank m_focus = -1;
  FrameRef m_frame;
  TimePoint m_now;
};

}  // namespace pf::mi
