// SPDX-License-Identifier: GPL-3.0-or-later
// 'photofinish debug --script': carries out one command of a script after the other on a session,
// each once the one before has come to rest, and prints what comes of it.
//
// - Standard output has nothing but answers; each line of them begins with its ranks: "[0-2] 42".
// - The first command that fails ends the script, but at a terminal.
// - A command that moves ranks is done when no rank is on its way any more: each is stopped, has
//   ended, or waits in a call and has done so for a while.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>

#include <QElapsedTimer>
#include <QObject>
#include <QTimer>

#include "app/front_end/line_buffers.h"
#include "app/script/script_commands.h"
#include "app/session/debug_session.h"

namespace pf::headless {

class ScriptRun : public QObject {
  Q_OBJECT
 public:
  /// `name`: of the script, for messages. `interactive`: somebody types; nothing ends at an error.
  ScriptRun(const QString& trace, session::LoadedTrace loaded, std::string name, bool interactive);

  /// Lines of the script, in their order, as they come.
  void addLine(const std::string& line);
  void noMoreLines();
  void start();
  /// Ends the replay and the script by a signal; finished() follows.
  void stop(int signal);
  [[nodiscard]] int exitStatus() const { return m_status; }

  /// Whether there is code for this command.
  [[nodiscard]] static bool carriesOut(std::string_view verb);

 Q_SIGNALS:
  void finished();

 private:
  static constexpr int kMostFrames = 63;  ///< the number of the last one that is asked for
  using Command = ScriptCommand;
  using Handler = void (ScriptRun::*)(const Command&);

  /// What a move waits for, beside that no rank is on its way.
  struct Move {
    bool settles = false;      ///< the session has to say that the ranks have come to where they go
    bool mayWait = false;      ///< … or all wait for a while, which is a result
    bool refusable = false;    ///< the session may refuse it with a message
    bool onlyChanges = false;  ///< tell nothing where no rank has moved
    QSet<int> ranks = {};      ///< each has to stop
  };
  /// To whatever stops the ranks.
  static Move onward() { return {.settles = true, .mayWait = true, .refusable = true}; }
  static Move thereTo() { return {.settles = true, .refusable = true}; }
  static Move stopOf(const QSet<int>& ranks) { return {.ranks = ranks}; }

  // script_run.cpp: one command after the other
  static const std::map<std::string_view, Handler>& handlers();
  void next();
  void carryOut(const std::string& line);
  void say(const QList<int>& ranks, const QString& text);
  void sayPlain(const QString& text);
  void sayForAll(const QString& text);
  /// One line for each text, with the ranks that have it.
  void sayEqualOnes(const std::map<int, QString>& texts);
  void done();
  void fail(const QString& why);
  void print();
  void prompt();
  void leave();
  [[nodiscard]] QList<int> ranksOf(const std::string& group, QString* problem) const;
  [[nodiscard]] int rankCount() const;
  [[nodiscard]] QString sayable(const QString& text) const;
  void echo(const Command& command);
  void expect(const Command& command);
  void timeout(const Command& command);
  void help(const Command& command);
  void quit(const Command& command);

  // script_run_wait.cpp: when a move is done
  void connectSession();
  void connectAnswers();
  void move(const Move& how, const std::function<void()>& act);
  void look();
  [[nodiscard]] bool rests(const values::RankState& state);
  [[nodiscard]] bool gone(const values::RankState& state);
  [[nodiscard]] bool arrived();
  [[nodiscard]] QSet<int> stopTogether(const QList<values::RankState>& states);
  void moved();
  void chooseRank();
  [[nodiscard]] int urgency(const values::RankState& state);
  [[nodiscard]] QString stillMoving();
  [[nodiscard]] bool gdbsAreIdle();

  // script_run_tell.cpp: what is told of the ranks
  /// Asks the GDBs where their ranks are, then calls `then`.
  void locate(const std::function<void()>& then);
  void answered();
  void tell(const QList<int>& ranks, bool changedOnly);
  [[nodiscard]] QString rankText(const values::RankState& state);
  [[nodiscard]] QString stopText(const values::RankState& state, mi::GdbSession& gdb);
  [[nodiscard]] int breakpointBefore(const EventRef& event) const;

