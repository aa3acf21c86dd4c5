// SPDX-License-Identifier: GPL-3.0-or-later
// What the GDBs say: states and stops of ranks, stacks, variables, consoles.
#include <csignal>

#include "app/session/debug_session.h"
#include "app/session/frame_values.h"

namespace pf::session {
namespace {

QString text(std::string_view s) {
  return QString::fromUtf8(s.data(), static_cast<qsizetype>(s.size()));
}

QString place(const views::StackFrame& frame) {
  return frame.file.isEmpty() ? frame.function
                              : QStringLiteral("%1() at %2:%3")
                                    .arg(frame.function, frame.file.section(QLatin1Char('/'), -1))
                                    .arg(frame.line);
}

}  // namespace

mi::GdbSession* DebugSession::currentGdb() {
  const auto now = m_state.now.find(m_state.current);
  return now != m_state.now.end() && now->second.attached ? m_fleet.session(m_state.current)
                                                          : nullptr;
}

const views::StackFrame* DebugSession::frameAt(int level) const {
  for (const views::StackFrame& frame : m_frames) {
    if (frame.level == level) {
      return &frame;
    }
  }
  return nullptr;
}

bool DebugSession::currentIsStopped() {
  mi::GdbSession* gdb = currentGdb();
  return gdb != nullptr && gdb->state() == mi::SessionState::Stopped;
}

void DebugSession::onRankState(mi::Rank rank, mi::SessionState state) {
  RankNow& now = m_state.now[rank];
  if (state == mi::SessionState::Running) {
    now.why.clear();
    now.where.clear();
    if (rank == m_state.current) {
      dropVariables();
    }
  }
  Q_EMIT ranksChanged();
}

void DebugSession::onRankStopped(mi::Rank rank, const mi::StopEvent& stop) {
  RankNow& now = m_state.now[rank];
  if (m_state.source == Source::Cores) {
    return;  // the file has been opened, which is dealt with there
  }
  if (m_state.source == Source::Job && stop.exited()) {
    outsideExited(rank, text(stop.describe()));
  }
  if (m_state.phase == Phase::Attaching || stop.exited()) {
    return;
  }
  if (m_stopFilter && stop.reason == mi::StopReason::Breakpoint && !m_stepping.contains(rank)) {
    if (const int id = breakpointAt(rank); id != 0 && m_stopFilter(rank, id)) {
      return;
    }
  }
  if (stop.reason == mi::StopReason::Event && mayGoOn(rank)) {
    sendOn(rank);  // sent on before GDB had told of this stop
    return;
  }
  const QString standing = stop.reason == mi::StopReason::Event ? standingText(rank) : QString();
  now.why = standing.isEmpty() ? text(stop.describe()) : standing;
  const bool found = m_search && m_search->last && rank == m_search->rank &&
                     stop.breakpointNumber > 0 &&
                     m_fleet.specOf(rank, stop.breakpointNumber) == m_search->spec;
  if (found && m_search->own) {
    now.why = tr("%1: was %2, is %3").arg(m_search->text, text(stop.oldValue), text(stop.newValue));
    m_cycles.last().summary = tr("stopped: %1").arg(now.why);
    Q_EMIT message(now.why, false);
  }
  if (const int id = breakpointOf(rank, stop); id != 0 && !m_cycles.isEmpty()) {
    onBreakpointHit(id, rank);
  } else if (stop.reason == mi::StopReason::Signal && !m_cycles.isEmpty()) {
    m_cycles.last().summary = tr("rank %1: %2").arg(rank).arg(now.why);
  }
  completeHits(rank);
  if (found) {
    endSearch();
  }
  m_stepping.remove(rank);
  const bool paused = m_pausing.remove(rank) && stop.reason == mi::StopReason::Paused;
  Q_EMIT ranksChanged();
  Q_EMIT rankStopped(rank);
  const bool asked =
      stop.reason == mi::StopReason::Step || stop.reason == mi::StopReason::Finished ||
      stop.reason == mi::StopReason::Location || stop.reason == mi::StopReason::Paused;
  const bool together =
      asked && m_groupRun.ranks.contains(m_state.current);  // the current rank stays it
  arrived(rank);
  if (rank == m_state.current) {
    m_thread = 0;
    refreshStack(rank);
  } else if (stop.reason != mi::StopReason::Event && !together && !paused) {
    setCurrentRank(rank);
  }
  if (stop.reason != mi::StopReason::Event) {
    Q_EMIT progress({});
    saveCycle();
    Q_EMIT settled();
  }
  if (m_settling.ranks.remove(rank) && m_settling.ranks.isEmpty()) {
    endSettling();
  }
}

void DebugSession::setCurrentRank(int rank) {
  if (rank < 0 || static_cast<std::size_t>(rank) >= m_state.rankInfos.size()) {
    return;
  }
  if (rank != m_state.current) {
    m_state.current = rank;
    m_frame = 0;
    m_thread = 0;
    dropVariables();
    m_frames.clear();
    m_fleet.focus(rank);
    Q_EMIT currentRankChanged(rank);
  }
  if (currentIsStopped()) {
    refreshStack(rank);
  } else {
    Q_EMIT stackChanged(rank, {}, 0);
  }
}

void DebugSession::setFocus(const QList<int>& ranks) {
  const QSet<int> wanted(ranks.begin(), ranks.end());
  if (m_state.source != Source::Recording) {
    setOutsideFocus(wanted);
    return;
  }
  protocol::AttachGdb attach;
  protocol::DetachGdb detach;
  for (const int rank : wanted) {
    if (!m_focus.contains(rank) && m_state.phase == Phase::Running && !m_state.now[rank].attached) {
      attach.ranks.push_back(rank);
    }
  }
  std::vector<mi::Rank> leaving;
  for (const int rank : std::as_const(m_focus)) {
    if (!wanted.contains(rank) && m_state.phase == Phase::Running && m_state.now[rank].attached) {
      leaving.push_back(rank);
    }
  }
  m_focus = wanted;
  if (!attach.ranks.empty()) {
    order(attach);
  }
  if (!leaving.empty()) {
    m_fleet.detach(leaving, [this](const mi::GroupResult& result) {
      if (result.complete()) {
        protocol::DetachGdb ended;
        ended.ranks = {result.done.begin(), result.done.end()};
        order(ended);
      }
    });
  }
}

void DebugSession::refreshStack(int rank) {
  mi::GdbSession* gdb = m_fleet.session(rank);
  if (gdb == nullptr) {
    return;
  }
  const quint64 generation = ++m_stackGeneration;
  gdb->inspect().frames(
      currentFrameRef().thread, 0, 63,
      [this, rank, generation](const Result<std::vector<mi::Frame>>& frames) {
        if (!frames || generation != m_stackGeneration || rank != m_state.current) {
          return;
        }
        m_frames.clear();
        const auto user = mi::firstUserFrame(*frames);
        m_frame = user ? static_cast<int>(*user) : 0;
        // What lies between the program and the MPI call that it is in is ours
        // and MPI's: not shown.
        const int first = std::max(0, m_frame - 1);
        for (const mi::Frame& frame : *frames) {
          if (frame.level >= first) {
            m_frames.append(toFrame(frame));
            if (frame.level < m_frame) {
              m_frames.last().file.clear();  // our wrapper: nothing to look at
            }
          }
        }
        if (const views::StackFrame* frame = frameAt(m_frame); frame != nullptr) {
          m_state.now[rank].where = place(*frame);
        }
        Q_EMIT stackChanged(rank, m_frames, m_frame);
        Q_EMIT ranksChanged();
        selectFrame(m_frame);
      });
}

void DebugSession::selectFrame(int level) {
  m_frame = level;
  if (!currentIsStopped()) {
    return;
  }
  mi::GdbSession* gdb = currentGdb();
  gdb->inspect().selectFrame({currentFrameRef().thread, level},
                             [this, generation = m_stackGeneration](const Status&) {
                               if (generation == m_stackGeneration) {
                                 refreshVariables();
                                 m_fleet.focus(m_state.current, m_frame);
                                 Q_EMIT frameChanged();
                               }
                             });
}

void DebugSession::dropVariables() {
  mi::GdbSession* gdb = currentGdb();
  for (const auto& [path, name] : m_vars) {
    if (gdb != nullptr && !path.mid(2).contains(QLatin1Char('/'))) {
      gdb->inspect().deleteVar(name.toStdString(), [](const Status&) {});
    }
  }
  m_vars.clear();
  m_variables.clear();
  m_variablesPending = 0;
}

void DebugSession::publishVariables() {
  const views::StackFrame* frame = frameAt(m_frame);
  const QString function = frame != nullptr ? frame->function : QString();
  const int height = m_frames.isEmpty() ? 0 : m_frames.last().level - m_frame;
  Q_EMIT variablesChanged(QStringLiteral("%1:%2:%3").arg(m_state.current).arg(height).arg(function),
                          m_variables);
}

void DebugSession::refreshVariables() {
  dropVariables();
  if (!currentIsStopped()) {
    return;
  }
  mi::GdbSession* gdb = currentGdb();
  const mi::FrameRef frame = currentFrameRef();
  const quint64 generation = m_stackGeneration;
  const int level = m_frame;
  gdb->inspect().variables(
      frame, mi::VariableDetail::SimpleValues,
      [this, gdb, frame, generation, level](const Result<std::vector<mi::Variable>>& found) {
        if (!found || generation != m_stackGeneration || level != m_frame) {
          return;
        }
        for (const mi::Variable& variable : *found) {
          views::Variable row;
          row.path = QStringLiteral("v/") + text(variable.name);
          row.name = text(variable.name);
          row.type = text(variable.type);
          row.argument = variable.argument;
          row.value = variable.value ? text(*variable.value) : QString();
          const bool pointer = row.type.contains(QLatin1Char('*'));
          const qsizetype index = m_variables.size();
          m_variables.append(row);
          if (variable.value && !pointer) {
            continue;
          }
          ++m_variablesPending;  // a structure, an array or a pointer: its variable object knows
                                 // what is inside
          gdb->inspect().createVar(
              frame, variable.name,
              [this, generation, level, index, pointer](const Result<mi::VarObject>& object) {
                if (generation != m_stackGeneration || level != m_frame ||
                    index >= m_variables.size()) {
                  return;
                }
                views::Variable& shown = m_variables[index];
                if (object) {
                  m_vars[shown.path] = text(object->name);
                  shown.hasChildren = object->expandable();
                  shown.value =
                      pointer && !shown.value.isEmpty() ? shown.value : text(object->value);
                } else {
                  shown.value = text(object.error().message);
                  shown.editable = false;
                }
                if (--m_variablesPending == 0) {
                  publishVariables();
                }
              });
        }
        if (m_variablesPending == 0) {
          publishVariables();
        }
      });
}

void DebugSession::expandVariable(const QString& path, int from) {
  constexpr int kPage = 100;
  const auto found = m_vars.find(path);
  if (found == m_vars.end() || !currentIsStopped()) {
    return;
  }
  currentGdb()->inspect().children(found->second.toStdString(), from, kPage,
                                   [this, path, from](const Result<mi::VarPage>& page) {
                                     if (!page) {
                                       Q_EMIT message(text(page.error().text()), true);
                                       return;
                                     }
                                     QList<views::Variable> children;
                                     int number = from;
                                     for (const mi::VarObject& child : page->children) {
                                       views::Variable row;
                                       row.path =
                                           path + QLatin1Char('/') + QString::number(number++);
                                       row.name = text(child.expression);
                                       row.type = text(child.type);
                                       row.value = text(child.value);
                                       row.hasChildren = child.expandable();
                                       m_vars[row.path] = text(child.name);
                                       children.append(row);
                                     }
                                     Q_EMIT childrenArrived(path, children, page->hasMore);
                                   });
}

void DebugSession::editVariable(const QString& path, const QString& value) {
  if (!currentIsStopped()) {
    return;
  }
  const auto finish = [this](const Result<std::string>& result) {
    if (!result) {
      Q_EMIT message(text(result.error().text()), true);
    } else {
      setAltered(true);
      Q_EMIT message(
          tr("Changed. This cycle is altered from here on; the next one is the recording again."),
          false);
    }
    refreshVariables();
  };
  mi::GdbSession* gdb = currentGdb();
  if (const auto found = m_vars.find(path); found != m_vars.end()) {
    gdb->inspect().assignVar(found->second.toStdString(), value.toStdString(), finish);
  } else {
    const QString expression = path.section(QLatin1Char('/'), -1) + QLatin1String(" = ") + value;
    gdb->inspect().evaluate(currentFrameRef(), expression.toStdString(), finish);
  }
}

void DebugSession::evaluate(const QString& expression,
                            const std::function<void(const QString&)>& done) {
  if (!currentIsStopped()) {
    return;
  }
  mi::GdbSession* gdb = currentGdb();
  gdb->inspect().evaluate(currentFrameRef(), expression.toStdString(),
                          [done](const Result<std::string>& value) {
                            if (value) {
                              done(text(*value));
                            }
                          });
}

void DebugSession::console(int rank, const QString& line) {
  mi::GdbSession* gdb = m_fleet.session(rank);
  if (gdb == nullptr) {
    Q_EMIT consoleText(rank, tr("Rank %1 has no debugger now.\n").arg(rank), true);
    return;
  }
  gdb->console(line.toStdString(), [this, rank](const Status& status) {
    if (!status) {
      Q_EMIT consoleText(rank, text(status.error().text()) + QLatin1Char('\n'), true);
    }
  });
}

void DebugSession::mapSource(const QString& from, const QString& to) {
  for (const mi::Rank rank : m_fleet.ranks()) {
    m_fleet.session(rank)->inspect().substitutePath(from.toStdString(), to.toStdString(),
                                                    [](const Status&) {});
  }
}

void DebugSession::onWatch(const mi::WatchValue& value) {
  views::WatchValue out;
  out.rank = value.rank;
  (value.ok ? out.value : out.error) = text(value.text);
  Q_EMIT watchArrived(text(value.expression), {out});
}

void DebugSession::onRankConsole(mi::Rank rank, mi::StreamKind kind, std::string_view words) {
  if (m_groupConsole.missing.contains(rank)) {
    m_groupConsole.texts[rank] += text(words);
    return;
  }
  Q_EMIT consoleText(rank, text(words), kind == mi::StreamKind::Log);
}

void DebugSession::onRankLost(mi::Rank rank, const std::string& words) {
  m_state.now[rank].attached = false;
  arrived(rank);
  if (m_state.phase == Phase::Running || m_state.phase == Phase::Attaching) {
    Q_EMIT consoleText(rank, text(words) + QLatin1Char('\n'), true);
  }
  Q_EMIT ranksChanged();
}

void DebugSession::onRankEscalate(mi::Rank rank, mi::Escalation escalation) {
  switch (escalation) {
    case mi::Escalation::InterruptGdb:
      order(protocol::GdbSignal{rank, protocol::SignalTarget::Gdb, SIGINT});
      break;
    case mi::Escalation::InterruptProgram:
    case mi::Escalation::StopProgram:
      order(protocol::GdbSignal{rank, protocol::SignalTarget::Program, SIGINT});
      break;
    case mi::Escalation::TerminateGdb:
      order(protocol::GdbSignal{rank, protocol::SignalTarget::Gdb, SIGTERM});
      break;
  }
}

void DebugSession::onRankToolAction(mi::Rank rank, mi::ToolAction action, std::string_view) {
  switch (action) {
    case mi::ToolAction::Run:
      restartCycle();
      break;
    case mi::ToolAction::Kill:
      if (m_state.source == Source::Job) {
        Q_EMIT consoleText(rank,
                           tr("Ranks of a running job are not ended from here. Replay, End lets "
                              "all of them go on.\n"),
                           true);
        break;
      }
      endReplay();
      break;
    case mi::ToolAction::Detach:
      setFocus([this, rank] {
        QList<int> rest = m_focus.values();
        rest.removeAll(rank);
        return rest;
      }());
      break;
    case mi::ToolAction::Quit:
    case mi::ToolAction::Attach:
      Q_EMIT consoleText(rank, tr("That is Photofinish's business: use the Replay menu.\n"), true);
      break;
  }
}

void DebugSession::onRankSlow(mi::Rank rank, const std::string& command, bool givenUp) {
  Q_EMIT message(
      givenUp
          ? tr("Rank %1: GDB did not answer '%2'; it was given up.").arg(rank).arg(text(command))
          : tr("Rank %1: GDB is slow with '%2' …").arg(rank).arg(text(command)),
      givenUp);
}

void DebugSession::onRankValuesChanged(mi::Rank rank) {
  setAltered(true);
  if (rank == m_state.current) {
    refreshVariables();
    Q_EMIT frameChanged();
  }
}

void DebugSession::onGroupProgress(const mi::GroupResult& result) {
  for (const mi::RankFailure& failure : result.failed) {
    arrived(failure.rank);
  }
  if (result.complete() && !result.failed.empty()) {
    Q_EMIT message(text(result.summary()), true);
  }
}

}  // namespace pf::session
