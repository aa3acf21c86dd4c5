// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/session/inspection/inspector.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "app/session/state/frame_values.h"

namespace pf::session {
namespace {

constexpr int kPage = 100;
constexpr const char* kGlobalsPath = "v/globals of the file";  // no name of a variable

/// Of a variable; empty: the path is that of a part.
QString nameIn(const QString& path) {
  const QString globals = QLatin1String(kGlobalsPath) + QLatin1Char('/');
  const QString name = path.startsWith(globals)               ? path.mid(globals.size())
                       : path.startsWith(QLatin1String("v/")) ? path.mid(2)
                                                              : QString();
  return name.contains(QLatin1Char('/')) ? QString() : name;
}

QString place(const values::StackFrame& frame) {
  return frame.file.isEmpty() ? frame.function
                              : QStringLiteral("%1() at %2:%3")
                                    .arg(frame.function, frame.file.section(QLatin1Char('/'), -1))
                                    .arg(frame.line);
}

}  // namespace

// -- what is selected

void Inspector::selectRank(int rank) {
  if (!m_state.knows(rank)) {
    return;
  }
  if (rank != m_state.current) {
    goesOn();
    m_state.current = rank;
    m_frame = 0;
    m_thread = 0;
    m_frames.clear();
    m_state.fleet.focus(rank);
    Q_EMIT currentRankChanged(rank);
  }
  if (m_state.stoppedDebugger(rank) != nullptr) {
    refreshStack();
  } else {
    Q_EMIT stackChanged(rank, {}, 0);
  }
}

void Inspector::selectThread(int thread) {
  if (thread > 0 && m_state.stoppedDebugger(m_state.current) != nullptr) {
    m_thread = thread;
    refreshStack();
  }
}

mi::FrameRef Inspector::frameRef() const {
  mi::GdbSession* gdb = m_state.debugger(m_state.current);
  const int stopped = gdb != nullptr ? gdb->stop().thread : 0;
  const values::StackFrame* frame = selected();
  return {m_thread > 0 ? m_thread : stopped, frame != nullptr ? frame->gdbLevel : m_frame};
}

mi::FrameRef Inspector::valueRef() const {
  mi::FrameRef ref = frameRef();
  const values::StackFrame* frame = selected();
  ref.python = frame != nullptr ? frame->python : 0;
  return ref;
}

const values::StackFrame* Inspector::selected() const {
  const auto frame =
      std::find_if(m_frames.begin(), m_frames.end(),
                   [this](const values::StackFrame& each) { return each.level == m_frame; });
  return frame != m_frames.end() ? &*frame : nullptr;
}

bool Inspector::isInnermost() const {
  return !m_frames.isEmpty() && m_frames.first().level == m_frame;
}

bool Inspector::standsInPython() const {
  return std::ranges::any_of(m_frames, [this](const values::StackFrame& each) {
    return each.level == m_standing && each.python != 0;
  });
}

bool Inspector::isPython() const {
  return valueRef().python != 0;
}

QString Inspector::function() const {
  const values::StackFrame* const frame = selected();
  return frame != nullptr ? frame->function : QString();
}

void Inspector::selectFrame(int level) {
  m_frame = level;
  mi::GdbSession* gdb = m_state.stoppedDebugger(m_state.current);
  if (gdb == nullptr) {
    return;
  }
  gdb->inspect().selectFrame(frameRef(), [this, asked = m_stack.guard()](const Status&) {
    if (asked) {
      refreshVariables();
      m_state.fleet.focus(m_state.current, valueRef());
      Q_EMIT frameChanged();
    }
  });
}

// -- the stack

void Inspector::stopped() {
  m_thread = 0;
  m_frames.clear();  // they are not there any more
  m_frame = 0;
  refreshStack();
}

void Inspector::refreshStack() {
  mi::GdbSession* gdb = m_state.fleet.session(m_state.current);
  if (gdb == nullptr) {
    return;
  }
  m_stack.begin();
  gdb->inspect().frames(frameRef().thread, 0, kMostFrames - 1,
                        [this, asked = m_stack.guard(),
                         rank = m_state.current](const Result<std::vector<mi::Frame>>& frames) {
                          if (frames && asked && rank == m_state.current) {
                            showStack(*frames);
                          }
                        });
}

/// What lies between the program and the MPI call that it is in is ours and MPI's: not shown.
void Inspector::showStack(const std::vector<mi::Frame>& frames) {
  m_frames.clear();
  const auto user = mi::firstUserFrame(frames);
  m_standing = user ? static_cast<int>(*user) : 0;
  m_frame = m_standing;
  const int first = user ? static_cast<int>(mi::firstShownFrame(frames)) : 0;
  for (const mi::Frame& frame : frames) {
    if (frame.level >= first) {
      m_frames.append(toFrame(frame));
      if (frame.level < m_frame && (frame.level == first || mi::isLibraryFrame(frame))) {
        m_frames.last().file.clear();  // our wrapper: nothing to look at
      }
    }
  }
  const int rank = m_state.current;
  if (const values::StackFrame* frame = selected(); frame != nullptr) {
    m_state.now[rank].where = place(*frame);
  }
  Q_EMIT stackChanged(rank, m_frames, m_frame);
  Q_EMIT ranksChanged();
  notePython();
  selectFrame(m_frame);
}

/// Once for each problem: it is the same at each stop.
void Inspector::notePython() {
  const mi::GdbSession* gdb = m_state.debugger(m_state.current);
  const QString problem = gdb != nullptr ? toText(gdb->inspect().pythonProblem()) : QString();
  if (!problem.isEmpty() && problem != m_pythonProblem) {
    Q_EMIT message(problem, true);
  }
  m_pythonProblem = problem;
}

void Inspector::forget() {
  goesOn();
  m_frame = 0;
  m_frames.clear();
  Q_EMIT stackChanged(m_state.current, {}, 0);
}

void Inspector::beginCycle() {
  m_thread = 0;
  setAltered(false);
  goesOn();
}

// -- variables

void Inspector::goesOn() {
  mi::GdbSession* gdb = m_state.debugger(m_state.current);
  for (const std::string& name : m_roots) {
    if (gdb != nullptr) {
      gdb->inspect().deleteVar(name, [](const Status&) {});
    }
  }
  m_roots.clear();
  m_objects.clear();
  m_variables.clear();
  m_pending = 0;
  m_frameShown.drop();
}

/// `done` is called while the frame is shown. An object that GDB has made too late is given back.
void Inspector::makeObject(const mi::AskedValue& value, const QString& path,
                           std::function<void(const Result<mi::VarObject>&)> done) {
  const int rank = m_state.current;
  m_state.debugger(rank)->inspect().createVar(
      valueRef(), value.expression,
      [this, value, path, rank, done = std::move(done),
       asked = m_frameShown.guard()](const Result<mi::VarObject>& object) {
        mi::GdbSession* const gdb = m_state.debugger(rank);
        if (!asked && object && gdb != nullptr) {
          gdb->inspect().deleteVar(object->name, [](const Status&) {});
        }
        if (!asked) {
          return;
        }
        if (object) {
          m_objects[path] = {toText(object->name), value.format, toText(value.expression)};
          m_roots.push_back(object->name);
        }
        done(object);
      });
}

void Inspector::publishVariables() {
  const values::StackFrame* frame = selected();
  const QString function = frame != nullptr ? frame->function : QString();
  const int height = m_frames.isEmpty() ? 0 : m_frames.last().level - m_frame;
  Q_EMIT variablesChanged(QStringLiteral("%1:%2:%3").arg(m_state.current).arg(height).arg(function),
                          m_variables);
}

void Inspector::refreshVariables() {
  goesOn();
  mi::GdbSession* gdb = m_state.stoppedDebugger(m_state.current);
  if (gdb == nullptr) {
    return;
  }
  gdb->inspect().variables(
      valueRef(), mi::VariableDetail::SimpleValues,
      [this, asked = m_frameShown.guard()](const Result<std::vector<mi::Variable>>& found) {
        if (found && asked) {
          showVariables(*found);
        } else if (asked && m_state.stoppedDebugger(m_state.current) != nullptr) {
          publishVariables();  // those of the frame before are not its own
          Q_EMIT message(tr("The variables of this frame cannot be read: %1")
                             .arg(toText(found.error().message)),
                         false);
        }
      });
}

/// Of Python, whose values are known to have parts without an object of GDB.
void Inspector::openAs(const mi::Variable& variable, values::Variable& row) {
  row.hasChildren = !variable.opened.empty();
  if (row.hasChildren) {
    m_objects[row.path] = {toText(variable.opened), 0, row.name};
  }
}

void Inspector::showVariables(const std::vector<mi::Variable>& variables) {
  mi::GdbSession* gdb = m_state.debugger(m_state.current);
  for (const mi::Variable& variable : variables) {
    values::Variable row;
    row.path = QStringLiteral("v/") + toText(variable.name);
    row.name = toText(variable.name);
    row.type = toText(variable.type);
    row.argument = variable.argument;
    row.editable = valueRef().python == 0;
    row.value = variable.value ? toText(*variable.value) : QString();
    const bool pointer = row.type.contains(QLatin1Char('*'));
    openAs(variable, row);
    const qsizetype index = m_variables.size();
    m_variables.append(row);
    if ((variable.value && !pointer) || gdb == nullptr) {
      continue;
    }
    // A structure, an array or a pointer: its variable object knows what is inside.
    ++m_pending;
    makeObject({0, variable.name}, row.path,
               [this, index, pointer](const Result<mi::VarObject>& object) {
                 showObject(index, pointer, object);
               });
  }
  appendGlobals();
  if (m_pending == 0) {
    publishVariables();
  }
}

/// The variables of the source file (of Python: of the module), in a row of their own, which are read when that is opened.
void Inspector::appendGlobals() {
  const values::StackFrame* const frame = selected();
  if (frame == nullptr || frame->file.isEmpty() ||
      (frame->python != 0 && frame->function == QLatin1String("<module>"))) {
    return;
  }
  values::Variable row;
  row.path = QLatin1String(kGlobalsPath);
  row.name = tr("globals of %1").arg(frame->file.section(QLatin1Char('/'), -1));
  row.hasChildren = true;
  row.editable = false;
  m_variables.append(row);
}

void Inspector::expandGlobals(int from) {
  mi::GdbSession* gdb = m_state.stoppedDebugger(m_state.current);
  if (gdb == nullptr) {
    return;
  }
  gdb->inspect().globals(valueRef(), [this, from, asked = m_frameShown.guard()](
                                         const Result<std::vector<mi::Variable>>& found) {
    if (!asked) {
      return;
    }
    if (found) {
      showGlobals(*found, static_cast<std::size_t>(from));
    } else {
      Q_EMIT childrenArrived(QLatin1String(kGlobalsPath), {}, false);
      Q_EMIT message(toText(found.error().text()), true);
    }
  });
}

void Inspector::showGlobals(const std::vector<mi::Variable>& variables, std::size_t from) {
  mi::GdbSession* gdb = m_state.stoppedDebugger(m_state.current);
  const auto rows = std::make_shared<QList<values::Variable>>();
  const auto pending = std::make_shared<std::size_t>(1);
  const std::size_t end = std::min(variables.size(), from + kPage);
  const auto finish = [this, rows, pending, more = end < variables.size()] {
    if (--*pending == 0) {
      Q_EMIT childrenArrived(QLatin1String(kGlobalsPath), *rows, more);
    }
  };
  for (std::size_t i = from; i < end; ++i) {
    const mi::Variable& each = variables[i];
    values::Variable row;
    row.name = toText(each.name);
    row.path = QLatin1String(kGlobalsPath) + QLatin1Char('/') + row.name;
    row.type = toText(each.type);
    row.value = toText(each.value.value_or(""));
    row.editable = false;
    openAs(each, row);
    rows->append(row);
    if (each.value || gdb == nullptr) {
      continue;
    }
    ++*pending;
    makeObject({0, each.name}, row.path,
               [rows, finish, index = rows->size() - 1](const Result<mi::VarObject>& object) {
                 values::Variable& shown = (*rows)[index];
                 shown.editable = object.ok();
                 if (object) {
                   shown.hasChildren = object->expandable();
                   shown.value = toText(object->value);
                   shown.type = toText(object->type);
                 } else {
                   shown.value = toText(object.error().message);
                 }
                 finish();
               });
  }
  finish();
}

void Inspector::showObject(qsizetype index, bool pointer, const Result<mi::VarObject>& object) {
  values::Variable& shown = m_variables[index];
  if (object) {
    shown.hasChildren = object->expandable();
    shown.value = pointer && !shown.value.isEmpty() ? shown.value : toText(object->value);
  } else {
    shown.value = toText(object.error().message);
    shown.editable = false;
  }
  if (--m_pending == 0) {
    publishVariables();
  }
}

void Inspector::expand(const QString& path, int from, const QString& expression) {
  if (path == QLatin1String(kGlobalsPath)) {
    expandGlobals(from);
    return;
  }
  const auto found = m_objects.find(path);
  mi::GdbSession* gdb = m_state.stoppedDebugger(m_state.current);
  if (gdb == nullptr) {
    return;
  }
  if (found == m_objects.end()) {
    if (!expression.isEmpty()) {
      openExpression(expression, path);
    }
    return;
  }
  gdb->inspect().children(
      found->second.name.toStdString(), {from, kPage, found->second.format},
      [this, path, from, asked = m_frameShown.guard()](const Result<mi::VarPage>& page) {
        if (!asked) {
          return;
        }
        if (page) {
          showChildren(path, from, *page);
        } else {
          Q_EMIT message(toText(page.error().text()), true);
        }
      });
}

void Inspector::openExpression(const QString& expression, const QString& path) {
  const mi::AskedValue value = mi::askedValue(expression.toStdString());
  makeObject(value, path, [this, path](const Result<mi::VarObject>& object) {
    if (object) {
      expand(path, 0, {});
    } else {
      Q_EMIT childrenArrived(path, {}, false);  // its row says why
    }
  });
}

void Inspector::showChildren(const QString& path, int from, const mi::VarPage& page) {
  QList<values::Variable> children;
  int number = from;
  const char format = m_objects[path].format;
  for (const mi::VarObject& child : page.children) {
    values::Variable row;
    row.path = path + QLatin1Char('/') + QString::number(number++);
    row.name = toText(child.expression);
    row.type = toText(child.type);
    row.value = toText(child.value);
    row.hasChildren = child.expandable();
    row.editable = valueRef().python == 0;
    m_objects[row.path] = {toText(child.name), format, {}};
    children.append(row);
  }
  Q_EMIT childrenArrived(path, children, page.hasMore);
}

void Inspector::expressionOf(const QString& path, const std::function<void(const QString&)>& done) {
  const auto object = m_objects.find(path);
  mi::GdbSession* gdb = m_state.stoppedDebugger(m_state.current);
  if (path == QLatin1String(kGlobalsPath)) {
    Q_EMIT message(tr("Open it, and choose one of its variables."), true);
  } else if (object != m_objects.end() && !object->second.expression.isEmpty()) {
    done(object->second.expression);
  } else if (object == m_objects.end() && !nameIn(path).isEmpty()) {
    done(nameIn(path));
  } else if (object == m_objects.end() || gdb == nullptr) {
    Q_EMIT message(tr("The rank has gone on: ask when it stands."), true);
  } else {
    gdb->inspect().pathOf(
        object->second.name.toStdString(),
        [this, done, asked = m_frameShown.guard()](const Result<std::string>& text) {
          if (asked && text && !text->empty()) {
            done(toText(*text));
          } else if (asked) {
            Q_EMIT message(tr("GDB has no expression for this part. Write one in Watches."), true);
          }
        });
  }
}

void Inspector::edit(const QString& path, const QString& value) {
  mi::GdbSession* gdb = m_state.stoppedDebugger(m_state.current);
  if (gdb == nullptr) {
    return;
  }
  const auto finish = [this](const Result<std::string>& result) {
    if (!result) {
      Q_EMIT message(toText(result.error().text()), true);
    } else {
      setAltered(true);
      Q_EMIT message(
          tr("Changed. This cycle is altered from here on; the next one is the recording again."),
          false);
    }
    refreshVariables();
    m_state.fleet.refreshWatches();
  };
  if (const auto found = m_objects.find(path); found != m_objects.end()) {
    gdb->inspect().assignVar(found->second.name.toStdString(), value.toStdString(), finish);
  } else {
    const QString expression = path.section(QLatin1Char('/'), -1) + QLatin1String(" = ") + value;
    gdb->inspect().evaluate(valueRef(), expression.toStdString(), finish);
  }
}

void Inspector::evaluate(const QString& expression,
                         const std::function<void(const QString&)>& done) {
  mi::GdbSession* gdb = m_state.stoppedDebugger(m_state.current);
  if (gdb == nullptr) {
    return;
  }
  gdb->inspect().evaluate(valueRef(), expression.toStdString(),
                          [done](const Result<std::string>& value) {
                            if (value) {
                              done(toText(*value));
                            }
                          });
}

void Inspector::valuesChanged(int rank) {
  setAltered(true);
  if (rank == m_state.current) {
    refreshVariables();
    m_state.fleet.refreshWatches();
    Q_EMIT frameChanged();
  }
}

void Inspector::setAltered(bool altered) {
  if (altered != m_altered) {
    m_altered = altered;
    Q_EMIT alteredChanged(altered);
  }
}

}  // namespace pf::session

#include "moc_inspector.cpp"
