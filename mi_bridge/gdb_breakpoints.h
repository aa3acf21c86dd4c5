// SPDX-License-Identifier: GPL-3.0-or-later
// The breakpoints of one GDB: commands for them, and the table of what GDB has, kept from its
// replies and its notifications (GDB notifies only of changes that were not made through MI).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "mi_bridge/gdb_inspector.h"
#include "mi_bridge/python/lines.h"

namespace pf::mi {

struct BreakpointRequest {
  std::string source;  ///< with `line`; otherwise `function`; otherwise `address`
  int line = 0;  ///< of a source of Python: the rank tells of it, and the condition is Python's
  std::string function;
  std::uint64_t address = 0;
  std::string addressExpression;  ///< instead of a number: "main+4"
  std::string condition;
  int ignoreCount = 0;
  bool temporary = false;
  bool enabled = true;
};

enum class WatchKind { Write, Read, Access };
enum class BreakpointChange { Created, Modified, Deleted };

class GdbBreakpoints {
 public:
  using Changed = std::function<void(BreakpointChange, const Breakpoint&)>;
  /// Runs `action` while the program is stopped, without showing that stop to anyone.
  using WhilePaused = std::function<void(std::function<void()> action)>;

  GdbBreakpoints(CommandQueue& queue, Changed changed, WhilePaused whilePaused)
      : m_queue(queue), m_changed(std::move(changed)), m_whilePaused(std::move(whilePaused)) {}

  /// A location that no code is known for yet stays pending. Works while the program runs.
  void insert(const BreakpointRequest& request, Callback<Breakpoint> done);
  /// The program must be stopped.
  void watch(const std::string& expression, WatchKind kind, Callback<Breakpoint> done);
  /// `what`: throw, catch, rethrow, mpi error, or signal with a name, a number, all or nothing.
  void catchpoint(const std::string& what, Callback<Breakpoint> done);
  /// A console command that makes one breakpoint.
  void insertByConsole(const std::string& command, Callback<Breakpoint> done);
  /// GDB commands that run at each stop; none takes them away.
  void setCommands(int number, const std::vector<std::string>& commands, Done done);
  void remove(int number, Done done);
  /// Hidden ones, too.
  void removeAll();
  void enable(int number, bool enabled, Done done);
  /// An empty condition takes it away.
  void setCondition(int number, const std::string& condition, Done done);
  void setIgnoreCount(int number, int count, Done done);

  [[nodiscard]] const std::map<int, Breakpoint>& table() const { return m_table; }
  [[nodiscard]] const Breakpoint* find(int number) const;

  /// For the session: a temporary breakpoint that no one hears of.
  void insertHidden(const BreakpointRequest& request, Callback<Breakpoint> done);
  /// What the rank says of how it tells of lines of Python. Of one that has just been attached to: it is told at first that
  /// nothing is wanted. `done` fails where it is not one of a replay.
  void findPython(Callback<PythonTeller> done);
  /// For the session: the rank is told to go on by lines of Python. `done` has the hidden breakpoint where that ends.
  void insertPythonStep(cpython::LineStep step, int outer, Callback<Breakpoint> done);
  /// For the session: it has stopped elsewhere.
  void endPythonStep();
  /// For the session: GDB lets go of the rank.
  void leavePython();
  /// For the session: `=breakpoint-created`, `-modified`, `-deleted`.
  void notify(const AsyncRecord& record);
  /// For the session: a new GDB has none.
  void clear();

 private:
  void send(std::string text, Completion completion);
  void catchMpiError(std::size_t library, Callback<Breakpoint> done);
  void change(int number, std::string text, std::function<void(Breakpoint&)> apply, Done done);
  /// As it is in the table.
  Breakpoint store(Breakpoint breakpoint);
  /// In GDB, and in no table yet.
  void make(const BreakpointRequest& request, Callback<Breakpoint> done);
  /// `done`, behind what makes a breakpoint one that no one hears of.
  [[nodiscard]] Callback<Breakpoint> hiding(Callback<Breakpoint> done);
  using Commands = std::function<std::vector<std::string>()>;
  void insertPython(const BreakpointRequest& request, Callback<Breakpoint> done);
  void takePlace(const BreakpointRequest& request, Callback<Breakpoint> done);
  void tellPython(const Commands& commands, const std::string& insert, bool again,
                  Callback<Breakpoint> done);
  void tellOfPlace(std::size_t slot);
  void forgetPython(int number);

  /// A breakpoint at a line of Python, which GDB has in a function of the recorder.
  struct OfPython {
    std::size_t slot = 0;
    PythonPlace place;
  };

  CommandQueue& m_queue;
  Changed m_changed;
  WhilePaused m_whilePaused;
  std::map<int, Breakpoint> m_table;
  std::set<int> m_hidden;
  PythonLines m_lines;
  std::map<int, OfPython> m_python;  ///< by number
  int m_created = 0;                 ///< the last one that GDB told of
};

/// The MI command that inserts it, or why it cannot be one.
[[nodiscard]] Result<std::string> insertCommand(const BreakpointRequest& request);

}  // namespace pf::mi
