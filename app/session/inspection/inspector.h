// SPDX-License-Identifier: GPL-3.0-or-later
// The rank that is looked at: which it is, its stack, the variables of the selected frame. Answers of GDB that come after
// the rank has gone on are dropped.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include <QObject>

#include "app/session/state/latest.h"
#include "app/session/state/session_state.h"
#include "mi_bridge/value_format.h"

namespace pf::session {

class Inspector : public QObject {
  Q_OBJECT
 public:
  explicit Inspector(SessionState& state) : m_state(state) {}

  // -- what is selected
  void selectRank(int rank);
  void selectFrame(int level);
  void selectThread(int thread);
  [[nodiscard]] int frame() const { return m_frame; }
  /// Of GDB, chosen by the user; 0: the one that stopped.
  [[nodiscard]] int thread() const { return m_thread; }
  /// Thread and frame for GDB.
  [[nodiscard]] mi::FrameRef frameRef() const;
  /// The same for variables, and expressions of the user: Python's in a frame of Python.
  [[nodiscard]] mi::FrameRef valueRef() const;
  /// Of the selected frame; null: nothing is known of it.
  [[nodiscard]] const values::StackFrame* selected() const;
  /// No frame of the rank lies inside of the selected one.
  [[nodiscard]] bool isInnermost() const;
  /// The frame that a step is of, or the selected one, is one of Python.
  [[nodiscard]] bool standsInPython() const;
  [[nodiscard]] bool isPython() const;
  /// Whose frame is selected; empty: none is known.
  [[nodiscard]] QString function() const;

  // -- variables of the selected frame
  /// `expression`: of the user, that `path` stands for; empty: it is a variable, or a part.
  void expand(const QString& path, int from, const QString& expression);
  /// How a variable, or a part of one, is written in the frame. `done` is not called where it cannot be: that is told.
  void expressionOf(const QString& path, const std::function<void(const QString&)>& done);
  void edit(const QString& path, const QString& value);
  void evaluate(const QString& expression, const std::function<void(const QString&)>& done);
  /// A value was changed by hand in this cycle.
  [[nodiscard]] bool isAltered() const { return m_altered; }

  // -- for the session
  /// The rank has stopped: asks for its stack.
  void stopped();
  /// It goes on: what is known of its variables holds no longer.
  void goesOn();
  /// Values of a rank were changed by a command.
  void valuesChanged(int rank);
  /// Its debugger is gone, or it is another rank altogether.
  void forget();
  void beginCycle();

 Q_SIGNALS:
  void currentRankChanged(int rank);
  void stackChanged(int rank, const QList<pf::values::StackFrame>& frames, int current);
  void variablesChanged(const QString& frameKey, const QList<pf::values::Variable>& variables);
  void childrenArrived(const QString& path, const QList<pf::values::Variable>& children, bool more);
  void frameChanged();  ///< another frame is selected, or values were changed: what is shown is old
  void alteredChanged(bool altered);
  void ranksChanged();  ///< where the rank is, is known
  void message(const QString& text, bool problem);

 private:
  void refreshStack();
  void showStack(const std::vector<mi::Frame>& frames);
  void refreshVariables();
  void openAs(const mi::Variable& variable, values::Variable& row);
  void showVariables(const std::vector<mi::Variable>& variables);
  void appendGlobals();
  void expandGlobals(int from);
  void showGlobals(const std::vector<mi::Variable>& variables, std::size_t from);
  void notePython();
  void makeObject(const mi::AskedValue& value, const QString& path,
                  std::function<void(const Result<mi::VarObject>&)> done);
  void openExpression(const QString& expression, const QString& path);
  void showObject(qsizetype index, bool pointer, const Result<mi::VarObject>& object);
  void showChildren(const QString& path, int from, const mi::VarPage& page);
  void publishVariables();
  void setAltered(bool altered);

  /// GDB's variable object.
  struct Object {
    QString name;
    char format = 0;     ///< of its parts' values
    QString expression;  ///< empty: it is a part of another one
  };

  SessionState& m_state;
  int m_frame = 0;
  int m_thread = 0;
  int m_standing = 0;  ///< the program's innermost frame
  QList<values::StackFrame> m_frames;
  Latest<NoQuestion> m_stack;           ///< asked for
  Latest<NoQuestion> m_frameShown;      ///< whose variables are asked for
  std::map<QString, Object> m_objects;  ///< by path
  std::vector<std::string> m_roots;     ///< those that are no part of another one
  QList<values::Variable> m_variables;
  std::size_t m_pending = 0;  ///< variables whose objects are not there yet
  bool m_altered = false;
  QString m_pythonProblem;  ///< the last one that was told
};

}  // namespace pf::session
