// SPDX-License-Identifier: GPL-3.0-or-later
// 'photofinish debug --script': carries out one command of a script after the other on a session,
// each once the one before has come to rest, and prints what comes of it.
//
// - Standard output has nothing but answers (script_answer.h).
// - The first command that fails ends the script, but at a terminal, or where it is to go on.
// - A command that has not ended within the time limit fails.
#pragma once

#include <optional>
#include <string>

#include <QObject>

#include "app/script/command_run.h"
#include "app/script/language/script_lines.h"

namespace pf::headless {

class ScriptRun : public QObject {
  Q_OBJECT
 public:
  /// `name`: of the script, for messages. `interactive`: somebody types; nothing ends at an error.
  ScriptRun(const QString& trace, session::LoadedTrace loaded, std::string name, bool interactive);
  /// Before the first line: these ranks alone.
  Status debugOnly(const app::PartOfJob& part);
  /// Before the first line: a command that fails ends nothing, but the exit status tells of it.
  void keepGoing() { m_keepsGoing = true; }

  /// Lines of the script, in their order, as they come.
  void addLine(const std::string& line);
  void noMoreLines();
  void start();
  /// Ends the replay and the script by a signal; finished() follows.
  void stop(int signal);
  [[nodiscard]] int exitStatus() const { return m_status; }

  /// Whether there is code for this command.
  [[nodiscard]] bool carriesOut(std::string_view verb) const { return m_run.carriesOut(verb); }
  /// What it runs on: a test gives it replays.
  [[nodiscard]] session::DebugSession& session() { return m_run.session(); }

 Q_SIGNALS:
  void finished();

 private:
  void addOwnCommands();
  void soon();
  void next();
  void lookWhatWasNeverSet();
  void ended(const std::optional<QString>& failure);
  [[nodiscard]] QString failureText(const QString& why) const;
  void print();
  void prompt();

  ScriptLines m_lines;
  int m_status = 0;
  bool m_keepsGoing = false;
  CommandRun m_run;
};

}  // namespace pf::headless
