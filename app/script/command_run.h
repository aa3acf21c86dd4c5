// SPDX-License-Identifier: GPL-3.0-or-later
// Carries out one command after the other on the session of one trace, each until it has come to rest. What stands behind
// scripts, and behind a server of tools (app/mcp): both say commands and hear answers.
//
// - A command that has not ended within the time limit fails. Its ranks stay where they are, or on their way.
// - The end of a run ends its replay.
#pragma once

#include <memory>
#include <optional>

#include <QElapsedTimer>
#include <QObject>
#include <QTimer>

#include "app/script/language/script_answer.h"
#include "app/script/script_handlers.h"
#include "app/session/debug_session.h"

namespace pf::headless {

class CommandRun : public QObject {
  Q_OBJECT
 public:
  /// Takes the trace over, and gives its ranks GDBs where they are no more than 16; else the current one.
  CommandRun(const QString& trace, session::LoadedTrace loaded,
             const ScriptAnswer::Besides& besides = ScriptAnswer::standardError());
  /// Before the first command: these ranks alone.
  Status debugOnly(const app::PartOfJob& part) { return m_session.debugOnly(part); }

  /// One that is carried out here, beside those of the session.
  void add(std::string_view verb, CommandHandler handler) {
    m_handlers->add(verb, std::move(handler));
  }
  /// Whether there is code for this command.
  [[nodiscard]] bool carriesOut(std::string_view verb) const { return m_handlers->contains(verb); }
  void setTimeout(int milliseconds) { m_timeoutMs = milliseconds; }

  /// No command goes on. ended() follows, or has come. Nothing: none was written; an error: what was is none.
  void carryOut(const Result<std::optional<ScriptCommand>>& command);
  [[nodiscard]] bool isBusy() const { return m_answer.isOpen(); }
  /// What the present command, or the last one, has said.
  [[nodiscard]] ScriptAnswer& answer() { return m_answer; }
  [[nodiscard]] const ScriptHandlers& handlers() const { return *m_handlers; }
  /// The present command is given up, and nobody hears of it.
  void drop();

  /// Commands are taken; leave() has not been called.
  [[nodiscard]] bool isRunning() const { return m_phase == Phase::Running; }
  /// Gives the present command up and ends the replay. left() follows, or has come.
  void leave();

  [[nodiscard]] session::DebugSession& session() { return m_session; }

 Q_SIGNALS:
  /// The present command has; `failure`: why it has failed, which may be empty.
  void ended(const std::optional<QString>& failure);
  void left();

 private:
  enum class Phase { Running, Leaving, Left };

  void open(const QString& trace, session::LoadedTrace loaded);
  void look();
  void onEnded(const std::optional<QString>& failure);

  ScriptAnswer m_answer;
  Phase m_phase = Phase::Running;
  int m_timeoutMs = 60000;
  QElapsedTimer m_since;  ///< the present command began
  QTimer m_watch;
  std::unique_ptr<ScriptHandlers> m_handlers;
  session::DebugSession m_session;  ///< last: its end completes what is asked of GDBs
};

}  // namespace pf::headless
