// SPDX-License-Identifier: GPL-3.0-or-later
// What the tools do: commands of scripts (app/script/command_run.h) on the session of the open trace, and reports of it
// (app/reports), which are made on a thread of a pool. One call at a time.
//
// - A trace that its user has not recorded is read, and nothing of it is run (app/traces/own_traces.h).
// - What only looks goes to GDB (mi_bridge/looking_words.h), unless the user has allowed the console.
// - What ranks print is kept for the tool `output`: it goes nowhere else.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include <QFutureWatcher>
#include <QObject>

#include "app/mcp/wire/bounded_text.h"
#include "app/mcp/wire/tool_catalog.h"
#include "app/script/command_run.h"
#include "views/trace/analyses/job_state.h"

namespace pf::headless {

/// How to see what was left out.
inline constexpr const char* kSmaller = "ask for fewer ranks, or for less";

struct McpOptions {
  bool trusted = false;  ///< traces that are asked for are taken over
  bool console = false;  ///< GDB is given any line, and may call functions
};

/// How a call has ended.
struct ToolResult {
  std::string text;  ///< what it says; bounded
  std::optional<Error>
      error;  ///< it has failed: why, and what to do next; `text` is what was said before
};

class ToolDesk : public QObject {
  Q_OBJECT
 public:
  using Given = mcp::Given;
  /// Of the traces to come, what makes the replays of their cycles; in tests, a script's.
  using Prepare = std::function<void(session::DebugSession&)>;

  explicit ToolDesk(McpOptions options, Prepare prepare = {});
  ~ToolDesk() override;
  Q_DISABLE_COPY_MOVE(ToolDesk)

  /// No call goes on. ended() follows, later.
  void call(const mcp::Tool& tool, const Given& given);
  /// The present call has not ended, or what it has begun in the background.
  [[nodiscard]] bool isBusy() const { return m_busy; }
  /// The present call is given up. A replay that it has begun is ended. ended() follows.
  void cancel();
  /// Gives up what goes on, ends the replay, and closes the trace. finished() follows.
  void finish();
  /// There is code for this tool.
  [[nodiscard]] bool has(std::string_view tool) const { return m_tools.contains(tool); }

 Q_SIGNALS:
  void ended(const pf::headless::ToolResult& result);
  void progress(const QString& text);  ///< of the present call
  void finished();

 private:
  using Handler = void (ToolDesk::*)(const Given& given);
  /// A command, and whether its answer is shown.
  struct Step {
    ScriptCommand command;
    bool shown = true;
    bool mayFail = false;  ///< the others go on
    std::string title;     ///< before its answer
  };
  struct Opened {
    session::LoadedTrace loaded;
    std::optional<Error> foreign;  ///< why nothing of it is run
  };
  using OpenedPtr = std::shared_ptr<Result<Opened>>;
  using Work = std::function<ToolResult()>;

  void open(const Given& given);
  void close(const Given& given);
  void info(const Given& given);
  void races(const Given& given);
  void events(const Given& given);
  void replayTo(const Given& given);
  void move(const Given& given);
  void breakpoints(const Given& given);
  void where(const Given& given);
  void stacks(const Given& given);
  void values(const Given& given);
  void whichMessage(const Given& given);
  void lastChange(const Given& given);
  void waits(const Given& given);
  void contents(const Given& given);
  void output(const Given& given);
  void focus(const Given& given);
  void compare(const Given& given);
  void console(const Given& given);

  // -- the open trace
  void load();
  void takeLoaded();
  void letGo();
  void closed();

  // -- steps
  void carryOut(std::deque<Step> steps, const Given& given, const std::string& left);
  void go(std::deque<Step> steps, const Given& given);
  void next();
  void stepEnded(const std::optional<QString>& failure);
  void takeAnswer();
  [[nodiscard]] Step step(std::string_view verb, const std::string& text = {}) const;
  [[nodiscard]] Step ofRanks(Step step, const Given& given) const;
  /// Before a command on the current rank; none: it stays.
  void addRank(std::deque<Step>& steps, const Given& given) const;
  /// The event that 'to' and 'number' of replay_to name.
  [[nodiscard]] Result<EventRef> eventOf(const Given& given);
  [[nodiscard]] Result<EventRef> raceOf(std::int64_t number);
  [[nodiscard]] Result<EventRef> receiveOf(int rank, std::int64_t number);
  [[nodiscard]] Status looksOnly(const std::string& expression) const;
  [[nodiscard]] std::optional<std::deque<Step>> stepsOfExpression(const char* command,
                                                                  const Given& given);

  // -- how a call ends
  void inBackground(Work work);
  void end(ToolResult result);
  void note(const QString& text);
  void fail(Error error);
  void failNext(const std::string& what, const std::string& next) {
    fail({ErrorCode::Usage, what, next});
  }
  /// False: it is not, and the call has failed.
  bool needsTrace();
  bool needsReplay();
  bool mayReplay();

  McpOptions m_options;
  Prepare m_prepare;
  std::map<std::string_view, Handler> m_tools;

  bool m_busy = false;
  bool m_cancelled = false;  ///< nobody wants the result of the present call
  bool m_finishing = false;
  bool m_finished = false;

  QString m_path;         ///< of the open trace, or of the one that is being opened
  app::PartOfJob m_part;  ///< of that one
  bool m_opens = false;   ///< once the former one is closed, it is loaded
  std::optional<Error> m_foreign;
  std::shared_ptr<views::TraceIndexPtr> m_index;  ///< of the open trace, made when it is needed
  QFutureWatcher<OpenedPtr> m_loader;
  QFutureWatcher<std::shared_ptr<ToolResult>> m_worker;

  std::deque<Step> m_steps;
  Step m_present;
  BoundedText m_said;
  std::string m_left;                 ///< how to see what was left out
  std::string m_ifNothing;            ///< what it says where it says nothing
  std::deque<std::string> m_notes;    ///< that the session told since the last result
  bool m_some = false;                ///< a step that may fail has not
  bool m_moves = false;               ///< the present call sends ranks on
  bool m_toPlace = false;             ///< … to a breakpoint whose place was given
  std::unique_ptr<CommandRun> m_run;  ///< null: no trace is open
};

}  // namespace pf::headless