  // script_run_moves.cpp
  void run(const Command& command);
  void repeatCycle(const Command& command);
  void endReplay(const Command& command);
  void continueRanks(const Command& command);
  void pause(const Command& command);
  void step(const Command& command);
  void until(const Command& command);
  void replayTo(const Command& command);
  void navigate(const Command& command);
  void lastChange(const Command& command);
  void chooseFocus(const Command& command);
  void gdb(const Command& command);
  void gdbOf(int rank, const std::string& line);
  [[nodiscard]] QSet<int> steppable();

  // script_run_breakpoints.cpp
  void breakAt(const Command& command);
  void log(const Command& command);
  void addBreakpoint(values::Breakpoint breakpoint);
  /// Completes the command with the breakpoint's line once the GDBs have made the change.
  void tellBreakpoint(int id);
  void sayBreakpoint(int id);
  void remove(const Command& command);
  void change(const Command& command);
  void breakpoints(const Command& command);
  [[nodiscard]] const values::Breakpoint* breakpointOf(int number);
  [[nodiscard]] const values::Breakpoint* known(int id) const;
  [[nodiscard]] int numberOf(int id) const;
  [[nodiscard]] QString breakpointLine(const values::Breakpoint& breakpoint) const;
  void warnOfBreakpoints();

  // script_run_looks.cpp
  void rank(const Command& command);
  void frame(const Command& command);
  void group(const Command& command);
  void groups(const Command& command);
  void printValue(const Command& command);
  void evaluateOn(int rank, const std::string& function, const std::string& expression);
  void stack(const Command& command);
  void stacks(const Command& command);
  void where(const Command& command);
  void whichMessage(const Command& command);
  void races(const Command& command);
  void cycles(const Command& command);
  void output(const Command& command);
  void showStack(const QList<values::RankStack>& stacks);

  std::string m_name;
  bool m_interactive;
  views::TraceDataPtr m_data;
  std::deque<std::string> m_lines;
  bool m_noMore = false;
  int m_number = 0;  ///< of the present line, from 1
  bool m_busy = false;
  bool m_leaving = false;
  bool m_finished = false;
  int m_status = 0;
  QList<int> m_ranks;    ///< that the present command is for
  QStringList m_answer;  ///< of the present command
  QString m_failure;     ///< of the present command
  QStringList m_last;    ///< answer that 'expect' looks at
  bool m_keepsLast = false;
  int m_timeoutMs = 60000;
  QElapsedTimer m_since;  ///< the present command began

  QTimer m_watch;
  std::function<void()> m_changed;  ///< once no GDB has anything to do
  std::optional<Move> m_move;
  bool m_settled = false;   ///< since the move began, in its last cycle
  bool m_progress = false;  ///< the session has something under way
  std::set<int> m_stopped;  ///< ranks, since the move began
  QStringList m_said;       ///< by the session, since then
  QString m_problem;
  std::optional<int> m_ended;  ///< exit status of the launcher
  int m_wanted = 0;            ///< the rank that a move is for
  int m_cycle = 0;             ///< number of the last
  int m_firstCycle = 0;        ///< of this script
  QList<values::RankState> m_seen;
  QElapsedTimer m_unchanged;  ///< since when the ranks' states are m_seen
  QElapsedTimer m_someStopped;

  quint64 m_question = 0;  ///< answers to one before come too late
  std::set<int> m_missing;
  std::function<void()> m_then;
  std::map<int, QString> m_values;  ///< by rank
  bool m_someValue = false;
  std::map<int, QString> m_places;
  std::map<int, Serial> m_begun;
  std::map<int, QString> m_summaries;  ///< by cycle: where its last move has led
  std::map<int, QString> m_told;       ///< what was last told of a rank in this cycle
  std::map<int, QString> m_console;    ///< what GDBs say to a line
  std::set<int> m_framed;  ///< ranks whose GDB has the program's frame selected since they stopped
  QList<values::StackFrame> m_frames;  ///< of the current rank
  bool m_wantsStack = false;
  bool m_tree = false;                     ///< of all stacks
  QList<int> m_ids;                        ///< of breakpoints by their numbers - 1; 0: deleted
  std::set<std::pair<int, int>> m_warned;  ///< cycle, breakpoint

  LineBuffers m_lineBuffers;
  std::map<int, QByteArray> m_printed;  ///< by rank, in this cycle

  session::DebugSession m_session;  ///< last: its end completes what is asked of GDBs
};

}  // namespace pf::headless
