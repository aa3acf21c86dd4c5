// SPDX-License-Identifier: GPL-3.0-or-later
// A Debug Adapter Protocol server for one client and one trace: the ranks are the client's threads
// (thread id = rank + 1). It answers from a DebugSession, the same engine that the window has.
//
// Rules:
// - Every request gets one response; what cannot be done is an error response and changes nothing.
// - A 'stopped' event is sent for ranks that have come to rest, never for those on their way; who
//   goes on by itself (as another rank's step needs it) is told by 'continued'.
// - References to frames and variables are good until their rank runs on.
#pragma once

#include <map>
#include <memory>
#include <set>

#include <QFutureWatcher>
#include <QProcess>
#include <QTimer>

#include "app/dap/dap_channel.h"
#include "app/dap/dap_framing.h"
#include "app/dap/dap_messages.h"
#include "app/dap/dap_references.h"
#include "app/front_end/line_buffers.h"
#include "app/session/debug_session.h"
#include "app/session/targets/unrecorded_ranks.h"

namespace pf::headless {

/// The filter of exceptions for MPI calls that fail.
inline constexpr const char* kMpiErrorFilter = "mpi";

class DapServer : public QObject {
  Q_OBJECT
 public:
  /// `strict`: noise instead of a frame ends the connection (a port that others can reach).
  DapServer(DapChannel& channel, bool strict, QObject* parent = nullptr);

  /// Ends what runs; finished() follows.
  void finish();
  [[nodiscard]] bool isFinishing() const { return m_finishing; }

 Q_SIGNALS:
  void finished();

 private:
  enum class State { Fresh, Initialized, Launching, Configuring, Live, Over };
  using Handler = void (DapServer::*)(const Request&);
  /// What the ranks have to come from for a request to make sense.
  enum class Needs {
    Nothing,
    Process,  ///< a recording or a running job, no core files
    Recording,
  };
  struct Entry {
    Handler handler;
    State from;  ///< first and last state in which the request makes sense
    State to;
    Needs needs = Needs::Nothing;
  };

  // dap_server.cpp
  void receive(const QByteArray& bytes);
  void dispatch(const std::string& content);
  static const std::map<std::string, Entry>& handlers();
  void initialize(const Request& request);
  void send(Json message);
  void succeed(const Request& request, Json body = nullptr);
  void fail(const Request& request, const std::string& message, const std::string& advice = {});
  void say(const QString& text, const char* category);
  void showProgress(const QString& task);
  [[nodiscard]] std::string toClient(const QString& path) const;
  [[nodiscard]] QString fromClient(const std::string& path) const;
  [[nodiscard]] int lineToClient(int line) const { return line - (m_linesFrom1 ? 0 : 1); }
  /// 0: no line.
  [[nodiscard]] int lineFromClient(std::int64_t line) const;

  // dap_server_unrecorded.cpp: jobs that run, core files
  void attach(const Request& request);
  void attached();
  [[nodiscard]] Result<QList<int>> unrecordedFocus(const session::UnrecordedRanks& found) const;
  void startUnrecorded();
  bool unrecordedArrived();
  [[nodiscard]] static bool hasEnded(const mi::GdbSession* gdb);
  void unrecordedStop(int rank, const mi::StopEvent& stop, Json& body) const;
  bool has(Needs needs, const Request& request);
  /// States of the ranks that are there.
  [[nodiscard]] QList<values::RankState> ranksHere() const;

  // dap_server_launch.cpp
  void launch(const Request& request);
  void record();
  void recorded(int status);
  void load(const QString& trace);
  void loaded();
  void launchFails(const Error& error);
  void configurationDone(const Request& request);
  void start();
  void restart(const Request& request);
  void terminate(const Request& request);
  void disconnect(const Request& request);
  void over(std::optional<int> exitStatus);
  void finishStep();

  // dap_server_run.cpp
  void connectSession();
  void continueRanks(const Request& request);
  void next(const Request& request) { step(request, values::RankAction::Next); }
  void stepIn(const Request& request) { step(request, values::RankAction::Step); }
  void stepOut(const Request& request) { step(request, values::RankAction::Finish); }
  void step(const Request& request, values::RankAction action);
  void pause(const Request& request);
  void stepBack(const Request& request);
  void reverseContinue(const Request& request);
  void gotoTargets(const Request& request);
  void goTo(const Request& request);
  void replayTo(const Request& request);
  void races(const Request& request);
  void exceptionInfo(const Request& request);
  void onSettled();
  void publish();
  [[nodiscard]] bool atRest(const values::RankState& state);
  [[nodiscard]] bool gone(const values::RankState& state);
  [[nodiscard]] bool arrives(const values::RankState& state);
  Json stoppedBody(int rank);
  void resumed(const std::set<int>& ranks);
  void moving(const char* reason);
  /// The rank of the request's threadId; answers with an error and gives nothing if there is none.
  std::optional<int> rankOf(const Request& request);
  /// The same, and its GDB.
  mi::GdbSession* debuggerOf(const Request& request, int& rank);

  // dap_server_stack.cpp
  void threads(const Request& request);
  void stackTrace(const Request& request);
  void sendFrames(const Request& request, int rank, const std::vector<mi::Frame>& frames);
  void sendRecordedFrame(const Request& request, const values::RankState& state);
  void scopes(const Request& request);
  void variables(const Request& request);
  void setVariable(const Request& request);
  void evaluate(const Request& request);
  void explain(const Request& request, const FrameKey& frame, const std::string& expression,
               const std::string& message);
  void console(const Request& request, const FrameKey& frame);
  void source(const Request& request);
  struct ScopeList {
    Request request;
    Json variables = Json::array();
    int pending = 0;
  };
  void listScope(const Request& request, int reference);
  void addToScope(const mi::Variable& variable, const FrameKey& frame, int scope,
                  const std::shared_ptr<ScopeList>& list);
  void finishScope(const std::shared_ptr<ScopeList>& list);
  void listChildren(const Request& request, int reference);
  [[nodiscard]] mi::GdbSession* stoppedDebugger(const FrameKey& frame);
  Json variableJson(const FrameKey& frame, const mi::VarObject& object, Container* parent);

  // dap_server_breakpoints.cpp
  void setBreakpoints(const Request& request);
  void setFunctionBreakpoints(const Request& request);
  void setExceptionBreakpoints(const Request& request);
  /// The breakpoint of the filter "mpi", which stops at MPI calls that fail; 0: it is not set.
  [[nodiscard]] int mpiErrorBreakpoint() const;
  Json place(values::Breakpoint wanted, const std::string& logMessage, std::set<int>& kept);
  [[nodiscard]] Json breakpointJson(const values::Breakpoint& breakpoint) const;
  void tellChangedBreakpoints();
  bool logs(int rank, int breakpoint);
  void logNext(int rank, int breakpoint, std::size_t piece, const std::string& text);

  DapChannel& m_channel;
  bool m_strict;
  FrameReader m_frames;
  State m_state = State::Fresh;
  std::int64_t m_seq = 0;
  bool m_linesFrom1 = true;
  bool m_columnsFrom1 = true;
  bool m_pathsAreUris = false;
  bool m_clientShowsProgress = false;
  bool m_clientInvalidates = false;
  int m_progress = 0;  ///< id of the progress on show; 0: none is
  int m_progresses = 0;

  std::optional<Request> m_launch;
  LaunchArguments m_arguments;
  std::unique_ptr<QProcess> m_recorder;
  QByteArray m_recorderSaid;
  QString m_trace;
  quint64 m_formerFile =
      0;  ///< inode of what had the trace's name before the recording; 0: nothing
  QFutureWatcher<std::shared_ptr<Result<session::LoadedTrace>>> m_loader;
  AttachArguments m_attach;
  QFutureWatcher<std::shared_ptr<Result<session::UnrecordedRanks>>> m_finder;
  std::map<int, session::UnrecordedRank> m_unrecorded;  ///< of a job or of core files
  QList<int> m_unrecordedFocus;
  bool m_lettingGo = false;  ///< ranks that were stopped to attach to them are on their way
  bool m_pauseThen = false;  ///< the client has asked for a pause meanwhile
  bool m_finishing = false;
  bool m_restarting = false;  ///< start() once the present cycle is gone

  std::string m_goalReason = "pause";  ///< 'stopped' reason of ranks that are where they were sent
  bool m_moving = false;               ///< on the way: what rests now is not told
  std::set<int> m_told;                ///< ranks that the client knows as stopped
  std::set<int> m_goneTold;
  QString m_stalled;                ///< why no rank gets on
  std::optional<int> m_exitStatus;  ///< of the cycle, once it has ended
  QTimer m_publishSoon;
  int m_awaited = 0;
  LineBuffers m_output;
  std::map<int, EventRef> m_targets;  ///< of gotoTargets; an invalid event: the line below
  std::map<int, std::pair<QString, int>> m_lineTargets;
  int m_lastTarget = 0;
  std::map<int, std::string> m_consoleOf;  ///< rank -> what GDB says to the line of the client
  References m_references;
  std::map<int, std::vector<std::string>> m_objects;  ///< by rank: GDB's, to be deleted
  std::map<int, std::vector<LogPiece>> m_logpoints;   ///< by breakpoint
  std::set<int> m_logging;                            ///< ranks held by a logpoint
  std::map<int, Json> m_breakpointsTold;

  session::DebugSession m_session;  ///< last: its end completes what is asked of GDBs
};

}  // namespace pf::headless
